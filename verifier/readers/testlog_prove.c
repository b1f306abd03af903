/* perl's prove (Test::Harness 3), with or without -v.
 *
 * Ids: the file as prove names it, and with -v its tests besides, "t/a.t: description" as the TAP
 * reader makes them.
 *
 * A file has passed when the word behind its dots is "ok" (or it was skipped as a whole), nothing in
 * between says "Dubious", "Failed N/M subtests" or the like, and the report at the end does not hold
 * it against the file (an exit status, failed tests or parse errors; that tests passed which were
 * expected to fail is none).
 *
 * Complete means: "Files=N, Tests=M" and "Result: PASS" or "FAIL" are there, as many files were
 * named as it counts, with -v as many tests, each file that passed kept its plan, no bail out, and
 * result, files and exit status do not contradict each other. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

/* What prove says of a file. */
static const struct {
	const char *text;
	bool exact; /* the whole line, otherwise its beginning */
	enum test_status status;
} words[] = {
	/* clang-format off */
	{ "ok",                      true,  TEST_PASSED },
	{ "ok ",                     false, TEST_PASSED }, /* with the time behind it, see is_ok() */
	{ "skipped: ",               false, TEST_SKIPPED },
	{ "Dubious, test returned ", false, TEST_FAILED },
	{ "Failed ",                 false, TEST_FAILED },
	{ "All ",                    false, TEST_FAILED }, /* "All 3 subtests passed": but not so the file */
	{ "No subtests run",         false, TEST_FAILED },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out, files; /* files: of the present run */
	char *file;                      /* owned: whose lines these are; NULL outside */
	uint64_t from, to;               /* its TAP, as offsets: to the last word of prove */
	enum test_status status;
	bool judged;   /* a word of prove was seen */
	bool verbose;  /* TAP was seen */
	bool report;   /* in "Test Summary Report" */
	char *accused; /* owned: file of the last line of the report */
	uint64_t tests, counted_files, counted_tests;
	bool counted; /* "Files=N, Tests=M": the result follows */
	unsigned ends;
	bool failed; /* some file of some run */
};

/* "Failed 1/2 subtests", "All 2 subtests passed": told from a test's own words. */
static bool is_sum(const char *s)
{
	uint64_t n;
	size_t digits;

	s = strchr(s, ' ') + 1;
	digits = testlog_digits(s, &n);
	s += digits;
	if (digits && *s == '/')
		s += 1 + testlog_digits(s + 1, &n);
	return digits && str_starts(s, " subtest");
}

/* "ok       35 ms ( 0.00 usr ...": of prove --timer. */
static bool is_ok(const char *s)
{
	uint64_t n;
	size_t digits;

	s += 2 + strspn(s + 2, " ");
	digits = testlog_digits(s, &n);
	return digits && str_starts(s + digits, " ms");
}

/* Is the whole of @s a word of prove on a file? */
static bool word(const char *s, enum test_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].exact ? !str_eq(s, words[i].text) : !str_starts(s, words[i].text))
			continue;
		if ((str_starts(words[i].text, "Failed") || str_starts(words[i].text, "All")) &&
		    !is_sum(s))
			continue;
		if (str_eq(words[i].text, "ok ") && !is_ok(s))
			continue;
		*ret = words[i].status;
		return true;
	}
	return false;
}

/* The file's lines are over: its tests, then itself. */
static void close_file(struct reader *r)
{
	struct testlog_line span = { .from = r->from, .to = r->to };
	struct test_results tap = { 0 };

	if (!r->file)
		return;
	r->tests += testlog_tap_range(r->in, r->from, r->to, r->file, &tap);
	for (size_t i = 0; i < tap.n && !testlog_full(r->out); i++) {
		const struct test_result *t = &tap.v[i];

		testlog_add(r->out, t->name, strlen(t->name), t->status, t->from, t->to);
	}
	r->verbose |= tap.n > 0;
	if (!r->judged)
		r->status = TEST_ERROR;
	else if (r->status == TEST_PASSED && tap.n && tap.incomplete)
		testlog_incomplete(r->out, "%.200s is \"ok\", but: %s", r->file, tap.note);
	testlog_merge(r->in, &r->files, r->file, strlen(r->file), r->status, &span);
	testlog_done(&tap);
	free(take_ptr(&r->file));
	r->judged = false;
}

/* "t/a.t .. " with perhaps a word behind the dots, and with --timer "[20:00:13] " in front. */
static bool on_file(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s, *dots = NULL, *rest = NULL;
	enum test_status status = TEST_PASSED;

	if (s[0] == '[' && line->n > 11 && s[9] == ']' && s[10] == ' ')
		s += 11;
	for (const char *at = s; (at = strstr(at, " ..")); at++) {
		size_t n = 1 + strspn(at + 1, ".");

		if (at[n] != ' ')
			continue;
		dots = at;
		rest = at + n + 1;
	}
	if (!dots || dots == s || *s == ' ' || *s == '#' || (*rest && !word(rest, &status)))
		return false;
	close_file(r);
	r->file = mem_strndup(s, (size_t)(dots - s));
	r->from = r->to = line->to;
	r->judged = *rest != '\0';
	r->status = status;
	return true;
}

/* "t/plan.t  (Wstat: 65280 (exited 255) Tests: 2 Failed: 0)", and what is said of it below. */
static void on_report(struct reader *r, const struct testlog_line *line)
{
	const char *stat = strstr(line->s, " (Wstat: "), *failed = strstr(line->s, " Failed: ");
	bool bad = false;

	if (line->s[0] != ' ' && stat && failed) {
		size_t n = (size_t)(stat - line->s);

		while (n && line->s[n - 1] == ' ')
			n--;
		free(r->accused);
		r->accused = mem_strndup(line->s, n);
		bad = !str_starts(stat, " (Wstat: 0 ") || !str_eq(failed, " Failed: 0)");
	} else if (r->accused) {
		bad = testlog_starts(line, "  Parse errors:") ||
		      testlog_starts(line, "  Non-zero ") || testlog_starts(line, "  Failed test");
	}
	if (bad)
		testlog_merge(r->in, &r->files, r->accused, strlen(r->accused), TEST_FAILED, line);
}

/* "Result: PASS": the end of a run. */
static void on_result(struct reader *r, const char *result)
{
	bool failed = testlog_any_failed(&r->files);

	testlog_join(&r->files, r->out);
	if (r->files.n != r->counted_files)
		testlog_incomplete(r->out, "%zu files are named, but %llu counted", r->files.n,
				   (unsigned long long)r->counted_files);
	else if (r->verbose && r->tests != r->counted_tests)
		testlog_incomplete(r->out, "%llu tests are named, but %llu counted",
				   (unsigned long long)r->tests,
				   (unsigned long long)r->counted_tests);
	else if (str_eq(result, "FAIL") != failed)
		testlog_incomplete(r->out, "the result is %.20s, but %s failed", result,
				   failed ? "a file" : "no file");
	r->failed |= failed;
	r->ends++;
	testlog_done(&r->files);
	free(take_ptr(&r->accused));
	r->tests = 0;
	r->verbose = r->report = r->counted = false;
}

/* "Files=13, Tests=37,  1 wallclock secs ..." */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	size_t digits;
	const char *s = line->s + 6;

	if (!testlog_starts(line, "Files="))
		return false;
	digits = testlog_digits(s, &r->counted_files);
	if (!digits || !str_starts(s + digits, ", Tests="))
		return false;
	testlog_digits(s + digits + 8, &r->counted_tests);
	close_file(r);
	r->counted = true;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	enum test_status status;

	if (r->counted && testlog_starts(line, "Result: ")) {
		on_result(r, line->s + 8);
		return;
	}
	r->counted = false;
	if (testlog_starts(line, "FAILED--Further testing stopped"))
		testlog_incomplete(r->out, "bailed out: %.200s", line->s);
	if (on_counts(r, line) || on_file(r, line))
		return;
	if (str_eq(line->s, "Test Summary Report") || str_eq(line->s, "All tests successful.")) {
		close_file(r);
		r->report = true;
	} else if (r->report) {
		on_report(r, line);
	} else if (r->file && word(line->s, &status)) {
		/* a bad word stays; the TAP ends in front of the last one */
		if (!r->judged || status == TEST_FAILED)
			r->status = status;
		r->judged = true;
		r->to = line->from;
	}
}

int testlog_read_prove(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(out) && !testlog_full(&r.files))
		on_line(&r, &line);
	if (r.file)
		r.to = r.judged ? r.to : in->log_len;
	close_file(&r);
	if (r.files.n)
		testlog_incomplete(out, "a run began and did not end");
	if (!r.ends)
		testlog_incomplete(out, "no line \"Result: PASS\" or \"Result: FAIL\"");
	testlog_join(&r.files, out);
	testlog_check_exit(in, "prove", 1, r.failed, out);
	testlog_done(&r.files);
	free(r.accused);
	buf_done(&it.text);
	return 0;
}

/* minitest 4 and 5 with -v (Rails' runner too).
 *
 * A test is announced as "Class#test = " when it begins and "0.00 s = ." follows when it is done;
 * what the test prints stands between the two. So the announcements say which tests ran, and how
 * those came out that did not pass is read from the sections at the end ("  3) Failure:", the id on
 * the next line), where nothing a test printed can stand.
 *
 * Ids: "Class#test" as it stands there. An id may hold " = " and a newline.
 *
 * Complete means: "N runs, ..." ended each "# Running:", as many tests were announced as it counts,
 * as many sections of each kind as it counts, each of an announced test, and the exit status fits.
 * A line that a test printed in the form of an announcement makes one test too many. With several
 * runs in a log the worse status of a test stays. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

enum kind { KIND_FAILURE, KIND_ERROR, KIND_SKIP, KINDS };

/* Headings of sections. */
static const struct {
	const char *text;
	enum kind kind;
	enum test_status status;
} headings[] = {
	/* clang-format off */
	{ "Failure:", KIND_FAILURE, TEST_FAILED },
	{ "Error:",   KIND_ERROR,   TEST_ERROR },
	{ "Skipped:", KIND_SKIP,    TEST_SKIPPED },
	/* clang-format on */
};

enum place { PLACE_OUTSIDE, PLACE_BODY, PLACE_SECTIONS };

struct reader {
	const struct testlog_input *in;
	struct test_results *out, run; /* run: tests of the present one */
	enum place place;
	size_t announced; /* different ids */
	char *last;       /* owned: the last of them */
	char *before;     /* owned: the line before, when an id may have begun there */
	/* sections */
	bool wants_id; /* the last line was a heading, */
	size_t row;    /* this one */
	char *half;    /* owned: first line of an id of two lines */
	uint64_t seen[KINDS];
	/* all runs */
	unsigned ends;
	bool failures;
};

/* Length of "0.00 s = ." at the end of [@s, @n), 0 when it is not there. */
static size_t end_len(const char *s, size_t n)
{
	size_t i = n;

	if (n < 7 || !strchr(".FES", s[n - 1]) || memcmp(s + n - 6, " s = ", 5) != 0)
		return 0;
	for (i = n - 6; i && (isdigit((unsigned char)s[i - 1]) || s[i - 1] == '.');)
		i--;
	return i < n - 6 ? n - i : 0;
}

/* Is [@s, @n) an id without blanks, as a method of a class has? */
static bool plain_id(const char *s, size_t n)
{
	const char *hash = memchr(s, '#', n);

	if (!hash || hash == s || (size_t)(hash - s) + 1 == n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] == ' ')
			return false;
	return true;
}

static void announce(struct reader *r, const char *s, size_t n, const struct testlog_line *line)
{
	size_t had = r->run.n;

	testlog_merge(r->in, &r->run, s, n, TEST_PASSED, line);
	r->announced += r->run.n > had;
	free(r->last);
	r->last = mem_strndup(s, n);
}

/* Announcements in [@s, @n), which ends behind " = " when @full. Threads interleave plain ids:
 * "A#a = B#b = "; otherwise " = " is part of an id, or output begins behind it. */
static void announcements(struct reader *r, const char *s, size_t n, bool full,
			  const struct testlog_line *line)
{
	const char *at = s, *e = s + n, *sep = memmem(s, n, " = ", 3);
	bool plain = true;

	if (!sep)
		return;
	if (!full) {
		announce(r, s, (size_t)(sep - s), line);
		return;
	}
	for (; at < e && sep; at = sep + 3, sep = memmem(at, (size_t)(e - at), " = ", 3))
		plain &= plain_id(at, (size_t)(sep - at));
	if (!plain) {
		announce(r, s, n - 3, line);
		return;
	}
	for (at = s; at < e; at = sep + 3) {
		sep = memmem(at, (size_t)(e - at), " = ", 3);
		announce(r, at, (size_t)(sep - at), line);
	}
}

static void on_body(struct reader *r, const struct testlog_line *line)
{
	auto_free char *before = take_ptr(&r->before), *joined = NULL;
	size_t end = end_len(line->s, line->n), n = line->n - end;
	bool full = n >= 3 && memcmp(line->s + n - 3, " = ", 3) == 0;
	const char *s = line->s, *sep = memmem(s, n, " = ", 3), *hash = memchr(s, '#', n);

	if (end == line->n) /* the end of a test that printed something */
		return;
	if (sep && hash && hash < sep) {
		announcements(r, s, n, full, line);
	} else if (full && before) {
		joined = mem_printf("%s\n%.*s", before, (int)n, s);
		announce(r, joined, strlen(joined) - 3, line);
	} else if (!sep && hash && hash > s) {
		r->before = mem_strndup(s, line->n);
	}
}

/* "TestA#test_b [file:1]:" or "TestA#test_b:". */
static void on_id(struct reader *r, const struct testlog_line *line)
{
	auto_free char *id =
		r->half ? mem_printf("%s\n%s", r->half, line->s) : mem_strndup(line->s, line->n);
	bool second = r->half != NULL;
	size_t n = strlen(id);
	auto_free char *name = NULL;

	free(take_ptr(&r->half));
	if (!n || id[n - 1] != ':') {
		if (!second)
			r->half = take_ptr(&id);
		r->wants_id = !second;
		return;
	}
	r->wants_id = false;
	n--;
	if (n && id[n - 1] == ']') {
		while (n && id[n - 1] != '[')
			n--;
		n -= n >= 2 ? 2 : n;
	}
	r->seen[headings[r->row].kind]++;
	name = testlog_name(id, n, r->in->root);
	if (r->announced && !testlog_get(&r->run, name))
		testlog_incomplete(r->out, "%.200s did not pass, but nothing said that it began",
				   name);
	testlog_merge(r->in, &r->run, id, n, headings[r->row].status, line);
}

static bool on_heading(struct reader *r, const struct testlog_line *line)
{
	size_t blanks = strspn(line->s, " "), digits;
	uint64_t number;

	digits = testlog_digits(line->s + blanks, &number);
	if (!digits || strncmp(line->s + blanks + digits, ") ", 2) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
		if (str_eq(line->s + blanks + digits + 2, headings[i].text)) {
			r->wants_id = true;
			r->row = i;
			return true;
		}
	return false;
}

/* "23 runs, 7 assertions, 7 failures, 3 errors, 2 skips": the end of a run. */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	uint64_t runs = UINT64_MAX, n[KINDS] = { 0 };
	const struct testlog_count rows[] = {
		{ "runs", &runs },
		{ "tests", &runs },
		{ "failures", &n[KIND_FAILURE] },
		{ "errors", &n[KIND_ERROR] },
		{ "skips", &n[KIND_SKIP] },
	};

	if (!testlog_counts(line->s, false, rows, ARRAY_SIZE(rows)) || runs == UINT64_MAX)
		return false;
	if (r->place == PLACE_OUTSIDE)
		testlog_incomplete(r->out, "counts without a run in front of them");
	else if (runs && !r->announced)
		testlog_incomplete(r->out, "no test is named: run with -v");
	else if (runs != r->announced)
		testlog_incomplete(r->out, "%zu tests are named, but %llu ran", r->announced,
				   (unsigned long long)runs);
	else if (n[KIND_FAILURE] != r->seen[KIND_FAILURE] || n[KIND_ERROR] != r->seen[KIND_ERROR] ||
		 n[KIND_SKIP] != r->seen[KIND_SKIP])
		testlog_incomplete(r->out, "failures, errors or skips are named that are not "
					   "counted, or the other way round");
	r->failures |= n[KIND_FAILURE] || n[KIND_ERROR];
	r->ends++;
	return true;
}

/* The results of the present run join the others. */
static void close_run(struct reader *r)
{
	struct testlog_line none = { 0 };

	/* The run ended inside its last test. */
	if (r->place == PLACE_BODY && r->last)
		testlog_merge(r->in, &r->run, r->last, strlen(r->last), TEST_ERROR, &none);
	free(take_ptr(&r->last));
	r->announced = 0;
	testlog_join(&r->run, r->out);
	testlog_done(&r->run);
	memset(r->seen, 0, sizeof(r->seen));
	free(take_ptr(&r->before));
	free(take_ptr(&r->half));
	r->wants_id = false;
	r->place = PLACE_OUTSIDE;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	if (testlog_starts(line, "# Running")) {
		if (r->place != PLACE_OUTSIDE)
			testlog_incomplete(r->out, "a run began before another one had ended");
		close_run(r);
		r->place = PLACE_BODY;
	} else if (on_counts(r, line)) {
		close_run(r);
	} else if (r->place == PLACE_BODY && testlog_starts(line, "Finished ")) {
		r->place = PLACE_SECTIONS;
	} else if (r->place == PLACE_BODY) {
		on_body(r, line);
	} else if (r->place == PLACE_SECTIONS && r->wants_id) {
		on_id(r, line);
	} else if (r->place == PLACE_SECTIONS) {
		on_heading(r, line);
	}
}

int testlog_read_minitest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(&r.run))
		on_line(&r, &line);
	if (r.place != PLACE_OUTSIDE)
		testlog_incomplete(out, "a run began and did not end");
	close_run(&r);
	if (!r.ends)
		testlog_incomplete(out, "no line \"N runs, N assertions, ...\"");
	testlog_check_exit(in, "minitest", 1, r.failures, out);
	buf_done(&it.text);
	return 0;
}

/* Check (libcheck): its console with CK_VERBOSITY=verbose, or the XML of CK_XML_LOG_FILE_NAME as the
 * report. (Its TAP is for the reader "tap".)
 *
 *     Running suite(s): Sample
 *     66%: Checks: 3, Failures: 1, Errors: 0
 *     sample.c:12:F:core:adds:0: Assertion '1 == 2' failed
 *
 * Ids: "tcase:test", with ":N" behind it for the later runs of a loop; a repeated one gets " #2". A set-up
 * that failed ("S") and a test that died or ran out of time ("E") are errors.
 *
 * What counts: the lines behind the last summary of a run; what tests print comes in front of it.
 * Complete means for each run: as many lines, failures and errors as it says, and status 0 unless
 * something failed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_xmlrun_internal.h"

static const struct {
	char letter;
	enum test_status status;
	bool failure; /* counted under "Failures", otherwise under "Errors" */
} letters[] = {
	/* clang-format off */
	{ 'P', TEST_PASSED, false },
	{ 'F', TEST_FAILED, true },
	{ 'S', TEST_ERROR,  true },
	{ 'E', TEST_ERROR,  false },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct test_results t; /* of the run, behind its last summary */
	uint64_t checks, failures, errors, seen_failures, seen_errors;
	bool running, told;
	size_t runs;
};

/* The run is over: do its lines agree with its summary? */
static void leave(struct reader *r)
{
	if (!r->running)
		return;
	if (!r->told)
		testlog_incomplete(r->out, "a run has no line \"N%%: Checks: N\"");
	else if (r->seen_failures == r->failures && r->seen_errors == r->errors &&
		 r->t.n == r->failures + r->errors && r->t.n < r->checks)
		testlog_incomplete(r->out, "no test that passed is named: run with "
					   "CK_VERBOSITY=verbose");
	else if (r->t.n != r->checks || r->seen_failures != r->failures ||
		 r->seen_errors != r->errors)
		testlog_incomplete(r->out, "%llu checks, %llu of them failed; %llu lines, %llu",
				   (unsigned long long)r->checks,
				   (unsigned long long)(r->failures + r->errors),
				   (unsigned long long)r->t.n,
				   (unsigned long long)(r->seen_failures + r->seen_errors));
	for (size_t i = 0; i < r->t.n && !testlog_full(r->out); i++) {
		const struct test_result *t = &r->t.v[i];

		testlog_add(r->out, t->name, strlen(t->name), t->status, t->from, t->to);
	}
	testlog_done(&r->t);
	r->running = false;
}

/* "66%: Checks: 3, Failures: 1, Errors: 0" */
static bool summary(struct reader *r, const struct testlog_line *line)
{
	static const char *const words[] = { "%: Checks: ", ", Failures: ", ", Errors: " };
	uint64_t percent, v[3];
	size_t n = testlog_digits(line->s, &percent);
	const char *s = line->s + n;

	for (size_t i = 0; n && i < ARRAY_SIZE(words); i++) {
		if (!str_starts(s, words[i]))
			return false;
		s += strlen(words[i]);
		n = testlog_digits(s, &v[i]);
		s += n;
	}
	if (!n || *s)
		return false;
	testlog_done(&r->t);
	r->checks = v[0];
	r->failures = v[1];
	r->errors = v[2];
	r->seen_failures = r->seen_errors = 0;
	r->told = true;
	return true;
}

/* ":12:F:" in [@s, @n): where it begins, @n when it does not. The letter's row goes to @ret. */
static size_t place(const char *s, size_t n, size_t *ret)
{
	for (size_t i = 0; i + 4 < n; i++) {
		size_t k = i + 1;

		if (s[i] != ':' || !isdigit((unsigned char)s[k]))
			continue;
		while (k < n && isdigit((unsigned char)s[k]))
			k++;
		if (k + 2 < n && s[k] == ':' && s[k + 2] == ':')
			for (*ret = 0; *ret < ARRAY_SIZE(letters); ++*ret)
				if (letters[*ret].letter == s[k + 1])
					return k + 3;
		i = k - 1;
	}
	return n;
}

/* "file.c:12:F:tcase:test:0: message" */
static void on_result(struct reader *r, const struct testlog_line *line)
{
	auto_free char *id = NULL;
	size_t row, from = place(line->s, line->n, &row), i, digits;
	const char *s = line->s + from, *end;
	uint64_t v;

	if (from == line->n)
		return;
	/* The first ":N: " ends the id. */
	for (end = strchr(s, ':'); end; end = strchr(end + 1, ':')) {
		digits = testlog_digits(end + 1, &v);
		if (digits && str_starts(end + 1 + digits, ": "))
			break;
	}
	if (!end || end == s)
		return;
	i = (size_t)(end - s);
	id = v ? mem_printf("%.*s:%llu", (int)i, s, (unsigned long long)v) : mem_strndup(s, i);
	testlog_put(r->in, &r->t, id, strlen(id), letters[row].status, line);
	if (letters[row].failure)
		r->seen_failures++;
	else
		r->seen_errors += letters[row].status != TEST_PASSED;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	if (testlog_starts(line, "Running suite(s): ")) {
		leave(r);
		r->running = true;
		r->told = false;
		r->failures = r->errors = r->seen_failures = r->seen_errors = 0;
		r->runs++;
	} else if (r->running && !summary(r, line) && r->told) {
		on_result(r, line);
	}
}

int testlog_read_check(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	if (in->report) {
		testlog_xmlrun_check(in, out);
		buf_done(&it.text);
		return 0;
	}
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	leave(&r);
	if (!r.runs)
		testlog_incomplete(out, "no run of Check: there is no \"Running suite(s)\"");
	testlog_run_exit(in, out);
	buf_done(&it.text);
	return 0;
}

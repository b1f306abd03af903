/* ctest on the console, with and without the output of its tests.
 *
 *     " 3/10 Test  #3: name ..........***Failed    0.03 sec"
 *
 * Ids: the tests' names. What is not "Passed" failed, but for "***Skipped" and "***Not Run (Disabled)",
 * which are skipped; "***Not Run" (no executable, a fixture that failed), a crash and a time limit are
 * errors, and so is a test that began and has no result. The last result of a number counts (--repeat
 * prints several), of numbered ones ("3/10") the worst.
 *
 * Complete means for each run: its last "N% tests passed, N tests failed out of N" agrees with the
 * results, disabled tests left out; and status 0 unless a test failed. A line that a failed test printed
 * (--output-on-failure shows it as it is) so shows by its number, or by a total that does not fit. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_numbered_internal.h"

/* Behind the dots; any other "***" is a failure. */
static const struct {
	const char *text;
	enum test_status status;
} words[] = {
	/* clang-format off */
	{ "***Not Run (Disabled)", TEST_SKIPPED },
	{ "***Skipped",            TEST_SKIPPED },
	{ "***Not Run",            TEST_ERROR },
	{ "***Timeout",            TEST_ERROR },
	{ "***Exception",          TEST_ERROR },
	{ "***",                   TEST_FAILED },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_numbered t;
	uint64_t of;                  /* tests of the run, as its results say; 0 before the first */
	uint64_t total, total_failed; /* what the last summary says */
	bool ended;
	size_t runs;
};

/* What [@s, @n), behind the dots, says. False when it is no status. */
static bool status_of(const char *s, size_t n, enum test_status *ret)
{
	/* "Subprocess aborted***Exception:" */
	size_t i = strcspn(s, "*.");

	if (str_starts(s, "   Passed ")) {
		*ret = TEST_PASSED;
		return true;
	}
	if (i > 40 || i >= n)
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		if (str_starts(s + i, words[k].text)) {
			*ret = words[k].status;
			return true;
		}
	return false;
}

/* "name .....STATUS": length of the name, 0 when it is none. */
static size_t result_of(const char *s, size_t n, enum test_status *ret)
{
	for (size_t i = 0; i + 1 < n; i++) {
		size_t dots = i + 1;

		if (s[i] != ' ' || s[dots] != '.')
			continue;
		while (dots < n && s[dots] == '.')
			dots++;
		if (i && status_of(s + dots, n - dots, ret))
			return i;
		i = dots - 1;
	}
	return 0;
}

/* " 3/10 Test  #3: " or "      Start  3: ": the test's number, where the rest
 * begins, and of how many it is (0 without "3/10"). */
static const char *head(const char *s, const char *word, uint64_t *number, uint64_t *of)
{
	size_t n;

	*of = 0;
	s += strspn(s, " ");
	n = testlog_digits(s, number);
	if (n && s[n] == '/') {
		s += n + 1;
		s += testlog_digits(s, of);
		s += strspn(s, " ");
	}
	if (!str_starts(s, word))
		return NULL;
	s += strlen(word);
	s += strspn(s, " #");
	n = testlog_digits(s, number);
	return n && n < 10 && str_starts(s + n, ": ") ? s + n + 2 : NULL;
}

/* The run is over: do results and summary agree? */
static void leave(struct reader *r)
{
	uint64_t total = 0, failed = 0;

	if (!r->t.n && !r->ended)
		return;
	for (size_t i = 0; i < r->t.n; i++) {
		const struct testlog_numbered_row *row = &r->t.v[i];

		total += row->decided;
		failed += row->decided && (row->status == TEST_FAILED || row->status == TEST_ERROR);
	}
	if (!r->ended)
		testlog_incomplete(r->out,
				   "no \"tests passed, ... tests failed out of\" at the end");
	else if (total < r->total || failed != r->total_failed)
		testlog_incomplete(r->out,
				   "the summary says %llu of %llu failed, the lines %llu of %llu",
				   (unsigned long long)r->total_failed,
				   (unsigned long long)r->total, (unsigned long long)failed,
				   (unsigned long long)total);
	testlog_numbered_done(&r->t, r->in, r->out);
	r->ended = false;
	r->total_failed = r->of = 0;
}

/* "43% tests passed, 4 tests failed out of 9"; no failures: newer ones leave the middle out. */
static bool summary(struct reader *r, const struct testlog_line *line)
{
	uint64_t percent, failed = 0, total;
	size_t n = testlog_digits(line->s, &percent);
	const char *s = line->s + n, *at;

	if (!n || !str_starts(s, "% tests passed"))
		return false;
	s += strlen("% tests passed");
	if (str_starts(s, ", ")) {
		n = testlog_digits(s + 2, &failed);
		s += 2 + n;
		if (!n || !str_starts(s, " test"))
			return false;
	}
	at = strstr(s, " out of ");
	if (!at || !testlog_digits(at + strlen(" out of "), &total))
		return false;
	r->total = total;
	r->total_failed = failed;
	r->ended = true;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	struct testlog_numbered_row *row;
	enum test_status s = TEST_ERROR;
	uint64_t number, of;
	const char *rest;
	size_t n;

	if (testlog_starts(line, "Test project ")) {
		leave(r);
		r->runs++;
		return;
	}
	if (!r->runs || summary(r, line))
		return;
	rest = head(line->s, "Start ", &number, &of);
	n = rest ? strlen(rest) : 0;
	if (n) {
		if (!testlog_numbered_at(&r->t, number, rest, n, line))
			testlog_incomplete(r->out, "too many tests");
		return;
	}
	rest = head(line->s, "Test ", &number, &of);
	n = rest ? result_of(rest, line->n - (size_t)(rest - line->s), &s) : 0;
	row = n ? testlog_numbered_at(&r->t, number, rest, n, line) : NULL;
	if (!row)
		return;
	if (!r->of)
		r->of = of;
	if (of && of != r->of)
		return;
	if (strlen(row->name) != n || memcmp(row->name, rest, n) != 0) {
		testlog_incomplete(r->out, "test %llu has two names: %.100s",
				   (unsigned long long)number, row->name);
		return;
	}
	/* Of two lines that are numbered one is forged: the better one does not count. */
	if (!of || !row->counted || s == TEST_FAILED || s == TEST_ERROR)
		row->status = s;
	row->counted |= of > 0;
	row->decided = true;
	row->to = line->to;
}

int testlog_read_ctest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	leave(&r);
	if (!r.runs || !out->n)
		testlog_incomplete(out, "ctest ran no test");
	testlog_run_exit(in, out);
	buf_done(&it.text);
	return 0;
}

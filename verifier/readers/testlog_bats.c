/* bats, with --formatter tap or pretty. (Its JUnit form is for the reader "junit-xml".)
 *
 * Ids: the title of the test. Files are not named, so equal titles become "title #2".
 *
 * TAP. bats escapes nothing and knows one directive only, " # skip"; a failing test titled "x # todo"
 * has failed. Tests are numbered over all files and the plan comes first.
 * Pretty. A line is written again when its test is done, with a sign in front of the title; the last
 * line counts tests, failures and skips.
 *
 * Complete means: the numbers run from 1 to the plan's without a gap, or the counts fit and nothing
 * was "not run"; and the exit status fits. A result that a test wrote to descriptor 3 breaks the
 * numbers or the counts. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

/* Signs of the pretty form, in front of a title. */
static const struct {
	const char *text;
	enum test_status status;
} signs[] = {
	/* clang-format off */
	{ " \xe2\x9c\x93 ", TEST_PASSED },
	{ " \xe2\x9c\x97 ", TEST_FAILED },
	{ " - ",            TEST_SKIPPED },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	bool planned, counted;
	uint64_t plan, next; /* TAP */
	uint64_t n[TEST_MISSING];
};

static void put(struct reader *r, const char *s, size_t n, enum test_status status,
		const struct testlog_line *line)
{
	while (n && s[n - 1] == ' ')
		n--;
	testlog_put(r->in, r->out, s, n, status, line);
	r->n[status]++;
}

/* Cut "in 5ms" or "in 1 sec" (bats -T) from the end. */
static size_t cut_time(const char *s, size_t n)
{
	size_t i = n;

	if (n < 6 || (memcmp(s + n - 2, "ms", 2) != 0 && memcmp(s + n - 4, " sec", 4) != 0))
		return n;
	i = memcmp(s + n - 2, "ms", 2) == 0 ? n - 2 : n - 4;
	while (i && s[i - 1] >= '0' && s[i - 1] <= '9')
		i--;
	return i >= 4 && memcmp(s + i - 4, " in ", 4) == 0 ? i - 4 : n;
}

/* "ok 3 title # skip why" */
static bool on_result(struct reader *r, const struct testlog_line *line)
{
	bool ok = testlog_starts(line, "ok ");
	const char *s = line->s + (ok ? 3 : 7), *skip;
	uint64_t number;
	size_t digits, n;

	if (!ok && !testlog_starts(line, "not ok "))
		return false;
	digits = testlog_digits(s, &number);
	if (!digits || (s[digits] && s[digits] != ' '))
		return false;
	s += digits + (s[digits] == ' ');
	if (number != r->next)
		testlog_incomplete(r->out, "test %llu follows test %llu",
				   (unsigned long long)number, (unsigned long long)(r->next - 1));
	r->next = number + 1;
	skip = ok ? strstr(s, " # skip") : NULL;
	if (skip && skip[7] && skip[7] != ' ')
		skip = NULL;
	n = skip ? (size_t)(skip - s) : strlen(s);
	put(r, s, cut_time(s, n), skip ? TEST_SKIPPED : ok ? TEST_PASSED : TEST_FAILED, line);
	return true;
}

/* Were as many tests seen as the last plan says? */
static void end_plan(const struct reader *r)
{
	if (r->planned && r->next != r->plan + 1)
		testlog_incomplete(r->out, "plan not met: %llu planned, %llu seen",
				   (unsigned long long)r->plan, (unsigned long long)(r->next - 1));
}

/* "1..20", in front of everything. */
static bool on_plan(struct reader *r, const struct testlog_line *line)
{
	uint64_t n;
	size_t digits;

	if (!testlog_starts(line, "1.."))
		return false;
	digits = testlog_digits(line->s + 3, &n);
	if (!digits || line->s[3 + digits])
		return false;
	end_plan(r);
	r->planned = true;
	r->plan = n;
	r->next = 1;
	return true;
}

/* "20 tests, 6 failures, 3 skipped, 1 not run" */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	uint64_t tests = UINT64_MAX, failures = 0, skipped = 0, not_run = 0;
	const struct testlog_count rows[] = {
		{ "tests", &tests },      { "test", &tests },      { "failures", &failures },
		{ "failure", &failures }, { "skipped", &skipped }, { "not run", &not_run },
	};

	if (!testlog_counts(line->s, false, rows, ARRAY_SIZE(rows)) || tests == UINT64_MAX)
		return false;
	if (not_run)
		testlog_incomplete(r->out, "%llu tests did not run", (unsigned long long)not_run);
	else if (tests != r->n[TEST_PASSED] + r->n[TEST_FAILED] + r->n[TEST_SKIPPED])
		testlog_incomplete(r->out, "%zu tests are named, but %llu ran", r->out->n,
				   (unsigned long long)tests);
	else if (failures != r->n[TEST_FAILED] || skipped != r->n[TEST_SKIPPED])
		testlog_incomplete(r->out, "the failures and skips named are not those counted");
	r->counted = true;
	memset(r->n, 0, sizeof(r->n));
	return true;
}

/* What stands behind the last "go to column 1" of the raw line, cleaned. */
static void last_writing(const struct testlog_input *in, const struct testlog_line *line,
			 struct testlog_lines *it, struct testlog_line *ret)
{
	static const char column1[] = "\033[1G";
	const char *s = in->log + line->from, *end = in->log + line->to, *at;
	uint64_t from = line->from;

	while ((at = memmem(s, (size_t)(end - s), column1, sizeof(column1) - 1)))
		s = at + sizeof(column1) - 1;
	*it = (struct testlog_lines){ .log = s, .len = (size_t)(end - s), .text = it->text };
	if (!testlog_next(it, ret)) {
		buf_clear(&it->text);
		*ret = (struct testlog_line){ .s = buf_str(&it->text) };
	}
	ret->from = from;
	ret->to = line->to;
}

/* " <sign> title (skipped: why)" */
static void on_pretty(struct reader *r, const struct testlog_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		size_t k = strlen(signs[i].text), n = line->n;
		const char *why;

		if (!testlog_starts(line, signs[i].text))
			continue;
		if (signs[i].status == TEST_SKIPPED) {
			why = strstr(line->s, " (skipped");
			if (!why || line->s[n - 1] != ')')
				return;
			n = (size_t)(why - line->s);
		}
		put(r, line->s + k, n - k, signs[i].status, line);
		return;
	}
}

int testlog_read_bats(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out, .next = 1 };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len), again = TESTLOG_LINES("", 0);
	struct testlog_line line, last;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(out)) {
		if (on_plan(&r, &line) || (r.planned && on_result(&r, &line)) || r.planned ||
		    on_counts(&r, &line))
			continue;
		last_writing(in, &line, &again, &last);
		on_pretty(&r, &last);
	}
	if (!r.planned && !r.counted)
		testlog_incomplete(out,
				   "neither a plan (1..N) nor the line \"N tests, N failures\"");
	end_plan(&r);
	testlog_check_exit(in, "bats", 1, testlog_any_failed(out), out);
	buf_done(&it.text);
	buf_done(&again.text);
	return 0;
}

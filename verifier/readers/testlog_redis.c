/* Redis' runtest (Tcl): "[ok]: name (12 ms)", "[err]: name in tests/unit/file.tcl".
 *
 * Ids: the name without time and file; one that comes twice keeps the worse result, since files run side
 * by side. Complete means: "The End" was reached, and what follows it ("All tests passed", "The following
 * tests failed" with a list) agrees with the results. "[exception]" and "[timeout]" end a run early. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

static const struct {
	const char *text;
	enum test_status status;
	bool listed; /* such a line is repeated at the end, behind "*** " */
} words[] = {
	/* clang-format off */
	{ "[ok]: ",     TEST_PASSED,  false },
	{ "[err]: ",    TEST_FAILED,  true },
	{ "[ignore]: ", TEST_SKIPPED, false },
	{ "[skip]: ",   TEST_SKIPPED, false },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	uint64_t failed, listed;
	bool end, all_passed, some_failed;
};

/* Length of the name in "name (12 ms)" and "name in tests/unit/file.tcl". */
static size_t name_len(const char *s, size_t n)
{
	const char *open = memrchr(s, '(', n), *in = NULL;
	size_t digits;
	uint64_t ms;

	if (open && open > s + 1 && open[-1] == ' ') {
		digits = testlog_digits(open + 1, &ms);
		if (digits && str_eq(open + 1 + digits, " ms)"))
			return (size_t)(open - 1 - s);
	}
	if (n > 4 && str_eq(s + n - 4, ".tcl"))
		for (const char *at = s; (at = strstr(at, " in tests/")); at++)
			in = at;
	return in ? (size_t)(in - s) : n;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	bool listed = testlog_starts(line, "*** [err]: ");
	const char *s = line->s + (listed ? 4 : 0);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t k = strlen(words[i].text), n;

		if (!str_starts(s, words[i].text))
			continue;
		n = name_len(s + k, line->n - (size_t)(s - line->s) - k);
		testlog_merge(r->in, r->out, s + k, n, words[i].status, line);
		if (listed)
			r->listed++;
		else
			r->failed += words[i].listed;
		return;
	}
	if (testlog_starts(line, "[exception]") || testlog_starts(line, "[timeout]"))
		testlog_incomplete(r->out, "%.200s", line->s);
	else if (str_eq(line->s + strspn(line->s, " "), "The End"))
		r->end = true;
	else if (r->end && strstr(line->s, "All tests passed without errors!"))
		r->all_passed = true;
	else if (r->end && strstr(line->s, "The following tests failed:"))
		r->some_failed = true;
}

int testlog_read_redis(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	if (!r.end || r.all_passed == r.some_failed)
		testlog_incomplete(out,
				   "the run did not reach its end (\"The End\" and a verdict)");
	else if (r.failed != r.listed || r.all_passed != !r.failed)
		testlog_incomplete(out, "%llu tests failed, %llu are listed at the end",
				   (unsigned long long)r.failed, (unsigned long long)r.listed);
	testlog_run_exit(in, out);
	buf_done(&it.text);
	return 0;
}

/* jq --run-tests: "Testing 'program' at line number N", from 1.7 on "Test #N: 'program' at ...".
 *
 * Ids: the program as it stands between the quotes; a repeated one gets " #2". Line and test numbers are
 * no part of them: they move when a test is put in. A test passed when no line "*** ..." follows it.
 * Complete means for each file of tests: its "N of N tests passed" agrees. (jq's output is held back in a
 * pipe: without stdbuf -oL a time limit leaves nothing to read.) */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	char *test; /* owned: the one whose "***" may come, NULL = none */
	enum test_status status;
	struct testlog_line line;
	uint64_t passed, total; /* since the last summary */
	size_t runs;
};

static void settle(struct reader *r)
{
	if (!r->test)
		return;
	testlog_put(r->in, r->out, r->test, strlen(r->test), r->status, &r->line);
	r->total++;
	r->passed += r->status == TEST_PASSED;
	free(take_ptr(&r->test));
}

/* The program of an announcement. False when the line is none. */
static bool announced(const struct testlog_line *line, const char **s, size_t *n)
{
	static const char place[] = "' at line number ";
	const char *at = line->s, *end = NULL;
	uint64_t number;
	size_t digits;

	if (testlog_starts(line, "Testing '")) {
		at += strlen("Testing '");
	} else {
		if (!testlog_starts(line, "Test #"))
			return false;
		digits = testlog_digits(at + 6, &number);
		at += 6 + digits;
		if (!digits || !str_starts(at, ": '"))
			return false;
		at += 3;
	}
	for (const char *next = at; (next = strstr(next, place)); next++)
		end = next;
	if (!end || !isdigit((unsigned char)end[sizeof(place) - 1]))
		return false;
	*s = at;
	*n = (size_t)(end - at);
	return true;
}

/* "4 of 7 tests passed (2 malformed)" */
static bool summary(struct reader *r, const struct testlog_line *line)
{
	uint64_t passed, total;
	size_t n = testlog_digits(line->s, &passed), k;

	if (!n || !str_starts(line->s + n, " of "))
		return false;
	n += 4;
	k = testlog_digits(line->s + n, &total);
	if (!k || !str_starts(line->s + n + k, " tests passed"))
		return false;
	settle(r);
	if (passed != r->passed || total != r->total)
		testlog_incomplete(r->out,
				   "\"%.60s\", but %llu of %llu tests passed in front of it",
				   line->s, (unsigned long long)r->passed,
				   (unsigned long long)r->total);
	r->passed = r->total = 0;
	r->runs++;
	return true;
}

int testlog_read_jq(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;
	const char *name;
	size_t n;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out)) {
		if (announced(&line, &name, &n)) {
			settle(&r);
			r.test = mem_strndup(name, n);
			r.status = TEST_PASSED;
			r.line = line;
		} else if (testlog_starts(&line, "*** ")) {
			r.status = TEST_FAILED;
			r.line.to = r.test ? line.to : r.line.to;
		} else {
			summary(&r, &line);
		}
	}
	if (r.test || r.total || !r.runs)
		testlog_incomplete(out, "no \"N of N tests passed\" at the end");
	testlog_run_exit(in, out);
	/* The test at which the log ends may be the one that hangs. */
	if (r.test)
		r.status = TEST_ERROR;
	settle(&r);
	buf_done(&it.text);
	return 0;
}

/* Ruby's test-unit 3 with -v.
 *
 * "Class: " heads the tests of a class; a test is announced as "  name:<tabs>" and its result follows:
 * "." or a letter, then ": (0.001)". What did not pass is told again in a block between two rulers,
 * whose first line names kind and test: "Failure: name(Class): text". The announcements say which
 * tests ran, the blocks how they came out.
 *
 * Ids: "name(Class)", as the blocks have it.
 *
 * Complete means: the counts are there, as many tests were announced as they say, as many blocks of
 * each kind stood behind the test that they name, and the exit status fits. With several runs in a
 * log the worse status of a test stays. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

enum kind { KIND_FAILURE, KIND_ERROR, KIND_PENDING, KIND_OMISSION, KINDS };

/* First word of a block. */
static const struct {
	const char *text;
	enum kind kind;
	enum test_status status;
} blocks[] = {
	/* clang-format off */
	{ "Failure: ",  KIND_FAILURE,  TEST_FAILED },
	{ "Error: ",    KIND_ERROR,    TEST_ERROR },
	{ "Pending: ",  KIND_PENDING,  TEST_SKIPPED },
	{ "Omission: ", KIND_OMISSION, TEST_SKIPPED },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out, run; /* run: tests of the present one */
	bool open;                     /* in a run */
	bool block, first;             /* between two rulers; right behind the first */
	char *class, *now;             /* owned: of the last heading; id of the last announcement */
	uint64_t seen[KINDS];
	unsigned ends;
	bool failures;
};

/* "Class: " */
static void on_class(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " ");
	size_t n = strlen(s);

	if (n < 3 || strcmp(s + n - 2, ": ") != 0 || strchr(s, '\t') || strchr(s, '('))
		return;
	free(r->class);
	r->class = mem_strndup(s, n - 2);
}

/* "  name:<tabs>" */
static bool on_start(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " "), *tab = strstr(s, ":\t");

	if (s == line->s || !tab || tab == s || !r->class)
		return false;
	free(r->now);
	r->now = mem_printf("%.*s(%s)", (int)(tab - s), s, r->class);
	testlog_merge(r->in, &r->run, r->now, strlen(r->now), TEST_PASSED, line);
	return true;
}

/* The line behind a ruler. */
static void on_block(struct reader *r, const struct testlog_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		if (!testlog_starts(line, blocks[i].text))
			continue;
		r->seen[blocks[i].kind]++;
		if (!r->now)
			return; /* without -v */
		if (!strstr(line->s, r->now)) {
			testlog_incomplete(r->out,
					   "a block does not name the test before it: %.200s",
					   line->s);
			return;
		}
		testlog_merge(r->in, &r->run, r->now, strlen(r->now), blocks[i].status, line);
	}
}

static void close_run(struct reader *r)
{
	struct testlog_line none = { 0 };

	/* The run ended inside its last test. */
	if (r->open && r->now)
		testlog_merge(r->in, &r->run, r->now, strlen(r->now), TEST_ERROR, &none);
	testlog_join(&r->run, r->out);
	testlog_done(&r->run);
	memset(r->seen, 0, sizeof(r->seen));
	free(take_ptr(&r->class));
	free(take_ptr(&r->now));
	r->open = r->block = r->first = false;
}

/* "18 tests, 5 assertions, 4 failures, 3 errors, 1 pendings, 1 omissions, 1 notifications" */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	uint64_t tests = UINT64_MAX, n[KINDS] = { 0 };
	const struct testlog_count rows[] = {
		{ "tests", &tests },
		{ "failures", &n[KIND_FAILURE] },
		{ "errors", &n[KIND_ERROR] },
		{ "pendings", &n[KIND_PENDING] },
		{ "omissions", &n[KIND_OMISSION] },
	};

	if (!testlog_counts(line->s, false, rows, ARRAY_SIZE(rows)) || tests == UINT64_MAX)
		return false;
	if (!r->open)
		testlog_incomplete(r->out, "counts without a run in front of them");
	else if (tests && !r->run.n)
		testlog_incomplete(r->out, "no test is named: run with -v");
	else if (tests != r->run.n)
		testlog_incomplete(r->out, "%zu tests are named, but %llu ran", r->run.n,
				   (unsigned long long)tests);
	else if (memcmp(n, r->seen, sizeof(n)) != 0)
		testlog_incomplete(r->out, "failures, errors, pendings or omissions are shown that "
					   "are not counted, or the other way round");
	r->failures |= n[KIND_FAILURE] || n[KIND_ERROR];
	r->ends++;
	r->open = false;
	close_run(r);
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	if (str_eq(line->s, "Started")) {
		if (r->open)
			testlog_incomplete(r->out, "a run began before another one had ended");
		close_run(r);
		r->open = true;
	} else if (r->open && line->n >= 20 && strspn(line->s, "=") == line->n) {
		r->block = r->first = !r->block;
	} else if (!on_counts(r, line) && r->open) {
		if (r->first)
			on_block(r, line);
		else if (!r->block && !on_start(r, line))
			on_class(r, line);
		r->first = false;
	}
}

int testlog_read_testunit(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(&r.run))
		on_line(&r, &line);
	if (r.open)
		testlog_incomplete(out, "a run began and did not end");
	close_run(&r);
	if (!r.ends)
		testlog_incomplete(out, "no line \"N tests, N assertions, ...\"");
	testlog_check_exit(in, "test-unit", 1, r.failures, out);
	buf_done(&it.text);
	return 0;
}

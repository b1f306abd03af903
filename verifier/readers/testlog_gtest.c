/* GoogleTest and cmocka on the console. Both write one test after the other:
 *
 *     [==========] Running 2 tests from 1 test suite.      [==========] Running 2 test(s).
 *     [ RUN      ] Suite.Name                              [ RUN      ] name
 *     [       OK ] Suite.Name (0 ms)                       [       OK ] name
 *
 * also behind "13: ", as ctest -V puts it in front of what test 13 prints; binaries that run at the same
 * time are told apart by it. With GoogleTest the report file (--gtest_output=json or xml) goes before the
 * console.
 *
 * Ids: the name that "[ RUN" announced, to the end of that line (a name with a newline is cut there). A
 * name that runs twice keeps the worse result. A suite whose set-up or tear-down failed is a result of
 * its own, "Suite".
 *
 * What counts: a result of the test that runs, also behind output without a newline, and of several the
 * worst; so a forged "[       OK ]" neither hides a failure nor makes a test that never ran. A test that
 * did not end is an error. Complete means for each run: its last lines are there, as many tests ran as
 * were announced, as many passed and failed as they say; the command's status is 0 unless something
 * failed. What remains: code under test that prints a whole run and ends the process. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_gtest_internal.h"
#include "verifier/readers/testlog_numbered_internal.h"

#define MARK      13u    /* bytes of "[ RUN      ] " */
#define BINARIES  65536u /* test binaries of one ctest run */
#define RUN       "[ RUN      ] "
#define RULE      "[==========] "
#define PASSED    "[  PASSED  ] "
#define FAILED    "[  FAILED  ] "
#define SKIPPED   "[  SKIPPED ] "
#define SUITE_END ": SetUpTestSuite or TearDownTestSuite"

static const struct testlog_word marks[] = {
	/* clang-format off */
	{ "[       OK ] ", TEST_PASSED },
	{ FAILED,          TEST_FAILED },
	{ SKIPPED,         TEST_SKIPPED },
	{ "[  ERROR   ] ", TEST_ERROR }, /* cmocka: set-up or tear-down failed */
	/* clang-format on */
};

enum { N_PASSED, N_FAILED, N_SKIPPED, N_COUNTS };

/* One test binary. */
struct binary {
	bool running, ended; /* between its first and its last rule; behind that */
	char *test;          /* owned: what runs, NULL = nothing */
	bool decided;
	enum test_status status;
	struct testlog_line line;
	uint64_t want, ran, seen[N_COUNTS], told[N_COUNTS];
	bool told_passed;
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct map by_number; /* key of ctest's number + 1, 0 without -> position + 1 */
	uint64_t seed;
	struct binary **v; /* owned */
	size_t n, cap;
	uint64_t runs;
};

static struct binary *binary(struct reader *r, uint64_t number)
{
	uint64_t key = testlog_numbered_key(&r->seed, number);
	void *at = map_get(&r->by_number, key);

	if (at)
		return r->v[(uintptr_t)at - 1];
	if (r->n == BINARIES) {
		testlog_incomplete(r->out, "more than %u test binaries", BINARIES);
		return NULL;
	}
	MEM_GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = mem_zalloc(1, sizeof(**r->v));
	map_put(&r->by_number, key, (void *)(uintptr_t)r->n); // NOLINT: a position
	return r->v[r->n - 1];
}

/* The test that runs is over. */
static void settle(struct reader *r, struct binary *b)
{
	enum test_status s = b->decided ? b->status : TEST_ERROR;

	if (!b->test)
		return;
	testlog_merge(r->in, r->out, b->test, strlen(b->test), s, &b->line);
	if (b->decided && s != TEST_ERROR)
		b->seen[s == TEST_PASSED ? N_PASSED : s == TEST_FAILED ? N_FAILED : N_SKIPPED]++;
	free(b->test);
	b->test = NULL;
	b->decided = false;
}

/* The run is over: do its lines agree with its end? */
static void leave(struct reader *r, struct binary *b)
{
	settle(r, b);
	if (b->running)
		testlog_incomplete(r->out, "a run of %llu tests did not end",
				   (unsigned long long)b->want);
	else if (b->ended && (!b->told_passed || b->ran != b->want))
		testlog_incomplete(r->out, "%llu tests are named, but %llu ran",
				   (unsigned long long)b->ran, (unsigned long long)b->want);
	else if (b->ended && memcmp(b->seen, b->told, sizeof(b->seen)) != 0)
		testlog_incomplete(r->out,
				   "%llu passed and %llu failed, but the end of the run "
				   "says %llu and %llu",
				   (unsigned long long)b->seen[N_PASSED],
				   (unsigned long long)b->seen[N_FAILED],
				   (unsigned long long)b->told[N_PASSED],
				   (unsigned long long)b->told[N_FAILED]);
	*b = (struct binary){ .test = NULL };
}

/* "[==========] Running 2 tests ..." and "[==========] 2 tests ... ran." (cmocka: "run."). */
static void on_rule(struct reader *r, struct binary *b, const char *s)
{
	const char *at = strstr(s, "Running ");
	uint64_t n;

	if (at) {
		if (!testlog_digits(at + strlen("Running "), &n))
			return;
		leave(r, b);
		b->running = true;
		b->want = n;
		r->runs++;
		return;
	}
	/* cmocka may put the group's name in front: the number is the word before "test". */
	at = strstr(s, " test");
	while (at && at > s && isdigit((unsigned char)at[-1]))
		at--;
	if (!at || !testlog_digits(at + (*at == ' '), &n))
		return;
	settle(r, b);
	if (!b->running) /* --gtest_brief, or the end of something else */
		testlog_incomplete(r->out,
				   "a run ended that did not begin: run without --gtest_brief");
	else if (n != b->want)
		testlog_incomplete(r->out, "%llu tests were to run, %llu did",
				   (unsigned long long)b->want, (unsigned long long)n);
	b->ended |= b->running;
	b->running = false;
	r->runs++;
}

/* Is @s the name of the test that runs, perhaps with a parameter and a time behind it? */
static bool is_current(const struct binary *b, const char *s)
{
	size_t n = b->test ? strlen(b->test) : 0;

	return n && strncmp(s, b->test, n) == 0 &&
	       (!s[n] || str_starts(s + n, " (") || str_starts(s + n, ", where "));
}

/* A result of the test that runs. */
static bool on_result(struct binary *b, const char *s, size_t n, const struct testlog_line *line)
{
	for (size_t i = 0; i + MARK < n; i++) {
		enum test_status status;

		if (s[i] != '[' || !testlog_word(marks, ARRAY_SIZE(marks), s + i, MARK, &status) ||
		    !is_current(b, s + i + MARK))
			continue;
		if (!b->decided || (b->status != TEST_ERROR && status != TEST_PASSED))
			b->status = status;
		b->decided = true;
		b->line.to = line->to;
		return true;
	}
	return false;
}

/* The last lines of a run: "[  PASSED  ] 5 tests." and its like. */
static void on_end(struct reader *r, struct binary *b, const char *s,
		   const struct testlog_line *line)
{
	static const char *const heads[N_COUNTS] = { PASSED, FAILED, SKIPPED };
	size_t n = strlen(s), k = strlen(SUITE_END);
	uint64_t v;

	for (size_t i = 0; i < N_COUNTS; i++) {
		size_t digits;

		if (!str_starts(s, heads[i]))
			continue;
		digits = testlog_digits(s + MARK, &v);
		if (digits && str_starts(s + MARK + digits, " test")) {
			b->told[i] = v;
			b->told_passed |= i == N_PASSED;
		}
	}
	if (str_starts(s, FAILED) && n > MARK + k && str_eq(s + n - k, SUITE_END))
		testlog_merge(r->in, r->out, s + MARK, n - MARK - k, TEST_FAILED, line);
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s, *run;
	size_t n = line->n;
	uint64_t number;
	struct binary *b;

	if (!memchr(s, '[', n))
		return;
	number = testlog_numbered_ctest(&s, &n);
	b = binary(r, number);
	if (!b)
		return;
	run = b->running ? strstr(s, RUN) : NULL;
	if (str_starts(s, RULE)) {
		on_rule(r, b, s + MARK);
	} else if (run) {
		settle(r, b);
		b->ran++;
		b->test = mem_strndup(run + MARK, TESTLOG_NAME_MAX);
		b->line = *line;
	} else if (b->running) {
		on_result(b, s, n, line);
	} else {
		on_end(r, b, s, line);
	}
}

void testlog_gtest_console(const struct testlog_input *in, struct test_results *out)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	for (size_t i = 0; i < r.n; i++) {
		leave(&r, r.v[i]);
		free(r.v[i]);
	}
	if (!r.runs)
		testlog_incomplete(out, "no run: there is no \"" RULE "Running\"");
	testlog_run_exit(in, out);
	free(r.v);
	map_done(&r.by_number);
	buf_done(&it.text);
}

int testlog_read_cmocka(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	(void)err; /* anything is a log; what is wrong with it is in the note */
	testlog_gtest_console(in, out);
	return 0;
}

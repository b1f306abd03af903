/* What the readers share: lines without terminal dressing, adding with the root taken off, one
 * function per reader. */
#ifndef VERIFIER_READERS_TESTLOG_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "verifier/testlog.h"

#define TESTLOG_LINE_MAX (64u << 10) /* bytes of one line that are looked at */

/* Walk over a log line by line. Start with {.log, .len}; release text with buf_done(). */
struct testlog_lines {
	const char *log; /* borrowed */
	size_t len, at;
	struct buf text; /* the present line, clean */
	/* A carriage return inside a line ends it: nothing is overwritten, so no output can hide what
	 * the runner wrote in front of it. */
	bool returns;
};

#define TESTLOG_LINES(bytes, count)                                                                \
	{                                                                                          \
		.log = (bytes), .len = (count), .text = BUF_INIT(1u << 17)                         \
	}

/* One line: escape sequences (ECMA-48) and carriage returns are gone, NUL is "?". */
struct testlog_line {
	const char *s; /* borrowed until the next line; NUL-terminated */
	size_t n;
	uint64_t from, to; /* span in the log, without the newline */
};

/* Next line; false at the end. A last line without newline counts. */
bool testlog_next(struct testlog_lines *it, struct testlog_line *ret);

/* testlog_add() of testlog_name(). */
void testlog_put(const struct testlog_input *in, struct test_results *out, const char *name,
		 size_t n, enum test_status s, const struct testlog_line *line);

/* As testlog_put() for runners whose ids are unique: a repeated name keeps the worse status. */
void testlog_merge(const struct testlog_input *in, struct test_results *out, const char *name,
		   size_t n, enum test_status s, const struct testlog_line *line);

/* Is @s the one that stays when a test has both? */
bool testlog_worse(enum test_status s, enum test_status than);

/* Add all of @from to @to: a name that is there keeps the worse status, and the higher number of
 * repetitions. What makes @from incomplete makes @to so. */
void testlog_join(const struct test_results *from, struct test_results *to);

/* Is there a failure or an error? */
bool testlog_any_failed(const struct test_results *r);

/* Mark @out incomplete when the command ended with a status above @max, the highest that @runner has for
 * tests that failed, or with another one than 0 although nothing @failed. */
void testlog_check_exit(const struct testlog_input *in, const char *runner, int max, bool failed,
			struct test_results *out);

/* Mark @out incomplete when the command failed and no result says why. */
void testlog_run_exit(const struct testlog_input *in, struct test_results *out);

/* Mark incomplete; the first reason stays. */
void testlog_incomplete(struct test_results *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Is there no room for another result? Then the results are marked incomplete. */
bool testlog_full(struct test_results *r);

/* Does the line begin with @prefix? */
bool testlog_starts(const struct testlog_line *line, const char *prefix);

/* A word that a runner prints for a status. */
struct testlog_word {
	const char *text;
	enum test_status status;
};

/* Are the @n bytes at @s one of @rows? Then its status in *ret. */
bool testlog_word(const struct testlog_word *rows, size_t n_rows, const char *s, size_t n,
		  enum test_status *ret);

/* Where the number in front of (or behind) @word goes. */
struct testlog_count {
	const char *word;
	uint64_t *to;
};

/* Decimal number at @s, at most 18 digits. Returns how many there are; *ret is 0 without any. */
size_t testlog_digits(const char *s, uint64_t *ret);

/* Is the whole of @s a list "5 runs, 2 failures", or "Tests: 5, Failures: 2." when @named_first,
 * with at least one word of @rows? Numbers go where @rows say; other words are passed over. */
bool testlog_counts(const char *s, bool named_first, const struct testlog_count *rows,
		    size_t n_rows);

/* "exit-code": one result of that name, passed when the command ended with 0. */
int testlog_read_exit(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "tap": TAP 12 to 14; see testlog_tap.c for ids. */
int testlog_read_tap(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "junit-xml": the report file, or XML in the output; see testlog_junit.c for ids. */
int testlog_read_junit(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "pytest": see testlog_pytest.c for which lines count. */
int testlog_read_pytest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "node-test": node --test with the spec or tap reporter. */
int testlog_read_node(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "unittest": python -m unittest -v and Django's runner; see testlog_unittest.c for ids. */
int testlog_read_unittest(const struct testlog_input *in, struct test_results *out,
			  struct err *err);

/* "pro-json": what SWE-bench Pro's parser.py writes; see testlog_projson.c. */
int testlog_read_pro(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "sympy": bin/test --verbose; see testlog_sympy.c for ids. */
int testlog_read_sympy(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "reward": what a Harbor test script leaves in its report directory; see testlog_reward.c. */
int testlog_read_reward(const struct testlog_input *in, struct test_results *out, struct err *err);

/* The files that "reward" reads. */
extern const char *const testlog_reward_files[];

/* "bats": TAP as bats writes it, or its pretty form; see testlog_bats.c. */
int testlog_read_bats(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "prove": files, and with -v their tests; see testlog_prove.c. */
int testlog_read_prove(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "minitest": -v of minitest 4 and 5; see testlog_minitest.c. */
int testlog_read_minitest(const struct testlog_input *in, struct test_results *out,
			  struct err *err);

/* "test-unit": Ruby's test-unit with -v; see testlog_testunit.c. */
int testlog_read_testunit(const struct testlog_input *in, struct test_results *out,
			  struct err *err);

/* "rspec": --format documentation, or --format json; see testlog_rspec.c. */
int testlog_read_rspec(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "phpunit": --testdox, or --debug -v; see testlog_phpunit.c. */
int testlog_read_phpunit(const struct testlog_input *in, struct test_results *out, struct err *err);

/* TAP in [@from, @to) of the log only. @file (NULL: none) goes in front of the ids. Returns how many
 * results were no subtests'. */
uint64_t testlog_tap_range(const struct testlog_input *in, size_t from, size_t to, const char *file,
			   struct test_results *out);

/* "gotest": go test -v; see testlog_go.c for ids and what must agree. */
int testlog_read_gotest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "gotest-json": go test -json; see testlog_gojson.c. */
int testlog_read_gotest_json(const struct testlog_input *in, struct test_results *out,
			     struct err *err);

/* "libtest": cargo test; see testlog_libtest.c for ids. */
int testlog_read_libtest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "libtest-json": the JSON of libtest and of nextest; see testlog_libtest_json.c. */
int testlog_read_libtest_json(const struct testlog_input *in, struct test_results *out,
			      struct err *err);

/* "mocha": reporter spec or json; see testlog_mocha.c. */
int testlog_read_mocha(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "jest": --verbose or --json; see testlog_jest.c. */
int testlog_read_jest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "vitest": reporter verbose or json; see testlog_vitest.c. */
int testlog_read_vitest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "maven": surefire's XML or console; see testlog_maven.c. */
int testlog_read_maven(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "gradle": XML or console of its test task; see testlog_gradle.c. */
int testlog_read_gradle(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "nextest": cargo nextest's console; see testlog_nextest.c. */
int testlog_read_nextest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "ctest": its console; see testlog_ctest.c. */
int testlog_read_ctest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "meson": its console or testlog.json; see testlog_meson.c. */
int testlog_read_meson(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "googletest": its report or console; see testlog_gtest_json.c and testlog_gtest.c. */
int testlog_read_googletest(const struct testlog_input *in, struct test_results *out,
			    struct err *err);

/* "cmocka": its console; see testlog_gtest.c. */
int testlog_read_cmocka(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "catch2": its XML; see testlog_xmlrun.c. */
int testlog_read_catch2(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "check": libcheck's console or XML; see testlog_check.c. */
int testlog_read_check(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "unity": Unity's console; see testlog_unity.c. */
int testlog_read_unity(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "jq": jq --run-tests; see testlog_jq.c. */
int testlog_read_jq(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "redis-tcl": Redis' runtest; see testlog_redis.c. */
int testlog_read_redis(const struct testlog_input *in, struct test_results *out, struct err *err);

/* A copy of the @n bytes, NUL behind them, in which "?" stands for each byte that XML 1.0 forbids:
 * offsets stay true. Caller frees. */
char *testlog_junit_clean(const char *s, size_t n);

/* The TAP grammar for both TAP readers. @titles: "# text" lines of tape become part of ids. */
void testlog_tap_parse(const struct testlog_input *in, bool titles, struct test_results *out);

#endif

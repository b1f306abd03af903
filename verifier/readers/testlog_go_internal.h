/* What the two readers of go test share: the tests of one package, the lines of the testing package
 * and what must agree when a package ends. */
#ifndef VERIFIER_READERS_TESTLOG_GO_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_GO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "verifier/readers/testlog_internal.h"

/* How the go command says that a package ended. */
enum testlog_go_end {
	TESTLOG_GO_OK,
	TESTLOG_GO_FAIL,
	TESTLOG_GO_BUILD, /* its test binary was not built */
	TESTLOG_GO_EMPTY, /* no test files */
	TESTLOG_GO_CUT,   /* it does not say: the log ends */
};

/* One package while its tests run. {0} is a fresh one. */
struct testlog_go {
	struct test_results t; /* owned; in it TEST_MISSING = no result so far, again = open runs */
	bool announced;        /* "=== RUN" was seen: then nothing counts that was not announced */
	bool bare;             /* the testing package's own last word, "PASS" or "FAIL" */
};

/* A result line: [blanks or output] "--- PASS: name (0.00s)". */
struct testlog_go_line {
	const char *name; /* borrowed */
	size_t n;
	enum test_status status;
	bool glued; /* output stands in front of it */
};

/* Is [@s, @n) a result line, perhaps behind output without a newline? */
bool testlog_go_line(const char *s, size_t n, struct testlog_go_line *ret);

/* How a test is announced. */
#define TESTLOG_GO_RUN "=== RUN   "

/* Does [@s, @n) announce a test, perhaps behind output without a newline? */
bool testlog_go_announced(const char *s, size_t n, const char **name, size_t *name_n);

/* Does the line end with the testing package's last word? */
bool testlog_go_bare(const char *s, size_t n);

/* A test begins. */
void testlog_go_run(struct testlog_go *g, const char *name, size_t n,
		    const struct testlog_line *line);

/* A test ended; the worse result stays. One that was never announced does not count, and a glued
 * line counts only for a test that runs, unless it says that the test failed. */
void testlog_go_result(struct testlog_go *g, const struct testlog_go_line *result,
		       const struct testlog_line *line);

/* The package @pkg ended: its results go to @out as "pkg.Test" (as "Test" when @n is 0), what never
 * ended as an error, and @g is fresh again. */
void testlog_go_done(const struct testlog_input *in, struct test_results *out, struct testlog_go *g,
		     const char *pkg, size_t n, enum testlog_go_end end,
		     const struct testlog_line *line);

/* "ok  \tpkg\t0.01s", "FAIL\tpkg [build failed]", "?   \tpkg\t[no test files]" anywhere in the line,
 * to its end. */
bool testlog_go_package(const char *s, size_t n, const char **pkg, size_t *pkg_n,
			enum testlog_go_end *end);

#endif

/* What the readers of cargo test share: which target speaks, and the counts of one test binary. */
#ifndef VERIFIER_READERS_TESTLOG_LIBTEST_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_LIBTEST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verifier/readers/testlog_internal.h"

enum testlog_libtest_count {
	TESTLOG_LIBTEST_PASSED,
	TESTLOG_LIBTEST_FAILED,
	TESTLOG_LIBTEST_IGNORED,
	TESTLOG_LIBTEST_MEASURED,
	TESTLOG_LIBTEST_COUNTS
};

/* Start with {.in, .out}; end with testlog_libtest_finish(). */
struct testlog_libtest {
	const struct testlog_input *in;
	struct test_results *out;
	char *target;  /* owned: "sample", "test/it", "doc/sample"; NULL before the first header */
	bool open;     /* a binary runs */
	uint64_t want; /* tests it said it would run */
	uint64_t seen[TESTLOG_LIBTEST_COUNTS]; /* results read */
	uint64_t told[TESTLOG_LIBTEST_COUNTS]; /* what its last summary says */
	uint64_t most_failed;                  /* of all its summaries */
	bool ended;                            /* there is a summary */
	uint64_t runs;
};

/* The target of cargo's "     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)" or
 * "   Doc-tests sample". NULL when the line is neither. Caller frees. */
char *testlog_libtest_target(const struct testlog_line *line);

/* The binary that ran is over and the next one belongs to @target, which is owned from here on. */
void testlog_libtest_enter(struct testlog_libtest *r, char *target);

/* A binary begins to run @want tests; one that still ran is over. */
void testlog_libtest_open(struct testlog_libtest *r, uint64_t want);

/* A result of the binary, counted and put under "target name". */
void testlog_libtest_put(struct testlog_libtest *r, const char *name, size_t n, enum test_status s,
			 bool measured, const struct testlog_line *line);

/* A summary. The last one of a binary decides: output of tests may hold others. */
void testlog_libtest_told(struct testlog_libtest *r, const uint64_t told[TESTLOG_LIBTEST_COUNTS]);

/* The binary is over, if one ran: do lines and summary agree? */
void testlog_libtest_close(struct testlog_libtest *r);

/* The log is over. */
void testlog_libtest_finish(struct testlog_libtest *r);

#endif

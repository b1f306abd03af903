/* Results of runners that number their tests: one row per number. */
#ifndef VERIFIER_READERS_TESTLOG_NUMBERED_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_NUMBERED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "verifier/readers/testlog_internal.h"

struct testlog_numbered_row {
	char *name; /* owned */
	enum test_status status;
	bool decided; /* otherwise the test has only begun */
	bool counted; /* ctest: it had a result with a running number */
	uint64_t from, to;
};

/* {0} is an empty table. */
struct testlog_numbered {
	struct testlog_numbered_row *v; /* owned, in order of appearance */
	size_t n, cap, bytes;
	struct map index; /* key of the number -> position + 1 */
	uint64_t seed;
};

/* A key for @number in a map: one to one, and no log can aim at it. *seed is drawn when it is 0. */
uint64_t testlog_numbered_key(uint64_t *seed, uint64_t number);

/* Skip the "13: " that ctest -V puts in front of what test 13 prints. Returns the number + 1, 0 when there
 * is none. */
uint64_t testlog_numbered_ctest(const char **s, size_t *n);

/* The row of @number, made when it is new. NULL past the maxima of a log. Borrowed until the next
 * call. */
struct testlog_numbered_row *testlog_numbered_at(struct testlog_numbered *t, uint64_t number,
						 const char *name, size_t n,
						 const struct testlog_line *line);

/* Give all rows to @out (the worse result of a name stays; one that has only begun is an error) and
 * empty the table. */
void testlog_numbered_done(struct testlog_numbered *t, const struct testlog_input *in,
			   struct test_results *out);

#endif

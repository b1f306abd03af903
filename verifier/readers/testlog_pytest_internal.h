/* Between the two halves of the pytest reader: testlog_pytest.c (lines and their ids) and
 * testlog_pytest_log.c (headings, counts, sessions). */
#ifndef VERIFIER_READERS_TESTLOG_PYTEST_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_PYTEST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verifier/readers/testlog_internal.h"

#define TESTLOG_PYTEST_SESSIONS 64 /* of one log; past it the log is taken as one session */

/* What the last line of a session counts. */
struct testlog_pytest_counts {
	bool seen;
	uint64_t passed, failed, errors, xpassed, xfailed;
};

/* One run of pytest in a log: where its parts are, as offsets. */
struct testlog_pytest_session {
	uint64_t from, to;
	uint64_t
		heading; /* first heading behind the progress lines; UINT64_MAX when there is none */
	bool has_section;
	uint64_t section; /* behind the last "short test summary info" */
	uint64_t end;     /* last line with counts */
	struct testlog_pytest_counts counts;
};

/* What a heading "==== text ====" says. */
enum testlog_pytest_head {
	TESTLOG_PYTEST_NONE,
	TESTLOG_PYTEST_START,   /* test session starts */
	TESTLOG_PYTEST_SECTION, /* short test summary info */
	TESTLOG_PYTEST_BODY     /* FAILURES, PASSES, ... */
};

/* Which heading a line is. */
enum testlog_pytest_head testlog_pytest_heading(const struct testlog_line *line);

/* "2 failed, 13 passed, 1 warning in 0.08s", perhaps between "=": then true, and the counts in *ret. */
bool testlog_pytest_count(const struct testlog_line *line, struct testlog_pytest_counts *ret);

/* Find the sessions of @in. Several are told apart only where each begins with its own heading and
 * ends with its own counts and nothing of a body stands between them; everything else (also a
 * session that a test ran and that was captured) is one session. Returns how many are in @ret, at
 * least 1. */
size_t testlog_pytest_survey(const struct testlog_input *in,
			     struct testlog_pytest_session ret[TESTLOG_PYTEST_SESSIONS]);

#endif

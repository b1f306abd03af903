/* The JSON report that jest --json and vitest's reporter json write. */
#ifndef VERIFIER_READERS_TESTLOG_JEST_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_JEST_INTERNAL_H

#include "verifier/readers/testlog_run_internal.h"

/* Read the report file, or the reports on the output, into @out. Ids: file + " > " + titles of suites
 * and test joined by @sep. What they count goes to *ret. False when there is no report at all. */
bool testlog_jest_docs(const struct testlog_input *in, const char *sep, struct test_results *out,
		       struct testlog_sums *ret);

#endif

/* The body of the targets for test-output readers. The exit status comes from the first byte of the
 * input, all of which is the log (or the report). Whatever comes in: no crash, spans inside the
 * log, names that can be found again, maxima kept. */
#ifndef TESTS_FUZZ_FUZZ_READER_H
#define TESTS_FUZZ_FUZZ_READER_H

#include <stdlib.h>
#include <string.h>

#include "verifier/testlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_reader(const char *reader, const uint8_t *data, size_t size, bool report)
{
	struct testlog_input in = { .log = (const char *)data,
				    .log_len = size,
				    .root = "/workspace" };
	struct test_results r = { 0 };
	struct err err = { 0 };

	in.exit_status = size ? data[0] % 3 : 0;
	if (report) {
		in.report = in.log;
		in.report_len = size;
		in.log = "";
		in.log_len = 0;
	}
	if (testlog_find(reader)->read(&in, &r, &err) < 0)
		abort();
	if (r.n > TESTLOG_RESULTS_MAX || r.bytes > TESTLOG_NAMES_MAX || (r.incomplete && !r.note))
		abort();
	for (size_t i = 0; i < r.n; i++) {
		const struct test_result *t = &r.v[i];

		if (t->from > t->to || t->to > size || t->status >= TEST_MISSING ||
		    testlog_get(&r, t->name) != t)
			abort();
	}
	testlog_done(&r);
	return 0;
}

#endif

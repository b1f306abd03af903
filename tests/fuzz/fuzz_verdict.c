/* verdict.json: read or refused. The first byte "t": a test-spec file instead. */
#include <stdlib.h>

#include "profiles/testspec.h"
#include "verifier/verdict_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct verdict_file v;
	struct testspec s;
	struct err err;

	if (size && data[0] == 't') {
		if (testspec_parse("fuzz", (const char *)data + 1, size - 1, &s, &err) == 0) {
			(void)testspec_find(&s, "acme/calc", "1");
			testspec_done(&s);
		}
		return 0;
	}
	if (verdict_parse("fuzz", (const char *)data, size, &v, &err) < 0)
		return 0;
	if (!v.instance_id || v.kind > VERDICT_INFRA)
		abort();
	for (size_t i = 0; i < v.n_tests; i++)
		if (!v.tests[i].name || v.tests[i].status > TEST_MISSING)
			abort();
	verdict_file_done(&v);
	return 0;
}

/* The readers of JavaScript and JVM runners over arbitrary bytes. The first byte chooses the reader and
 * whether the rest is a log or a report file. */
#include "tests/fuzz/fuzz_reader.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const readers[] = { "mocha", "jest",   "vitest",
					       "maven", "gradle", "node-test" };
	unsigned first = size ? data[0] : 0;

	if (!size)
		return 0;
	return fuzz_reader(readers[first % 16 % ARRAY_SIZE(readers)], data + 1, size - 1,
			   first & 16);
}

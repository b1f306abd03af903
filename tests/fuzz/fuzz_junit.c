/* The JUnit XML reader over arbitrary bytes, as a report file and as output. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader("junit-xml", data, size, true) |
	       fuzz_reader("junit-xml", data, size, false);
}

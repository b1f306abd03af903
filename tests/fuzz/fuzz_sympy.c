/* The sympy reader over arbitrary bytes. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader("sympy", data, size, false);
}

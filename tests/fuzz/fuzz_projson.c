/* The reader of SWE-bench Pro's output.json over arbitrary bytes. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader("pro-json", data, size, true);
}

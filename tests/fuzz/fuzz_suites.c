/* The readers of test runners that print lines: the first byte says which one reads the rest. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* the letters that the samples in tests/corpus/suites/ begin with */
	static const struct {
		char letter;
		const char *reader;
		bool report;
	} rows[] = {
		{ 'b', "bats", false },      { 'p', "prove", false }, { 'm', "minitest", false },
		{ 't', "test-unit", false }, { 'r', "rspec", false }, { 'j', "rspec", true },
		{ 'u', "phpunit", false },
	};

	if (!size)
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((char)data[0] == rows[i].letter)
			return fuzz_reader(rows[i].reader, data + 1, size - 1, rows[i].report);
	return fuzz_reader(rows[data[0] % (sizeof(rows) / sizeof(rows[0]))].reader, data + 1,
			   size - 1, false);
}

/* The readers of Go, Rust, C and C++ runners over arbitrary bytes: the first byte chooses. */
#include "tests/fuzz/fuzz_reader.h"

static const struct {
	const char *reader;
	bool report;
} rows[] = {
	{ "gotest", false },       { "gotest-json", false }, { "libtest", false },
	{ "libtest-json", false }, { "nextest", false },     { "ctest", false },
	{ "meson", false },        { "meson", true },        { "googletest", false },
	{ "googletest", true },    { "cmocka", false },      { "catch2", false },
	{ "check", false },        { "check", true },        { "unity", false },
	{ "jq", false },           { "redis-tcl", false },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = sizeof(rows) / sizeof(rows[0]),
	       row = size ? (unsigned char)(data[0] - 'a') % n : 0;

	/* what follows the letter is the log */
	return fuzz_reader(rows[row].reader, size ? data + 1 : data, size ? size - 1 : 0,
			   rows[row].report);
}

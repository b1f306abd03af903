/* Two plans of arbitrary bytes (the second behind the first NUL, or the same again): what is a plan is its
 * own pair, the order of the two does not matter, and equal pair digests mean a pair. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/plan_pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *a = mem_strndup((const char *)data, size);
	const char *end = memchr(data, 0, size);
	size_t at = end ? (size_t)(end - (const char *)data) + 1 : size;
	auto_free char *b = end ? mem_strndup((const char *)data + at, size - at) : mem_strdup(a);
	char one[DIGEST_HEX] = "1", two[DIGEST_HEX] = "2";
	struct err err = { 0 };
	int x = plan_pair_digest(a, one, &err), y = plan_pair_digest(b, two, &err);
	int rc = plan_pair_check(a, b, &err);

	if (rc != plan_pair_check(b, a, &err))
		abort();
	if (rc < 0 && (rc != -ERR_INPUT || !err.text[0]))
		abort();
	if ((x < 0 || y < 0) && rc == 0)
		abort();
	if (x == 0 && y == 0 && strcmp(one, two) == 0 && rc < 0)
		abort();
	if (x == 0 && plan_pair_check(a, a, &err) < 0)
		abort();
	return 0;
}

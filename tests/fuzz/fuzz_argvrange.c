/* Command lines of known tools: ranges must be in order, apart, and inside the file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "triggers/argvrange.h"
#include "triggers/scan.h"
#include "triggers/shwords.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int known, const struct argvrange *r, uint64_t lines)
{
	if (!known && r->n)
		abort();
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].first < 1 || r->v[i].last < r->v[i].first || r->v[i].last > lines)
			abort();
		if (i && r->v[i].first <= r->v[i - 1].last)
			abort();
	}
}

/* First byte: lines of the file; the rest: shell text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t lines = size ? data[0] : 0;
	auto_free char *text =
		size ? mem_strndup((const char *)data + 1, size - 1) : mem_strdup("");
	char *const cmd[] = { (char *)"sh", (char *)"-c", text, NULL };
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	struct argvrange r;

	shwords_parse(&s, text);
	for (size_t i = 0; i < s.n && i < 8; i++) {
		if (!s.v[i].words.n)
			continue;
		check(argvrange_in(s.v[i].words.v, NULL, cmd, lines, &r), &r, lines);
		(void)scan_program(s.v[i].words.v, NULL); /* must only end */
	}
	return 0;
}

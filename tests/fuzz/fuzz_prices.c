/* A price file of arbitrary bytes: read, looked up in, billed with. */
#include <stdlib.h>
#include <string.h>

#include "profiles/prices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const models[] = { "gpt-5", "openai/gpt-5-2025-08-07", "a", "",
					      "/",     "claude-x-latest" };
	struct prices *p = NULL;
	struct err err = { 0 };
	int rc = prices_parse("input", (const char *)data, size, &p, &err);

	if (rc < 0 && (p || err.code != ERR_INPUT || !err.text[0]))
		abort();
	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		const struct price *r = &p->v[i];
		uint64_t none = price_cost(r, 0, 0, 0, 0), one = price_cost(r, 1, 1, 1, 1);
		size_t n = strlen(r->model);

		/* each row can be found by its own name, and costs grow */
		if (none != 0 || price_cost(r, UINT64_MAX, 1, 1, UINT64_MAX) < one)
			abort();
		if (r->model[n - 1] != '*' && prices_find(p, r->model) != r)
			abort();
	}
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		(void)prices_find(p, models[i]); /* any row or none */
	prices_free(p);
	return 0;
}

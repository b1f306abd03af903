/* A host rule of arbitrary bytes: what is taken covers what it says, what is not has a reason. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/netrules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool covers_itself(const struct netrules *r)
{
	const struct netrule *one = &r->v[0];
	auto_free char *below = one->name ? mem_printf("x.%s", one->name) : NULL;

	switch (one->kind) {
	case NETRULE_NAME:
		return netrules_name(r, one->name, one->port) && !netrules_name(r, below, 0);
	case NETRULE_SUBDOMAINS:
		return netrules_name(r, below, one->port) && !netrules_name(r, one->name, 0);
	case NETRULE_BLOCK:
		return one->bits <= 128 && !one->name &&
		       (netrules_addr(r, &one->addr, one->port) ||
			(one->bits < 96 && IN6_IS_ADDR_V4MAPPED(&one->addr)));
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = mem_strndup((const char *)data, size);
	struct netrules all = { .v = mem_zalloc(1, sizeof(*all.v)), .n = 1 };
	struct err err = { 0 };
	int rc = netrule_parse(text, &all.v[0], &err);

	if (rc == 0 && (strcmp(all.v[0].text, text) != 0 || !covers_itself(&all)))
		abort();
	if (rc < 0 && (rc != -ERR_INPUT || !err.text[0] || all.v[0].text || all.v[0].name))
		abort();
	/* Any bytes may be asked for. */
	if (rc == 0)
		(void)netrules_name(&all, text, 0);
	netrules_done(&all);
	return 0;
}

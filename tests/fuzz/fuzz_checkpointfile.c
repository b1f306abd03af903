/* checkpoints.jsonl of arbitrary bytes: what is accepted names only places below the areas, digests that are some, and
 * modes without special bits; every path once, parents in front. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/checkpointfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct snapshot_entry *e, const struct snapshot_entry *before)
{
	const char *p = e->path;

	if (!*p || *p == '/' || strstr(p, "//") || e->mode > 01777)
		abort();
	for (; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
		if (strncmp(p, "../", 3) == 0 || strcmp(p, "..") == 0)
			abort();
	}
	if (before && strcmp(before->path, e->path) >= 0)
		abort();
	if (e->kind == 'f' && (strlen(e->sha256) != 64 || strchr(e->sha256, '/')))
		abort();
	if (e->kind == '=' || (e->kind == 'l' && !e->link))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = mem_strndup((const char *)data, size);

	for (uint64_t call = 1; call < 4; call++) {
		struct checkpoint_state c = { 0 };
		struct err err = { 0 };

		if (checkpointfile_parse("input", text, strlen(text), call, &c, &err) < 0) {
			if (err.code != ERR_INPUT || !err.text[0] || c.n[0] || c.v[0])
				abort();
			continue;
		}
		for (int a = 0; a < SNAPSHOT_AREAS; a++) {
			for (size_t i = 0; i < c.n[a]; i++)
				check(&c.v[a][i], i ? &c.v[a][i - 1] : NULL);
		}
		(void)checkpoint_session(&c, "home/agent/*/?*.jsonl");
		checkpoint_state_done(&c);
	}
	return 0;
}

/* The TOML reader over arbitrary bytes: read, walked, printed, freed; an error names its place. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned walk(const cJSON *item, unsigned depth)
{
	const cJSON *e;
	int64_t v;
	unsigned deepest = depth;

	if ((toml_kind(item) == TOML_TABLE) != (cJSON_IsObject(item) != 0) ||
	    (toml_kind(item) == TOML_ARRAY) != (cJSON_IsArray(item) != 0) ||
	    toml_integer(item, &v) != (toml_kind(item) == TOML_INTEGER))
		abort();
	cJSON_ArrayForEach (e, item) {
		unsigned d = walk(e, depth + 1);

		deepest = d > deepest ? d : deepest;
	}
	return deepest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_src src = { 0 };
	struct err err = { 0 };
	auto_free char *text = NULL;

	if (toml_parse("input", (const char *)data, size, &src, &err) < 0) {
		if (err.code != ERR_INPUT || strncmp(err.text, "input:", 6) != 0)
			abort();
		return 0;
	}
	if (walk(src.root, 0) > TOML_DEPTH_MAX + 1)
		abort();
	text = cJSON_PrintUnformatted(src.root);
	if (!text)
		abort();
	json_src_done(&src);
	return 0;
}

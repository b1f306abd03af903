/* The JSON reader over arbitrary bytes: prescan, cJSON, rows of every kind, release; and what the
 * writer makes of a string must be read back as it was. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

struct inner {
	uint64_t n;
	char *name;
};

struct sample {
	char *s, *raw;
	bool flag;
	uint64_t u, size, ns, money;
	double d;
	struct strv list, env;
	int choice;
	struct inner in;
	struct json_array arr, nums;
};

static const char *const choices[] = { "one", "two", NULL };

#define AT(field) offsetof(struct sample, field)
/* clang-format off */
static const struct json_field inner_rows[] = {
	{ "n",    JSON_U64, offsetof(struct inner, n) },
	{ "name", JSON_STR, offsetof(struct inner, name) },
	{ NULL },
};

static const struct json_field rows[] = {
	{ "s",     JSON_STR,      AT(s) },
	{ "raw",   JSON_RAW,      AT(raw) },
	{ "flag",  JSON_BOOL,     AT(flag) },
	{ "u",     JSON_U64,      AT(u) },
	{ "size",  JSON_SIZE,     AT(size) },
	{ "ns",    JSON_DURATION, AT(ns) },
	{ "money", JSON_MONEY,    AT(money) },
	{ "d",     JSON_DOUBLE,   AT(d) },
	{ "list",  JSON_STRV,     AT(list) },
	{ "env",   JSON_ENV,      AT(env) },
	{ "enum",  JSON_ENUM,     AT(choice), .choices = choices },
	{ "in",    JSON_OBJECT,   AT(in), .rows = inner_rows },
	{ "arr",   JSON_ARRAY,    AT(arr), .rows = inner_rows, .size = sizeof(struct inner) },
	{ "nums",  JSON_U64V,     AT(nums) },
	{ NULL },
};
/* clang-format on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf line = BUF_INIT(16u << 20);
	struct json_src src = { 0 };
	struct sample out = { 0 };
	struct err err = { 0 };
	cJSON *back;

	if (json_parse("input", (const char *)data, size, &src, &err) == 0) {
		if (cJSON_IsObject(src.root))
			(void)json_read(&src, "$", src.root, rows, &out, &err);
		json_release(rows, &out);
	}
	json_src_done(&src);

	if (size > 65536 || memchr(data, 0, size))
		return 0;
	buf_addc(&line, '"');
	json_escape(&line, (const char *)data, size);
	buf_addc(&line, '"');
	back = cJSON_Parse(buf_str(&line));
	if (!back || json_unescape_bytes(back->valuestring) != size ||
	    memcmp(back->valuestring, data, size) != 0)
		abort();
	cJSON_Delete(back);
	return 0;
}

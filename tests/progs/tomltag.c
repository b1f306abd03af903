/* tomltag: TOML from standard input as JSON in which every value carries its kind, {"type": ..., "value": ...}: the
 * form in which readers of TOML are compared. Exit status 1 and a message when it is none. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/toml.h"

static void scalar(struct json_w *w, const char *key, const cJSON *item)
{
	enum toml_kind kind = toml_kind(item);
	char text[64];
	int64_t v;

	if (kind == TOML_BOOL)
		snprintf(text, sizeof(text), "%s", cJSON_IsTrue(item) ? "true" : "false");
	else if (toml_integer(item, &v))
		snprintf(text, sizeof(text), "%" PRId64, v);
	else if (kind == TOML_FLOAT && isnan(item->valuedouble))
		snprintf(text, sizeof(text), "nan");
	else if (kind == TOML_FLOAT)
		snprintf(text, sizeof(text), "%.17g", item->valuedouble);
	json_open(w, key, '{');
	json_str(w, "type", toml_kind_name(kind));
	json_str(w, "value", item->valuestring && kind != TOML_INTEGER ? item->valuestring : text);
	json_close(w, '}');
}

/* Keys of a file need escaping, which the writer leaves to its caller. */
static void value(struct json_w *w, const char *key, const cJSON *item)
{
	auto_buf name = BUF_INIT(TOML_FILE_MAX * 6);
	const cJSON *e;
	bool table = cJSON_IsObject(item);

	if (key)
		json_escape(&name, key, strlen(key));
	if (!table && !cJSON_IsArray(item)) {
		scalar(w, key ? buf_str(&name) : NULL, item);
		return;
	}
	json_open(w, key ? buf_str(&name) : NULL, table ? '{' : '[');
	cJSON_ArrayForEach (e, item)
		value(w, table ? e->string : NULL, e);
	json_close(w, table ? '}' : ']');
}

int main(void)
{
	auto_buf in = BUF_INIT(TOML_FILE_MAX), out = BUF_INIT(64u << 20);
	struct json_w w = { .b = &out };
	struct json_src src = { 0 };
	struct err err = { 0 };

	if (fd_read_file("-", &in, &err) < 0 ||
	    toml_parse("input", buf_str(&in), in.len, &src, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	value(&w, NULL, src.root);
	buf_addc(&out, '\n');
	json_src_done(&src);
	return fd_write_all(1, out.data, out.len) < 0;
}

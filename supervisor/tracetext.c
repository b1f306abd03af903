#include "supervisor/tracetext.h"

#include <string.h>

#include "base/json.h"

/* A hostile path must not drive the terminal: strings are printed escaped. */
static void text_value(struct buf *out, const cJSON *item)
{
	const cJSON *e;

	if (cJSON_IsString(item)) {
		json_escape(out, item->valuestring, strlen(item->valuestring));
	} else if (cJSON_IsNumber(item)) {
		buf_addf(out, "%.0f", item->valuedouble);
	} else if (cJSON_IsArray(item)) {
		buf_addc(out, '[');
		cJSON_ArrayForEach (e, item) {
			if (e != item->child)
				buf_addc(out, ' ');
			text_value(out, e);
		}
		buf_addc(out, ']');
	}
}

static double number_of(const cJSON *rec, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

const char *tracetext_kind(const cJSON *rec)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, "k");

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

void tracetext_add(struct buf *out, const cJSON *rec)
{
	static const char *const head[] = { "n", "t", "pid", "tid", "cmd", "ep", "k", NULL };
	const char *kind = tracetext_kind(rec);
	const cJSON *item;

	if (!kind)
		return; /* the header line */
	buf_addf(out, "%10.6f %7.0f c%-3.0f %-9s", number_of(rec, "t") / 1e9, number_of(rec, "pid"),
		 number_of(rec, "cmd"), kind);
	cJSON_ArrayForEach (item, rec) {
		bool skip = false;

		for (size_t i = 0; head[i]; i++)
			skip |= strcmp(head[i], item->string) == 0;
		if (skip)
			continue;
		buf_addf(out, " %s=", item->string);
		text_value(out, item);
	}
	buf_addc(out, '\n');
}

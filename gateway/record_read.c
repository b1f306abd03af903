#include "gateway/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { LINES_MAX = 1 << 20 };

/* A line as it stands in the file. */
struct line {
	struct recorded r;
	char *purpose, *source;
	uint64_t status, retry_of;
	char *usage, *micro; /* JSON text */
	char *raw[8];        /* fields that nobody needs here; their kind is not looked at */
};

#define OFF(field) offsetof(struct line, field)

/* clang-format off */
static const struct json_field line_rows[] = {
	{ "call", JSON_U64, OFF(r.call), true },
	{ "api", JSON_STR, OFF(r.api), true },
	{ "path", JSON_STR, OFF(r.path), true },
	{ "purpose", JSON_STR, OFF(purpose), true },
	{ "source", JSON_STR, OFF(source), true },
	{ "t0", JSON_U64, OFF(r.t0), true },
	{ "t_first", JSON_RAW, OFF(raw[0]) },
	{ "t1", JSON_U64, OFF(r.t1), true },
	{ "model", JSON_STR, OFF(r.model) },
	{ "placed", JSON_RAW, OFF(raw[1]) },
	{ "stripped", JSON_RAW, OFF(raw[2]) },
	{ "status", JSON_U64, OFF(status), true },
	{ "sse", JSON_BOOL, OFF(r.sse), true },
	{ "finish", JSON_RAW, OFF(raw[3]) },
	{ "complete", JSON_RAW, OFF(raw[3]) },
	{ "model_answered", JSON_RAW, OFF(raw[3]) },
	{ "usage", JSON_RAW, OFF(usage) },
	{ "web_requests", JSON_RAW, OFF(raw[4]) },
	{ "micro_dollars", JSON_RAW, OFF(micro) },
	{ "price_row", JSON_RAW, OFF(raw[5]) },
	{ "tries", JSON_RAW, OFF(raw[6]) },
	{ "retry_of", JSON_U64, OFF(retry_of) },
	{ "note", JSON_RAW, OFF(raw[6]) },
	{ "request", JSON_RAW, OFF(raw[7]) },
	{ "canonical", JSON_STR, OFF(r.canonical), true },
	{ "answer", JSON_STR, OFF(r.answer), true },
	{ NULL },
};
/* clang-format on */

static uint64_t tokens(const cJSON *o, const char *key)
{
	double v = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return v >= 0 && v <= 9e15 ? (uint64_t)v : 0;
}

static void read_usage(struct line *l)
{
	cJSON *o = l->usage ? cJSON_Parse(l->usage) : NULL;

	l->r.usage = cJSON_IsObject(o);
	l->r.input = tokens(o, "input");
	l->r.output = tokens(o, "output");
	cJSON_Delete(o);
	if (!l->micro || str_u64(l->micro, &l->r.micro) < 0)
		l->r.micro = UINT64_MAX;
}

static int check_line(const struct json_src *src, struct line *l, struct err *err)
{
	if (!l->r.api || !l->r.path || !l->purpose || !l->source || !l->r.canonical || !l->r.answer)
		return json_complain(src, "$", err, "null where a string must be");
	l->r.purpose = purpose_named(l->purpose);
	if (l->r.purpose >= PURPOSE_MAX)
		return json_complain(src, "$.purpose", err, "unknown purpose \"%s\"", l->purpose);
	if (l->status > 999)
		return json_complain(src, "$.status", err, "expected an HTTP status, 0 to 999");
	l->r.status = (int)l->status;
	/* what the gateway said itself, and what it gave again, is no answer of a model */
	l->r.from_gateway = l->retry_of || strcmp(l->source, "gateway") == 0;
	read_usage(l);
	l->r.canonical_n = json_unescape_bytes(l->r.canonical);
	l->r.answer_n = json_unescape_bytes(l->r.answer);
	return 0;
}

static int read_line(const char *name, const char *text, size_t n, struct recorded *ret,
		     struct err *err)
{
	struct json_src src = { 0 };
	struct line l = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	rc = json_check_schema(&src, "model", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, line_rows, &l, err);
	if (rc == 0)
		rc = check_line(&src, &l, err);
	json_src_done(&src);
	if (rc == 0) {
		*ret = l.r;
		l.r = (struct recorded){ 0 };
	}
	json_release(line_rows, &l);
	return rc;
}

int record_read(const char *name, const char *text, size_t n, struct recorded_list *ret,
		struct err *err)
{
	struct recorded_list list = { 0 };
	size_t cap = 0, number = 0;
	const char *end;
	int rc = 0;

	/* a last line without its end was cut by a kill: its answer was never given */
	for (; rc == 0 && (end = memchr(text, '\n', n)); text = end + 1) {
		size_t len = (size_t)(end - text);
		auto_free char *where = mem_printf("%s, line %zu", name, ++number);

		n -= len + 1;
		if (list.n == LINES_MAX) {
			rc = err_set(err, ERR_INPUT, "%s: more than %d lines", where, LINES_MAX);
			break;
		}
		MEM_GROW(list.v, cap, list.n + 1);
		rc = read_line(where, text, len, &list.v[list.n], err);
		list.n += rc == 0;
	}
	if (rc < 0)
		recorded_done(&list);
	else
		*ret = list;
	return rc;
}

void recorded_done(struct recorded_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct recorded *r = &l->v[i];

		free(r->api);
		free(r->path);
		free(r->canonical);
		free(r->answer);
		free(r->model);
	}
	free(l->v);
	*l = (struct recorded_list){ 0 };
}

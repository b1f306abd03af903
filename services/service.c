#include "services/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/str.h"
#include "services/service_internal.h"

struct service {
	const struct service_row *row;
	void *state; /* owned by the row */
	char *name;
	uint16_t port;
	bool down; /* refuses everything */
};

static const struct service_row *const rows[] = { &service_http, &service_ask, &service_index,
						  &service_sqlite, &service_postgresql };

void service_error(struct service_answer *out, int code, const char *fmt, ...)
{
	struct json_w w = { .b = &out->body };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->code = code;
	snprintf(out->what, sizeof(out->what), "%.255s", text);
	json_open(&w, NULL, '{');
	json_str(&w, "error", text);
	json_close(&w, '}');
}

void service_put(struct service_answer *out, int code, const cJSON *item)
{
	char *text = cJSON_PrintUnformatted(item);

	out->code = code;
	if (!text || buf_adds(&out->body, text) < 0) {
		buf_clear(&out->body);
		service_error(out, 507, "the answer would be too large");
	}
	free(text);
}

void service_token(const char *name, uint64_t number, char out[21])
{
	auto_free char *seed = mem_printf("%s %llu", name, (unsigned long long)number);
	char sum[DIGEST_HEX];

	digest_bytes(seed, strlen(seed), sum);
	snprintf(out, 21, "%.20s", sum);
}

static int find_row(const struct json_src *src, const char *where, const cJSON *item,
		    const struct service_row **ret, struct err *err)
{
	const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "kind"));
	const char *known[ARRAY_SIZE(rows) + 1] = { NULL };
	auto_buf list = BUF_INIT(200);
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		known[i] = rows[i]->kind;
		buf_addf(&list, "%s%s", i ? ", " : "", known[i]);
		if (str_eq(kind, rows[i]->kind)) {
			*ret = rows[i];
			return 0;
		}
	}
	near = kind ? str_nearest(kind, known) : NULL;
	return json_complain(src, where, err, "kind \"%s\" is none of %s%s%s%s", kind ? kind : "",
			     buf_str(&list), near ? "; did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "");
}

int service_new(const struct json_src *src, const char *where, const cJSON *item,
		struct service **ret, struct err *err)
{
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
	double port = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "port"));
	struct service *s;
	int rc;

	if (!name || !name[0] || strlen(name) > 64 ||
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") !=
		    strlen(name))
		return json_complain(src, where, err, "name must be of A-Z a-z 0-9 . _ -");
	if (!(port >= 1024 && port <= 65535) || (double)(uint16_t)port != port)
		return json_complain(src, where, err, "port must be from 1024 to 65535");
	s = mem_zalloc(1, sizeof(*s));
	s->name = mem_strdup(name);
	s->port = (uint16_t)port;
	rc = find_row(src, where, item, &s->row, err);
	if (rc == 0)
		rc = s->row->open(src, where, item, &s->state, err);
	if (rc < 0)
		service_free(s);
	else
		*ret = s;
	return rc;
}

int service_begin(struct service *s, struct err *err)
{
	int rc = s->row->begin ? s->row->begin(s->state, err) : 0;

	return rc < 0 ? err_wrap(err, "%s", s->name) : 0;
}

const char *service_name(const struct service *s)
{
	return s->name;
}

const char *service_kind(const struct service *s)
{
	return s->row->kind;
}

uint16_t service_port(const struct service *s)
{
	return s->port;
}

bool service_relayed(const struct service *s)
{
	return s->row->relayed;
}

bool service_down(const struct service *s)
{
	return s->down;
}

void service_answer(struct service *s, const struct service_request *q, struct service_answer *out)
{
	out->version = "";
	if (s->down) {
		service_error(out, 503, "the service is down");
		return;
	}
	if (q->n > SERVICE_BODY_MAX || strlen(q->path) > SERVICE_PATH_MAX) {
		service_error(out, 413, "the request is too large");
		return;
	}
	s->row->answer(s->state, q, out);
}

int service_change(struct service *s, const struct json_src *src, const cJSON *change,
		   struct err *err)
{
	const cJSON *down = cJSON_GetObjectItemCaseSensitive(change, "down");

	if (down && !cJSON_IsBool(down))
		return json_complain(src, "service.down", err, "expected true or false");
	if (down)
		s->down = cJSON_IsTrue(down);
	return s->row->change(s->state, src, change, err);
}

void service_summary(const struct service *s, struct json_w *w)
{
	json_bool(w, "down", s->down);
	s->row->summary(s->state, w);
}

struct service *service_free(struct service *s)
{
	if (!s)
		return NULL;
	if (s->row && s->state)
		s->row->free(s->state);
	free(s->name);
	free(s);
	return NULL;
}

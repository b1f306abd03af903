/* The answer half of api_internal.h. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/sse.h"

void api_answer_done(struct api_answer *a)
{
	for (size_t i = 0; i < a->n_calls; i++) {
		free(a->calls[i].id);
		free(a->calls[i].name);
		free(a->calls[i].args);
	}
	free(a->calls);
	free(a->text);
	free(a->model);
	free(a->why);
	*a = (struct api_answer){ 0 };
}

void api_answer_read(struct api_answer *a, const struct api *api, const char *body, size_t n,
		     bool sse)
{
	*a = (struct api_answer){ .finish = FINISH_OTHER };
	api->answer(body, n, sse, a);
}

/* Room for @n more bytes of text and arguments? */
static bool room(struct answering *w, size_t n)
{
	if (n > API_TEXT_MAX - w->bytes) {
		w->over = true;
		return false;
	}
	w->bytes += n;
	return true;
}

static void append(struct answering *w, struct buf *to, const struct jdoc *d, uint32_t at)
{
	auto_free char *s = NULL;

	if (jdoc_kind(d, at) == J_STRING)
		s = jdoc_strdup(d, at);
	else if (jdoc_kind(d, at) != J_NONE && jdoc_kind(d, at) != J_NULL)
		s = api_request_raw(d, at);
	if (s && room(w, strlen(s)))
		buf_adds(to, s);
}

void api_answer_text(struct answering *w, uint32_t at, const struct jdoc *d)
{
	if (jdoc_kind(d, at) == J_STRING && !w->a->error)
		append(w, &w->text, d, at);
}

size_t api_answer_call(struct answering *w, uint64_t index)
{
	struct api_answer *a = w->a;
	size_t i = a->n_calls;

	if (i == API_TOOL_CALLS_MAX) {
		w->over = true;
		return SIZE_MAX;
	}
	MEM_GROW(a->calls, w->cap_calls, i + 1);
	MEM_GROW(w->part, w->cap_parts, i + 1);
	a->calls[i] = (struct api_tool_call){ 0 };
	w->part[i].index = index;
	w->part[i].args = (struct buf)BUF_INIT(API_TEXT_MAX);
	a->n_calls++;
	return i;
}

size_t api_answer_find(const struct answering *w, uint64_t index)
{
	for (size_t i = w->a->n_calls; i-- > 0;)
		if (w->part[i].index == index)
			return i;
	return SIZE_MAX;
}

static void set_once(struct answering *w, char **to, const struct jdoc *d, uint32_t at)
{
	if ((*to && **to) || jdoc_kind(d, at) != J_STRING ||
	    !room(w, d->v[at].end - d->v[at].start))
		return;
	free(*to);
	*to = jdoc_strdup(d, at);
}

void api_answer_name(struct answering *w, size_t i, const struct jdoc *d, uint32_t id,
		     uint32_t name)
{
	if (i == SIZE_MAX)
		return;
	set_once(w, &w->a->calls[i].id, d, id);
	set_once(w, &w->a->calls[i].name, d, name);
}

void api_answer_args(struct answering *w, size_t i, const struct jdoc *d, uint32_t at)
{
	if (i != SIZE_MAX)
		append(w, &w->part[i].args, d, at);
}

void api_answer_reset(struct answering *w)
{
	struct api_answer *a = w->a;

	for (size_t i = 0; i < a->n_calls; i++) {
		free(a->calls[i].id);
		free(a->calls[i].name);
		buf_done(&w->part[i].args);
	}
	a->n_calls = 0;
	buf_clear(&w->text);
	w->bytes = 0;
}

void api_answer_error(struct answering *w, const struct jdoc *d, uint32_t error)
{
	uint32_t text = jdoc_get(d, error, "message");

	w->a->error = true;
	buf_clear(&w->text);
	append(w, &w->text, d, jdoc_kind(d, text) == J_STRING ? text : error);
}

bool api_answer_max(uint64_t *v, const struct jdoc *d, uint32_t at)
{
	uint64_t now;

	if (jdoc_u64(d, at, &now) < 0)
		return false;
	*v = now > *v ? now : *v;
	return true;
}

int api_answer_word(const struct jdoc *d, uint32_t at, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (jdoc_is(d, at, names[i]))
			return i;
	return -1;
}

/* Every error event ends the stream as far as we care; what is missing is said once. */
static void finish(struct answering *w, const struct answer_ops *ops)
{
	struct api_answer *a = w->a;

	for (size_t i = 0; i < a->n_calls; i++) {
		struct buf *args = &w->part[i].args;

		if (!args->len && !a->calls[i].custom)
			buf_adds(args, "{}");
		a->calls[i].args = buf_steal(args, NULL);
		if (!a->calls[i].name)
			a->calls[i].name = mem_strdup("");
	}
	if (w->text.len || w->spare.len)
		a->text = buf_steal(w->text.len ? &w->text : &w->spare, NULL);
	buf_done(&w->text);
	buf_done(&w->spare);
	free(w->part);
	if (a->usage.cached > a->usage.input)
		a->usage.cached = a->usage.input;
	if (a->usage.cache_write > a->usage.input - a->usage.cached)
		a->usage.cache_write = a->usage.input - a->usage.cached;
	if (a->n_calls && a->finish == FINISH_STOP)
		a->finish = FINISH_TOOLS;
	a->complete = w->terminal && !w->over && !w->broken;
	if (a->complete)
		return;
	if (w->over)
		a->why = mem_printf("the answer holds more than %d bytes or %d tool calls",
				    API_TEXT_MAX, API_TOOL_CALLS_MAX);
	else if (a->error)
		a->why = mem_printf("the stream broke off with an error: %.200s",
				    a->text ? a->text : "");
	else if (w->broken)
		a->why = mem_strdup("the answer holds an event that is not JSON");
	else
		a->why = mem_strdup(ops->missing);
}

static void read_events(struct answering *w, const struct answer_ops *ops, const char *body,
			size_t n)
{
	auto_buf scratch = BUF_INIT(n + 64);
	struct sse s = { body, n, 0 };
	struct sse_event ev;
	bool cut = false;

	while (sse_next(&s, &scratch, &ev, &cut)) {
		struct jdoc d;

		if (str_eq(ev.data, "[DONE]") || !ev.n)
			continue;
		if (jdoc_parse(&d, ev.data, ev.n, NULL) < 0) {
			w->broken = true;
			continue;
		}
		ops->event(w, &d, ev.type);
		jdoc_done(&d);
	}
}

static void read_body(struct answering *w, const struct answer_ops *ops, const char *body, size_t n)
{
	struct jdoc d;

	if (jdoc_parse(&d, body, n, NULL) < 0) {
		w->broken = true;
		return;
	}
	if (jdoc_kind(&d, 0) == J_ARRAY) {
		jdoc_each (c, &d, 0) {
			/* each element as a text of its own: handlers look from the root */
			struct jdoc one;

			if (jdoc_kind(&d, c) == J_OBJECT &&
			    jdoc_parse(&one, body + d.v[c].start, d.v[c].end - d.v[c].start,
				       NULL) == 0) {
				ops->event(w, &one, "message");
				jdoc_done(&one);
			}
		}
	} else {
		ops->body(w, &d);
	}
	jdoc_done(&d);
}

void api_answer_run(const struct answer_ops *ops, const char *body, size_t n, bool sse,
		    struct api_answer *a)
{
	struct answering w = { .a = a,
			       .text = BUF_INIT(API_TEXT_MAX),
			       .spare = BUF_INIT(API_TEXT_MAX) };
	size_t i = 0;

	while (i < n && body[i] && strchr(" \t\r\n", body[i]))
		i++;
	if (i < n && (body[i] == '{' || body[i] == '['))
		sse = false;
	if (n > API_BODY_MAX)
		w.over = true;
	else if (sse)
		read_events(&w, ops, body, n);
	else
		read_body(&w, ops, body, n);
	finish(&w, ops);
}

void api_answer_quote(struct buf *out, const char *s)
{
	jedit_quote(out, s ? s : "", s ? strlen(s) : 0);
}

void api_answer_id(const struct api_answer *a, size_t i, const char *prefix, uint64_t serial,
		   struct buf *out)
{
	if (a->calls[i].id && *a->calls[i].id)
		api_answer_quote(out, a->calls[i].id);
	else
		buf_addf(out, "\"%s%020llx%04zx\"", prefix, (unsigned long long)serial, i);
}

enum api_finish api_answer_finish(const struct api_answer *a)
{
	if (a->n_calls && a->finish == FINISH_STOP)
		return FINISH_TOOLS;
	return !a->n_calls && a->finish == FINISH_TOOLS ? FINISH_STOP : a->finish;
}

void api_answer_object(const struct api_answer *a, size_t i, struct buf *out)
{
	const char *args = a->calls[i].args ? a->calls[i].args : "";
	struct jdoc d;
	bool object = jdoc_parse(&d, args, strlen(args), NULL) == 0;

	object = object && jdoc_kind(&d, 0) == J_OBJECT;
	buf_adds(out, object ? args : "{}");
	jdoc_done(&d);
}

uint64_t api_answer_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

const char *api_answer_model(const struct api_answer *a, const struct api_request *q)
{
	if (a->model)
		return a->model;
	return q->model ? q->model : "model";
}

const char *api_answer_status(const struct api_status *rows, size_t n, int status)
{
	const char *name = rows[0].name;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].status == status)
			return rows[i].name;
		if (rows[i].status == status / 100 * 100)
			name = rows[i].name;
	}
	return name;
}

void api_answer_openai_error(int status, const char *message, struct buf *out)
{
	static const struct api_status rows[] = {
		{ 400, "invalid_request_error" },
		{ 401, "authentication_error" },
		{ 429, "rate_limit_error" },
		{ 500, "server_error" },
	};

	buf_adds(out, "{\"error\":{\"message\":");
	jedit_quote(out, message, strlen(message));
	buf_addf(out, ",\"type\":\"%s\",\"param\":null,\"code\":null}}",
		 api_answer_status(rows, ARRAY_SIZE(rows), status));
}

void api_answer_models(const char *model, struct buf *out)
{
	auto_buf name = BUF_INIT(API_BODY_MAX);

	jedit_quote(&name, model, strlen(model));
	buf_addf(out,
		 "{\"object\":\"list\",\"data\":[{\"id\":%s,\"object\":\"model\","
		 "\"created\":%u,\"owned_by\":\"system\",\"type\":\"model\","
		 "\"display_name\":%s,\"created_at\":\"2026-01-01T00:00:00Z\"}],"
		 "\"has_more\":false,\"first_id\":%s,\"last_id\":%s}",
		 buf_str(&name), API_TIME_ZERO, buf_str(&name), buf_str(&name), buf_str(&name));
}

#include "study/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/turns_internal.h"

#define EVENT_MAX (32u << 20) /* bytes of one event */

void turn_init(struct turn *t)
{
	*t = (struct turn){ .text = BUF_INIT(TURN_TEXT_MAX), .reasoning = BUF_INIT(TURN_TEXT_MAX) };
}

void turn_done(struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		free(t->call[i].id);
		free(t->call[i].name);
		free(t->call[i].result);
		buf_done(&t->call[i].args);
	}
	free(t->call);
	buf_done(&t->text);
	buf_done(&t->reasoning);
	turn_init(t);
}

const cJSON *turn_get(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

const char *turn_str(const cJSON *o, const char *key)
{
	const cJSON *v = turn_get(o, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

void turn_add(struct buf *b, const char *s)
{
	if (s)
		buf_adds(b, s);
}

struct turn_call *turn_new_call(struct turn *t, const char *id, const char *name, size_t index)
{
	struct turn_call *c;

	if (t->n_calls == TURN_CALLS_MAX)
		return NULL;
	if (!t->call)
		t->call = mem_zalloc(TURN_CALLS_MAX, sizeof(*t->call));
	c = &t->call[t->n_calls++];
	*c = (struct turn_call){ .id = mem_strdup(id),
				 .name = mem_strdup(name ? name : ""),
				 .args = BUF_INIT(TURN_TEXT_MAX),
				 .index = index };
	return c;
}

/* The call under way at @index of a stream. */
static struct turn_call *at_index(struct turn *t, size_t index)
{
	for (size_t i = 0; i < t->n_calls; i++)
		if (t->call[i].index == index)
			return &t->call[i];
	return NULL;
}

static size_t index_of(const cJSON *o)
{
	const cJSON *v = turn_get(o, "index");

	return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 1e6
		       ? (size_t)v->valuedouble
		       : 0;
}

void turn_add_json(struct buf *b, const cJSON *v)
{
	auto_free char *text = v ? cJSON_PrintUnformatted(v) : NULL;

	turn_add(b, text);
}

char *turn_text(const cJSON *content)
{
	auto_buf b = BUF_INIT(TURN_TEXT_MAX);
	const cJSON *e;

	if (cJSON_IsString(content))
		return mem_strdup(content->valuestring);
	if (!cJSON_IsArray(content))
		return NULL;
	cJSON_ArrayForEach (e, content) {
		const char *s = cJSON_IsString(e) ? e->valuestring : turn_str(e, "text");

		if (s)
			buf_addf(&b, "%s%s", b.len ? "\n" : "", s);
	}
	return b.len ? buf_steal(&b, NULL) : NULL;
}

/* Chat Completions: a message, or the delta of a stream. */
static void chat_message(struct turn *t, const cJSON *m)
{
	const cJSON *calls = turn_get(m, "tool_calls"), *c;
	auto_free char *text = turn_text(turn_get(m, "content"));

	turn_add(&t->text, text);
	turn_add(&t->reasoning, turn_str(m, "reasoning_content"));
	cJSON_ArrayForEach (c, calls) {
		const cJSON *f = turn_get(c, "function");
		bool streamed = turn_get(c, "index") != NULL;
		struct turn_call *call = streamed ? at_index(t, index_of(c)) : NULL;

		if (!call)
			call = turn_new_call(t, turn_str(c, "id"), turn_str(f, "name"),
					     streamed ? index_of(c) : t->n_calls);
		if (call)
			turn_add(&call->args, turn_str(f, "arguments"));
	}
}

static void chat_event(struct turn *t, const cJSON *o)
{
	const cJSON *choice = cJSON_GetArrayItem(turn_get(o, "choices"), 0);

	if (turn_get(choice, "message"))
		chat_message(t, turn_get(choice, "message"));
	else if (turn_get(choice, "delta"))
		chat_message(t, turn_get(choice, "delta"));
}

/* Messages API: a block of a whole answer, or the one that a stream begins. */
static void block(struct turn *t, const cJSON *b, size_t index, bool streamed)
{
	const char *type = turn_str(b, "type");
	struct turn_call *c;

	turn_add(&t->text, str_eq(type, "text") ? turn_str(b, "text") : NULL);
	turn_add(&t->reasoning, str_eq(type, "thinking") ? turn_str(b, "thinking") : NULL);
	if (!str_eq(type, "tool_use"))
		return;
	c = turn_new_call(t, turn_str(b, "id"), turn_str(b, "name"), index);
	if (c && !streamed)
		turn_add_json(&c->args, turn_get(b, "input"));
}

static void anthropic_event(struct turn *t, const cJSON *o)
{
	const char *type = turn_str(o, "type");
	const cJSON *delta = turn_get(o, "delta"), *e;
	struct turn_call *c;
	size_t i = 0;

	cJSON_ArrayForEach (e, turn_get(o, "content"))
		block(t, e, i++, false);
	if (str_eq(type, "content_block_start"))
		block(t, turn_get(o, "content_block"), index_of(o), true);
	if (!str_eq(type, "content_block_delta"))
		return;
	turn_add(&t->text, turn_str(delta, "text"));
	turn_add(&t->reasoning, turn_str(delta, "thinking"));
	c = at_index(t, index_of(o));
	if (c)
		turn_add(&c->args, turn_str(delta, "partial_json"));
}

/* Responses API: an item of the output. */
static void item(struct turn *t, const cJSON *o)
{
	const char *type = turn_str(o, "type");
	struct turn_call *c;

	if (str_eq(type, "message")) {
		auto_free char *text = turn_text(turn_get(o, "content"));

		turn_add(&t->text, text);
	} else if (str_eq(type, "reasoning")) {
		auto_free char *text = turn_text(turn_get(o, "summary"));

		turn_add(&t->reasoning, text);
	} else if (str_eq(type, "function_call") || str_eq(type, "custom_tool_call")) {
		c = turn_new_call(t, turn_str(o, "call_id"), turn_str(o, "name"), t->n_calls);
		if (!c)
			return;
		c->custom = str_eq(type, "custom_tool_call");
		turn_add(&c->args, turn_str(o, c->custom ? "input" : "arguments"));
	}
}

static void responses_event(struct turn *t, const cJSON *o)
{
	const char *type = turn_str(o, "type");
	const cJSON *e;

	if (str_eq(type, "response.output_item.done"))
		item(t, turn_get(o, "item"));
	else if (!type || str_eq(type, "response"))
		cJSON_ArrayForEach (e, turn_get(o, "output"))
			item(t, e);
	else if (str_eq(type, "response.completed") && !t->n_calls && !t->text.len)
		cJSON_ArrayForEach (e, turn_get(turn_get(o, "response"), "output"))
			item(t, e);
}

static void gemini_event(struct turn *t, const cJSON *o)
{
	const cJSON *candidate = cJSON_GetArrayItem(turn_get(o, "candidates"), 0), *part;

	cJSON_ArrayForEach (part, turn_get(turn_get(candidate, "content"), "parts")) {
		const cJSON *f = turn_get(part, "functionCall");
		struct turn_call *c;

		turn_add(cJSON_IsTrue(turn_get(part, "thought")) ? &t->reasoning : &t->text,
			 turn_str(part, "text"));
		c = f ? turn_new_call(t, turn_str(f, "id"), turn_str(f, "name"), t->n_calls) : NULL;
		if (c)
			turn_add_json(&c->args, turn_get(f, "args"));
	}
}

/* clang-format off */
static const struct {
	const char *api;
	void (*event)(struct turn *t, const cJSON *o);
} apis[] = {
	{ "openai-chat", chat_event },
	{ "openai-responses", responses_event },
	{ "anthropic", anthropic_event },
	{ "gemini", gemini_event },
};
/* clang-format on */

static void one(void (*event)(struct turn *t, const cJSON *o), struct turn *t, const char *s,
		size_t n)
{
	cJSON *o = n <= EVENT_MAX ? cJSON_ParseWithLength(s, n) : NULL;

	if (cJSON_IsObject(o))
		event(t, o);
	cJSON_Delete(o);
}

/* "data: JSON" lines; several of one event are one text (HTML, Server-sent events). */
static void events(void (*event)(struct turn *t, const cJSON *o), struct turn *t, const char *s,
		   size_t n)
{
	auto_buf data = BUF_INIT(EVENT_MAX);
	const char *end = s + n;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((nl ? nl : end) - s), skip = 5;

		while (len && s[len - 1] == '\r')
			len--;
		if (len >= 5 && memcmp(s, "data:", 5) == 0) {
			skip += len > 5 && s[5] == ' ';
			buf_add(&data, s + skip, len - skip);
		} else if (!len && data.len) {
			one(event, t, data.data, data.len);
			buf_clear(&data);
		}
		s = nl ? nl + 1 : end;
	}
	if (data.len)
		one(event, t, data.data, data.len);
}

bool turn_read(const char *api, bool sse, const char *answer, size_t n, struct turn *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
		if (!str_eq(apis[i].api, api))
			continue;
		if (sse)
			events(apis[i].event, t, answer, n);
		else
			one(apis[i].event, t, answer, n);
	}
	return t->text.len || t->reasoning.len || t->n_calls;
}

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/turns_internal.h"

/* Text of a tool's result: a string, parts with text, or anything else as JSON. Caller frees. */
static char *result_text(const cJSON *v)
{
	char *text = turn_text(v);

	if (!text && v && !cJSON_IsNull(v)) {
		auto_buf b = BUF_INIT(TURN_TEXT_MAX);

		turn_add_json(&b, v);
		text = buf_steal(&b, NULL);
	}
	return text;
}

/* Result @v of call @id; without an id the first call @name that has none yet. */
static void give(struct turn *t, const char *id, const char *name, const cJSON *v)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		struct turn_call *c = &t->call[i];

		if (c->result ||
		    (id && c->id ? strcmp(id, c->id) != 0 : !name || strcmp(name, c->name) != 0))
			continue;
		c->result = result_text(v);
		return;
	}
}

static void chat_results(const cJSON *request, struct turn *t)
{
	const cJSON *m;

	cJSON_ArrayForEach (m, turn_get(request, "messages"))
		if (str_eq(turn_str(m, "role"), "tool") && turn_str(m, "tool_call_id"))
			give(t, turn_str(m, "tool_call_id"), NULL, turn_get(m, "content"));
}

static void anthropic_results(const cJSON *request, struct turn *t)
{
	const cJSON *m, *b;

	cJSON_ArrayForEach (m, turn_get(request, "messages")) {
		if (!cJSON_IsArray(turn_get(m, "content")))
			continue;
		cJSON_ArrayForEach (b, turn_get(m, "content"))
			if (str_eq(turn_str(b, "type"), "tool_result") &&
			    turn_str(b, "tool_use_id"))
				give(t, turn_str(b, "tool_use_id"), NULL, turn_get(b, "content"));
	}
}

static void responses_results(const cJSON *request, struct turn *t)
{
	const cJSON *i;

	cJSON_ArrayForEach (i, turn_get(request, "input"))
		if ((str_eq(turn_str(i, "type"), "function_call_output") ||
		     str_eq(turn_str(i, "type"), "custom_tool_call_output")) &&
		    turn_str(i, "call_id"))
			give(t, turn_str(i, "call_id"), NULL, turn_get(i, "output"));
}

/* Gemini's calls may have no ids: then the results of the last turn belong to the calls of one name in order. */
static void gemini_results(const cJSON *request, struct turn *t)
{
	const cJSON *contents = turn_get(request, "contents"), *part, *last = NULL, *c;

	cJSON_ArrayForEach (c, contents)
		cJSON_ArrayForEach (part, turn_get(c, "parts"))
			if (turn_get(part, "functionResponse"))
				last = c;
	cJSON_ArrayForEach (part, turn_get(last, "parts")) {
		const cJSON *f = turn_get(part, "functionResponse"), *r = turn_get(f, "response");
		const cJSON *output = turn_get(r, "output");

		if (f)
			give(t, turn_str(f, "id"), turn_str(f, "name"), output ? output : r);
	}
}

/* Who is told of the texts. */
struct listener {
	void (*fn)(void *arg, bool system, const char *text);
	void *arg;
};

static void say(const struct listener *l, bool system, const cJSON *content)
{
	auto_free char *text = turn_text(content);

	if (text && *text)
		l->fn(l->arg, system, text);
}

static void chat_opening(const cJSON *request, const struct listener *l)
{
	const cJSON *m;

	cJSON_ArrayForEach (m, turn_get(request, "messages")) {
		const char *role = turn_str(m, "role");

		if (str_eq(role, "system") || str_eq(role, "developer") || str_eq(role, "user"))
			say(l, !str_eq(role, "user"), turn_get(m, "content"));
	}
}

static void anthropic_opening(const cJSON *request, const struct listener *l)
{
	const cJSON *m;

	say(l, true, turn_get(request, "system"));
	cJSON_ArrayForEach (m, turn_get(request, "messages"))
		if (str_eq(turn_str(m, "role"), "user"))
			say(l, false, turn_get(m, "content"));
}

static void responses_opening(const cJSON *request, const struct listener *l)
{
	const cJSON *input = turn_get(request, "input"), *i;

	say(l, true, turn_get(request, "instructions"));
	if (cJSON_IsString(input))
		say(l, false, input);
	cJSON_ArrayForEach (i, input) {
		const char *role = turn_str(i, "role");

		if (str_eq(role, "system") || str_eq(role, "developer") || str_eq(role, "user"))
			say(l, !str_eq(role, "user"), turn_get(i, "content"));
	}
}

static void gemini_opening(const cJSON *request, const struct listener *l)
{
	const cJSON *c, *system = turn_get(request, "systemInstruction");

	say(l, true, turn_get(system, "parts"));
	cJSON_ArrayForEach (c, turn_get(request, "contents"))
		if (!turn_str(c, "role") || str_eq(turn_str(c, "role"), "user"))
			say(l, false, turn_get(c, "parts"));
}

/* clang-format off */
static const struct {
	const char *api;
	void (*results)(const cJSON *request, struct turn *t);
	void (*opening)(const cJSON *request, const struct listener *l);
} apis[] = {
	{ "openai-chat", chat_results, chat_opening },
	{ "openai-responses", responses_results, responses_opening },
	{ "anthropic", anthropic_results, anthropic_opening },
	{ "gemini", gemini_results, gemini_opening },
};
/* clang-format on */

void turn_results(const char *api, const cJSON *request, struct turn *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		if (str_eq(apis[i].api, api))
			apis[i].results(request, t);
}

void turn_opening(const char *api, const cJSON *request,
		  void (*fn)(void *arg, bool system, const char *text), void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		if (str_eq(apis[i].api, api))
			apis[i].opening(request, &(struct listener){ fn, arg });
}

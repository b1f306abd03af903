/* OpenAI Responses: the request. "input" is a string or a list of items; a server that keeps the
 * history (previous_response_id, conversation) is sent the new items only. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/api_responses_internal.h"

/* clang-format off */
static const char *const roles[] = { "system", "developer", "user", "assistant", NULL };
static const enum item_kind kinds[] = { ITEM_SYSTEM, ITEM_SYSTEM, ITEM_USER, ITEM_ASSISTANT };
/* Calls that the client carries out; "TYPE_output" is the result of each. */
static const char *const calls[] = { "function_call", "custom_tool_call", "local_shell_call",
				     "shell_call", "apply_patch_call", "computer_call", NULL };
static const char *const denied[] = { "web_search*", "file_search*", "code_interpreter*",
				      "computer*", "mcp*", "image_generation*", NULL };
static const char *const with_tools[] = { "tool_choice", "parallel_tool_calls", NULL };
static const char *const media[] = { "image_url", "file_url", "file_data", "video_url", "audio_url",
				     "input_audio", NULL };
static const char *const inner[] = { "url", "data", NULL };
/* An answer that is made later is one that nobody meters. */
static const char *const later[] = { "background", NULL };
static const char *const dearer[] = { "priority", "fast", NULL };
/* clang-format on */

/* Name and arguments of a call of any type. */
static void read_call(const struct jdoc *d, uint32_t at, struct item *it)
{
	static const char *const args[] = { "arguments", "input", "action", "operation", NULL };
	uint32_t v = JNONE;

	it->name = jdoc_strdup(d, jdoc_get(d, at, "name"));
	if (!it->name) {
		it->name = jdoc_strdup(d, jdoc_get(d, at, "type"));
		if (it->name && str_ends(it->name, "_call"))
			it->name[strlen(it->name) - strlen("_call")] = '\0';
	}
	for (size_t i = 0; args[i] && v == JNONE; i++)
		v = jdoc_get(d, at, args[i]);
	it->text = jdoc_strdup(d, v);
	if (!it->text)
		it->text = api_request_raw(d, v);
}

static void read_result(const struct jdoc *d, uint32_t at, struct item *it)
{
	uint32_t v = jdoc_get(d, at, "output");

	if (jdoc_kind(d, v) == J_OBJECT)
		it->text = api_request_raw(d, v);
	else
		it->text = api_request_text(d, v);
}

static int read_item(struct reading *r, uint32_t entry, uint32_t at)
{
	const struct jdoc *d = r->d;
	uint32_t type = jdoc_get(d, at, "type");
	int role = api_answer_word(d, jdoc_get(d, at, "role"), roles);
	auto_free char *name = jdoc_strdup(d, type);
	struct item it = api_request_part(r, ITEM_OTHER, entry, at);

	if ((!name || str_eq(name, "message")) && role >= 0) {
		it.kind = kinds[role];
		it.text = api_request_text(d, jdoc_get(d, at, "content"));
	} else if (api_answer_word(d, type, calls) >= 0) {
		it.kind = ITEM_CALL;
		read_call(d, at, &it);
	} else if (name && str_ends(name, "_output")) {
		it.kind = ITEM_RESULT;
		read_result(d, at, &it);
	} else if (str_eq(name, "reasoning")) {
		it.kind = ITEM_ASSISTANT;
		it.text = api_request_text(d, jdoc_get(d, at, "summary"));
	}
	if (it.kind == ITEM_CALL || it.kind == ITEM_RESULT) {
		it.id = jdoc_strdup(d, jdoc_get(d, at, "call_id"));
		if (!it.id)
			it.id = jdoc_strdup(d, jdoc_get(d, at, "id"));
	}
	return api_request_item(r, &it);
}

static void read_tools(struct reading *r)
{
	const struct jdoc *d = r->d;

	jdoc_each (t, d, jdoc_get(d, 0, "tools")) {
		uint32_t type = jdoc_get(d, t, "type"), name = jdoc_get(d, t, "name");
		auto_free char *s = jdoc_strdup(d, type);
		bool provider = false;

		for (size_t i = 0; s && denied[i]; i++)
			provider |= api_strip_like(s, denied[i]);
		if (!provider)
			api_request_tool(r, name == JNONE ? type : name);
	}
}

static int read_input(struct reading *r)
{
	const struct jdoc *d = r->d;
	uint32_t input = jdoc_get(d, 0, "input"), entry = 0;
	int rc = 0;

	if (jdoc_kind(d, input) == J_STRING) {
		struct item it = api_request_part(r, ITEM_USER, 0, input);

		it.text = jdoc_strdup(d, input);
		return api_request_item(r, &it);
	}
	input = api_request_list(r, 0, "input", &rc);
	jdoc_each (c, d, input) {
		if (rc == 0)
			rc = read_item(r, entry++, c);
	}
	return rc;
}

static int responses_read(struct api_request *q, const char *path, struct err *err)
{
	const struct jdoc *d = &q->doc;
	struct reading r;
	int rc;

	(void)path; /* everything stands in the body */
	api_request_begin(&r, q, err);
	q->model = jdoc_strdup(d, jdoc_get(d, 0, "model"));
	q->stream = jdoc_true(d, jdoc_get(d, 0, "stream"));
	q->stateful = jdoc_kind(d, jdoc_get(d, 0, "previous_response_id")) == J_STRING ||
		      jdoc_kind(d, jdoc_get(d, 0, "conversation")) >= J_STRING;
	api_request_max(&r, jdoc_get(d, 0, "max_output_tokens"), JNONE);
	api_request_system(&r, jdoc_get(d, 0, "instructions"));
	read_tools(&r);
	rc = read_input(&r);
	api_request_end(&r);
	return rc;
}

#define MESSAGE                                                                                    \
	"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"

/* An input that is a string becomes a list: the text, then the messages. */
static void place_in_string(const struct jdoc *d, uint32_t input, const char *json,
			    struct jedit *edits)
{
	auto_free char *text = api_request_raw(d, input), *list = NULL;

	for (size_t i = 0; i < edits->n; i++) {
		struct jchange *c = &edits->v[i];
		size_t n;
		char *longer;

		if (c->kind != JC_REPLACE || c->child != input)
			continue;
		/* an earlier message made the list */
		n = strlen(c->text);
		longer = mem_printf("%.*s,%s]", (int)n - 1, c->text, json);
		free(c->text);
		c->text = longer;
		return;
	}
	list = mem_printf("[" MESSAGE "%s}]},%s]", text, json);
	jedit_replace(edits, d, input, list);
}

static void responses_place(const struct api_request *q, size_t after, const char *text,
			    struct jedit *edits)
{
	uint32_t input = jdoc_get(&q->doc, 0, "input");
	auto_free char *json = api_request_quoted(MESSAGE, text, "}]}");
	size_t slot;

	if (jdoc_kind(&q->doc, input) == J_STRING) {
		place_in_string(&q->doc, input, json, edits);
		return;
	}
	slot = api_request_slot(q, after);
	jedit_insert(edits, &q->doc, input,
		     slot == SIZE_MAX ? JNONE
				      : api_request_entry(&q->doc, input, q->items[slot].entry),
		     json);
}

/* A shell that runs in a container of the vendor's, which has a network of its own. */
static bool hosted_shell(const struct jdoc *d, uint32_t tool)
{
	auto_free char *type = jdoc_strdup(d, jdoc_path(d, tool, "environment.type"));

	return type && api_strip_like(type, "container*");
}

static size_t responses_strip(const struct api_request *q, struct jedit *edits,
			      struct api_strip *what, size_t max)
{
	struct strip s = { .d = &q->doc,
			   .edits = edits,
			   .what = what,
			   .max = max,
			   .deny = denied,
			   .denied = hosted_shell,
			   .with = with_tools,
			   .media = media,
			   .inner = inner,
			   .removed =
				   "{\"type\":\"input_text\",\"text\":\"" API_REMOVED_TEXT "\"}" };

	api_strip_tools(&s, 0);
	api_strip_members(&s, 0, later);
	api_strip_values(&s, 0, "service_tier", dearer);
	jdoc_each (list, s.d, 0) {
		if (!api_strip_key(s.d, list, "input"))
			continue;
		jdoc_each (m, s.d, list)
			jdoc_each (c, s.d, m)
				if (api_strip_key(s.d, c, "content") ||
				    api_strip_key(s.d, c, "output"))
					api_strip_parts(&s, c);
	}
	return s.n;
}

static void responses_cap(const struct api_request *q, uint64_t max, struct jedit *edits)
{
	api_request_cap(&q->doc, 0, "max_output_tokens", max, true, edits);
}

const struct api api_responses_row = {
	.name = "openai-responses",
	.id = AGENT_API_RESPONSES,
	.key_header = "authorization",
	.bearer = true,
	.public_url = "https://api.openai.com",
	.base_path = "/v1",
	.key_env = "OPENAI_API_KEY",
	.key_shape = "sk-00000000000000000000000000000000",
	.read = responses_read,
	.place = responses_place,
	.strip = responses_strip,
	.cap_output = responses_cap,
	.answer = api_responses_answer,
	.write = api_responses_write,
	.error = api_answer_openai_error,
	.count = api_responses_count,
	.models = api_answer_models,
};

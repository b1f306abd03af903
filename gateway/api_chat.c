/* OpenAI Chat Completions and what other vendors made of it: the request.
 * A user message always becomes an entry of its own behind the run of tool messages, never a part of
 * a neighbour: the client's entries keep their bytes (and the prefix its cache), and consecutive user
 * entries are accepted by the servers that accept tools at all. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/api_chat_internal.h"

/* clang-format off */
static const char *const roles[] = { "system", "developer", "user", "assistant", "tool", "function",
				     NULL };
static const enum item_kind kinds[] = { ITEM_SYSTEM, ITEM_SYSTEM, ITEM_USER, ITEM_ASSISTANT,
					ITEM_RESULT, ITEM_RESULT };
static const char *const functions[] = { "function", "custom", NULL };
static const char *const with_tools[] = { "tool_choice", "parallel_tool_calls", NULL };
static const char *const media[] = { "image_url", "image", "video_url", "video", "audio_url", "audio",
				     "input_audio", "file", "file_url", NULL };
static const char *const inner[] = { "url", "uri", "file_url", "file_uri", "file_data", "data", NULL };
/* Members with which some servers search the web. */
static const char *const searching[] = { "web_search_options", "web_search", "search_parameters",
					 "enable_search", "enable_web_search", "search_options",
					 "plugins", "mcp_servers", NULL };
static const char *const several[] = { "n", "best_of", NULL };
static const char *const dearer[] = { "priority", "fast", NULL };
/* clang-format on */

/* The calls of assistant message @m. */
static int read_calls(struct reading *r, uint32_t entry, uint32_t m)
{
	const struct jdoc *d = r->d;
	uint32_t old = jdoc_get(d, m, "function_call");
	int rc = 0;

	jdoc_each (c, d, jdoc_get(d, m, "tool_calls")) {
		struct item it = api_request_part(r, ITEM_CALL, entry, m);
		uint32_t f = jdoc_get(d, c, "function");

		f = f == JNONE ? jdoc_get(d, c, "custom") : f;
		it.id = jdoc_strdup(d, jdoc_get(d, c, "id"));
		it.name = jdoc_strdup(d, jdoc_get(d, f, "name"));
		it.text = jdoc_strdup(d, jdoc_get(d, f, "arguments"));
		if (!it.text)
			it.text = jdoc_strdup(d, jdoc_get(d, f, "input"));
		if (!it.text)
			it.text = api_request_raw(d, jdoc_get(d, f, "arguments"));
		rc = api_request_item(r, &it);
		if (rc < 0)
			return rc;
	}
	if (jdoc_kind(d, old) == J_OBJECT) {
		struct item it = api_request_part(r, ITEM_CALL, entry, m);

		it.name = jdoc_strdup(d, jdoc_get(d, old, "name"));
		it.text = jdoc_strdup(d, jdoc_get(d, old, "arguments"));
		rc = api_request_item(r, &it);
	}
	return rc;
}

static int read_message(struct reading *r, uint32_t entry, uint32_t m)
{
	const struct jdoc *d = r->d;
	int role = api_answer_word(d, jdoc_get(d, m, "role"), roles);
	struct item it = api_request_part(r, role < 0 ? ITEM_OTHER : kinds[role], entry, m);
	bool calls = it.kind == ITEM_ASSISTANT && (jdoc_get(d, m, "tool_calls") != JNONE ||
						   jdoc_get(d, m, "function_call") != JNONE);
	int rc = 0;

	it.text = api_request_text(d, jdoc_get(d, m, "content"));
	if (it.kind == ITEM_RESULT)
		it.id = jdoc_strdup(d, jdoc_get(d, m, "tool_call_id"));
	/* an assistant that says nothing and only calls is its calls */
	if (calls && !*it.text)
		free(it.text);
	else
		rc = api_request_item(r, &it);
	return rc == 0 && calls ? read_calls(r, entry, m) : rc;
}

static void read_tools(struct reading *r)
{
	const struct jdoc *d = r->d;

	jdoc_each (t, d, jdoc_get(d, 0, "tools")) {
		uint32_t f = jdoc_get(d, t, "function");

		f = f == JNONE ? jdoc_get(d, t, "custom") : f;
		if (f != JNONE)
			api_request_tool(r, jdoc_get(d, f, "name"));
	}
	jdoc_each (f, d, jdoc_get(d, 0, "functions"))
		api_request_tool(r, jdoc_get(d, f, "name"));
}

static int chat_read(struct api_request *q, const char *path, struct err *err)
{
	const struct jdoc *d = &q->doc;
	struct reading r;
	uint32_t list, entry = 0;
	int rc;

	(void)path; /* everything stands in the body */
	api_request_begin(&r, q, err);
	q->model = jdoc_strdup(d, jdoc_get(d, 0, "model"));
	q->stream = jdoc_true(d, jdoc_get(d, 0, "stream"));
	q->wants_usage = jdoc_true(d, jdoc_path(d, 0, "stream_options.include_usage"));
	api_request_max(&r, jdoc_get(d, 0, "max_completion_tokens"), jdoc_get(d, 0, "max_tokens"));
	read_tools(&r);
	list = api_request_list(&r, 0, "messages", &rc);
	jdoc_each (m, d, list) {
		if (rc == 0)
			rc = read_message(&r, entry++, m);
	}
	api_request_end(&r);
	return rc;
}

static void chat_place(const struct api_request *q, size_t after, const char *text,
		       struct jedit *edits)
{
	uint32_t list = jdoc_get(&q->doc, 0, "messages");
	size_t slot = api_request_slot(q, after);
	auto_free char *json = api_request_quoted("{\"role\":\"user\",\"content\":", text, "}");

	jedit_insert(edits, &q->doc, list,
		     slot == SIZE_MAX ? JNONE
				      : api_request_entry(&q->doc, list, q->items[slot].entry),
		     json);
}

static size_t chat_strip(const struct api_request *q, struct jedit *edits, struct api_strip *what,
			 size_t max)
{
	struct strip s = { .d = &q->doc,
			   .edits = edits,
			   .what = what,
			   .max = max,
			   .only = functions,
			   .with = with_tools,
			   .media = media,
			   .inner = inner,
			   .removed = "{\"type\":\"text\",\"text\":\"" API_REMOVED_TEXT "\"}" };

	api_strip_tools(&s, 0);
	api_strip_members(&s, 0, searching);
	api_strip_several(&s, 0, several);
	api_strip_values(&s, 0, "service_tier", dearer);
	jdoc_each (list, s.d, 0) {
		if (!api_strip_key(s.d, list, "messages"))
			continue;
		jdoc_each (m, s.d, list)
			jdoc_each (c, s.d, m)
				if (api_strip_key(s.d, c, "content"))
					api_strip_parts(&s, c);
	}
	return s.n;
}

/* Servers know one name or the other; the newer one is added when the client said neither. */
static void chat_cap(const struct api_request *q, uint64_t max, struct jedit *edits)
{
	bool old = jdoc_get(&q->doc, 0, "max_tokens") != JNONE;

	api_request_cap(&q->doc, 0, "max_tokens", max, false, edits);
	api_request_cap(&q->doc, 0, "max_completion_tokens", max, !old, edits);
}

const struct api api_chat_row = {
	.name = "openai-chat",
	.id = AGENT_API_CHAT,
	.key_header = "authorization",
	.bearer = true,
	.public_url = "https://api.openai.com",
	.base_path = "/v1",
	.key_env = "OPENAI_API_KEY",
	.key_shape = "sk-00000000000000000000000000000000",
	.read = chat_read,
	.place = chat_place,
	.strip = chat_strip,
	.cap_output = chat_cap,
	.answer = api_chat_answer,
	.write = api_chat_write,
	.error = api_answer_openai_error,
	.count = api_chat_count,
	.models = api_answer_models,
};

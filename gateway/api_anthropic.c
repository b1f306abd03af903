/* Anthropic Messages: the request. Tool results are parts of a user message and must come first in
 * it, so a message of ours is a text block behind them; consecutive user messages are one turn. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/api_anthropic_internal.h"

enum {
	THINKING_MIN = 1024, /* tokens: the least the API takes as thinking.budget_tokens */
	BLOCKS_DEPTH = 4,    /* tool result, document, content of its source, image */
};

/* clang-format off */
static const char *const roles[] = { "user", "assistant", "system", NULL };
static const enum item_kind kinds[] = { ITEM_USER, ITEM_ASSISTANT, ITEM_SYSTEM };
static const char *const denied[] = { "web_search*", "web_fetch*", "code_execution*", "mcp*", NULL };
static const char *const with_tools[] = { "tool_choice", NULL };
static const char *const remote[] = { "mcp_servers", "container", NULL };
static const char *const media[] = { "source", NULL };
static const char *const inner[] = { "url", NULL };
static const char *const dearer[] = { "fast", NULL };
/* clang-format on */

/* What lies between calls and results in one message, as one item. */
static int flush(struct reading *r, enum item_kind kind, uint32_t entry, uint32_t m,
		 struct buf *text, bool *some)
{
	struct item it = api_request_part(r, kind, entry, m);

	if (!*some)
		return 0;
	*some = false;
	it.text = buf_steal(text, NULL);
	return api_request_item(r, &it);
}

static int read_block(struct reading *r, uint32_t entry, uint32_t m, uint32_t b)
{
	const struct jdoc *d = r->d;
	bool call = jdoc_is(d, jdoc_get(d, b, "type"), "tool_use");
	struct item it = api_request_part(r, call ? ITEM_CALL : ITEM_RESULT, entry, m);

	it.id = jdoc_strdup(d, jdoc_get(d, b, call ? "id" : "tool_use_id"));
	if (call) {
		it.name = jdoc_strdup(d, jdoc_get(d, b, "name"));
		it.text = api_request_raw(d, jdoc_get(d, b, "input"));
	} else {
		it.text = api_request_text(d, jdoc_get(d, b, "content"));
	}
	return api_request_item(r, &it);
}

static int read_blocks(struct reading *r, enum item_kind kind, uint32_t entry, uint32_t m)
{
	static const char *const own[] = { "tool_use", "tool_result", NULL };
	const struct jdoc *d = r->d;
	auto_buf text = BUF_INIT(API_BODY_MAX);
	bool some = false;
	int rc = 0;

	jdoc_each (b, d, jdoc_get(d, m, "content")) {
		auto_free char *part = NULL;

		if (rc < 0)
			break;
		if (api_answer_word(d, jdoc_get(d, b, "type"), own) >= 0) {
			rc = flush(r, kind, entry, m, &text, &some);
			if (rc == 0)
				rc = read_block(r, entry, m, b);
			continue;
		}
		part = api_request_text(d, b);
		if (some)
			buf_addc(&text, '\n');
		buf_adds(&text, part);
		some = true;
	}
	return rc < 0 ? rc : flush(r, kind, entry, m, &text, &some);
}

static int read_message(struct reading *r, uint32_t entry, uint32_t m)
{
	const struct jdoc *d = r->d;
	int role = api_answer_word(d, jdoc_get(d, m, "role"), roles);
	enum item_kind kind = role < 0 ? ITEM_OTHER : kinds[role];
	struct item it = api_request_part(r, kind, entry, m);

	if (jdoc_first(d, jdoc_get(d, m, "content")) != JNONE)
		return read_blocks(r, kind, entry, m);
	it.text = api_request_text(d, jdoc_get(d, m, "content"));
	return api_request_item(r, &it);
}

static int anthropic_read(struct api_request *q, const char *path, struct err *err)
{
	const struct jdoc *d = &q->doc;
	struct reading r;
	uint32_t list, entry = 0;
	int rc;

	(void)path; /* everything stands in the body */
	api_request_begin(&r, q, err);
	q->model = jdoc_strdup(d, jdoc_get(d, 0, "model"));
	q->stream = jdoc_true(d, jdoc_get(d, 0, "stream"));
	api_request_max(&r, jdoc_get(d, 0, "max_tokens"), JNONE);
	api_request_system(&r, jdoc_get(d, 0, "system"));
	jdoc_each (t, d, jdoc_get(d, 0, "tools"))
		api_request_tool(&r, jdoc_get(d, t, "name"));
	list = api_request_list(&r, 0, "messages", &rc);
	jdoc_each (m, d, list) {
		if (rc == 0)
			rc = read_message(&r, entry++, m);
	}
	api_request_end(&r);
	return rc;
}

/* The last block of message @m when it holds tool results, else JNONE. */
static uint32_t behind_results(const struct jdoc *d, uint32_t m)
{
	uint32_t last = JNONE;
	bool results = false;

	if (jdoc_kind(d, jdoc_get(d, m, "content")) != J_ARRAY)
		return JNONE;
	jdoc_each (b, d, jdoc_get(d, m, "content")) {
		results |= jdoc_is(d, jdoc_get(d, b, "type"), "tool_result");
		last = b;
	}
	return results ? last : JNONE;
}

static void anthropic_place(const struct api_request *q, size_t after, const char *text,
			    struct jedit *edits)
{
	const struct jdoc *d = &q->doc;
	uint32_t list = jdoc_get(d, 0, "messages"), m = JNONE, last = JNONE;
	size_t slot = api_request_slot(q, after);
	auto_free char *json = NULL;

	if (slot != SIZE_MAX)
		m = api_request_entry(d, list, q->items[slot].entry);
	if (m != JNONE)
		last = behind_results(d, m);
	if (last == JNONE) {
		json = api_request_quoted("{\"role\":\"user\",\"content\":", text, "}");
		jedit_insert(edits, d, list, m, json);
		return;
	}
	json = api_request_quoted("{\"type\":\"text\",\"text\":", text, "}");
	jedit_insert(edits, d, jdoc_get(d, m, "content"), last, json);
}

/* Parts of @content, and those inside of tool results and documents. */
static void strip_blocks(struct strip *s, uint32_t content, unsigned depth)
{
	if (depth == BLOCKS_DEPTH || jdoc_kind(s->d, content) != J_ARRAY)
		return;
	jdoc_each (b, s->d, content) {
		if (jdoc_kind(s->d, b) != J_OBJECT || api_strip_part(s, b))
			continue;
		jdoc_each (c, s->d, b) {
			if (api_strip_key(s->d, c, "content"))
				strip_blocks(s, c, depth + 1);
			else if (api_strip_key(s->d, c, "source"))
				strip_blocks(s, jdoc_get(s->d, c, "content"), depth + 1);
		}
	}
}

static size_t anthropic_strip(const struct api_request *q, struct jedit *edits,
			      struct api_strip *what, size_t max)
{
	struct strip s = { .d = &q->doc,
			   .edits = edits,
			   .what = what,
			   .max = max,
			   .deny = denied,
			   .with = with_tools,
			   .media = media,
			   .inner = inner,
			   .removed = "{\"type\":\"text\",\"text\":\"" API_REMOVED_TEXT "\"}" };

	api_strip_tools(&s, 0);
	api_strip_members(&s, 0, remote);
	api_strip_values(&s, 0, "speed", dearer);
	jdoc_each (list, s.d, 0) {
		if (!api_strip_key(s.d, list, "messages"))
			continue;
		jdoc_each (m, s.d, list)
			jdoc_each (c, s.d, m)
				if (api_strip_key(s.d, c, "content"))
					strip_blocks(&s, c, 0);
	}
	return s.n;
}

/* The budget for thinking must stay below max_tokens; below its least there is no thinking, and the
 * edits of the context that are about it must go too. */
static void anthropic_cap(const struct api_request *q, uint64_t max, struct jedit *edits)
{
	const struct jdoc *d = &q->doc;
	uint32_t thinking = jdoc_get(d, 0, "thinking");
	uint64_t budget;
	uint32_t context;

	api_request_cap(d, 0, "max_tokens", max, true, edits);
	if (jdoc_u64(d, jdoc_get(d, thinking, "budget_tokens"), &budget) < 0 || budget < max)
		return;
	if (max > THINKING_MIN) {
		api_request_cap(d, thinking, "budget_tokens", max - 1, false, edits);
		return;
	}
	jedit_replace(edits, d, thinking, "{\"type\":\"disabled\"}");
	context = jdoc_get(d, 0, "context_management");
	if (context != JNONE)
		jedit_remove(edits, d, 0, context);
}

const struct api api_anthropic_row = {
	.name = "anthropic",
	.id = AGENT_API_ANTHROPIC,
	.key_header = "x-api-key",
	.bearer = false,
	.public_url = "https://api.anthropic.com",
	.base_path = "",
	.key_env = "ANTHROPIC_API_KEY",
	.key_shape = "sk-ant-api03-00000000000000000000000000000000",
	.read = anthropic_read,
	.place = anthropic_place,
	.strip = anthropic_strip,
	.cap_output = anthropic_cap,
	.answer = api_anthropic_answer,
	.write = api_anthropic_write,
	.error = api_anthropic_error,
	.count = api_anthropic_count,
	.models = api_answer_models,
};

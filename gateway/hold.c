#include "gateway/hold.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/api.h"
#include "gateway/jedit.h"
#include "gateway/sse.h"

enum { EVENT_PARSE_MAX = 8 << 20 };

/* One event that is held back: its "type" is @type (NULL: any) and the member at @path, looked for
 * in every element of the arrays on the way, is the string @is (NULL: any value but null). @path
 * NULL: the type alone. */
struct hold_row {
	enum agent_api api;
	const char *type, *path, *is;
};

/* clang-format off */
static const struct hold_row rows[] = {
	{ AGENT_API_CHAT,      NULL, "choices.finish_reason", NULL },
	{ AGENT_API_CHAT,      NULL, "error", NULL },
	{ AGENT_API_RESPONSES, "response.completed",        NULL, NULL },
	{ AGENT_API_RESPONSES, "response.incomplete",       NULL, NULL },
	{ AGENT_API_RESPONSES, "response.failed",           NULL, NULL },
	{ AGENT_API_RESPONSES, "error",                     NULL, NULL },
	/* clients begin a call when its item is done */
	{ AGENT_API_RESPONSES, "response.function_call_arguments.done", NULL, NULL },
	{ AGENT_API_RESPONSES, "response.custom_tool_call_input.done",  NULL, NULL },
	{ AGENT_API_RESPONSES, "response.output_item.done", "item.type", "function_call" },
	{ AGENT_API_RESPONSES, "response.output_item.done", "item.type", "custom_tool_call" },
	{ AGENT_API_RESPONSES, "response.output_item.done", "item.type", "local_shell_call" },
	{ AGENT_API_ANTHROPIC, "message_delta",             NULL, NULL },
	{ AGENT_API_ANTHROPIC, "message_stop",              NULL, NULL },
	{ AGENT_API_ANTHROPIC, "error",                     NULL, NULL },
	{ AGENT_API_GEMINI,    NULL, "candidates.finishReason", NULL },
	{ AGENT_API_GEMINI,    NULL, "candidates.content.parts.functionCall", NULL },
	{ AGENT_API_GEMINI,    NULL, "error", NULL },
};
/* clang-format on */

static bool matches(const struct jdoc *d, uint32_t at, const char *path, const struct hold_row *r);

static bool any_of(const struct jdoc *d, uint32_t array, const char *path, const struct hold_row *r)
{
	jdoc_each (child, d, array) {
		/* Arrays in arrays are in none of the paths: the depth is that of the path. */
		if (jdoc_kind(d, child) == J_OBJECT && matches(d, child, path, r))
			return true;
	}
	return false;
}

/* Bounded by the path: each step takes a word of it. */
static bool matches(const struct jdoc *d, uint32_t at, const char *path, const struct hold_row *r)
{
	char key[32];
	size_t n = strcspn(path, ".");
	uint32_t v;

	memcpy(key, path, n);
	key[n] = '\0';
	v = jdoc_get(d, at, key);
	if (!path[n])
		return r->is ? jdoc_is(d, v, r->is) : jdoc_kind(d, v) > J_NULL;
	path += n + 1;
	return jdoc_kind(d, v) == J_ARRAY ? any_of(d, v, path, r)
					  : jdoc_kind(d, v) == J_OBJECT && matches(d, v, path, r);
}

/* Anthropic tells the kind of a block only where it begins: the end of a tool call's block is held.
 */
static bool block_end(struct hold *h, const struct jdoc *d)
{
	uint32_t type = jdoc_get(d, 0, "type");

	if (jdoc_is(d, type, "content_block_start"))
		h->call = jdoc_is(d, jdoc_path(d, 0, "content_block.type"), "tool_use");
	return h->call && jdoc_is(d, type, "content_block_stop");
}

static bool held(struct hold *h, const struct sse_event *ev)
{
	struct jdoc d = { 0 };
	struct err err;
	bool hit = false;

	/* "[DONE]" and whatever is no JSON: not for us to let out early. */
	if (ev->n > EVENT_PARSE_MAX || jdoc_parse(&d, ev->data, ev->n, &err) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(rows) && !hit; i++) {
		const struct hold_row *r = &rows[i];

		hit = r->api == h->api &&
		      (!r->type || jdoc_is(&d, jdoc_get(&d, 0, "type"), r->type)) &&
		      (!r->path || matches(&d, 0, r->path, r));
	}
	hit = hit || (h->api == AGENT_API_ANTHROPIC && block_end(h, &d));
	jdoc_done(&d);
	return hit;
}

/* Where the event that begins at @at ends: behind its empty line. 0 when that is not there yet;
 * *seen spares a second search of the same bytes. */
static size_t event_end(const char *text, size_t at, size_t n, size_t *seen)
{
	size_t i = *seen > at + 2 ? *seen - 2 : at;

	for (; i + 1 < n; i++) {
		size_t next = i + 1;

		if (text[i] != '\n' && text[i] != '\r')
			continue;
		if (text[i] == '\r' && text[next] == '\n')
			continue; /* the line ends at the LF */
		if (text[next] == '\n')
			return next + 1;
		/* CR: alone, or the first half of CR LF, of which the second may come later */
		if (text[next] == '\r' && next + 1 < n)
			return next + 1 + (text[next + 1] == '\n');
	}
	*seen = n;
	return 0;
}

void hold_init(struct hold *h, enum agent_api api)
{
	*h = (struct hold){ .api = api };
}

size_t hold_scan(struct hold *h, const char *text, size_t n)
{
	auto_buf scratch = BUF_INIT(API_BODY_MAX + 1);
	size_t end;

	while (!h->stopped && (end = event_end(text, h->at, n, &h->seen))) {
		struct sse s = { .text = text + h->at, .n = end - h->at };
		struct sse_event ev;
		bool cut = false;

		while (!h->stopped && sse_next(&s, &scratch, &ev, &cut) > 0)
			h->stopped = held(h, &ev);
		if (!h->stopped)
			h->at = end;
	}
	return h->at;
}

/* Chat: "choices":[] and a usage beside it. */
static bool usage_only(const struct sse_event *ev)
{
	struct jdoc d = { 0 };
	struct err err;
	uint32_t choices;
	bool yes;

	if (ev->n > EVENT_PARSE_MAX || !strstr(ev->data, "\"usage\"") ||
	    jdoc_parse(&d, ev->data, ev->n, &err) < 0)
		return false;
	choices = jdoc_get(&d, 0, "choices");
	yes = jdoc_kind(&d, choices) == J_ARRAY && jdoc_first(&d, choices) == JNONE &&
	      jdoc_kind(&d, jdoc_get(&d, 0, "usage")) == J_OBJECT;
	jdoc_done(&d);
	return yes;
}

/* Is the event text of @n bytes one that drop_usage takes out? */
static bool dropped(const char *text, size_t n, struct buf *scratch)
{
	struct sse s = { .text = text, .n = n };
	struct sse_event ev;
	bool cut = false;

	return sse_next(&s, scratch, &ev, &cut) > 0 && usage_only(&ev);
}

int hold_clean(const char *text, size_t n, bool drop_usage, struct buf *out)
{
	auto_buf scratch = BUF_INIT(API_BODY_MAX + 1);
	size_t at = 0, kept = 0, seen = 0, end;

	/* From one dropped event to the next. */
	while (drop_usage && (end = event_end(text, at, n, &seen))) {
		if (dropped(text + at, end - at, &scratch)) {
			if (sse_clean(text + kept, at - kept, out) < 0)
				return -1;
			kept = end;
		}
		at = end;
	}
	return sse_clean(text + kept, n - kept, out);
}

/* @n without the line end there. */
static size_t less_end(const struct buf *b, size_t n)
{
	n -= n && b->data[n - 1] == '\n';
	return n && b->data[n - 1] == '\r' ? n - 1 : n;
}

int hold_end(struct buf *out)
{
	size_t line = less_end(out, out->len);

	if (!out->len || (line < out->len && less_end(out, line) < line))
		return 0;
	return buf_adds(out, line < out->len ? "\n" : "\n\n");
}

#include "gateway/purpose.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/canon.h"

/* How far into the last user text a client's summary prompt is looked for. */
#define PROMPT_HEAD 600

static const char *const names[PURPOSE_MAX] = {
	[PURPOSE_MAIN] = "main",         [PURPOSE_SIDE] = "side",
	[PURPOSE_COUNT] = "count",       [PURPOSE_COMPACT] = "compact",
	[PURPOSE_SUBAGENT] = "subagent", [PURPOSE_SIMULATOR] = "simulator",
};

/* What clients say when they have their own conversation summarised by the model. */
static const char *const summary_prompts[] = {
	"Your task is to create a detailed summary of the conversation so far",
	"CONTEXT CHECKPOINT COMPACTION",
	"Provide a detailed prompt for continuing our conversation above",
	"Provide a detailed but concise summary of our conversation above",
	"The messages above are a conversation to summarize",
	"First, reason in your scratchpad. Then, generate the <state_snapshot>",
};

/* Does the conversation end with one of these prompts? It must not be all there is of it: a task may
 * begin with such words. */
static bool asks_for_summary(const struct api_request *q)
{
	const struct item *last = q->n_items > 1 ? &q->items[q->n_items - 1] : NULL;

	if (!last || last->kind != ITEM_USER || !last->text)
		return false;
	auto_free char *head = mem_strndup(last->text, PROMPT_HEAD);

	for (size_t i = 0; i < ARRAY_SIZE(summary_prompts); i++)
		if (strstr(head, summary_prompts[i]))
			return true;
	return false;
}

static void digest_first_user(const struct api_request *q, char out[DIGEST_HEX])
{
	auto_buf b = BUF_INIT(API_BODY_MAX);

	for (size_t i = 0; i < q->n_items; i++) {
		const char *text = q->items[i].text;

		if (q->items[i].kind != ITEM_USER || !text)
			continue;
		canon_text(text, strlen(text), &b);
		break;
	}
	digest_bytes(buf_str(&b), b.len, out);
}

enum purpose purpose_of(struct purposes *p, const struct api_request *q)
{
	char first[DIGEST_HEX];
	unsigned same;

	if (q->route == API_ROUTE_COUNT)
		return PURPOSE_COUNT;
	if (q->route == API_ROUTE_COMPACT || asks_for_summary(q))
		return PURPOSE_COMPACT;
	if (q->route != API_ROUTE_CHAT || !q->tools)
		return PURPOSE_SIDE;
	digest_first_user(q, first);
	/* Compaction replaces the beginning, a mode the tools, a new date or file list the system
	 * text; one of them at a time. */
	same = str_eq(p->system, q->system) + str_eq(p->toolset, q->toolset) +
	       (q->stateful || str_eq(p->first_user, first));
	if (p->known && same < 2)
		return PURPOSE_SUBAGENT;
	p->known = true;
	memcpy(p->system, q->system, DIGEST_HEX);
	memcpy(p->toolset, q->toolset, DIGEST_HEX);
	if (!q->stateful || !p->first_user[0])
		memcpy(p->first_user, first, DIGEST_HEX);
	return PURPOSE_MAIN;
}

const char *purpose_name(enum purpose p)
{
	ensure(p < PURPOSE_MAX, "purposes have names");
	return names[p];
}

enum purpose purpose_named(const char *name)
{
	for (int i = 0; i < PURPOSE_MAX; i++)
		if (str_eq(names[i], name))
			return (enum purpose)i;
	return PURPOSE_MAX;
}

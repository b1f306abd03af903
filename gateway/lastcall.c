#include "gateway/lastcall.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Arguments that hold a command line in the shell tools of known clients. */
static const char *const names[] = { "command", "cmd", "script", "input" };

static void put(struct buf *out, const char *s, size_t n)
{
	size_t room = out->max - out->len;

	n = n < LASTCALL_MAX ? n : LASTCALL_MAX;
	(void)buf_add(out, s, n < room ? n : room); /* as much as there is room for */
}

/* A command line at @at: a string, or its words. False when it is neither. */
static bool put_line(const struct jdoc *d, uint32_t at, struct buf *out)
{
	auto_buf line = BUF_INIT(API_BODY_MAX);

	if (jdoc_kind(d, at) == J_STRING) {
		jdoc_str(d, at, &line);
	} else if (jdoc_kind(d, at) == J_ARRAY) {
		jdoc_each (c, d, at) {
			if (line.len)
				buf_addc(&line, ' ');
			if (jdoc_str(d, c, &line) < 0)
				return false;
		}
	}
	put(out, buf_str(&line), line.len);
	return line.len > 0;
}

static void put_call(const struct item *call, struct buf *out)
{
	const char *args = call->text ? call->text : "";
	struct jdoc d = { 0 };
	bool done = false;

	if (jdoc_parse(&d, args, strlen(args), NULL) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(names) && !done; i++)
			done = put_line(&d, jdoc_get(&d, 0, names[i]), out);
	}
	jdoc_done(&d);
	if (done)
		return;
	put(out, call->name ? call->name : "tool", strlen(call->name ? call->name : "tool"));
	put(out, " ", 1);
	put(out, args, strlen(args));
}

/* Items [*first, *end) of the last answer: calls and texts that stand together. */
static bool last_answer(const struct api_request *q, size_t *first, size_t *end)
{
	size_t i = q->n_items;

	while (i && q->items[i - 1].kind != ITEM_CALL && q->items[i - 1].kind != ITEM_ASSISTANT)
		i--;
	*end = i;
	while (i && (q->items[i - 1].kind == ITEM_CALL || q->items[i - 1].kind == ITEM_ASSISTANT))
		i--;
	*first = i;
	return *first < *end;
}

/* The result of call @at, which is number @nth of its answer; results stand behind the answer. */
static const struct item *result_of(const struct api_request *q, size_t at, size_t end, size_t nth)
{
	const char *id = q->items[at].id;

	for (size_t i = end; i < q->n_items; i++) {
		const struct item *it = &q->items[i];

		if (it->kind != ITEM_RESULT)
			continue;
		if (id && it->id ? str_eq(id, it->id) : nth == 0)
			return it;
		nth -= nth > 0;
	}
	return NULL;
}

void lastcall_turn(const struct api_request *q, const struct lastcall_turn *t)
{
	auto_buf said = BUF_INIT(LASTCALL_MAX);
	size_t first, end, n = 0;

	if (!last_answer(q, &first, &end))
		return;
	for (size_t i = first; i < end; i++) {
		const struct item *it = &q->items[i];

		if (it->kind != ITEM_ASSISTANT || !it->text || !it->text[0])
			continue;
		if (said.len)
			put(&said, "\n", 1);
		put(&said, it->text, strlen(it->text));
	}
	if (said.len)
		t->said(t->arg, buf_str(&said), said.len);
	for (size_t i = first; i < end && n < LASTCALL_CALLS_MAX; i++) {
		auto_buf command = BUF_INIT(LASTCALL_MAX);
		auto_buf output = BUF_INIT(LASTCALL_MAX);
		const struct item *result;

		if (q->items[i].kind != ITEM_CALL)
			continue;
		result = result_of(q, i, end, n++);
		put_call(&q->items[i], &command);
		if (result && result->text)
			put(&output, result->text, strlen(result->text));
		t->call(t->arg, &command, &output);
	}
}

bool lastcall_of(const struct api_request *q, struct buf *command, struct buf *output)
{
	const struct item *result = NULL, *call = NULL;

	for (size_t i = q->n_items; i-- > 0 && !call;) {
		const struct item *it = &q->items[i];

		if (it->kind == ITEM_RESULT && !result)
			result = it;
		/* Without an id: the call nearest before it. */
		if (it->kind == ITEM_CALL &&
		    (!result || !result->id || !it->id || str_eq(it->id, result->id)))
			call = it;
	}
	if (call)
		put_call(call, command);
	if (result && result->text)
		put(output, result->text, strlen(result->text));
	return call || result;
}

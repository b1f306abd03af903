/* What the agent did last, as its own request to the model tells it: the tool call before this request
 * and what came of it. */
#ifndef GATEWAY_LASTCALL_H
#define GATEWAY_LASTCALL_H

#include <stdbool.h>

#include "base/buf.h"
#include "gateway/api.h"

enum {
	LASTCALL_MAX = 8 << 10,  /* bytes that are given of either */
	LASTCALL_CALLS_MAX = 32, /* calls of one answer that are given */
};

/* Append the last tool call of @q to @command (a shell's command line as it is, any other call as its
 * name and arguments) and its result to @output; each is cut at LASTCALL_MAX bytes and at the
 * buffer's maximum. All of it is the agent's own bytes. False when there is no call and no result. */
bool lastcall_of(const struct api_request *q, struct buf *command, struct buf *output);

/* Who is given the last answer of a conversation. */
struct lastcall_turn {
	/* Its text, @n bytes; not called when there is none. */
	void (*said)(void *arg, const char *text, size_t n);
	/* One of its tool calls and the result, as lastcall_of() gives them. */
	void (*call)(void *arg, const struct buf *command, const struct buf *output);
	void *arg;
};

/* Give the last answer that @q holds: its text, then its calls in order, LASTCALL_CALLS_MAX at most. Reasoning is
 * not told apart from text where the API does not. */
void lastcall_turn(const struct api_request *q, const struct lastcall_turn *t);

#endif

/* Which bytes of a streamed answer may reach the client before the supervisor knows the answer:
 * text as it comes, but nothing from the first event on that a client could act upon (a finished
 * tool call, the end). */
#ifndef GATEWAY_HOLD_H
#define GATEWAY_HOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "profiles/agent.h"

struct hold {
	enum agent_api api;
	size_t at;    /* start of the first event that was not looked at */
	size_t seen;  /* bytes that were searched for its end */
	bool call;    /* Anthropic: a tool call's block is open */
	bool stopped; /* an event that is held back was found */
};

/* Begin. */
void hold_init(struct hold *h, enum agent_api api);

/* @n bytes of the stream are there, those of earlier calls unchanged. Returns how many of them may
 * go out; always a number of whole events, never less than before. */
size_t hold_scan(struct hold *h, const char *text, size_t n);

/* Copy whole events from @text to @out without comments, which some clients choke on, and with
 * @drop_usage without the usage event of Chat Completions, which this client did not ask for (it
 * came because the gateway did). 0, or -1 when @out is full. */
int hold_clean(const char *text, size_t n, bool drop_usage, struct buf *out);

/* The stream in @out is over: end its last event, if the endpoint did not. Clients throw away an event
 * without an empty line behind it (WHATWG HTML, section 9.2.6). Nothing when @out is empty. 0, or -1 when
 * @out is full. */
int hold_end(struct buf *out);

#endif

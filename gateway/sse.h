/* Server-sent events (WHATWG HTML, section 9.2): split into events, whatever the line ends. */
#ifndef GATEWAY_SSE_H
#define GATEWAY_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* One event. Borrowed from the scratch buffer of sse_next(). */
struct sse_event {
	const char *type; /* "message" when not said */
	const char *data; /* NUL-terminated, lines joined by newlines */
	size_t n;
};

/* Where the next event begins in @n bytes of @text; {text, n, 0} at the start. */
struct sse {
	const char *text;
	size_t n, at;
};

/* Take the next event that has data; comments and unknown fields are passed over. @scratch holds
 * what @ev points to; its maximum bounds an event. 1 = an event, 0 = the end; an event that the
 * end or that maximum cut off counts when it has data, and *cut is set (else left alone). */
int sse_next(struct sse *s, struct buf *scratch, struct sse_event *ev, bool *cut);

/* Copy a stream without comment lines (": keepalive") and the blank lines behind them, which some
 * clients choke on; lines end in LF then. 0 or -1 when @out is full. */
int sse_clean(const char *text, size_t n, struct buf *out);

/* Append one event: "event: TYPE" when @type is not NULL, then its data. */
void sse_write(struct buf *out, const char *type, const char *data);

#endif

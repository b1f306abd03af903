/* What the simulated user is told of the moment: one text, made of the task, the touch, the change and
 * what the agent did last. The same facts give the same bytes; each part has a maximum, and what cannot
 * be said in plain text is replaced. */
#ifndef SUPERVISOR_SIMCONTEXT_H
#define SUPERVISOR_SIMCONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Characters that are kept of each part, as SWE-Touch keeps them. */
enum {
	SIMCONTEXT_STATEMENT = 2400,
	SIMCONTEXT_COMMAND = 1200,
	SIMCONTEXT_OUTPUT = 1200,
	SIMCONTEXT_EVENT = 600,
	SIMCONTEXT_EVENTS = 4, /* the last ones */
	SIMCONTEXT_DIFF = 2200,
	SIMCONTEXT_CLAIM = 600,
	SIMCONTEXT_LINE = 300,     /* of names, paths, the reason */
	SIMCONTEXT_MAX = 64 << 10, /* bytes of the whole text: more than these can fill */
};

/* Strings are borrowed; NULL or "" = not known, which is said. */
struct simcontext {
	const char *repo, *instance_id, *statement;
	uint64_t index;       /* of the message, from 1 */
	const char *reason;   /* why now, one sentence */
	const char *path;     /* of the region */
	uint64_t first, last; /* its lines, 0,0 = not known */
	const char *command, *output;
	const char *const *events; /* oldest first */
	size_t n_events;
	const char *claim, *diff;
};

/* Write the text to @out, which is empty and has room for SIMCONTEXT_MAX bytes. */
void simcontext_write(const struct simcontext *c, struct buf *out);

/* Append at most @max characters of the @n bytes of @s: bytes that are not UTF-8 and control characters
 * but newline and tab become "?"; what is left out is said. */
void simcontext_clean(struct buf *out, const char *s, size_t n, size_t max);

#endif

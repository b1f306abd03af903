/* checkpoints.jsonl read back: what a box was at one of its requests, put together from the changes between them, and
 * given to a fresh box (supervisor/checkpoint.h writes it; docs/formats.md). The file may be anybody's. */
#ifndef SUPERVISOR_CHECKPOINTFILE_H
#define SUPERVISOR_CHECKPOINTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/box.h"
#include "sandbox/snapshot.h"

/* A box at one request. {0} is none. */
struct checkpoint_state {
	uint64_t call;
	bool settled;                          /* its session files stood still */
	char *why, *where;                     /* owned: it was not kept whole; NULL = it was */
	struct strv processes, held, services; /* what of its state is no file */
	bool user;                             /* somebody reacted to the run */
	uint64_t messages; /* user messages that stood in the conversation and in no session file */
	struct snapshot_entry *v[SNAPSHOT_AREAS]; /* owned, parents before what is in them */
	uint64_t *since
		[SNAPSHOT_AREAS]; /* owned: number of the request at which the entry was first seen */
	size_t n[SNAPSHOT_AREAS];
};

/* The state at main request number @call of file @path. 0, or -ERR_INPUT: no such file or request, or the line
 * that is wrong. Free with checkpoint_state_done(). */
int checkpointfile_load(const char *path, uint64_t call, struct checkpoint_state *ret,
			struct err *err);

/* The same from a text of @n bytes that came from @name. */
int checkpointfile_parse(const char *name, const char *text, size_t n, uint64_t call,
			 struct checkpoint_state *ret, struct err *err);

/* The session file of the state: of the files of the box that match @pattern (relative to /), the one that was there
 * first. Borrowed path; NULL = there is none. */
const char *checkpoint_session(const struct checkpoint_state *c, const char *pattern);

/* Give @box, whose command has not been released, the files of the state; contents come from directory @store. 0 or
 * negative, see snapshot_restore(). */
int checkpoint_restore(const struct checkpoint_state *c, const char *store, struct box *box,
		       struct err *err);

/* Free; {0} is fine. */
void checkpoint_state_done(struct checkpoint_state *c);

#endif

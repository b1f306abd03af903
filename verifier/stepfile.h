/* steps.jsonl read back: what the workspace was at each request to the model, put together from the changes
 * between them (supervisor/steps.h writes it; docs/formats.md). */
#ifndef VERIFIER_STEPFILE_H
#define VERIFIER_STEPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "sandbox/treestate.h"

/* A request of the main conversation. */
struct stepfile_step {
	uint64_t n;    /* trace record before it */
	uint64_t call; /* number among the answered main requests, from 1; a request that is sent
			* again has the same */
	char request[DIGEST_HEX], workspace[DIGEST_HEX]; /* "" = unknown */
	struct treestate_file *change; /* owned: against the step before; kind '=' as the base */
	size_t n_changes;
};

struct stepfile {
	struct stepfile_step *v; /* owned, in order */
	size_t n, cap;
};

/* Read @path. A last line without its end (a kill) is left out. 0, or -ERR_INPUT with the line. Free with
 * stepfile_done(). */
int stepfile_load(const char *path, struct stepfile *ret, struct err *err);

/* Append a step; what @l holds is copied. */
void stepfile_add(struct stepfile *f, uint64_t n, uint64_t call, const char *request,
		  const struct treestate_look *l);

/* First step with number @call, NULL when there is none. Borrowed. */
const struct stepfile_step *stepfile_find(const struct stepfile *f, uint64_t call);

/* Name to @out the first path whose state at step @call differs between @recorded and @now, and both
 * states. 1 when there is one, 0 when not. */
int stepfile_difference(const struct stepfile *recorded, const struct stepfile *now, uint64_t call,
			struct buf *out);

/* Free; {0} is fine. */
void stepfile_done(struct stepfile *f);

#endif

/* Shared between the parts of capture: the walk over the layers and the rules of what is left out.
 */
#ifndef VERIFIER_CAPTURE_INTERNAL_H
#define VERIFIER_CAPTURE_INTERNAL_H

#include <git2.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "sandbox/gittree.h"
#include "sandbox/workspace.h"
#include "verifier/capture.h"

/* Bytes of both sides together; packing them takes time, and the agent chose how many there are. */
#define CAPTURE_TOTAL_MAX   (256ull << 20)
#define CAPTURE_DIFF_MAX    (1ull << 30)
#define CAPTURE_ENTRIES_MAX 1000000u /* files and directories looked at */
#define CAPTURE_DROPPED_MAX 1000u    /* names of what was left out; the rest is counted */

/* The base's own idea of what is no part of the work. */
struct capture_ignore {
	bool off;             /* nothing is left out */
	git_repository *repo; /* owned: the store, with the lower layer as work tree */
	git_index *index; /* owned: what the lower layer's repository tracks; NULL = it has none */
	git_repository *user; /* owned: the lower layer's repository, NULL = it has none */
};

/* Set up for workspace @ws. 0 or negative. Free with capture_ignore_done(). */
int capture_ignore_init(struct capture_ignore *ig, struct workspace *ws, struct err *err);

/* Free. {0} is fine. */
void capture_ignore_done(struct capture_ignore *ig);

/* Is directory @path (without final slash) excluded as a whole? */
bool capture_ignore_dir(const struct capture_ignore *ig, const char *path);

/* Is file @path left out? @in_lower: the lower layer has a file there; @in_ignored_dir: a directory
 * above is excluded. What the base tracks is never left out. */
bool capture_ignore_file(const struct capture_ignore *ig, const char *path, bool in_lower,
			 bool in_ignored_dir);

/* One capture at work. */
struct capture_walk {
	struct capture *out; /* borrowed */
	struct capture_ignore ignore;
	struct gitpack *pack; /* owned */
	struct gittree before, after;
	struct buf path;
	struct buf old_bytes, new_bytes;
	uint64_t total, entries, unnamed; /* unnamed: dropped beyond CAPTURE_DROPPED_MAX */
};

/* Compare directory @upper with @lower (both lent) and fill before, after and pack. 0 or negative
 * (only our own errors: whatever an agent left behind is captured or named in out->dropped). */
int capture_walk_layers(struct capture_walk *w, int upper, int lower, struct err *err);

#endif

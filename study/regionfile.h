/* Critical regions as a file of their own ("proctor.regions/1"): what `mine` writes and `craft` reads. */
#ifndef STUDY_REGIONFILE_H
#define STUDY_REGIONFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define REGIONFILE_MAX      8u    /* regions that are mined for one task (SWE-Touch: at most 8) */
#define REGIONFILE_READ_MAX 1000u /* regions of a file that is read: made by hand there are more */

struct regionfile_region {
	char *path;
	uint64_t start, end; /* 1-based, inclusive */
	char *kind;          /* "trajectory_edit", "trajectory_read", "reference_patch_fallback" */
	struct strv models;  /* whose trajectories support it */
	uint64_t support;    /* fewest models that support one of its lines */
};

struct regionfile {
	char *file; /* where it was read from */
	char *instance_id;
	char *algorithm;    /* "edits" or "reads+edits"; "scenario" when taken of one */
	char *lines;        /* whose lines: "base", "final" or "hunk"; never NULL */
	char *tier;         /* which tier gave the regions */
	struct strv models; /* all trajectories that were looked at */
	struct regionfile_region *region; /* owned */
	size_t n;
};

/* Read a regions file, or take the regions of a scenario file. 0 or -ERR_INPUT with position. */
int regionfile_load(const char *path, struct regionfile *ret, struct err *err);

/* Print it. */
void regionfile_print(const struct regionfile *rf, struct buf *out);

/* Free; {0} is fine. */
void regionfile_done(struct regionfile *rf);

#endif

/* Where the directory of a run is. */
#ifndef SUPERVISOR_RUNPLACE_H
#define SUPERVISOR_RUNPLACE_H

#include "base/err.h"
#include "profiles/plan.h"

enum { RUNPLACE_ID = 64 };

/* A name for a run that begins now: UTC time and our pid. */
void runplace_id(char out[RUNPLACE_ID]);

/* Make the directory for the run @id of @plan: @out, or one below $XDG_STATE_HOME/proctor/runs when it is NULL.
 * *ret_dir (caller frees, also when this fails) is its absolute path. 0, or -ERR_USAGE when it holds a run
 * already or lies where the command could write. */
int runplace_make(const struct plan *plan, const char *out, const char *id, char **ret_dir,
		  struct err *err);

/* Take room in @dir for what is written at the end of a run: a file without a name (O_TMPFILE, open(2), Linux 3.11) with
 * blocks of its own. Closing it gives them back, as any death does, so that a disk which the run filled has room for
 * the patch and for run.json. The descriptor, or -1 where the file system cannot do that or has less than 1 MiB. */
int runplace_reserve(const char *dir);

#endif

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

#endif

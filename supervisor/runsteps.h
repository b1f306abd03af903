/* What is compared and kept at every step of a run, by its plan and by what it continues. */
#ifndef SUPERVISOR_RUNSTEPS_H
#define SUPERVISOR_RUNSTEPS_H

#include "base/err.h"
#include "sandbox/workspace.h"
#include "supervisor/sup.h"

/* Begin the digests of the workspace and the checkpoints of the run in directory @dir; for a continuation put the
 * checkpoint back into the box first. 0 or negative. What is begun is freed with steps_free() of s->steps and
 * checkpoint_done(). */
int runsteps_start(struct sup *s, const char *dir, struct workspace *ws, struct err *err);

#endif

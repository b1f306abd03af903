#include "supervisor/runsteps.h"

#include "supervisor/checkpoint.h"
#include "supervisor/checkpointfile.h"
#include "supervisor/forkpoint.h"
#include "supervisor/steps.h"

/* What the box of a continuation begins with, and what is kept of that of a record. */
static int start_files(struct sup *s, const char *dir, struct workspace *ws, struct err *err)
{
	const struct forkpoint *f = s->fork;

	if (f && f->resumed)
		return checkpoint_restore(f->resumed, f->store, s->box, err);
	if (f || s->plan->profile->checkpoints == CHECKPOINTS_NONE)
		return 0;
	return checkpoint_open(s, dir, ws, err);
}

/* Digests of the workspace at every step: where there are steps, and layers that tell what changed. */
static int start_steps(struct sup *s, const char *dir, struct workspace *ws, struct err *err)
{
	const struct forkpoint *f = s->fork;
	struct steps_expect want = { 0 };

	if (!s->plan->model || s->plan->profile->workspace != WORKSPACE_OVERLAY ||
	    !s->plan->profile->steps)
		return 0;
	if (f)
		want = (struct steps_expect){
			.record = f->steps,
			.first = f->resumed ? f->at.call + 1 : 1,
			.n = f->resumed ? 1 : f->at.call + 1,
			.workspace_only = f->resumed != NULL,
		};
	return steps_open(dir, ws, &want, &s->steps, err);
}

int runsteps_start(struct sup *s, const char *dir, struct workspace *ws, struct err *err)
{
	int rc = start_files(s, dir, ws, err);

	return rc < 0 ? rc : start_steps(s, dir, ws, err);
}

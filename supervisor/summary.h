/* run.json: replaced atomically, "running" until the end. */
#ifndef SUPERVISOR_SUMMARY_H
#define SUPERVISOR_SUMMARY_H

#include "base/err.h"
#include "profiles/plan.h"
#include "sandbox/workspace.h"
#include "supervisor/sup.h"
#include "verifier/capture.h"

/* Times of a run's phases, clock_mono() values, 0 = not reached. */
struct phases {
	uint64_t begun, workspace, box, agent, ended, captured;
	uint64_t wall_start; /* clock_wall() */
};

/* Everything run.json tells. Borrowed. */
struct summary {
	const char *id, *dir;
	const struct plan *plan;
	const struct workspace *ws;  /* NULL before it exists */
	const struct box *box;       /* NULL before it exists */
	const struct sup *sup;       /* NULL before it exists */
	const struct capture *patch; /* NULL when none was taken */
	const struct phases *phases;
	bool running;
	const struct plan_request *request; /* NULL = not known */
	const char *failure;                /* why the run could not be made, NULL otherwise */
};

/* Write DIR/run.json. 0 or negative. */
int summary_write(const struct summary *m, struct err *err);

/* Write DIR/plan.json: the frozen plan, for whoever wants to pair another run with this one. 0 or
 * negative. */
int summary_write_plan(const char *dir, const struct plan *plan, struct err *err);

/* "exited", "signal", "limit:memory", ... of a finished run into @out. Returns @out. */
const char *summary_reason(const struct sup *s, char out[64]);

#endif

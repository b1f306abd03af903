/* One run from plan to run.json: workspace, box, loop, patch, teardown, in every case in this order. */
#ifndef SUPERVISOR_RUN_H
#define SUPERVISOR_RUN_H

#include <stdbool.h>

#include "base/err.h"
#include "profiles/plan.h"

struct forkpoint;
struct plan_request;

struct run_options {
	const char *out;   /* run directory, NULL = below $XDG_STATE_HOME/proctor/runs */
	bool quiet_output; /* the agent's output goes to the logs only */
	bool no_cgroup;
	bool no_tty;                        /* never a pty */
	const char *key;                    /* of the model's endpoint, NULL none; borrowed */
	const char *simulator_key;          /* of the simulator's, NULL none; borrowed */
	struct forkpoint *fork;             /* NULL = this run continues no other; borrowed */
	const struct plan_request *request; /* what the plan was made of, for run.json; NULL = not
					     * known; borrowed */
};

struct run_outcome {
	char *dir;        /* owned: absolute run directory */
	char reason[64];  /* "exited", "limit:wall", ... */
	int status;       /* the agent's wait status; -1 when it never ran */
	struct err error; /* why it ended with the reason "error"; otherwise empty */
	uint64_t wall_ns, touches, fired, processes;
};

/* Carry out @plan. 0 when the run was made (whatever the agent did; one that proctor itself had to break off is told
 * by the outcome's error), negative when it could not be: then run.json, where it exists, says why. Free with run_outcome_done(). */
int run_execute(const struct plan *plan, const struct run_options *opt, struct run_outcome *ret,
		struct err *err);

/* Free. */
void run_outcome_done(struct run_outcome *o);

#endif

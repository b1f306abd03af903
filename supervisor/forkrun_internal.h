/* A record made ready to be continued: shared by forkrun*.c only. */
#ifndef SUPERVISOR_FORKRUN_INTERNAL_H
#define SUPERVISOR_FORKRUN_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "supervisor/forkrun.h"

/* What run.json's "request" says the plan was made of. */
struct forkrun_seed {
	char *cwd, *task, *agent, *profile, *scenario, *mode, *model, *simulator;
	uint64_t rounds;
	struct strv set, argv;
};

/* A record and a position in it. Owns everything; {0} is empty. */
struct forkrun_record {
	char *dir;   /* absolute */
	char *steps; /* its steps.jsonl */
	struct forkrun_seed seed;
	struct rundir rd;
	struct position at;
	uint64_t
		answers; /* of any purpose that come before the fork, in the order of the requests */
	uint64_t prefix[LIMIT_MAX]; /* what they used, see struct forkpoint */
};

/* Read the record of @req and find its position. 0, or negative: ERR_INPUT for a run that cannot be
 * continued, saying why. Free with forkrun_record_done(). */
int forkrun_record(const struct forkrun_request *req, struct forkrun_record *ret, struct err *err);

/* Free; {0} is fine. */
void forkrun_record_done(struct forkrun_record *r);

/* The plan of @arm: the record's request with the record's answers up to the fork, then the arm's model;
 * limits count from the fork. It is held against the record's plan.json: nothing but model, limits and
 * scenario may differ. 0 or negative. Free with plan_free(). */
int forkrun_plan(const struct forkrun_request *req, const struct forkrun_record *r,
		 enum fork_arm arm, struct plan **ret, struct err *err);

#endif

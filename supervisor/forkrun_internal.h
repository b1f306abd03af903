/* A record made ready to be continued: shared by forkrun*.c only. */
#ifndef SUPERVISOR_FORKRUN_INTERNAL_H
#define SUPERVISOR_FORKRUN_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "supervisor/checkpointfile.h"
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
	/* of a session that is taken up again */
	char *store;                   /* its contents */
	struct checkpoint_state state; /* the box at the fork */
	struct strv left;              /* what of it is no file */
	char *first_dir; /* of the arm whose first request the other arm's must be, NULL = none yet */
	uint64_t first_call; /* its number there */
};

/* Read the record of @req and find its position. 0, or negative: ERR_INPUT for a run that cannot be
 * continued, saying why. Free with forkrun_record_done(). */
int forkrun_record(const struct forkrun_request *req, struct forkrun_record *ret, struct err *err);

/* --resume native: read the checkpoint at the position. 0, or -ERR_INPUT: there is none, or it holds what does not
 * come back with files (named), and req->leave_behind is not set. */
int forkrun_resume_read(const struct forkrun_request *req, struct forkrun_record *r,
			struct err *err);

/* Make of @p, the plan of an arm, that of a run which takes the session up. 0, or -ERR_INPUT with the agents that can
 * do that when this one cannot. */
int forkrun_resume_plan(const struct forkrun_record *r, struct plan *p, struct err *err);

/* The --model of @arm, answered by @then behind the comparison of its first request. Caller frees. */
char *forkrun_resume_model(const struct forkrun_record *r, const char *then);

/* Arm @a was made: the other one must begin as it did, and what stands beside its conversation is held against the
 * record. */
void forkrun_resume_made(struct forkrun_record *r, struct forkrun_arm *a);

/* Free; {0} is fine. */
void forkrun_record_done(struct forkrun_record *r);

/* The plan of @arm: the record's request with the record's answers up to the fork, then the arm's model;
 * limits count from the fork. It is held against the record's plan.json: nothing but model, limits and
 * scenario may differ. 0 or negative. Free with plan_free(). */
int forkrun_plan(const struct forkrun_request *req, const struct forkrun_record *r,
		 enum fork_arm arm, struct plan **ret, struct err *err);

#endif

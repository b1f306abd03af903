/* Continuations of a recorded run from one position: the clean arm, to which nothing happens, and the
 * shifted arm, which gets the update. Both are runs of their own whose beginning is the record's:
 * its answers are given again, every request and every state of the workspace is compared; or the files
 * of the step are restored and the agent takes its session up again, and its first request is compared. */
#ifndef SUPERVISOR_FORKRUN_H
#define SUPERVISOR_FORKRUN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/err.h"
#include "profiles/profile.h"
#include "supervisor/forkpoint.h"
#include "verifier/grade.h"

struct janitor;

/* Tokens that a continuation may use by default (SWE-Shift). */
#define FORKRUN_BUDGET 1000000u

enum { FORKRUN_ARMS = 2 };

/* Strings are borrowed. */
struct forkrun_request {
	const char *record;                 /* run directory */
	const char *position;               /* see position_find() */
	const char *scenario;               /* file; NULL = the record's */
	const char *task, *agent, *profile; /* NULL = as the record was made */
	/* By enum fork_arm: who answers behind the fork, as --model takes it; a script: begins with its first
	 * turn there. NULL = the record's own source, when that is live. */
	const char *model[FORKRUN_ARMS];
	bool skip[FORKRUN_ARMS]; /* this arm is not made */
	const char *mode;        /* scenario's mode for both arms, NULL = as it says */
	const char *const *set;  /* --set in addition to the record's, NULL-terminated or NULL */
	const char *out;         /* directory of the pair: OUT/clean, OUT/shifted, OUT/pair.json */
	const char *cwd;         /* absolute */
	uint64_t budget;         /* tokens of a continuation, 0 = FORKRUN_BUDGET */
	uint64_t repeat;         /* number of the pair, 0 = 1 */
	const char *ladder;      /* "A0" ... "A5", NULL = "A0" */
	bool resume; /* the agent takes its session up again at the step's files, no prefix is given */
	bool leave_behind;            /* although what is no file is missing then */
	bool no_grade;                /* neither graded nor judged */
	const struct profile *grader; /* of the grading boxes, NULL = shipped "verify" */
	const char *key;              /* of the endpoint, NULL none */
	struct janitor *janitor;      /* of the grading, may be NULL */
	bool no_cgroup;
};

/* One arm. Owns its texts. */
struct forkrun_arm {
	bool made;       /* there is a run directory */
	char *dir;       /* absolute */
	char *end;       /* "exited", "limit:total_tokens", "error", ... */
	char *differs;   /* first difference to the record, NULL = none */
	char *failure;   /* why the run could not be made or graded, NULL */
	bool reached;    /* the fork */
	bool updated;    /* an intervention was applied behind it */
	uint64_t tokens; /* of the continuation */
	char *context; /* resumed: what of the first request beside the conversation is not as recorded */
	uint64_t paid; /* before the fork: side calls that the record did not have */
	uint64_t commands, wall_ns;
	bool graded, judged;
	enum verdict_kind verdict;
	char *reason; /* of the verdict */
	bool strict_valid, success;
	char *invalid; /* first row of validity that does not hold */
};

/* A pair. {0} is none. */
struct forkrun_pair {
	struct position at;
	char *scenario, *family, *instance_id, *agent, *model, *record; /* owned */
	uint64_t budget, repeat;
	char *ladder; /* owned */
	bool resumed;
	struct strv left; /* resumed: what of the record's state was left behind */
	struct forkrun_arm arm[FORKRUN_ARMS];
	uint64_t prefix_tokens; /* of the record's answers before the fork: given again, not paid */
	bool valid;
	char *reason; /* owned: "prefix", "update", "infra", "run", "protocol"; NULL = valid */
	char *detail; /* owned: why, NULL = valid */
	bool paired;  /* both arms succeeded */
};

/* Make both arms (or one), grade and judge them, and write OUT/pair.json. 0 for every outcome, also an invalid
 * pair; negative when the record cannot be continued: -ERR_USAGE, -ERR_INPUT (no model record, changed
 * files, no such position: the text names it). Free with forkrun_done(). */
int forkrun_pair(const struct forkrun_request *req, struct forkrun_pair *ret, struct err *err);

/* The positions that --at @text names ("0.5,start", "all" = 0.1 to 0.9) into @ret. 0 or -ERR_USAGE. */
int forkrun_positions(const char *text, struct strv *ret, struct err *err);

/* pair.json text ("proctor.pair/1"). */
void forkrun_json(const struct forkrun_pair *p, struct buf *out);

/* Free; {0} is fine. */
void forkrun_done(struct forkrun_pair *p);

#endif

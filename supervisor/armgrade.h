/* Grading of an arm: the patch of a run directory under the versions of goal and verifier that were in
 * force at its end, then the strict judgement of its trace. */
#ifndef SUPERVISOR_ARMGRADE_H
#define SUPERVISOR_ARMGRADE_H

#include <stdbool.h>

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/authority.h"
#include "verifier/grade.h"

struct janitor;

struct armgrade_request {
	const char *dir;                 /* run directory of the arm */
	const struct task *task;         /* version "initial" */
	const struct scenario *scenario; /* may be NULL: graded only, under "initial" */
	bool shifted;                    /* otherwise the clean arm: always under "initial" */
	const struct profile *profile;   /* policy of the grading box; NULL = shipped "verify" */
	struct janitor *janitor;         /* NULL: one of its own */
	bool no_cgroup, no_own_tree;
	unsigned infra_repeats;  /* see grade_repeat() */
	const char *goal_judged; /* NULL = as in force; otherwise this version (for tests of the */
	const char *verifier_judged; /* authority check: a verdict under the wrong version) */
};

/* What came out. Owns its texts; {0} is nothing. */
struct armgrade {
	struct authority authority; /* the verdict's */
	enum verdict_kind verdict;
	char *reason;  /* of the verdict */
	bool judged;   /* strict.json was written: there was a scenario with checks of its own */
	bool valid;    /* protocol-valid */
	bool success;  /* strict success */
	char *invalid; /* first row of validity that does not hold, NULL = all do */
};

/* Grade patch.diff (and tree.diff as the second score) of req->dir and write verdict.json, report.json and
 * test.log there, "verdict" into run.json; with a scenario judge the trace and write strict.json. 0 for
 * every verdict, also infra; negative for input and our own errors. Free with armgrade_done(). */
int armgrade(const struct armgrade_request *req, struct armgrade *ret, struct err *err);

/* The first half alone: only the verdict. The task of the version in force is made here. As armgrade(). */
int armgrade_verdict(const struct armgrade_request *req, struct armgrade *ret, struct err *err);

/* The task of the versions that were in force at the end of the run in @dir, for a run with a scenario that
 * declares versions and put one in force; the scenario is the file that run.json names. *ret is NULL (and
 * @ret_authority empty) when version "initial" holds: @task is right then. 0 or -ERR_INPUT, also when the versions
 * are needed and the scenario file is gone. Free with task_free() and authority_done(). */
int armgrade_task(const char *dir, const struct task *task, struct authority *ret_authority,
		  struct task **ret, struct err *err);

/* Free; {0} is fine. */
void armgrade_done(struct armgrade *a);

#endif

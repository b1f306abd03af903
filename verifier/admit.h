/* Is a task fit for use? What its author says of it, tried: the reference solves it, nothing and the usual attacks on
 * grading do not, and what the agent could find in its box is not the answer.
 *
 * Checks, in this order, each a row of the result:
 *   reference    the reference is resolved in each of N fresh gradings
 *   empty        the empty patch never is; FAIL_TO_PASS fails and PASS_TO_PASS passes on the base
 *   flaky        no listed test comes out both ways in gradings of the same patch
 *   hacks        none of the attacks of verifier/hacks.h is resolved
 *   calibration  the task's timeout leaves room above what the reference took
 *   history      the workspace holds the base's history and nothing else
 *   network      nothing gets out of the agent's box, and its own loopback works
 *
 * A run that failed only by tests that are flaky is the business of "flaky" alone, so that the row that says no
 * is the one to mend. */
#ifndef VERIFIER_ADMIT_H
#define VERIFIER_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"
#include "profiles/task.h"
#include "verifier/grade.h"

struct janitor;

#define ADMIT_LINES_MAX   200u /* of evidence of one check; the rest is counted in one last line */
#define ADMIT_INFRA_AGAIN 2u   /* gradings that ended infra are repeated so often */
#define ADMIT_FACTOR      5u   /* suggested limits: so many times what the reference used */
#define ADMIT_FACTOR_MAX  1000u

enum admit_state { ADMIT_PASSED, ADMIT_NOTED, ADMIT_SKIPPED, ADMIT_FAILED };

/* "passed", "noted" (passed, with something to know), "skipped", "failed". Static. */
const char *admit_state_name(enum admit_state s);

struct admit_check {
	const char *name; /* static */
	enum admit_state state;
	char *found;          /* owned, one line */
	struct strv evidence; /* one line each */
};

/* What tests used: wall and CPU in ns, memory, disk and output in bytes, tasks alive at once. 0 = not known. */
struct admit_use {
	uint64_t wall, cpu, memory, disk, output, tasks;
};

/* One grading that was done for a check. */
struct admit_grading {
	const char *what;  /* static: "reference", "changed", "empty", "hack" */
	const char *hack;  /* static: name of the attack, NULL for the others */
	const char *tries; /* static: what the attack tries */
	unsigned run;      /* from 1 */
	enum verdict_kind kind;
	char *reason; /* owned */
	bool applied, complete;
	bool weak; /* an attack was resolved, and docs/grading.md says that it can be where results come from the log */
	const char *channel; /* static: as struct verdict_channel */
	struct strv tamper;  /* rows, see replay_tamper() */
	struct admit_use use;
};

struct admit_result {
	bool admitted;
	struct admit_check *check; /* owned, one for each row */
	size_t n;
	struct admit_grading *grading; /* owned, in order */
	size_t n_gradings, cap;
	struct strv
		take_out; /* listed tests to take out of the task: flaky, or wrong on the base */
	struct admit_use most; /* of the reference's runs */
	struct admit_use
		suggest; /* limits; wall: test.timeout. All 0 when the reference was never resolved */
	unsigned repeats, factor;
};

struct admit_request {
	const struct task *task;
	const struct profile *profile; /* of gradings: "verify" */
	const struct profile *agent;   /* of the agent's box: "agent" */
	unsigned repeats;              /* 0 = 1 */
	unsigned factor;               /* 0 = ADMIT_FACTOR */
	bool strict;                   /* a weak attack that is resolved counts, too */
	bool no_cgroup;
	struct janitor *janitor; /* may be NULL */
	/* Given the output of each grading and probe ("reference.1", "hack.NAME"), to keep it; may be NULL. 0 or
	 * negative. */
	int (*log)(void *arg, const char *name, const struct buf *log, struct err *err);
	void *arg;
};

/* Carry all checks out. 0 with *ret for every outcome, negative for our own errors. Free with admit_done(). */
int admit_run(const struct admit_request *req, struct admit_result *ret, struct err *err);

/* Free; {0} is fine. */
void admit_done(struct admit_result *r);

/* admission.json text ("proctor.admission/1"). */
void admit_json(const struct task *task, const struct admit_result *r, struct buf *out);

/* The task file @text of @task with the suggestions of @r in the place of what it says (test.timeout,
 * environment.limits, without r->take_out), file names made absolute. Comments are lost. 0, or -ERR_INPUT when it
 * cannot be read. */
int admit_task(const struct task *task, const char *text, size_t n, const struct admit_result *r,
	       struct buf *out, struct err *err);

#endif

/* Grading: a patch on a pristine tree in a fresh box, hidden tests put back, result read.
 *
 * The rule. Resolved: every FAIL_TO_PASS and PASS_TO_PASS test passed (status passed or xpass), the
 * reader calls its results complete, and the tests ended by themselves. A listed test that is
 * missing, skipped or xfail has not passed. The command's exit status need not be 0: tests that
 * nobody listed may fail; a reader that cannot tell a crash from that marks its results
 * incomplete. When a listed name was reported more than once ("name", "name #2") and the
 * repetition is not listed itself, none of them may have failed: an early forged line does not
 * hide the real one.
 *
 * Unresolved: anything else the patch can cause, also a patch that does not apply, a timeout, too
 * much output, more CPU time, memory or disk than the profile allows. Invalid: the task is at
 * fault (no FAIL_TO_PASS, its test patch does not apply to its base). Infra: seen from outside the box only (it could not be
 * built, the kernel killed for memory without a limit of ours). */
#ifndef VERIFIER_GRADE_H
#define VERIFIER_GRADE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"
#include "profiles/task.h"
#include "triggers/apply.h"
#include "verifier/match.h"
#include "verifier/testlog.h"

struct janitor;

#define GRADE_LOG_MAX    (64u << 20) /* bytes of test output; more is a failure */
#define GRADE_REPORT_MAX (64u << 20) /* bytes of the runner's report file */
#define GRADE_PATCHES    33          /* patches of one request */

enum verdict_kind { VERDICT_RESOLVED, VERDICT_UNRESOLVED, VERDICT_INVALID, VERDICT_INFRA };

/* "resolved", "unresolved", "invalid", "infra". */
const char *verdict_name(enum verdict_kind v);

struct verdict_test {
	char *name;
	bool f2p;                /* from FAIL_TO_PASS, otherwise PASS_TO_PASS */
	enum test_status status; /* TEST_MISSING when not in the log */
	uint64_t from, to;
	enum match_how how;
	/* With test.match swebench-compat only: */
	bool compat; /* passed and rule are set */
	bool passed;
	enum match_rule rule;
	struct match exact; /* what exact mode says */
	const char *why;    /* static: why that differs, NULL when it does not */
};

/* A verdict by test.match swebench-compat: the exact one beside it. */
struct verdict_match {
	const char *reader;       /* static: name of the row that the results come from */
	const char *exact_reader; /* static; NULL: no reader for such logs, so no exact verdict */
	enum verdict_kind exact_kind;
	char *exact_reason; /* owned */
	bool exact_complete;
	char *exact_note;   /* owned, may be NULL */
	size_t differences; /* tests that passed in one of the two only */
};

/* What a report.json beside a log says (grade_log()). */
struct verdict_published {
	bool resolved;
	size_t tests; /* listed there and in the task */
	/* Names of which the verdict says otherwise. Tests of the task that it does not list are no
	 * difference. */
	struct strv differs;
};

/* Where the results came from, see docs/grading.md. */
struct verdict_channel {
	const char *kind; /* static: "log" or the witness' name; NULL = the tests were not run */
	char *who;        /* owned: the runner and its version, NULL = unknown */
	bool complete;
	uint64_t records,
		disagreements; /* that arrived; listed tests of which the log says otherwise */
	char *note; /* owned: why there is no witness although one fits, NULL otherwise */
};

struct verdict {
	enum verdict_kind kind;
	char *reason; /* owned, one line */
	struct verdict_test *tests;
	size_t n_tests;
	bool patch_exists, patch_applied;
	unsigned patches_applied; /* how many of the request's patches went on, in order */
	const char *method;       /* static: "exact", ... NULL when not applied */
	struct strv
		dropped; /* paths of the patch that were left out, most of them the tests' own */
	struct verdict_channel channel;
	struct strv tamper; /* "KIND:ACTION PATH", see replay_tamper() */
	int exit_status;    /* of the test command, -1 when not run */
	bool complete;      /* what the reader said */
	char *note;         /* owned: why not complete, NULL otherwise */
	uint64_t wall_ns, cpu_ns, max_mem;
	uint64_t max_disk,
		max_tasks;   /* bytes written; alive at once, as far as was looked; 0 = not known */
	struct verdict *own; /* owned: the agent's own tree graded (verifier/owntree.h), or NULL */
	bool own_same;       /* the agent's own tree is what was graded */
	unsigned infra_repeats; /* gradings that ended infra before this one, see grade_repeat() */
	const char *goal,
		*verifier; /* borrowed: versions that were in force (verifier/authority.h); NULL = none
				      * were asked for */
	char *stages; /* owned: JSON text of a grading in three stages (verifier/stages.h), or NULL */
	struct verdict_match *match;         /* owned; NULL in exact mode */
	struct verdict_published *published; /* owned; NULL when there is none */
	char digest[65];                     /* SHA-256 over task digest, patch digest, statuses */
	struct buf log;                      /* test output */
};

struct grade_request {
	const struct task *task;
	const struct profile *profile; /* "verify" by default; no-network always */
	/* Diff texts applied in order, ended by NULL; [0] NULL = empty patch. */
	const char *patches[GRADE_PATCHES + 1];
	struct janitor *janitor; /* may be NULL */
	bool no_cgroup;
	bool own_tree; /* the patches make the agent's own tree: nothing but the tests' files is left
			* out or put back, see verifier/owntree.h */
	enum apply_method
		most; /* highest step of the ladder allowed for the patches; APPLY_EXACT (0)
				 * for what was captured from this very tree */
	/* Given all results of the reader, listed or not, once the tests have run; may be NULL. They
	 * are borrowed for the call. */
	void (*results)(void *arg, const struct test_results *r);
	void *results_arg;
};

/* Run the tests on base + patches + hidden tests; a task with test.stages is graded by stages_run(). 0 with *ret filled for every outcome that is a
 * verdict (also infra); negative only for our own or input errors. A patch that does not apply is
 * unresolved ("patch does not apply"). Free with verdict_done(). */
int grade_run(const struct grade_request *req, struct verdict *ret, struct err *err);

/* As grade_run(), and again while the verdict is infra, at most @repeats times more. What made a
 * grading infra was seen outside the box, so trying again cannot help a patch; how often it was needed is
 * counted in ret->infra_repeats. */
int grade_repeat(const struct grade_request *req, unsigned repeats, struct verdict *ret,
		 struct err *err);

/* A log that somebody else's harness kept. */
struct grade_log_request {
	const struct task *task;
	const char *
		log; /* stdout and stderr of the test command, perhaps with what came before and behind */
	size_t log_len;
	int exit_status; /* of the test command when no marker in the log tells it; -1 = not known */
	const char *report; /* text of SWE-bench's report.json for it, NULL when there is none */
	size_t report_len;
};

/* Decide from an existing log; nothing is run, so whether the log is honest is not known, and the verdict is never
 * infra. An exit status that is not known contradicts nothing; a reader that reads nothing but the exit
 * status is then refused. 0 with *ret filled (free with verdict_done()), or
 * -ERR_INPUT for a task or a report that cannot be used. */
int grade_log(const struct grade_log_request *req, struct verdict *ret, struct err *err);

/* grade_repeat() with a janitor of its own (req->janitor counts for nothing): for callers that know no
 * sandbox, such as one of many processes that grade. */
int grade_alone(const struct grade_request *req, unsigned repeats, struct verdict *ret,
		struct err *err);

/* Did @t pass, as its verdict counts it? */
bool verdict_passed(const struct verdict_test *t);

/* Free. */
void verdict_done(struct verdict *v);

/* SHA-256 of everything in @task that decides a verdict: base commit, command, reader, timeout,
 * hidden paths, test patch, lists. Two verdicts compare only under the same one. Returns @out. */
char *verdict_task_digest(const struct task *task, char out[65]);

/* verdict.json text ("proctor.verdict/1"). @plan_digest may be NULL. */
void verdict_json(const struct task *task, const struct verdict *v, const char *plan_digest,
		  struct buf *out);

/* SWE-bench's report.json text: {instance_id: {patch_is_None, patch_exists,
 * patch_successfully_applied, resolved, tests_status}}. */
void verdict_swebench(const struct task *task, const struct verdict *v, struct buf *out);

#endif

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
		dropped;    /* paths of the patch that were left out, most of them the tests' own */
	struct strv tamper; /* "kind path" */
	int exit_status;    /* of the test command, -1 when not run */
	bool complete;      /* what the reader said */
	char *note;         /* owned: why not complete, NULL otherwise */
	uint64_t wall_ns, cpu_ns, max_mem;
	char digest[65]; /* SHA-256 over task digest, patch digest, statuses */
	struct buf log;  /* test output */
};

struct grade_request {
	const struct task *task;
	const struct profile *profile; /* "verify" by default; no-network always */
	/* Diff texts applied in order, ended by NULL; [0] NULL = empty patch. */
	const char *patches[GRADE_PATCHES + 1];
	struct janitor *janitor; /* may be NULL */
	bool no_cgroup;
	enum apply_method
		most; /* highest step of the ladder allowed for the patches; APPLY_EXACT (0)
				 * for what was captured from this very tree */
};

/* Run the tests on base + patches + hidden tests. 0 with *ret filled for every outcome that is a
 * verdict (also infra); negative only for our own or input errors. A patch that does not apply is
 * unresolved ("patch does not apply"). Free with verdict_done(). */
int grade_run(const struct grade_request *req, struct verdict *ret, struct err *err);

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

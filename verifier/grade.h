/* Grading: a patch on a pristine tree in a fresh box, hidden tests put back, result read. */
#ifndef VERIFIER_GRADE_H
#define VERIFIER_GRADE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"
#include "profiles/task.h"
#include "verifier/testlog.h"

struct janitor;

enum verdict_kind { VERDICT_RESOLVED, VERDICT_UNRESOLVED, VERDICT_INVALID, VERDICT_INFRA };

/* "resolved", "unresolved", "invalid", "infra". */
const char *verdict_name(enum verdict_kind v);

struct verdict_test {
	char *name;
	bool f2p;	      /* from FAIL_TO_PASS, otherwise PASS_TO_PASS */
	enum test_status status; /* TEST_MISSING when not in the log */
	uint64_t from, to;
};

struct verdict {
	enum verdict_kind kind;
	char *reason;	      /* owned, one line */
	struct verdict_test *tests;
	size_t n_tests;
	bool patch_exists, patch_applied;
	const char *method;   /* static: "exact", ... NULL when not applied */
	struct strv dropped;  /* paths of the patch that belong to the hidden tests */
	struct strv tamper;   /* "kind path" */
	int exit_status;      /* of the test command, -1 when not run */
	uint64_t wall_ns, cpu_ns, max_mem;
	char digest[65];      /* SHA-256 over task digest, patch digest, statuses */
	struct buf log;	      /* test output */
};

struct grade_request {
	const struct task *task;
	const struct profile *profile; /* "verify" by default; no-network always */
	const char *patches[3]; /* diff texts applied in order (NULL-terminated list); [0] NULL = empty
				 * patch */
	struct janitor *janitor; /* may be NULL */
	bool no_cgroup;
};

/* Run the tests on base + patches + hidden tests. 0 with *ret filled for every outcome that is a
 * verdict (also infra); negative only for our own or input errors. A patch that does not apply is
 * unresolved ("patch does not apply"). Free with verdict_done(). */
int grade_run(const struct grade_request *req, struct verdict *ret, struct err *err);

/* Free. */
void verdict_done(struct verdict *v);

/* verdict.json text ("proctor.verdict/1"). @plan_digest may be NULL. */
void verdict_json(const struct task *task, const struct verdict *v, const char *plan_digest,
		  struct buf *out);

/* SWE-bench's report.json text: {instance_id: {patch_is_None, patch_exists,
 * patch_successfully_applied, resolved, tests_status}}. */
void verdict_swebench(const struct task *task, const struct verdict *v, struct buf *out);

#endif

/* Grading in three stages, as Multi-SWE-bench does: the tests run on the base, on the base with the test patch, and
 * on the base with test patch and candidate. Each test has a status in each stage (PASS, FAIL, SKIP, NONE)
 * and belongs to a class by the last two: p2p, f2p, s2p, n2p.
 *
 * Resolved: everything that grade.h asks for in the last stage (every listed test passed, complete), and
 * Multi-SWE-bench's rules over all tests, listed or not: the last stage has results, no test that passed
 * before the patch fails with it, at least one test came to pass, and no test that passed on the base, and
 * was skipped or absent with the test patch, fails with the candidate. That harness also asks for each listed
 * test to be in the class it was recorded in, and takes the first two stages from the record; here they
 * are run, and a test that passes from another class than the recorded one is named
 * ("class_changed") and counts as passed.
 *
 * Mapping: passed and xpass are PASS; failed and error are FAIL; skipped and xfail are SKIP. */
#ifndef VERIFIER_STAGES_H
#define VERIFIER_STAGES_H

#include "base/buf.h"
#include "base/err.h"
#include "verifier/grade.h"

#define STAGES_REPORT_MAX (32u << 20) /* bytes of the report's JSON text */

/* As grade_run(), for a task with test.stages: log, tests and statuses of the last stage, resources of all, and
 * ret->stages filled. Infra in any stage is infra. */
int stages_run(const struct grade_request *req, struct verdict *ret, struct err *err);

enum stage { STAGE_RUN, STAGE_TEST, STAGE_FIX, STAGES };

/* NONE is 0: what was not reported. */
enum stage_status { STAGE_NONE, STAGE_PASS, STAGE_FAIL, STAGE_SKIP, STAGE_STATUSES };

/* "NONE", "PASS", "FAIL", "SKIP". */
const char *stage_status_name(enum stage_status s);

struct stage_test {
	char *name;
	enum stage_status s[STAGES];
};

/* What the tests came to in the three stages. {0} is empty. */
struct stages_table {
	struct stage_test *v; /* owned; after stages_sort() by name, one entry each */
	size_t n, cap;
};

/* Note the results of a stage. */
void stages_add(struct stages_table *t, enum stage stage, const struct test_results *r);

/* Bring the entries of each name together. Before any look at the table. */
void stages_sort(struct stages_table *t);

/* Which rule the table breaks, as one line that the caller frees; NULL = none. */
char *stages_judge(const struct stages_table *t);

/* Multi-SWE-bench's report as JSON text (escaped as outputs are): "valid", "error_msg" (@error, NULL = valid),
 * "fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests" (name to {run, test, fix}), "run_result",
 * "test_patch_result", "fix_patch_result" (counts and names), and ours: "class_changed", the
 * listed tests that passed from another class than @task says. Too large for a file: the counts alone, with
 * "truncated": true. */
void stages_report(const struct task *task, const struct stages_table *t, const char *error,
		   struct buf *out);

/* Free. */
void stages_done(struct stages_table *t);

#endif

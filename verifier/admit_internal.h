/* Between the checks of an admission. */
#ifndef VERIFIER_ADMIT_INTERNAL_H
#define VERIFIER_ADMIT_INTERNAL_H

#include "verifier/admit.h"
#include "verifier/testlog.h"

/* Statuses of one patch's gradings. Only complete ones count: what a run that was cut off lacks tells nothing of a
 * test. */
struct admit_seen {
	size_t n;                /* listed tests */
	enum test_status *first; /* owned: of the first complete run */
	bool *flaky;             /* owned: another run said otherwise */
	unsigned runs;           /* complete ones */
	struct test_results all; /* of the first complete run, listed or not */
	struct test_results odd; /* a set: names whose status differs, listed or not */
};

/* Take a run's verdict and all results of its reader (NULL: none). */
void admit_seen_add(struct admit_seen *s, const struct verdict *v, const struct test_results *all);

/* Would @v be resolved if the tests that are flaky by @s had passed? */
bool admit_explained(const struct admit_seen *s, const struct verdict *v);

/* Free. {0} is fine. */
void admit_seen_done(struct admit_seen *s);

/* Copy of @r's names and statuses into empty @to. */
void admit_results_copy(struct test_results *to, const struct test_results *r);

/* Keep the larger of each value in @most. */
void admit_use_most(struct admit_use *most, const struct admit_use *u);

/* Limits for a task whose reference used @most: factor times that, at least what is usual, rounded up to whole
 * amounts. Wall time: twice the factor, since busy machines need two to four times what a quiet one does. */
struct admit_use admit_suggest(const struct admit_use *most, unsigned factor);

/* Judge the task's present limits by @r->most into @c. */
void admit_calibrate(const struct task *task, const struct admit_result *r, struct admit_check *c);

/* Set state and found (printf-like) when @state is worse than what is there. */
void admit_say(struct admit_check *c, enum admit_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Add a line of evidence (printf-like). */
void admit_line(struct admit_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the workspace of the agent holds, seen from outside and by git in its box. 0 or negative. */
int admit_history(const struct admit_request *req, struct admit_check *c, struct err *err);

/* Whether the fix lies about in the root file system: lines of evidence "fix-installed PATH". 0 or negative. */
int admit_leak(const struct admit_request *req, const char *patch, struct admit_check *c,
	       struct err *err);

/* What gets out of the agent's box. 0 or negative. */
int admit_network(const struct admit_request *req, struct admit_check *c, struct err *err);

/* Run @command in the agent's box on the base tree, with @helper (a file of the host, NULL = none) at
 * ADMIT_HELPER. Its output in @log, its exit status in *ret_status: -1 when it was stopped. 0 or negative. */
#define ADMIT_HELPER "/run/grade/probe"
int admit_in_box(const struct admit_request *req, const char *command, const char *helper,
		 struct buf *log, int *ret_status, struct err *err);

#endif

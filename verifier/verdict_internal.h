/* From results to a verdict: pure, so that tables can test it. */
#ifndef VERIFIER_VERDICT_INTERNAL_H
#define VERIFIER_VERDICT_INTERNAL_H

#include "verifier/grade.h"

struct grade_end;

/* Set kind and reason (printf-like, control bytes and newlines become blanks). The first call
 * wins: later ones change nothing. */
void verdict_set(struct verdict *v, enum verdict_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* List the task's tests with their statuses in @r (NULL: all missing) into v->tests. */
void verdict_fill(struct verdict *v, const struct task *task, const struct test_results *r);

/* Decide by v->tests, v->complete and @end (NULL: the command was not run). */
void verdict_decide(struct verdict *v, const struct task *task, const struct profile *profile,
		    const struct grade_end *end);

/* Fill v->digest: task digest, the patches' digests (@patches ends with NULL), statuses in order. */
void verdict_digest(struct verdict *v, const struct task *task, const char *const *patches);

#endif

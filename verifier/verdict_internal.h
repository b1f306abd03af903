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

/* The readers of a task. */
struct verdict_readers {
	const struct testlog_reader *exact; /* NULL: nothing reads such a log exactly */
	const struct testlog_reader
		*compat; /* a row of compat.h; NULL: results are the exact one's */
};

/* Find them by test.reader and test.match. 0; or -ERR_INPUT: there is no such reader (its nearest name is
 * said), or none for exact mode. */
int verdict_readers(const struct task *task, struct verdict_readers *ret, struct err *err);

/* Any of the two; NULL when @r is empty. */
const struct testlog_reader *verdict_reader(const struct verdict_readers *r);

/* For test.match swebench-compat, in the place of verdict_decide(): v->tests holds what exact mode says, @exact are
 * its results. Reads @in as SWE-bench's harness does and decides so, with the exact verdict beside it in
 * v->match. 0, or what a reader returns. */
int verdict_compat(struct verdict *v, const struct task *task,
		   const struct verdict_readers *readers, const struct testlog_input *in,
		   const struct test_results *exact, const struct profile *profile,
		   const struct grade_end *end, struct err *err);

/* Fill v->digest: task digest, the patches' digests (@patches ends with NULL), statuses in order. */
void verdict_digest(struct verdict *v, const struct task *task, const char *const *patches);

#endif

/* Between grading and the result channel: which witness stands beside the runner, what the box needs for
 * it, and whose results count. */
#ifndef VERIFIER_GRADE_CHANNEL_INTERNAL_H
#define VERIFIER_GRADE_CHANNEL_INTERNAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "profiles/task.h"
#include "sandbox/box.h"
#include "verifier/channel.h"
#include "verifier/witness.h"

#define GRADE_CHANNEL_BINDS 2

struct verdict;

/* Life: {.ch.fd = -1, .box_end = -1} -> grade_channel_open() -> grade_channel_dress() ->
 * grade_channel_decide() -> grade_channel_done(). */
struct grade_channel {
	const struct witness *witness; /* NULL = results are read from the log */
	bool required;                 /* the task names it */
	struct channel ch;
	int box_end;      /* the box's end until it is started, then -1 */
	char *dir, *exec; /* owned: host paths of the witness files */
	char *why;        /* owned: why there is no witness although one fits; NULL */
};

/* Choose the witness for @task and make its channel. 0 (also when there is none) or negative. */
int grade_channel_open(struct grade_channel *gc, const struct task *task, struct err *err);

/* What the box gets: variables into @env, at most GRADE_CHANNEL_BINDS rows into @binds. Returns how
 * many binds. Nothing without a witness. */
size_t grade_channel_dress(const struct grade_channel *gc, struct strv *env,
			   struct box_bind *binds);

/* The box is dead and @log is what its output says. Fills v->tests, complete, note, channel, tamper:
 * from the channel when a witness spoke, else from @log. */
void grade_channel_decide(struct grade_channel *gc, const struct task *task,
			  struct test_results *log, struct verdict *v);

/* Free. */
void grade_channel_done(struct grade_channel *gc);

#endif

/* Triggers that wait for a point of the run instead of a touch: number of commands or model calls,
 * progress, time, another intervention. Counts only; the engine asks and fires. */
#ifndef TRIGGERS_SCHEDULE_H
#define TRIGGERS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "profiles/scenario.h"
#include "triggers/rounds.h"

struct schedule {
	uint64_t commands; /* begun so far */
	uint64_t calls;    /* model calls so far */
	uint64_t ns;       /* since the run began */
	double progress;   /* 0..1 as reported by the caller; the highest so far */
};

/* Is the point of @w reached? Always false for touches, exec and anchors. Progress is the
 * reported fraction, or commands begun against when.n (the commands of a reference run) where that is
 * set. */
bool schedule_due(const struct schedule *s, const struct when *w, const struct rounds *r);

/* Does a program that was executed satisfy a WHEN_EXEC trigger? when.program is a base name or a
 * glob of one ("pytest*"); absent = any program. "python -m pytest" satisfies "pytest". */
bool schedule_exec(const struct when *w, const char *program, char *const *argv);

#endif

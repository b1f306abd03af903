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

/* Is the point reached that intervention @i (index in r->sc) waits for in its next round? Always
 * false for touches, exec, anchors and changed regions. Progress is a count of commands or calls
 * where the length of the run is known (scenario_point()), otherwise the reported fraction. */
bool schedule_due(const struct schedule *s, const struct rounds *r, size_t i);

/* Does a program that was executed satisfy a WHEN_EXEC trigger? when.program is a base name or a
 * glob of one ("pytest*"); absent = any program. "python -m pytest" satisfies "pytest". */
bool schedule_exec(const struct when *w, const char *program, char *const *argv);

#endif

/* What is looked at ten times a second: deadlines and the limits that nothing announces. */
#ifndef SUPERVISOR_TICK_H
#define SUPERVISOR_TICK_H

#include "supervisor/sup.h"

enum { TICK_MS = 100 };

/* Measure CPU, memory, wall time and output, and judge them. */
void tick_measure(struct sup *s);

/* One look. */
void tick(struct sup *s);

#endif

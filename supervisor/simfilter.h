/* May a text that a model wrote be said to the agent? It must read like a person's message and give
 * nothing of the experiment away. */
#ifndef SUPERVISOR_SIMFILTER_H
#define SUPERVISOR_SIMFILTER_H

#include "profiles/task.h"

enum { SIMFILTER_MAX = 4000 }; /* bytes of a message: four long sentences stay far below */

/* Why @text must not be said, in fixed words (static); NULL = it may. @task: names of its tests and its
 * own name betray as well; words that its problem statement uses itself do not. May be NULL. */
const char *simfilter_refused(const char *text, const struct task *task);

/* @text without blanks at both ends. Caller frees. */
char *simfilter_trim(const char *text);

#endif

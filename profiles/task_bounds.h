/* What a task says about its limits and its network, put over a profile. A task can only narrow: the profile is the
 * user's, the task may stem from somebody else. */
#ifndef PROFILES_TASK_BOUNDS_H
#define PROFILES_TASK_BOUNDS_H

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/task.h"

/* The smaller of each limit; a limit that only one of them has counts. The task's agent timeout is the wall time
 * when @agent, otherwise it is left alone (tests have their own timeout). */
void task_bounds_limits(const struct task *task, bool agent, struct limits *l);

/* The network that both allow, into mode and hosts of @p: the narrower mode; with two allowlists what stands in both,
 * where "*.name" covers the names below it and a rule without a port covers one with a port. 0 or -ERR_INPUT for a
 * rule that is none. */
int task_bounds_network(const struct task *task, struct profile *p, struct err *err);

#endif

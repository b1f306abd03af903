/* Shared between cgroup.c (making and using groups) and cgroup_find.c (where they may be made). */
#ifndef SANDBOX_CGROUP_INTERNAL_H
#define SANDBOX_CGROUP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Directory of our own group in the version 2 hierarchy, or in the version 1 hierarchy of
 * @controller
 * ("memory", ...). NULL for @controller means version 2. From mountinfo and /proc/self/cgroup
 * (cgroups(7), proc(5)). NULL when it is not mounted where we can see it. Caller frees. */
char *cgroup_find(const char *controller);

/* The part of cgroup_find() that parses, for tests: @mountinfo and @own are the files' texts.
 * Caller frees. */
char *cgroup_find_in(const char *mountinfo, const char *own, const char *controller);

#endif

/* What the janitor removes, apart from how it comes to know of it. */
#ifndef SANDBOX_JANITOR_INTERNAL_H
#define SANDBOX_JANITOR_INTERNAL_H

/* Remove the tree @path, trying again for a while as long as something in it is busy. */
void janitor_remove(const char *path);

/* Thaw cgroup v1 directory @path when it has a freezer. */
void janitor_thaw_cgroup(const char *path);

/* Kill every process in cgroup directory @path and below: cgroup.kill where there is one (cgroup
 * v2, Linux 5.14), otherwise member by member until none is left. Bounded in time. */
void janitor_kill_cgroup(const char *path);

/* Remove the cgroup directory @path with those below it. Bounded in time. */
void janitor_remove_cgroup(const char *path);

#endif

/* Resource control by cgroups: version 2, version 1 controllers one by one, or none. Groups are
 * made below our own group only, and whether that works is found by making one. */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "profiles/limits.h"

struct janitor;
struct cgroup;

/* Controllers that one group (or set of v1 groups) has. */
enum cgroup_part { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_FREEZER, CGROUP_PARTS };

/* Make the group "proctor-<pid>-<n>" with limits from @l (memory without swap, tasks slightly above
 * limits.processes). Each path goes to @jan (may be NULL) before it is made. 0 with *ret, 1 when
 * this host lets us make none (*ret_why is a static text), negative when a limit that was asked for
 * could not be set. Free with cgroup_free(). */
int cgroup_new(const struct limits *l, struct janitor *jan, struct cgroup **ret,
	       const char **ret_why, struct err *err);

/* "v2: memory, pids, cpu, freezer" or the like. Borrowed. */
const char *cgroup_text(const struct cgroup *cg);

/* Is controller @part there? */
bool cgroup_has(const struct cgroup *cg, enum cgroup_part part);

/* Put process @pid in, before it runs anything. 0 or negative. */
int cgroup_add(struct cgroup *cg, pid_t pid, struct err *err);

/* CPU time in ns, peak memory in bytes, tasks now; what is unknown is 0. */
void cgroup_usage(const struct cgroup *cg, uint64_t *cpu_ns, uint64_t *mem_bytes, uint64_t *tasks);

/* Did the kernel kill a task of the group for memory? */
bool cgroup_oom(const struct cgroup *cg);

/* Freeze or thaw, and wait (at most a second) until it is so. 0, or -1 without freezer. */
int cgroup_freeze(struct cgroup *cg, bool on);

/* Kill every task of the group (cgroup.kill, Linux 5.14; else one by one). Best effort: the PID
 * namespace is what kills for certain. */
void cgroup_kill(struct cgroup *cg);

/* Remove the group (tasks must be gone or going; waits for the last at most two seconds) and free.
 * NULL is fine. Returns NULL. */
struct cgroup *cgroup_free(struct cgroup *cg);

#endif

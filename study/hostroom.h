/* Room that this machine has left, and what processes take of it. */
#ifndef STUDY_HOSTROOM_H
#define STUDY_HOSTROOM_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of memory that can be had without swapping: MemAvailable (proc(5)), or less where the control group of this process, or one
 * above it, has less left (memory.max and memory.current of cgroup v2). UINT64_MAX when nothing tells. */
uint64_t hostroom_memory(void);

/* Bytes that an ordinary user may still write on the file system of @path (statvfs(3)). UINT64_MAX when unknown. */
uint64_t hostroom_disk(const char *path);

/* Resident bytes of process @pid and everything below it; pages that several share count for each. */
uint64_t hostroom_tree_memory(pid_t pid);

/* When process @pid was started, in clock ticks since boot (field 22 of /proc/PID/stat); 0 when it is gone. With the boot it tells a process from
 * another one that got its number. */
uint64_t hostroom_start_time(pid_t pid);

#endif

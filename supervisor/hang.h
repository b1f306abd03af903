/* What stands still, for people to look at: the process tree below proctor with what each process waits for. */
#ifndef SUPERVISOR_HANG_H
#define SUPERVISOR_HANG_H

#include <sys/types.h>

#include "base/err.h"

/* Write @dir/hang.json: @why, and every process below @root (proctor itself included), at most 1000, with parent, state
 * (proc_pid_stat(5)), place in the kernel (/proc/PID/wchan), system call by its name and arguments (/proc/PID/syscall)
 * and, where its first argument is a descriptor, what that is. What the kernel does not let us read is null. Can be
 * called while @root itself stands still. 0 or negative. */
int hang_write(const char *dir, const char *why, pid_t root, struct err *err);

/* 'R', 'S', 'T' and so on of @pid (proc_pid_stat(5)), 0 when it is gone. */
char hang_state(pid_t pid);

#endif

/* Small facts about tasks from /proc. */
#ifndef SUPERVISOR_PROCFS_H
#define SUPERVISOR_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* argv of @pid, at most 256 words and 64 KiB, by /proc/PID/cmdline. Replaces @ret. */
void procfs_argv(pid_t pid, struct strv *ret);

/* Target of the link /proc/PID/NAME ("exe", "cwd", "fd/3"); NULL when gone. Caller frees. */
char *procfs_link(pid_t pid, const char *name);

/* Thread group of task @tid, 0 when gone. */
pid_t procfs_tgid(pid_t tid);

/* Is task @tid a thread of process @pid? */
bool procfs_is_thread(pid_t pid, pid_t tid);

/* File position of descriptor @fd of @tid. 0 or -1. */
int procfs_pos(pid_t tid, int fd, uint64_t *ret);

/* Do the two tasks share one descriptor table (kcmp(2) KCMP_FILES)? False when unknown. */
bool procfs_same_files(pid_t a, pid_t b);

/* Is @fd open in @tid? */
bool procfs_has_fd(pid_t tid, int fd);

#endif

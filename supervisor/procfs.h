/* Small facts about tasks from /proc. A program can close its own /proc/PID/fd to an ordinary user by not being
 * "dumpable" (prctl(2) PR_SET_DUMPABLE, or a file that may be executed and not read); its descriptors are then
 * duplicated into ours for the look (pidfd_getfd(2), Linux 5.6). */
#ifndef SUPERVISOR_PROCFS_H
#define SUPERVISOR_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
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

/* Do they share all memory (kcmp(2) KCMP_VM)? False when unknown. */
bool procfs_same_vm(pid_t a, pid_t b);

/* Is @fd open in @tid? */
bool procfs_has_fd(pid_t tid, int fd);

/* What @fd of @tid is, as by fstat(2). 0 or -1. */
int procfs_fd_stat(pid_t tid, int fd, struct stat *ret);

/* Flags that @fd of @tid was opened with, as by open(2) and fcntl(2) F_GETFL. 0 or -1. */
int procfs_fd_flags(pid_t tid, int fd, uint64_t *ret);

/* A duplicate of @fd of @tid in this process, -1 when there is none. Caller closes. */
int procfs_borrow(pid_t tid, int fd);

/* Call @fn for every descriptor of @tid, up to 65536, until it returns false. */
void procfs_each_fd(pid_t tid, bool (*fn)(void *arg, int fd), void *arg);

/* Can nobody but the threads of @tid change the @n bytes at @addr: private memory that is no file's
 * (proc_pid_pagemap(5), bit 61)? False when unknown. */
bool procfs_private(pid_t tid, uint64_t addr, size_t n);

#endif

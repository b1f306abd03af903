/* Many jobs in forked processes, a bounded number at once. One thread in each process: a job may do what it
 * likes to its own process, and its death takes nothing along. */
#ifndef STUDY_POOL_H
#define STUDY_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define POOL_JOBS_MAX 256u        /* at once */
#define POOL_TEXT_MAX (16u << 20) /* bytes that one job may hand back */

/* How a job ended. */
struct pool_end {
	size_t job;
	int status;       /* as waitpid(2) gives it */
	const char *text; /* what it wrote to its descriptor; borrowed, NUL-terminated */
	size_t n;
};

struct pool_ops {
	/* Number of the next job, false when there is none left. In the parent. */
	bool (*next)(void *arg, size_t *ret_job);
	/* The job itself, in a process of its own that is killed when the parent dies. @fd takes its
	 * result. Returns the exit status (0 to 255). */
	int (*work)(void *arg, size_t job, int fd);
	/* A job ended. 0, or negative to stop: what still runs is killed. In the parent. */
	int (*ended)(void *arg, const struct pool_end *end, struct err *err);
	/* At a start, an end, and about twice a second between; may be NULL. In the parent. */
	void (*tick)(void *arg, unsigned running);
	void *arg;
};

/* Carry out all jobs, at most @at_once (1 to POOL_JOBS_MAX) at a time. 0, or negative: what
 * ops->ended() returned, or -ERR_SYS when no process can be made; no job runs on then. */
int pool_run(const struct pool_ops *ops, unsigned at_once, struct err *err);

#endif

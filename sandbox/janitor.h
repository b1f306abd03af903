/* A small process that outlives us: when the supervisor ends in whatever way, it kills what is
 * left of the box, runs the last-words callback, and removes cgroups and scratch directories. */
#ifndef SANDBOX_JANITOR_H
#define SANDBOX_JANITOR_H

#include <sys/types.h>

#include "base/err.h"

struct janitor {
	pid_t pid;
	int sock; /* our end; its closing, however it comes, starts the clean-up */
};

/* Called in the janitor process when the supervisor died without janitor_finish(). */
struct janitor_ops {
	void (*last_words)(void *arg); /* may be NULL */
	/* Called while the supervisor lives; may be NULL. How long to wait at most until it is called again, ms, -1 = for
	 * ever; 0 = the supervisor stands still: it is killed, and all goes on as if it had died. */
	int (*watch)(void *arg);
	void *arg;
};

/* Fork the janitor: own session, all signals ignored, descriptors above 2 closed but its socket.
 * 0 or negative. */
int janitor_start(struct janitor **ret, const struct janitor_ops *ops, struct err *err);

/* Tell it of something to remove or kill at the end. 0 or -1. */
int janitor_scratch(struct janitor *j, const char *path);
int janitor_cgroup(struct janitor *j, const char *path); /* as janitor_scratch() */
int janitor_kill(struct janitor *j, int pidfd);          /* pidfd of a box's init; sent along */

/* Orderly end: let it clean up and wait for it. Frees @j. Returns NULL. */
struct janitor *janitor_finish(struct janitor *j);

#endif

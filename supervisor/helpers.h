/* Commands that effects start in the box: they run beside the agent while it is being served, and
 * their end is noted. Waiting for them here would be a deadlock whenever one waits for the agent. */
#ifndef SUPERVISOR_HELPERS_H
#define SUPERVISOR_HELPERS_H

#include <stdbool.h>

#include "base/err.h"
#include "sandbox/box.h"
#include "supervisor/sink.h"

enum { HELPERS_MAX = 16, HELPER_SECONDS = 60 };

struct helper {
	int fd;            /* of box_spawn(); -1 = free place */
	char *program;     /* owned */
	uint64_t deadline; /* clock_mono() */
};

struct helpers {
	struct helper v[HELPERS_MAX];
	int null; /* their standard streams; -1 until the first */
};

/* No helper runs. */
void helpers_init(struct helpers *h);

/* Start @argv in the box. 0 when it runs, negative when it could not be started. */
int helpers_start(struct helpers *h, struct box *box, char *const *argv, char *const *env,
		  const char *cwd, struct err *err);

/* Note those that have ended; called at every tick. */
void helpers_poll(struct helpers *h, struct sink *sink, uint32_t epoch);

/* Has one of them not been seen to end yet? */
bool helpers_running(const struct helpers *h);

/* Forget all; the box is dead. */
void helpers_done(struct helpers *h);

#endif

/* What effects hold in the box under a name: programs that were started, ports, locks. They are no commands of
 * the agent, stay until they are released or the box ends, and never keep a run from ending. */
#ifndef SUPERVISOR_HOLDERS_H
#define SUPERVISOR_HOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/box.h"
#include "supervisor/sink.h"

enum { HOLDERS_MAX = 32, HOLDERS_WAIT_S = 5 };

struct holder {
	char *name; /* owned; NULL = free place */
	int fd;     /* of box_spawn(); -1 = its end was noted */
	int pidfd;
	pid_t pid; /* as the host sees it */
};

struct holders {
	struct holder v[HOLDERS_MAX];
	int null; /* their standard streams; -1 until the first */
	int program; /* the program that holds ports and locks, as an anonymous file; -1 until it is needed */
};

/* Nothing is held. */
void holders_init(struct holders *h);

/* Start @argv in the box under @name. 0 when it runs, negative: the name is taken, or it could not be
 * started. */
int holders_start(struct holders *h, struct box *box, const char *name, char *const *argv,
		  char *const *env, const char *cwd, struct err *err);

/* Hold under @name what @kind ("listen", "flock", "fcntl") and @arg (port, path) say; @answer may be NULL.
 * Waits until it is held, at most HOLDERS_WAIT_S. 0, or negative with the reason. */
int holders_hold(struct holders *h, struct box *box, const char *name, const char *kind,
		 const char *arg, const char *answer, const char *cwd, struct err *err);

/* The one of that name, NULL when there is none (any more). Borrowed. */
struct holder *holders_find(struct holders *h, const char *name);

/* Send it @sig; with SIGKILL wait until it is gone. 0 or negative. */
int holders_signal(struct holder *o, int sig, struct err *err);

/* Note those that have ended; called at every tick. */
void holders_poll(struct holders *h, struct sink *sink, uint32_t epoch);

/* Forget all; the box is dead. */
void holders_done(struct holders *h);

#endif

/* The box that a user's program lives in: no network, no model, no key; its files at /user, the workspace as a
 * read-only copy at its own place; three pipes to us. */
#ifndef SUPERVISOR_USERBOX_H
#define SUPERVISOR_USERBOX_H

#include "base/err.h"
#include "profiles/plan.h"
#include "sandbox/box.h"
#include "sandbox/workspace.h"

struct janitor;

struct userbox {
	struct box *box;  /* owned */
	int in, out, err; /* its standard streams, our ends, non-blocking; owned; -1 = closed */
	char *upper;      /* owned: what it writes in /user */
	uint64_t disk;    /* bytes that it may write */
};

/* Start program @u->argv in a box that stands on @rootfs, below the scratch of @ws; @view (NULL = none) is shown at
 * the plan's workdir. 0, -ERR_HOST when the box cannot be built, -ERR_CHILD when the program cannot be
 * executed. End with userbox_done(). */
int userbox_start(const struct plan *plan, const struct user *u, const struct workspace *ws,
		  const char *rootfs, const char *view, struct janitor *jan, struct userbox *ret,
		  struct err *err);

/* Has it written more than it may? */
bool userbox_full(const struct userbox *b);

/* Kill, reap (unless box_reaped() was said), free. {0} with closed ends is fine. */
void userbox_done(struct userbox *b);

#endif

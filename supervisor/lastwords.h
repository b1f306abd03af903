/* What the janitor says for us when we are killed: the patch is still taken, run.json still ends. */
#ifndef SUPERVISOR_LASTWORDS_H
#define SUPERVISOR_LASTWORDS_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/workspace.h"

/* Lives in memory shared with the janitor, which was forked before any of this was known. */
struct lastwords;

/* Shared page for run directory @dir (absolute). Unmap with lastwords_free(). 0 or negative. */
int lastwords_new(const char *dir, struct lastwords **ret, struct err *err);

/* From now on there is a workspace to take a patch from. */
void lastwords_workspace(struct lastwords *lw, const struct workspace *ws);

/* The run ended in order: nothing is to be said. */
void lastwords_done(struct lastwords *lw);

/* The janitor's callback (struct janitor_ops.last_words); @arg is the struct lastwords. */
void lastwords_say(void *arg);

/* The event loop turns (@now is clock_mono()), or is over (0) and no longer watched. */
void lastwords_beat(struct lastwords *lw, uint64_t now);

/* The janitor's callback (struct janitor_ops.watch): does the loop still turn? Time in which the supervisor is stopped
 * by a signal does not count. When it stands still for watchdog_limit(), hang.json is written. */
int lastwords_watch(void *arg);

/* Unmap; NULL is fine. Returns NULL. */
struct lastwords *lastwords_free(struct lastwords *lw);

#endif

/* Messages that the simulated user writes: asked of the gateway when they fall due, said to the agent
 * when they have come, or the template instead. Meanwhile the run goes on; only the agent's next
 * question to its model waits, a bounded time. */
#ifndef SUPERVISOR_GWSIM_H
#define SUPERVISOR_GWSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "supervisor/sup.h"

/* Make s->sim when the plan has a simulator. Ended by gwsim_done(). */
void gwsim_open(struct sup *s);

/* engine_ops.later: the message of @f is to be written. False without a simulator. */
bool gwsim_later(void *arg, const struct firing *f, const struct message_about *about);

/* Have the model write something else than a message: it is shown @context, and @told gets what it wrote (NULL: it did
 * not, for @why; both borrowed), perhaps before this returns; never when the run is over first. Only with a
 * simulator. */
void gwsim_ask(struct sup *s, const struct buf *context,
	       void (*told)(struct sup *s, const char *text, const char *why));

/* A command of the agent begins: for the context of an agent without a model API. @argv as in
 * struct command; "sh -c TEXT" counts as TEXT. */
void gwsim_command(struct sup *s, char *const *argv);

/* Deadlines; called at every tick. */
void gwsim_tick(struct sup *s);

/* The box is dead and nothing more comes from the gateway: what is still open is reported as not
 * said. */
void gwsim_over(struct sup *s);

/* Member "simulator" of run.json: what its calls used, apart from the agent's; null without one. */
void gwsim_summary(const struct sup *s, struct json_w *w);

/* Free. Fine in any state. */
void gwsim_done(struct sup *s);

#endif

/* The supervisor's end of the gateway: what it reports becomes records, budgets, triggers; what it asks is
 * answered when the engine has had its turn. */
#ifndef SUPERVISOR_GWLINK_H
#define SUPERVISOR_GWLINK_H

#include "gateway/gateway.h"
#include "supervisor/sup.h"

/* Read and act on everything that has arrived. While a task is held alone nothing is taken: an edit
 * would wait for what waits for us. */
void gwlink_event(struct sup *s);

/* The gateway's process was reaped. Its last words are read; when nobody asked it to go the run ends as
 * an error. */
void gwlink_died(struct sup *s);

/* Send what a full socket left; called at every tick. */
void gwlink_tick(struct sup *s);

/* Give the main conversation a user message. 0, or -ERR_CHILD when there is no gateway, -ERR_LIMIT. */
int gwlink_message(struct sup *s, const char *text, struct err *err);

/* The box is dead: take what the gateway has left to say, for a few seconds at most. */
void gwlink_goodbye(struct sup *s);

/* The run is about to end for @why (LIMIT_MAX: not for a limit): from now on the model's answers are the
 * closing one, or refusals, as the profile says. */
void gwlink_ending(struct sup *s, enum limit_kind why);

/* Ask whether the gateway is there; watchdog_answer() follows. False: there is none any more. */
bool gwlink_ping(struct sup *s);

#endif

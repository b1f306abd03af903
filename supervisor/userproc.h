/* A user that reacts to the run (scenario "user"): asked at the agent's requests to its model, which wait for the answer,
 * and when the agent ends its turn. What it says becomes a user message of the run. The program is as hostile as an
 * agent: its lines are bounded, its silence has a limit, and its box ends with the run's. */
#ifndef SUPERVISOR_USERPROC_H
#define SUPERVISOR_USERPROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/json.h"
#include "gateway/msg.h"
#include "sandbox/workspace.h"
#include "supervisor/sup.h"

struct janitor;

/* Start the user of the plan's scenario, if one takes part; its program stands on @rootfs, in the scratch of @ws
 * (borrowed while the run lives). Writes user.jsonl and user.log in @dir. 0 or negative. */
int userproc_start(struct sup *s, const char *dir, const struct workspace *ws, const char *rootfs,
		   struct janitor *jan, struct err *err);

/* Descriptors for the event loop: @i 0 and 1; -1 when there is none. */
int userproc_fd(const struct sup *s, unsigned i);

/* Read and act on what has arrived. */
void userproc_event(struct sup *s);

/* Its box's first process, 0 without one. */
pid_t userproc_pid(const struct sup *s);

/* That process was reaped with @status. */
void userproc_reaped(struct sup *s, int status);

/* Part of what the agent did (GW_LAST). */
void userproc_last(struct sup *s, const struct gw_msg *m);

/* Main request @m has come: is the user asked now? True: it waits, and goes on when the user has answered. */
bool userproc_request(struct sup *s, const struct gw_msg *m);

/* Main answer @m asks for nothing more: the agent's turn ends with it. True: it waits, too. */
bool userproc_answer(struct sup *s, const struct gw_msg *m);

/* Deadlines, and what a full pipe left; called at every tick. */
void userproc_tick(struct sup *s);

/* The box of the agent is dead: nothing is asked any more, and the user's box ends. */
void userproc_over(struct sup *s);

/* Member "user" of run.json: null without one. */
void userproc_summary(const struct sup *s, struct json_w *w);

/* End and free. Fine in any state. */
void userproc_done(struct sup *s);

#endif

/* The supervisor's end of a scenario's side services: started for the run, changed by effects, recorded. */
#ifndef SUPERVISOR_SERVICES_H
#define SUPERVISOR_SERVICES_H

#include <stdbool.h>

#include "base/json.h"
#include "sandbox/workspace.h"
#include "supervisor/sup.h"

struct janitor;

/* Refuse, before anything is built, a scenario whose services this host cannot have: 0, -ERR_INPUT for a bad declaration, or
 * -ERR_HOST with what to install. */
int services_check(const struct plan *plan, struct err *err);

/* Start the services of the plan's scenario in the box's network; servers of theirs get boxes below the scratch of @ws.
 * Nothing without any. 0 or negative. */
int services_start(struct sup *s, const struct workspace *ws, struct janitor *jan, struct err *err);

/* Called at every tick: a server that has written more than it may is ended. */
void services_tick(struct sup *s);

/* Read and act on what has arrived. */
void services_event(struct sup *s);

/* Carry out {"service": ...}, and wait until it is in force. 0 or negative with the reason. */
int services_change(struct sup *s, const struct json_src *src, cJSON *item, struct err *err);

/* Its process was reaped: unless the run is over, the run ends as an error. */
void services_died(struct sup *s);

/* The box is dead: take the summaries, for a second at most. */
void services_goodbye(struct sup *s);

/* Member "services" of run.json: null without any. */
void services_summary(const struct sup *s, struct json_w *w);

/* Descriptor for the event loop, -1 without services. */
int services_fd(const struct sup *s);

/* Name of the @i-th service when it was used or changed, "" when it is as it began, NULL behind the last. */
const char *services_used(const struct sup *s, size_t i);

/* Its process, 0 without services. */
pid_t services_pid(const struct sup *s);

/* First process of a server's box that was not reaped yet, 0 = there is none. */
pid_t services_server_pid(const struct sup *s);

/* It was reaped with @status. */
void services_server_reaped(struct sup *s, int status);

/* End and free. Fine in any state. */
void services_done(struct sup *s);

/* Ask whether the process is there; watchdog_answer() follows. False: there is none any more. */
bool services_ping(struct sup *s);

#endif

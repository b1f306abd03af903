/* The supervisor's end of a scenario's side services: started for the run, changed by effects, recorded. */
#ifndef SUPERVISOR_SERVICES_H
#define SUPERVISOR_SERVICES_H

#include <stdbool.h>

#include "base/json.h"
#include "supervisor/sup.h"

/* Start the services of the plan's scenario in the box's network; nothing without any. 0 or negative. */
int services_start(struct sup *s, struct err *err);

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

/* Its process, 0 without services. */
pid_t services_pid(const struct sup *s);

/* End and free. Fine in any state. */
void services_done(struct sup *s);

#endif

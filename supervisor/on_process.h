/* Everything waitpid(2) reports that is not a system call: births, execs, signals, stops, deaths. */
#ifndef SUPERVISOR_ON_PROCESS_H
#define SUPERVISOR_ON_PROCESS_H

#include <sys/resource.h>

#include "supervisor/sup.h"

/* Act on one wait status of task @tid and restart it when it is to go on. */
void on_process(struct sup *s, pid_t tid, int status, const struct rusage *ru);

/* Tasks that stopped at birth and whose parent was killed before it could tell of them: let them
 * go, as processes of their own. Called at every tick. */
void on_process_orphans(struct sup *s);

/* The agent has exited: end the box when its children and the commands of effects are gone too. */
void on_process_drained(struct sup *s);

/* Act on the stops that were collected while the world was held. */
void on_process_queued(struct sup *s);

#endif

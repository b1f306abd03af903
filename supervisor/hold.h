/* Stopping tasks on purpose: the whole box while an edit is made, or one process's threads while it
 * changes between cheap and call-by-call watching. */
#ifndef SUPERVISOR_HOLD_H
#define SUPERVISOR_HOLD_H

#include "supervisor/sup.h"

/* Stop every running task (of @p only, when not NULL) but @except and wait until each has stopped. A
 * task that stops for another reason first keeps that stop for later (t->queued). Tasks that wait
 * in the kernel for their vfork child cannot run user code and are left alone. */
void hold_stop(struct sup *s, struct process *p, pid_t except);

/* Hold everybody but @tid until hold_together(): stops that were collected meanwhile wait too. */
void hold_alone(struct sup *s, pid_t tid);

/* @tid is done, or dead: let the others go on. Nothing when @tid was not alone. */
void hold_together(struct sup *s, pid_t tid);

/* Keep a wait status of a task for later: on_process_queued() takes it up when nobody is alone. */
void hold_queue(struct sup *s, struct tracee *t, int status, const struct rusage *ru);

/* Restart what hold_stop() stopped, each in the mode its process needs now. */
void hold_release(struct sup *s);

#endif

/* System-call stops: what a call means for the trace and for the regions. */
#ifndef SUPERVISOR_ON_SYSCALL_H
#define SUPERVISOR_ON_SYSCALL_H

#include "supervisor/sup.h"

/* Task @t is at a seccomp stop or at a call's entry or exit. Decides t->want_exit; the caller
 * restarts it. */
void on_syscall(struct sup *s, struct tracee *t);

/* Descriptors of region files that closed without a call (exec, exit): judge what was written. */
void on_syscall_lost_fds(struct sup *s, struct process *p, pid_t tid, bool all);

/* Make every running thread of @p stop at its calls from now on. */
void on_syscall_zoom(struct sup *s, struct process *p, pid_t except);

#endif

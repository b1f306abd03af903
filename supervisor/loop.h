/* The event loop: the only waitpid(-1) of the program, epoll over signals, timer and streams.
 *
 * While stops come thick and fast the loop blocks in wait4(2) itself, because every wake-up through
 * epoll and signalfd costs three more system calls per stop; a timer signal breaks that wait every
 * few milliseconds to look at everything else. When stops become rare it sleeps in epoll. */
#ifndef SUPERVISOR_LOOP_H
#define SUPERVISOR_LOOP_H

#include "supervisor/sup.h"

/* Prepare: block the signals we take through signalfd, make timer and epoll. Call before the box
 * is started, so that its end cannot be missed. 0 or negative. */
int loop_open(struct sup *s, struct err *err);

/* Listen to the gateway (s->gw). 0 or negative. */
int loop_gateway(struct sup *s, struct err *err);

/* Watch the services' socket, too; nothing without any. 0 or negative. */
int loop_services(struct sup *s, struct err *err);

/* Watch the streams of the scenario's user, too; nothing without one. 0 or negative. */
int loop_user(struct sup *s, struct err *err);

/* Run until every task of the box is gone. @init is the box's PID 1, our child. 0 or negative. */
int loop_run(struct sup *s, struct err *err);

/* Give signals and descriptors back. */
void loop_close(struct sup *s);

#endif

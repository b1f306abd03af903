/* Whose socket is it? From a port that the gateway saw to the process in the box. */
#ifndef SUPERVISOR_NETPROC_H
#define SUPERVISOR_NETPROC_H

#include "supervisor/sup.h"

/* The process that holds a socket with local port @port in the box's net namespace, by
 * /proc/PID/net/{tcp,tcp6} or {udp,udp6} (proc_pid_net(5)) and the links of /proc/PID/fd. @first is
 * looked at before the others (NULL: any order). NULL when it has gone. For rare events: it walks
 * descriptors. */
struct process *netproc_find(struct sup *s, bool udp, uint16_t port, struct process *first);

#endif

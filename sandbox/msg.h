/* Records with several descriptors over a UNIX SEQPACKET socket, for both sides of a box.
 * Async-signal-safe: the box's PID 1 uses them between clone(2) and exec. */
#ifndef SANDBOX_MSG_H
#define SANDBOX_MSG_H

#include <stddef.h>
#include <sys/types.h>

#define MSG_FDS 8 /* descriptors in one message at most */

/* Send @n bytes with @n_fd descriptors (lent). 0 or -1 with errno. */
int msg_send(int sock, const void *p, size_t n, const int *fd, size_t n_fd);

/* Receive up to @n bytes with exactly @n_fd descriptors, close-on-exec, into @fd; a message with
 * another number has its descriptors closed and leaves @fd alone. *ret_n_fd is 0 or @n_fd. @flags
 * as for recvmsg(2). Returns the bytes, 0 at the end, -1 with errno. */
ssize_t msg_recv(int sock, void *p, size_t n, int *fd, size_t n_fd, size_t *ret_n_fd, int flags);

#endif

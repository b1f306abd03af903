/* The gateway's own process, after the fork. */
#ifndef GATEWAY_INSIDE_INTERNAL_H
#define GATEWAY_INSIDE_INTERNAL_H

#include "gateway/gateway.h"
#include "gateway/net.h"

enum { KEY_MAX = 4096 };

/* Serve until the supervisor is gone: @link_fd is our end of the socket, @key_fd gives the key and its
 * end. Does not return. */
void inside_run(const struct gateway_spec *spec, const struct net_listeners *l, int link_fd,
		int key_fd) __attribute__((noreturn));

#endif

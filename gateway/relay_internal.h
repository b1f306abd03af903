/* Connections out of the box: each is resolved once, checked, dialled and carried byte for byte, with
 * both ends' closing and breaking passed on. */
#ifndef GATEWAY_RELAY_INTERNAL_H
#define GATEWAY_RELAY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway/dns_internal.h"
#include "gateway/net.h"
#include "gateway/netpolicy_internal.h"
#include "gateway/once_internal.h"

enum {
	RELAY_MAX = 4096,          /* connections at once */
	RELAY_CHUNK = 256 << 10,   /* bytes carried at once; what waits for one end is never more */
	RELAY_HELD_MAX = 64 << 20, /* when more waits for all ends together, they are carried in */
	RELAY_CHUNK_LOW = 4 << 10, /* pieces of this size: readers that do not read cost little */
	RELAY_TRIES_MAX = 16,      /* addresses of one name that are tried */
	RELAY_CONNECT_S = 10,      /* seconds for one of them */
};

struct event_base;
struct evdns_base;
struct relays;

/* Where a connection is to lead. */
struct relay_target {
	char name[DNS_NAME_MAX]; /* "" when @addr was asked for by itself */
	struct in6_addr addr;    /* the address asked for, IPv4 mapped; with a name: its own one */
	uint16_t port;
	uint16_t source_port;          /* of the client, in the box */
	char rule[NETPOLICY_RULE_MAX]; /* that allowed the name */
};

/* What relays are made from; all borrowed while they live. */
struct relay_spec {
	struct event_base *base;
	struct evdns_base *dns;
	const struct netpolicy *policy;
	const struct net_ops *ops;
	struct once *denied; /* refusals that were told */
	/* A connection that relays_start() took is gone. */
	void (*ended)(void *arg, const struct relay_target *t);
	void *arg;
};

/* No connections yet. Free with relays_free(). */
struct relays *relays_new(const struct relay_spec *spec);

/* Take over @fd, the client's connection, and lead it to @t (copied). What comes of it is told by the
 * ops: connect(), but once per target when it is refused, and closed() when it was allowed. */
void relays_start(struct relays *rs, int fd, const struct relay_target *t);

/* Connections at present. */
unsigned relays_count(const struct relays *rs);

/* Cut all. */
void relays_cut(struct relays *rs);

/* Cut all and free; NULL is fine. Lookups under way end harmlessly later, or when @dns is freed.
 * Returns NULL. */
struct relays *relays_free(struct relays *rs);

/* Close @fd so that the other side gets RST instead of an orderly end. */
void relay_reset(int fd);

#endif

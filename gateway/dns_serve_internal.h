/* The box's DNS answerer at 127.0.0.1:53, UDP and TCP: every allowed name gets an address of its own, other
 * names do not exist. Nothing is ever asked outside on behalf of a query: the box cannot speak to
 * anybody through names. */
#ifndef GATEWAY_DNS_SERVE_INTERNAL_H
#define GATEWAY_DNS_SERVE_INTERNAL_H

#include "gateway/dns_internal.h"
#include "gateway/names_internal.h"
#include "gateway/net.h"
#include "gateway/netpolicy_internal.h"
#include "gateway/once_internal.h"

enum {
	DNS_TCP_MAX = 64,       /* connections at once */
	DNS_TCP_IDLE_S = 10,    /* seconds without a whole query */
	DNS_TCP_QUERIES = 1024, /* on one connection */
};

struct event_base;
struct dns_serve;

/* All borrowed while it lives. */
struct dns_serve_spec {
	struct event_base *base;
	int udp, tcp; /* -1 none */
	const struct netpolicy *policy;
	struct names *names;
	const struct net_ops *ops;
	struct once *denied; /* refusals that were told */
};

/* Begin to answer. Each name is told to the ops once when it is first allowed an address and once when it
 * is refused. Free with dns_serve_free(). */
struct dns_serve *dns_serve_new(const struct dns_serve_spec *spec);

/* Answer one message; what the sockets do with their bytes. Returns the length of the answer, 0 when none
 * must be given. */
size_t dns_serve_answer(struct dns_serve *s, const uint8_t *msg, size_t n, uint16_t source_port,
			bool tcp, uint8_t out[DNS_ANSWER_MAX]);

/* Stop and free; NULL is fine. Returns NULL. */
struct dns_serve *dns_serve_free(struct dns_serve *s);

#endif

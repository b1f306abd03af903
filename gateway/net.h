/* The network of a box as its gateway serves it: a DNS answerer that gives each allowed name an
 * address of its own, listeners that take every connection, one resolution and one check per
 * connection, and relays that carry bytes. */
#ifndef GATEWAY_NET_H
#define GATEWAY_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/netrules.h"
#include "profiles/profile.h"

enum { NET_LISTENERS_MAX = 256 };

/* Sockets made inside the box's net namespace and held outside. */
struct net_listeners {
	int model[1];                 /* TCP of the model API, -1 none */
	int dns_udp, dns_tcp;         /* 127.0.0.1:53, -1 none */
	int redirected4, redirected6; /* one listener each for every address and port, fed by an
				     * nf_tables redirect; -1 when the kernel has none */
	int port[NET_LISTENERS_MAX];  /* else: wildcard listeners, one per port and family */
	uint16_t port_number[NET_LISTENERS_MAX];
	unsigned n_port;
};

/* What is to be listened to. */
struct net_want {
	uint16_t model_port; /* 0 none */
	bool dns;
	bool relays;                  /* mode public or allowlist: AnyIP route, redirect or ports */
	const struct netrules *rules; /* ports to listen to without nf_tables */
	uint16_t loopback
		[NET_LISTENERS_MAX]; /* further ports at 127.0.0.1; they come back as port[] */
	size_t n_loopback;
};

/* Make the sockets: a short-lived child enters the namespaces (setns(2)), brings up the AnyIP route
 * ("local 0.0.0.0/0 dev lo", ip-route(8)), the redirect where the kernel has nf_tables, binds, and
 * passes the descriptors back. @missing (128 bytes) tells what had to be left out, "" when nothing.
 * 0 or -ERR_HOST. */
int net_listen(int user_fd, int net_fd, const struct net_want *want, struct net_listeners *ret,
	       char missing[128], struct err *err);

/* Close all. {-1,...} is fine. */
void net_listeners_done(struct net_listeners *l);

/* What the network tells its owner. */
struct net_ops {
	/* A name was asked for. @rule: the rule that allowed it, or why not. */
	void (*dns)(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		    uint16_t source_port, bool tcp);
	/* A connection was decided. @name may be "" (a bare address). */
	void (*connect)(void *arg, const char *name, const char *addr, uint16_t port, bool allowed,
			const char *rule, uint16_t source_port);
	/* A relayed connection ended. */
	void (*closed)(void *arg, const char *name, uint64_t out, uint64_t in, uint64_t ns);
	void *arg;
};

struct event_base;
struct net;

/* Serve @l (borrowed) by @mode and @rules (borrowed) on @base. 0 or negative. Free with
 * net_free(). */
int net_new(struct event_base *base, const struct net_listeners *l, enum net_mode mode,
	    const struct netrules *rules, const struct net_ops *ops, struct net **ret,
	    struct err *err);

/* Refuse whatever comes from now on; relays under way are cut. */
void net_stop(struct net *n);

/* Free; NULL is fine. Returns NULL. */
struct net *net_free(struct net *n);

#endif

#include "gateway/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/dns_serve_internal.h"
#include "gateway/names_internal.h"
#include "gateway/netpolicy_internal.h"
#include "gateway/relay_internal.h"

enum {
	ACCEPT_ROUND = 32,     /* connections before other events have their turn */
	OWN_DESCRIPTORS = 128, /* what is not relays: model API, DNS, listeners beside many ports */
};

/* One listener of relays. */
struct gate {
	struct net *net;
	struct event *event; /* owned */
	int family;
	bool redirected; /* the kernel knows where the connection wanted to go */
};

struct net {
	struct netpolicy policy;
	struct net_ops ops;
	struct event_base *base;
	struct evdns_base *dns;  /* owned: the world's names */
	struct dns_serve *serve; /* owned: the box's names */
	struct names *names;     /* owned */
	struct relays *relays;   /* owned */
	struct gate gate[NET_LISTENERS_MAX + 2];
	unsigned n_gate, max;
	struct event *again; /* owned: listens again after descriptors were short */
	bool open, stopped;
	struct once denied; /* refusals that were told */
};

static void gates_open(struct net *n, bool open)
{
	if (n->open == open)
		return;
	n->open = open;
	for (unsigned i = 0; i < n->n_gate; i++) {
		if (open)
			event_add(n->gate[i].event, NULL);
		else
			event_del(n->gate[i].event);
	}
}

static void on_relay_ended(void *arg, const struct relay_target *t)
{
	struct net *n = arg;

	if (t->name[0] && IN6_IS_ADDR_V4MAPPED(&t->addr))
		names_unuse(n->names, ntohl(t->addr.s6_addr32[3]));
	if (!event_pending(n->again, EV_TIMEOUT, NULL))
		gates_open(n, true);
}

static bool to_mapped(const struct sockaddr_storage *from, struct in6_addr *ret, uint16_t *ret_port)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;

	if (from->ss_family == AF_INET6) {
		*ret = v6->sin6_addr;
		*ret_port = ntohs(v6->sin6_port);
		return true;
	}
	*ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&ret->s6_addr[12], &v4->sin_addr, 4);
	*ret_port = ntohs(v4->sin_port);
	return from->ss_family == AF_INET;
}

/* Where @fd's client wanted to go. False when the kernel does not know: the connection was not one of
 * those that are led here. */
static bool wanted(const struct gate *g, int fd, struct in6_addr *ret, uint16_t *ret_port)
{
	struct sockaddr_storage to = { 0 };
	socklen_t n = sizeof(to);
	int rc;

	if (!g->redirected)
		rc = getsockname(fd, (struct sockaddr *)&to, &n);
	else if (g->family == AF_INET6)
		rc = getsockopt(fd, SOL_IPV6, IP6T_SO_ORIGINAL_DST, &to, &n);
	else
		rc = getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &to, &n);
	return rc == 0 && to_mapped(&to, ret, ret_port);
}

/* What is refused again and again (a program that keeps trying) is told once per target. */
static void tell_denied(struct net *n, const struct relay_target *t, const char *rule)
{
	char addr[INET6_ADDRSTRLEN];

	addr_text(&t->addr, addr);
	if (once_first(&n->denied, "%s %s %u", t->name, addr, t->port))
		n->ops.connect(n->ops.arg, t->name, addr, t->port, false, rule, t->source_port);
}

/* Is the address one of those that are given to names? */
static bool is_given(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_V4MAPPED(addr) &&
	       (ntohl(addr->s6_addr32[3]) & ~(NAMES_SIZE - 1)) == NAMES_NET;
}

/* May the connection to @t go on? Fills in name and rule. Bare addresses are judged where they are
 * dialled. */
static bool decide(struct net *n, struct relay_target *t)
{
	uint32_t addr = ntohl(t->addr.s6_addr32[3]);
	const char *name;

	if (!is_given(&t->addr))
		return true;
	name = names_find(n->names, addr);
	if (!name) {
		snprintf(t->rule, sizeof(t->rule), "the address was given to no name");
		return false;
	}
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (!netpolicy_name(&n->policy, name, t->port, t->rule))
		return false;
	names_use(n->names, addr, clock_mono());
	return true;
}

static void take(struct gate *g, int fd, const struct sockaddr_storage *from)
{
	struct relay_target t = { 0 };
	struct net *n = g->net;
	struct in6_addr client;

	if (n->stopped || !to_mapped(from, &client, &t.source_port) ||
	    !wanted(g, fd, &t.addr, &t.port)) {
		relay_reset(fd);
		return;
	}
	if (decide(n, &t)) {
		relays_start(n->relays, fd, &t);
		return;
	}
	tell_denied(n, &t, t.rule);
	relay_reset(fd);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval pause = { .tv_usec = 100000 };
	struct gate *g = arg;
	struct net *n = g->net;

	(void)what;
	for (unsigned i = 0; i < ACCEPT_ROUND && n->open; i++) {
		struct sockaddr_storage from = { 0 };
		socklen_t size = sizeof(from);
		int client =
			accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (client >= 0) {
			take(g, client, &from);
			/* Further ones wait in the backlog until one ends. */
			if (relays_count(n->relays) >= n->max)
				gates_open(n, false);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			/* The listener stays readable: look away for a moment, not in circles. */
			gates_open(n, false);
			event_add(n->again, &pause);
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct net *n = arg;

	(void)fd;
	(void)what;
	gates_open(n, true);
}

static void gate_add(struct net *n, int fd, int family, bool redirected)
{
	struct gate *g = &n->gate[n->n_gate];

	if (fd < 0)
		return;
	(void)evutil_make_socket_nonblocking(fd); /* a listener of ours: cannot fail */
	*g = (struct gate){ .net = n, .family = family, .redirected = redirected };
	g->event = event_new(n->base, fd, EV_READ | EV_PERSIST, on_accept, g);
	ensure(g->event != NULL, "memory for an event");
	n->n_gate++;
}

/* The host's resolver, hosts file included, read now: after confinement no file can be opened. */
static int open_dns(struct net *n, struct err *err)
{
	n->dns = evdns_base_new(n->base, 0);
	if (!n->dns)
		return err_set(err, ERR_SYS, "cannot set up the resolver");
	/* Without the file or a server in it, the server on this host is asked, as libc does. */
	(void)evdns_base_resolv_conf_parse(n->dns, DNS_OPTIONS_ALL, "/etc/resolv.conf");
	/* A rule names whole names: "db" must not become "db.corp.example" behind its back. */
	evdns_base_search_clear(n->dns);
	(void)evdns_base_set_option(n->dns, "timeout:", "3");
	/* Answers of one family wait for the other's no longer than this. */
	(void)evdns_base_set_option(n->dns, "getaddrinfo-allow-skew:", "1");
	return 0;
}

/* How many relays this process has descriptors for. The usual soft limit of 1024 is there for programs
 * with select(2); it is raised as far as it may be. */
static unsigned relays_max(void)
{
	const rlim_t want = 2 * RELAY_MAX + OWN_DESCRIPTORS;
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return OWN_DESCRIPTORS;
	if (lim.rlim_cur < want) {
		lim.rlim_cur = want < lim.rlim_max ? want : lim.rlim_max;
		/* Below the hard limit anybody may: setrlimit(2). */
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
	if (lim.rlim_cur >= want)
		return RELAY_MAX;
	return lim.rlim_cur > 3 * OWN_DESCRIPTORS ? (unsigned)(lim.rlim_cur - OWN_DESCRIPTORS) / 2
						  : OWN_DESCRIPTORS;
}

int net_new(struct event_base *base, const struct net_listeners *l, enum net_mode mode,
	    const struct netrules *rules, const struct net_ops *ops, struct net **ret,
	    struct err *err)
{
	struct net *n = mem_zalloc(1, sizeof(*n));
	struct dns_serve_spec serve = { base, l->dns_udp, l->dns_tcp, &n->policy,
					NULL, &n->ops,    &n->denied };
	struct relay_spec relay = {
		base, NULL, &n->policy, &n->ops, &n->denied, on_relay_ended, n
	};
	int rc;

	n->base = base;
	n->policy = (struct netpolicy){ mode, rules };
	n->ops = *ops;
	n->max = relays_max();
	n->again = evtimer_new(base, on_again, n);
	ensure(n->again != NULL, "memory for an event");
	rc = mode == NET_NONE ? 0 : open_dns(n, err);
	if (rc < 0) {
		net_free(n);
		return rc;
	}
	n->names = serve.names = names_new(NAMES_MAX, DNS_TTL * CLOCK_SEC);
	n->serve = dns_serve_new(&serve);
	relay.dns = n->dns;
	n->relays = relays_new(&relay);
	gate_add(n, l->redirected4, AF_INET, true);
	gate_add(n, l->redirected6, AF_INET6, true);
	for (unsigned i = 0; i < l->n_port; i++)
		gate_add(n, l->port[i], AF_UNSPEC, false);
	gates_open(n, true);
	*ret = n;
	return 0;
}

void net_stop(struct net *n)
{
	n->stopped = true;
	relays_cut(n->relays);
	gates_open(n, true);
}

struct net *net_free(struct net *n)
{
	if (!n)
		return NULL;
	n->stopped = true;
	n->relays = relays_free(n->relays);
	n->serve = dns_serve_free(n->serve);
	n->names = names_free(n->names);
	for (unsigned i = 0; i < n->n_gate; i++)
		event_free(n->gate[i].event);
	event_free(n->again);
	once_done(&n->denied);
	if (n->dns)
		evdns_base_free(n->dns, 1);
	free(n);
	return NULL;
}

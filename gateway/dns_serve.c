#include "gateway/dns_serve_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	UDP_ROUND = 64,     /* datagrams before other events have their turn */
	TCP_UNREAD = 65536, /* bytes of answers that a client may leave lying */
	LENGTH = 2,         /* of the number before each message (RFC 1035, 4.2.2) */
};

struct tcp_client {
	struct dns_serve *s;
	struct bufferevent *bev; /* owned */
	struct tcp_client *prev, *next;
	uint16_t port;
	unsigned queries;
};

struct dns_serve {
	struct dns_serve_spec spec;
	struct event *udp, *tcp;  /* owned; NULL none */
	struct event *again;      /* owned: accepts again after descriptors were short */
	struct tcp_client *first; /* owned */
	unsigned n_tcp;
};

/* A refused name is told once: an agent that tries again and again must not fill the record. */
static void tell_denied(struct dns_serve *s, const struct dns_query *q, const char *rule,
			uint16_t port, bool tcp)
{
	const struct net_ops *ops = s->spec.ops;

	if (once_first(s->spec.denied, "%s", q->name))
		ops->dns(ops->arg, q->name, q->qtype, false, rule, port, tcp);
}

/* "localhost" and what is below it are the box's own (RFC 6761, 6.3). */
static bool is_localhost(const char *name)
{
	return strcmp(name, "localhost") == 0 || str_ends(name, ".localhost");
}

static void localhost(const struct dns_query *q, struct dns_record *rec)
{
	static const uint8_t v4[4] = { 127, 0, 0, 1 }, v6[16] = { [15] = 1 };

	rec->type = q->qtype == DNSQ_A || q->qtype == DNSQ_AAAA ? q->qtype : 0;
	memcpy(rec->addr, q->qtype == DNSQ_A ? v4 : v6, q->qtype == DNSQ_A ? 4 : 16);
}

/* PTR of an address that was given to a name, and of 127.0.0.1. A code. */
static int reverse(const struct dns_serve *s, const struct dns_query *q, struct dns_record *rec)
{
	uint32_t addr = 0;
	const char *name;

	if (!dns_reverse(q->name, &addr))
		return DNS_NXDOMAIN;
	name = addr == INADDR_LOOPBACK ? "localhost" : names_find(s->spec.names, addr);
	if (!name)
		return DNS_NXDOMAIN;
	if (q->qtype == DNSQ_PTR) {
		rec->type = DNSQ_PTR;
		rec->target = name;
	}
	return DNS_NOERROR;
}

/* An allowed name. IPv4 only: whatever a name resolves to outside, also IPv6 alone, is reached through its
 * one address here, and an empty AAAA answer spares clients the choice. */
static int allowed(struct dns_serve *s, const struct dns_query *q, const char *rule, uint16_t port,
		   bool tcp, struct dns_record *rec)
{
	const struct net_ops *ops = s->spec.ops;
	bool new;
	uint32_t addr = names_addr(s->spec.names, q->name, clock_mono(), &new), wire = htonl(addr);

	if (addr == 0)
		return DNS_SERVFAIL;
	if (new)
		ops->dns(ops->arg, q->name, q->qtype, true, rule, port, tcp);
	if (q->qtype == DNSQ_A) {
		rec->type = DNSQ_A;
		memcpy(rec->addr, &wire, sizeof(wire));
	}
	return DNS_NOERROR;
}

static int decide(struct dns_serve *s, const struct dns_query *q, uint16_t port, bool tcp,
		  struct dns_record *rec)
{
	char rule[NETPOLICY_RULE_MAX] = "not the name of a host";

	if (is_localhost(q->name)) {
		localhost(q, rec);
		return DNS_NOERROR;
	}
	/* Addresses turned into names are looked up by many programs for their logs: that is neither
	 * a wish to go there nor worth a record. */
	if (str_ends(q->name, ".in-addr.arpa") || str_ends(q->name, ".ip6.arpa"))
		return reverse(s, q, rec);
	if (q->host_name && netpolicy_name(s->spec.policy, q->name, 0, rule))
		return allowed(s, q, rule, port, tcp, rec);
	/* NXDOMAIN, not REFUSED: every resolver library takes it as final and says "unknown host" at
	 * once; for REFUSED and SERVFAIL they ask again and wait. */
	tell_denied(s, q, rule, port, tcp);
	return DNS_NXDOMAIN;
}

size_t dns_serve_answer(struct dns_serve *s, const uint8_t *msg, size_t n, uint16_t source_port,
			bool tcp, uint8_t out[DNS_ANSWER_MAX])
{
	struct dns_record rec = { 0 };
	struct dns_query q;
	int code = dns_read(msg, n, &q);

	if (code < 0)
		return 0;
	if (code == DNS_NOERROR)
		code = decide(s, &q, source_port, tcp, &rec);
	return dns_answer(&q, code, &rec, out);
}

static void on_udp(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	for (unsigned i = 0; i < UDP_ROUND; i++) {
		uint8_t in[DNS_QUERY_MAX], out[DNS_ANSWER_MAX];
		struct sockaddr_in from;
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fd, in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC,
				     (struct sockaddr *)&from, &size);
		size_t len;

		if (n < 0)
			return;
		if ((size_t)n > sizeof(in))
			continue;
		len = dns_serve_answer(arg, in, (size_t)n, ntohs(from.sin_port), false, out);
		/* An answer that the socket does not take is lost, as datagrams may be; the client
		 * asks again. */
		if (len)
			(void)sendto(fd, out, len, MSG_DONTWAIT, (struct sockaddr *)&from, size);
	}
}

static void drop(struct tcp_client *c)
{
	struct dns_serve *s = c->s;

	*(c->prev ? &c->prev->next : &s->first) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	bufferevent_free(c->bev); /* closes the socket */
	free(c);
	if (s->n_tcp-- == DNS_TCP_MAX && s->tcp)
		event_add(s->tcp, NULL);
}

/* One query of @n bytes from the front of @in. False when the connection is to end. */
static bool tcp_query(struct tcp_client *c, struct evbuffer *in, size_t n)
{
	struct evbuffer *to = bufferevent_get_output(c->bev);
	uint8_t msg[DNS_QUERY_MAX], out[LENGTH + DNS_ANSWER_MAX];
	size_t len;

	evbuffer_remove(in, msg, n);
	len = dns_serve_answer(c->s, msg, n, c->port, true, out + LENGTH);
	out[0] = (uint8_t)(len >> 8);
	out[1] = (uint8_t)len;
	return len && ++c->queries <= DNS_TCP_QUERIES && evbuffer_get_length(to) <= TCP_UNREAD &&
	       evbuffer_add(to, out, LENGTH + len) == 0;
}

static void on_tcp_read(struct bufferevent *bev, void *arg)
{
	struct tcp_client *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	uint8_t head[LENGTH];

	while (evbuffer_copyout(in, head, LENGTH) == LENGTH) {
		size_t n = (size_t)(head[0] << 8 | head[1]);

		if (n > DNS_QUERY_MAX) {
			drop(c);
			return;
		}
		if (evbuffer_get_length(in) < LENGTH + n)
			return;
		evbuffer_drain(in, LENGTH);
		if (!tcp_query(c, in, n)) {
			drop(c);
			return;
		}
	}
}

static void on_tcp_event(struct bufferevent *bev, short what, void *arg)
{
	struct tcp_client *c = arg;

	(void)what;
	/* A client that has shut its side down still gets the answers that are under way. */
	if ((what & BEV_EVENT_EOF) && evbuffer_get_length(bufferevent_get_output(bev))) {
		bufferevent_disable(bev, EV_READ);
		return;
	}
	drop(c);
}

static void on_tcp_written(struct bufferevent *bev, void *arg)
{
	/* Reading is off only after the client's last word. */
	if (!(bufferevent_get_enabled(bev) & EV_READ))
		drop(arg);
}

static void tcp_client_new(struct dns_serve *s, int fd, uint16_t port)
{
	const struct timeval idle = { .tv_sec = DNS_TCP_IDLE_S };
	struct tcp_client *c = mem_zalloc(1, sizeof(*c));

	c->s = s;
	c->port = port;
	c->bev = bufferevent_socket_new(s->spec.base, fd, BEV_OPT_CLOSE_ON_FREE);
	ensure(c->bev != NULL, "memory for a connection");
	c->next = s->first;
	if (c->next)
		c->next->prev = c;
	s->first = c;
	if (++s->n_tcp == DNS_TCP_MAX)
		event_del(s->tcp); /* further ones wait in the backlog */
	bufferevent_setwatermark(c->bev, EV_READ, 0, LENGTH + DNS_QUERY_MAX);
	bufferevent_set_timeouts(c->bev, &idle, &idle);
	bufferevent_setcb(c->bev, on_tcp_read, on_tcp_written, on_tcp_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

static void on_tcp(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval pause = { .tv_usec = 100000 };
	struct dns_serve *s = arg;
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	int client = accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (client >= 0) {
		tcp_client_new(s, client, ntohs(from.sin_port));
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		/* The listener stays readable: look away until others have ended, not in circles. */
		event_del(s->tcp);
		event_add(s->again, &pause);
	}
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct dns_serve *s = arg;

	(void)fd;
	(void)what;
	event_add(s->tcp, NULL);
}

static struct event *listen_event(struct dns_serve *s, int fd, event_callback_fn fn)
{
	struct event *e;

	if (fd < 0)
		return NULL;
	(void)evutil_make_socket_nonblocking(fd); /* a listener of ours: cannot fail */
	e = event_new(s->spec.base, fd, EV_READ | EV_PERSIST, fn, s);
	ensure(e != NULL, "memory for an event");
	event_add(e, NULL);
	return e;
}

struct dns_serve *dns_serve_new(const struct dns_serve_spec *spec)
{
	struct dns_serve *s = mem_zalloc(1, sizeof(*s));

	s->spec = *spec;
	s->udp = listen_event(s, spec->udp, on_udp);
	s->tcp = listen_event(s, spec->tcp, on_tcp);
	s->again = evtimer_new(spec->base, on_again, s);
	ensure(s->again != NULL, "memory for an event");
	return s;
}

struct dns_serve *dns_serve_free(struct dns_serve *s)
{
	if (!s)
		return NULL;
	while (s->first)
		drop(s->first);
	if (s->udp)
		event_free(s->udp);
	if (s->tcp)
		event_free(s->tcp);
	event_free(s->again);
	free(s);
	return NULL;
}

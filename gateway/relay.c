#include "gateway/relay_internal.h"

#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* One end of a connection: what is read from it goes to the other end, what the other end's reader could
 * not get rid of waits here. */
struct end {
	int fd;
	struct event *readable, *writable; /* owned */
	char *held;                        /* owned: bytes that this end has not taken yet */
	size_t n, at;
	uint64_t got; /* bytes read from it */
	bool eof;     /* it will send no more */
	struct end *peer;
	struct relay *r; /* it belongs to */
};

struct lookup {
	struct relay *r; /* NULL: nobody wants the answer any more */
};

struct relay {
	struct relays *rs;
	struct relay *prev, *next;
	struct relay_target t;
	struct end box, far;   /* the client's end, the target's end */
	struct lookup *lookup; /* under way; freed by its answer */
	struct in6_addr try[RELAY_TRIES_MAX];
	unsigned n_try, at_try;
	bool told; /* that it was allowed */
	uint64_t t0;
};

struct relays {
	struct relay_spec spec;
	struct relay *first;
	unsigned n;
	char *chunk; /* owned: RELAY_CHUNK bytes that all share, as one thread carries them */
	size_t held; /* bytes that wait for their ends */
};

void relay_reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	/* tcp(7): closing with a linger time of zero sends RST. A failure leaves an orderly end. */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

struct relays *relays_new(const struct relay_spec *spec)
{
	struct relays *rs = mem_zalloc(1, sizeof(*rs));

	rs->spec = *spec;
	rs->chunk = mem_alloc(RELAY_CHUNK);
	return rs;
}

unsigned relays_count(const struct relays *rs)
{
	return rs->n;
}

static void end_done(struct end *e, bool reset)
{
	if (e->readable)
		event_free(e->readable);
	if (e->writable)
		event_free(e->writable);
	if (e->held)
		e->r->rs->held -= e->n;
	free(e->held);
	if (e->fd >= 0 && reset)
		relay_reset(take_fd(&e->fd));
	mem_close(&e->fd);
}

/* The end of a connection; @reset: both sides learn that it broke. Its owner is told when it knows of
 * it as an allowed one. */
static void finish(struct relay *r, bool reset)
{
	struct relays *rs = r->rs;
	const struct net_ops *ops = rs->spec.ops;
	char addr[INET6_ADDRSTRLEN];

	if (r->told)
		ops->closed(ops->arg, r->t.name[0] ? r->t.name : addr_text(&r->t.addr, addr),
			    r->box.got, r->far.got, clock_mono() - r->t0);
	*(r->prev ? &r->prev->next : &rs->first) = r->next;
	if (r->next)
		r->next->prev = r->prev;
	rs->n--;
	if (r->lookup)
		r->lookup->r = NULL;
	end_done(&r->box, reset);
	end_done(&r->far, reset);
	rs->spec.ended(rs->spec.arg, &r->t);
	free(r);
}

static void tell(struct relay *r, const struct in6_addr *addr, bool allowed, const char *rule)
{
	const struct net_ops *ops = r->rs->spec.ops;
	char text[INET6_ADDRSTRLEN] = "";

	if (addr)
		addr_text(addr, text);
	r->told = allowed;
	if (allowed || once_first(r->rs->spec.denied, "%s %s %u", r->t.name, text, r->t.port))
		ops->connect(ops->arg, r->t.name, text, r->t.port, allowed, rule, r->t.source_port);
}

/* Both directions are through. */
static bool is_over(const struct relay *r)
{
	return r->box.eof && r->far.eof && !r->box.held && !r->far.held;
}

/* @from sends no more and @from->peer has taken everything: pass the half-close on. */
static void pass_eof(struct end *from)
{
	/* ENOTCONN: that end broke; its reader finds out. */
	(void)shutdown(from->peer->fd, SHUT_WR);
	if (is_over(from->r))
		finish(from->r, false);
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Give @to the @n bytes at @p; what it does not take is held, and its peer is not read until it is gone:
 * that is how the slower side brakes the faster one. False when it broke. */
static bool give(struct end *to, const char *p, size_t n)
{
	ssize_t sent = send(to->fd, p, n, MSG_NOSIGNAL);

	if (sent < 0 && !would_block())
		return false;
	if (sent < 0)
		sent = 0;
	if ((size_t)sent == n)
		return true;
	to->n = n - (size_t)sent;
	to->at = 0;
	to->held = mem_dup(p + sent, to->n);
	to->r->rs->held += to->n;
	event_del(to->peer->readable);
	event_add(to->writable, NULL);
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct end *from = arg;
	const struct relays *rs = from->r->rs;
	size_t max = rs->held < RELAY_HELD_MAX ? RELAY_CHUNK : RELAY_CHUNK_LOW;
	char *chunk = rs->chunk;
	ssize_t n = recv(fd, chunk, max, 0);

	(void)what;
	if (n < 0 && would_block())
		return;
	if (n < 0) {
		finish(from->r, true);
	} else if (n == 0) {
		from->eof = true;
		event_del(from->readable);
		if (!from->peer->held)
			pass_eof(from);
	} else {
		from->got += (uint64_t)n;
		if (!give(from->peer, chunk, (size_t)n))
			finish(from->r, true);
	}
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct end *to = arg;
	ssize_t sent = send(fd, to->held + to->at, to->n - to->at, MSG_NOSIGNAL);

	(void)what;
	if (sent < 0 && would_block())
		return;
	if (sent < 0) {
		finish(to->r, true);
		return;
	}
	to->at += (size_t)sent;
	if (to->at < to->n)
		return;
	to->r->rs->held -= to->n;
	free(take_ptr(&to->held));
	event_del(to->writable);
	if (to->peer->eof)
		pass_eof(to->peer);
	else
		event_add(to->peer->readable, NULL);
}

static void set_option(int fd, int level, int name)
{
	int on = 1;

	/* Better with them; without them it works too. */
	(void)setsockopt(fd, level, name, &on, sizeof(on));
}

/* The target answered: begin to carry. */
static void carry(struct relay *r)
{
	struct end *ends[] = { &r->box, &r->far };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct end *e = ends[i];

		/* What the two sides send is passed on as it comes. */
		set_option(e->fd, IPPROTO_TCP, TCP_NODELAY);
		e->readable =
			event_new(r->rs->spec.base, e->fd, EV_READ | EV_PERSIST, on_readable, e);
		e->writable =
			event_new(r->rs->spec.base, e->fd, EV_WRITE | EV_PERSIST, on_writable, e);
		ensure(e->readable && e->writable, "memory for events");
		event_add(e->readable, NULL);
	}
	/* A target that vanished without a word must not hold the connection for ever. */
	set_option(r->far.fd, SOL_SOCKET, SO_KEEPALIVE);
}

/* Begin to connect to @addr. The socket, or -1 with errno; EINPROGRESS is success. */
static int dial(const struct in6_addr *addr, uint16_t port)
{
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool v4 = IN6_IS_ADDR_V4MAPPED(addr);
	auto_fd int fd =
		socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	to6.sin6_addr = *addr;
	memcpy(&to4.sin_addr, &addr->s6_addr[12], 4);
	if (connect(fd, v4 ? (struct sockaddr *)&to4 : (struct sockaddr *)&to6,
		    v4 ? sizeof(to4) : sizeof(to6)) < 0 &&
	    errno != EINPROGRESS)
		return -1;
	return take_fd(&fd);
}

static void try_next(struct relay *r);

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
	struct relay *r = arg;
	int error = ETIMEDOUT;
	socklen_t n = sizeof(error);

	if (what & EV_WRITE)
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n); /* cannot fail: socket(7) */
	event_free(take_ptr(&r->far.writable));
	if (error == 0) {
		carry(r);
		return;
	}
	mem_close(&r->far.fd);
	try_next(r);
}

/* Dial the next address; when none is left, the client gets RST: it was connected to us, and an orderly
 * end would read as an empty answer. */
static void try_next(struct relay *r)
{
	const struct timeval patience = { .tv_sec = RELAY_CONNECT_S };

	while (r->at_try < r->n_try) {
		r->far.fd = dial(&r->try[r->at_try++], r->t.port);
		if (r->far.fd < 0)
			continue;
		r->far.writable = event_new(r->rs->spec.base, r->far.fd, EV_WRITE, on_connected, r);
		ensure(r->far.writable != NULL, "memory for an event");
		event_add(r->far.writable, &patience);
		return;
	}
	finish(r, true);
}

/* Check the addresses one by one and dial those that pass. @own is fresh: an address that an interface
 * got a moment ago counts. */
static void check_and_dial(struct relay *r, const struct in6_addr *addr, unsigned n)
{
	const struct netpolicy *policy = r->rs->spec.policy;
	bool named = r->t.name[0];
	char rule[NETPOLICY_RULE_MAX] = "the name has no address";
	struct own_addrs own = { 0 };
	struct err err;

	if (own_addrs_get(&own, &err) < 0) {
		tell(r, n ? &addr[0] : NULL, false, err.text);
		finish(r, true);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (netpolicy_addr(policy, &addr[i], r->t.port, &own, named, rule))
			r->try[r->n_try++] = addr[i];
	}
	own_addrs_done(&own);
	if (r->n_try == 0) {
		tell(r, n ? &addr[0] : NULL, false, rule);
		finish(r, true);
		return;
	}
	tell(r, &r->try[0], true, named ? r->t.rule : rule);
	try_next(r);
}

/* Answer of the resolver. @res is ours to free. */
static void on_resolved(int error, struct evutil_addrinfo *res, void *arg)
{
	struct lookup *l = arg;
	struct relay *r = l->r;
	struct in6_addr addr[RELAY_TRIES_MAX];
	unsigned n = 0;

	free(l);
	for (struct evutil_addrinfo *i = res; i && n < RELAY_TRIES_MAX; i = i->ai_next) {
		if (i->ai_family == AF_INET6) {
			addr[n++] = ((struct sockaddr_in6 *)i->ai_addr)->sin6_addr;
		} else if (i->ai_family == AF_INET) {
			addr[n] = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
			memcpy(&addr[n++].s6_addr[12],
			       &((struct sockaddr_in *)i->ai_addr)->sin_addr, 4);
		}
	}
	if (res)
		evutil_freeaddrinfo(res);
	if (!r)
		return;
	r->lookup = NULL;
	if (n) {
		check_and_dial(r, addr, n);
		return;
	}
	/* Not refused: the policy allows it, the world does not have it. */
	tell(r, NULL, true,
	     error == EVUTIL_EAI_NONAME ? "the name does not exist outside"
					: "the name has no address outside, or nobody told it");
	finish(r, true);
}

static void resolve(struct relay *r)
{
	struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };

	r->lookup = mem_zalloc(1, sizeof(*r->lookup));
	r->lookup->r = r;
	/* The answer may come before this returns, and with it @r may be gone. */
	(void)evdns_getaddrinfo(r->rs->spec.dns, r->t.name, NULL, &hints, on_resolved, r->lookup);
}

static void end_init(struct end *e, struct relay *r, struct end *peer, int fd)
{
	*e = (struct end){ .fd = fd, .peer = peer, .r = r };
}

void relays_start(struct relays *rs, int fd, const struct relay_target *t)
{
	struct relay *r = mem_zalloc(1, sizeof(*r));

	r->rs = rs;
	r->t = *t;
	r->t0 = clock_mono();
	end_init(&r->box, r, &r->far, fd);
	end_init(&r->far, r, &r->box, -1);
	r->next = rs->first;
	if (r->next)
		r->next->prev = r;
	rs->first = r;
	rs->n++;
	if (t->name[0])
		resolve(r);
	else
		check_and_dial(r, &t->addr, 1);
}

void relays_cut(struct relays *rs)
{
	while (rs->first)
		finish(rs->first, true);
}

struct relays *relays_free(struct relays *rs)
{
	if (!rs)
		return NULL;
	relays_cut(rs);
	free(rs->chunk);
	free(rs);
	return NULL;
}

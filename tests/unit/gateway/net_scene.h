/* The outside world of test_net.c: a net namespace with addresses that look public, servers that behave in
 * one way per port, and a name server. One process, one loop. */
#ifndef TESTS_UNIT_GATEWAY_NET_SCENE_H
#define TESTS_UNIT_GATEWAY_NET_SCENE_H

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "gateway/relay_internal.h"
#include "tests/lib/nsbox.h"

/* What a server does at its port. */
enum { ECHO = 7000, ECHO_TOO, BREAKER, WATCHER, SOURCE, COUNTER, SERVER_PORTS = 6 };

enum { SOURCE_BYTES = 32 << 20 };

/* Seen by all processes of the test. */
struct outside {
	unsigned accepted[SERVER_PORTS]; /* connections at each port, from ECHO */
	unsigned asked;                  /* questions to the name server */
	int news[2]; /* pipe: 's' the source stalled, 'r' and 'e' what the watcher saw */
	int ready[2];
};

static struct outside *outside;

static const char *const outside_addrs[] = { "198.51.100.7/32",   "198.51.100.8/32",
					     "10.20.30.40/32",    "10.9.9.9/32",
					     "192.0.2.53/32",     "169.254.169.254/32",
					     "100.100.100.200/32" };

/* clang-format off */
static const struct {
	const char *name;
	const char *v4[2];
	const char *v6;
} outside_names[] = {
	{ "echo.example",      { "198.51.100.7" } },
	{ "any.multi.example", { "198.51.100.7" } },
	{ "only6.example",     { NULL }, "2001:db8:1::7" },
	{ "private.example",   { "10.20.30.40" } },
	{ "noprivate.example", { "10.9.9.9" } },
	{ "loop.example",      { "127.0.0.1" }, "::1" },
	{ "meta.example",      { "169.254.169.254" } },
	{ "meta2.example",     { "100.100.100.200" } },
	{ "own.example",       { "203.0.113.1" } },
	{ "mapped.example",    { NULL }, "::ffff:127.0.0.1" },
	{ "nat64.example",     { NULL }, "64:ff9b::7f00:1" },
	{ "mixed.example",     { "127.0.0.1", "198.51.100.7" } },
	{ "second.example",    { "203.0.113.2", "198.51.100.7" } },
	{ "empty.example",     { NULL } },
};
/* clang-format on */

static void outside_news(char c)
{
	if (write(outside->news[1], &c, 1) != 1)
		_exit(1);
}

/* The source's own loop in a process of its own, so that it may block. */
static void source(int fd)
{
	static char block[65536];
	size_t left = SOURCE_BYTES;
	bool told = false;

	while (left) {
		size_t want = left < sizeof(block) ? left : sizeof(block);
		ssize_t n = send(fd, block, want, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			break;
		if (n < 0) {
			if (!told)
				outside_news('s');
			told = true;
			n = send(fd, block, 1, MSG_NOSIGNAL);
		}
		if (n <= 0)
			break;
		left -= (size_t)n;
	}
	_exit(0);
}

struct server_conn {
	int port;
	uint64_t got;
};

static void conn_end(struct bufferevent *bev, struct server_conn *c)
{
	bufferevent_free(bev);
	free(c);
}

static void on_server_read(struct bufferevent *bev, void *arg)
{
	struct server_conn *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	c->got += evbuffer_get_length(in);
	if (c->port == ECHO || c->port == ECHO_TOO) {
		bufferevent_write_buffer(bev, in);
	} else if (c->port == BREAKER) {
		struct linger now = { 1, 0 };

		setsockopt(bufferevent_getfd(bev), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		conn_end(bev, c);
	} else {
		evbuffer_drain(in, evbuffer_get_length(in));
	}
}

static void on_server_written(struct bufferevent *bev, void *arg)
{
	if (!(bufferevent_get_enabled(bev) & EV_READ))
		conn_end(bev, arg);
}

static void on_server_event(struct bufferevent *bev, short what, void *arg)
{
	struct server_conn *c = arg;

	if (c->port == WATCHER)
		outside_news(what & BEV_EVENT_EOF ? 'e' : 'r');
	if (c->port == COUNTER && (what & BEV_EVENT_EOF))
		evbuffer_add_printf(bufferevent_get_output(bev), "%llu",
				    (unsigned long long)c->got);
	if ((what & BEV_EVENT_EOF) && evbuffer_get_length(bufferevent_get_output(bev)))
		bufferevent_disable(bev, EV_READ);
	else
		conn_end(bev, c);
}

static void on_server_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from,
			     int size, void *arg)
{
	struct server_conn *c = mem_zalloc(1, sizeof(*c));
	struct sockaddr_in6 at;
	socklen_t n = sizeof(at);
	struct bufferevent *bev;

	(void)from;
	(void)size;
	getsockname(fd, (struct sockaddr *)&at, &n);
	c->port = ntohs(at.sin6_port); /* the same place in both families */
	outside->accepted[c->port - ECHO]++;
	if (c->port == SOURCE) {
		if (fork() == 0) {
			int flags = fcntl(fd, F_GETFL);

			fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
			source(fd);
		}
		close(fd);
		free(c);
		return;
	}
	(void)l;
	bev = bufferevent_socket_new(arg, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(bev, on_server_read, on_server_written, on_server_event, c);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

/* The name server: answers in the order of its table, by A and AAAA, names it does not know do not
 * exist. Good enough for one honest client. */
static void on_question(evutil_socket_t fd, short what, void *arg)
{
	uint8_t m[512], *p;
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(fd, m, sizeof(m) - 100, 0, (struct sockaddr *)&from, &size);
	struct dns_query q;
	bool found = false;

	(void)what;
	(void)arg;
	outside->asked++;
	if (n < 0 || dns_read(m, (size_t)n, &q) != DNS_NOERROR)
		return;
	p = m + q.question_end;
	m[2] |= 0x80;
	m[3] = 0x80;
	for (size_t i = 0; i < ARRAY_SIZE(outside_names); i++) {
		if (strcmp(q.name, outside_names[i].name) != 0)
			continue;
		found = true;
		for (unsigned k = 0; k < 2; k++) {
			const char *a = outside_names[i].v4[k];
			uint8_t size4 = 4;

			if (q.qtype == DNSQ_AAAA)
				a = k ? NULL : outside_names[i].v6;
			if (!a || (q.qtype != DNSQ_A && q.qtype != DNSQ_AAAA))
				continue;
			size4 = q.qtype == DNSQ_A ? 4 : 16;
			memcpy(p, "\xc0\x0c\0\0\0\1\0\0\0\1\0", 12);
			p[3] = (uint8_t)q.qtype;
			p[11] = size4;
			inet_pton(q.qtype == DNSQ_A ? AF_INET : AF_INET6, a, p + 12);
			p += 12 + size4;
			m[7]++;
		}
	}
	if (!found)
		m[3] |= DNS_NXDOMAIN;
	(void)sendto(fd, m, (size_t)(p - m), 0, (struct sockaddr *)&from, size);
}

/* The process of the world: waits until its link is there, then serves for ever. */
static void outside_run(void *arg)
{
	struct event_base *base = event_base_new();
	struct sockaddr_in dns = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	char c;

	(void)arg;
	signal(SIGCHLD, SIG_IGN);
	if (read(outside->ready[0], &c, 1) != 1)
		_exit(1);
	nsbox_run("ip link set lo up");
	inet_pton(AF_INET, "192.0.2.53", &dns.sin_addr);
	if (bind(fd, (struct sockaddr *)&dns, sizeof(dns)) < 0)
		_exit(1);
	event_add(event_new(base, fd, EV_READ | EV_PERSIST, on_question, NULL), NULL);
	for (unsigned i = 0; i < SERVER_PORTS; i++) {
		struct sockaddr_in6 at = { .sin6_family = AF_INET6,
					   .sin6_port = htons((uint16_t)(ECHO + i)) };

		if (!evconnlistener_new_bind(base, on_server_accept, base,
					     LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 2048,
					     (struct sockaddr *)&at, sizeof(at)))
			_exit(1);
	}
	outside_news('!');
	event_base_dispatch(base);
	_exit(1);
}

/* This process becomes root of its own namespaces with one link to the world, which is started. NULL, or
 * what could not be had. */
static const char *outside_new(struct nsbox *world)
{
	struct rlimit lim;
	char c;

	if (nsbox_unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) < 0)
		return "userns: no user namespaces here";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    nsbox_cover("/etc/resolv.conf", "nameserver 192.0.2.53\nsearch corp.example\n") < 0 ||
	    nsbox_cover("/etc/hosts", "127.0.0.1 localhost\n198.51.100.7 hosts.example\n") < 0)
		return "cannot cover files of /etc";
	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	outside = mmap(NULL, sizeof(*outside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (outside == MAP_FAILED || pipe2(outside->news, O_CLOEXEC) < 0 ||
	    pipe2(outside->ready, O_CLOEXEC) < 0)
		return "no memory";
	if (nsbox_start(world, CLONE_NEWNET, outside_run, NULL) < 0)
		return "cannot start the world";
	if (!nsbox_run("ip link set lo up && ip link add v0 type veth peer name v1 netns %d",
		       world->pid) ||
	    !nsbox_run("ip addr add 203.0.113.1/24 dev v0 && ip link set v0 up && "
		       "ip -6 addr add 2001:db8:f::1/64 dev v0 nodad") ||
	    !nsbox_run("nsenter -t %d -n sh -c 'ip link set lo up; ip link set v1 up; ip addr add "
		       "203.0.113.2/24 dev v1; ip -6 addr add 2001:db8:f::2/64 dev v1 nodad; "
		       "ip -6 addr add 2001:db8:1::7/128 dev lo nodad'",
		       world->pid) ||
	    !nsbox_run("ip route add default via 203.0.113.2 && "
		       "ip -6 route add default via 2001:db8:f::2"))
		return "cannot make a link";
	for (size_t i = 0; i < ARRAY_SIZE(outside_addrs); i++) {
		if (!nsbox_run("nsenter -t %d -n ip addr add %s dev lo", world->pid,
			       outside_addrs[i]))
			return "cannot give addresses";
	}
	if (write(outside->ready[1], "", 1) != 1 || read(outside->news[0], &c, 1) != 1 || c != '!')
		return "the world did not start";
	return NULL;
}

#endif

#include "services/pgrelay_internal.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { BACKLOG = 64, READ_MAX = 64 << 10, WAITING_MAX = 256 << 10 };

struct conn {
	struct pgrelay *relay;
	struct conn *next;
	struct bufferevent *client, *server; /* owned */
	struct pgwire wire;
	uint16_t port; /* of the client */
	bool ending;   /* one side has ended: what is left for the other goes out */
};

struct pgrelay {
	struct event_base *base;
	struct pgrelay_ops ops;
	struct event *accepting, *cut; /* owned */
	struct conn *first;
	unsigned n;
	int listener;
	uint16_t port;
	bool down;
};

static void listen_or_not(struct pgrelay *r)
{
	if (!r->down && r->n < PGRELAY_MAX)
		event_add(r->accepting, NULL);
	else
		event_del(r->accepting);
}

static void end(struct conn *c)
{
	struct pgrelay *r = c->relay;
	struct conn **at = &r->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	r->n--;
	bufferevent_free(c->client);
	bufferevent_free(c->server);
	free(c);
	listen_or_not(r);
}

/* Look at what has come from @from and pass it on. False: the connection has ended. */
static bool pass(struct conn *c, struct bufferevent *from, struct bufferevent *to)
{
	struct evbuffer *in = bufferevent_get_input(from), *out = bufferevent_get_output(to);
	bool front = from == c->client;

	for (;;) {
		size_t n = evbuffer_get_length(in), take = 0;
		size_t look = n < PGWIRE_STARTUP_MAX ? n : PGWIRE_STARTUP_MAX;
		const uint8_t *p = look ? evbuffer_pullup(in, (ev_ssize_t)look) : NULL;
		struct pgwire_event ev;
		enum pgwire_does does;

		/* What is there is known; the part that a message still passes is not limited to the look. */
		does = front ? pgwire_front(&c->wire, p, look, &take, &ev)
			     : pgwire_back(&c->wire, p, look, &take, &ev);
		if (does == PGWIRE_MORE)
			return true;
		if (does == PGWIRE_BAD) {
			end(c);
			return false;
		}
		if (does == PGWIRE_TELL)
			c->relay->ops.told(c->relay->ops.arg, &c->wire, &ev, c->port);
		if (does == PGWIRE_DENY) {
			evbuffer_drain(in, take);
			bufferevent_write(from, "N", 1);
		} else if (take) {
			evbuffer_remove_buffer(in, out, take);
		}
	}
}

static void on_read(struct bufferevent *from, void *arg)
{
	struct conn *c = arg;
	struct bufferevent *to = from == c->client ? c->server : c->client;

	if (!pass(c, from, to))
		return;
	/* Who does not read is not read for. */
	if (evbuffer_get_length(bufferevent_get_output(to)) > WAITING_MAX)
		bufferevent_disable(from, EV_READ);
}

/* All that @to was to get is with the kernel. */
static void on_written(struct bufferevent *to, void *arg)
{
	struct conn *c = arg;
	struct bufferevent *from = to == c->client ? c->server : c->client;

	if (c->ending)
		end(c);
	else
		bufferevent_enable(from, EV_READ);
}

static void on_event(struct bufferevent *b, short what, void *arg)
{
	struct conn *c = arg;
	struct bufferevent *to = b == c->client ? c->server : c->client;

	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	/* The last words of either side (why a session ends; a statement and good-bye) still go to the other. */
	if (!c->ending && evbuffer_get_length(bufferevent_get_output(to)) > 0) {
		c->ending = true;
		bufferevent_disable(b, EV_READ | EV_WRITE);
		bufferevent_disable(to, EV_READ);
		return;
	}
	end(c);
}

static void start(struct pgrelay *r, int fd, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(r->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct conn *c = mem_zalloc(1, sizeof(*c));

	c->relay = r;
	c->port = port;
	c->client = bufferevent_socket_new(r->base, fd, BEV_OPT_CLOSE_ON_FREE);
	c->server = bufferevent_socket_new(r->base, -1, BEV_OPT_CLOSE_ON_FREE);
	ensure(c->client && c->server, "memory for a connection");
	c->next = r->first;
	r->first = c;
	r->n++;
	bufferevent_setcb(c->client, on_read, on_written, on_event, c);
	bufferevent_setcb(c->server, on_read, on_written, on_event, c);
	bufferevent_setwatermark(c->client, EV_READ, 0, READ_MAX);
	bufferevent_setwatermark(c->server, EV_READ, 0, READ_MAX);
	if (bufferevent_socket_connect(c->server, (struct sockaddr *)&to, sizeof(to)) < 0) {
		end(c);
		return;
	}
	bufferevent_enable(c->client, EV_READ | EV_WRITE);
	bufferevent_enable(c->server, EV_READ | EV_WRITE);
	listen_or_not(r);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct pgrelay *r = arg;
	struct sockaddr_in from = { 0 };
	socklen_t n = sizeof(from);
	int client = accept4(fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (client >= 0)
		start(r, client, ntohs(from.sin_port));
}

/* Not where the change arrives: that may be in the middle of a connection's own work. */
static void on_cut(evutil_socket_t fd, short what, void *arg)
{
	struct pgrelay *r = arg;

	(void)fd;
	(void)what;
	while (r->down && r->first)
		end(r->first);
}

struct pgrelay *pgrelay_new(struct event_base *base, int listener, uint16_t port,
			    const struct pgrelay_ops *ops)
{
	struct pgrelay *r = mem_zalloc(1, sizeof(*r));

	r->base = base;
	r->ops = *ops;
	r->listener = listener;
	r->port = port;
	r->accepting = event_new(base, listener, EV_READ | EV_PERSIST, on_accept, r);
	r->cut = event_new(base, -1, 0, on_cut, r);
	if (!r->accepting || !r->cut || evutil_make_socket_nonblocking(listener) < 0 ||
	    event_add(r->accepting, NULL) < 0) {
		if (r->accepting)
			event_free(r->accepting);
		if (r->cut)
			event_free(r->cut);
		free(r);
		return NULL;
	}
	return r;
}

void pgrelay_down(struct pgrelay *r, bool down)
{
	if (r->down == down)
		return;
	r->down = down;
	if (down) {
		event_del(r->accepting);
		/* A listener that was shut keeps its address and can listen again (inet_shutdown()). */
		(void)shutdown(r->listener, SHUT_RDWR);
		event_active(r->cut, 0, 0);
		return;
	}
	(void)listen(r->listener, BACKLOG); /* as it was */
	listen_or_not(r);
}

#include "gateway/http.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "gateway/api.h"

enum {
	READ_AHEAD = 256 << 10, /* bytes of a connection that libevent holds for us */
	READ_SECONDS =
		120, /* between two pieces of a request: the supervisor may hold the client */
	IDLE_SECONDS = 900,      /* between two requests */
	WRITE_SECONDS = 900,     /* without the client taking a byte */
	DRAIN_SECONDS = 5,       /* for a client to see the answer to what it still sends */
	ACCEPT_PAUSE_MS = 200,   /* after accept(2) failed for want of descriptors */
	DRAIN_BYTES = 128 << 20, /* that are thrown away meanwhile */
};

enum conn_state {
	CONN_READING, /* a request is being read or awaited */
	CONN_WAITING, /* it was handed over */
	CONN_PIECES,  /* its answer goes out in pieces */
	CONN_DRAIN,   /* answered for the last time: read and drop until the client closes */
};

struct http_conn {
	TAILQ_ENTRY(http_conn) link; /* in order of the last use, oldest first */
	struct http *http;
	struct bufferevent *bev; /* owned, with its descriptor */
	enum conn_state state;
	struct httpparse parse;
	void *user;
	bool keep_alive, old, head; /* of the request that is answered */
	bool calling;               /* its callback runs: freeing waits for its end */
	bool dead;
	bool closed; /* the client sends no more */
	size_t dropped;
};

struct http {
	struct event_base *base; /* borrowed */
	const struct http_ops *ops;
	struct evconnlistener *listener; /* owned; NULL without a socket */
	struct event *again;             /* owned: accept again after a failure */
	TAILQ_HEAD(, http_conn) conns;
	unsigned n_conns;
	struct ration ration;
};

/* --- shared bytes ----------------------------------------------------------------------------- */

struct http_blob *http_blob(struct buf *b, size_t *total)
{
	struct http_blob *x = mem_zalloc(1, sizeof(*x));

	x->refs = 1;
	x->data = buf_steal(b, &x->n);
	x->total = total;
	if (total)
		*total += x->n;
	return x;
}

struct http_blob *http_blob_ref(struct http_blob *b)
{
	b->refs++;
	return b;
}

struct http_blob *http_blob_unref(struct http_blob *b)
{
	if (!b || --b->refs)
		return NULL;
	if (b->total)
		*b->total -= b->n;
	free(b->data);
	free(b);
	return NULL;
}

/* --- life of a connection --------------------------------------------------------------------- */

static void conn_free(struct http_conn *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	c->dead = true;
	if (c->calling)
		return;
	TAILQ_REMOVE(&c->http->conns, c, link);
	c->http->n_conns--;
	/* bufferevent_free() works in the loop's next round; answers that lie here are given back
	 * now, while their owner is there. */
	(void)evbuffer_unfreeze(out, 1);
	(void)evbuffer_drain(out, evbuffer_get_length(out));
	bufferevent_free(c->bev);
	httpparse_done(&c->parse);
	free(c);
}

/* Longest unused first; a frozen or slow client keeps its place as long as there is room. */
static void touch(struct http_conn *c)
{
	TAILQ_REMOVE(&c->http->conns, c, link);
	TAILQ_INSERT_TAIL(&c->http->conns, c, link);
}

static void limit_time(struct http_conn *c, int read_seconds)
{
	struct timeval r = { .tv_sec = read_seconds }, w = { .tv_sec = WRITE_SECONDS };

	(void)bufferevent_set_timeouts(c->bev, read_seconds ? &r : NULL, &w); /* cannot fail */
}

/* Nothing more is said: close our side and let the client finish, so that the reset which unread
 * bytes cause does not take the answer away from it (RFC 9112 section 9.6). c->dead afterwards: the
 * client has finished, too. */
static void drain(struct http_conn *c)
{
	bool sent = !evbuffer_get_length(bufferevent_get_output(c->bev));

	c->state = CONN_DRAIN;
	limit_time(c, sent ? DRAIN_SECONDS : 0);
	c->dead |= sent && c->closed;
	if (sent)
		(void)shutdown(bufferevent_getfd(c->bev), SHUT_WR); /* gone already: fine */
}

static void next_request(struct http_conn *c)
{
	c->user = NULL;
	httpparse_done(&c->parse);
	httpparse_init(&c->parse, &c->http->ration, API_BODY_MAX);
	if (!c->keep_alive) {
		drain(c);
		return;
	}
	c->state = CONN_READING;
	limit_time(c, IDLE_SECONDS);
	/* What was sent ahead lies in the buffer and raises no event of its own. */
	if (!c->calling && evbuffer_get_length(bufferevent_get_input(c->bev)))
		bufferevent_trigger(c->bev, EV_READ,
				    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

/* --- answers ---------------------------------------------------------------------------------- */

struct reason {
	int status;
	const char *text;
};

/* clang-format off */
static const struct reason reasons[] = {
	{ 200, "OK" },                       { 400, "Bad Request" },
	{ 401, "Unauthorized" },             { 403, "Forbidden" },
	{ 404, "Not Found" },                { 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },          { 413, "Content Too Large" },
	{ 414, "URI Too Long" },             { 415, "Unsupported Media Type" },
	{ 417, "Expectation Failed" },       { 422, "Unprocessable Content" },
	{ 429, "Too Many Requests" },        { 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },    { 501, "Unsupported" },
	{ 502, "Bad Gateway" },              { 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};
/* clang-format on */

static const char *reason_of(int status)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (reasons[i].status == status)
			return reasons[i].text;
	}
	return "Status";
}

static void write_head(struct http_conn *c, const struct http_head *head, bool pieces, size_t n)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", head->status, reason_of(head->status));
	if (head->type)
		evbuffer_add_printf(out, "content-type: %s\r\n", head->type);
	if (pieces && c->old)
		c->keep_alive = false; /* the end of the connection is the end of the body */
	else if (pieces)
		evbuffer_add_printf(out, "transfer-encoding: chunked\r\n");
	else
		evbuffer_add_printf(out, "content-length: %zu\r\n", n);
	if (head->retry_after)
		evbuffer_add_printf(out, "retry-after: %u\r\n", head->retry_after);
	if (head->allow)
		evbuffer_add_printf(out, "allow: %s\r\n", head->allow);
	if (!c->keep_alive)
		evbuffer_add_printf(out, "connection: close\r\n");
	else if (c->old)
		evbuffer_add_printf(out, "connection: keep-alive\r\n");
	evbuffer_add_printf(out, "cache-control: no-store\r\n\r\n");
}

static void blob_sent(const void *data, size_t n, void *arg)
{
	(void)data;
	(void)n;
	http_blob_unref(arg);
}

void http_answer(struct http_conn *c, const struct http_head *head, struct http_blob *body)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	size_t n = body ? body->n : 0;

	write_head(c, head, false, n);
	if (n && !c->head &&
	    evbuffer_add_reference(out, body->data, n, blob_sent, http_blob_ref(body)) < 0) {
		http_blob_unref(body);
		http_abort(c);
		return;
	}
	next_request(c);
}

void http_answer_text(struct http_conn *c, const struct http_head *head, const char *text, size_t n)
{
	write_head(c, head, false, n);
	if (!c->head)
		bufferevent_write(c->bev, text, n);
	next_request(c);
}

void http_begin(struct http_conn *c, const struct http_head *head)
{
	c->state = CONN_PIECES;
	write_head(c, head, true, 0);
}

void http_send(struct http_conn *c, const char *text, size_t n)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	if (!n)
		return; /* an empty chunk would be the end */
	if (!c->old)
		evbuffer_add_printf(out, "%zx\r\n", n);
	evbuffer_add(out, text, n);
	if (!c->old)
		evbuffer_add(out, "\r\n", 2);
}

void http_end(struct http_conn *c)
{
	if (!c->old)
		bufferevent_write(c->bev, "0\r\n\r\n", 5);
	next_request(c);
}

void http_abort(struct http_conn *c)
{
	/* SO_LINGER with no time makes close(2) a reset: a client of HTTP/1.0 would take a plain
	 * end for the end of the body (socket(7)). */
	struct linger hard = { .l_onoff = 1 };

	(void)setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	c->user = NULL;
	conn_free(c);
}

void http_set_user(struct http_conn *c, void *user)
{
	c->user = user;
}

uint16_t http_port(const struct http_conn *c)
{
	struct sockaddr_in6 a = { 0 };
	socklen_t n = sizeof(a);

	/* sockaddr_in and sockaddr_in6 have their port at the same place (ip(7), ipv6(7)). */
	if (getpeername(bufferevent_getfd(c->bev), (struct sockaddr *)(void *)&a, &n) < 0 ||
	    (a.sin6_family != AF_INET && a.sin6_family != AF_INET6))
		return 0;
	return ntohs(a.sin6_port);
}

/* --- events ----------------------------------------------------------------------------------- */

/* A request that cannot be read. The answer has no API's shape: the route may not be known. */
static void refuse(struct http_conn *c)
{
	struct http_head head = { .status = c->parse.status, .type = "application/json" };
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\"}}\n",
			 c->parse.why);

	if (head.status == 503)
		head.retry_after = 1;
	c->keep_alive = c->head = c->old = false;
	http_answer_text(c, &head, text, (size_t)n);
}

static void hand_over(struct http_conn *c)
{
	struct http_request *r = &c->parse.r;

	c->state = CONN_WAITING;
	c->keep_alive = r->keep_alive;
	c->old = r->old;
	c->head = strcmp(r->method, "HEAD") == 0;
	limit_time(c, 0);
	c->http->ops->request(c->http->ops->arg, c, r);
}

/* Feed what lies in the input buffer, piece by piece as it lies there. */
static void feed(struct http_conn *c, struct evbuffer *in)
{
	while (c->state == CONN_READING && !c->dead && evbuffer_get_length(in)) {
		struct evbuffer_iovec v;

		if (evbuffer_peek(in, -1, NULL, &v, 1) < 1)
			break;
		evbuffer_drain(in, httpparse_feed(&c->parse, v.iov_base, v.iov_len));
		if (c->parse.state == HTTPPARSE_WHOLE)
			hand_over(c);
		else if (c->parse.state == HTTPPARSE_BAD)
			refuse(c);
	}
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct http_conn *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	c->calling = true;
	touch(c);
	feed(c, in);
	if (c->state == CONN_READING && httpparse_begun(&c->parse)) {
		limit_time(c, READ_SECONDS);
		if (c->parse.wants_continue) {
			bufferevent_write(bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
			c->parse.wants_continue = false;
		}
	}
	c->calling = false;
	if (c->state == CONN_DRAIN && !c->dead) {
		c->dropped += evbuffer_get_length(in);
		evbuffer_drain(in, evbuffer_get_length(in));
		c->dead |= c->dropped > DRAIN_BYTES;
	}
	if (c->dead)
		conn_free(c);
}

static void on_write(struct bufferevent *bev, void *arg)
{
	struct http_conn *c = arg;

	(void)bev;
	if (c->state != CONN_DRAIN)
		return;
	drain(c);
	if (c->dead)
		conn_free(c);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *c = arg;
	void *user = c->user;
	size_t unsent = evbuffer_get_length(bufferevent_get_output(bev));

	/* The client has closed its side, which with a request outstanding means that it has given
	 * up; with an answer on its way it may still read. */
	if ((what & BEV_EVENT_EOF) && (c->state == CONN_READING || c->state == CONN_DRAIN) &&
	    unsent) {
		c->closed = true;
		(void)bufferevent_disable(bev, EV_READ); /* it would say so again and again */
		drain(c);                                /* bytes are unsent: not dead yet */
		return;
	}
	c->user = NULL;
	if (user && (c->state == CONN_WAITING || c->state == CONN_PIECES))
		c->http->ops->gone(c->http->ops->arg, user);
	conn_free(c);
}

/* Make room by cutting the connection that has been without a whole request for the longest time.
 * False when all wait for answers. */
static bool make_room(struct http *h)
{
	struct http_conn *c;

	TAILQ_FOREACH(c, &h->conns, link)
	{
		if (!c->calling && (c->state == CONN_READING || c->state == CONN_DRAIN)) {
			conn_free(c);
			return true;
		}
	}
	return false;
}

struct http_conn *http_serve(struct http *h, int fd)
{
	struct http_conn *c;
	int on = 1;

	if (h->n_conns >= HTTP_CONNS_MAX && !make_room(h)) {
		close(fd);
		return NULL;
	}
	c = mem_zalloc(1, sizeof(*c));
	c->bev = bufferevent_socket_new(h->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!c->bev) {
		close(fd);
		free(c);
		return NULL;
	}
	c->http = h;
	TAILQ_INSERT_TAIL(&h->conns, c, link);
	h->n_conns++;
	httpparse_init(&c->parse, &h->ration, API_BODY_MAX);
	/* Answers go out in few large writes: waiting for more would only add 40 ms (tcp(7)). */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* not TCP: fine */
	bufferevent_setwatermark(c->bev, EV_READ, 0, READ_AHEAD);
	bufferevent_setcb(c->bev, on_read, on_write, on_event, c);
	limit_time(c, IDLE_SECONDS);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	return c;
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from, int len,
		      void *arg)
{
	(void)l;
	(void)from;
	(void)len;
	(void)http_serve(arg, fd); /* NULL: closed */
}

/* Out of descriptors: accept(2) would fail again at once and for ever. */
static void on_accept_error(struct evconnlistener *l, void *arg)
{
	struct http *h = arg;
	struct timeval tv = { .tv_usec = ACCEPT_PAUSE_MS * 1000 };

	evconnlistener_disable(l);
	event_add(h->again, &tv);
}

static void accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct http *h = arg;

	(void)fd;
	(void)what;
	if (h->listener)
		evconnlistener_enable(h->listener);
}

int http_new(struct event_base *base, int listen_fd, const struct http_ops *ops, struct http **ret,
	     struct err *err)
{
	struct http *h = mem_zalloc(1, sizeof(*h));

	h->base = base;
	h->ops = ops;
	h->ration.max = HTTP_BODIES_MAX;
	TAILQ_INIT(&h->conns);
	h->again = evtimer_new(base, accept_again, h);
	if (listen_fd >= 0 && h->again && evutil_make_socket_nonblocking(listen_fd) == 0) {
		h->listener =
			evconnlistener_new(base, on_accept, h, LEV_OPT_CLOSE_ON_EXEC, 0, listen_fd);
		if (h->listener)
			evconnlistener_set_error_cb(h->listener, on_accept_error);
	}
	if (!h->again || (listen_fd >= 0 && !h->listener)) {
		http_free(h);
		return err_set(err, ERR_SYS, "cannot watch the model API's listening socket");
	}
	*ret = h;
	return 0;
}

struct http *http_free(struct http *h)
{
	struct http_conn *c;

	if (!h)
		return NULL;
	if (h->listener)
		evconnlistener_free(h->listener);
	h->listener = NULL;
	while ((c = TAILQ_FIRST(&h->conns))) {
		c->calling = false;
		conn_free(c);
	}
	if (h->again)
		event_free(h->again);
	free(h);
	return NULL;
}

struct ration *http_ration(struct http *h)
{
	return &h->ration;
}

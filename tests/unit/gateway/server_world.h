/* A server on a real socket, a source that the test plays, and clients in the same loop. */
#ifndef TESTS_UNIT_GATEWAY_SERVER_WORLD_H
#define TESTS_UNIT_GATEWAY_SERVER_WORLD_H

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CHAT "/v1/chat/completions"
#define WAIT (20 * CLOCK_SEC)

#define CHAT_USAGE                                                                                 \
	"\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"total_tokens\":107,"           \
	"\"prompt_tokens_details\":{\"cached_tokens\":40}}"
#define CHAT_TEXT                                                                                             \
	"{\"id\":\"x\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"             \
	"\"message\":{\"role\":\"assistant\",\"content\":\"hello\"},\"finish_reason\":\"stop\"}]," CHAT_USAGE \
	"}"
#define CHAT_TOOL                                                                                  \
	"{\"id\":\"x\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"  \
	"\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\"," \
	"\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":"     \
	"\\\"a\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]," CHAT_USAGE "}"
#define EVENT(delta, finish)                                                                       \
	"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"  \
	"\"index\":0,\"delta\":{" delta "},\"finish_reason\":" finish "}]}\n\n"
#define SSE_CUT                                                                                    \
	": keepalive\n\n" EVENT("\"role\":\"assistant\",\"content\":\"one\"",                      \
				"null") ": keepalive\n\n" EVENT("\"content\":\"two\"", "null")
#define SSE_TEXT                                                                                   \
	SSE_CUT EVENT("", "\"stop\"") "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\","  \
				      "\"model\":\"m\",\"choices\":[]," CHAT_USAGE "}\n\n"         \
				      "data: [DONE]\n\n"

struct asked {
	const struct ask *a;
	char *body, *path; /* copies */
	bool stream;
	struct reply r;
};

struct world {
	struct event_base *base;
	struct plan plan;
	struct profile profile;
	struct agent agent;
	struct prices prices;
	int listen_fd, record, record_to;
	uint16_t port;
	struct server *server;
	struct server_ops ops;
	struct asked asked[64];
	unsigned n_asked, n_requests, n_answers, n_tools, n_routes, n_placed, n_stripped, n_spent,
		n_mismatch, n_failed;
	struct server_answer answer;
	char route[128];
	bool auto_go, auto_ack;
	char heard[1 << 20]; /* by the last client that was listened to */
	size_t heard_n;
	int heard_fd;
};

/* --- the source ------------------------------------------------------------------------------- */

static inline void source_ask(void *impl, const struct ask *a)
{
	struct world *w = impl;
	struct asked *x = &w->asked[w->n_asked++];

	x->a = a;
	x->body = mem_strndup(a->body, a->n);
	x->path = mem_strdup(a->path);
	x->stream = a->q->stream;
	x->r = (struct reply){ .body = BUF_INIT(API_BODY_MAX), .tries = 1 };
}

static inline void source_free(void *impl)
{
	struct world *w = impl;

	for (unsigned i = 0; i < w->n_asked; i++) {
		free(w->asked[i].body);
		free(w->asked[i].path);
		reply_done(&w->asked[i].r);
	}
	w->n_asked = 0;
}

static const struct source_ops test_source = { .name = "test",
					       .ask = source_ask,
					       .free = source_free };

/* Answer question @i. */
static inline void give(struct world *w, unsigned i, int status, const char *body, bool sse)
{
	struct asked *x = &w->asked[i];

	x->r.status = status;
	x->r.sse = sse;
	buf_adds(&x->r.body, body);
	if (!status)
		snprintf(x->r.why, sizeof(x->r.why), "no route to the model");
	x->a->done(x->a->arg, &x->r);
}

/* Its first @n bytes have come. */
static inline void give_part(struct world *w, unsigned i, const char *body, long n)
{
	struct asked *x = &w->asked[i];
	size_t from = x->r.body.len;

	x->r.status = 200;
	x->r.sse = true;
	buf_add(&x->r.body, body + from, (size_t)n - from);
	if (x->a->bytes)
		x->a->bytes(x->a->arg, &x->r, from);
}

static inline void finish_parts(struct world *w, unsigned i)
{
	w->asked[i].a->done(w->asked[i].a->arg, &w->asked[i].r);
}

static inline void give_end_run(struct world *w, unsigned i, const char *why)
{
	struct reply *r = &w->asked[i].r;

	r->final = r->end_run = true;
	snprintf(r->why, sizeof(r->why), "%s", why);
	w->asked[i].a->done(w->asked[i].a->arg, r);
}

/* --- the owner -------------------------------------------------------------------------------- */

static inline void on_request(void *arg, const struct server_request *r)
{
	struct world *w = arg;

	w->n_requests++;
	if (!r->source_port || !r->bytes || !r->items || strlen(r->sha256) != 64)
		tap_ok(false, "port %u, bytes %zu, items %zu, digest %s", r->source_port, r->bytes,
		       r->items, r->sha256);
	if (w->auto_go)
		server_go(w->server, r->call);
}

static inline void on_placed(void *arg, uint64_t call, const struct placed *p)
{
	(void)call;
	(void)p;
	((struct world *)arg)->n_placed++;
}

static inline void on_stripped(void *arg, uint64_t call, const char *what, bool refused)
{
	(void)call;
	(void)what;
	((struct world *)arg)->n_stripped += !refused;
}

static inline void on_tool(void *arg, uint64_t call, const char *name, const struct tooluse *u)
{
	(void)call;
	(void)name;
	(void)u;
	((struct world *)arg)->n_tools++;
}

static inline void on_answer(void *arg, const struct server_answer *a)
{
	struct world *w = arg;

	w->n_answers++;
	w->answer = *a;
	w->answer.name = NULL;
	if (w->auto_ack)
		server_ack(w->server, a->call);
}

static inline void on_spent(void *arg, uint64_t call, enum limit_kind kind, uint64_t used,
			    uint64_t limit)
{
	struct world *w = arg;

	(void)call;
	if (kind != LIMIT_MODEL_CALLS || used != limit)
		tap_ok(false, "kind %d used %" PRIu64 " of %" PRIu64, (int)kind, used, limit);
	w->n_spent++;
}

static inline void on_route(void *arg, const char *method, const char *path)
{
	struct world *w = arg;

	w->n_routes++;
	snprintf(w->route, sizeof(w->route), "%s %s", method, path);
}

static inline void on_mismatch(void *arg, const char *difference)
{
	(void)difference;
	((struct world *)arg)->n_mismatch++;
}

static inline void on_failed(void *arg, const char *why)
{
	tap_diag("%s", why);
	((struct world *)arg)->n_failed++;
}

static inline void on_unmet(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/* (Re)start the server with what the profile says now. */
static inline void world_start(struct world *w)
{
	struct server_spec spec = {
		.base = w->base,
		.listen_fd = w->listen_fd,
		.plan = &w->plan,
		.source = { .impl = w, .ops = &test_source },
		.ops = &w->ops,
		.record_fd = w->record_to,
		.start = clock_mono(),
	};
	struct err err = { 0 };

	w->server = server_free(w->server);
	tap_ok(server_new(&spec, &w->server, &err) == 0, "server %s", err.text);
}

static inline void world_open(struct world *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);

	memset(w, 0, sizeof(*w));
	w->base = event_base_new();
	w->plan.profile = &w->profile;
	w->plan.agent = &w->agent;
	w->plan.prices = &w->prices;
	w->plan.model_name = mem_strdup("pinned-1");
	w->profile.model_timeout = 600 * CLOCK_SEC;
	w->profile.model_retries = 2;
	w->ops = (struct server_ops){
		.request = on_request,
		.placed = on_placed,
		.stripped = on_stripped,
		.tool = on_tool,
		.answer = on_answer,
		.spent = on_spent,
		.route = on_route,
		.mismatch = on_mismatch,
		.failed = on_failed,
		.unmet = on_unmet,
		.arg = w,
	};
	w->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(w->listen_fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(w->listen_fd, 512) < 0 ||
	    getsockname(w->listen_fd, (struct sockaddr *)&at, &len) < 0)
		abort();
	w->port = ntohs(at.sin_port);
	w->record = w->record_to = memfd_create("record", MFD_CLOEXEC);
	w->heard_fd = -1;
	world_start(w);
}

static inline void world_close(struct world *w)
{
	w->server = server_free(w->server);
	event_base_loop(w->base, EVLOOP_NONBLOCK);
	event_base_free(w->base);
	close(w->listen_fd);
	close(w->record);
	free(w->plan.model_name);
}

/* Does the record hold @text? */
static inline bool recorded(const struct world *w, const char *text)
{
	static char b[1 << 20];
	ssize_t n = pread(w->record, b, sizeof(b) - 1, 0);

	b[n > 0 ? n : 0] = '\0';
	return strstr(b, text) != NULL;
}

/* --- clients ---------------------------------------------------------------------------------- */

static inline int client(struct world *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(w->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		abort();
	if (w->heard_fd == fd)
		w->heard_fd = -1;
	return fd;
}

static inline void say(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline void post(int fd, const char *path, const char *body)
{
	auto_free char *text =
		mem_printf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer dummy\r\n"
			   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			   path, strlen(body), body);

	say(fd, text);
}

/* A request of Chat Completions; static buffer. */
static inline const char *body_of(const char *text, bool stream)
{
	static char b[512];

	snprintf(
		b, sizeof(b),
		"{\"model\":\"m\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
		stream ? "true" : "false", text);
	return b;
}

static inline const char *tools_body(const char *text)
{
	static char b[1024];

	snprintf(
		b, sizeof(b),
		"{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\","
		"\"parameters\":{}}}],\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
		text);
	return b;
}

/* Let everything that can happen now happen. */
static inline void settle_down(struct world *w)
{
	for (int i = 0; i < 20; i++)
		event_base_loop(w->base, EVLOOP_NONBLOCK);
}

static inline void wake_up(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* One round of the loop, which ends after 10 ms at the latest. */
static inline void turn(struct world *w)
{
	struct timeval tv = { .tv_usec = 10000 };

	event_base_once(w->base, -1, EV_TIMEOUT, wake_up, NULL, &tv);
	event_base_loop(w->base, EVLOOP_ONCE);
}

/* Until the counter has reached @n; false when it does not in a long time. */
static inline bool until(struct world *w, const unsigned *counter, unsigned n)
{
	uint64_t end = clock_mono() + WAIT;

	while (*counter < n && clock_mono() < end)
		turn(w);
	return *counter >= n;
}

/* Take what has come on @fd. 1 more, 0 none, -1 the end. */
static inline int listen_to(struct world *w, int fd)
{
	ssize_t n;

	if (w->heard_fd != fd) {
		w->heard_fd = fd;
		w->heard_n = 0;
	}
	n = recv(fd, w->heard + w->heard_n, sizeof(w->heard) - 1 - w->heard_n, MSG_DONTWAIT);
	if (n > 0)
		w->heard_n += (size_t)n;
	w->heard[w->heard_n] = '\0';
	return n > 0 ? 1 : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static inline bool heard_any(struct world *w, int fd)
{
	return listen_to(w, fd) > 0;
}

/* Until @want was heard on @fd; what was heard before a new request counts no more. */
static inline bool hear(struct world *w, int fd, const char *want)
{
	uint64_t end = clock_mono() + WAIT;
	bool again = w->heard_fd == fd;
	size_t before = again ? w->heard_n : 0;

	/* Streams are heard in several calls: only what a whole answer ended is forgotten. */
	if (again && before && strstr(w->heard, "\r\n\r\n") &&
	    w->profile.delivery != DELIVERY_STREAM)
		w->heard_n = 0, w->heard[0] = '\0';
	while (clock_mono() < end) {
		int rc = listen_to(w, fd);

		if (strstr(w->heard, want))
			return true;
		if (rc < 0)
			break;
		if (rc == 0)
			turn(w);
	}
	tap_diag("heard: %.300s", w->heard);
	return false;
}

/* Until the other side closes @fd. */
static inline bool hear_end(struct world *w, int fd)
{
	uint64_t end = clock_mono() + WAIT;
	int rc = 0;

	while (clock_mono() < end && (rc = listen_to(w, fd)) >= 0)
		turn(w);
	return rc < 0;
}

#endif

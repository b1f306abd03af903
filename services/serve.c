#include "services/serve_internal.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "gateway/confine.h"
#include "services/pgrelay_internal.h"
#include "services/proc.h"
#include "services/service_postgresql.h"

enum { IDLE_S = 60, HEADERS_MAX = 16 << 10 };

struct served {
	struct event_base *base;
	struct service **service;
	struct evhttp *http[SERVICES_MAX];
	struct pgrelay *relay[SERVICES_MAX]; /* of those that are relayed */
	size_t n;
	int fd;
};

/* One of them, as an argument of its requests. */
struct desk {
	struct served *all;
	size_t i;
};

static void tell(const struct served *s, struct svc_msg *m)
{
	if (send(s->fd, m, sizeof(*m), MSG_NOSIGNAL) < 0)
		event_base_loopbreak(s->base);
}

static void put(struct svc_msg *m, const char *text)
{
	size_t n = strlen(text), room = SVC_TEXT_MAX - 1 - m->n;

	if (!room)
		return;
	n = n < room - 1 ? n : room - 1;
	memcpy(m->text + m->n, text, n);
	m->text[m->n + n] = '\0';
	m->n += (uint32_t)n + 1;
}

/* --- what the supervisor wants ------------------------------------------------------------------ */

static void change(struct served *s, const struct svc_msg *m)
{
	struct svc_msg out = { .type = SVC_CHANGED };
	struct json_src src = { 0 };
	struct err err = { 0 };
	int rc = json_parse("the effect", m->text, m->n, &src, &err);

	if (rc == 0)
		rc = service_change(s->service[m->v[0]], &src, src.root, &err);
	json_src_done(&src);
	if (rc == 0 && s->relay[m->v[0]])
		pgrelay_down(s->relay[m->v[0]], service_down(s->service[m->v[0]]));
	out.v[0] = rc < 0;
	if (rc < 0)
		put(&out, err.text);
	tell(s, &out);
}

static void bye(struct served *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct svc_msg m = { .type = SVC_SUMMARY, .v = { i } };
		auto_buf b = BUF_INIT(SVC_TEXT_MAX - 1);
		struct json_w w = { .b = &b };

		json_open(&w, NULL, '{');
		service_summary(s->service[i], &w);
		json_close(&w, '}');
		put(&m, b.full ? "{}" : buf_str(&b));
		tell(s, &m);
	}
	event_base_loopbreak(s->base);
}

/* Take one message: -1 there was none, 1 it is of type @wanted or the end, 0 another. */
static int take(struct served *s, uint32_t wanted)
{
	struct svc_msg m, pong = { .type = SVC_PONG };
	ssize_t n = recv(s->fd, &m, sizeof(m), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (n != (ssize_t)sizeof(m) || m.n >= SVC_TEXT_MAX) {
		event_base_loopbreak(s->base);
		return 1;
	}
	if (m.type == SVC_CHANGE && m.v[0] < s->n)
		change(s, &m);
	else if (m.type == SVC_BYE)
		bye(s);
	else if (m.type == SVC_PING)
		tell(s, &pong);
	return m.type == wanted || m.type == SVC_BYE;
}

static void on_link(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	while (take(arg, 0) == 0)
		;
}

/* Until the supervisor has written the request down: what comes behind it is behind it in the record, too. */
static void wait_for_go(struct served *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (poll(&p, 1, SVC_WAIT_MS) == 1 && take(s, SVC_GO) != 1)
		;
}

/* --- requests ------------------------------------------------------------------------------------ */

static const char *method_of(struct evhttp_request *r)
{
	static const struct {
		enum evhttp_cmd_type type;
		const char *name;
	} rows[] = { { EVHTTP_REQ_GET, "GET" },     { EVHTTP_REQ_POST, "POST" },
		     { EVHTTP_REQ_PUT, "PUT" },     { EVHTTP_REQ_DELETE, "DELETE" },
		     { EVHTTP_REQ_PATCH, "PATCH" }, { EVHTTP_REQ_HEAD, "GET" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].type == evhttp_request_get_command(r))
			return rows[i].name;
	}
	return "OTHER";
}

/* "Bearer TOKEN", in any case. */
static const char *session_of(const struct evkeyvalq *headers)
{
	const char *v = evhttp_find_header(headers, "Authorization");

	if (v && strncasecmp(v, "bearer ", 7) == 0)
		return v + 7 + strspn(v + 7, " ");
	return evhttp_find_header(headers, "X-Session");
}

static void reply(struct evhttp_request *r, const struct service_answer *a)
{
	struct evbuffer *b = evbuffer_new();

	if (b)
		evbuffer_add(b, buf_str(&a->body), a->body.len);
	evhttp_add_header(evhttp_request_get_output_headers(r), "Content-Type",
			  a->type ? a->type : "application/json");
	evhttp_send_reply(r, a->code, NULL, b);
	if (b)
		evbuffer_free(b);
}

static void on_request(struct evhttp_request *r, void *arg)
{
	struct desk *d = arg;
	struct served *s = d->all;
	struct evkeyvalq *headers = evhttp_request_get_input_headers(r);
	struct evbuffer *in = evhttp_request_get_input_buffer(r);
	size_t n = evbuffer_get_length(in);
	auto_free char *path = mem_strdup(evhttp_request_get_uri(r));
	struct service_answer a = { .code = 500, .body = BUF_INIT(SERVICE_BODY_MAX) };
	struct service_request q = {
		.method = method_of(r),
		.path = path,
		.session = session_of(headers),
		.key = evhttp_find_header(headers, "X-Api-Key"),
		.accept = evhttp_find_header(headers, "Accept"),
		.body = n ? (const char *)evbuffer_pullup(in, -1) : "",
		.n = n,
	};
	struct svc_msg m = { .type = SVC_REQUEST };
	struct evhttp_connection *c = evhttp_request_get_connection(r);
	char *peer = NULL;
	ev_uint16_t port = 0;

	path[strcspn(path, "?#")] = '\0';
	if (c)
		evhttp_connection_get_peer(c, &peer, &port);
	service_answer(s->service[d->i], &q, &a);
	m.v[0] = d->i;
	m.v[1] = (uint64_t)a.code;
	m.v[2] = a.mutating;
	m.v[3] = port;
	put(&m, q.method);
	put(&m, path);
	put(&m, a.route);
	put(&m, q.session ? q.session : "");
	put(&m, a.version ? a.version : "");
	put(&m, a.what);
	tell(s, &m);
	wait_for_go(s);
	reply(r, &a);
	buf_done(&a.body);
}

static _Noreturn void fail(struct served *s, enum err_code code, const char *why)
{
	struct svc_msg m = { .type = SVC_FAILED, .v = { code } };

	put(&m, why);
	(void)send(s->fd, &m, sizeof(m), MSG_NOSIGNAL);
	_exit(1);
}

/* --- connections to a server -------------------------------------------------------------------- */

static void on_told(void *arg, const struct pgwire *w, const struct pgwire_event *ev, uint16_t port)
{
	struct desk *d = arg;
	struct svc_msg m = { .type = SVC_REQUEST };

	m.v[0] = d->i;
	m.v[1] = strcmp(ev->name, "error") == 0 ? 400 : 0;
	m.v[2] = ev->mutating;
	m.v[3] = port;
	put(&m, ev->method);
	put(&m, w->database);
	put(&m, w->role);
	put(&m, "");
	put(&m, "");
	put(&m, ev->text);
	put(&m, ev->name);
	tell(d->all, &m);
	wait_for_go(d->all);
}

static void open_relay(struct served *s, struct desk *desk, int listener)
{
	const struct pgrelay_ops ops = { .told = on_told, .arg = desk };

	s->relay[desk->i] =
		listener < 0 ? NULL : pgrelay_new(s->base, listener, SERVICE_POSTGRESQL_PORT, &ops);
	if (!s->relay[desk->i])
		fail(s, ERR_HOST, "cannot listen");
}

/* --- life ---------------------------------------------------------------------------------------- */

static void open_desks(struct served *s, struct desk *desk, const int *listener)
{
	for (size_t i = 0; i < s->n; i++) {
		desk[i] = (struct desk){ s, i };
		if (service_relayed(s->service[i])) {
			open_relay(s, &desk[i], listener[i]);
			continue;
		}
		s->http[i] = evhttp_new(s->base);
		if (!s->http[i] || listener[i] < 0 ||
		    evhttp_accept_socket(s->http[i], listener[i]) < 0)
			fail(s, ERR_HOST, "cannot listen");
		evhttp_set_allowed_methods(s->http[i], EVHTTP_REQ_GET | EVHTTP_REQ_POST |
							       EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
							       EVHTTP_REQ_PATCH | EVHTTP_REQ_HEAD);
		evhttp_set_max_body_size(s->http[i], SERVICE_BODY_MAX);
		evhttp_set_max_headers_size(s->http[i], HEADERS_MAX);
		evhttp_set_timeout(s->http[i], IDLE_S);
		evhttp_set_gencb(s->http[i], on_request, &desk[i]);
	}
}

void serve_failed(int fd, const char *why)
{
	struct served s = { .fd = fd };

	fail(&s, ERR_HOST, why);
}

void serve(struct service **service, const int *listener, size_t n, int fd)
{
	struct served s = { .service = service, .n = n, .fd = fd };
	struct desk desk[SERVICES_MAX];
	int keep[SERVICES_MAX + 1];
	struct svc_msg m = { .type = SVC_READY };
	struct err err = { 0 };
	char missing[128];
	struct event *link;

	for (size_t i = 0; i < n; i++)
		keep[i] = listener[i];
	keep[n] = fd;
	confine_close(keep, (unsigned)n + 1);
	s.base = event_base_new();
	if (!s.base)
		fail(&s, ERR_HOST, "cannot make an event loop");
	open_desks(&s, desk, listener);
	link = event_new(s.base, s.fd, EV_READ | EV_PERSIST, on_link, &s);
	if (!link || event_add(link, NULL) < 0)
		fail(&s, ERR_HOST, "cannot watch the supervisor");
	if (confine(missing, &err) < 0)
		fail(&s, ERR_HOST, err.text);
	for (size_t i = 0; i < n; i++) {
		if (service_begin(service[i], &err) < 0)
			fail(&s, err.code, err.text);
	}
	put(&m, missing);
	tell(&s, &m);
	event_base_dispatch(s.base);
	_exit(0);
}

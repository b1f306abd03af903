/* What a client sends, in pieces of a size that the first byte chooses: the reader must say the same
 * for every size, and the server must answer or close, within bounds. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "gateway/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX = 4096, TURNS = 64 };

static void feed(struct httpparse *p, const char *text, size_t n, size_t piece)
{
	for (size_t at = 0; at < n && p->state < HTTPPARSE_WHOLE;) {
		size_t take = n - at < piece ? n - at : piece, took;

		took = httpparse_feed(p, text + at, take);
		if (took > take || (took < take && p->state < HTTPPARSE_WHOLE))
			abort();
		at += took;
	}
	if (p->state == HTTPPARSE_BAD && (!p->why || p->status < 400))
		abort();
	if (p->state == HTTPPARSE_WHOLE && (!p->r.method || p->r.target[0] != '/'))
		abort();
	if (p->r.body.len > BODY_MAX || p->r.charged != p->r.body.len)
		abort();
}

static void same_in_pieces(const char *text, size_t n, size_t piece)
{
	struct ration a = { .max = BODY_MAX }, b = { .max = BODY_MAX };
	struct httpparse p, q;

	httpparse_init(&p, &a, BODY_MAX);
	httpparse_init(&q, &b, BODY_MAX);
	feed(&p, text, n, n);
	feed(&q, text, n, piece);
	/* A line may be refused as too long before its other faults are seen. */
	if (p.state != q.state ||
	    (p.state == HTTPPARSE_WHOLE &&
	     (p.r.body.len != q.r.body.len || strcmp(p.r.target, q.r.target) != 0)))
		abort();
	httpparse_done(&p);
	httpparse_done(&q);
	if (a.used || b.used)
		abort();
}

static void on_request(void *arg, struct http_conn *c, struct http_request *r)
{
	struct http_head head = { .status = 200, .type = "text/plain" };

	(void)arg;
	if (r->body.len & 1) {
		http_begin(c, &head);
		http_send(c, r->target, strlen(r->target));
		http_end(c);
		return;
	}
	http_answer_text(c, &head, "ok", 2);
}

static void on_gone(void *arg, void *user)
{
	(void)arg;
	(void)user;
}

/* Through a real connection; everything is given back afterwards. */
static void serve(const char *text, size_t n)
{
	struct http_ops ops = { .request = on_request, .gone = on_gone };
	struct event_base *base = event_base_new();
	struct http *h = NULL;
	struct err err = { 0 };
	char answer[4096];
	int v[2];

	if (!base || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, v) < 0 ||
	    http_new(base, -1, &ops, &h, &err) < 0 || !http_serve(h, v[0]))
		abort();
	(void)!send(v[1], text, n, MSG_NOSIGNAL);
	for (int i = 0; i < TURNS; i++) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		while (recv(v[1], answer, sizeof(answer), 0) > 0)
			;
	}
	close(v[1]);
	event_base_loop(base, EVLOOP_NONBLOCK);
	http_free(h);
	event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > 1 << 16)
		return 0;
	same_in_pieces((const char *)data + 1, size - 1, 1 + data[0] % 16);
	serve((const char *)data + 1, size - 1);
	return 0;
}

/* The server's HTTP as clients of every kind see it: well-behaved, clumsy, hostile. */
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "gateway/http.h"
#include "gateway/server.h"
#include "tests/lib/tap.h"
#include "tests/unit/gateway/server_world.h"

static void test_http(void)
{
	static const struct {
		const char *ask, *want;
	} rows[] = {
		{ "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nok\n" },
		{ "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", "\"pinned-1\"" },
		{ "GET /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", "allow: POST" },
		{ "POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		  "HTTP/1.1 404 " },
		{ "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{]}",
		  "HTTP/1.1 400 " },
		{ "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n",
		  "HTTP/1.1 400 " },
		{ "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
		  "Content-Length: 1\r\n\r\nx",
		  "HTTP/1.1 415 " },
		{ "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
		  "HTTP/1.1 413 " },
		{ "nonsense\r\n\r\n", "HTTP/1.1 400 " },
	};
	struct world w;

	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int c = client(&w);

		say(c, rows[i].ask);
		tap_ok(hear(&w, c, rows[i].want), "%.*s gets row %zu",
		       (int)strcspn(rows[i].ask, "\r"), rows[i].ask, i);
		close(c);
	}
	tap_ok(w.n_routes == 1 && strcmp(w.route, "POST /v1/embeddings") == 0,
	       "told of the unknown route");
	for (int i = 0; i < 3; i++) {
		int c = client(&w);

		say(c, rows[4].ask);
		tap_ok(hear(&w, c, "404"), "again");
		close(c);
	}
	tap_is_u64(w.n_routes, 1, "told of it once");
	tap_is_u64(w.n_requests, 0, "none of these is a call");
	world_close(&w);
}

static void test_connection(void)
{
	struct world w;
	int c;
	auto_buf big = BUF_INIT(1 << 20);

	world_open(&w);
	c = client(&w);
	say(c,
	    "HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\n"
	    "Host: x\r\n\r\n");
	tap_ok(hear(&w, c, "404"), "three requests in one packet, answered in order");
	tap_ok(strstr(w.heard, "ok\n") < strstr(w.heard, "404"), "in order");
	say(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
	       "Content-Length: 2\r\n\r\n");
	tap_ok(hear(&w, c, "100 Continue"), "100 Continue");
	say(c, "{}");
	tap_ok(hear(&w, c, "HTTP/1.1 "), "and an answer to what follows");
	close(c);

	c = client(&w);
	say(c,
	    "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	say(c, "10\r\n{\"model\":\"m\",\"me\r\n");
	say(c, "2f\r\nssages\":[{\"role\":\"user\",\"content\":\"chunked\"}]}\r\n0\r\n\r\n");
	tap_ok(until(&w, &w.n_requests, 1), "a request in chunks");
	close(c);

	c = client(&w);
	say(c, "GET / HTTP/1.0\r\n\r\n");
	tap_ok(hear(&w, c, "connection: close"), "HTTP/1.0 closes");
	tap_ok(hear_end(&w, c), "indeed");
	close(c);

	c = client(&w);
	while (big.len < 200 << 10)
		buf_adds(&big, "A: 0123456789012345678901234567890123456789\r\n");
	say(c, "GET / HTTP/1.1\r\n");
	say(c, buf_str(&big));
	tap_ok(hear(&w, c, "431"), "headers of 200 KiB: 431, seen although more was sent");
	close(c);
	world_close(&w);
}

/* More connections than there is room for: those without a request make room. */
static void test_many(void)
{
	struct world w;
	int v[HTTP_CONNS_MAX + 40];

	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		v[i] = client(&w);
		say(v[i], "GET / HT");
		event_base_loop(w.base, EVLOOP_NONBLOCK);
	}
	say(v[ARRAY_SIZE(v) - 1], "TP/1.1\r\nHost: x\r\n\r\n");
	tap_ok(hear(&w, v[ARRAY_SIZE(v) - 1], "ok\n"), "the newest of 296 is served");
	tap_ok(hear_end(&w, v[0]), "the oldest was cut");
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		close(v[i]);
	world_close(&w);
}

/* Peak of this process's memory, MiB; 0 when a sanitizer makes it meaningless. */
static unsigned peak(void)
{
	unsigned kib = 0;
#ifndef __SANITIZE_ADDRESS__
	auto_buf b = BUF_INIT(64 << 10);
	struct err err = { 0 };
	const char *at;

	if (fd_read_file("/proc/self/status", &b, &err) == 0 &&
	    (at = strstr(buf_str(&b), "VmHWM:")))
		kib = (unsigned)strtoul(at + 6, NULL, 10);
#endif
	return kib / 1024;
}

/* Clients that send large bodies and never end them. */
static void test_hostile(void)
{
	enum { CLIENTS = 24, EACH = 8 << 20 };
	static char piece[64 << 10];
	struct world w;
	int v[CLIENTS], refused = 0, c;
	size_t sent[CLIENTS] = { 0 };
	unsigned before = peak();
	bool more = true;

	world_open(&w);
	memset(piece, ' ', sizeof(piece));
	for (int i = 0; i < CLIENTS; i++) {
		v[i] = client(&w);
		say(v[i],
		    "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 67000000\r\n\r\n");
	}
	while (more) {
		more = false;
		for (int i = 0; i < CLIENTS; i++) {
			ssize_t n = sent[i] < EACH ? send(v[i], piece, sizeof(piece),
							  MSG_NOSIGNAL | MSG_DONTWAIT)
						   : 0;

			sent[i] += n > 0 ? (size_t)n : 0;
			if (n < 0 && errno != EAGAIN)
				sent[i] = EACH;
			more |= sent[i] < EACH;
		}
		event_base_loop(w.base, EVLOOP_NONBLOCK);
	}
	settle_down(&w);
	for (int i = 0; i < CLIENTS; i++)
		refused += heard_any(&w, v[i]) && strstr(w.heard, "HTTP/1.1 503");
	tap_ok(refused >= 4 && refused <= CLIENTS / 2, "%d of %d clients with 8 MiB each get 503",
	       refused, CLIENTS);
	tap_ok(peak() - before < 400, "at a cost of %u MiB", peak() - before);
	c = client(&w);
	say(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	tap_ok(hear(&w, c, "ok\n"), "others are served meanwhile");
	for (int i = 0; i < CLIENTS; i++)
		close(v[i]);
	settle_down(&w);
	post(c, CHAT, body_of("after", false));
	tap_ok(until(&w, &w.n_requests, 1), "and all of it is given back");
	close(c);
	world_close(&w);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_http();
	test_connection();
	test_many();
	test_hostile();
	return tap_done();
}

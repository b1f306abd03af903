/* The request reader: what it takes, what it refuses, and that the size of the pieces makes no
 * difference. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/httpparse.h"
#include "tests/lib/tap.h"

#define HOST "Host: x\r\n"

struct row {
	const char *text;
	int status;       /* 0 = whole, -1 = more is wanted */
	const char *body; /* of a whole one */
};

/* clang-format off */
static const struct row rows[] = {
	{ "GET / HTTP/1.1\r\n" HOST "\r\n", 0, "" },
	{ "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 0, "" },
	{ "GET / HTTP/1.1\n" "Host: x\n\n", 0, "" },
	{ "GET / HTTP/1.0\r\n\r\n", 0, "" },
	{ "POST http://h:1/v1/x HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", 0, "abc" },
	{ "POST / HTTP/1.1\r\n" HOST "content-length:3\r\n\r\nab", -1, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 0, "abcde" },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n", 0, "a" },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n", -1, NULL },
	/* smuggling */
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length : 3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n", 501, NULL },
	{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "A: b\r\n Content-Length: 3\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3 4\r\nabc\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n123456789\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n0123456789012345678901234567890123456789"
	  "0123456789012345678901234567890123456789012345678901234567890123456789", 413, NULL },
	/* form */
	{ "GET / HTTP/1.1\r\n\r\n", 400, NULL },
	{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, NULL },
	{ "GET / HTTP/2.0\r\n" HOST "\r\n", 505, NULL },
	{ "GET  / HTTP/1.1\r\n" HOST "\r\n", 505, NULL },
	{ "GET /a b HTTP/1.1\r\n" HOST "\r\n", 505, NULL },
	{ "GET\r\n" HOST "\r\n", 400, NULL },
	{ "GET /\r\n" HOST "\r\n", 400, NULL },
	{ "GET * HTTP/1.1\r\n" HOST "\r\n", 400, NULL },
	{ "G@T / HTTP/1.1\r\n" HOST "\r\n", 400, NULL },
	{ "GET /\x01 HTTP/1.1\r\n" HOST "\r\n", 400, NULL },
	{ "GET / HTTP/1.1\r\n" HOST "A\r\n\r\n", 400, NULL },
	{ "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n", 400, NULL },
	{ "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n", 400, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 101\r\n\r\n", 413, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 415, NULL },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", 0, "x" },
	{ "POST / HTTP/1.1\r\n" HOST "Expect: magic\r\n\r\n", 417, NULL },
};
/* clang-format on */

/* Feed @n bytes in pieces of @piece. Returns the status as in struct row. */
static int feed(struct httpparse *p, const char *text, size_t n, size_t piece)
{
	for (size_t at = 0; at < n && p->state < HTTPPARSE_WHOLE;) {
		size_t take = n - at < piece ? n - at : piece;

		at += httpparse_feed(p, text + at, take);
	}
	return p->state == HTTPPARSE_WHOLE ? 0 : p->state == HTTPPARSE_BAD ? p->status : -1;
}

static void test_rows(void)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 100000 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(pieces); k++) {
			struct ration ration = { .max = 1000 };
			struct httpparse p;
			int got;

			httpparse_init(&p, &ration, 100);
			got = feed(&p, rows[i].text, strlen(rows[i].text), pieces[k]);
			tap_ok(got == rows[i].status, "row %zu in pieces of %zu: %d (%s)", i,
			       pieces[k], got, p.why ? p.why : "");
			if (got == 0)
				tap_is_str(buf_str(&p.r.body), rows[i].body, "its body");
			tap_is_u64(ration.used, p.r.body.len, "charged");
			httpparse_done(&p);
			tap_is_u64(ration.used, 0, "given back");
		}
	}
}

static void test_fields(void)
{
	static const char text[] =
		"POST /v1/messages?beta=true#x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
		"Anthropic-Version:  2023-06-01 \r\nanthropic-beta: a,b\r\nConnection: close, x\r\n"
		"Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
	struct httpparse p;

	httpparse_init(&p, NULL, 100);
	tap_ok(feed(&p, text, strlen(text), 5) == -1, "body to come");
	tap_ok(p.wants_continue, "waits for 100 Continue");
	tap_ok(!p.r.keep_alive, "closes");
	tap_is_str(p.r.method, "POST", "method");
	tap_is_str(p.r.target, "/v1/messages?beta=true", "target");
	tap_is_str(p.r.kept[HTTP_ANTHROPIC_VERSION], "anthropic-version: 2023-06-01", "version");
	tap_is_str(p.r.kept[HTTP_ANTHROPIC_BETA], "anthropic-beta: a,b", "beta");
	tap_ok(!p.r.kept[HTTP_OPENAI_BETA], "no other");
	tap_is_u64(httpparse_feed(&p, "{}GET", 5), 2, "the next request is left alone");
	tap_ok(p.state == HTTPPARSE_WHOLE, "whole");
	httpparse_done(&p);
}

static void test_bounds(void)
{
	struct ration ration = { .max = 10 };
	struct httpparse p;
	char big[1000];

	memset(big, 'a', sizeof(big));
	httpparse_init(&p, &ration, 100);
	feed(&p, "GET / HTTP/1.1\r\nA: ", 19, 100);
	for (int i = 0; i < 100; i++)
		httpparse_feed(&p, big, sizeof(big));
	tap_is_u64((uint64_t)p.status, 431, "an endless header");
	tap_ok(p.head.cap <= 2 * HTTPPARSE_HEAD_MAX, "costs %zu bytes", p.head.cap);
	httpparse_done(&p);

	httpparse_init(&p, &ration, 100);
	feed(&p, "GET / HTTP/1.1\r\n", 16, 100);
	for (int i = 0; i < 300; i++)
		httpparse_feed(&p, "A: b\r\n", 6);
	httpparse_feed(&p, "\r\n", 2);
	tap_is_u64((uint64_t)p.status, 431, "many headers");
	httpparse_done(&p);

	httpparse_init(&p, &ration, 100);
	feed(&p, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n12345678", 57, 100);
	feed(&p, "9012345678", 10, 3);
	tap_is_u64((uint64_t)p.status, 503, "more than all requests together may hold");
	httpparse_done(&p);
	tap_is_u64(ration.used, 0, "given back");
}

int main(void)
{
	test_rows();
	test_fields();
	test_bounds();
	return tap_done();
}

#include "gateway/httpparse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { HEADERS_MAX = 200, METHOD_MAX = 16 };

/* What the headers say that decides how the body is read. */
struct framing {
	bool length_seen, chunked, coded, host_seen;
	uint64_t length;
};

static int bad(struct httpparse *p, int status, const char *why)
{
	p->state = HTTPPARSE_BAD;
	p->status = status;
	p->why = why;
	p->r.keep_alive = false;
	return -1;
}

/* --- one handler per header that counts ------------------------------------------------------- */

static int on_length(struct httpparse *p, struct framing *f, const char *v)
{
	size_t n = strspn(v, "0123456789");

	/* RFC 9112 section 6.3: several or malformed lengths are how requests are smuggled. */
	if (f->length_seen)
		return bad(p, 400, "more than one Content-Length");
	if (!n || v[n] || n > 18)
		return bad(p, 400, "the Content-Length is not a number");
	f->length_seen = true;
	f->length = strtoull(v, NULL, 10);
	return 0;
}

static int on_coding(struct httpparse *p, struct framing *f, const char *v)
{
	if (f->coded)
		return bad(p, 400, "more than one Transfer-Encoding");
	f->coded = true;
	if (p->r.old)
		return bad(p, 400, "HTTP/1.0 has no Transfer-Encoding");
	if (strcasecmp(v, "chunked") != 0)
		return bad(p, 501, "the only Transfer-Encoding here is chunked");
	f->chunked = true;
	return 0;
}

/* Is @word one of the comma separated words of @list? */
static bool listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (*list) {
		list += strspn(list, " \t,");
		if (strncasecmp(list, word, n) == 0 && (!list[n] || strchr(" \t,", list[n])))
			return true;
		list += strcspn(list, ",");
	}
	return false;
}

static int on_connection(struct httpparse *p, struct framing *f, const char *v)
{
	(void)f;
	if (listed(v, "close"))
		p->r.keep_alive = false;
	else if (p->r.old && listed(v, "keep-alive"))
		p->r.keep_alive = true;
	return 0;
}

static int on_expect(struct httpparse *p, struct framing *f, const char *v)
{
	(void)f;
	if (strcasecmp(v, "100-continue") != 0)
		return bad(p, 417, "the only expectation here is 100-continue");
	p->wants_continue = !p->r.old;
	return 0;
}

static int on_encoding(struct httpparse *p, struct framing *f, const char *v)
{
	(void)f;
	if (*v && strcasecmp(v, "identity") != 0)
		return bad(p, 415, "compressed requests are not read; send them as they are");
	return 0;
}

static int on_host(struct httpparse *p, struct framing *f, const char *v)
{
	(void)v;
	if (f->host_seen)
		return bad(p, 400, "more than one Host");
	f->host_seen = true;
	return 0;
}

struct header_row {
	const char *name;
	int (*read)(struct httpparse *p, struct framing *f, const char *v);
};

/* clang-format off */
static const struct header_row header_rows[] = {
	{ "content-length",    on_length },
	{ "transfer-encoding", on_coding },
	{ "connection",        on_connection },
	{ "expect",            on_expect },
	{ "content-encoding",  on_encoding },
	{ "host",              on_host },
};

static const char *const kept_names[HTTP_KEPT_MAX] = {
	[HTTP_ANTHROPIC_VERSION] = "anthropic-version",
	[HTTP_ANTHROPIC_BETA]    = "anthropic-beta",
	[HTTP_OPENAI_BETA]       = "openai-beta",
};
/* clang-format on */

/* --- the head --------------------------------------------------------------------------------- */

static bool token(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)s[i]) && !strchr("!#$%&'*+-.^_`|~", s[i]))
			return false;
	}
	return n > 0 && !memchr(s, '\0', n);
}

static bool printable(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	}
	return true;
}

/* A header that a kept row names; a second one of that name is dropped. */
static void keep(struct httpparse *p, const char *name, const char *v)
{
	for (size_t i = 0; i < HTTP_KEPT_MAX; i++) {
		if (strcasecmp(name, kept_names[i]) != 0 || p->r.kept[i])
			continue;
		if (strlen(v) > HTTPPARSE_KEPT_MAX)
			return;
		for (const char *c = v; *c; c++) {
			if (*c < ' ' || *c > '~')
				return;
		}
		p->r.kept[i] = mem_printf("%s: %s", kept_names[i], v);
	}
}

/* One header line of @n bytes, NUL behind it; it is cut up in place. */
static int read_header(struct httpparse *p, struct framing *f, char *s, size_t n)
{
	char *colon = memchr(s, ':', n), *v, *end = s + n;

	if (*s == ' ' || *s == '\t')
		return bad(p, 400, "a header is folded over lines");
	if (!colon || !token(s, (size_t)(colon - s)))
		return bad(p, 400, "a header line has no proper name");
	*colon = '\0';
	v = colon + 1;
	while (v < end && (*v == ' ' || *v == '\t'))
		v++;
	while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	for (const char *c = v; c < end; c++) {
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return bad(p, 400, "a header holds a control byte");
	}
	for (size_t i = 0; i < ARRAY_SIZE(header_rows); i++) {
		if (strcasecmp(s, header_rows[i].name) == 0)
			return header_rows[i].read(p, f, v);
	}
	keep(p, s, v);
	return 0;
}

/* "POST /v1/messages HTTP/1.1"; the form for proxies, with scheme and host, is taken too. */
static int read_request_line(struct httpparse *p, char *s, size_t n)
{
	char *target = memchr(s, ' ', n), *version;

	if (!target || !token(s, (size_t)(target - s)) || target - s > METHOD_MAX)
		return bad(p, 400, "the request line has no proper method");
	*target++ = '\0';
	version = memchr(target, ' ', n - (size_t)(target - s));
	if (!version)
		return bad(p, 400, "the request line names no version");
	*version++ = '\0';
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return bad(p, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
	p->r.old = version[7] == '0';
	p->r.keep_alive = !p->r.old;
	if (strncasecmp(target, "http://", 7) == 0)
		target += 7 + strcspn(target + 7, "/");
	n = strlen(target);
	if (n > HTTPPARSE_TARGET_MAX)
		return bad(p, 414, "the request target is too long");
	if (*target != '/' || !printable(target, n))
		return bad(p, 400, "the request target is not a path");
	p->r.method = mem_strdup(s);
	p->r.target = mem_strndup(target, strcspn(target, "#"));
	return 0;
}

static int begin_body(struct httpparse *p, const struct framing *f)
{
	if (!f->host_seen && !p->r.old)
		return bad(p, 400, "the Host header is missing");
	if (f->length_seen && f->coded)
		return bad(p, 400, "both Content-Length and Transfer-Encoding");
	if (f->length > p->body_max)
		return bad(p, 413, "the request is too large");
	p->left = f->length;
	p->state = f->chunked ? HTTPPARSE_SIZE : HTTPPARSE_FIXED;
	if (!f->chunked && !f->length)
		p->state = HTTPPARSE_WHOLE;
	if (p->state == HTTPPARSE_WHOLE)
		p->wants_continue = false;
	return 0;
}

/* The whole head is in p->head. Lines end in LF, with or without CR before it. */
static void read_head(struct httpparse *p)
{
	struct framing f = { 0 };
	char *s = p->head.data, *end = s + p->head.len;
	unsigned lines = 0;

	if (memchr(s, '\0', p->head.len)) {
		(void)bad(p, 400, "the head holds a NUL byte"); /* told by the state */
		return;
	}
	while (s < end) {
		char *lf = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)(lf - s);

		n -= n > 0 && s[n - 1] == '\r';
		s[n] = '\0';
		if (!n && lines)
			break; /* the empty line at the end; those in front are passed over */
		if (lines > HEADERS_MAX) {
			(void)bad(p, 431, "too many headers"); /* told by the state */
			return;
		}
		if (n && (lines++ ? read_header(p, &f, s, n) : read_request_line(p, s, n)) < 0)
			return;
		s = lf + 1;
	}
	(void)begin_body(p, &f); /* told by the state */
	buf_clear(&p->head);
	p->line = 0;
}

/* Add bytes to p->head up to and with the next LF. Returns how many were taken, 0 when they pass
 * @max. *ret_end: a line is complete. */
static size_t take_line(struct httpparse *p, const char *text, size_t n, size_t max, bool *ret_end)
{
	const char *lf = memchr(text, '\n', n);
	size_t take = lf ? (size_t)(lf - text) + 1 : n;

	*ret_end = lf != NULL;
	if (take > max - p->head.len)
		return 0;
	if (buf_add(&p->head, text, take) < 0)
		return 0;
	return take;
}

/* Is the line that ends p->head empty? */
static bool empty_line(const struct httpparse *p)
{
	const char *s = p->head.data + p->line;
	size_t n = p->head.len - p->line;

	return n == 1 || (n == 2 && s[0] == '\r');
}

static size_t feed_head(struct httpparse *p, const char *text, size_t n)
{
	bool end;
	size_t took = take_line(p, text, n, HTTPPARSE_HEAD_MAX, &end);

	if (!took)
		return (void)bad(p, 431, "the headers are too large"), 0;
	if (!end)
		return took;
	if (!empty_line(p)) {
		p->line = p->head.len;
	} else if (p->line == 0) {
		/* RFC 9112 section 2.2: an empty line in front of a request is passed over. */
		buf_clear(&p->head);
	} else {
		read_head(p);
	}
	return took;
}

/* --- the body --------------------------------------------------------------------------------- */

void httpparse_request_done(struct http_request *r)
{
	free(r->method);
	free(r->target);
	for (size_t i = 0; i < HTTP_KEPT_MAX; i++)
		free(r->kept[i]);
	buf_done(&r->body);
	if (r->ration)
		r->ration->used -= r->charged;
	*r = (struct http_request){ 0 };
}

int httpparse_charge(struct http_request *r, size_t n)
{
	if (!r->ration)
		return 0;
	if (n > r->ration->max - r->ration->used)
		return -1;
	r->ration->used += n;
	r->charged += n;
	return 0;
}

/* Up to p->left bytes of body. */
static size_t feed_data(struct httpparse *p, const char *text, size_t n)
{
	size_t take = n < p->left ? n : (size_t)p->left;

	if (take > p->body_max - p->r.body.len)
		return (void)bad(p, 413, "the request is too large"), 0;
	if (httpparse_charge(&p->r, take) < 0)
		return (void)bad(p, 503, "too many bytes of requests at once; try again"), 0;
	if (buf_add(&p->r.body, text, take) < 0)
		return (void)bad(p, 413, "the request is too large"), 0;
	p->left -= take;
	if (!p->left)
		p->state = p->state == HTTPPARSE_FIXED ? HTTPPARSE_WHOLE : HTTPPARSE_DATA_END;
	return take;
}

/* "1f3;extension": hex digits, at most what a body may have. 0 or -1. */
static int chunk_size(const char *s, uint64_t *ret)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF");

	if (!n || n > 8)
		return -1;
	*ret = strtoull(s, NULL, 16);
	s += n + strspn(s + n, " \t");
	return !*s || *s == ';' || *s == '\r' || *s == '\n' ? 0 : -1;
}

static size_t feed_size(struct httpparse *p, const char *text, size_t n)
{
	bool end;
	size_t took = take_line(p, text, n, HTTPPARSE_LINE_MAX, &end);

	if (!took)
		return (void)bad(p, 400, "the size of a chunk is too long"), 0;
	if (!end)
		return took;
	if (chunk_size(p->head.data, &p->left) < 0)
		return (void)bad(p, 400, "the size of a chunk is not a number"), took;
	buf_clear(&p->head);
	p->state = p->left ? HTTPPARSE_DATA : HTTPPARSE_TRAILER;
	return took;
}

/* The line end behind a chunk. */
static size_t feed_data_end(struct httpparse *p, const char *text, size_t n)
{
	bool end;
	size_t took = take_line(p, text, n, 2, &end);

	if (!took || (end && p->head.len == 2 && p->head.data[0] != '\r'))
		return (void)bad(p, 400, "a chunk is longer than it says"), 0;
	if (!end)
		return took;
	buf_clear(&p->head);
	p->state = HTTPPARSE_SIZE;
	return took;
}

/* Trailers are read and dropped: they must not become headers (RFC 9110 section 6.5.1). */
static size_t feed_trailer(struct httpparse *p, const char *text, size_t n)
{
	bool end;
	size_t took = take_line(p, text, n, HTTPPARSE_TRAILER_MAX, &end);

	if (!took)
		return (void)bad(p, 431, "the trailers are too large"), 0;
	if (!end)
		return took;
	if (empty_line(p))
		p->state = HTTPPARSE_WHOLE;
	else
		p->line = p->head.len;
	return took;
}

/* In the order of enum httpparse_state; the last two take nothing. */
static size_t (*const feeds[])(struct httpparse *p, const char *text, size_t n) = {
	feed_head, feed_data, feed_size, feed_data, feed_data_end, feed_trailer,
};

void httpparse_init(struct httpparse *p, struct ration *ration, size_t body_max)
{
	*p = (struct httpparse){
		.head = BUF_INIT(HTTPPARSE_HEAD_MAX),
		.r = { .body = BUF_INIT(body_max), .ration = ration },
		.body_max = body_max,
	};
}

size_t httpparse_feed(struct httpparse *p, const char *text, size_t n)
{
	size_t at = 0;

	while (at < n && p->state < HTTPPARSE_WHOLE)
		at += feeds[p->state](p, text + at, n - at);
	return at;
}

bool httpparse_begun(const struct httpparse *p)
{
	return p->state != HTTPPARSE_HEAD || p->head.len > 0;
}

void httpparse_done(struct httpparse *p)
{
	buf_done(&p->head);
	httpparse_request_done(&p->r);
}

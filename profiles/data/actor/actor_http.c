#include "profiles/data/actor/actor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define PART     (64u << 10)
#define HEAD_MAX (64u << 10)

static int fail(char why[ACTOR_WHY_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(char why[ACTOR_WHY_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, ACTOR_WHY_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

int actor_url(const char *text, struct actor_url *ret, char why[ACTOR_WHY_MAX])
{
	static const char scheme[] = "http://";
	size_t host, path;
	uint64_t port = 80;

	if (!str_starts(text, scheme))
		return fail(why, "the base URL must begin with %s", scheme);
	text += sizeof(scheme) - 1;
	host = strcspn(text, ":/");
	if (!host || host >= sizeof(ret->host))
		return fail(why, "the base URL names no host");
	memcpy(ret->host, text, host);
	ret->host[host] = '\0';
	text += host;
	if (*text == ':') {
		size_t n = strcspn(text + 1, "/");
		auto_free char *digits = mem_strndup(text + 1, n);

		if (str_u64(digits, &port) < 0 || !port || port > UINT16_MAX)
			return fail(why, "the base URL has no port from 1 to 65535");
		text += 1 + n;
	}
	ret->port = (uint16_t)port;
	path = strlen(text);
	while (path && text[path - 1] == '/')
		path--;
	if (path >= sizeof(ret->path) || strpbrk(text, " \r\n"))
		return fail(why, "the base URL's path is too long or holds blanks");
	memcpy(ret->path, text, path);
	ret->path[path] = '\0';
	return 0;
}

static int dial(const struct actor_url *url, char why[ACTOR_WHY_MAX])
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(url->port) };
	const char *host = str_eq(url->host, "localhost") ? "127.0.0.1" : url->host;
	auto_fd int fd = -1;

	if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
		return fail(why, "%s is no IPv4 address", url->host);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return fail(why, "cannot reach %s:%u: %s", url->host, url->port, strerror(errno));
	return take_fd(&fd);
}

static int send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Where the head of an answer ends, 0 when it does not. */
static size_t head_end(const char *raw, size_t n)
{
	const char *at = memmem(raw, n, "\r\n\r\n", 4);

	return at ? (size_t)(at - raw) + 4 : 0;
}

/* Value of header @name in the head of @n bytes, without blanks around it; NULL when there is none. */
static const char *header(const char *raw, size_t n, const char *name, size_t *ret_n)
{
	const char *p = memmem(raw, n, "\r\n", 2), *end = raw + n;
	size_t len = strlen(name);

	while (p && (p += 2) < end) {
		const char *eol = memmem(p, (size_t)(end - p), "\r\n", 2);

		if (!eol)
			break;
		if ((size_t)(eol - p) > len && p[len] == ':' && strncasecmp(p, name, len) == 0) {
			p += len + 1;
			while (p < eol && *p == ' ')
				p++;
			*ret_n = (size_t)(eol - p);
			return p;
		}
		p = eol;
	}
	return NULL;
}

/* The bytes that "Content-Length" promises; UINT64_MAX when it says nothing (or nonsense). */
static uint64_t promised(const char *raw, size_t head)
{
	size_t n = 0;
	const char *v = header(raw, head, "Content-Length", &n);
	auto_free char *digits = v ? mem_strndup(v, n) : NULL;
	uint64_t ret;

	return digits && str_u64(digits, &ret) == 0 ? ret : UINT64_MAX;
}

static bool is_chunked(const char *raw, size_t head)
{
	size_t n = 0;
	const char *v = header(raw, head, "Transfer-Encoding", &n);

	return v && n >= 7 && strncasecmp(v + n - 7, "chunked", 7) == 0;
}

/* Chunks (RFC 9112 section 7.1) into @body. 0, or -1 when they are cut or odd. */
static int add_chunks(const char *p, size_t n, struct buf *body)
{
	for (;;) {
		const char *eol = memmem(p, n, "\r\n", 2);
		size_t line = eol ? (size_t)(eol - p) : 0, digits;
		char hex[9] = { 0 };
		unsigned long size;

		if (!eol)
			return -1;
		digits = strspn(p, "0123456789abcdefABCDEF");
		if (!digits || digits > 8 || digits > line)
			return -1;
		memcpy(hex, p, digits);
		size = strtoul(hex, NULL, 16);
		p = eol + 2;
		n -= line + 2;
		if (!size)
			return 0;
		if (n < 2 || size > n - 2 || buf_add(body, p, size) < 0)
			return -1;
		p += size + 2;
		n -= size + 2;
	}
}

int actor_answer(const char *raw, size_t n, struct buf *body)
{
	size_t head = head_end(raw, n);
	uint64_t length;
	int status;

	if (!head || n < 12 || memcmp(raw, "HTTP/1.", 7) != 0 || raw[8] != ' ')
		return -1;
	status = atoi(raw + 9);
	if (status < 100 || status > 599)
		return -1;
	if (is_chunked(raw, head))
		return add_chunks(raw + head, n - head, body) < 0 ? -1 : status;
	length = promised(raw, head);
	if (length == UINT64_MAX)
		length = n - head; /* until the connection ends */
	if (length > n - head || buf_add(body, raw + head, (size_t)length) < 0)
		return -1;
	return status;
}

/* Is the answer in @b whole, so that nothing is to be waited for? */
static bool whole(const struct buf *b, size_t *head)
{
	if (!*head)
		*head = head_end(buf_str(b), b->len);
	return *head && !is_chunked(b->data, *head) && promised(b->data, *head) <= b->len - *head;
}

static int take_answer(int fd, struct buf *raw)
{
	size_t head = 0;

	while (!whole(raw, &head)) {
		char *room = buf_reserve(raw, PART);
		ssize_t n;

		if (!room || (!head && raw->len > HEAD_MAX)) {
			errno = EFBIG;
			return -1;
		}
		n = recv(fd, room, PART, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : 0;
		raw->len += (size_t)n;
		raw->data[raw->len] = '\0';
	}
	return 0;
}

int actor_post(const struct actor_url *url, const char *route, const char *key,
	       const struct buf *body, struct buf *reply, char why[ACTOR_WHY_MAX])
{
	auto_buf head = BUF_INIT(8192), raw = BUF_INIT(ACTOR_REPLY_MAX);
	auto_fd int fd = dial(url, why);
	int status;

	if (fd < 0)
		return -1;
	buf_addf(&head,
		 "POST %s%s HTTP/1.1\r\nHost: %s:%u\r\nUser-Agent: actor/1\r\n"
		 "Accept: application/json\r\nContent-Type: application/json\r\n"
		 "Content-Length: %zu\r\nConnection: close\r\n",
		 url->path, route, url->host, url->port, body->len);
	if (key && !strpbrk(key, "\r\n"))
		buf_addf(&head, "Authorization: Bearer %s\r\n", key);
	buf_adds(&head, "\r\n");
	if (head.full)
		return fail(why, "the key is too long");
	if (send_all(fd, head.data, head.len) < 0 || send_all(fd, buf_str(body), body->len) < 0 ||
	    take_answer(fd, &raw) < 0)
		return fail(why, "no answer from %s:%u: %s", url->host, url->port, strerror(errno));
	status = actor_answer(buf_str(&raw), raw.len, reply);
	return status < 0 ? fail(why, "the answer is no HTTP answer, or it was cut") : status;
}

/* What clients in a box do in test_net.c: DNS by hand, and connections. */
#ifndef TESTS_UNIT_GATEWAY_NET_CLIENT_H
#define TESTS_UNIT_GATEWAY_NET_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/dns_internal.h"

/* A client in the box: what @fn writes to its result is what run() returns. */
struct client {
	const char *name;
	uint16_t port;
	char *result; /* 256 bytes */
};

static size_t question(uint8_t *out, const char *name, uint16_t qtype)
{
	uint8_t *p = out;

	memcpy(p, "\x12\x34\1\0\0\1\0\0\0\0\0\0", 12);
	p += 12;
	while (*name) {
		size_t n = strcspn(name, ".");

		*p++ = (uint8_t)n;
		memcpy(p, name, n);
		p += n;
		name += n + (name[n] == '.');
	}
	memcpy(p, "\0\0\0\0\1", 5);
	p[2] = (uint8_t)qtype;
	return (size_t)(p + 5 - out);
}

static int at53(int type)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd = socket(AF_INET, type, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? -1 : fd;
}

/* Address of @name as the answerer says, or an address as it is written. The code of the answer. */
static int resolve(const char *name, struct sockaddr_storage *ret, socklen_t *ret_n, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	uint8_t m[512];
	ssize_t n;
	int fd;

	*ret = (struct sockaddr_storage){ .ss_family = AF_INET };
	*ret_n = sizeof(*v4);
	v4->sin_port = htons(port);
	if (inet_pton(AF_INET, name, &v4->sin_addr) == 1)
		return 0;
	if (inet_pton(AF_INET6, name, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		*ret_n = sizeof(*v6);
		return 0;
	}
	fd = at53(SOCK_DGRAM);
	if (send(fd, m, question(m, name, DNSQ_A), 0) < 0 || (n = recv(fd, m, sizeof(m), 0)) < 12)
		return -1;
	close(fd);
	memcpy(&v4->sin_addr, m + n - 4, 4);
	return m[3] & 15 ? m[3] & 15 : m[7] == 1 ? 0 : -1;
}

/* Connect, with the failure as the result. */
static int dial(struct client *c)
{
	struct sockaddr_storage to;
	socklen_t n;
	int code = resolve(c->name, &to, &n, c->port), fd;

	if (code) {
		sprintf(c->result, code == DNS_NXDOMAIN ? "no such name" : "code %d", code);
		return -1;
	}
	fd = socket(to.ss_family, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&to, n) < 0) {
		sprintf(c->result, "%s", errno == ECONNRESET ? "reset" : strerrorname_np(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Say "ping", hear what comes. */
static void ping(struct client *c)
{
	int fd = dial(c);
	ssize_t n;

	if (fd < 0)
		return;
	if (send(fd, "ping", 4, MSG_NOSIGNAL) == 4 &&
	    (n = recv(fd, c->result, 4, MSG_WAITALL)) >= 0)
		sprintf(c->result + n, "%s", n ? "" : "end");
	else
		sprintf(c->result, "%s", errno == ECONNRESET || errno == EPIPE ? "reset" : "error");
}

/* 300 KiB out and back, then the client's half-close and the server's. */
static void half_close(struct client *c)
{
	static char out[300 << 10], in[300 << 10];
	int fd = dial(c);
	size_t sent = 0, got = 0;
	ssize_t n = 0;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + i / 1000);
	while (fd >= 0 && (got < sizeof(in) || n)) {
		struct pollfd p = { fd, POLLIN | (sent < sizeof(out) ? POLLOUT : 0), 0 };

		poll(&p, 1, -1);
		if (p.revents & POLLOUT) {
			n = send(fd, out + sent, sizeof(out) - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
			sent += n > 0 ? (size_t)n : 0;
			if (sent == sizeof(out))
				shutdown(fd, SHUT_WR);
		}
		if (!(p.revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		n = recv(fd, in + got, sizeof(in) - got + (got == sizeof(in)), 0);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	sprintf(c->result, "%zu %s %s", got, memcmp(in, out, sizeof(in)) ? "differ" : "same",
		n == 0 ? "end" : "error");
}

/* The client's end first; the server counts and answers after it. */
static void end_first(struct client *c)
{
	static char out[100000];
	int fd = dial(c);
	ssize_t n;

	if (fd < 0 || send(fd, out, sizeof(out), 0) != sizeof(out) || shutdown(fd, SHUT_WR) < 0)
		return;
	n = recv(fd, c->result, 64, MSG_WAITALL);
	c->result[n > 0 ? n : 0] = '\0';
}

/* QUIC and the like: nobody is there, and the kernel says so at once. */
static void udp(struct client *c)
{
	struct sockaddr_storage to;
	socklen_t n;
	char x;
	int fd;

	resolve(c->name, &to, &n, c->port);
	fd = socket(to.ss_family, SOCK_DGRAM, 0);
	if (connect(fd, (struct sockaddr *)&to, n) == 0 && send(fd, "x", 1, 0) == 1 &&
	    recv(fd, &x, 1, 0) < 0)
		strcpy(c->result, strerrorname_np(errno));
}

/* Three queries in one piece, the last one cut in two, then one that is too long. */
static void dns_tcp(struct client *c)
{
	uint8_t out[600], in[600];
	int slow = at53(SOCK_STREAM), fd = at53(SOCK_STREAM), got = 0;
	size_t n = 0;

	/* A client that says half a length and no more is in nobody's way. */
	if (slow < 0 || fd < 0 || send(slow, "", 1, 0) != 1)
		return;
	for (unsigned i = 0; i < 3; i++) {
		size_t len = question(out + n + 2, "echo.example", DNSQ_A);

		out[n] = 0;
		out[n + 1] = (uint8_t)len;
		n += 2 + len;
	}
	if (send(fd, out, n - 5, 0) < 0 || send(fd, out + n - 5, 5, 0) < 0)
		return;
	for (; got < 3; got++) {
		uint8_t head[2];

		if (recv(fd, head, 2, MSG_WAITALL) != 2 ||
		    recv(fd, in, head[1], MSG_WAITALL) != head[1] || (in[3] & 15) || in[7] != 1)
			return;
	}
	if (send(fd, "\xff\xff....", 6, 0) == 6)
		sprintf(c->result, "%d answers, then %s", got,
			recv(fd, in, 1, 0) <= 0 ? "the end" : "more");
}

#endif

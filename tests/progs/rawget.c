/* HTTP without a resolver library, proxy variables or anything that could be preloaded: system calls by
 * number and a DNS message made by hand, linked statically.
 *
 * usage: rawget HOST PORT PATH    HOST: a name or an IPv4 address */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "rawget: %s: %s\n", what, errno ? strerror(errno) : "refused");
	exit(1);
}

static long call(long nr, long a, const void *b, long c, long d, const void *e, long f)
{
	long rc = syscall(nr, a, b, c, d, e, f);

	if (rc < 0)
		fail("system call");
	return rc;
}

static int dial(int type, uint32_t addr, unsigned port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = (int)syscall(SYS_socket, AF_INET, type, 0);

	to.sin_addr.s_addr = addr;
	call(SYS_connect, fd, &to, sizeof(to), 0, NULL, 0);
	return fd;
}

static uint32_t resolve(const char *name)
{
	uint8_t m[512] = { 0x47, 0x11, 1, 0, 0, 1 }, *p = m + 12;
	int fd = dial(SOCK_DGRAM, htonl(INADDR_LOOPBACK), 53);
	uint32_t addr;
	long n;

	if (strlen(name) > 200)
		fail("name");
	while (*name) {
		size_t len = strcspn(name, ".");

		*p++ = (uint8_t)len;
		memcpy(p, name, len);
		p += len;
		name += len + (name[len] == '.');
	}
	memcpy(p, "\0\0\1\0\1", 5);
	call(SYS_sendto, fd, m, p + 5 - m, 0, NULL, 0);
	n = call(SYS_recvfrom, fd, m, sizeof(m), 0, NULL, 0);
	errno = 0;
	if (n < 16 || (m[3] & 15) || m[7] != 1)
		fail("name");
	memcpy(&addr, m + n - 4, sizeof(addr));
	close(fd);
	return addr;
}

int main(int argc, char **argv)
{
	char buf[4096];
	uint32_t addr;
	int fd, len;
	long n;

	if (argc != 4)
		fail("usage: rawget HOST PORT PATH");
	if (inet_pton(AF_INET, argv[1], &addr) != 1)
		addr = resolve(argv[1]);
	fd = dial(SOCK_STREAM, addr, (unsigned)atoi(argv[2]));
	len = snprintf(buf, sizeof(buf), "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", argv[3], argv[1]);
	call(SYS_sendto, fd, buf, len, MSG_NOSIGNAL, NULL, 0);
	while ((n = call(SYS_recvfrom, fd, buf, sizeof(buf), 0, NULL, 0)) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	return 0;
}

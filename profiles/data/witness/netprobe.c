/* What gets out of a box, tried from inside: a static program, so that it runs in any root file system. Nothing of
 * the network is needed for its answers, and none is waited for longer than WAIT_MS.
 *
 * One line for each try: "blocked NAME: REASON" or "open NAME: WHAT"; for the box's own loopback
 * "works NAME" or "broken NAME: REASON"; "end" comes last.
 *
 * Addresses: of public resolvers, of clouds' metadata services (RFC 3927), documentation (RFC 5737) and private
 * networks (RFC 1918). To an address that is not the box's own, a sent datagram already is a way out. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MS 1500

struct target {
	const char *name;
	int type; /* SOCK_STREAM, SOCK_DGRAM */
	const char *address;
	unsigned short port;
	bool own; /* an address of the box itself: only an answer counts */
};

/* clang-format off */
static const struct target tries[] = {
	{ "public address",             SOCK_STREAM, "1.1.1.1",                443, false },
	{ "public address, HTTP",       SOCK_STREAM, "93.184.216.34",          80,  false },
	{ "documentation address",      SOCK_STREAM, "192.0.2.1",              443, false },
	{ "private address",            SOCK_STREAM, "10.0.0.1",               22,  false },
	{ "private address, router",    SOCK_STREAM, "192.168.1.1",            80,  false },
	{ "private address, bridge",    SOCK_STREAM, "172.17.0.1",             80,  false },
	{ "link-local, metadata",       SOCK_STREAM, "169.254.169.254",        80,  false },
	{ "IPv6 public address",        SOCK_STREAM, "2606:4700:4700::1111",   443, false },
	{ "IPv6 metadata",              SOCK_STREAM, "fd00:ec2::254",          80,  false },
	{ "DNS at 127.0.0.53",          SOCK_DGRAM,  "127.0.0.53",             53,  true },
	{ "DNS at 127.0.0.1",           SOCK_DGRAM,  "127.0.0.1",              53,  true },
	{ "DNS at 127.0.0.11",          SOCK_DGRAM,  "127.0.0.11",             53,  true },
	{ "DNS at 127.0.0.53, TCP",     SOCK_STREAM, "127.0.0.53",             53,  true },
	{ "DNS at a public resolver",   SOCK_DGRAM,  "8.8.8.8",                53,  false },
	{ "DNS at another resolver",    SOCK_DGRAM,  "9.9.9.9",                53,  false },
	{ "DNS at IPv6 resolver",       SOCK_DGRAM,  "2001:4860:4860::8888",   53,  false },
	{ "multicast DNS",              SOCK_DGRAM,  "224.0.0.251",            5353, false },
	{ "broadcast",                  SOCK_DGRAM,  "255.255.255.255",        67,  false },
};

static const char *const sockets[] = {
	"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
	"/run/systemd/resolve/io.systemd.Resolve", "/run/dbus/system_bus_socket", "/run/nscd/socket",
};
/* clang-format on */

/* A question for the addresses of example.com (RFC 1035 4.1). */
static const unsigned char question[] = { 0x12, 0x34, 1,   0,   0,   1,   0,   0,   0,   0,
					  0,    0,    7,   'e', 'x', 'a', 'm', 'p', 'l', 'e',
					  3,    'c',  'o', 'm', 0,   0,   1,   0,   1 };

static socklen_t address_of(const struct target *t, struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, t->address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(t->port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, t->address, &v6->sin6_addr) != 1)
		abort();
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(t->port);
	return sizeof(*v6);
}

static void blocked(const char *name, const char *why)
{
	printf("blocked %s: %s\n", name, why);
}

/* Outcome of a connect that is under way. */
static void wait_connected(const struct target *t, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int e = 0;
	socklen_t n = sizeof(e);

	if (poll(&p, 1, WAIT_MS) == 0) {
		/* A route took the packets. */
		printf("open %s: no refusal, the connection was under way\n", t->name);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0)
		e = errno;
	if (e == 0)
		printf("open %s: connected\n", t->name);
	else if (e == ECONNREFUSED && !t->own)
		printf("open %s: somebody refused\n", t->name);
	else
		blocked(t->name, strerror(e));
}

static void wait_answer(const struct target *t, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer[512];
	ssize_t n;

	if (!t->own) {
		printf("open %s: a datagram was sent\n", t->name);
		return;
	}
	if (poll(&p, 1, WAIT_MS) <= 0) {
		blocked(t->name, "no answer");
		return;
	}
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n >= 0)
		printf("open %s: %zd bytes of answer\n", t->name, n);
	else
		blocked(t->name, strerror(errno));
}

static void one(const struct target *t)
{
	struct sockaddr_storage ss;
	socklen_t n = address_of(t, &ss);
	int fd = socket(ss.ss_family, t->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0) {
		blocked(t->name, strerror(errno));
		return;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
	if (connect(fd, (struct sockaddr *)&ss, n) < 0 && errno != EINPROGRESS)
		blocked(t->name, strerror(errno));
	else if (t->type == SOCK_STREAM)
		wait_connected(t, fd);
	else if (send(fd, question, sizeof(question), MSG_NOSIGNAL) < 0)
		blocked(t->name, strerror(errno));
	else
		wait_answer(t, fd);
	close(fd);
}

static void unix_socket(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(un.sun_path, path, sizeof(un.sun_path) - 1);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		printf("open socket %s: connected\n", path);
	else
		printf("blocked socket %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* To the host of a virtual machine, and packets past the routes. */
static void others(void)
{
	struct sockaddr_vm vm = { .svm_family = AF_VSOCK,
				  .svm_cid = VMADDR_CID_HOST,
				  .svm_port = 22 };
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&vm, sizeof(vm)) == 0)
		puts("open vsock of the host: connected");
	else
		blocked("vsock of the host", strerror(errno));
	if (fd >= 0)
		close(fd);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		puts("open packet socket: made");
		close(fd);
	} else {
		blocked("packet socket", strerror(errno));
	}
}

static void interfaces(void)
{
	struct if_nameindex *all = if_nameindex();

	for (struct if_nameindex *i = all; i && i->if_name; i++)
		if (strcmp(i->if_name, "lo") != 0)
			printf("open interface %s: it is there\n", i->if_name);
	if_freenameindex(all);
}

/* A server and a client of our own; NULL, or what does not work. */
static const char *loopback(int family)
{
	const struct target t = { "lo", SOCK_STREAM, family == AF_INET ? "127.0.0.1" : "::1", 0,
				  true };
	struct sockaddr_storage ss;
	socklen_t n = address_of(&t, &ss), got = sizeof(ss);
	int server = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), client = -1, peer = -1;
	const char *why = "socket";
	char word[4] = "";

	if (server < 0)
		return why;
	why = "bind";
	if (bind(server, (struct sockaddr *)&ss, n) == 0 && listen(server, 1) == 0 &&
	    getsockname(server, (struct sockaddr *)&ss, &got) == 0) {
		why = "connect";
		client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (client >= 0 && connect(client, (struct sockaddr *)&ss, got) == 0)
			peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
		if (peer >= 0 && send(client, "yes", 3, MSG_NOSIGNAL) == 3 &&
		    recv(peer, word, 3, MSG_WAITALL) == 3 && memcmp(word, "yes", 3) == 0)
			why = NULL;
	}
	close(server);
	if (client >= 0)
		close(client);
	if (peer >= 0)
		close(peer);
	return why;
}

int main(void)
{
	const char *why = loopback(AF_INET);

	if (why)
		printf("broken 127.0.0.1: %s: %s\n", why, strerror(errno));
	else
		puts("works 127.0.0.1");
	why = loopback(AF_INET6);
	if (why)
		printf("without ::1: %s: %s\n", why, strerror(errno));
	else
		puts("works ::1");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		one(&tries[i]);
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		unix_socket(sockets[i]);
	others();
	interfaces();
	puts("end");
	return fflush(stdout) == 0 ? 0 : 1;
}

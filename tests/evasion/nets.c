/* Connections without a connect(2) that shows where to. */
#include "evasion.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLOSED_PORT = 9 };

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* All families and lengths that can be, wrong ones too. */
static int connects(long n)
{
	struct sockaddr_in in = loopback(CLOSED_PORT);
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "nobody" };

	for (long i = 0; i < n; i++) {
		int sock = socket(i % 2 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (i % 2)
			connect(sock, (struct sockaddr *)&in, sizeof(in));
		else
			connect(sock, (struct sockaddr *)&un, sizeof(un));
		close(sock);
	}
	expect("connect", NULL, NULL, false, n);
	return 0;
}

static void *turn_port(void *port)
{
	volatile unsigned char *low = (unsigned char *)port + 1;

	while (!shared->over) {
		*low = CLOSED_PORT;
		*low = CLOSED_PORT + 1;
	}
	return NULL;
}

static void *come_and_go(void *page)
{
	while (!shared->over) {
		mprotect(page, 4096, PROT_NONE);
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* The address turns, or its page comes and goes: there is a record of each that the kernel took. */
static int connect_race(long n)
{
	struct sockaddr_in *to =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	*to = loopback(CLOSED_PORT);
	to[256] = *to; /* on a page of its own */
	pthread_create(&thread, NULL, turn_port, &to->sin_port);
	for (long i = 0; i < n / 2; i++) {
		int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		connect(sock, (struct sockaddr *)to, sizeof(*to));
		shared->opens++;
		close(sock);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	shared->over = false;
	pthread_create(&thread, NULL, come_and_go, &to[256]);
	for (long i = 0; i < n / 2; i++) {
		int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(sock, (struct sockaddr *)&to[256], sizeof(*to)) < 0 && errno != EFAULT)
			shared->opens++;
		close(sock);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("connect", NULL, NULL, true, shared->opens);
	return 0;
}

/* TCP Fast Open connects with the first data and no connect(2). */
static int fast_open(long n)
{
	struct sockaddr_in to = loopback(0);
	socklen_t len = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (struct sockaddr *)&to, sizeof(to)) < 0 || listen(listener, 64) < 0 ||
	    getsockname(listener, (struct sockaddr *)&to, &len) < 0)
		fail("listen");
	for (long i = 0; i < n; i++) {
		struct iovec iov = { (char *)"x", 1 };
		struct mmsghdr m = { .msg_hdr = { .msg_name = &to,
						  .msg_namelen = sizeof(to),
						  .msg_iov = &iov,
						  .msg_iovlen = 1 } };
		int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ssize_t got = i % 3 == 0   ? sendto(sock, "x", 1, MSG_FASTOPEN,
						    (struct sockaddr *)&to, sizeof(to))
			      : i % 3 == 1 ? sendmsg(sock, &m.msg_hdr, MSG_FASTOPEN)
					   : sendmmsg(sock, &m, 1, MSG_FASTOPEN);

		if (got == 1) {
			shared->opens++;
			close(accept(listener, NULL, NULL));
		}
		close(sock);
	}
	expect("connect", NULL, NULL, true, shared->opens);
	return 0;
}

const struct way ways_nets[] = {
	{ "connects", connects },
	{ "connect-race", connect_race },
	{ "fast-open", fast_open },
	{ NULL, NULL },
};

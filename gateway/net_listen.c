#include "gateway/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <nftables/libnftables.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { BACKLOG = 4096, CHILD_MS = 30000, DNS_PORT = 53, MISSING_MAX = 128 };

/* What a descriptor that the child sends is for. */
enum what { END, MODEL, DNS_UDP, DNS_TCP, REDIRECTED4, REDIRECTED6, PORT };

/* One message of the child, with a descriptor unless it is END. */
struct word {
	enum what what;
	uint16_t port;             /* PORT */
	char missing[MISSING_MAX]; /* END */
	struct err err;            /* END */
};

static int say(int sock, enum what what, uint16_t port, int fd, struct err *err)
{
	struct word w = { .what = what, .port = port };

	if (fd_send(sock, &w, sizeof(w), fd) < 0)
		return err_sys(err, "cannot pass a listener out of the box");
	return 0;
}

/* A bound socket, listening when it is TCP. The descriptor or -1 with errno. */
static int bound(int family, int type, const char *addr, uint16_t port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool is4 = family == AF_INET;
	auto_fd int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || inet_pton(family, addr, is4 ? (void *)&v4.sin_addr : &v6.sin6_addr) != 1)
		return -1;
	if (!is4 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -1;
	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -1;
	if (bind(fd, is4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
		 is4 ? sizeof(v4) : sizeof(v6)) < 0)
		return -1;
	if (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		return -1;
	return take_fd(&fd);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
					    : ((struct sockaddr_in6 *)&a)->sin6_port);
}

/* A socket at a fixed place of the box; it must be had. */
static int fixed(int sock, enum what what, int type, uint16_t port, struct err *err)
{
	auto_fd int fd = bound(AF_INET, type, "127.0.0.1", port);

	if (fd < 0) {
		err_sys(err, "cannot listen at 127.0.0.1:%u (%s) inside the box", port,
			type == SOCK_STREAM ? "TCP" : "UDP");
		err->code = ERR_HOST;
		return -ERR_HOST;
	}
	return say(sock, what, what == PORT ? port : 0, fd, err);
}

/* Loopback up, as far as it is not. netdevice(7). */
static int lo_up(struct err *err)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &ifr) < 0)
		return err_sys(err, "cannot look at the box's loopback interface");
	if (ifr.ifr_flags & IFF_UP)
		return 0;
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return err_sys(err, "cannot bring up the box's loopback interface");
	return 0;
}

/* rtnetlink(7). The attributes follow in the order of their numbers, each 4 bytes long. */
struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr oif_head;
	uint32_t oif;
};

/* "ip route add local DEFAULT dev lo" of one family: every address is the box's own (AnyIP), so that each
 * connection ends here and nothing needs a way out. 0 or -1 with errno. */
static int local_everything(int family)
{
	struct route_request q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = RTM_NEWROUTE,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		.route = { .rtm_family = (unsigned char)family,
			   .rtm_table = RT_TABLE_LOCAL,
			   .rtm_protocol = RTPROT_BOOT,
			   .rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
			   .rtm_type = RTN_LOCAL },
		.oif_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = RTA_OIF },
		.oif = if_nametoindex("lo"),
	};
	auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[256];
	} a = { 0 };
	ssize_t n;

	if (fd < 0 || send(fd, &q, sizeof(q), 0) < 0)
		return -1;
	n = recv(fd, &a, sizeof(a), 0);
	if (n < 0)
		return -1;
	if ((size_t)n < sizeof(a.head) + sizeof(a.error) || a.head.nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	errno = -a.error.error;
	return a.error.error && errno != EEXIST ? -1 : 0;
}

/* Run one nf_tables script; does not return. The library prints and calls exit(3) when the kernel lacks
 * something, whatever its settings: its words go nowhere. */
static void nft_child(const char *script)
{
	auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct nft_ctx *ctx;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* cannot fail: prctl(2) */
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	if (!ctx || nft_ctx_buffer_output(ctx) || nft_ctx_buffer_error(ctx))
		_exit(1);
	_exit(nft_run_cmd_from_buffer(ctx, script) ? 1 : 0);
}

/* Did the kernel take the script? */
static bool nft_run(const char *script)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		nft_child(script);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && status == 0;
}

/* Every TCP connection that is not to the box's own loopback goes to one listener. A listener at
 * loopback itself: nobody else than the redirect means it, and a port that the agent chooses for its
 * own server is never in its way. 127.64.0.0/10 is what names get (names_internal.h). */
static int redirect(int sock, struct err *err)
{
	auto_fd int v4 = bound(AF_INET, SOCK_STREAM, "127.0.0.1", 0);
	auto_fd int v6 = bound(AF_INET6, SOCK_STREAM, "::1", 0);
	auto_free char *script6 =
		v6 < 0 ? mem_strdup("")
		       : mem_printf("add rule inet proctor output meta l4proto tcp "
				    "ip6 daddr != ::1 redirect to :%u\n",
				    port_of(v6));
	auto_free char *script = mem_printf(
		"add table inet proctor\n"
		"add chain inet proctor output { type nat hook output priority -100; }\n"
		"add rule inet proctor output ip daddr 127.0.0.0/10 accept\n"
		"add rule inet proctor output ip daddr 127.128.0.0/9 accept\n"
		"add rule inet proctor output meta nfproto ipv4 meta l4proto tcp redirect to :%u\n%s",
		port_of(v4), script6);
	int rc;

	if (v4 < 0 || !nft_run(script))
		return 0;
	rc = say(sock, REDIRECTED4, 0, v4, err);
	if (rc == 0 && v6 >= 0)
		rc = say(sock, REDIRECTED6, 0, v6, err);
	return rc < 0 ? rc : 1;
}

/* Wildcard listeners of one port: AnyIP makes every address ours, and getsockname(2) tells which one was
 * meant. A port that cannot be had is left out and said. */
static int port(int sock, uint16_t number, char missing[MISSING_MAX], struct err *err)
{
	static const struct {
		int family;
		const char *any;
	} rows[] = { { AF_INET, "0.0.0.0" }, { AF_INET6, "::" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_fd int fd = bound(rows[i].family, SOCK_STREAM, rows[i].any, number);
		size_t n = strlen(missing);
		int rc;

		if (fd < 0 && rows[i].family == AF_INET)
			snprintf(missing + n, MISSING_MAX - n, "; no port %u", number);
		if (fd < 0)
			continue;
		rc = say(sock, PORT, number, fd, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Without nf_tables: the ports of the web and those that rules name. */
static int ports(int sock, const struct net_want *want, char missing[MISSING_MAX], struct err *err)
{
	uint16_t number[NET_LISTENERS_MAX / 2] = { 80, 443 };
	size_t n = 2;
	int rc = 0;

	snprintf(missing, MISSING_MAX, "ports 80, 443 and those of rules only: no nf_tables");
	for (size_t i = 0; want->rules && i < want->rules->n && n < ARRAY_SIZE(number); i++) {
		uint16_t p = want->rules->v[i].port;
		bool known = p == 0;

		for (size_t k = 0; k < n && !known; k++)
			known = number[k] == p;
		if (!known)
			number[n++] = p;
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = port(sock, number[i], missing, err);
	return rc;
}

static int relays(int sock, const struct net_want *want, char missing[MISSING_MAX], struct err *err)
{
	int rc;

	if (local_everything(AF_INET) < 0) {
		err_sys(err, "cannot add the route \"local 0.0.0.0/0 dev lo\" inside the box");
		err->code = ERR_HOST;
		return -ERR_HOST;
	}
	/* A kernel without IPv6 has nothing to lead anywhere. */
	(void)local_everything(AF_INET6);
	rc = redirect(sock, err);
	return rc ? (rc < 0 ? rc : 0) : ports(sock, want, missing, err);
}

/* Is @fd the user namespace that we are in? Entering it again is EINVAL (setns(2)). */
static bool is_our_userns(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat("/proc/self/ns/user", &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

static int enter(int user_fd, int net_fd, struct err *err)
{
	/* The user namespace first: it is what gives the right to enter the other. */
	if ((user_fd >= 0 && !is_our_userns(user_fd) && setns(user_fd, CLONE_NEWUSER) < 0) ||
	    setns(net_fd, CLONE_NEWNET) < 0) {
		err_sys(err, "cannot enter the box's network namespace");
		err->code = ERR_HOST;
		return -ERR_HOST;
	}
	return 0;
}

static void child(int sock, int user_fd, int net_fd, const struct net_want *want)
{
	struct word last = { .what = END };
	struct err *err = &last.err;
	int rc = enter(user_fd, net_fd, err);

	if (rc == 0)
		rc = lo_up(err);
	if (rc == 0 && want->model_port)
		rc = fixed(sock, MODEL, SOCK_STREAM, want->model_port, err);
	if (rc == 0 && want->dns)
		rc = fixed(sock, DNS_UDP, SOCK_DGRAM, DNS_PORT, err);
	if (rc == 0 && want->dns)
		rc = fixed(sock, DNS_TCP, SOCK_STREAM, DNS_PORT, err);
	for (size_t i = 0; rc == 0 && i < want->n_loopback; i++)
		rc = fixed(sock, PORT, SOCK_STREAM, want->loopback[i], err);
	if (rc == 0 && want->relays)
		rc = relays(sock, want, last.missing, err);
	(void)fd_send(sock, &last, sizeof(last), -1); /* a parent that is gone needs no answer */
	_exit(rc == 0 ? 0 : 1);
}

/* Put what came with @w where it belongs. False when there is no such place. */
static bool keep(struct net_listeners *l, const struct word *w, int fd)
{
	int *places[] = {
		[MODEL] = &l->model[0],          [DNS_UDP] = &l->dns_udp,
		[DNS_TCP] = &l->dns_tcp,         [REDIRECTED4] = &l->redirected4,
		[REDIRECTED6] = &l->redirected6,
	};

	if (fd < 0)
		return false;
	if (w->what == PORT && l->n_port < NET_LISTENERS_MAX) {
		l->port_number[l->n_port] = w->port;
		l->port[l->n_port++] = fd;
		return true;
	}
	if (w->what <= END || w->what >= PORT || *places[w->what] >= 0)
		return false;
	*places[w->what] = fd;
	return true;
}

/* Listen to the child until its last word. */
static int gather(int sock, struct net_listeners *l, char missing[MISSING_MAX], struct err *err)
{
	uint64_t end = clock_mono() + CHILD_MS * CLOCK_MS;

	for (;;) {
		struct pollfd p = { .fd = sock, .events = POLLIN };
		uint64_t now = clock_mono();
		auto_fd int fd = -1;
		struct word w;

		if (now >= end || poll(&p, 1, (int)((end - now) / CLOCK_MS) + 1) == 0)
			return err_set(err, ERR_HOST,
				       "the box's listeners were not there within %d seconds",
				       CHILD_MS / 1000);
		if (!(p.revents))
			continue;
		if (fd_recv(sock, &w, sizeof(w), &fd) != sizeof(w))
			return err_set(err, ERR_HOST, "making the box's listeners was broken off");
		if (w.what == END && w.err.code) {
			*err = w.err;
			return -(int)w.err.code;
		}
		if (w.what == END) {
			memcpy(missing, w.missing, MISSING_MAX);
			return 0;
		}
		if (!keep(l, &w, fd))
			return err_set(err, ERR_BUG, "a listener of the box came twice");
		fd = -1;
	}
}

static void listeners_init(struct net_listeners *l)
{
	*l = (struct net_listeners){
		.model = { -1 }, .dns_udp = -1, .dns_tcp = -1, .redirected4 = -1, .redirected6 = -1
	};
}

int net_listen(int user_fd, int net_fd, const struct net_want *want, struct net_listeners *ret,
	       char missing[128], struct err *err)
{
	auto_fd int ours = -1, theirs = -1;
	struct err ignored;
	int sv[2], rc;
	pid_t pid;

	listeners_init(ret);
	missing[0] = '\0';
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return err_sys(err, "cannot make a socket for the box's listeners");
	ours = sv[0];
	theirs = sv[1];
	pid = fork();
	if (pid == 0) {
		/* The pair's other end must be ours alone, so that its end is seen. */
		mem_close(&ours);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* cannot fail: prctl(2) */
		child(theirs, user_fd, net_fd, want);
	}
	if (pid < 0)
		return err_sys(err, "cannot start the process that makes the box's listeners");
	mem_close(&theirs);
	rc = gather(ours, ret, missing, err ? err : &ignored);
	if (rc < 0)
		(void)kill(pid, SIGKILL); /* it may have ended by itself */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (rc < 0)
		net_listeners_done(ret);
	return rc;
}

void net_listeners_done(struct net_listeners *l)
{
	mem_close(&l->model[0]);
	mem_close(&l->dns_udp);
	mem_close(&l->dns_tcp);
	mem_close(&l->redirected4);
	mem_close(&l->redirected6);
	for (unsigned i = 0; i < l->n_port; i++)
		mem_close(&l->port[i]);
	l->n_port = 0;
}

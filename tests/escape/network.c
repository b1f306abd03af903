/* Socket families, protocols, addresses. */
#include "escape.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define OLD_PACKET 10 /* SOCK_PACKET: turns AF_INET into AF_PACKET in the kernel */

/* clang-format off */
static const struct call calls[] = {
	{ "sock-packet-as-af-inet", SYS_socket, { AF_INET, OLD_PACKET, 0x300 } },
	{ "af-packet", SYS_socket, { AF_PACKET, SOCK_RAW, 0x300 } },
	{ "af-packet-high-half", SYS_socket, { HI_ALL(AF_PACKET), SOCK_RAW, 0x300 } },
	{ "af-vsock", SYS_socket, { AF_VSOCK, SOCK_STREAM } },
	{ "af-vsock-bit-32", SYS_socket, { HI(AF_VSOCK), SOCK_STREAM } },
	{ "af-alg", SYS_socket, { AF_ALG, SOCK_SEQPACKET } },
	{ "raw-ip", SYS_socket, { AF_INET, SOCK_RAW, IPPROTO_ICMP } },
	{ "raw-ipv6", SYS_socket, { AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 } },
	{ "sctp", SYS_socket, { AF_INET, SOCK_STREAM, IPPROTO_SCTP } },
	{ "dccp", SYS_socket, { AF_INET, 6, IPPROTO_DCCP } },
	{ "l2tp", SYS_socket, { AF_INET, SOCK_DGRAM, 115 } },
	{ "smc", SYS_socket, { AF_INET, SOCK_STREAM, 256 } },
	{ "tcp", SYS_socket, { AF_INET, SOCK_STREAM } },
	{ "udp-over-ipv6", SYS_socket, { AF_INET6, SOCK_DGRAM } },
	{ "af-unix-high-half", SYS_socket, { HI_ALL(AF_UNIX), SOCK_STREAM } },
	{ "fast-open", SYS_sendto, { 0, PTR("x"), 1, MSG_FASTOPEN } },
	{ NULL },
};
/* clang-format on */

static long lone_loopback(void)
{
	struct if_nameindex *all = if_nameindex();
	struct ifreq req = { .ifr_name = "lo" };

	if (!all || strcmp(all[0].if_name, "lo") != 0 || all[1].if_name)
		return wrong("interfaces beside lo");
	return result(ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &req));
}

/* All types of all families that are not on the list. */
static long families(void)
{
	static const int types[] = { SOCK_STREAM,    SOCK_DGRAM, SOCK_RAW,
				     SOCK_SEQPACKET, SOCK_RDM,   OLD_PACKET };
	char text[64];

	for (int family = 0; family < 48; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			continue;
		for (size_t i = 0; i < COUNT(types); i++) {
			int sv[2];

			if (socket(family, types[i], 0) < 0 && errno == EAFNOSUPPORT &&
			    socketpair(family, types[i], 0, sv) < 0 && errno == EAFNOSUPPORT)
				continue;
			snprintf(text, sizeof(text), "family %d type %d", family, types[i]);
			return wrong(text);
		}
	}
	return 0;
}

static long netlink(void)
{
	if (socket(AF_NETLINK, SOCK_RAW, 0) < 0)
		return -errno;
	for (int proto = 1; proto < 32; proto++) {
		if (syscall(SYS_socket, AF_NETLINK, SOCK_RAW, proto) >= 0 ||
		    errno != EAFNOSUPPORT ||
		    syscall(SYS_socket, HI(AF_NETLINK), SOCK_DGRAM, HI_ALL((unsigned)proto)) >= 0)
			return wrong("a netlink protocol beside ROUTE");
	}
	return 0;
}

/* Ask the kernel for @type by netlink; what it answers. */
static long ask_netlink(unsigned short type)
{
	struct {
		struct nlmsghdr head;
		char body[64];
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = type,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE } };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char more[256];
	} answer;
	int sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (sock < 0 || send(sock, &ask, sizeof(ask), 0) < 0 ||
	    recv(sock, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.head))
		return -errno;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.err.error : 0;
}

static long new_qdisc(void)
{
	return ask_netlink(RTM_NEWQDISC);
}

static long new_link(void)
{
	return ask_netlink(RTM_NEWLINK);
}

static long new_route(void)
{
	return ask_netlink(RTM_NEWROUTE);
}

static long option(int level, int name, const void *value, socklen_t n)
{
	return result(setsockopt(socket(AF_INET, SOCK_STREAM, 0), level, name, value, n));
}

static long mark(void)
{
	return option(SOL_SOCKET, SO_MARK, &(int){ 1 }, sizeof(int));
}

static long transparent(void)
{
	return option(SOL_IP, IP_TRANSPARENT, &(int){ 1 }, sizeof(int));
}

static long iptables(void)
{
	enum { IPT_SO_SET_REPLACE = 64 };
	char table[128] = "filter";

	return option(SOL_IP, IPT_SO_SET_REPLACE, table, sizeof(table));
}

/* On a connection, where the kernel would do it. */
static long kernel_tls(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&at, n) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &n) < 0 ||
	    connect(sock, (struct sockaddr *)&at, n) < 0)
		return wrong("no connection on loopback");
	return result(setsockopt(sock, SOL_TCP, TCP_ULP, "tls", 3));
}

static long metadata(void)
{
	return inet("169.254.169.254", "80");
}

static long public_address(void)
{
	return inet("8.8.8.8", "53");
}

static long private_address(void)
{
	return inet("::ffff:10.0.0.1", "80");
}

static long host_address(void)
{
	return inet(arg_address, arg_port);
}

/* Private ranges in all their clothes. */
static long private_ranges(void)
{
	static const char *const names[] = { "10.0.0.1",   "172.16.0.1",     "192.168.0.1",
					     "100.64.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
					     "fd00::1",    "224.0.0.1",      "255.255.255.255" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (inet(names[i], "80") == 0)
			return wrong(names[i]);
	}
	return 0;
}

static long datagram_out(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };

	to.sin_addr.s_addr = htonl(0x08080808);
	return result(sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&to,
			     sizeof(to)));
}

/* Addresses that end too early, or never. */
static long address_lengths(void)
{
	static const unsigned lens[] = { 0, 1, 2, 7, 129, 1u << 30, 0xffffffff };
	struct sockaddr_storage to[2] = { { .ss_family = AF_INET } };

	for (size_t i = 0; i < COUNT(lens); i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);

		if (syscall(SYS_connect, sock, to, lens[i]) == 0)
			return wrong("a length that is none");
	}
	return 0;
}

static long host_loopback(void)
{
	static const char *const names[] = { "127.0.0.1", "127.1.2.3", "0.0.0.0",
					     "::1",       "::",        "::ffff:127.0.0.1" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (inet(names[i], arg_port) == 0)
			return wrong(names[i]);
	}
	return 0;
}

static long host_sockets(void)
{
	char name[64];

	snprintf(name, sizeof(name), "@" MARK "-%s", arg_port);
	if (local(name, SOCK_STREAM) == 0)
		return wrong("abstract socket of the host");
	if (local("host.sock", SOCK_STREAM) == 0 || local("host.dgram", SOCK_DGRAM) == 0)
		return wrong("socket of the host in the workspace");
	return 0;
}

/* Datagrams to sockets of the host by every call that sends. */
static long send_to_host(void)
{
	struct sockaddr_un to[2] = { { .sun_family = AF_UNIX, .sun_path = "host.dgram" },
				     { .sun_family = AF_UNIX } };
	socklen_t len[2] = { sizeof(to[0]), 0 };

	len[1] = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
		 (socklen_t)snprintf(to[1].sun_path + 1, 64, MARK "-%s", arg_port);
	for (int i = 0; i < 2; i++) {
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		struct iovec iov = { (char *)"x", 1 };
		struct mmsghdr m = { .msg_hdr = { .msg_name = &to[i],
						  .msg_namelen = len[i],
						  .msg_iov = &iov,
						  .msg_iovlen = 1 } };

		if (sendto(sock, "x", 1, 0, (struct sockaddr *)&to[i], len[i]) >= 0 ||
		    sendmsg(sock, &m.msg_hdr, 0) >= 0 || sendmmsg(sock, &m, 1, 0) >= 0)
			return wrong(to[i].sun_path[0] ? "by path" : "abstract");
	}
	return 0;
}

static const struct attempt attempts[] = {
	{ "lone-loopback", lone_loopback },
	{ "families", families },
	{ "netlink-protocols", netlink },
	{ "new-qdisc", new_qdisc },
	{ "new-link", new_link },
	{ "new-route", new_route },
	{ "so-mark", mark },
	{ "ip-transparent", transparent },
	{ "iptables", iptables },
	{ "kernel-tls", kernel_tls },
	{ "metadata", metadata },
	{ "public-address", public_address },
	{ "private-mapped", private_address },
	{ "private-ranges", private_ranges },
	{ "host-address", host_address },
	{ "datagram-out", datagram_out },
	{ "address-lengths", address_lengths },
	{ "host-loopback", host_loopback },
	{ "host-sockets", host_sockets },
	{ "send-to-host", send_to_host },
	{ NULL },
};

const struct family family_network = {
	"network",
	.calls = calls,
	.attempts = attempts,
};

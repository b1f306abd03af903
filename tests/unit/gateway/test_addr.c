/* addr.c: loopback, metadata and the like are refused in every spelling, the public net is not. */
#include "gateway/addr.h"

#include <arpa/inet.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static struct in6_addr addr_of(const char *s)
{
	struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, s, &a.s6_addr[12]) != 1)
		tap_ok(inet_pton(AF_INET6, s, &a) == 1, "an address: %s", s);
	return a;
}

/* clang-format off */
static const struct {
	const char *addr, *why; /* NULL: it may be reached */
} rows[] = {
	/* IPv4 as itself: the edges of each block */
	{ "0.0.0.0",          "unspecified" },
	{ "0.255.255.255",    "unspecified" },
	{ "1.0.0.0",          NULL },
	{ "9.255.255.255",    NULL },
	{ "10.0.0.0",         "private" },
	{ "10.255.255.255",   "private" },
	{ "11.0.0.0",         NULL },
	{ "100.63.255.255",   NULL },
	{ "100.64.0.0",       "private" },
	{ "100.100.100.200",  "metadata service" },
	{ "100.100.100.199",  "private" },
	{ "100.127.255.255",  "private" },
	{ "100.128.0.0",      NULL },
	{ "126.255.255.255",  NULL },
	{ "127.0.0.0",        "loopback" },
	{ "127.0.0.1",        "loopback" },
	{ "127.0.0.53",       "loopback" },
	{ "127.64.0.1",       "loopback" },
	{ "127.255.255.255",  "loopback" },
	{ "128.0.0.0",        NULL },
	{ "168.63.129.15",    NULL },
	{ "168.63.129.16",    "metadata service" },
	{ "169.253.255.255",  NULL },
	{ "169.254.0.0",      "link-local" },
	{ "169.254.169.254",  "link-local" },
	{ "169.254.170.2",    "link-local" },
	{ "169.255.0.0",      NULL },
	{ "172.15.255.255",   NULL },
	{ "172.16.0.0",       "private" },
	{ "172.31.255.255",   "private" },
	{ "172.32.0.0",       NULL },
	{ "192.0.0.1",        "reserved" },
	{ "192.0.0.192",      "metadata service" },
	{ "192.0.2.1",        NULL },
	{ "192.88.99.1",      "reserved" },
	{ "192.167.255.255",  NULL },
	{ "192.168.0.0",      "private" },
	{ "192.168.255.255",  "private" },
	{ "192.169.0.0",      NULL },
	{ "198.17.255.255",   NULL },
	{ "198.18.0.1",       "private" },
	{ "198.20.0.0",       NULL },
	{ "198.51.100.7",     NULL },
	{ "203.0.113.7",      NULL },
	{ "223.255.255.255",  NULL },
	{ "224.0.0.1",        "multicast" },
	{ "239.255.255.255",  "multicast" },
	{ "240.0.0.1",        "reserved" },
	{ "255.255.255.254",  "reserved" },
	{ "255.255.255.255",  "broadcast" },
	{ "8.8.8.8",          NULL },
	/* IPv6 as itself */
	{ "::",               "unspecified" },
	{ "::1",              "loopback" },
	{ "::2",              "unspecified" }, /* compatible form of 0.0.0.2 */
	{ "fe80::1",          "link-local" },
	{ "febf:ffff::1",     "link-local" },
	{ "fec0::1",          "private" },
	{ "fc00::1",          "private" },
	{ "fd12:3456::1",     "private" },
	{ "fd00:ec2::254",    "metadata service" },
	{ "fd00:ec2::23",     "metadata service" },
	{ "fd20:ce::254",     "metadata service" },
	{ "fd00:c1::a9fe:a9fe", "metadata service" },
	{ "fd00:42::42",      "metadata service" },
	{ "fd00:42::43",      "private" },
	{ "ff02::1",          "multicast" },
	{ "ff0e::1",          "multicast" },
	{ "100::1",           "reserved" },
	{ "2001:2::1",        "private" },
	{ "2001:10::1",       "reserved" },
	{ "2001:20::1",       "reserved" },
	{ "5f00::1",          "reserved" },
	{ "4000::1",          "reserved" },
	{ "e000::1",          "reserved" },
	{ "200::1",           "reserved" },
	{ "2606:4700:4700::1111", NULL },
	{ "2001:4860:4860::8888", NULL },
	{ "2001:db8::1",      NULL },
	{ "3fff::1",          NULL },
	/* IPv4 inside IPv6: mapped */
	{ "::ffff:127.0.0.1", "loopback" },
	{ "::ffff:7f00:1",    "loopback" },
	{ "0:0:0:0:0:ffff:127.1.2.3", "loopback" },
	{ "::ffff:169.254.169.254", "link-local" },
	{ "::ffff:10.0.0.1",  "private" },
	{ "::ffff:0.0.0.0",   "unspecified" },
	{ "::ffff:8.8.8.8",   NULL },
	/* compatible */
	{ "::127.0.0.1",      "loopback" },
	{ "::7f00:1",         "loopback" },
	{ "::169.254.169.254", "link-local" },
	{ "::8.8.8.8",        "reserved" },
	/* translated */
	{ "::ffff:0:127.0.0.1", "loopback" },
	{ "::ffff:0:a9fe:a9fe", "link-local" },
	{ "::ffff:0:8.8.8.8", "reserved" },
	/* NAT64 */
	{ "64:ff9b::127.0.0.1", "loopback" },
	{ "64:ff9b::7f00:1",  "loopback" },
	{ "64:ff9b::a9fe:a9fe", "link-local" },
	{ "64:ff9b::100.100.100.200", "metadata service" },
	{ "64:ff9b::10.1.2.3", "private" },
	{ "64:ff9b::8.8.8.8", NULL },
	{ "64:ff9b:1::7f00:1", "reserved" },
	{ "64:ff9b:1:7f00:0:100::", "reserved" },
	/* 6to4 */
	{ "2002:7f00:1::",    "loopback" },
	{ "2002:7f00:1::1",   "loopback" },
	{ "2002:a9fe:a9fe::1", "link-local" },
	{ "2002:c0a8:101::1", "private" },
	{ "2002:a83f:8110::", "metadata service" },
	{ "2002:808:808::1",  NULL },
	/* Teredo: server, and client with its bits turned over */
	{ "2001:0:7f00:1::",  "loopback" },
	{ "2001:0:808:808:0:0:80ff:fffe", "loopback" },
	{ "2001:0:808:808:0:0:5601:5601", "link-local" },
	{ "2001:0:808:808:0:0:f5ff:fffe", "private" },
	{ "2001:0:a00:1:0:0:80ff:fffe", "loopback" }, /* the private server does not hide it */
	{ "2001:0:808:808:0:0:f7f7:f7f7", NULL },
	/* ISATAP */
	{ "2001:db8::5efe:127.0.0.1", "loopback" },
	{ "2001:db8::200:5efe:7f00:1", "loopback" },
	{ "2001:db8::5efe:a9fe:a9fe", "link-local" },
	{ "fe80::5efe:8.8.8.8", "link-local" },
	{ "fd00::5efe:127.0.0.1", "loopback" },
	{ "2001:db8::5efe:10.0.0.1", "private" },
	{ "2001:db8::5efe:8.8.8.8", NULL },
};
/* clang-format on */

static void table(void)
{
	const struct own_addrs none = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct in6_addr a = addr_of(rows[i].addr);

		tap_is_str(addr_refused(&a, &none), rows[i].why, rows[i].addr);
		tap_ok(addr_liftable(addr_refused(&a, NULL)) == str_eq(rows[i].why, "private"),
		       "a rule may lift it: only \"private\"");
	}
}

static void own(void)
{
	struct in6_addr list[] = { addr_of("198.51.100.7"), addr_of("10.1.1.1"),
				   addr_of("2001:db8::9"), addr_of("fd12::1") };
	const struct own_addrs o = { list, ARRAY_SIZE(list) };
	static const char *const mine[] = { "198.51.100.7",        "10.1.1.1",
					    "2001:db8::9",         "fd12::1",
					    "::ffff:198.51.100.7", "64:ff9b::198.51.100.7",
					    "2002:c633:6407::1",   "64:ff9b::10.1.1.1" };
	static const char *const others[] = { "198.51.100.8", "2001:db8::a" };

	for (size_t i = 0; i < ARRAY_SIZE(mine); i++) {
		struct in6_addr a = addr_of(mine[i]);

		tap_is_str(addr_refused(&a, &o), "own interface", mine[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct in6_addr a = addr_of(others[i]);

		tap_is_str(addr_refused(&a, &o), NULL, others[i]);
	}
}

static void this_host(void)
{
	struct in6_addr lo = addr_of("127.0.0.1");
	struct own_addrs o = { 0 };
	struct err err = { 0 };
	bool found = false;

	tap_ok(own_addrs_get(&o, &err) == 0, "the interfaces are listed %s", err.text);
	for (size_t i = 0; i < o.n; i++)
		found |= memcmp(&o.v[i], &lo, sizeof(lo)) == 0;
	tap_ok(found, "127.0.0.1 is among their addresses");
	own_addrs_done(&o);
	tap_ok(!o.v && o.n == 0, "freed");
}

static void text(void)
{
	struct in6_addr v4 = addr_of("192.0.2.7"), v6 = addr_of("2001:db8::1");
	char out[INET6_ADDRSTRLEN];

	tap_is_str(addr_text(&v4, out), "192.0.2.7", "text of IPv4");
	tap_is_str(addr_text(&v6, out), "2001:db8::1", "text of IPv6");
}

int main(void)
{
	table();
	own();
	this_host();
	text();
	return tap_done();
}

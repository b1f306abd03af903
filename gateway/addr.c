#include "gateway/addr.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Rows are walked from the first; the first that covers the address decides. Sources: IANA's
 * registries of special-purpose addresses (RFC 6890), multicast addresses, and the clouds' manuals
 * for their metadata services. Documentation blocks are not in here: nothing listens there, and
 * networks in test beds are made of them. */
struct v4_row {
	uint32_t addr;
	unsigned bits;
	const char *why;
};

#define V4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* clang-format off */
static const struct v4_row v4_rows[] = {
	{ V4(0, 0, 0, 0),         8, "unspecified" },      /* RFC 1122, 3.2.1.3: this host */
	{ V4(127, 0, 0, 0),       8, "loopback" },
	{ V4(169, 254, 0, 0),    16, "link-local" },       /* 169.254.169.254 and its kin */
	{ V4(100, 100, 100, 200), 32, "metadata service" }, /* Alibaba */
	{ V4(168, 63, 129, 16),  32, "metadata service" }, /* Azure */
	{ V4(192, 0, 0, 192),    32, "metadata service" }, /* Oracle */
	{ V4(10, 0, 0, 0),        8, "private" },
	{ V4(172, 16, 0, 0),     12, "private" },
	{ V4(192, 168, 0, 0),    16, "private" },
	{ V4(100, 64, 0, 0),     10, "private" },          /* RFC 6598 */
	{ V4(198, 18, 0, 0),     15, "private" },          /* RFC 2544; local proxies use it too */
	{ V4(192, 0, 0, 0),      24, "reserved" },         /* RFC 6890 */
	{ V4(192, 88, 99, 0),    24, "reserved" },         /* RFC 7526 */
	{ V4(255, 255, 255, 255), 32, "broadcast" },
	{ V4(224, 0, 0, 0),       4, "multicast" },
	{ V4(240, 0, 0, 0),       4, "reserved" },
};

/* Blocks of IPv6, by the text form of their first address. */
static const struct {
	const char *addr;
	unsigned bits;
	const char *why;
} v6_rows[] = {
	{ "::",                 128, "unspecified" },
	{ "::1",                128, "loopback" },
	{ "fd00:ec2::",          32, "metadata service" }, /* AWS */
	{ "fd20:ce::",           32, "metadata service" }, /* Google */
	{ "fd00:c1::a9fe:a9fe", 128, "metadata service" }, /* Oracle */
	{ "fd00:42::42",        128, "metadata service" }, /* Scaleway */
	{ "fe80::",              10, "link-local" },
	{ "ff00::",               8, "multicast" },
	{ "fec0::",              10, "private" },          /* RFC 3879 */
	{ "fc00::",               7, "private" },          /* RFC 4193 */
	{ "2001:2::",            48, "private" },          /* RFC 5180 */
	{ "64:ff9b:1::",         48, "reserved" },         /* RFC 8215: where IPv4 stands is local */
	{ "100::",               64, "reserved" },         /* RFC 6666 */
	{ "2001:10::",           28, "reserved" },         /* RFC 4843 */
	{ "2001:20::",           28, "reserved" },         /* RFC 7343 */
	{ "5f00::",              16, "reserved" },         /* RFC 9602 */
};

/* Forms that carry an IPv4 address: it stands at byte @at, all bits turned over when @inverted.
 * One address may have several rows (Teredo: server and client). */
static const struct {
	const char *addr;
	unsigned bits, at;
	bool inverted;
} carriers[] = {
	{ "::ffff:0:0",    96, 12, false }, /* mapped, RFC 4291 */
	{ "::ffff:0:0:0",  96, 12, false }, /* translated, RFC 2765 */
	{ "::",            96, 12, false }, /* compatible, RFC 4291 */
	{ "64:ff9b::",     96, 12, false }, /* NAT64, RFC 6052 */
	{ "2002::",        16,  2, false }, /* 6to4, RFC 3056 */
	{ "2001::",        32,  4, false }, /* Teredo server, RFC 4380 */
	{ "2001::",        32, 12, true },  /* Teredo client */
};
/* clang-format on */

static bool in_block(const struct in6_addr *addr, const char *text, unsigned bits)
{
	struct in6_addr block;
	unsigned whole = bits / 8, rest = bits % 8;

	if (inet_pton(AF_INET6, text, &block) != 1 ||
	    memcmp(addr->s6_addr, block.s6_addr, whole) != 0)
		return false;
	return rest == 0 ||
	       ((addr->s6_addr[whole] ^ block.s6_addr[whole]) & (uint8_t)(0xff00 >> rest)) == 0;
}

static struct in6_addr mapped(const uint8_t v4[4], bool inverted)
{
	struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	for (unsigned i = 0; i < 4; i++)
		a.s6_addr[12 + i] = inverted ? (uint8_t)~v4[i] : v4[i];
	return a;
}

static bool is_own(const struct in6_addr *addr, const struct own_addrs *own)
{
	for (size_t i = 0; own && i < own->n; i++) {
		if (memcmp(addr, &own->v[i], sizeof(*addr)) == 0)
			return true;
	}
	return false;
}

/* @addr is a mapped one. */
static const char *v4_refused(const struct in6_addr *addr, const struct own_addrs *own)
{
	const uint8_t *b = &addr->s6_addr[12];
	uint32_t v4 = V4(b[0], b[1], b[2], b[3]);
	const char *why = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(v4_rows) && !why; i++) {
		if ((v4 ^ v4_rows[i].addr) >> (32 - v4_rows[i].bits) == 0)
			why = v4_rows[i].why;
	}
	/* An own interface often has a private address: a rule must not lift that one. */
	return (!why || addr_liftable(why)) && is_own(addr, own) ? "own interface" : why;
}

/* Of two reasons the one that no rule can lift counts. */
static const char *worse(const char *a, const char *b)
{
	return !a || (b && addr_liftable(a)) ? b : a;
}

static const char *carried_refused(const struct in6_addr *addr, const struct own_addrs *own)
{
	const uint8_t *b = addr->s6_addr;
	const char *why = NULL;
	struct in6_addr v4;

	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++) {
		if (!in_block(addr, carriers[i].addr, carriers[i].bits))
			continue;
		v4 = mapped(b + carriers[i].at, carriers[i].inverted);
		why = worse(why, v4_refused(&v4, own));
	}
	/* ISATAP (RFC 5214): any prefix, interface number 0000:5efe or 0200:5efe and the address. */
	if ((b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe) {
		v4 = mapped(b + 12, false);
		why = worse(why, v4_refused(&v4, own));
	}
	return why;
}

const char *addr_refused(const struct in6_addr *addr, const struct own_addrs *own)
{
	const char *why = NULL;

	if (IN6_IS_ADDR_V4MAPPED(addr))
		return v4_refused(addr, own);
	for (size_t i = 0; i < ARRAY_SIZE(v6_rows) && !why; i++) {
		if (in_block(addr, v6_rows[i].addr, v6_rows[i].bits))
			why = v6_rows[i].why;
	}
	if (!why || addr_liftable(why))
		why = worse(why, carried_refused(addr, own));
	/* Only 2000::/3 is handed out to networks (RFC 4291, 2.4); NAT64 leads to IPv4 ones. */
	if (!why && (addr->s6_addr[0] & 0xe0) != 0x20 && !in_block(addr, "64:ff9b::", 96))
		why = "reserved";
	return (!why || addr_liftable(why)) && is_own(addr, own) ? "own interface" : why;
}

bool addr_liftable(const char *why)
{
	return why && strcmp(why, "private") == 0;
}

char *addr_text(const struct in6_addr *addr, char out[INET6_ADDRSTRLEN])
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(addr);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6,
		       v4 ? (const void *)&addr->s6_addr[12] : (const void *)addr, out,
		       INET6_ADDRSTRLEN))
		out[0] = '\0';
	return out;
}

int own_addrs_get(struct own_addrs *o, struct err *err)
{
	struct own_addrs got = { 0 };
	struct ifaddrs *list;
	size_t cap = 0;

	if (getifaddrs(&list) < 0)
		return err_sys(err, "cannot list the addresses of this host's interfaces");
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		struct in6_addr a;

		if (!i->ifa_addr)
			continue;
		if (i->ifa_addr->sa_family == AF_INET)
			a = mapped((const uint8_t *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr,
				   false);
		else if (i->ifa_addr->sa_family == AF_INET6)
			a = ((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;
		else
			continue;
		MEM_GROW(got.v, cap, got.n + 1);
		got.v[got.n++] = a;
	}
	freeifaddrs(list);
	*o = got;
	return 0;
}

void own_addrs_done(struct own_addrs *o)
{
	free(o->v);
	*o = (struct own_addrs){ 0 };
}

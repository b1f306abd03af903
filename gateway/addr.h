/* Which addresses a box may never be led to, whatever a name resolves to. */
#ifndef GATEWAY_ADDR_H
#define GATEWAY_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/err.h"

/* Addresses of this host's interfaces (getifaddrs(3)), taken when a connection is about to be made. */
struct own_addrs {
	struct in6_addr *v; /* owned */
	size_t n;
};

/* Take them now. 0 or negative. */
int own_addrs_get(struct own_addrs *o, struct err *err);

/* Free; {0} is fine. */
void own_addrs_done(struct own_addrs *o);

/* Why @addr (IPv4 as mapped) must not be reached, NULL when it may. Static text: "loopback",
 * "unspecified", "link-local", "multicast", "broadcast", "metadata service", "own interface",
 * "private" (RFC 1918, 6598, 4193: refused for names and in mode public; an address rule may
 * allow it), "reserved". IPv4 addresses inside IPv6 ones (mapped, compatible, NAT64, 6to4, Teredo,
 * ISATAP) are judged as themselves. */
const char *addr_refused(const struct in6_addr *addr, const struct own_addrs *own);

/* Is the reason @why one that an explicit address rule may lift? Only "private". */
bool addr_liftable(const char *why);

/* Text form (IPv4 dotted when mapped) into @out. Returns @out. */
char *addr_text(const struct in6_addr *addr, char out[INET6_ADDRSTRLEN]);

#endif

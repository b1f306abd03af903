/* What a box may reach: network.mode and network.hosts applied to one name or one address, with the
 * text that is recorded for it. */
#ifndef GATEWAY_NETPOLICY_INTERNAL_H
#define GATEWAY_NETPOLICY_INTERNAL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "gateway/addr.h"
#include "profiles/netrules.h"
#include "profiles/profile.h"

enum { NETPOLICY_RULE_MAX = 384 };

struct netpolicy {
	enum net_mode mode;
	const struct netrules *rules; /* borrowed */
};

/* May @name (a host name) be reached at @port (0: at any)? @rule: what allowed it
 * ("network.hosts: *.example.com", "network.mode public"), or why not
 * ("network.hosts: no rule for NAME:PORT", "network.mode no-network"). */
bool netpolicy_name(const struct netpolicy *p, const char *name, uint16_t port,
		    char rule[NETPOLICY_RULE_MAX]);

/* May @addr be dialled at @port? With @named it is what an allowed name resolves to, and @rule is only
 * written when it may not; else it was asked for by itself. Addresses of addr_refused() never;
 * private ones when a rule for addresses covers them. */
bool netpolicy_addr(const struct netpolicy *p, const struct in6_addr *addr, uint16_t port,
		    const struct own_addrs *own, bool named, char rule[NETPOLICY_RULE_MAX]);

#endif

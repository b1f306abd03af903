#include "gateway/netpolicy_internal.h"

#include <stdio.h>

static bool say(bool allowed, char rule[NETPOLICY_RULE_MAX], const char *key, const char *text)
{
	snprintf(rule, NETPOLICY_RULE_MAX, "%s%s", key, text);
	return allowed;
}

static bool no_rule(char rule[NETPOLICY_RULE_MAX], const char *host, uint16_t port,
		    bool allowed_else)
{
	if (allowed_else)
		snprintf(rule, NETPOLICY_RULE_MAX, "network.hosts: no rule for %s at port %u", host,
			 port);
	else
		snprintf(rule, NETPOLICY_RULE_MAX, "network.hosts: no rule for %s", host);
	return false;
}

bool netpolicy_name(const struct netpolicy *p, const char *name, uint16_t port,
		    char rule[NETPOLICY_RULE_MAX])
{
	const struct netrule *r;

	if (p->mode == NET_NONE)
		return say(false, rule, "network.mode no-network", "");
	if (p->mode == NET_PUBLIC)
		return say(true, rule, "network.mode public", "");
	r = netrules_name(p->rules, name, port);
	if (r)
		return say(true, rule, "network.hosts: ", r->text);
	return no_rule(rule, name, port, port && netrules_name(p->rules, name, 0));
}

/* Is there a rule for @addr at some port? */
static bool addr_at_other_port(const struct netpolicy *p, const struct in6_addr *addr)
{
	for (size_t i = 0; i < p->rules->n; i++) {
		const struct netrules one = { .v = p->rules->v + i, .n = 1 };

		if (netrules_addr(&one, addr, p->rules->v[i].port))
			return true;
	}
	return false;
}

bool netpolicy_addr(const struct netpolicy *p, const struct in6_addr *addr, uint16_t port,
		    const struct own_addrs *own, bool named, char rule[NETPOLICY_RULE_MAX])
{
	const char *why = addr_refused(addr, own);
	const struct netrule *r = netrules_addr(p->rules, addr, port);
	char text[INET6_ADDRSTRLEN];

	addr_text(addr, text);
	if (p->mode == NET_NONE)
		return say(false, rule, "network.mode no-network", "");
	if (why && !(r && addr_liftable(why))) {
		snprintf(rule, NETPOLICY_RULE_MAX, "address %s is %s", text, why);
		return false;
	}
	if (named)
		return true;
	if (r)
		return say(true, rule, "network.hosts: ", r->text);
	if (p->mode == NET_PUBLIC)
		return say(true, rule, "network.mode public", "");
	return no_rule(rule, text, port, addr_at_other_port(p, addr));
}

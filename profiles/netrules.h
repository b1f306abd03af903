/* Host rules of a network policy (Harbor's): exact names, "*.name" (subdomains, not the name
 * itself), each with an optional ":port"; addresses and address blocks ("192.0.2.7",
 * "192.0.2.0/24", "[2001:db8::1]:5432"). */
#ifndef PROFILES_NETRULES_H
#define PROFILES_NETRULES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum netrule_kind { NETRULE_NAME, NETRULE_SUBDOMAINS, NETRULE_BLOCK };

struct netrule {
	enum netrule_kind kind;
	char *text;           /* owned: as written */
	char *name;           /* owned: lower case, no trailing dot; punycode for non-ASCII names is
			       * asked for; NULL for blocks */
	struct in6_addr addr; /* NETRULE_BLOCK; IPv4 mapped */
	unsigned bits;        /* of 128 */
	uint16_t port;        /* 0 = any */
};

struct netrules {
	struct netrule *v; /* owned */
	size_t n;
};

/* Parse one rule. 0 or -ERR_INPUT: what is wrong and an example. Refused: schemes, paths, users,
 * bare "*", rules that name loopback, link-local, metadata or unspecified addresses. */
int netrule_parse(const char *text, struct netrule *ret, struct err *err);

/* Parse all of @hosts. Free with netrules_done(). */
int netrules_parse(const struct strv *hosts, struct netrules *ret, struct err *err);

/* The rule that allows @name (any case, trailing dot or not) at @port (0 = is any port allowed?),
 * NULL when none does. */
const struct netrule *netrules_name(const struct netrules *r, const char *name, uint16_t port);

/* The rule that allows address @addr at @port, NULL when none does. */
const struct netrule *netrules_addr(const struct netrules *r, const struct in6_addr *addr,
				    uint16_t port);

/* Free; {0} is fine. */
void netrules_done(struct netrules *r);

#endif

#include "profiles/netrules.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { RULE_TEXT_MAX = 300, NAME_MAX_LEN = 253, LABEL_MAX = 63 };

/* Where no rule may lead. What names resolve to is checked again when a connection is made; here it
 * is only said early that such a rule would never match. */
/* clang-format off */
static const struct {
	const char *addr;
	unsigned bits; /* of 128 */
	const char *what;
} forbidden[] = {
	{ "::ffff:0.0.0.0",         104, "unspecified" },
	{ "::ffff:127.0.0.0",       104, "loopback" },
	{ "::ffff:169.254.0.0",     112, "link-local (the metadata service of clouds is there)" },
	{ "::ffff:224.0.0.0",       100, "multicast" },
	{ "::ffff:255.255.255.255", 128, "broadcast" },
	{ "::ffff:100.100.100.200", 128, "a metadata service" },
	{ "::ffff:168.63.129.16",   128, "a metadata service" },
	{ "::ffff:192.0.0.192",     128, "a metadata service" },
	{ "::",                     128, "unspecified" },
	{ "::1",                    128, "loopback" },
	{ "fe80::",                  10, "link-local" },
	{ "ff00::",                   8, "multicast" },
	{ "fd00:ec2::",              32, "a metadata service" },
	{ "fd20:ce::254",           128, "a metadata service" },
	{ "fd00:c1::a9fe:a9fe",     128, "a metadata service" },
	{ "fd00:42::42",            128, "a metadata service" },
};
/* clang-format on */

static bool in_block(const struct in6_addr *addr, const struct in6_addr *block, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	if (memcmp(addr->s6_addr, block->s6_addr, whole) != 0)
		return false;
	return rest == 0 || ((addr->s6_addr[whole] ^ block->s6_addr[whole]) & mask) == 0;
}

static bool host_bits_set(const struct in6_addr *addr, unsigned bits)
{
	for (unsigned i = bits; i < 128; i++) {
		if (addr->s6_addr[i / 8] & (0x80 >> (i % 8)))
			return true;
	}
	return false;
}

static int complain(struct err *err, const char *text, const char *why)
{
	return err_set(err, ERR_INPUT, "host rule \"%.*s\": %s", RULE_TEXT_MAX, text, why);
}

/* IPv4 goes in as mapped. 0 or -1. */
static int parse_addr(const char *s, struct in6_addr *ret, unsigned *ret_family_bits)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, s, &v4) == 1) {
		*ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
		memcpy(&ret->s6_addr[12], &v4, 4);
		*ret_family_bits = 32;
		return 0;
	}
	*ret_family_bits = 128;
	return inet_pton(AF_INET6, s, ret) == 1 ? 0 : -1;
}

static int check_block(const struct netrule *r, const char *text, struct err *err)
{
	if (host_bits_set(&r->addr, r->bits))
		return complain(err, text,
				"bits are set behind the prefix: write the block's first address, "
				"such as \"192.0.2.0/24\"");
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++) {
		struct in6_addr block = { 0 };

		(void)inet_pton(AF_INET6, forbidden[i].addr, &block);
		if (r->bits >= forbidden[i].bits && in_block(&r->addr, &block, forbidden[i].bits))
			return err_set(err, ERR_INPUT,
				       "host rule \"%s\": the address is %s; a box is never led "
				       "there, take the rule out",
				       text, forbidden[i].what);
	}
	return 0;
}

/* @host: "ADDR" or "ADDR/BITS". 1 = it is an address rule and @r is set, 0 = it is none. */
static int parse_block(const char *text, const char *host, struct netrule *r, struct err *err)
{
	auto_free char *addr = mem_strdup(host);
	char *slash = strchr(addr, '/');
	unsigned family_bits;
	uint64_t bits;
	int rc;

	if (slash)
		*slash = '\0';
	if (parse_addr(addr, &r->addr, &family_bits) < 0)
		return 0;
	bits = family_bits;
	if (slash && (str_u64(slash + 1, &bits) < 0 || bits > family_bits))
		return complain(
			err, text,
			"the number behind \"/\" must be 0 to 32 (IPv4) or 0 to 128 (IPv6), "
			"as in \"192.0.2.0/24\"");
	r->bits = (unsigned)bits + 128 - family_bits;
	r->kind = NETRULE_BLOCK;
	rc = check_block(r, text, err);
	return rc < 0 ? rc : 1;
}

static const char *bad_label(const char *s, size_t n)
{
	if (n == 0)
		return "a name has no empty parts; write it as in \"api.example.com\"";
	if (n > LABEL_MAX)
		return "a part of a name has at most 63 characters";
	if (s[0] == '-' || s[n - 1] == '-')
		return "a part of a name does not begin or end with \"-\"";
	for (size_t i = 0; i < n; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", s[i]))
			return "only letters, digits, \"-\", \"_\" and \".\" are in a name, as in "
			       "\"api.example.com\" or \"*.example.com:443\"";
	}
	return NULL;
}

/* What is wrong with host name @name (lower case), NULL when nothing is. */
static const char *bad_name(const char *name)
{
	const char *label = name, *why = NULL;
	size_t n = strlen(name);

	if (n > NAME_MAX_LEN)
		return "a name has at most 253 characters";
	while (!why) {
		size_t len = strcspn(label, ".");

		why = bad_label(label, len);
		if (!label[len])
			break;
		label += len + 1;
	}
	/* "127.1" and "0x7f000001" are addresses to inet_aton(3): never a name. */
	if (!why && (label[strspn(label, "0123456789")] == '\0' ||
		     (label[0] == '0' && label[1] == 'x' &&
		      label[2 + strspn(label + 2, "0123456789abcdef")] == '\0')))
		return "write an IPv4 address with four decimal numbers, as in \"192.0.2.7\"";
	if (!why && (strcmp(name, "localhost") == 0 || str_ends(name, ".localhost")))
		return "the box has its own localhost, the host's is never reached; take the rule "
		       "out";
	return why;
}

static int parse_name(const char *text, const char *host, struct netrule *r, struct err *err)
{
	const char *why;
	size_t n;

	r->kind = NETRULE_NAME;
	if (str_starts(host, "*.")) {
		r->kind = NETRULE_SUBDOMAINS;
		host += 2;
	}
	if (strchr(host, '*'))
		return complain(
			err, text,
			"\"*\" stands only in front, as in \"*.example.com\"; for every host "
			"use network.mode \"public\"");
	if (strchr(host, '/'))
		return complain(
			err, text,
			"a rule has no path: write the host alone, as in \"example.com:443\"");
	r->name = mem_strdup(host);
	n = strlen(r->name);
	if (n > 1 && r->name[n - 1] == '.')
		r->name[n - 1] = '\0';
	for (char *p = r->name; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	}
	why = bad_name(r->name);
	return why ? complain(err, text, why) : 0;
}

/* What a whole rule must not have, before it is taken apart. */
static const char *bad_text(const char *text)
{
	if (!text[0])
		return "empty; write a host, as in \"api.example.com:443\"";
	if (strlen(text) > RULE_TEXT_MAX)
		return "too long; a name has at most 253 characters";
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p >= 0x80)
			return "names outside ASCII are written in punycode, as in "
			       "\"xn--bcher-kva.example\"";
		if (*p <= ' ' || *p == 0x7f)
			return "blanks and control characters are not part of a host";
	}
	if (strstr(text, "://"))
		return "a rule has no scheme: write the host alone, as in \"example.com:443\"";
	if (strchr(text, '@'))
		return "a rule has no user: write the host alone, as in \"example.com:22\"";
	return NULL;
}

/* Split "HOST[:PORT]" or "[HOST][:PORT]"; a bare IPv6 address has no port. Caller frees *ret_host. */
static int split(const char *text, char **ret_host, uint16_t *ret_port, struct err *err)
{
	const char *end, *colon;
	uint64_t port = 0;

	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':') || !memchr(text, ':', (size_t)(end - text)))
			return complain(err, text,
					"an IPv6 address in brackets looks like "
					"\"[2001:db8::1]:5432\"");
		colon = end[1] ? end + 1 : NULL;
		text++;
	} else {
		colon = strchr(text, ':');
		if (colon && strchr(colon + 1, ':'))
			colon = NULL;
		end = colon ? colon : text + strlen(text);
	}
	if (colon && (str_u64(colon + 1, &port) < 0 || port == 0 || port > UINT16_MAX))
		return complain(err, text,
				"the port must be a number from 1 to 65535, as in "
				"\"example.com:443\"");
	*ret_host = mem_strndup(text, (size_t)(end - text));
	*ret_port = (uint16_t)port;
	return 0;
}

static void rule_done(struct netrule *r)
{
	free(r->text);
	free(r->name);
	*r = (struct netrule){ 0 };
}

int netrule_parse(const char *text, struct netrule *ret, struct err *err)
{
	struct netrule r = { 0 };
	auto_free char *host = NULL;
	const char *why = bad_text(text);
	int rc;

	if (why)
		return complain(err, text, why);
	rc = split(text, &host, &r.port, err);
	if (!host)
		return rc;
	if (strcmp(host, "*") == 0)
		return complain(err, text,
				"for every host use network.mode \"public\"; for all subdomains "
				"write \"*.example.com\"");
	rc = parse_block(text, host, &r, err);
	if (rc == 0 && strchr(host, ':'))
		rc = complain(
			err, text,
			"neither a name nor an address; an IPv6 address with a port is written "
			"\"[2001:db8::1]:5432\"");
	else if (rc == 0)
		rc = parse_name(text, host, &r, err);
	if (rc < 0) {
		rule_done(&r);
		return rc;
	}
	r.text = mem_strdup(text);
	*ret = r;
	return 0;
}

int netrules_parse(const struct strv *hosts, struct netrules *ret, struct err *err)
{
	struct netrules all = { 0 };

	if (hosts->n)
		all.v = mem_zalloc(hosts->n, sizeof(*all.v));
	strv_each (i, hosts) {
		int rc = netrule_parse(hosts->v[i], &all.v[i], err);

		if (rc < 0) {
			netrules_done(&all);
			return rc;
		}
		all.n++;
	}
	*ret = all;
	return 0;
}

static bool rule_has_name(const struct netrule *r, const char *name, size_t n)
{
	size_t len;

	if (r->kind == NETRULE_BLOCK)
		return false;
	len = strlen(r->name);
	if (r->kind == NETRULE_NAME)
		return n == len && strncasecmp(name, r->name, n) == 0;
	/* At least one character and a dot before the rule's name. */
	return n > len + 1 && name[n - len - 1] == '.' && name[0] != '.' &&
	       strncasecmp(name + n - len, r->name, len) == 0;
}

const struct netrule *netrules_name(const struct netrules *r, const char *name, uint16_t port)
{
	size_t n = strlen(name);

	if (n && name[n - 1] == '.')
		n--;
	for (size_t i = 0; i < r->n; i++) {
		const struct netrule *rule = &r->v[i];

		if ((port == 0 || rule->port == 0 || rule->port == port) &&
		    rule_has_name(rule, name, n))
			return rule;
	}
	return NULL;
}

const struct netrule *netrules_addr(const struct netrules *r, const struct in6_addr *addr,
				    uint16_t port)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct netrule *rule = &r->v[i];

		/* "::/0" speaks of IPv6 only, though IPv4 addresses are held as mapped ones. */
		if (rule->kind != NETRULE_BLOCK || (rule->bits < 96 && IN6_IS_ADDR_V4MAPPED(addr)))
			continue;
		if ((rule->port == 0 || rule->port == port) &&
		    in_block(addr, &rule->addr, rule->bits))
			return rule;
	}
	return NULL;
}

void netrules_done(struct netrules *r)
{
	for (size_t i = 0; i < r->n; i++)
		rule_done(&r->v[i]);
	free(r->v);
	*r = (struct netrules){ 0 };
}

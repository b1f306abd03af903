/* netrules.c: what is a rule and what is not, which names and addresses one covers. */
#include "profiles/netrules.h"

#include <arpa/inet.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static struct in6_addr addr_of(const char *s)
{
	struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, s, &a.s6_addr[12]) != 1)
		tap_ok(inet_pton(AF_INET6, s, &a) == 1, "an address: %s", s);
	return a;
}

static void good(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *name;
		enum netrule_kind kind;
		uint16_t port;
		unsigned bits;
	} rows[] = {
		{ "example.com",          "example.com",  NETRULE_NAME,       0,    0 },
		{ "Example.COM.",         "example.com",  NETRULE_NAME,       0,    0 },
		{ "api.example.com:443",  "api.example.com", NETRULE_NAME,    443,  0 },
		{ "*.example.com",        "example.com",  NETRULE_SUBDOMAINS, 0,    0 },
		{ "*.example.com:65535",  "example.com",  NETRULE_SUBDOMAINS, 65535, 0 },
		{ "db",                   "db",           NETRULE_NAME,       0,    0 },
		{ "_srv.x-1.example",     "_srv.x-1.example", NETRULE_NAME,   0,    0 },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example", NETRULE_NAME, 0, 0 },
		{ "192.0.2.7",            NULL,           NETRULE_BLOCK,      0,    128 },
		{ "192.0.2.7:5432",       NULL,           NETRULE_BLOCK,      5432, 128 },
		{ "192.0.2.0/24",         NULL,           NETRULE_BLOCK,      0,    120 },
		{ "192.0.2.0/24:80",      NULL,           NETRULE_BLOCK,      80,   120 },
		{ "10.0.0.0/8",           NULL,           NETRULE_BLOCK,      0,    104 },
		{ "0.0.0.0/0",            NULL,           NETRULE_BLOCK,      0,    96 },
		{ "2001:db8::1",          NULL,           NETRULE_BLOCK,      0,    128 },
		{ "[2001:db8::1]",        NULL,           NETRULE_BLOCK,      0,    128 },
		{ "[2001:db8::1]:5432",   NULL,           NETRULE_BLOCK,      5432, 128 },
		{ "2001:db8::/32",        NULL,           NETRULE_BLOCK,      0,    32 },
		{ "[2001:db8::/32]:443",  NULL,           NETRULE_BLOCK,      443,  32 },
		{ "::/0",                 NULL,           NETRULE_BLOCK,      0,    0 },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct netrule r = { 0 };
		struct netrules all = { .v = mem_zalloc(1, sizeof(r)), .n = 1 };
		struct err err = { 0 };

		tap_ok(netrule_parse(rows[i].text, &r, &err) == 0, "rule %s %s", rows[i].text,
		       err.text);
		tap_ok(r.kind == rows[i].kind && r.port == rows[i].port && r.bits == rows[i].bits,
		       "kind, port and bits: %u %u %u", r.kind, r.port, r.bits);
		tap_is_str(r.name, rows[i].name, "name");
		tap_is_str(r.text, rows[i].text, "as written");
		all.v[0] = r;
		netrules_done(&all);
	}
}

static void bad(void)
{
	static const struct {
		const char *text, *part; /* of the message */
	} rows[] = {
		{ "", "empty" },
		{ "https://example.com", "no scheme" },
		{ "example.com/path", "no path" },
		{ "user@example.com", "no user" },
		{ "*", "network.mode" },
		{ "*:443", "network.mode" },
		{ "a.*.com", "only in front" },
		{ "*example.com", "only in front" },
		{ "*.*.com", "only in front" },
		{ "*.", "empty parts" },
		{ "..", "empty parts" },
		{ "a..b", "empty parts" },
		{ ".example.com", "empty parts" },
		{ "-a.example", "begin or end" },
		{ "a-.example", "begin or end" },
		{ "a b.example", "blanks" },
		{ "a\tb", "blanks" },
		{ "b\xc3\xbc"
		  "cher.example",
		  "punycode" },
		{ "a!b.example", "only letters" },
		{ "example.com:0", "1 to 65535" },
		{ "example.com:65536", "1 to 65535" },
		{ "example.com:http", "1 to 65535" },
		{ "example.com:", "1 to 65535" },
		{ "example.com:+1", "1 to 65535" },
		{ "[example.com]:1", "in brackets" },
		{ "[::1", "in brackets" },
		{ "[2001:db8::1]x", "in brackets" },
		{ "2001:db8::zz", "neither" },
		{ "192.0.2.7/33", "0 to 32" },
		{ "2001:db8::/129", "0 to 128" },
		{ "192.0.2.0/", "0 to 32" },
		{ "192.0.2.7/24", "bits are set" },
		{ "127.1", "four decimal" },
		{ "0x7f000001", "four decimal" },
		{ "2130706433", "four decimal" },
		{ "192.0.2.300", "four decimal" },
		{ "localhost", "own localhost" },
		{ "x.localhost:80", "own localhost" },
		{ "127.0.0.1", "loopback" },
		{ "127.0.0.0/8", "loopback" },
		{ "127.64.0.0/10", "loopback" },
		{ "[::1]:80", "loopback" },
		{ "::ffff:127.0.0.1", "loopback" },
		{ "0.0.0.0", "unspecified" },
		{ "::", "unspecified" },
		{ "169.254.169.254", "link-local" },
		{ "169.254.0.0/16:80", "link-local" },
		{ "[fe80::1]:80", "link-local" },
		{ "100.100.100.200", "metadata" },
		{ "168.63.129.16", "metadata" },
		{ "192.0.0.192", "metadata" },
		{ "fd00:ec2::254", "metadata" },
		{ "224.0.0.1", "multicast" },
		{ "ff02::1", "multicast" },
		{ "255.255.255.255", "broadcast" },
	};
	char longest[400];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct netrule r = { 0 };
		struct err err = { 0 };

		tap_ok(netrule_parse(rows[i].text, &r, &err) == -ERR_INPUT, "no rule: %s",
		       rows[i].text);
		tap_ok(strstr(err.text, rows[i].part) != NULL, "it says why: %s", err.text);
		tap_ok(!r.text && !r.name, "nothing is left");
	}
	for (size_t n = 60; n < sizeof(longest); n += 20) {
		struct netrule r = { 0 };
		struct err err = { 0 };

		memset(longest, 'a', n);
		longest[n] = '\0';
		for (size_t k = 50; n > 200 && k < n; k += 50)
			longest[k] = '.';
		tap_ok(netrule_parse(longest, &r, &err) ==
			       (n == 60 || (n > 200 && n <= 253) ? 0 : -ERR_INPUT),
		       "%zu characters", n);
		free(r.text);
		free(r.name);
	}
}

static void rules_of(const char *const *text, struct netrules *ret)
{
	auto_strv hosts = { 0 };
	struct err err = { 0 };

	for (; *text; text++)
		strv_add(&hosts, *text);
	tap_ok(netrules_parse(&hosts, ret, &err) == 0, "rules are read %s", err.text);
}

static void names(void)
{
	static const char *const text[] = { "example.com:443",   "*.example.org", "db",
					    "*.deep.example:22", "192.0.2.0/24",  NULL };
	/* clang-format off */
	static const struct {
		const char *name;
		uint16_t port;
		const char *rule;
	} rows[] = {
		{ "example.com",       443, "example.com:443" },
		{ "EXAMPLE.com.",      443, "example.com:443" },
		{ "example.com",       0,   "example.com:443" },
		{ "example.com",       80,  NULL },
		{ "www.example.com",   443, NULL },
		{ "xexample.com",      443, NULL },
		{ "example.org",       80,  NULL },
		{ ".example.org",      80,  NULL },
		{ "a.example.org",     80,  "*.example.org" },
		{ "a.b.Example.Org.",  1,   "*.example.org" },
		{ "aexample.org",      80,  NULL },
		{ "example.org.evil.example", 80, NULL },
		{ "db",                5,   "db" },
		{ "db.corp.example",   5,   NULL },
		{ "x.deep.example",    22,  "*.deep.example:22" },
		{ "x.deep.example",    23,  NULL },
		{ "192.0.2.7",         80,  NULL },
		{ "",                  80,  NULL },
		{ ".",                 80,  NULL },
	};
	/* clang-format on */
	struct netrules r = { 0 };

	rules_of(text, &r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct netrule *got = netrules_name(&r, rows[i].name, rows[i].port);

		tap_diag("%s at %u", rows[i].name, rows[i].port);
		tap_is_str(got ? got->text : NULL, rows[i].rule, "the rule");
	}
	netrules_done(&r);
	tap_ok(r.n == 0 && netrules_name(&r, "a", 0) == NULL, "no rules, nothing allowed");
}

static void addresses(void)
{
	static const char *const text[] = { "192.0.2.0/25:80",     "192.0.2.7",    "10.0.0.0/8",
					    "[2001:db8::/33]:443", "name.example", NULL };
	/* clang-format off */
	static const struct {
		const char *addr;
		uint16_t port;
		const char *rule;
	} rows[] = {
		{ "192.0.2.1",        80,  "192.0.2.0/25:80" },
		{ "192.0.2.1",        81,  NULL },
		{ "192.0.2.7",        81,  "192.0.2.7" },
		{ "192.0.2.127",      80,  "192.0.2.0/25:80" },
		{ "192.0.2.128",      80,  NULL },
		{ "10.255.0.1",       1,   "10.0.0.0/8" },
		{ "11.0.0.1",         1,   NULL },
		{ "2001:db8:7fff::1", 443, "[2001:db8::/33]:443" },
		{ "2001:db8:8000::1", 443, NULL },
		{ "::ffff:192.0.2.7", 9,   "192.0.2.7" },
		{ "::192.0.2.7",      9,   NULL },
	};
	/* clang-format on */
	static const char *const all4[] = { "0.0.0.0/0", NULL }, *const all6[] = { "::/0", NULL };
	struct netrules r = { 0 };
	struct in6_addr v4 = addr_of("192.0.2.1"), v6 = addr_of("2001:db8::1");

	rules_of(text, &r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct in6_addr a = addr_of(rows[i].addr);
		const struct netrule *got = netrules_addr(&r, &a, rows[i].port);

		tap_diag("%s at %u", rows[i].addr, rows[i].port);
		tap_is_str(got ? got->text : NULL, rows[i].rule, "the rule");
	}
	netrules_done(&r);
	rules_of(all4, &r);
	tap_ok(netrules_addr(&r, &v4, 1) && !netrules_addr(&r, &v6, 1), "0.0.0.0/0 is IPv4 only");
	netrules_done(&r);
	rules_of(all6, &r);
	tap_ok(!netrules_addr(&r, &v4, 1) && netrules_addr(&r, &v6, 1), "::/0 is IPv6 only");
	netrules_done(&r);
}

static void first_bad_of_many(void)
{
	auto_strv hosts = { 0 };
	struct netrules r = { 0 };
	struct err err = { 0 };

	strv_add(&hosts, "good.example");
	strv_add(&hosts, "http://bad.example");
	tap_ok(netrules_parse(&hosts, &r, &err) == -ERR_INPUT, "one bad rule spoils the lot");
	tap_ok(strstr(err.text, "http://bad.example") != NULL, "it is named: %s", err.text);
	tap_ok(r.n == 0 && !r.v, "nothing is left");
	netrules_done(&r);
}

int main(void)
{
	good();
	bad();
	names();
	addresses();
	first_bad_of_many();
	return tap_done();
}

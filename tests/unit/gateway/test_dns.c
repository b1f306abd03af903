/* dns.c, dns_serve.c: messages byte by byte, and what is answered to whom. The sockets are in
 * test_net.c. */
#include "gateway/dns_serve_internal.h"

#include <arpa/inet.h>
#include <event2/event.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

struct told {
	unsigned n;
	char name[256], rule[512];
	uint16_t qtype, port;
	bool allowed, tcp;
};

static void on_dns(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		   uint16_t source_port, bool tcp)
{
	struct told *t = arg;

	t->n++;
	snprintf(t->name, sizeof(t->name), "%s", name);
	snprintf(t->rule, sizeof(t->rule), "%s", rule);
	t->qtype = qtype;
	t->allowed = allowed;
	t->port = source_port;
	t->tcp = tcp;
}

struct world {
	struct event_base *base;
	struct names *names;
	struct netrules rules;
	struct netpolicy policy;
	struct net_ops ops;
	struct told told;
	struct once denied;
	struct dns_serve *serve;
};

static void world_new(struct world *w, enum net_mode mode, const char *rule)
{
	auto_strv hosts = { 0 };
	struct err err = { 0 };
	struct dns_serve_spec spec;

	*w = (struct world){ .base = event_base_new() };
	strv_add(&hosts, rule);
	tap_ok(netrules_parse(&hosts, &w->rules, &err) == 0, "rules %s", err.text);
	w->names = names_new(NAMES_MAX, DNS_TTL * CLOCK_SEC);
	w->policy = (struct netpolicy){ mode, &w->rules };
	w->ops = (struct net_ops){ .dns = on_dns, .arg = &w->told };
	spec = (struct dns_serve_spec){
		w->base, -1, -1, &w->policy, w->names, &w->ops, &w->denied
	};
	w->serve = dns_serve_new(&spec);
}

static void world_done(struct world *w)
{
	dns_serve_free(w->serve);
	names_free(w->names);
	netrules_done(&w->rules);
	once_done(&w->denied);
	event_base_free(w->base);
}

/* A query: header, question, OPT when @opt >= 0 (its version). */
static size_t query(uint8_t *out, const char *name, uint16_t qtype, int opt)
{
	uint8_t *p = out;
	const uint8_t head[12] = { 0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, opt >= 0 };
	const uint8_t tail[11] = { 0, 0, 41, 0x10, 0, 0, (uint8_t)opt, 0, 0, 0, 0 };

	memcpy(p, head, sizeof(head));
	p += sizeof(head);
	while (*name) {
		size_t n = strcspn(name, ".");

		*p++ = (uint8_t)n;
		memcpy(p, name, n);
		p += n;
		name += n + (name[n] == '.');
	}
	*p++ = 0;
	*p++ = (uint8_t)(qtype >> 8);
	*p++ = (uint8_t)qtype;
	*p++ = 0;
	*p++ = 1;
	if (opt >= 0) {
		memcpy(p, tail, sizeof(tail));
		p += sizeof(tail);
	}
	return (size_t)(p - out);
}

static size_t ask(struct world *w, const char *name, uint16_t qtype, int opt,
		  uint8_t out[DNS_ANSWER_MAX])
{
	uint8_t in[1024];
	size_t n = query(in, name, qtype, opt);

	return dns_serve_answer(w->serve, in, n, 777, false, out);
}

static int rcode(const uint8_t *msg)
{
	return msg[3] & 0xf;
}

static unsigned answers(const uint8_t *msg)
{
	return (unsigned)(msg[6] << 8 | msg[7]);
}

static void allowed_name(void)
{
	uint8_t out[DNS_ANSWER_MAX], in[512];
	struct world w;
	size_t n, q = query(in, "WwW.ExAmPlE.cOm", DNSQ_A, -1);
	uint32_t addr;

	world_new(&w, NET_ALLOWLIST, "*.example.com");
	n = dns_serve_answer(w.serve, in, q, 777, true, out);
	tap_is_u64(n, q + 16, "question and one record");
	tap_ok(memcmp(out + 12, in + 12, q - 12) == 0 && out[0] == 0xab && out[1] == 0xcd,
	       "the question comes back byte for byte, with its id");
	tap_ok((out[2] & 0x80) && (out[2] & 0x01) && (out[3] & 0x80) && !(out[2] & 0x02),
	       "answer, recursion wanted and there, not cut");
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 1, "one answer");
	memcpy(&addr, out + n - 4, 4);
	tap_ok((ntohl(addr) & ~(NAMES_SIZE - 1)) == NAMES_NET, "an address of the block");
	tap_is_str(names_find(w.names, ntohl(addr)), "www.example.com", "it means the name");
	tap_is_u64((uint64_t)out[n - 7], DNS_TTL, "time to live");
	tap_ok(w.told.n == 1 && w.told.allowed && w.told.tcp && w.told.port == 777, "told once");
	tap_is_str(w.told.name, "www.example.com", "told name");
	tap_is_str(w.told.rule, "network.hosts: *.example.com", "told rule");
	n = ask(&w, "www.example.com", DNSQ_AAAA, 0, out);
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 0, "AAAA: the name is there, empty");
	tap_ok(out[11] == 1 && out[n - 11] == 0 && out[n - 9] == 41, "EDNS is answered by EDNS");
	tap_is_u64((uint64_t)(out[n - 8] << 8 | out[n - 7]), DNS_EDNS_SIZE, "with our size");
	ask(&w, "www.example.com", 15, -1, out);
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 0, "MX: empty");
	ask(&w, "www.example.com", 65, -1, out);
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 0, "HTTPS: empty");
	tap_is_u64(w.told.n, 1, "nothing more was told");
	world_done(&w);
}

static void denied_names(void)
{
	/* clang-format off */
	static const struct {
		enum net_mode mode;
		const char *name, *rule;
	} rows[] = {
		{ NET_ALLOWLIST, "evil.example",   "network.hosts: no rule for evil.example" },
		{ NET_ALLOWLIST, "example.com",    "network.hosts: no rule for example.com" },
		{ NET_NONE,      "www.example.com", "network.mode no-network" },
		{ NET_PUBLIC,    "127.1",          "not the name of a host" },
		{ NET_PUBLIC,    "0x7f.1",         "not the name of a host" },
		{ NET_PUBLIC,    "2130706433",     "not the name of a host" },
		{ NET_PUBLIC,    "a b.example",    "not the name of a host" },
		{ NET_PUBLIC,    "a\\.example",    "not the name of a host" },
	};
	/* clang-format on */
	uint8_t out[DNS_ANSWER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w;

		world_new(&w, rows[i].mode, "*.example.com");
		for (unsigned k = 0; k < 3; k++)
			ask(&w, rows[i].name, DNSQ_A, -1, out);
		tap_ok(rcode(out) == DNS_NXDOMAIN && answers(out) == 0, "%s does not exist",
		       rows[i].name);
		tap_ok(w.told.n == 1 && !w.told.allowed, "told once");
		tap_is_str(w.told.rule, rows[i].rule, "with the rule");
		world_done(&w);
	}
}

static void public_and_own(void)
{
	uint8_t out[DNS_ANSWER_MAX];
	char reverse[64];
	struct world w;
	size_t n;

	world_new(&w, NET_PUBLIC, "x.example");
	n = ask(&w, "anything.example", DNSQ_A, -1, out);
	tap_is_str(w.told.rule, "network.mode public", "any name in mode public");
	snprintf(reverse, sizeof(reverse), "%u.%u.%u.%u.in-addr.arpa", out[n - 1], out[n - 2],
		 out[n - 3], out[n - 4]);
	n = ask(&w, reverse, DNSQ_PTR, -1, out);
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 1, "PTR of a given address");
	tap_ok(memcmp(out + n - 18, "\010anything\007example", 18) == 0, "is the name");
	ask(&w, "9.9.64.127.in-addr.arpa", DNSQ_PTR, -1, out);
	tap_ok(rcode(out) == DNS_NXDOMAIN, "PTR of an address that was given to none");
	ask(&w, "8.8.8.8.in-addr.arpa", DNSQ_PTR, -1, out);
	tap_ok(rcode(out) == DNS_NXDOMAIN, "PTR of another");
	ask(&w, "999.8.8.8.in-addr.arpa", DNSQ_PTR, -1, out);
	tap_ok(rcode(out) == DNS_NXDOMAIN, "PTR of none");
	n = ask(&w, "1.0.0.127.in-addr.arpa", DNSQ_PTR, -1, out);
	tap_ok(answers(out) == 1 && memcmp(out + n - 11, "\011localhost", 11) == 0,
	       "127.0.0.1 is localhost");
	n = ask(&w, "LocalHost", DNSQ_A, -1, out);
	tap_ok(answers(out) == 1 && memcmp(out + n - 4, "\177\0\0\1", 4) == 0, "localhost, IPv4");
	n = ask(&w, "x.localhost", DNSQ_AAAA, -1, out);
	tap_ok(answers(out) == 1 && out[n - 1] == 1 && out[n - 2] == 0, "localhost, IPv6");
	ask(&w, "localhost", 15, -1, out);
	tap_ok(rcode(out) == DNS_NOERROR && answers(out) == 0, "localhost, no MX");
	tap_is_u64(w.told.n, 1, "none of this is told");
	world_done(&w);
}

static void malformed(void)
{
	/* clang-format off */
	static const struct {
		const char *what;
		const char *bytes;
		size_t n;
		int code; /* -1 no answer */
	} rows[] = {
		{ "nothing",      "", 0, -1 },
		{ "11 bytes",     "\0\1\1\0\0\1\0\0\0\0\0", 11, -1 },
		{ "an answer",    "\0\1\x81\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, -1 },
		{ "no question",  "\0\1\1\0\0\0\0\0\0\0\0\0", 12, DNS_FORMERR },
		{ "two questions", "\0\1\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1", 26, DNS_FORMERR },
		{ "update",       "\0\1\x28\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, DNS_NOTIMP },
		{ "status",       "\0\1\x10\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, DNS_NOTIMP },
		{ "name cut off", "\0\1\1\0\0\1\0\0\0\0\0\0\5ab", 15, DNS_FORMERR },
		{ "no type",      "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1", 17, DNS_FORMERR },
		{ "pointer to itself", "\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", 18, DNS_FORMERR },
		{ "label of 64",  "\0\1\1\0\0\1\0\0\0\0\0\0\x40" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0\0\1\0\1", 82, DNS_FORMERR },
		{ "answers in a query", "\0\1\1\0\0\1\0\1\0\0\0\0\1a\0\0\1\0\1", 19, DNS_FORMERR },
		{ "more behind it", "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1x", 20, DNS_FORMERR },
		{ "OPT missing",  "\0\1\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1", 19, DNS_FORMERR },
		{ "OPT too long", "\0\1\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\4\0\0\0\0\0\0\5", 30, DNS_FORMERR },
		{ "two OPT",      "\0\1\1\0\0\1\0\0\0\0\0\2\1a\0\0\1\0\1\0\0\x29\4\0\0\0\0\0\0\0\0\0\x29\4\0\0\0\0\0\0\0", 41, DNS_FORMERR },
		{ "60000 records", "\0\1\1\0\0\1\0\0\0\0\xea\x60\1a\0\0\1\0\1", 19, DNS_FORMERR },
		{ "ANY",          "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\xff\0\1", 19, DNS_NOTIMP },
		{ "AXFR",         "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\xfc\0\1", 19, DNS_NOTIMP },
		{ "class CHAOS",  "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\x10\0\3", 19, DNS_REFUSED },
		{ "the root",     "\0\1\1\0\0\1\0\0\0\0\0\0\0\0\1\0\1", 17, DNS_NXDOMAIN },
	};
	/* clang-format on */
	uint8_t out[DNS_ANSWER_MAX];
	struct world w;
	size_t n;

	world_new(&w, NET_PUBLIC, "x.example");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		n = dns_serve_answer(w.serve, (const uint8_t *)rows[i].bytes, rows[i].n, 1, false,
				     out);
		tap_ok(rows[i].code < 0 ? n == 0 : n >= 12 && rcode(out) == rows[i].code, "%s: %d",
		       rows[i].what, n ? rcode(out) : -1);
		tap_ok(n == 0 || (out[2] & 0x80), "marked as an answer");
	}
	n = ask(&w, "a.example", DNSQ_A, 1, out);
	tap_ok(rcode(out) == 0 && answers(out) == 0 && out[n - 6] == 1, "EDNS version 1: BADVERS");
	world_done(&w);
}

/* 255 bytes on the wire is the longest name; every byte of it may need an escape. */
static void long_names(void)
{
	uint8_t in[400] = { 0, 1, 1, 0, 0, 1 }, out[DNS_ANSWER_MAX];
	struct world w;
	size_t n;

	world_new(&w, NET_PUBLIC, "x.example");
	for (unsigned last = 60; last < 64; last++) {
		uint8_t *p = in + 12;

		for (unsigned k = 0; k < 4; k++) {
			unsigned len = k < 3 ? 63 : last;

			*p++ = (uint8_t)len;
			memset(p, last == 60 ? 0xff : 'a', len);
			p += len;
		}
		memcpy(p, "\0\0\1\0\1", 5);
		n = dns_serve_answer(w.serve, in, (size_t)(p + 5 - in), 1, false, out);
		tap_is_u64((uint64_t)rcode(out),
			   last == 60   ? DNS_NXDOMAIN
			   : last == 61 ? DNS_NOERROR
					: DNS_FORMERR,
			   "four labels");
		tap_ok(n <= 512, "fits every client: %zu", n);
	}
	world_done(&w);
}

static void flood(void)
{
	uint8_t out[DNS_ANSWER_MAX];
	unsigned no_room = 0, given = 0;
	struct world w;

	world_new(&w, NET_PUBLIC, "x.example");
	for (unsigned i = 0; i < 100000; i++) {
		auto_free char *name = mem_printf("%08u.flood.example", i);

		ask(&w, name, DNSQ_A, 0, out);
		no_room += rcode(out) == DNS_SERVFAIL;
		given += answers(out) == 1;
	}
	tap_ok(given == NAMES_MAX && no_room == 100000 - NAMES_MAX, "%u given, %u had no room",
	       given, no_room);
	w.policy.mode = NET_ALLOWLIST;
	w.told.n = 0;
	for (unsigned i = 0; i < 100000; i++) {
		auto_free char *name = mem_printf("%08u.denied.example", i);

		ask(&w, name, DNSQ_A, 0, out);
	}
	tap_is_u64(w.told.n, ONCE_MAX, "a flood of refused names is told in part");
	ask(&w, "x.example", DNSQ_A, 0, out);
	tap_is_u64((uint64_t)rcode(out), DNS_SERVFAIL,
		   "no room even for the allowed one in this minute");
	world_done(&w);
}

int main(void)
{
	allowed_name();
	denied_names();
	public_and_own();
	malformed();
	long_names();
	flood();
	return tap_done();
}

/* A DNS message of arbitrary bytes, put to the answerer in each mode: the answer is well-formed, fits
 * every client, and echoes the question. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/dns_serve_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_dns(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		   uint16_t source_port, bool tcp)
{
	(void)qtype, (void)source_port, (void)tcp;
	/* Names go to the trace: bounded, and nothing but plain characters. */
	if (strlen(name) >= DNS_NAME_MAX || !rule[0] ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.\\")])
		abort();
	*(unsigned *)arg += allowed;
}

static void check(const uint8_t *in, size_t n, const uint8_t *out, size_t len)
{
	struct dns_query q;
	int code = dns_read(in, n, &q);

	if (code < 0 && len)
		abort();
	if (code < 0)
		return;
	if (len < 12 || len > 512 || memcmp(in, out, 2) != 0 || !(out[2] & 0x80) ||
	    memcmp(in + 12, out + 12, q.question_end - 12) != 0 ||
	    (code != DNS_NOERROR && (out[3] & 15) != (code & 15)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum net_mode modes[] = { NET_PUBLIC, NET_ALLOWLIST, NET_NONE };
	struct netrule rule = { .kind = NETRULE_SUBDOMAINS,
				.text = (char[]){ "*.example" },
				.name = (char[]){ "example" } };
	const struct netrules rules = { &rule, 1 };
	struct event_base *base = event_base_new();
	unsigned allowed = 0;
	const struct net_ops ops = { .dns = on_dns, .arg = &allowed };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct netpolicy policy = { modes[i], &rules };
		struct once denied = { 0 };
		struct dns_serve_spec spec = { base, -1,     -1, &policy, names_new(4, 1000),
					       &ops, &denied };
		struct dns_serve *s = dns_serve_new(&spec);
		uint8_t out[DNS_ANSWER_MAX];

		/* Twice: a name that is known, or was refused, is another way through. */
		for (unsigned k = 0; k < 2; k++)
			check(data, size, out, dns_serve_answer(s, data, size, 1, k, out));
		dns_serve_free(s);
		names_free(spec.names);
		once_done(&denied);
	}
	event_base_free(base);
	return 0;
}

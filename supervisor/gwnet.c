/* What the gateway says of the network: names, connections, bytes. */
#include <string.h>

#include "base/mem.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/netproc.h"

enum {
	LOOKUPS_MAX = 1000,   /* for the owner, of refusals and of connections each */
	RECORDS_MAX = 5000,   /* of refusals */
	ALLOWED_MAX = 100000, /* of connections */
};

/* Looking for the owner walks descriptors: a flood is not worth it. @count: of what is like this. */
static struct process *owner(struct sup *s, uint64_t *count, bool udp, uint64_t port)
{
	return ++*count <= LOOKUPS_MAX ? netproc_find(s, udp, (uint16_t)port, NULL) : NULL;
}

static struct buf *begin(struct sup *s, enum trace_kind kind, const struct process *p)
{
	pid_t pid = p ? p->pid : 0;

	return sink_begin(s->sink, kind, pid, pid, p ? p->cmd : 0, s->epoch);
}

static void verdict(struct buf *b, bool allowed, const char *rule)
{
	tracerec_str(b, "verdict", allowed ? "allowed" : "denied", allowed ? 7 : 6);
	if (rule[0])
		tracerec_str(b, "rule", rule, strlen(rule));
}

void gwnet_dns(struct sup *s, const struct gw_msg *m)
{
	char name[GW_TEXT_MAX + 1], rule[GW_TEXT_MAX + 1];
	bool allowed = m->v[0] != 0;
	struct process *p = allowed ? NULL : owner(s, &s->net_denied, !m->v[3], m->v[2]);
	struct buf *b;

	gwlink_text(m, 0, name);
	gwlink_text(m, 1, rule);
	if (!allowed && s->net_denied > RECORDS_MAX) {
		sup_denied(s, "dns of more names", rule);
		return;
	}
	b = begin(s, TK_DNS, p);
	tracerec_str(b, "host", name, strlen(name));
	tracerec_u64(b, "qtype", m->v[1]);
	verdict(b, allowed, rule);
	sink_end(s->sink);
	if (!allowed) {
		auto_free char *what = mem_printf("dns %s", name);

		gwlink_deny(s, p, what, rule);
	}
}

void gwnet_connect(struct sup *s, const struct gw_msg *m)
{
	char name[GW_TEXT_MAX + 1], addr[GW_TEXT_MAX + 1], rule[GW_TEXT_MAX + 1];
	bool allowed = m->v[0] != 0;
	struct process *p = owner(s, allowed ? &s->net_allowed : &s->net_denied, false, m->v[2]);
	struct buf *b;

	gwlink_text(m, 0, name);
	gwlink_text(m, 1, addr);
	gwlink_text(m, 2, rule);
	if (!allowed && s->net_denied > RECORDS_MAX) {
		sup_denied(s, "connect to more addresses", rule);
		return;
	}
	if (allowed && s->net_allowed > ALLOWED_MAX)
		return; /* gwnet_closed() counts it */
	b = begin(s, TK_CONNECT, p);
	if (name[0])
		tracerec_str(b, "host", name, strlen(name));
	tracerec_str(b, "addr", addr, strlen(addr));
	tracerec_u64(b, "port", m->v[1]);
	verdict(b, allowed, rule);
	tracerec_str(b, "by", "gateway", 7);
	sink_end(s->sink);
	if (!allowed) {
		auto_free char *what = mem_printf("connect %s port %llu", name[0] ? name : addr,
						  (unsigned long long)m->v[1]);

		gwlink_deny(s, p, what, rule);
	}
}

void gwnet_closed(struct sup *s, const struct gw_msg *m)
{
	char name[GW_TEXT_MAX + 1];
	struct buf *b;

	s->net_out += m->v[0];
	s->net_in += m->v[1];
	if (++s->net_relays > ALLOWED_MAX)
		return;
	b = begin(s, TK_RELAY, NULL);
	gwlink_text(m, 0, name);
	tracerec_str(b, "host", name, strlen(name));
	tracerec_u64(b, "out", m->v[0]);
	tracerec_u64(b, "in", m->v[1]);
	tracerec_u64(b, "ns", m->v[2]);
	sink_end(s->sink);
}

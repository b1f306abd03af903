/* What the gateway says of the network: names, connections, bytes. */
#include <string.h>

#include "base/mem.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/netproc.h"

enum { LOOKUPS_MAX = 1000, RECORDS_MAX = 5000 };

static struct process *owner(struct sup *s, bool udp, uint64_t port)
{
	return netproc_find(s, udp, (uint16_t)port, NULL);
}

/* Looking for the owner walks descriptors: a flood of refusals is not worth it. */
static struct process *denied_by(struct sup *s, bool udp, uint64_t port)
{
	return ++s->net_denied <= LOOKUPS_MAX ? owner(s, udp, port) : NULL;
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
	struct process *p = allowed ? NULL : denied_by(s, !m->v[3], m->v[2]);
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
	struct process *p = allowed ? owner(s, false, m->v[2]) : denied_by(s, false, m->v[2]);
	struct buf *b;

	gwlink_text(m, 0, name);
	gwlink_text(m, 1, addr);
	gwlink_text(m, 2, rule);
	if (!allowed && s->net_denied > RECORDS_MAX) {
		sup_denied(s, "connect to more addresses", rule);
		return;
	}
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
	struct buf *b = begin(s, TK_RELAY, NULL);

	gwlink_text(m, 0, name);
	tracerec_str(b, "host", name, strlen(name));
	tracerec_u64(b, "out", m->v[0]);
	tracerec_u64(b, "in", m->v[1]);
	tracerec_u64(b, "ns", m->v[2]);
	sink_end(s->sink);
	s->net_out += m->v[0];
	s->net_in += m->v[1];
	s->net_relays++;
}

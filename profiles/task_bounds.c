#include "profiles/task_bounds.h"

#include <string.h>

#include "base/mem.h"
#include "profiles/netrules.h"

void task_bounds_limits(const struct task *task, bool agent, struct limits *l)
{
	const struct {
		uint64_t v;
		enum limit_kind kind;
	} rows[] = {
		{ task->limits.memory, LIMIT_MEMORY },
		{ task->limits.disk, LIMIT_DISK },
		{ agent ? task->limits.wall : 0, LIMIT_WALL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t *max = &l->max[rows[i].kind];

		if (rows[i].v && (!*max || rows[i].v < *max))
			*max = rows[i].v;
	}
}

/* Do the first @bits of the two addresses agree? */
static bool same_prefix(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
	unsigned rest = bits % 8;
	unsigned char mask = (unsigned char)(0xff00u >> rest);

	return memcmp(a->s6_addr, b->s6_addr, bits / 8) == 0 &&
	       (!rest || ((a->s6_addr[bits / 8] ^ b->s6_addr[bits / 8]) & mask) == 0);
}

/* Is @name @of or a name below it? */
static bool below(const char *name, const char *of, bool itself)
{
	size_t n = strlen(name), m = strlen(of);

	if (n == m)
		return itself && strcmp(name, of) == 0;
	return n > m && strcmp(name + n - m, of) == 0 && name[n - m - 1] == '.';
}

/* Does one of @rules allow everything that @r allows? */
static bool covered(const struct netrules *rules, const struct netrule *r)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct netrule *o = &rules->v[i];
		bool found;

		if ((o->kind == NETRULE_BLOCK) != (r->kind == NETRULE_BLOCK) ||
		    (o->port && o->port != r->port))
			continue;
		if (o->kind == NETRULE_BLOCK)
			found = o->bits <= r->bits && same_prefix(&o->addr, &r->addr, o->bits);
		else if (o->kind == NETRULE_SUBDOMAINS)
			found = below(r->name, o->name, r->kind == NETRULE_SUBDOMAINS);
		else
			found = r->kind == NETRULE_NAME && strcmp(r->name, o->name) == 0;
		if (found)
			return true;
	}
	return false;
}

static int both(const struct task *task, struct profile *p, struct err *err)
{
	struct netrules theirs = { 0 }, ours = { 0 };
	struct strv hosts = { 0 };
	int rc = netrules_parse(&task->hosts, &theirs, err);

	if (rc == 0)
		rc = netrules_parse(&p->hosts, &ours, err);
	for (size_t i = 0; rc == 0 && i < theirs.n; i++)
		if (covered(&ours, &theirs.v[i]))
			strv_add(&hosts, theirs.v[i].text);
	for (size_t i = 0; rc == 0 && i < ours.n; i++)
		if (covered(&theirs, &ours.v[i]) && !strv_has(&hosts, ours.v[i].text))
			strv_add(&hosts, ours.v[i].text);
	if (rc == 0)
		strv_copy(&p->hosts, &hosts);
	strv_done(&hosts);
	netrules_done(&theirs);
	netrules_done(&ours);
	return rc;
}

int task_bounds_network(const struct task *task, struct profile *p, struct err *err)
{
	if (task->network == TASK_NET_PROFILE || task->network == TASK_NET_PUBLIC ||
	    p->net == NET_NONE)
		return 0;
	if (task->network == TASK_NET_NONE) {
		p->net = NET_NONE;
		strv_done(&p->hosts);
		return 0;
	}
	if (p->net == NET_ALLOWLIST)
		return both(task, p, err);
	p->net = NET_ALLOWLIST;
	strv_copy(&p->hosts, &task->hosts);
	return 0;
}

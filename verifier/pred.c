#include "verifier/pred.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/pred_internal.h"

enum { ASKED_BYTES = 400 };

struct pred_set *pred_set_new(void)
{
	struct pred_set *set = mem_zalloc(1, sizeof(*set));

	pred_members_init(&set->members);
	return set;
}

static void free_node(struct pred *p)
{
	free(p->name);
	free(p->text);
	free(p->child);
	pred_ref_free(p->w.after);
	pred_ref_free(p->w.before);
	for (size_t i = 0; i < p->n_steps; i++)
		free(p->step[i].id);
	free(p->step);
	free(p->file.path);
	strv_done(&p->file.contains);
	strv_done(&p->file.lacks);
	free(p->file.sha256);
	pred_ref_free(p->file.at);
	free(p->path);
	strv_done(&p->tests);
	strv_done(&p->reached);
	free(p);
}

struct pred_set *pred_set_free(struct pred_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->n_nodes; i++)
		free_node(set->node[i]);
	for (size_t i = 0; i < set->n_matches; i++) {
		pred_match_done(set->match[i]);
		free(set->match[i]);
	}
	for (size_t k = 0; k < TK_MAX; k++)
		free(set->by_kind[k]);
	free(set->node);
	free(set->match);
	strv_done(&set->paths);
	pred_rec_done(&set->rec);
	map_done(&set->cmd_at);
	map_done(&set->begin);
	map_done(&set->path_at);
	map_done(&set->new_file);
	map_done(&set->known);
	free(set->cmd);
	free(set->ms);
	free(set->wait);
	free(set->state);
	free(set->change);
	free(set->call);
	free(set->firing);
	for (size_t i = 0; i < set->n_refusals; i++)
		free(set->refusal[i].why);
	free(set->refusal);
	free(set->facts.refused_why);
	free(set->facts.goal);
	free(set->facts.verifier);
	free(set);
	return NULL;
}

enum pred_arm pred_arm_of(const struct pred *p)
{
	return p->arm;
}

bool pred_of_update(const struct pred *p)
{
	return p->of_update;
}

const char *pred_name(const struct pred *p)
{
	return p->name;
}

const struct pred_facts *pred_facts(const struct pred_set *set)
{
	return &set->facts;
}

void pred_records_add(struct pred_records *r, uint64_t n)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i] == n)
			return;
	if (r->n < PRED_PROOF_MAX)
		r->v[r->n++] = n;
	r->total++;
}

size_t pred_part_add(struct pred_finding *f, unsigned depth, const char *asked)
{
	MEM_GROW(f->v, f->cap, f->n + 1);
	f->v[f->n] = (struct pred_part){ .depth = depth, .asked = mem_strndup(asked, ASKED_BYTES) };
	return f->n++;
}

void pred_part_say(struct pred_finding *f, size_t at, const char *fmt, ...)
{
	va_list ap;

	free(f->v[at].reason);
	va_start(ap, fmt);
	f->v[at].reason = mem_vprintf(fmt, ap);
	va_end(ap);
}

int pred_node_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f,
		   unsigned depth, struct err *err)
{
	auto_free char *asked =
		p->name ? mem_printf("%s: %s", p->name, p->text) : mem_strdup(p->text);
	size_t at = pred_part_add(f, depth, asked);

	return p->form->eval(set, p, f, at, err);
}

int pred_eval(struct pred_set *set, const struct pred *p, struct pred_finding *ret, struct err *err)
{
	ensure(set->scanned, "the trace is read before predicates are decided");
	return pred_node_eval(set, p, ret, 0, err);
}

void pred_finding_done(struct pred_finding *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].asked);
		free(f->v[i].reason);
	}
	free(f->v);
	*f = (struct pred_finding){ 0 };
}

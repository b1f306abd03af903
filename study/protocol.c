#include "study/protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/stats.h"

const char *const protocol_tables[] = { "figures", "paths", NULL };

/* --- figures ----------------------------------------------------------------------------------- */

/* A figure in its place. Texts are borrowed. */
struct item {
	const char *system, *scenario, *name;
	double value;
	size_t at; /* order in which it was read */
};

static int by_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int rc = strcmp(x->system, y->system);

	rc = rc ? rc : strcmp(x->scenario, y->scenario);
	rc = rc ? rc : strcmp(x->name, y->name);
	return rc ? rc : (x->at > y->at) - (x->at < y->at);
}

static bool same_item(const struct item *a, const struct item *b)
{
	return strcmp(a->system, b->system) == 0 && strcmp(a->scenario, b->scenario) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

static void put_figure(struct table *t, const struct item *v, size_t n)
{
	auto_free double *value = mem_zalloc(n, sizeof(*value));
	double least = v[0].value, most = v[0].value;

	for (size_t i = 0; i < n; i++) {
		value[i] = v[i].value;
		least = fmin(least, value[i]);
		most = fmax(most, value[i]);
	}
	table_row(t, false);
	table_words(t, 0, v[0].system);
	table_words(t, 1, v[0].scenario[0] ? v[0].scenario : "-");
	table_words(t, 2, v[0].name);
	table_value(t, 3, (double)n);
	table_spread(t, 4, stats_mean(value, n), stats_sd(value, n));
	table_value(t, 5, least);
	table_value(t, 6, most);
}

static struct table *figures(const struct protocol_runs *r, const char **ret_why)
{
	auto_free struct item *v = NULL;
	size_t n = 0, cap = 0;
	struct table *t;

	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].n_figures; k++) {
			MEM_GROW(v, cap, n + 1);
			v[n] = (struct item){ r->v[i].system, r->v[i].scenario,
					      r->v[i].figure[k].name, r->v[i].figure[k].value, n };
			n++;
		}
	if (!n) {
		*ret_why = "no run has a figure; judge the runs first";
		return NULL;
	}
	qsort(v, n, sizeof(*v), by_item);
	t = table_new("figures", "Figures of runs by system and scenario");
	table_col(t, NULL, "system", "System", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "scenario", "Scenario", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "figure", "Figure", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "runs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "mean", "Mean", TABLE_REAL, 3, TABLE_SD);
	table_col(t, NULL, "least", "Least", TABLE_REAL, 3, 0);
	table_col(t, NULL, "most", "Most", TABLE_REAL, 3, 0);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && same_item(&v[i], &v[k]);)
			k++;
		put_figure(t, v + i, k - i);
	}
	table_note(t, "Means over runs that have the figure; ± the sample standard deviation.");
	return t;
}

/* --- paths ------------------------------------------------------------------------------------- */

/* Runs of one plan and repeat stand together, by history. */
static int by_plan(const void *a, const void *b)
{
	const struct protocol_run *x = a, *y = b;
	int rc = strcmp(x->system, y->system);

	rc = rc ? rc : strcmp(x->instance_id, y->instance_id);
	rc = rc ? rc : strcmp(x->pair_digest, y->pair_digest);
	if (rc == 0 && x->repeat != y->repeat)
		rc = x->repeat > y->repeat ? 1 : -1;
	return rc ? rc : strcmp(x->scenario, y->scenario);
}

static bool same_plan(const struct protocol_run *a, const struct protocol_run *b)
{
	return strcmp(a->system, b->system) == 0 && strcmp(a->instance_id, b->instance_id) == 0 &&
	       strcmp(a->pair_digest, b->pair_digest) == 0 && a->repeat == b->repeat;
}

/* What two runs, or many pairs of such, say. */
struct path {
	const struct protocol_run *first, *other; /* of the first pair */
	size_t at;
	uint64_t pairs, probes, kept, other_kept, violated;
	uint64_t whole, whole_violated; /* runs */
};

struct paths {
	struct path *v; /* owned */
	size_t n, cap;
	size_t unlike; /* pairs whose verifiers differ */
};

static int by_history(const void *a, const void *b)
{
	const struct path *x = a, *y = b;
	int rc = strcmp(x->first->system, y->first->system);

	rc = rc ? rc : strcmp(x->first->instance_id, y->first->instance_id);
	rc = rc ? rc : strcmp(x->first->scenario, y->first->scenario);
	rc = rc ? rc : strcmp(x->other->scenario, y->other->scenario);
	return rc ? rc : (x->at > y->at) - (x->at < y->at);
}

static bool same_history(const struct path *a, const struct path *b)
{
	return strcmp(a->first->system, b->first->system) == 0 &&
	       strcmp(a->first->instance_id, b->first->instance_id) == 0 &&
	       strcmp(a->first->scenario, b->first->scenario) == 0 &&
	       strcmp(a->other->scenario, b->other->scenario) == 0;
}

/* One pair: the same verifier lists the same tests in the same order. */
static void count(const struct protocol_run *a, const struct protocol_run *b, struct paths *p)
{
	struct path one = { .first = a, .other = b, .at = p->n, .pairs = 1 };

	if (strcmp(a->verifier_digest, b->verifier_digest) != 0 || a->n_probes != b->n_probes) {
		p->unlike += a < b; /* once, not for both orders */
		return;
	}
	one.probes = a->n_probes;
	for (size_t i = 0; i < a->n_probes; i++) {
		one.kept += a->probe[i].passed;
		one.other_kept += b->probe[i].passed;
		one.violated += a->probe[i].passed && !b->probe[i].passed;
	}
	one.whole = a->resolved;
	one.whole_violated = a->resolved && !b->resolved;
	MEM_GROW(p->v, p->cap, p->n + 1);
	p->v[p->n++] = one;
}

/* Both orders of every two histories of a plan. */
static int pair_up(const struct protocol_runs *r, struct paths *p, struct err *err)
{
	for (size_t i = 0, end; i < r->n; i = end) {
		for (end = i + 1; end < r->n && same_plan(&r->v[i], &r->v[end]);)
			end++;
		for (size_t a = i; a < end; a++) {
			if (a > i && strcmp(r->v[a].scenario, r->v[a - 1].scenario) == 0)
				return err_set(err, ERR_INPUT,
					       "%s and %s are the same run of one history; say "
					       "run --repeat",
					       r->v[a - 1].source, r->v[a].source);
			for (size_t b = i; b < end; b++)
				if (a != b && r->v[a].graded && r->v[b].graded)
					count(&r->v[a], &r->v[b], p);
		}
	}
	return 0;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : NAN;
}

static void put_path(struct table *t, struct path *v, size_t n)
{
	struct path *s = &v[0];
	size_t col = 0;

	for (size_t i = 1; i < n; i++) {
		s->pairs += v[i].pairs;
		s->probes += v[i].probes;
		s->kept += v[i].kept;
		s->other_kept += v[i].other_kept;
		s->violated += v[i].violated;
		s->whole += v[i].whole;
		s->whole_violated += v[i].whole_violated;
	}
	table_row(t, false);
	table_words(t, col++, s->first->system);
	table_words(t, col++, s->first->instance_id);
	table_words(t, col++, s->first->scenario);
	table_words(t, col++, s->other->scenario);
	table_value(t, col++, (double)s->pairs);
	table_value(t, col++, (double)s->probes);
	table_value(t, col++, percent(s->kept, s->probes));
	table_value(t, col++, percent(s->other_kept, s->probes));
	table_value(t, col++, (double)s->kept);
	table_value(t, col++, (double)s->violated);
	table_value(t, col++, percent(s->violated, s->kept));
	table_value(t, col++, (double)s->whole);
	table_value(t, col++, (double)s->whole_violated);
	table_value(t, col, percent(s->whole_violated, s->whole));
}

static struct table *paths_table(struct paths *p)
{
	struct table *t = table_new("paths", "What another history of the same contract costs");
	const char *probes = "Probes", *runs = "Runs";

	table_col(t, NULL, "system", "System", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "instance_id", "Contract", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "history", "History", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "other", "Other", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "pairs", "Pairs", TABLE_WHOLE, 0, 0);
	table_col(t, probes, "asked", "asked", TABLE_WHOLE, 0, 0);
	table_col(t, probes, "realised", "realised (%)", TABLE_REAL, 2, 0);
	table_col(t, probes, "realised_other", "by the other (%)", TABLE_REAL, 2, 0);
	table_col(t, probes, "kept", "realised", TABLE_WHOLE, 0, 0);
	table_col(t, probes, "violated", "of these not by the other", TABLE_WHOLE, 0, 0);
	table_col(t, probes, "violation", "path violation (%)", TABLE_REAL, 2, 0);
	table_col(t, runs, "whole", "resolved", TABLE_WHOLE, 0, 0);
	table_col(t, runs, "violated", "of these not by the other", TABLE_WHOLE, 0, 0);
	table_col(t, runs, "violation", "path violation (%)", TABLE_REAL, 2, 0);
	qsort(p->v, p->n, sizeof(*p->v), by_history);
	for (size_t i = 0, k; i < p->n; i = k) {
		for (k = i + 1; k < p->n && same_history(&p->v[i], &p->v[k]);)
			k++;
		put_path(t, p->v + i, k - i);
	}
	table_note(
		t,
		"Pairs: runs of one task and agent that differ in the history (scenario), of the "
		"same repeat, graded by the same verifier. Probes: its FAIL_TO_PASS tests.");
	if (p->unlike)
		table_note(t, "%zu pairs are left out: their verifiers differ.", p->unlike);
	return t;
}

static struct table *paths(struct protocol_runs *r, const char **ret_why, int *ret_rc,
			   struct err *err)
{
	struct paths p = { 0 };
	struct table *t = NULL;

	qsort(r->v, r->n, sizeof(*r->v), by_plan);
	*ret_rc = pair_up(r, &p, err);
	if (*ret_rc == 0 && p.n)
		t = paths_table(&p);
	else
		*ret_why =
			"no two graded runs of one task, agent and repeat differ in their history";
	free(p.v);
	return t;
}

struct table *protocol_table(struct protocol_runs *r, const char *which, const char **ret_why,
			     int *ret_rc, struct err *err)
{
	*ret_rc = 0;
	if (strcmp(which, protocol_tables[0]) == 0)
		return figures(r, ret_why);
	return paths(r, ret_why, ret_rc, err);
}

/* Pairs in their order, and sums over some of them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/shift_internal.h"

/* Anchors in the order of a run, behind the fractions. */
static const char *const anchors[] = { "start",
				       "before-first-edit",
				       "after-first-edit",
				       "before-first-test",
				       "after-first-pass",
				       "before-submit" };

/* --- order ------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t anchor_rank(const char *s)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(anchors) && strcmp(anchors[i], s) != 0)
		i++;
	return i;
}

/* Fractions by size, then anchors, then numbers of actions. */
static int position_cmp(const char *a, const char *b)
{
	bool fa = strchr(a, '.'), fb = strchr(b, '.');
	uint64_t na, nb;
	size_t ra = anchor_rank(a), rb = anchor_rank(b);

	if (fa != fb)
		return fa ? -1 : 1;
	if (fa) {
		double x = strtod(a, NULL), y = strtod(b, NULL);

		if (x != y)
			return x < y ? -1 : 1;
		return strcmp(a, b);
	}
	if (ra != rb)
		return ra < rb ? -1 : 1;
	if (str_u64(a, &na) == 0 && str_u64(b, &nb) == 0 && na != nb)
		return na < nb ? -1 : 1;
	return strcmp(a, b);
}

static int by_position(const void *a, const void *b)
{
	return position_cmp(*(char *const *)a, *(char *const *)b);
}

/* Keep one of each in a sorted list. */
static void unique(struct strv *sv)
{
	size_t kept = 0;

	for (size_t i = 0; i < sv->n; i++) {
		if (kept && strcmp(sv->v[kept - 1], sv->v[i]) == 0)
			free(sv->v[i]);
		else
			sv->v[kept++] = sv->v[i];
	}
	sv->n = kept;
	if (sv->v)
		sv->v[kept] = NULL;
}

static void list(struct strv *sv, int (*cmp)(const void *, const void *))
{
	if (sv->n)
		qsort(sv->v, sv->n, sizeof(*sv->v), cmp);
	unique(sv);
}

static size_t find(const struct strv *sv, const char *s, int (*cmp)(const void *, const void *))
{
	char **at = bsearch(&s, sv->v, sv->n, sizeof(*sv->v), cmp);

	return at ? (size_t)(at - sv->v) : SHIFT_ANY;
}

/* "agent/model", or the agent. */
static char *system_of(const struct shift_pair *p)
{
	return *p->model ? mem_printf("%s/%s", p->agent, p->model) : mem_strdup(p->agent);
}

/* --- systems ----------------------------------------------------------------------------------- */

static int who_key(const struct shift_who *a, const struct shift_who *b)
{
	int c = strcmp(a->system, b->system);

	if (c == 0)
		c = strcmp(a->prefix, b->prefix);
	if (c == 0)
		c = strcmp(a->ladder, b->ladder);
	return c ? c : (a->budget > b->budget) - (a->budget < b->budget);
}

static int by_key(const void *a, const void *b)
{
	return who_key(a, b);
}

bool shift_same_condition(const struct shift_who *a, const struct shift_who *b)
{
	return a->budget == b->budget && str_eq(a->ladder, b->ladder) &&
	       str_eq(a->prefix, b->prefix);
}

/* Systems as in the paper: best clean success first. */
static int by_clean(const void *a, const void *b)
{
	const struct shift_who *x = a, *y = b;

	if (x->clean != y->clean)
		return x->clean > y->clean ? -1 : 1;
	return who_key(x, y);
}

static void who_done(struct shift_who *w)
{
	free(w->system);
	free(w->ladder);
	free(w->prefix);
}

static void list_who(struct shift *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct shift_pair *p = s->pairs->v + i;

		s->who[i] = (struct shift_who){ .system = system_of(p),
						.ladder = mem_strdup(p->ladder),
						.prefix = mem_strdup(p->prefix),
						.budget = p->budget };
	}
	qsort(s->who, s->n, sizeof(*s->who), by_key);
	for (size_t i = 0; i < s->n; i++) {
		if (kept && who_key(&s->who[kept - 1], &s->who[i]) == 0)
			who_done(&s->who[i]);
		else
			s->who[kept++] = s->who[i];
	}
	s->n_who = kept;
}

static size_t find_who(const struct shift *s, const struct shift_pair *p)
{
	auto_free char *system = system_of(p);
	struct shift_who key = {
		.system = system, .ladder = p->ladder, .prefix = p->prefix, .budget = p->budget
	};
	const struct shift_who *at = bsearch(&key, s->who, s->n_who, sizeof(*s->who), by_key);

	return (size_t)(at - s->who);
}

/* Give every system the clean success of all its pairs: conditions of one system stand together. */
static void rank_who(struct shift *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct shift_who *w = &s->who[find_who(s, s->pairs->v + i)];

		w->valid += s->pairs->v[i].valid;
		w->success += s->pairs->v[i].clean;
	}
	for (size_t i = 0, end; i < s->n_who; i = end) {
		uint64_t valid = 0, success = 0;

		for (end = i; end < s->n_who && str_eq(s->who[end].system, s->who[i].system);
		     end++) {
			valid += s->who[end].valid;
			success += s->who[end].success;
		}
		for (size_t k = i; k < end; k++) {
			s->who[k].clean = valid ? (double)success / (double)valid : -1;
			s->many_ladders |= strcmp(s->who[k].ladder, s->who[0].ladder) != 0;
			s->many_prefixes |= strcmp(s->who[k].prefix, s->who[0].prefix) != 0;
			s->many_budgets |= s->who[k].budget != s->who[0].budget;
		}
	}
}

/* Number the systems by success. They are found by their keys, so that both orders are needed for a moment. */
static void number_who(struct shift *s)
{
	auto_free size_t *place = mem_zalloc(s->n_who, sizeof(*place));

	for (size_t i = 0; i < s->n; i++)
		s->item[i].who = find_who(s, s->item[i].p);
	for (size_t i = 0; i < s->n_who; i++)
		s->who[i].now = i;
	qsort(s->who, s->n_who, sizeof(*s->who), by_clean);
	for (size_t i = 0; i < s->n_who; i++)
		place[s->who[i].now] = i;
	for (size_t i = 0; i < s->n; i++)
		s->item[i].who = place[s->item[i].who];
}

/* --- items ------------------------------------------------------------------------------------- */

static int item_cmp(const struct shift_item *a, const struct shift_item *b)
{
	const size_t x[] = { a->who, a->scenario, a->position, a->p->repeat };
	const size_t y[] = { b->who, b->scenario, b->position, b->p->repeat };

	for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

static int by_item(const void *a, const void *b)
{
	const struct shift_item *x = a, *y = b;
	int c = item_cmp(x, y);

	return c ? c : strcmp(x->p->source, y->p->source);
}

static int refuse_twice(const struct shift *s, struct err *err)
{
	for (size_t i = 1; i < s->n; i++) {
		const struct shift_pair *a = s->item[i - 1].p, *b = s->item[i].p;

		if (item_cmp(&s->item[i - 1], &s->item[i]) == 0)
			return err_set(
				err, ERR_INPUT,
				"%s and %s are the same pair: scenario %s, position %s, %s, ladder %s, "
				"budget %" PRIu64 ", repeat %" PRIu64 "; leave one out, or number "
				"them with \"repeat\"",
				a->source, b->source, b->scenario, b->position, b->agent, b->ladder,
				b->budget, b->repeat);
	}
	return 0;
}

/* Where the items of each system are. */
static void find_ranges(struct shift *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct shift_who *w = &s->who[s->item[i].who];

		if (!w->to)
			w->from = i;
		w->to = i + 1;
	}
}

static int check_sizes(const struct shift *s, struct err *err)
{
	const struct {
		const char *what;
		size_t n, max;
	} rows[] = { { "systems and conditions", s->n_who, SHIFT_WHO_MAX },
		     { "families", s->family.n, SHIFT_FAMILY_MAX },
		     { "positions", s->position.n, SHIFT_POSITION_MAX },
		     { "scenarios", s->scenario.n, SHIFT_SCENARIO_MAX } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].n > rows[i].max)
			return err_set(err, ERR_LIMIT, "%zu %s are more than %zu; report on less",
				       rows[i].n, rows[i].what, rows[i].max);
	}
	return 0;
}

int shift_new(const struct shift_pairs *p, const struct shift_options *o, struct shift **ret,
	      struct err *err)
{
	struct shift *s;
	int rc;

	if (!p->n)
		return err_set(err, ERR_INPUT, "there is no pair to report on");
	s = mem_zalloc(1, sizeof(*s));
	*s = (struct shift){ .pairs = p, .o = *o, .n = p->n };
	s->item = mem_zalloc(p->n, sizeof(*s->item));
	s->who = mem_zalloc(p->n, sizeof(*s->who));
	for (size_t i = 0; i < p->n; i++) {
		s->item[i].p = p->v + i;
		strv_add(&s->family, p->v[i].family);
		strv_add(&s->position, p->v[i].position);
		strv_add(&s->scenario, p->v[i].scenario);
	}
	list(&s->family, by_text);
	list(&s->position, by_position);
	list(&s->scenario, by_text);
	list_who(s);
	rc = check_sizes(s, err);
	if (rc < 0) {
		*ret = shift_free(s);
		return rc;
	}
	rank_who(s);
	number_who(s);
	for (size_t i = 0; i < s->n; i++) {
		struct shift_item *it = &s->item[i];

		it->family = find(&s->family, it->p->family, by_text);
		it->position = find(&s->position, it->p->position, by_position);
		it->scenario = find(&s->scenario, it->p->scenario, by_text);
	}
	qsort(s->item, s->n, sizeof(*s->item), by_item);
	find_ranges(s);
	rc = refuse_twice(s, err);
	if (rc < 0)
		s = shift_free(s);
	*ret = s;
	return rc;
}

struct shift *shift_free(struct shift *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_who; i++)
		who_done(&s->who[i]);
	free(s->who);
	free(s->item);
	strv_done(&s->family);
	strv_done(&s->position);
	strv_done(&s->scenario);
	free(s);
	return NULL;
}

/* --- sums -------------------------------------------------------------------------------------- */

bool shift_picked(const struct shift_item *it, const struct shift_pick *pick)
{
	return (pick->who == SHIFT_ANY || pick->who == it->who) &&
	       (pick->family == SHIFT_ANY || pick->family == it->family) &&
	       (pick->position == SHIFT_ANY || pick->position == it->position) &&
	       (pick->scenario == SHIFT_ANY || pick->scenario == it->scenario);
}

static double per_cent(uint64_t k, uint64_t n)
{
	return n ? 100.0 * (double)k / (double)n : NAN;
}

static void add_pair(struct shift_figures *f, const struct shift_pair *p)
{
	uint64_t rest = p->pairs - p->valid;

	f->pairs += p->pairs;
	f->valid += p->valid;
	f->clean += p->clean;
	f->shifted += p->shifted;
	f->paired += p->paired;
	if (p->state == SHIFT_PARTIAL)
		f->partial += rest;
	else if (p->state == SHIFT_UNGRADED)
		f->ungraded += rest;
	else
		f->invalid += rest;
}

/* Add the rates of one scenario to the sums of the macro averages. */
static void add_scenario(struct shift_figures *f, const struct shift_figures *one)
{
	if (!one->valid)
		return;
	f->scenarios++;
	f->clean_macro += per_cent(one->clean, one->valid);
	f->shifted_macro += per_cent(one->shifted, one->valid);
	f->psr_macro += per_cent(one->paired, one->valid);
	if (!one->clean)
		return;
	f->clean_scenarios++;
	f->crr_macro += per_cent(one->paired, one->clean);
}

static void finish(struct shift_figures *f)
{
	double n = f->scenarios ? (double)f->scenarios : NAN;

	f->clean_rate = per_cent(f->clean, f->valid);
	f->shifted_rate = per_cent(f->shifted, f->valid);
	f->psr = per_cent(f->paired, f->valid);
	f->crr = per_cent(f->paired, f->clean);
	f->clean_macro /= n;
	f->shifted_macro /= n;
	f->psr_macro /= n;
	f->crr_macro = f->clean_scenarios ? f->crr_macro / (double)f->clean_scenarios : NAN;
}

void shift_sum(const struct shift *s, const struct shift_pick *pick, struct shift_figures *ret)
{
	auto_free struct shift_figures *one = mem_zalloc(s->scenario.n, sizeof(*one));

	size_t from = pick->who == SHIFT_ANY ? 0 : s->who[pick->who].from;
	size_t to = pick->who == SHIFT_ANY ? s->n : s->who[pick->who].to;

	*ret = (struct shift_figures){ 0 };
	for (size_t i = from; i < to; i++) {
		if (!shift_picked(&s->item[i], pick))
			continue;
		add_pair(ret, s->item[i].p);
		add_pair(&one[s->item[i].scenario], s->item[i].p);
	}
	for (size_t i = 0; i < s->scenario.n; i++)
		add_scenario(ret, &one[i]);
	finish(ret);
}

static int by_scenario(const void *a, const void *b)
{
	const struct shift_pair *x = *(const struct shift_pair *const *)a;
	const struct shift_pair *y = *(const struct shift_pair *const *)b;

	return strcmp(x->scenario, y->scenario);
}

void shift_figures(const struct shift_pairs *p, struct shift_figures *ret)
{
	auto_free const struct shift_pair **v = mem_zalloc(p->n, sizeof(*v));

	*ret = (struct shift_figures){ 0 };
	for (size_t i = 0; i < p->n; i++)
		v[i] = p->v + i;
	if (p->n)
		qsort(v, p->n, sizeof(*v), by_scenario);
	for (size_t i = 0; i < p->n;) {
		struct shift_figures one = { 0 };
		size_t from = i;

		for (; i < p->n && strcmp(v[i]->scenario, v[from]->scenario) == 0; i++) {
			add_pair(ret, v[i]);
			add_pair(&one, v[i]);
		}
		add_scenario(ret, &one);
	}
	finish(ret);
}

/* Two systems, or two conditions of one, on the same cells; and how all tables begin. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/shift_internal.h"

/* Scenario, position, repeat. */
static int cell_cmp(const struct shift_item *a, const struct shift_item *b)
{
	const size_t x[] = { a->scenario, a->position, a->p->repeat };
	const size_t y[] = { b->scenario, b->position, b->p->repeat };

	for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* Sum of the differences of the scenario that is being read. */
struct running {
	size_t scenario;
	double sum;
	uint64_t n;
};

static void flush(struct running *r, struct shift_match *m)
{
	if (r->n)
		m->diff[m->n++] = r->sum / (double)r->n;
	r->sum = 0;
	r->n = 0;
}

static void add_cell(const struct shift_item *a, const struct shift_item *b, struct running *r,
		     struct shift_match *m)
{
	bool first = a->p->paired, second = b->p->paired;

	if (a->p->state != SHIFT_VALID || b->p->state != SHIFT_VALID)
		return;
	if (a->p->pairs != 1 || b->p->pairs != 1) {
		m->tables++;
		return;
	}
	if (r->scenario != a->scenario)
		flush(r, m);
	r->scenario = a->scenario;
	r->sum += (double)first - (double)second;
	r->n++;
	m->cells++;
	m->both += first && second;
	m->first += first && !second;
	m->second += !first && second;
	m->neither += !first && !second;
}

void shift_match(const struct shift *s, size_t first, size_t second, struct shift_match *ret)
{
	struct running r = { 0 };
	size_t i = s->who[first].from, k = s->who[second].from;
	size_t na = s->who[first].to, nb = s->who[second].to;

	*ret = (struct shift_match){ .diff = mem_zalloc(s->scenario.n, sizeof(double)) };
	while (i < na && k < nb) {
		int c = cell_cmp(&s->item[i], &s->item[k]);

		if (c == 0)
			add_cell(&s->item[i], &s->item[k], &r, ret);
		i += c <= 0;
		k += c >= 0;
	}
	flush(&r, ret);
}

size_t shift_head(const struct shift *s, struct table *t)
{
	size_t n = 1 + table_col(t, NULL, "system", "System", TABLE_WORDS, 0, 0);

	if (s->many_prefixes)
		n = 1 + table_col(t, NULL, "prefix", "Prefix", TABLE_WORDS, 0, 0);
	if (s->many_ladders)
		n = 1 + table_col(t, NULL, "ladder", "Ladder", TABLE_WORDS, 0, 0);
	if (s->many_budgets)
		n = 1 + table_col(t, NULL, "budget", "Budget", TABLE_WHOLE, 0, 0);
	return n;
}

void shift_lead(const struct shift *s, struct table *t, size_t who, bool apart)
{
	const struct shift_who *w = &s->who[who];
	size_t col = 0;

	table_row(t, apart);
	table_words(t, col++, w->system);
	if (s->many_prefixes)
		table_words(t, col++, w->prefix);
	if (s->many_ladders)
		table_words(t, col++, w->ladder);
	if (s->many_budgets)
		table_value(t, col, w->budget ? (double)w->budget : NAN);
}

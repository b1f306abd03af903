#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/mine_internal.h"

void mine_spans_add(struct spans *s, uint64_t first, uint64_t last)
{
	if (!first) {
		s->whole = true;
		return;
	}
	if (first >= SPANS_END || last < first)
		return;
	last = last < SPANS_END ? last : SPANS_END - 1;
	if (s->n >= 2 * (size_t)SPANS_MAX)
		mine_spans_settle(s);
	/* so many places are the whole file */
	s->whole |= s->n >= SPANS_MAX + SPANS_MAX / 2;
	if (s->whole && s->n >= SPANS_MAX)
		return;
	MEM_GROW(s->v, s->cap, s->n + 1);
	s->v[s->n++] = (struct span){ first, last };
}

static int by_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

void mine_spans_settle(struct spans *s)
{
	size_t n = 0;

	if (!s->n)
		return;
	qsort(s->v, s->n, sizeof(*s->v), by_first);
	for (size_t i = 1; i < s->n; i++) {
		if (s->v[i].first > s->v[n].last + 1)
			s->v[++n] = s->v[i];
		else if (s->v[i].last > s->v[n].last)
			s->v[n].last = s->v[i].last;
	}
	s->n = n + 1;
}

/* Where a set begins (+1) or ends (-1) to hold lines. */
struct step {
	uint64_t line;
	int d;
};

static int by_line(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static void add_run(struct spans *out, uint64_t **counts, size_t *cap, uint64_t first,
		    uint64_t last, uint64_t count)
{
	MEM_GROW(out->v, out->cap, out->n + 1);
	MEM_GROW(*counts, *cap, out->n + 1);
	(*counts)[out->n] = count;
	out->v[out->n++] = (struct span){ first, last };
}

void mine_spans_count(const struct spans *const *set, size_t n, size_t least, struct spans *out,
		      uint64_t **counts)
{
	struct step *v = NULL;
	size_t n_steps = 0, cap = 0, cap_counts = 0, all = 0, known = 0;
	uint64_t from = 0;
	size_t have = 0, need;

	*counts = NULL;
	for (size_t i = 0; i < n; i++) {
		all += set[i]->whole;
		known += !set[i]->whole && set[i]->n;
		for (size_t k = 0; !set[i]->whole && k < set[i]->n; k++) {
			MEM_GROW(v, cap, n_steps + 2);
			v[n_steps++] = (struct step){ set[i]->v[k].first, 1 };
			v[n_steps++] = (struct step){ set[i]->v[k].last + 1, -1 };
		}
	}
	out->whole = all >= least && all && !known;
	need = least > all ? least - all : 1;
	if (n_steps)
		qsort(v, n_steps, sizeof(*v), by_line);
	for (size_t i = 0; i < n_steps;) {
		uint64_t line = v[i].line;

		if (have >= need && from < line)
			add_run(out, counts, &cap_counts, from, line - 1, have + all);
		for (; i < n_steps && v[i].line == line; i++)
			have = v[i].d > 0 ? have + 1 : have - 1;
		from = line;
	}
	free(v);
}

bool mine_spans_hit(const struct spans *s, uint64_t first, uint64_t last)
{
	size_t lo = 0, hi = s->n;

	if (s->whole)
		return true;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].last < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n && s->v[lo].first <= last;
}

void mine_spans_done(struct spans *s)
{
	free(s->v);
	*s = (struct spans){ 0 };
}

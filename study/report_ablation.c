/* Table 5: every condition against vanilla of the same repeats. */
#include "study/report_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/stats.h"

#define REPEATS_MAX 1000u /* that are looked at */

/* A row of results with all its conditions in one benchmark. */
struct arm {
	struct report_slice *slice; /* owned: one for each of its conditions, in their order */
	size_t n;
	uint64_t *repeat; /* owned: those that all conditions have, rising */
	size_t n_repeats;
};

static void arm_done(struct arm *a)
{
	free(a->slice);
	free(a->repeat);
	*a = (struct arm){ 0 };
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The different repeats of @s, rising, at most REPEATS_MAX of them. Caller frees. */
static uint64_t *repeats_of(struct report_slice s, size_t *ret_n)
{
	uint64_t *v = mem_zalloc(s.n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		v[i] = s.v[i].r->repeat;
	qsort(v, s.n, sizeof(*v), by_number);
	for (size_t i = 0; i < s.n && n < REPEATS_MAX; i++) {
		if (!n || v[i] != v[n - 1])
			v[n++] = v[i];
	}
	*ret_n = n;
	return v;
}

/* Keep the repeats in which every condition has a result. */
static void keep_common(struct arm *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n_repeats; i++) {
		bool all = true;

		for (size_t c = 0; c < a->n && all; c++)
			all = !isnan(report_rate(a->slice[c], a->repeat[i]));
		if (all)
			a->repeat[kept++] = a->repeat[i];
	}
	a->n_repeats = kept;
}

/* The arm of (@bench, @row); n 0 when it has no more than two conditions. */
static void arm_of(const struct report *rep, size_t bench, size_t row, struct arm *ret)
{
	struct report_slice all = report_row(rep, bench, row), s;

	*ret = (struct arm){ .slice = mem_zalloc(all.n, sizeof(*ret->slice)) };
	for (size_t i = 0; i < all.n; i += s.n) {
		s = report_slice(rep, bench, row, (int)all.v[i].cond);
		ret->slice[ret->n++] = s;
	}
	if (ret->n <= 2) {
		arm_done(ret);
		return;
	}
	ret->repeat = repeats_of(ret->slice[0], &ret->n_repeats);
	keep_common(ret);
}

/* One condition of an arm; how many runs have no partner under vanilla, or there only. */
static size_t put_cell(const struct report *rep, struct table *t, size_t col, const struct arm *a,
		       struct report_slice s)
{
	size_t n = a->n_repeats;
	auto_free double *rate = mem_zalloc(n, sizeof(*rate)), *diff = mem_zalloc(n, sizeof(*diff));
	bool vanilla = rep->cond[a->slice[0].v->cond].mode == MODE_VANILLA;

	for (size_t i = 0; i < n; i++) {
		rate[i] = report_rate(s, a->repeat[i]);
		diff[i] = vanilla ? rate[i] - report_rate(a->slice[0], a->repeat[i]) : NAN;
	}
	table_spread(t, col, stats_mean(rate, n), stats_sd(rate, n));
	if (rep->cond[s.v->cond].mode == MODE_VANILLA)
		return 0;
	table_value(t, col + 1, stats_mean(diff, n));
	return vanilla ? report_alone(a->slice[0], s, a->repeat, n) : 0;
}

/* The lines of one benchmark: conditions that any of its arms has. As put_cell(). */
static size_t put_bench(const struct report *rep, struct table *t, size_t bench,
			const struct arm *arm, const size_t *col)
{
	auto_free bool *used = mem_zalloc(rep->n_conds, sizeof(*used));
	size_t alone = 0;

	strv_each (row, &rep->row) {
		for (size_t i = 0; i < arm[row].n; i++)
			used[arm[row].slice[i].v->cond] = true;
	}
	for (size_t c = 0; c < rep->n_conds; c++) {
		if (!used[c])
			continue;
		report_lead(rep, t, bench, rep->cond[c].name, false); /* in the model's place */
		strv_each (row, &rep->row) {
			for (size_t i = 0; i < arm[row].n; i++) {
				if (arm[row].slice[i].v->cond == c)
					alone += put_cell(rep, t, col[row], arm + row,
							  arm[row].slice[i]);
			}
		}
	}
	return alone;
}

static void head(const struct report *rep, struct table *t, const struct arm *arm, size_t *col)
{
	if (report_many(rep))
		table_col(t, NULL, "benchmark", "Benchmark", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "condition", "Condition", TABLE_WORDS, 0, 0);
	strv_each (row, &rep->row) {
		const char *group = rep->row.v[row];
		bool used = false;

		for (size_t b = 0; b < rep->bench.n; b++)
			used |= arm[b * rep->row.n + row].n > 0;
		if (!used)
			continue;
		col[row] = table_col(t, group, "resolve", "Resolve", TABLE_REAL, 1, TABLE_SD);
		table_col(t, group, "delta", "Δ", TABLE_REAL, 1, TABLE_SIGN);
	}
}

/* More models and benchmarks than this are no table any more. */
#define ARMS_MAX 100000u

struct table *report_ablation(const struct report *rep, const char **ret_why)
{
	size_t n = rep->bench.n * rep->row.n;
	auto_free struct arm *arm = n <= ARMS_MAX ? mem_zalloc(n, sizeof(*arm)) : NULL;
	auto_free size_t *col = mem_zalloc(rep->row.n, sizeof(*col));
	struct table *t = NULL;
	size_t alone = 0;
	bool any = false;

	*ret_why = arm ? "no model has more than two conditions" : "too many models";
	for (size_t i = 0; arm && i < n; i++) {
		arm_of(rep, i / rep->row.n, i % rep->row.n, arm + i);
		any |= arm[i].n > 0;
	}
	if (any) {
		t = table_new("5", "Resolve rates in per cent by condition");
		head(rep, t, arm, col);
		for (size_t b = 0; b < rep->bench.n; b++)
			alone += put_bench(rep, t, b, arm + b * rep->row.n, col);
		table_note(
			t,
			"Only repeats that a model has under all of its conditions; Δ is against vanilla "
			"of the same repeat.");
		report_alone_note(t, alone);
	}
	for (size_t i = 0; arm && i < n; i++)
		arm_done(arm + i);
	return t;
}

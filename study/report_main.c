#include "study/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/stats.h"

/* One row of a benchmark: its two conditions and what comes of them. */
struct line {
	size_t row;
	struct report_figures v, c; /* vanilla, and what stands against it */
	double retention;
	unsigned rank_v, rank_c; /* 0 = none */
	size_t alone;            /* runs without a partner, where both have runs */
	bool counts;             /* in ranks and means */
};

/* Mean of the values that are there. */
static double mean_known(const double *v, size_t n)
{
	auto_free double *known = mem_zalloc(n, sizeof(*known));
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(v[i]))
			known[k++] = v[i];
	}
	return stats_mean(known, k);
}

/* The column of a line that begins @at bytes into it, into @out. */
static double *pick(const struct line *l, size_t n, size_t at, double *out)
{
	for (size_t i = 0; i < n; i++)
		memcpy(out + i, (const char *)(l + i) + at, sizeof(*out));
	return out;
}

#define PICK(l, n, field, out) pick(l, n, offsetof(struct line, field), out)

/* Take out of @v what no rank and no mean counts. Returns @v. */
static double *counted(const struct line *l, size_t n, double *v)
{
	for (size_t i = 0; i < n; i++) {
		if (!l[i].counts)
			v[i] = NAN;
	}
	return v;
}

/* Where some lines have both sides, the others are in no rank and no mean: two ranks, or two means, must be of the
 * same models. */
static void choose_lines(struct line *l, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		l[i].counts = !isnan(l[i].v.mean) && !isnan(l[i].c.mean);
		any |= l[i].counts;
	}
	for (size_t i = 0; i < n; i++)
		l[i].counts |= !any;
}

static void rank_lines(struct line *l, size_t n)
{
	auto_free double *v = mem_zalloc(n, sizeof(*v));
	auto_free unsigned *rank = mem_zalloc(n, sizeof(*rank));

	choose_lines(l, n);
	stats_rank(counted(l, n, PICK(l, n, v.mean, v)), n, rank);
	for (size_t i = 0; i < n; i++)
		l[i].rank_v = isnan(v[i]) ? 0 : rank[i];
	stats_rank(counted(l, n, PICK(l, n, c.mean, v)), n, rank);
	for (size_t i = 0; i < n; i++)
		l[i].rank_c = isnan(v[i]) ? 0 : rank[i];
}

/* The lines of a benchmark: rows that have runs under vanilla or the condition. Caller frees. */
static struct line *lines_of(const struct report *rep, size_t bench, size_t *ret_n)
{
	struct line *l = mem_zalloc(rep->row.n, sizeof(*l));
	size_t n = 0;

	strv_each (row, &rep->row) {
		struct report_slice v = report_slice(rep, bench, row, report_vanilla(rep));
		struct report_slice c = report_slice(rep, bench, row, rep->main[bench]);
		struct report_moves m;

		if (!v.n && !c.n)
			continue;
		l[n].row = row;
		report_figures(rep, v, &l[n].v);
		report_figures(rep, c, &l[n].c);
		report_moves(v, c, &m);
		l[n].alone = v.n && c.n ? report_alone(v, c, NULL, 0) : 0;
		l[n++].retention = report_retention(&m);
		free(m.diff);
	}
	rank_lines(l, n);
	*ret_n = n;
	return l;
}

/* --- table 3 --- */

/* Columns of one condition. */
struct side {
	size_t resolve, steps, tokens, excluded;
};

static struct side side_cols(struct table *t, const char *group)
{
	struct side s;

	s.resolve = table_col(t, group, "resolve", "Resolve", TABLE_REAL, 1, TABLE_SD | TABLE_RANK);
	s.steps = table_col(t, group, "steps", "Steps", TABLE_REAL, 1, 0);
	s.tokens = table_col(t, group, "tokens_k", "Tok. (K)", TABLE_WHOLE, 0, TABLE_QUIET);
	s.excluded = table_col(t, group, "not_counted", "Not counted", TABLE_WHOLE, 0, TABLE_QUIET);
	return s;
}

static void put_side(struct table *t, const struct side *s, const struct report_figures *f,
		     unsigned rank)
{
	table_spread(t, s->resolve, f->mean, f->sd);
	table_ranked(t, s->resolve, rank);
	table_value(t, s->steps, f->steps);
	table_value(t, s->tokens, f->tokens);
	table_value(t, s->excluded, (double)f->excluded);
}

static double rank_change(const struct line *l)
{
	return l->rank_v && l->rank_c ? (double)l->rank_v - (double)l->rank_c : NAN;
}

struct main_cols {
	struct side v, c;
	size_t d_resolve, d_steps, retention, move;
};

/* The lines of one benchmark; how many runs have no partner. */
static size_t main_lines(const struct report *rep, struct table *t, const struct main_cols *at,
			 size_t bench)
{
	size_t n, alone = 0;
	auto_free struct line *l = lines_of(rep, bench, &n);
	auto_free double *x = mem_zalloc(n, sizeof(*x)), *y = mem_zalloc(n, sizeof(*y));

	for (size_t i = 0; i < n; i++) {
		report_lead(rep, t, bench, rep->row.v[l[i].row], false);
		put_side(t, &at->v, &l[i].v, l[i].rank_v);
		put_side(t, &at->c, &l[i].c, l[i].rank_c);
		table_value(t, at->d_resolve, l[i].c.mean - l[i].v.mean);
		table_value(t, at->d_steps, l[i].c.steps - l[i].v.steps);
		table_value(t, at->retention, l[i].retention);
		table_value(t, at->move, rank_change(l + i));
		alone += l[i].alone;
	}
	if (n < 2)
		return alone;
	report_lead(rep, t, bench, "Mean", true);
	table_value(t, at->v.resolve, mean_known(counted(l, n, PICK(l, n, v.mean, x)), n));
	table_value(t, at->c.resolve, mean_known(counted(l, n, PICK(l, n, c.mean, y)), n));
	for (size_t i = 0; i < n; i++)
		x[i] = y[i] - x[i];
	table_value(t, at->d_resolve, mean_known(x, n));
	table_value(t, at->v.steps, mean_known(counted(l, n, PICK(l, n, v.steps, x)), n));
	table_value(t, at->c.steps, mean_known(counted(l, n, PICK(l, n, c.steps, y)), n));
	for (size_t i = 0; i < n; i++)
		x[i] = y[i] - x[i];
	table_value(t, at->d_steps, mean_known(x, n));
	table_value(t, at->retention, mean_known(PICK(l, n, retention, x), n));
	return alone;
}

/* Name of what stands against vanilla: the one condition, or what several benchmarks have in common. */
static const char *against(const struct report *rep)
{
	int c = -1;

	for (size_t b = 0; b < rep->bench.n; b++) {
		if (rep->main[b] < 0)
			continue;
		if (c >= 0 && rep->main[b] != c)
			return "Touched";
		c = rep->main[b];
	}
	return c < 0 ? "Touched" : rep->cond[c].name;
}

struct table *report_main(const struct report *rep, const char **ret_why)
{
	struct table *t =
		table_new("3", "Resolve rate in per cent (mean ± sample standard deviation "
			       "over repeats, rank), steps and thousands of tokens");
	struct main_cols at;
	size_t alone = 0;

	(void)ret_why; /* every run has something for this table */
	report_head(rep, t);
	at.v = side_cols(t, "Vanilla");
	at.c = side_cols(t, against(rep));
	at.d_resolve = table_col(t, "Δ", "delta_resolve", "Resolve", TABLE_REAL, 1, TABLE_SIGN);
	at.d_steps = table_col(t, "Δ", "delta_steps", "Steps", TABLE_REAL, 1, TABLE_SIGN);
	at.retention = table_col(t, NULL, "retention", "Retention (%)", TABLE_REAL, 1, 0);
	at.move = table_col(t, NULL, "rank_change", "Rank Δ", TABLE_MOVE, 0, 0);
	for (size_t b = 0; b < rep->bench.n; b++)
		alone += main_lines(rep, t, &at, b);
	table_note(
		t,
		"Δ is the condition minus vanilla, on unrounded means; steps and tokens are means over "
		"runs that came to their own end.");
	table_note(
		t,
		"Retention: of the tasks solved in most runs under vanilla, those solved in most runs "
		"under the condition. A task solved in just half of its runs is a tie and left out.");
	report_alone_note(t, alone);
	return t;
}

/* --- table 4 --- */

struct horizon_cols {
	size_t v, c, d_resolve, d_steps, excluded;
};

/* One row in one benchmark; how many of its runs have no partner. */
static size_t horizon_bench(const struct report *rep, struct table *t,
			    const struct horizon_cols *at, size_t bench, size_t row, double *sum)
{
	struct report_slice v = report_slice(rep, bench, row, report_vanilla(rep));
	struct report_slice c = report_slice(rep, bench, row, rep->main[bench]);
	struct report_figures fv, fc;

	report_figures(rep, v, &fv);
	report_figures(rep, c, &fc);
	table_value(t, at->v, fv.mean);
	table_value(t, at->c, fc.mean);
	table_value(t, at->d_resolve, fc.mean - fv.mean);
	table_value(t, at->d_steps, fc.observed_steps - fv.observed_steps);
	table_value(t, at->excluded, (double)(fv.excluded + fc.excluded));
	sum[0] = fv.mean;
	sum[1] = fc.mean;
	return v.n && c.n ? report_alone(v, c, NULL, 0) : 0;
}

/* Means of both sides are of the same models where any has both. */
static void keep_both(double *v, double *c, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= !isnan(v[i]) && !isnan(c[i]);
	for (size_t i = 0; any && i < n; i++) {
		if (isnan(v[i]) || isnan(c[i]))
			v[i] = c[i] = NAN;
	}
}

static void horizon_means(struct table *t, const struct horizon_cols *at, size_t benches,
			  const double *sum, size_t rows)
{
	auto_free double *v = mem_zalloc(rows, sizeof(*v)), *c = mem_zalloc(rows, sizeof(*c));

	table_row(t, true);
	table_words(t, 0, "Mean");
	for (size_t b = 0; b < benches; b++) {
		for (size_t r = 0; r < rows; r++) {
			v[r] = sum[(r * benches + b) * 2];
			c[r] = sum[(r * benches + b) * 2 + 1];
		}
		keep_both(v, c, rows);
		table_value(t, at[b].v, mean_known(v, rows));
		table_value(t, at[b].c, mean_known(c, rows));
		for (size_t r = 0; r < rows; r++)
			v[r] = c[r] - v[r];
		table_value(t, at[b].d_resolve, mean_known(v, rows));
	}
}

/* More than so many benchmarks side by side are no table any more. */
#define BENCHES_MAX 64u

struct table *report_horizon(const struct report *rep, const char **ret_why)
{
	size_t benches = rep->bench.n < BENCHES_MAX ? rep->bench.n : BENCHES_MAX;
	auto_free struct horizon_cols *at = mem_zalloc(benches, sizeof(*at));
	auto_free double *sum = mem_zalloc(rep->row.n * benches * 2, sizeof(*sum));
	size_t alone = 0;
	struct table *t;

	if (!report_many(rep)) {
		*ret_why = "all runs are of one benchmark (table 3 has them)";
		return NULL;
	}
	t = table_new("4", "Mean resolve rates in per cent by benchmark, and the change in steps");
	table_col(t, NULL, "model", "Model", TABLE_WORDS, 0, 0);
	for (size_t b = 0; b < benches; b++) {
		const char *group = report_bench(rep, b);

		at[b].v = table_col(t, group, "vanilla", "Vanilla", TABLE_REAL, 1, 0);
		at[b].c = table_col(t, group, "touched",
				    rep->main[b] < 0 ? "Touched" : rep->cond[rep->main[b]].name,
				    TABLE_REAL, 1, 0);
		at[b].d_resolve =
			table_col(t, group, "delta_resolve", "Δ Res.", TABLE_REAL, 1, TABLE_SIGN);
		at[b].d_steps =
			table_col(t, group, "delta_steps", "Δ Steps", TABLE_REAL, 1, TABLE_SIGN);
		at[b].excluded = table_col(t, group, "not_counted", "Not counted", TABLE_WHOLE, 0,
					   TABLE_QUIET);
	}
	strv_each (row, &rep->row) {
		table_row(t, false);
		table_words(t, 0, rep->row.v[row]);
		for (size_t b = 0; b < benches; b++)
			alone += horizon_bench(rep, t, at + b, b, row,
					       sum + (row * benches + b) * 2);
	}
	if (rep->row.n > 1)
		horizon_means(t, at, benches, sum, rep->row.n);
	table_note(
		t,
		"Rates are per cent of the runs with a result, by repeat; both differences are the "
		"condition minus vanilla. Steps are means over all runs that took any.");
	report_alone_note(t, alone);
	if (rep->bench.n > benches)
		table_note(t, "Only the first %zu of %zu benchmarks are shown.", benches,
			   rep->bench.n);
	return t;
}

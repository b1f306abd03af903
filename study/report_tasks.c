/* Tables that go task by task or run by run against vanilla: table 10, tests, failures. */
#include "study/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/label.h"
#include "study/stats.h"

#define LEVEL 0.95

static struct report_slice vanilla_of(const struct report *rep, size_t bench, size_t row)
{
	return report_slice(rep, bench, row, report_vanilla(rep));
}

static struct report_slice other_of(const struct report *rep, size_t bench, size_t row)
{
	return report_slice(rep, bench, row, rep->main[bench]);
}

/* --- table 10 --- */

static const struct {
	const char *group, *key, *head;
	enum report_outcome from, to;
} moves[] = {
	{ "Vanilla solved", "kept", "kept", OUTCOME_SOLVED, OUTCOME_SOLVED },
	{ "Vanilla solved", "lost", "→unres.", OUTCOME_SOLVED, OUTCOME_UNSOLVED },
	{ "Vanilla unresolved", "gained", "→solved", OUTCOME_UNSOLVED, OUTCOME_SOLVED },
	{ "Vanilla unresolved", "kept", "kept", OUTCOME_UNSOLVED, OUTCOME_UNSOLVED },
};

/* What stands in no cell of the four. */
static void apart(const struct report_moves *m, uint64_t *ret_ties, uint64_t *ret_unknown)
{
	*ret_ties = *ret_unknown = 0;
	for (int a = 0; a <= OUTCOME_UNKNOWN; a++) {
		for (int b = 0; b <= OUTCOME_UNKNOWN; b++) {
			if (a == OUTCOME_UNKNOWN || b == OUTCOME_UNKNOWN)
				*ret_unknown += m->count[a][b];
			else if (a == OUTCOME_TIE || b == OUTCOME_TIE)
				*ret_ties += m->count[a][b];
		}
	}
}

static void put_moves(struct table *t, size_t col, const double *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves) + 2; i++)
		table_value(t, col + i, v[i]);
}

static void outcome_lines(const struct report *rep, struct table *t, size_t col, size_t bench)
{
	double sum[ARRAY_SIZE(moves) + 2] = { 0 };
	size_t n = 0;

	strv_each (row, &rep->row) {
		struct report_slice v = vanilla_of(rep, bench, row), c = other_of(rep, bench, row);
		double cell[ARRAY_SIZE(moves) + 2];
		uint64_t ties, unknown;
		struct report_moves m;

		if (!v.n || !c.n)
			continue;
		report_moves(v, c, &m);
		for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
			cell[i] = (double)m.count[moves[i].from][moves[i].to];
		apart(&m, &ties, &unknown);
		cell[ARRAY_SIZE(moves)] = (double)ties;
		cell[ARRAY_SIZE(moves) + 1] = (double)unknown;
		for (size_t i = 0; i < ARRAY_SIZE(cell); i++)
			sum[i] += cell[i];
		report_lead(rep, t, bench, rep->row.v[row], false);
		put_moves(t, col, cell);
		free(m.diff);
		n++;
	}
	if (n > 1) {
		report_lead(rep, t, bench, "Total", true);
		put_moves(t, col, sum);
	}
}

/* An empty table says why; otherwise it is the caller's. */
static struct table *unless_empty(struct table *t, const char *why, const char **ret_why)
{
	if (table_rows(t))
		return t;
	*ret_why = why;
	return table_free(t);
}

struct table *report_outcomes(const struct report *rep, const char **ret_why)
{
	struct table *t =
		table_new("10", "Tasks by outcome (solved in most runs or not) under vanilla "
				"and under the condition");
	size_t col = report_head(rep, t);

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		table_col(t, moves[i].group, moves[i].key, moves[i].head, TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "ties", "Ties", TABLE_WHOLE, 0, TABLE_QUIET);
	table_col(t, NULL, "unknown", "No result", TABLE_WHOLE, 0, TABLE_QUIET);
	for (size_t b = 0; b < rep->bench.n; b++)
		outcome_lines(rep, t, col, b);
	table_note(t, "A task solved in just half of its runs under one of both is a tie.");
	return unless_empty(t, "no model has runs under vanilla and under another condition",
			    ret_why);
}

/* --- tests --- */

static void test_line(const struct report *rep, struct table *t, size_t col, size_t bench,
		      size_t row)
{
	struct report_slice v = vanilla_of(rep, bench, row), c = other_of(rep, bench, row);
	uint64_t both, lost, gained, neither;
	double one, low, high;
	struct report_moves m;

	if (!v.n || !c.n)
		return;
	report_moves(v, c, &m);
	both = m.count[OUTCOME_SOLVED][OUTCOME_SOLVED];
	lost = m.count[OUTCOME_SOLVED][OUTCOME_UNSOLVED];
	gained = m.count[OUTCOME_UNSOLVED][OUTCOME_SOLVED];
	neither = m.count[OUTCOME_UNSOLVED][OUTCOME_UNSOLVED];
	report_lead(rep, t, bench, rep->row.v[row], false);
	table_value(t, col, (double)(both + lost + gained + neither));
	table_value(t, col + 1, (double)lost);
	table_value(t, col + 2, (double)gained);
	table_value(t, col + 3, stats_mcnemar(lost, gained, &one));
	table_value(t, col + 4, one);
	if (both + lost + gained + neither) {
		stats_newcombe(both, gained, lost, neither, LEVEL, &low, &high);
		table_value(t, col + 5,
			    100 * ((double)gained - (double)lost) /
				    (double)(both + lost + gained + neither));
		table_value(t, col + 6, 100 * low);
		table_value(t, col + 7, 100 * high);
	}
	stats_bootstrap(m.diff, m.n, rep->o->draws, rep->o->seed, LEVEL, &low, &high);
	table_value(t, col + 8, 100 * stats_mean(m.diff, m.n));
	table_value(t, col + 9, 100 * low);
	table_value(t, col + 10, 100 * high);
	free(m.diff);
}

struct table *report_tests(const struct report *rep, const char **ret_why)
{
	struct table *t =
		table_new("tests",
			  "Is the difference from vanilla more than chance? Pairs of tasks");
	const char *task = "Tasks by most runs", *mean = "Share of solved runs";
	size_t col = report_head(rep, t);

	table_col(t, task, "pairs", "Pairs", TABLE_WHOLE, 0, 0);
	table_col(t, task, "lost", "Lost", TABLE_WHOLE, 0, 0);
	table_col(t, task, "gained", "Gained", TABLE_WHOLE, 0, 0);
	table_col(t, task, "p", "p (two-sided)", TABLE_REAL, 4, TABLE_LEAST);
	table_col(t, task, "p_worse", "p (worse)", TABLE_REAL, 4, TABLE_LEAST);
	table_col(t, task, "delta", "Δ", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, task, "low", "from", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, task, "high", "to", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, mean, "delta", "Δ", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, mean, "low", "from", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, mean, "high", "to", TABLE_REAL, 1, TABLE_SIGN);
	for (size_t b = 0; b < rep->bench.n; b++) {
		strv_each (row, &rep->row)
			test_line(rep, t, col, b, row);
	}
	table_note(
		t,
		"p: exact McNemar test; first interval: Newcombe's method 10; second: percentiles of %u "
		"resamples of the tasks (seed %llu). Intervals at 95 %%, in points.",
		rep->o->draws, (unsigned long long)rep->o->seed);
	return unless_empty(t, "no model has runs under vanilla and under another condition",
			    ret_why);
}

/* --- failures --- */

struct failures {
	uint64_t pairs, labelled, human, revised, count[FAILURE_MAX];
};

/* Runs that vanilla solved and that are unresolved under the condition. */
static void count_failures(struct report_slice v, struct report_slice c, struct failures *ret)
{
	auto_free struct report_pair *pair = NULL;
	size_t n = report_pairs(v, c, &pair);

	for (size_t i = 0; i < n; i++) {
		const struct result *r = pair[i].second;
		enum failure f = failure_find(r->label);

		if (pair[i].first->verdict != RESULT_RESOLVED || r->verdict != RESULT_UNRESOLVED)
			continue;
		ret->pairs++;
		if (!*r->label || f == FAILURE_NONE || f >= FAILURE_MAX)
			continue;
		ret->labelled++;
		ret->count[f]++;
		ret->revised += r->revised;
		ret->human += strcmp(r->label_by, "human") == 0;
	}
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : NAN;
}

static void put_failures(struct table *t, size_t col, const struct failures *f)
{
	table_value(t, col++, (double)f->pairs);
	table_value(t, col++, (double)f->labelled);
	for (int i = FAILURE_NONE + 1; i < FAILURE_MAX; i++)
		table_value(t, col++, share(f->count[i], f->labelled));
	table_value(t, col++, share(f->revised, f->labelled));
	table_value(t, col, share(f->human, f->labelled));
}

static void add_failures(struct failures *to, const struct failures *f)
{
	to->pairs += f->pairs;
	to->labelled += f->labelled;
	to->human += f->human;
	to->revised += f->revised;
	for (int i = 0; i < FAILURE_MAX; i++)
		to->count[i] += f->count[i];
}

static void failure_lines(const struct report *rep, struct table *t, size_t col, size_t bench)
{
	auto_free double *revised = mem_zalloc(rep->row.n, sizeof(*revised));
	auto_free double *delta = mem_zalloc(rep->row.n, sizeof(*delta));
	struct failures all = { 0 };
	size_t n = 0;

	strv_each (row, &rep->row) {
		struct report_slice v = vanilla_of(rep, bench, row), c = other_of(rep, bench, row);
		struct report_figures fv, fc;
		struct failures f = { 0 };

		count_failures(v, c, &f);
		if (!f.pairs)
			continue;
		report_figures(rep, v, &fv);
		report_figures(rep, c, &fc);
		report_lead(rep, t, bench, rep->row.v[row], false);
		put_failures(t, col, &f);
		add_failures(&all, &f);
		if (f.labelled) {
			revised[n] = share(f.revised, f.labelled);
			delta[n++] = fc.mean - fv.mean;
		}
	}
	if (!all.pairs)
		return;
	report_lead(rep, t, bench, "All", true);
	put_failures(t, col, &all);
	if (!isnan(stats_spearman(revised, delta, n)))
		table_note(
			t,
			"%s%sSpearman's ρ between per cent revised and the change of the resolve rate, "
			"%zu models: %.2f.",
			report_many(rep) ? report_bench(rep, bench) : "",
			report_many(rep) ? ": " : "", n, stats_spearman(revised, delta, n));
}

/* "retained_conflict" as a heading: "Retained conflict". Caller frees. */
static char *failure_head(enum failure f)
{
	char *s = mem_strdup(failure_name(f));

	for (char *p = s; *p; p++) {
		if (*p == '_' || *p == '-')
			*p = ' ';
	}
	if (*s >= 'a' && *s <= 'z')
		*s -= 'a' - 'A';
	return s;
}

struct table *report_failures(const struct report *rep, const char **ret_why)
{
	struct table *t = table_new("failures",
				    "Runs that vanilla solved and the condition did not: types of "
				    "failure in per cent of the labelled ones");
	size_t col = report_head(rep, t);

	table_col(t, NULL, "pairs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "labelled", "Labelled", TABLE_WHOLE, 0, 0);
	for (int i = FAILURE_NONE + 1; i < FAILURE_MAX; i++) {
		auto_free char *head = failure_head((enum failure)i);

		table_col(t, NULL, failure_name((enum failure)i), head, TABLE_REAL, 1, 0);
	}
	table_col(t, NULL, "revised", "Edit revised", TABLE_REAL, 1, 0);
	table_col(t, NULL, "human", "By a person", TABLE_REAL, 1, TABLE_QUIET);
	for (size_t b = 0; b < rep->bench.n; b++)
		failure_lines(rep, t, col, b);
	table_note(
		t,
		"A pair is run r under both; \"edit revised\": the agent changed or removed the user's edit "
		"before the end.");
	return unless_empty(t, "no run that vanilla solved is unresolved under the condition",
			    ret_why);
}

/* Rates: by system, family, position, scenario; the ladder and the sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/shift_internal.h"
#include "study/stats.h"

#define LEVEL 0.95

/* clang-format off */
static const struct {
	const char *name;
	struct table *(*make)(const struct shift *s, const char **ret_why);
	bool long_one; /* only by its name */
} rows[] = {
	{ "pairs", shift_main },
	{ "families", shift_families },
	{ "positions", shift_positions },
	{ "grid", shift_grid },
	{ "ladder", shift_ladder },
	{ "sweep", shift_sweep },
	{ "versus", shift_versus },
	{ "checks", shift_checks },
	{ "invalid", shift_invalid },
	{ "after", shift_after },
	{ "missing", shift_missing },
	{ "scenarios", shift_scenarios, true },
	{ "cells", shift_cells, true },
};

const char *const shift_tables[] = {
	"pairs", "families", "positions", "grid", "ladder", "sweep", "versus", "checks", "invalid", "after", "missing",
	"scenarios", "cells", NULL,
};
/* clang-format on */

bool shift_in_all(const char *which)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, which) == 0)
			return !rows[i].long_one;
	}
	return false;
}

struct table *shift_table(const struct shift *s, const char *which, const char **ret_why)
{
	*ret_why = "there is no such table";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, which) == 0)
			return rows[i].make(s, ret_why);
	}
	return NULL;
}

/* --- columns of figures ------------------------------------------------------------------------ */

/* Which of them a table has. */
enum { COL_MACRO = 1, COL_ARMS = 2 };

static double value(uint64_t n)
{
	return (double)n;
}

static void add_columns(struct table *t, unsigned what)
{
	table_col(t, NULL, "pairs", "Pairs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "valid", "Valid", TABLE_WHOLE, 0, 0);
	if (what & COL_ARMS) {
		table_col(t, "Clean", "n", "n", TABLE_WHOLE, 0, 0);
		table_col(t, "Clean", "rate", "%", TABLE_REAL, 2, 0);
		table_col(t, "Shifted", "n", "n", TABLE_WHOLE, 0, 0);
		table_col(t, "Shifted", "rate", "%", TABLE_REAL, 2, 0);
	} else {
		table_col(t, NULL, "clean_n", "Clean", TABLE_WHOLE, 0, 0);
	}
	table_col(t, "PSR", "n", "both", TABLE_WHOLE, 0, 0);
	table_col(t, "PSR", "rate", "%", TABLE_REAL, 2, 0);
	table_col(t, "PSR", "low", "from", TABLE_REAL, 1, 0);
	table_col(t, "PSR", "high", "to", TABLE_REAL, 1, 0);
	table_col(t, "CRR", "micro", "micro", TABLE_REAL, 2, 0);
	table_col(t, "CRR", "low", "from", TABLE_REAL, 1, 0);
	table_col(t, "CRR", "high", "to", TABLE_REAL, 1, 0);
	if (what & COL_MACRO) {
		table_col(t, "CRR", "macro", "macro", TABLE_REAL, 2, 0);
		table_col(t, "CRR", "scenarios", "of", TABLE_WHOLE, 0, 0);
	}
}

/* Wilson's interval in per cent, nothing for none. */
static void put_interval(struct table *t, size_t col, uint64_t k, uint64_t n)
{
	double low = NAN, high = NAN;

	if (n)
		stats_wilson(k, n, LEVEL, &low, &high);
	table_value(t, col, 100 * low);
	table_value(t, col + 1, 100 * high);
}

/* Fill what add_columns() made, from column @col on. Returns the next one. */
static size_t put_columns(struct table *t, size_t col, const struct shift_figures *f, unsigned what)
{
	table_value(t, col++, value(f->pairs));
	table_value(t, col++, value(f->valid));
	table_value(t, col++, value(f->clean));
	if (what & COL_ARMS) {
		table_value(t, col++, f->clean_rate);
		table_value(t, col++, value(f->shifted));
		table_value(t, col++, f->shifted_rate);
	}
	table_value(t, col++, value(f->paired));
	table_value(t, col++, f->psr);
	put_interval(t, col, f->paired, f->valid);
	table_value(t, col + 2, f->crr);
	put_interval(t, col + 3, f->paired, f->clean);
	col += 5;
	if (what & COL_MACRO) {
		table_value(t, col++, f->crr_macro);
		table_value(t, col++, value(f->clean_scenarios));
	}
	return col;
}

static void note_rates(struct table *t)
{
	table_note(
		t,
		"PSR: both arms succeed, of valid pairs. CRR micro: of pairs whose clean arm succeeds. From, "
		"to: Wilson's interval, 95 %%, pairs taken as independent");
}

/* --- the tables -------------------------------------------------------------------------------- */

static void note_left_out(const struct shift *s, struct table *t)
{
	struct shift_figures f;
	struct shift_pick all = { SHIFT_ANY, SHIFT_ANY, SHIFT_ANY, SHIFT_ANY };

	shift_sum(s, &all, &f);
	if (f.invalid)
		table_note(t, "%llu invalid pairs are in no rate; see table invalid",
			   (unsigned long long)f.invalid);
	if (f.partial)
		table_note(t, "%llu continuations of one arm only are in no rate",
			   (unsigned long long)f.partial);
	if (f.ungraded)
		table_note(t, "%llu pairs are not graded", (unsigned long long)f.ungraded);
	if (s->pairs->unfinished)
		table_note(
			t,
			"%zu directories hold an arm and no pair.json: such a pair is not finished",
			s->pairs->unfinished);
}

/* Both averages of a system. */
struct table *shift_main(const struct shift *s, const char **ret_why)
{
	struct table *t =
		table_new("pairs", "Clean, shifted and paired success, and conditional recovery");
	size_t col = shift_head(s, t);

	(void)ret_why; /* there is a pair: shift_new() saw to it */
	add_columns(t, COL_ARMS | COL_MACRO);
	table_col(t, "Over scenarios", "scenarios", "of", TABLE_WHOLE, 0, 0);
	table_col(t, "Over scenarios", "clean_macro", "clean", TABLE_REAL, 2, 0);
	table_col(t, "Over scenarios", "shifted_macro", "shifted", TABLE_REAL, 2, 0);
	table_col(t, "Over scenarios", "psr_macro", "PSR", TABLE_REAL, 2, 0);
	for (size_t w = 0; w < s->n_who; w++) {
		struct shift_pick pick = { w, SHIFT_ANY, SHIFT_ANY, SHIFT_ANY };
		struct shift_figures f;
		size_t c;

		shift_sum(s, &pick, &f);
		shift_lead(s, t, w, false);
		c = put_columns(t, col, &f, COL_ARMS | COL_MACRO);
		table_value(t, c, value(f.scenarios));
		table_value(t, c + 1, f.clean_macro);
		table_value(t, c + 2, f.shifted_macro);
		table_value(t, c + 3, f.psr_macro);
	}
	note_rates(t);
	table_note(t,
		   "CRR macro: mean over the scenarios with a success of the clean arm (of). Over "
		   "scenarios: means of each scenario's rate");
	note_left_out(s, t);
	return t;
}

/* What a table has a row for, within each system. */
enum row_kind { ROW_FAMILY, ROW_POSITION, ROW_SCENARIO };

static const struct strv *list_of(const struct shift *s, enum row_kind kind)
{
	return kind == ROW_FAMILY ? &s->family : kind == ROW_POSITION ? &s->position : &s->scenario;
}

static struct shift_pick pick_of(size_t who, enum row_kind kind, size_t i)
{
	return (struct shift_pick){ who, kind == ROW_FAMILY ? i : SHIFT_ANY,
				    kind == ROW_POSITION ? i : SHIFT_ANY,
				    kind == ROW_SCENARIO ? i : SHIFT_ANY };
}

static void put_rows(const struct shift *s, struct table *t, size_t col, enum row_kind kind,
		     unsigned what)
{
	const struct strv *names = list_of(s, kind);

	for (size_t w = 0; w < s->n_who; w++) {
		bool first = true;

		strv_each (i, names) {
			struct shift_pick pick = pick_of(w, kind, i);
			struct shift_figures f;

			shift_sum(s, &pick, &f);
			if (!f.pairs)
				continue;
			shift_lead(s, t, w, first && w);
			table_words(t, col, *names->v[i] ? names->v[i] : "?");
			put_columns(t, col + 1, &f, what);
			first = false;
		}
	}
}

static struct table *by(const struct shift *s, enum row_kind kind, const char *name,
			const char *caption, const char *head, unsigned what)
{
	struct table *t = table_new(name, caption);
	size_t col = shift_head(s, t);
	auto_free char *key = mem_strdup(head);

	key[0] = (char)(key[0] | 0x20);
	table_col(t, NULL, key, head, TABLE_WORDS, 0, 0);
	add_columns(t, what);
	put_rows(s, t, col, kind, what);
	note_rates(t);
	return t;
}

struct table *shift_families(const struct shift *s, const char **ret_why)
{
	(void)ret_why;
	return by(s, ROW_FAMILY, "families", "By family of change", "Family", COL_ARMS | COL_MACRO);
}

struct table *shift_positions(const struct shift *s, const char **ret_why)
{
	(void)ret_why;
	return by(s, ROW_POSITION, "positions", "By position of the fork", "Position",
		  COL_ARMS | COL_MACRO);
}

struct table *shift_scenarios(const struct shift *s, const char **ret_why)
{
	(void)ret_why;
	return by(s, ROW_SCENARIO, "scenarios", "By scenario", "Scenario", COL_ARMS);
}

/* Families down, positions across. */
struct table *shift_grid(const struct shift *s, const char **ret_why)
{
	struct table *t;
	size_t col;

	if (s->family.n < 2 && s->position.n < 2) {
		*ret_why = "there is one family and one position";
		return NULL;
	}
	t = table_new("grid", "Paired success (PSR) by family and position, per cent");
	col = shift_head(s, t);
	table_col(t, NULL, "family", "Family", TABLE_WORDS, 0, 0);
	strv_each (p, &s->position)
		table_col(t, "PSR at", s->position.v[p], s->position.v[p], TABLE_REAL, 1, 0);
	for (size_t w = 0; w < s->n_who; w++) {
		bool first = true;

		strv_each (i, &s->family) {
			struct shift_pick pick = { w, i, SHIFT_ANY, SHIFT_ANY };
			struct shift_figures f;

			shift_sum(s, &pick, &f);
			if (!f.pairs)
				continue;
			shift_lead(s, t, w, first && w);
			first = false;
			table_words(t, col, *s->family.v[i] ? s->family.v[i] : "?");
			strv_each (p, &s->position) {
				pick.position = p;
				shift_sum(s, &pick, &f);
				table_value(t, col + 1 + p, f.psr);
			}
		}
	}
	table_note(t, "a dash: no valid pair. Numerators and denominators: --table cells");
	return t;
}

/* Every cell of the grid as counts: for other programs. */
struct table *shift_cells(const struct shift *s, const char **ret_why)
{
	struct table *t = table_new("cells", "Counts by family and position");
	size_t col = shift_head(s, t);

	(void)ret_why;
	table_col(t, NULL, "family", "Family", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "position", "Position", TABLE_WORDS, 0, 0);
	add_columns(t, COL_ARMS);
	for (size_t w = 0; w < s->n_who; w++) {
		for (size_t i = 0; i < s->family.n; i++) {
			for (size_t p = 0; p < s->position.n; p++) {
				struct shift_pick pick = { w, i, p, SHIFT_ANY };
				struct shift_figures f;

				shift_sum(s, &pick, &f);
				if (!f.pairs)
					continue;
				shift_lead(s, t, w, false);
				table_words(t, col, s->family.v[i]);
				table_words(t, col + 1, s->position.v[p]);
				put_columns(t, col + 2, &f, COL_ARMS);
			}
		}
	}
	return t;
}

/* --- conditions of one system ------------------------------------------------------------------ */

/* The condition that @who is compared with: the same system and budget at A0, or the same system and ladder with
 * the paper's budget, else the smallest one. SHIFT_ANY = none. */
static size_t base_of(const struct shift *s, size_t who, bool sweep)
{
	const struct shift_who *w = &s->who[who];
	size_t best = SHIFT_ANY;

	for (size_t i = 0; i < s->n_who; i++) {
		const struct shift_who *o = &s->who[i];

		if (!str_eq(o->system, w->system) || !str_eq(o->prefix, w->prefix))
			continue;
		if (!sweep && o->budget == w->budget && str_eq(o->ladder, "A0"))
			return i;
		if (!sweep || !str_eq(o->ladder, w->ladder) || !o->budget)
			continue;
		if (o->budget == SHIFT_BUDGET)
			return i;
		if (best == SHIFT_ANY)
			best = i;
	}
	return best;
}

/* Does the system have several steps at this budget (or several budgets at this step)? */
static bool is_varied(const struct shift *s, size_t who, bool sweep)
{
	const struct shift_who *w = &s->who[who];

	for (size_t i = 0; i < s->n_who; i++) {
		const struct shift_who *o = &s->who[i];
		bool same_step = str_eq(o->ladder, w->ladder), same_budget = o->budget == w->budget;

		if (!str_eq(o->prefix, w->prefix))
			continue;
		if (i != who && str_eq(o->system, w->system) && (sweep ? same_step : same_budget))
			return true;
	}
	return false;
}

/* Change of paired success against @base on the cells that both have. */
static void put_change(const struct shift *s, struct table *t, size_t col, size_t who, size_t base)
{
	struct shift_match m;
	double one_sided;

	if (base == SHIFT_ANY || base == who)
		return;
	shift_match(s, who, base, &m);
	if (m.cells) {
		table_value(t, col, (double)m.cells);
		table_value(t, col + 1,
			    100 * ((double)m.first - (double)m.second) / (double)m.cells);
		table_value(t, col + 2, stats_mcnemar(m.first, m.second, &one_sided));
	}
	free(m.diff);
}

static void put_conditions(const struct shift *s, struct table *t, size_t col, bool sweep)
{
	const char *last = NULL;

	for (size_t w = 0; w < s->n_who; w++) {
		struct shift_pick pick = { w, SHIFT_ANY, SHIFT_ANY, SHIFT_ANY };
		struct shift_figures f;
		size_t c;

		if (!is_varied(s, w, sweep))
			continue;
		shift_sum(s, &pick, &f);
		shift_lead(s, t, w, last && strcmp(last, s->who[w].system) != 0);
		last = s->who[w].system;
		c = put_columns(t, col, &f, COL_ARMS | COL_MACRO);
		put_change(s, t, c, w, base_of(s, w, sweep));
	}
}

static struct table *conditions(const struct shift *s, bool sweep, const char *name,
				const char *caption, const char *against)
{
	struct table *t = table_new(name, caption);
	size_t col = shift_head(s, t);

	add_columns(t, COL_ARMS | COL_MACRO);
	table_col(t, against, "cells", "cells", TABLE_WHOLE, 0, 0);
	table_col(t, against, "delta", "Δ PSR", TABLE_REAL, 2, TABLE_SIGN);
	table_col(t, against, "p", "p", TABLE_REAL, 4, TABLE_LEAST);
	put_conditions(s, t, col, sweep);
	return t;
}

struct table *shift_ladder(const struct shift *s, const char **ret_why)
{
	struct table *t;

	if (!s->many_ladders) {
		*ret_why = "all pairs are of one step of the ladder (fork --ladder)";
		return NULL;
	}
	t = conditions(s, false, "ladder", "State access: how much of the update the agent is told",
		       "Against A0");
	if (!table_rows(t)) {
		*ret_why = "no system has pairs at two steps of the ladder with one budget";
		return table_free(t);
	}
	table_note(
		t,
		"A0 nothing, A1 that something changed, A2 what, A3 how it is now, A4 look and test "
		"again first, A5 what must be kept; each says what the ones before say");
	note_rates(t);
	return t;
}

struct table *shift_sweep(const struct shift *s, const char **ret_why)
{
	struct table *t;

	if (!s->many_budgets) {
		*ret_why = "all pairs are of one token budget (fork --budget)";
		return NULL;
	}
	t = conditions(s, true, "sweep", "Token budget of a continuation", "Against B");
	if (!table_rows(t)) {
		*ret_why = "no system has pairs with two budgets at one step of the ladder";
		return table_free(t);
	}
	table_note(
		t,
		"B: 1,000,000 tokens where there are such pairs, else the smallest budget. Every budget "
		"is a run of its own: a longer run cannot be cut afterwards, since what is graded is "
		"the last state, and the agent may know its budget");
	note_rates(t);
	return t;
}

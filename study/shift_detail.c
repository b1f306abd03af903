/* What stands behind the rates: evidence that was missing, invalid pairs, cost behind the fork, systems against each
 * other, and cells without a pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/shift_internal.h"
#include "study/stats.h"

#define LEVEL       0.95
#define VERSUS_MAX  40   /* systems and conditions that are set against each other, pair by pair */
#define MISSING_MAX 2000 /* rows of the table of missing cells */

static const char *const arm_names[SHIFT_ARMS] = { "clean", "shifted" };

/* --- checks ------------------------------------------------------------------------------------ */

/* Arms of one system, family and side. */
struct check_counts {
	uint64_t judged, failed; /* failed: any check does not hold */
	uint64_t applies[SHIFT_CHECKS], fails[SHIFT_CHECKS], alone[SHIFT_CHECKS];
};

static void add_arm(struct check_counts *c, const struct shift_arm *a)
{
	if (!a->judged)
		return;
	c->judged++;
	c->failed += a->fails != 0;
	for (unsigned i = 0; i < SHIFT_CHECKS; i++) {
		c->applies[i] += a->applies >> i & 1;
		c->fails[i] += a->fails >> i & 1;
		c->alone[i] += a->fails == 1u << i;
	}
}

static void count_checks(const struct shift *s, const struct shift_pick *pick, int arm,
			 struct check_counts *ret)
{
	*ret = (struct check_counts){ 0 };
	for (size_t i = s->who[pick->who].from; i < s->who[pick->who].to; i++) {
		if (shift_picked(&s->item[i], pick) && s->item[i].p->state == SHIFT_VALID)
			add_arm(ret, &s->item[i].p->arm[arm]);
	}
}

static void put_checks(const struct shift *s, struct table *t, size_t col, size_t who,
		       size_t family, int arm, bool apart)
{
	struct shift_pick pick = { who, family, SHIFT_ANY, SHIFT_ANY };
	struct check_counts c;

	count_checks(s, &pick, arm, &c);
	if (!c.judged)
		return;
	shift_lead(s, t, who, apart);
	table_words(t, col++, family == SHIFT_ANY ? "all" : s->family.v[family]);
	table_words(t, col++, arm_names[arm]);
	table_value(t, col++, (double)c.judged);
	table_value(t, col++, (double)c.failed);
	for (size_t i = 0; i < SHIFT_CHECKS; i++) {
		table_value(t, col++, c.applies[i] ? (double)c.fails[i] : NAN);
		table_value(t, col++, c.applies[i] ? (double)c.applies[i] : NAN);
		table_value(t, col++, c.applies[i] ? (double)c.alone[i] : NAN);
	}
}

struct table *shift_checks(const struct shift *s, const char **ret_why)
{
	struct table *t =
		table_new("checks",
			  "Which evidence was missing: checks that do not hold, by family");
	size_t col = shift_head(s, t);

	table_col(t, NULL, "family", "Family", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "arm", "Arm", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "judged", "Judged", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "failed", "Failed", TABLE_WHOLE, 0, 0);
	for (size_t i = 0; i < SHIFT_CHECKS; i++) {
		table_col(t, shift_check_name(i), "fails", "not", TABLE_WHOLE, 0, 0);
		table_col(t, shift_check_name(i), "applies", "of", TABLE_WHOLE, 0, 0);
		table_col(t, shift_check_name(i), "alone", "alone", TABLE_WHOLE, 0, TABLE_QUIET);
	}
	for (size_t w = 0; w < s->n_who; w++) {
		for (int arm = 0; arm < SHIFT_ARMS; arm++) {
			size_t before = table_rows(t);

			strv_each (i, &s->family)
				put_checks(s, t, col, w, i, arm, !i && before);
			if (s->family.n > 1)
				put_checks(s, t, col, w, SHIFT_ANY, arm, false);
		}
	}
	if (!table_rows(t)) {
		*ret_why = "no valid pair has a strict.json beside it (proctor judge)";
		return table_free(t);
	}
	table_note(
		t,
		"not: arms whose check does not hold, of those to which it applies; alone: no other check "
		"of the arm fails. Arms of valid pairs only");
	return t;
}

/* --- invalid pairs ----------------------------------------------------------------------------- */

static int by_reason(const void *a, const void *b)
{
	const struct shift_item *x = *(const struct shift_item *const *)a;
	const struct shift_item *y = *(const struct shift_item *const *)b;
	int c = (x->who > y->who) - (x->who < y->who);

	if (c == 0)
		c = strcmp(x->p->reason ? x->p->reason : "", y->p->reason ? y->p->reason : "");
	return c ? c : (x > y) - (x < y);
}

static uint64_t left_out(const struct shift_pair *p)
{
	return p->state == SHIFT_VALID || p->state == SHIFT_INVALID ? p->pairs - p->valid : 0;
}

struct table *shift_invalid(const struct shift *s, const char **ret_why)
{
	auto_free const struct shift_item **v = mem_zalloc(s->n, sizeof(*v));
	struct table *t;
	size_t n = 0, col;

	for (size_t i = 0; i < s->n; i++) {
		if (left_out(s->item[i].p))
			v[n++] = &s->item[i];
	}
	if (!n) {
		*ret_why = "all pairs are valid";
		return NULL;
	}
	qsort(v, n, sizeof(*v), by_reason);
	t = table_new("invalid", "Invalid pairs by reason; they are in no rate");
	col = shift_head(s, t);
	table_col(t, NULL, "reason", "Reason", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "pairs", "Pairs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "first", "First one", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "why", "Why", TABLE_WORDS, 0, 0);
	for (size_t i = 0; i < n;) {
		const char *reason = v[i]->p->reason ? v[i]->p->reason : "";
		size_t from = i;
		uint64_t sum = 0;

		for (; i < n && v[i]->who == v[from]->who &&
		       str_eq(v[i]->p->reason ? v[i]->p->reason : "", reason);
		     i++)
			sum += left_out(v[i]->p);
		shift_lead(s, t, v[from]->who, false);
		table_words(t, col, *reason ? reason : "not said");
		table_value(t, col + 1, (double)sum);
		table_words(t, col + 2, v[from]->p->source);
		table_words(t, col + 3, v[from]->p->detail ? v[from]->p->detail : "");
	}
	table_note(
		t,
		"prefix: the record did not come back; update: it was not made; run: an arm could not be "
		"run; infra: it could not be graded; protocol: the trace does not carry a judgement");
	return t;
}

/* --- behind the fork --------------------------------------------------------------------------- */

struct costs {
	double *tokens, *commands, *seconds; /* owned */
	size_t n, n_seconds;
	uint64_t limit; /* ended by one */
	double sum, prefix;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median of @v, which is sorted by this. */
static double median(double *v, size_t n)
{
	if (!n)
		return NAN;
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void add_cost(struct costs *c, const struct shift_pair *p, const struct shift_arm *a)
{
	if (!a->made)
		return;
	c->tokens[c->n] = (double)a->tokens;
	c->commands[c->n++] = (double)a->commands;
	c->sum += (double)a->tokens;
	c->prefix += (double)p->prefix_tokens;
	c->limit += a->end && str_starts(a->end, "limit");
	if (!isnan(a->seconds))
		c->seconds[c->n_seconds++] = a->seconds;
}

static void put_costs(struct table *t, size_t col, struct costs *c)
{
	table_value(t, col++, (double)c->n);
	table_value(t, col++, (double)c->limit);
	table_value(t, col++, stats_mean(c->tokens, c->n));
	table_value(t, col++, median(c->tokens, c->n));
	table_value(t, col++, c->n ? c->tokens[c->n - 1] : NAN); /* sorted by now */
	table_value(t, col++, stats_mean(c->seconds, c->n_seconds));
	table_value(t, col++, median(c->seconds, c->n_seconds));
	table_value(t, col++, stats_mean(c->commands, c->n));
	table_value(t, col++, c->sum);
	table_value(t, col, c->prefix);
}

static void put_arm(const struct shift *s, struct table *t, size_t col, size_t who, int arm)
{
	size_t room = s->who[who].to - s->who[who].from;
	struct costs c = { .tokens = mem_zalloc(room, sizeof(double)),
			   .commands = mem_zalloc(room, sizeof(double)),
			   .seconds = mem_zalloc(room, sizeof(double)) };

	for (size_t i = s->who[who].from; i < s->who[who].to; i++) {
		const struct shift_pair *p = s->item[i].p;

		if (p->state == SHIFT_VALID)
			add_cost(&c, p, &p->arm[arm]);
	}
	if (c.n) {
		shift_lead(s, t, who, false);
		table_words(t, col, arm_names[arm]);
		put_costs(t, col + 1, &c);
	}
	free(c.tokens);
	free(c.commands);
	free(c.seconds);
}

struct table *shift_after(const struct shift *s, const char **ret_why)
{
	struct table *t =
		table_new("after",
			  "Behind the fork: tokens, time and actions of the continuations");
	size_t col = shift_head(s, t);

	table_col(t, NULL, "arm", "Arm", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "arms", "Arms", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "limit", "Limit", TABLE_WHOLE, 0, 0);
	table_col(t, "Tokens", "mean", "mean", TABLE_WHOLE, 0, 0);
	table_col(t, "Tokens", "median", "median", TABLE_WHOLE, 0, 0);
	table_col(t, "Tokens", "max", "most", TABLE_WHOLE, 0, 0);
	table_col(t, "Seconds", "mean", "mean", TABLE_REAL, 1, 0);
	table_col(t, "Seconds", "median", "median", TABLE_REAL, 1, 0);
	table_col(t, NULL, "actions", "Actions", TABLE_REAL, 1, 0);
	table_col(t, "Tokens in all", "paid", "paid", TABLE_WHOLE, 0, 0);
	table_col(t, "Tokens in all", "prefix", "prefix, not paid", TABLE_WHOLE, 0, 0);
	for (size_t w = 0; w < s->n_who; w++) {
		for (int arm = 0; arm < SHIFT_ARMS; arm++)
			put_arm(s, t, col, w, arm);
	}
	if (!table_rows(t)) {
		*ret_why = "no valid pair says what its arms used";
		return table_free(t);
	}
	table_note(
		t,
		"arms of valid pairs. Limit: ended by a limit. Actions are those of the whole run. Prefix: "
		"tokens of the record that were given again and not paid");
	return t;
}

/* --- systems against each other ---------------------------------------------------------------- */

static void put_match(const struct shift *s, struct table *t, size_t a, size_t b)
{
	struct shift_match m;
	double low, high, one_sided, blow = NAN, bhigh = NAN;
	size_t col;

	shift_match(s, a, b, &m);
	if (!m.cells) {
		free(m.diff);
		return;
	}
	stats_newcombe(m.both, m.first, m.second, m.neither, LEVEL, &low, &high);
	if (s->o.draws && m.n > 1)
		stats_bootstrap(m.diff, m.n, s->o.draws, s->o.seed, LEVEL, &blow, &bhigh);
	shift_lead(s, t, a, false);
	col = (size_t)1 + s->many_prefixes + s->many_ladders + s->many_budgets;
	table_words(t, col++, s->who[b].system);
	table_value(t, col++, (double)m.cells);
	table_value(t, col++, (double)m.both);
	table_value(t, col++, (double)m.first);
	table_value(t, col++, (double)m.second);
	table_value(t, col++, (double)m.neither);
	table_value(t, col++, 100 * ((double)m.first - (double)m.second) / (double)m.cells);
	table_value(t, col++, 100 * low);
	table_value(t, col++, 100 * high);
	table_value(t, col++, 100 * blow);
	table_value(t, col++, 100 * bhigh);
	table_value(t, col, stats_mcnemar(m.first, m.second, &one_sided));
	free(m.diff);
}

struct table *shift_versus(const struct shift *s, const char **ret_why)
{
	struct table *t = table_new("versus", "Paired success of two systems on the same pairs");

	shift_head(s, t);
	table_col(t, NULL, "other", "Against", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "cells", "Cells", TABLE_WHOLE, 0, 0);
	table_col(t, "Paired success", "both", "both", TABLE_WHOLE, 0, 0);
	table_col(t, "Paired success", "first", "first", TABLE_WHOLE, 0, 0);
	table_col(t, "Paired success", "second", "other", TABLE_WHOLE, 0, 0);
	table_col(t, "Paired success", "neither", "neither", TABLE_WHOLE, 0, 0);
	table_col(t, "Δ PSR", "delta", "Δ", TABLE_REAL, 2, TABLE_SIGN);
	table_col(t, "Δ PSR", "low", "from", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, "Δ PSR", "high", "to", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, "Over scenarios", "low", "from", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, "Over scenarios", "high", "to", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, NULL, "p", "p", TABLE_REAL, 4, TABLE_LEAST);
	for (size_t a = 0; a < s->n_who && a < VERSUS_MAX; a++) {
		for (size_t b = a + 1; b < s->n_who && b < VERSUS_MAX; b++) {
			/* Under other conditions: tables ladder and sweep. */
			if (shift_same_condition(&s->who[a], &s->who[b]))
				put_match(s, t, a, b);
		}
	}
	if (!table_rows(t)) {
		*ret_why = "no two systems have valid pairs of the same scenario and position";
		return table_free(t);
	}
	table_note(
		t,
		"cells: valid pairs of the same scenario, position and repeat in both. p: exact McNemar test, two-sided. "
		"From, to: Newcombe's method 10, cells taken as independent; over scenarios: bootstrap of the "
		"scenarios' means (positions of one scenario are not independent)");
	if (s->n_who > VERSUS_MAX)
		table_note(t, "only the first %d systems are compared", VERSUS_MAX);
	return t;
}

/* --- missing cells ----------------------------------------------------------------------------- */

/* Positions that @who lacks for @scenario, as words. Returns how many. */
static size_t missing_at(const struct shift *s, size_t *at, size_t who, size_t scenario,
			 struct buf *out)
{
	size_t n = 0;

	strv_each (p, &s->position) {
		size_t end = s->who[who].to;
		bool there = false;

		/* Items are sorted by scenario, then position: one walk over all of them. */
		while (*at < end && s->item[*at].scenario == scenario &&
		       s->item[*at].position == p) {
			there |= s->item[*at].p->state == SHIFT_VALID;
			(*at)++;
		}
		if (there)
			continue;
		if (n < SHIFT_CUT)
			buf_addf(out, "%s%s", n ? " " : "", s->position.v[p]);
		n++;
	}
	if (n > SHIFT_CUT)
		buf_addf(out, " and %zu more", n - SHIFT_CUT);
	return n;
}

static void put_missing(const struct shift *s, struct table *t, size_t col, size_t who,
			uint64_t *ret_cut)
{
	size_t at = s->who[who].from;

	strv_each (i, &s->scenario) {
		auto_buf words = BUF_INIT(4096);
		size_t n = missing_at(s, &at, who, i, &words);

		if (n && table_rows(t) >= MISSING_MAX) {
			*ret_cut += n;
		} else if (n) {
			shift_lead(s, t, who, false);
			table_words(t, col, s->scenario.v[i]);
			table_value(t, col + 1, (double)n);
			table_words(t, col + 2, n == s->position.n ? "all" : buf_str(&words));
		}
	}
}

struct table *shift_missing(const struct shift *s, const char **ret_why)
{
	struct table *t = table_new("missing", "Cells without a valid pair");
	size_t col = shift_head(s, t);
	uint64_t cut = 0;

	table_col(t, NULL, "scenario", "Scenario", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "cells", "Cells", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "positions", "Positions", TABLE_WORDS, 0, 0);
	for (size_t w = 0; w < s->n_who; w++)
		put_missing(s, t, col, w, &cut);
	if (!table_rows(t)) {
		*ret_why = "every system has a valid pair in every cell that another one has";
		return table_free(t);
	}
	table_note(
		t,
		"of all scenarios and positions that any pair names; also those whose pair is invalid");
	if (cut)
		table_note(t, "and %llu cells more", (unsigned long long)cut);
	return t;
}

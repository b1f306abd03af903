#include "study/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/stats.h"

static int order(const struct report_item *x, size_t bench, size_t row, size_t cond)
{
	if (x->bench != bench)
		return x->bench < bench ? -1 : 1;
	if (x->row != row)
		return x->row < row ? -1 : 1;
	return x->cond == cond ? 0 : x->cond < cond ? -1 : 1;
}

/* First item that does not stand in front of (bench, row, cond). */
static size_t lower(const struct report *rep, size_t bench, size_t row, size_t cond)
{
	size_t low = 0, high = rep->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (order(rep->item + mid, bench, row, cond) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct report_slice report_slice(const struct report *rep, size_t bench, size_t row, int cond)
{
	struct report_slice s = { 0 };
	size_t first;

	if (cond < 0)
		return s;
	first = lower(rep, bench, row, (size_t)cond);
	s.v = rep->item + first;
	while (first + s.n < rep->n && order(s.v + s.n, bench, row, (size_t)cond) == 0)
		s.n++;
	return s;
}

struct report_slice report_row(const struct report *rep, size_t bench, size_t row)
{
	size_t first = lower(rep, bench, row, 0), end = lower(rep, bench, row, rep->n_conds);

	return (struct report_slice){ rep->item + first, end - first };
}

int report_vanilla(const struct report *rep)
{
	return rep->cond[0].mode == MODE_VANILLA ? 0 : -1;
}

static bool counted(const struct result *r)
{
	return r->verdict == RESULT_RESOLVED || r->verdict == RESULT_UNRESOLVED;
}

bool report_cost(const struct report *rep, const struct result *r, uint64_t *ret)
{
	const struct price *p;

	*ret = r->micro_dollars;
	if (!rep->o->recompute)
		return r->cost_known;
	if (!r->has_tokens)
		return false;
	p = prices_find(rep->o->prices, r->model);
	if (p) /* what went into the cache is not told apart in a result: it counts as input */
		*ret = price_cost(p, r->input_tokens, r->cached_tokens, 0, r->output_tokens);
	return p;
}

static int by_repeat(const void *a, const void *b)
{
	const struct report_item *x = a, *y = b;

	return (x->r->repeat > y->r->repeat) - (x->r->repeat < y->r->repeat);
}

/* Rate of each repeat that has a result, into @rate (room for @s.n). Returns how many. */
static size_t rates(struct report_slice s, double *rate)
{
	auto_free struct report_item *v = NULL;
	size_t n = 0, solved = 0, all = 0;

	if (!s.n)
		return 0;
	v = mem_dup(s.v, s.n * sizeof(*v));
	qsort(v, s.n, sizeof(*v), by_repeat);
	for (size_t i = 0; i < s.n; i++) {
		solved += v[i].r->verdict == RESULT_RESOLVED;
		all += counted(v[i].r);
		if (i + 1 < s.n && v[i + 1].r->repeat == v[i].r->repeat)
			continue;
		if (all)
			rate[n++] = 100.0 * (double)solved / (double)all;
		solved = all = 0;
	}
	return n;
}

double report_rate(struct report_slice s, uint64_t repeat)
{
	size_t solved = 0, all = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.v[i].r->repeat != repeat)
			continue;
		solved += s.v[i].r->verdict == RESULT_RESOLVED;
		all += counted(s.v[i].r);
	}
	return all ? 100.0 * (double)solved / (double)all : NAN;
}

/* A mean that grows. */
struct sum {
	double v;
	size_t n;
};

static void add(struct sum *s, bool take, double v)
{
	if (take) {
		s->v += v;
		s->n++;
	}
}

static double mean(const struct sum *s)
{
	return s->n ? s->v / (double)s->n : NAN;
}

enum {
	STEPS,
	OBSERVED,
	TOKENS,
	INPUT,
	CACHED,
	OUTPUT,
	DOLLARS,
	FIRED,
	REFUSED,
	IDLE,
	LINES,
	FILES,
	SUMS
};

static void add_run(const struct report *rep, const struct result *r, struct sum *sum,
		    struct report_figures *f)
{
	uint64_t micro;
	bool known = report_cost(rep, r, &micro);
	double all = (double)r->input_tokens + (double)r->output_tokens;

	f->verdicts[r->verdict]++;
	f->excluded += !counted(r);
	f->cut += !r->completed;
	f->dollars_unknown += !known;
	add(sum + STEPS, r->completed, (double)r->steps);
	add(sum + OBSERVED, r->steps, (double)r->steps);
	add(sum + TOKENS, r->completed && r->has_tokens, all / 1000);
	add(sum + INPUT, r->has_tokens, (double)r->input_tokens / 1000);
	add(sum + CACHED, r->has_tokens, (double)r->cached_tokens / 1000);
	add(sum + OUTPUT, r->has_tokens, (double)r->output_tokens / 1000);
	add(sum + DOLLARS, known, (double)micro / 1e6);
	/* a run that broke off says nothing of what would have been done to it */
	add(sum + FIRED, r->verdict != RESULT_INFRA, (double)r->fired);
	add(sum + REFUSED, r->verdict != RESULT_INFRA, (double)r->refused);
	add(sum + IDLE, counted(r), r->fired ? 0 : 100);
	add(sum + LINES, r->verdict != RESULT_INFRA, (double)r->patch_lines);
	add(sum + FILES, r->verdict != RESULT_INFRA, (double)r->patch_files);
}

void report_figures(const struct report *rep, struct report_slice s, struct report_figures *ret)
{
	auto_free double *rate = mem_zalloc(s.n, sizeof(*rate));
	struct sum sum[SUMS] = { 0 };
	size_t n = rates(s, rate);

	*ret = (struct report_figures){ .runs = s.n };
	for (size_t i = 0; i < s.n; i++)
		add_run(rep, s.v[i].r, sum, ret);
	ret->mean = stats_mean(rate, n);
	ret->sd = stats_sd(rate, n);
	ret->steps = mean(sum + STEPS);
	ret->observed_steps = mean(sum + OBSERVED);
	ret->tokens = mean(sum + TOKENS);
	ret->input = mean(sum + INPUT);
	ret->cached = mean(sum + CACHED);
	ret->output = mean(sum + OUTPUT);
	ret->dollars = mean(sum + DOLLARS);
	ret->dollars_sum = sum[DOLLARS].n ? sum[DOLLARS].v : NAN;
	ret->fired = mean(sum + FIRED);
	ret->refused = mean(sum + REFUSED);
	ret->untouched = mean(sum + IDLE);
	ret->patch_lines = mean(sum + LINES);
	ret->patch_files = mean(sum + FILES);
}

/* --- task by task --- */

/* The runs of one task in a slice. */
struct tally {
	size_t solved, all;
};

static struct tally take_task(struct report_slice s, size_t *at)
{
	struct tally t = { 0 };
	unsigned task = s.v[*at].task;

	for (; *at < s.n && s.v[*at].task == task; ++*at) {
		t.solved += s.v[*at].r->verdict == RESULT_RESOLVED;
		t.all += counted(s.v[*at].r);
	}
	return t;
}

/* Solved in more than half of the runs; half of them is a tie (one of two). */
static enum report_outcome outcome(struct tally t)
{
	if (!t.all)
		return OUTCOME_UNKNOWN;
	if (t.solved * 2 == t.all)
		return OUTCOME_TIE;
	return t.solved * 2 > t.all ? OUTCOME_SOLVED : OUTCOME_UNSOLVED;
}

void report_moves(struct report_slice vanilla, struct report_slice other, struct report_moves *ret)
{
	size_t a = 0, b = 0;

	*ret = (struct report_moves){ .diff = mem_zalloc(vanilla.n, sizeof(double)) };
	while (a < vanilla.n || b < other.n) {
		unsigned ta = a < vanilla.n ? vanilla.v[a].task : UINT32_MAX;
		unsigned tb = b < other.n ? other.v[b].task : UINT32_MAX;
		struct tally x = { 0 }, y = { 0 };

		if (ta <= tb)
			x = take_task(vanilla, &a);
		if (tb <= ta)
			y = take_task(other, &b);
		ret->count[outcome(x)][outcome(y)]++;
		if (x.all && y.all)
			ret->diff[ret->n++] =
				(double)y.solved / (double)y.all - (double)x.solved / (double)x.all;
	}
}

double report_retention(const struct report_moves *m)
{
	double kept = (double)m->count[OUTCOME_SOLVED][OUTCOME_SOLVED];
	double lost = (double)m->count[OUTCOME_SOLVED][OUTCOME_UNSOLVED];

	return kept + lost > 0 ? 100 * kept / (kept + lost) : NAN;
}

static int pair_order(const struct report_item *x, const struct report_item *y)
{
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return by_repeat(x, y);
}

size_t report_pairs(struct report_slice a, struct report_slice b, struct report_pair **ret)
{
	struct report_pair *v = mem_zalloc(a.n, sizeof(*v));
	size_t i = 0, k = 0, n = 0;

	while (i < a.n && k < b.n) {
		int rc = pair_order(a.v + i, b.v + k);

		if (rc == 0)
			v[n++] = (struct report_pair){ a.v[i].r, b.v[k].r };
		i += rc <= 0;
		k += rc >= 0;
	}
	*ret = v;
	return n;
}

static bool has_repeat(const uint64_t *v, size_t n, uint64_t repeat)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid] < repeat)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && v[lo] == repeat;
}

size_t report_alone(struct report_slice a, struct report_slice b, const uint64_t *repeat, size_t n)
{
	auto_free struct report_pair *pair = NULL;
	size_t pairs = report_pairs(a, b, &pair), alone = 0;

	for (size_t i = 0; i < a.n; i++)
		alone += !repeat || has_repeat(repeat, n, a.v[i].r->repeat);
	for (size_t i = 0; i < b.n; i++)
		alone += !repeat || has_repeat(repeat, n, b.v[i].r->repeat);
	for (size_t i = 0; i < pairs; i++)
		alone -= 2 * (!repeat || has_repeat(repeat, n, pair[i].first->repeat));
	return alone;
}

/* --- what tables have in common --- */

void report_alone_note(struct table *t, size_t alone)
{
	if (alone)
		table_note(
			t,
			"%zu runs have no run of the same task and repeat on the other side: the "
			"rates and their difference are of unlike tasks. Retention and the table "
			"\"tests\" take tasks that both sides have.",
			alone);
}

bool report_many(const struct report *rep)
{
	return rep->bench.n > 1;
}

const char *report_bench(const struct report *rep, size_t bench)
{
	return *rep->bench.v[bench] ? rep->bench.v[bench] : "(unnamed)";
}

size_t report_head(const struct report *rep, struct table *t)
{
	if (report_many(rep))
		table_col(t, NULL, "benchmark", "Benchmark", TABLE_WORDS, 0, 0);
	return table_col(t, NULL, "model", "Model", TABLE_WORDS, 0, 0) + 1;
}

void report_lead(const struct report *rep, struct table *t, size_t bench, const char *model,
		 bool apart)
{
	table_row(t, apart);
	if (report_many(rep))
		table_words(t, 0, report_bench(rep, bench));
	table_words(t, report_many(rep) ? 1 : 0, model);
}

void report_foot(const struct report *rep, struct table *t)
{
	if (rep->forced)
		table_note(t,
			   "%zu pairs are counted although their plans differ in more than the "
			   "condition (--force-pairs).",
			   rep->forced);
}

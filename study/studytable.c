#include "study/studytable.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/stats.h"

/* One row of the overview. */
struct overview_row {
	const char *agent, *condition;
	size_t count[CELL_STATES];
	uint64_t good, judged, infra;
	uint64_t with_tokens, with_cost;
	double steps, tokens, dollars, seconds; /* sums */
};

int studytable_success(const struct journal_cell *c)
{
	const char *v = c->figures.verdict;

	if (c->state != CELL_DONE || !v)
		return -1;
	if (strcmp(v, "resolved") == 0 || strcmp(v, "paired") == 0)
		return 1;
	return strcmp(v, "unresolved") == 0 || strcmp(v, "unpaired") == 0 ? 0 : -1;
}

/* What makes a run one of its own for the tables. */
static uint64_t place_hash(const struct result *r, const struct journal_cell *c)
{
	char name[48];
	auto_free char *place =
		mem_printf("%s,%s,%s", r->instance_id, c->agent, result_condition(r, name));

	return map_hash(place, strlen(place));
}

/* Conditions of the plan that the tables could not tell apart, by name. */
static void find_unlike(const struct journal_cell *const *of, const struct results *r, size_t first,
			struct strv *ret)
{
	struct map seen = { 0 }; /* place_hash() -> a cell of it */

	for (size_t i = first; i < r->n; i++) {
		const struct journal_cell *c = of[i - first];
		uint64_t key = place_hash(&r->v[i], c);
		const struct journal_cell *other = map_get(&seen, key);

		if (!other)
			map_put(&seen, key, (void *)(uintptr_t)c);
		else if (strcmp(other->condition, c->condition) != 0) {
			if (!strv_has(ret, c->condition))
				strv_add(ret, c->condition);
			if (!strv_has(ret, other->condition))
				strv_add(ret, other->condition);
		}
	}
	map_done(&seen);
}

int studytable_results(const char *study, const struct journal_cells *cells, struct results *out,
		       struct err *err)
{
	auto_free const struct journal_cell **of = mem_zalloc(cells->n + 1, sizeof(*of));
	auto_strv unlike = { 0 };
	size_t first = out->n;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < cells->n; i++) {
		const struct journal_cell *c = &cells->v[i];
		const char *line = c->figures.result;

		if (c->state != CELL_DONE || !line)
			continue;
		of[out->n - first] = c;
		rc = results_parse(c->key, line, strlen(line), out, err);
	}
	if (rc < 0)
		return rc;
	find_unlike(of, out, first, &unlike);
	for (size_t i = first; i < out->n; i++) {
		const struct journal_cell *c = of[i - first];
		struct result *r = &out->v[i];

		free(r->model);
		r->model = strv_has(&unlike, c->condition)
				   ? mem_printf("%s [%s]", c->agent, c->condition)
				   : mem_strdup(c->agent);
		free(r->source);
		r->source = cells_run_dir(study, c->key);
	}
	return 0;
}

int studytable_pairs(const char *study, const struct journal_cells *cells, struct shift_pairs *out,
		     struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < cells->n; i++) {
		const struct journal_cell *c = &cells->v[i];
		auto_free char *dir = NULL;
		size_t first = out->n;

		if (c->state != CELL_DONE || c->kind != CELL_FORK)
			continue;
		dir = cells_run_dir(study, c->key);
		rc = shift_load(dir, out, err);
		/* The agent as the plan names it: two may share a file and differ in their model. */
		for (size_t k = first; rc == 0 && k < out->n; k++) {
			free(out->v[k].agent);
			out->v[k].agent = mem_strdup(c->agent);
		}
	}
	return rc;
}

static void count(struct overview_row *row, const struct journal_cell *c)
{
	const struct attempt_figures *f = &c->figures;
	int success = studytable_success(c);

	row->count[c->state]++;
	row->infra += c->infra;
	if (c->state != CELL_DONE)
		return;
	row->judged += success >= 0;
	row->good += success > 0;
	row->steps += (double)f->steps;
	row->seconds += (double)f->wall_ns / 1e9;
	row->with_tokens += f->has_tokens;
	row->tokens += f->has_tokens ? (double)f->tokens / 1e3 : 0;
	row->with_cost += f->cost_known;
	row->dollars += f->cost_known ? (double)f->micro_dollars / 1e6 : 0;
}

static double mean(double sum, uint64_t n)
{
	return n ? sum / (double)n : NAN;
}

/* Columns, in their order. */
enum {
	COL_AGENT,
	COL_CONDITION,
	COL_CELLS,
	COL_DONE,
	COL_RATE,
	COL_GOOD,
	COL_OF,
	COL_LOW,
	COL_HIGH,
	COL_STEPS,
	COL_TOKENS,
	COL_DOLLARS,
	COL_SECONDS,
	COL_INFRA,
	COL_GIVEN_UP,
	COL_RUNNING,
	COL_WAITING,
	COLS
};

static void columns(struct table *t, size_t col[COLS])
{
	static const struct {
		const char *group, *key, *head;
		enum table_kind kind;
		unsigned decimals, flags;
	} rows[COLS] = {
		[COL_AGENT] = { NULL, "agent", "Agent", TABLE_WORDS, 0, 0 },
		[COL_CONDITION] = { NULL, "condition", "Condition", TABLE_WORDS, 0, 0 },
		[COL_CELLS] = { "Cells", "all", "all", TABLE_WHOLE, 0, 0 },
		[COL_DONE] = { "Cells", "done", "done", TABLE_WHOLE, 0, 0 },
		[COL_RATE] = { "Success", "rate", "%", TABLE_REAL, 1, 0 },
		[COL_GOOD] = { "Success", "good", "good", TABLE_WHOLE, 0, 0 },
		[COL_OF] = { "Success", "of", "of", TABLE_WHOLE, 0, 0 },
		[COL_LOW] = { "Success", "low", "low", TABLE_REAL, 1, 0 },
		[COL_HIGH] = { "Success", "high", "high", TABLE_REAL, 1, 0 },
		[COL_STEPS] = { "Mean", "steps", "steps", TABLE_REAL, 1, 0 },
		[COL_TOKENS] = { "Mean", "tokens", "k tokens", TABLE_REAL, 1, TABLE_QUIET },
		[COL_DOLLARS] = { "Mean", "dollars", "$", TABLE_REAL, 4, TABLE_QUIET },
		[COL_SECONDS] = { "Mean", "seconds", "s", TABLE_REAL, 1, 0 },
		[COL_INFRA] = { "No result", "infra", "infra", TABLE_WHOLE, 0, 0 },
		[COL_GIVEN_UP] = { "No result", "given_up", "given up", TABLE_WHOLE, 0, 0 },
		[COL_RUNNING] = { "No result", "running", "running", TABLE_WHOLE, 0, 0 },
		[COL_WAITING] = { "No result", "not_run", "not run", TABLE_WHOLE, 0, 0 },
	};

	for (size_t i = 0; i < COLS; i++)
		col[i] = table_col(t, rows[i].group, rows[i].key, rows[i].head, rows[i].kind,
				   rows[i].decimals, rows[i].flags);
}

static void print_row(struct table *t, const size_t col[COLS], const struct overview_row *r)
{
	size_t all = 0;
	double low = NAN, high = NAN;

	for (size_t i = 0; i < CELL_STATES; i++)
		all += r->count[i];
	if (r->judged) {
		stats_wilson(r->good, r->judged, 0.95, &low, &high);
		low *= 100, high *= 100;
	}
	table_row(t, false);
	table_words(t, col[COL_AGENT], r->agent);
	table_words(t, col[COL_CONDITION], r->condition);
	table_value(t, col[COL_CELLS], (double)all);
	table_value(t, col[COL_DONE], (double)r->count[CELL_DONE]);
	table_value(t, col[COL_RATE], 100 * mean((double)r->good, r->judged));
	table_value(t, col[COL_GOOD], (double)r->good);
	table_value(t, col[COL_OF], (double)r->judged);
	table_value(t, col[COL_LOW], low);
	table_value(t, col[COL_HIGH], high);
	table_value(t, col[COL_STEPS], mean(r->steps, r->count[CELL_DONE]));
	table_value(t, col[COL_TOKENS], mean(r->tokens, r->with_tokens));
	table_value(t, col[COL_DOLLARS], mean(r->dollars, r->with_cost));
	table_value(t, col[COL_SECONDS], mean(r->seconds, r->count[CELL_DONE]));
	table_value(t, col[COL_INFRA], (double)r->infra);
	table_value(t, col[COL_GIVEN_UP], (double)r->count[CELL_GIVEN_UP]);
	table_value(t, col[COL_RUNNING], (double)r->count[CELL_RUNNING]);
	table_value(t, col[COL_WAITING], (double)(r->count[CELL_WAITING] + r->count[CELL_INFRA]));
}

/* The row of @c, which is made when it is the first of its kind. */
static struct overview_row *row_of(struct overview_row **v, size_t *n, size_t *cap, struct map *at,
				   const struct journal_cell *c)
{
	auto_free char *name = mem_printf("%s,%s", c->agent, c->condition);
	uint64_t key = map_hash(name, strlen(name));
	size_t i = (size_t)(uintptr_t)map_get(at, key);

	if (!i) {
		MEM_GROW(*v, *cap, *n + 1);
		(*v)[*n] = (struct overview_row){ .agent = c->agent, .condition = c->condition };
		i = ++*n;
		map_put(at, key, (void *)(uintptr_t)i);
	}
	return &(*v)[i - 1];
}

void studytable_note(struct table *t, const struct journal_cells *cells)
{
	size_t count[CELL_STATES] = { 0 };

	for (size_t i = 0; i < cells->n; i++)
		count[cells->v[i].state]++;
	if (count[CELL_DONE] == cells->n)
		return;
	table_note(t,
		   "of %zu cells %zu have a result; %zu run, %zu wait, %zu wait after a fault of "
		   "the host, %zu were given up",
		   cells->n, count[CELL_DONE], count[CELL_RUNNING], count[CELL_WAITING],
		   count[CELL_INFRA], count[CELL_GIVEN_UP]);
}

struct table *studytable_overview(const struct journal_cells *cells,
				  const struct journal_sums *sums)
{
	struct table *t = table_new(STUDYTABLE_NAME, "The study by agent and condition");
	auto_free struct overview_row *v = NULL;
	size_t col[COLS], n = 0, cap = 0;
	struct map at = { 0 };

	columns(t, col);
	for (size_t i = 0; i < cells->n; i++)
		count(row_of(&v, &n, &cap, &at, &cells->v[i]), &cells->v[i]);
	for (size_t i = 0; i < n; i++)
		print_row(t, col, &v[i]);
	map_done(&at);
	studytable_note(t, cells);
	table_note(t,
		   "all attempts used %" PRIu64 " tokens and $%.4f%s; attempts: %" PRIu64
		   " done, %" PRIu64 " infra, %" PRIu64 " lost, %" PRIu64 " stopped, %" PRIu64
		   " ended by a limit of the study",
		   sums->tokens, (double)sums->micro_dollars / 1e6,
		   sums->unknown_cost ? " or more (some have no known price)" : "",
		   sums->attempts[ATTEMPT_DONE], sums->attempts[ATTEMPT_INFRA],
		   sums->attempts[ATTEMPT_LOST], sums->attempts[ATTEMPT_STOPPED],
		   sums->attempts[ATTEMPT_BUDGET]);
	return t;
}

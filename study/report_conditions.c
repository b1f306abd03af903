/* Tables with a line for each model under each condition: counts, behaviour after the edit, cost; and the
 * prices behind the costs. */
#include "study/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/behave.h"

/* Where a line belongs. */
struct place {
	size_t bench, row, cond;
};

/* Let @put write a line for every slice that has runs; @col: the column of the condition. */
static void each_slice(const struct report *rep, struct table *t, size_t col,
		       void (*put)(const struct report *rep, struct table *t, size_t col,
				   struct report_slice s, struct place at))
{
	for (size_t i = 0; i < rep->n;) {
		const struct report_item *x = rep->item + i;
		struct report_slice s = report_slice(rep, x->bench, x->row, (int)x->cond);

		put(rep, t, col, s, (struct place){ x->bench, x->row, x->cond });
		i += s.n;
	}
}

/* Begin a line: benchmark, model, condition. */
static void lead(const struct report *rep, struct table *t, size_t col, struct place at)
{
	report_lead(rep, t, at.bench, rep->row.v[at.row], false);
	table_words(t, col, rep->cond[at.cond].name);
}

static size_t head(const struct report *rep, struct table *t)
{
	report_head(rep, t);
	return table_col(t, NULL, "condition", "Condition", TABLE_WORDS, 0, 0);
}

/* --- runs --- */

static void put_runs(const struct report *rep, struct table *t, size_t col, struct report_slice s,
		     struct place at)
{
	struct report_figures f;

	report_figures(rep, s, &f);
	lead(rep, t, col++, at);
	table_value(t, col++, (double)f.runs);
	for (int v = 0; v <= RESULT_NONE; v++)
		table_value(t, col++, (double)f.verdicts[v]);
	table_value(t, col++, (double)f.cut);
	if (rep->cond[at.cond].mode != MODE_VANILLA) {
		table_value(t, col, f.fired);
		table_value(t, col + 1, f.refused);
		table_value(t, col + 2, f.untouched);
	}
	table_value(t, col + 3, f.patch_lines);
	table_value(t, col + 4, f.patch_files);
}

struct table *report_runs(const struct report *rep, const char **ret_why)
{
	struct table *t = table_new("runs", "Runs by result, and what happened to them");
	size_t col = head(rep, t);

	(void)ret_why; /* there is a run, so there is a line */
	table_col(t, NULL, "runs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "resolved", "Resolved", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "unresolved", "Unresolved", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "invalid", "Invalid", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "infra", "Infra", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "ungraded", "Not graded", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "cut", "Cut short", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "fired", "Fired", TABLE_REAL, 2, 0);
	table_col(t, NULL, "refused", "Refused", TABLE_REAL, 2, 0);
	table_col(t, NULL, "untouched", "Untouched (%)", TABLE_REAL, 1, 0);
	table_col(t, NULL, "patch_lines", "Patch lines", TABLE_REAL, 1, 0);
	table_col(t, NULL, "patch_files", "Files", TABLE_REAL, 2, 0);
	each_slice(rep, t, col, put_runs);
	table_note(
		t,
		"Cut short: ended by a limit or by an error, not by itself. Fired, refused and patch: means without infra. "
		"Untouched: of the runs with a result, those in which nothing fired.");
	return t;
}

/* --- behaviour --- */

static double share(size_t part, size_t all)
{
	return all ? 100.0 * (double)part / (double)all : NAN;
}

static void put_behaviour(const struct report *rep, struct table *t, size_t col,
			  struct report_slice s, struct place at)
{
	size_t modes[RESPONSE_REPLACED + 1] = { 0 }, known = 0, n = 0;
	double reads = 0, edits = 0, tests = 0;

	for (size_t i = 0; i < s.n; i++) {
		const struct result *r = s.v[i].r;

		for (int m = RESPONSE_KEPT; m <= RESPONSE_REPLACED; m++) {
			bool is = strcmp(r->response, response_name((enum response)m)) == 0;

			modes[m] += is;
			known += is;
		}
		if (!r->has_after)
			continue;
		n++;
		reads += (double)r->reads_after;
		edits += (double)r->edits_after;
		tests += (double)r->tests_after;
	}
	if (!n && !known)
		return;
	lead(rep, t, col++, at);
	table_value(t, col++, (double)n);
	table_value(t, col++, n ? reads / (double)n : NAN);
	table_value(t, col++, n ? edits / (double)n : NAN);
	table_value(t, col++, n ? tests / (double)n : NAN);
	table_value(t, col++, (double)known);
	for (int m = RESPONSE_KEPT; m <= RESPONSE_REPLACED; m++)
		table_value(t, col++, share(modes[m], known));
}

struct table *report_behaviour(const struct report *rep, const char **ret_why)
{
	struct table *t =
		table_new("behaviour",
			  "What agents did after the last user edit (means), and what became "
			  "of the edit (per cent)");
	const char *after = "After the edit", *edit = "The edit was";
	size_t col = head(rep, t);

	table_col(t, after, "runs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, after, "reads", "Reads", TABLE_REAL, 2, 0);
	table_col(t, after, "edits", "Edits", TABLE_REAL, 2, 0);
	table_col(t, after, "tests", "Tests", TABLE_REAL, 2, 0);
	table_col(t, edit, "runs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, edit, "kept", "kept", TABLE_REAL, 1, 0);
	table_col(t, edit, "revised", "revised", TABLE_REAL, 1, 0);
	table_col(t, edit, "reverted", "reverted", TABLE_REAL, 1, 0);
	table_col(t, edit, "replaced", "replaced", TABLE_REAL, 1, 0);
	each_slice(rep, t, col, put_behaviour);
	if (table_rows(t))
		return t;
	*ret_why = "no run says what the agent did after an edit";
	return table_free(t);
}

/* --- cost --- */

static void put_cost(const struct report *rep, struct table *t, size_t col, struct report_slice s,
		     struct place at)
{
	struct report_figures f;

	report_figures(rep, s, &f);
	lead(rep, t, col++, at);
	table_value(t, col++, (double)f.runs);
	table_value(t, col++, f.input);
	table_value(t, col++, f.cached);
	table_value(t, col++, f.output);
	table_value(t, col++, f.dollars);
	table_value(t, col++, f.dollars_sum);
	/* One run of unknown cost makes this unknown. */
	table_value(t, col++,
		    f.verdicts[RESULT_RESOLVED] && !f.dollars_unknown
			    ? f.dollars_sum / (double)f.verdicts[RESULT_RESOLVED]
			    : NAN);
	table_value(t, col, (double)f.dollars_unknown);
}

struct table *report_costs(const struct report *rep, const char **ret_why)
{
	struct table *t = table_new("cost", "Tokens (thousands) and dollars, means over runs");
	size_t col = head(rep, t);

	(void)ret_why; /* there is a run, so there is a line */
	table_col(t, NULL, "runs", "Runs", TABLE_WHOLE, 0, 0);
	table_col(t, NULL, "input_k", "Input (K)", TABLE_REAL, 1, TABLE_UNKNOWN);
	table_col(t, NULL, "cached_k", "of it cached", TABLE_REAL, 1, TABLE_UNKNOWN);
	table_col(t, NULL, "output_k", "Output (K)", TABLE_REAL, 1, TABLE_UNKNOWN);
	table_col(t, NULL, "dollars", "$ per run", TABLE_REAL, 4, TABLE_UNKNOWN);
	table_col(t, NULL, "dollars_sum", "$ in all", TABLE_REAL, 2, TABLE_UNKNOWN);
	table_col(t, NULL, "dollars_per_resolved", "$ per resolved run", TABLE_REAL, 4,
		  TABLE_UNKNOWN);
	table_col(t, NULL, "unknown", "Cost unknown", TABLE_WHOLE, 0, TABLE_QUIET);
	each_slice(rep, t, col, put_cost);
	if (rep->o->recompute)
		table_note(t, "Dollars by the prices of %s (SHA-256 %s).", rep->o->prices->file,
			   rep->o->prices->sha256);
	table_note(t, "A run of unknown cost counts in no sum and no mean.");
	return t;
}

/* --- table 7 --- */

struct table *report_prices(const struct report *rep, const char **ret_why)
{
	const struct prices *p = rep->o->prices;
	struct table *t;
	const double scale = 1e6;

	if (!p) {
		*ret_why = "no prices were read";
		return NULL;
	}
	t = table_new("7", "Prices in dollars per million tokens");
	table_col(t, NULL, "model", "Model", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "input", "In ($/M)", TABLE_REAL, 3, TABLE_UNKNOWN);
	table_col(t, NULL, "output", "Out ($/M)", TABLE_REAL, 3, TABLE_UNKNOWN);
	table_col(t, NULL, "cached", "Cached ($/M)", TABLE_REAL, 3, TABLE_UNKNOWN);
	table_col(t, NULL, "date", "Date", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "source", "Source", TABLE_WORDS, 0, 0);
	strv_each (row, &rep->model) {
		const struct price *one = prices_find(p, rep->model.v[row]);

		table_row(t, false);
		table_words(t, 0, rep->model.v[row]);
		if (!one)
			continue;
		table_value(t, 1, (double)one->input / scale);
		table_value(t, 2, (double)one->output / scale);
		table_value(t, 3, (double)one->cached / scale);
		table_words(t, 4, one->date ? one->date : "");
		table_words(t, 5, one->source ? one->source : "");
	}
	table_note(t, "Prices of %s (SHA-256 %s).", p->file, p->sha256);
	return t;
}

#include "supervisor/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/protocol.h"
#include "study/report.h"
#include "study/shift.h"
#include "study/studytable.h"

#define DRAWS 10000u /* resamples of the bootstrap */

struct opts {
	const char *table, *condition, *prices, *out, *results, *tasks, *counts;
	struct strv benchmarks, sizes;
	uint64_t seed;
	int format; /* enum table_format */
	bool force_pairs;
};

static const struct opt_row rows[] = {
	{ 't', "table", OPT_STR, offsetof(struct opts, table), "NAME",
	  "study, runs, 2, 3, 4, 5, 7, 10, tests, failures, behaviour, cost; of pairs: pairs, families, positions, "
	  "grid, ladder, sweep, versus, checks, invalid, after, missing, scenarios, cells; figures, paths; or all "
	  "but the last two (default)" },
	{ 'f', "format", OPT_ENUM, offsetof(struct opts, format), "FORMAT",
	  "how it is printed (default text)", table_formats },
	{ 'b', "benchmark", OPT_LIST, offsetof(struct opts, benchmarks), "NAME",
	  "only runs of this benchmark; runs that name none count to the first one given" },
	{ 'c', "condition", OPT_STR, offsetof(struct opts, condition), "NAME",
	  "what is set against vanilla, such as \"edit+message (K=3)\"" },
	{ 'p', "prices", OPT_STR, offsetof(struct opts, prices), "FILE",
	  "work out dollars anew from tokens by this price file, \"shipped\" for the shipped one" },
	{ 0, "sizes", OPT_LIST, offsetof(struct opts, sizes), "FILE|DIR",
	  "scenarios whose patch sizes table 2 shows" },
	{ 0, "tasks", OPT_STR, offsetof(struct opts, tasks), "FILE|DIR",
	  "their tasks (default: task.json beside each scenario)" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "FILE|DIR/",
	  "write there; a directory gets one file for each table" },
	{ 0, "results", OPT_STR, offsetof(struct opts, results), "FILE",
	  "write the results as one record a line (proctor.result/1), - for standard output" },
	{ 0, "counts", OPT_STR, offsetof(struct opts, counts), "FILE",
	  "write the pairs as a plain table of counts (proctor.paircounts/1), - for standard output" },
	{ 0, "seed", OPT_U64, offsetof(struct opts, seed), "N", "of the bootstrap (default 1)" },
	{ 0, "force-pairs", OPT_FLAG, offsetof(struct opts, force_pairs), NULL,
	  "count runs as pairs although their plans differ in more than the condition" },
	{ 0 },
};

/* Everything that is read; freed in one place. */
struct work {
	struct results results;
	struct report_options ro;
	struct report_sizes sizes;
	struct prices *prices;
	struct report *report;
	struct shift_pairs pairs;
	struct shift *shift;
	struct protocol_runs protocol;
	bool study; /* what was given is one; then: */
	struct journal_cells cells;
	struct journal_sums sums;
};

static void work_done(struct work *w)
{
	report_free(w->report);
	shift_free(w->shift);
	protocol_done(&w->protocol);
	shift_pairs_done(&w->pairs);
	report_sizes_done(&w->sizes);
	prices_free(w->prices);
	results_done(&w->results);
	journal_cells_done(&w->cells);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int put(const char *path, const struct buf *text, struct err *err)
{
	if (text->full)
		return err_set(err, ERR_LIMIT, "the report is larger than %u MiB; report on less",
			       TABLE_BYTES_MAX >> 20);
	if (!path || strcmp(path, "-") == 0)
		return cmd_print(text) == 0 ? 0 : err_set(err, ERR_SYS, "cannot write the report");
	return fd_replace_file(path, buf_str(text), text->len, err);
}

static int read_sizes(const struct opts *o, struct work *w, struct err *err)
{
	struct taskset tasks = { 0 };
	int rc = o->tasks ? taskset_load(o->tasks, &tasks, err) : 0;

	for (size_t i = 0; rc == 0 && i < o->sizes.n; i++)
		rc = report_sizes_add(&w->sizes, o->sizes.v[i], o->tasks ? &tasks : NULL, err);
	taskset_done(&tasks);
	return rc;
}

static int write_results(const struct opts *o, const struct work *w, struct err *err)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

	if (!o->results)
		return 0;
	for (size_t i = 0; i < w->results.n; i++)
		result_print(w->results.v + i, &text);
	return put(o->results, &text, err);
}

static int write_counts(const struct opts *o, const struct work *w, struct err *err)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

	if (!o->counts)
		return 0;
	shift_counts(&w->pairs, &text);
	return put(o->counts, &text, err);
}

/* A study, as far as it has got: what counts is what its journal says. */
static int read_study(const char *path, struct work *w, struct err *err)
{
	struct journal *j = NULL;
	int rc = w->study ? err_set(err, ERR_USAGE, "report: give one study at a time")
			  : journal_open(path, false, &j, err);

	if (rc == 0)
		rc = journal_cells(j, &w->cells, err);
	if (rc == 0)
		rc = journal_sums(j, &w->sums, err);
	if (rc == 0)
		rc = studytable_results(path, &w->cells, &w->results, err);
	if (rc == 0)
		rc = studytable_pairs(path, &w->cells, &w->pairs, err);
	w->study |= rc == 0;
	journal_close(j);
	return rc;
}

/* Pairs and runs of @path. A directory may hold both; a file holds one of them. */
static int read_path(const char *path, struct work *w, struct err *err)
{
	size_t pairs = w->pairs.n, unfinished = w->pairs.unfinished;
	int rc;

	if (is_dir(path) && journal_is_study(path))
		return read_study(path, w, err);
	rc = shift_load(path, &w->pairs, err);

	if (rc < 0 || (w->pairs.n > pairs && !is_dir(path)))
		return rc;
	if (w->pairs.n > pairs || w->pairs.unfinished > unfinished)
		return results_find(path, &w->results, err);
	return results_load(path, &w->results, err);
}

/* Is @name a table of figures or histories? */
static bool of_protocol(const char *name)
{
	for (size_t i = 0; name && protocol_tables[i]; i++)
		if (strcmp(name, protocol_tables[i]) == 0)
			return true;
	return false;
}

/* Those tables are made of the run directories themselves: a record of results does not hold what they show. */
static int read_protocol(struct work *w, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->results.n; i++)
		if (is_dir(w->results.v[i].source))
			rc = protocol_add(w->results.v[i].source, &w->protocol, err);
	return rc;
}

/* Group what was read. Patch sizes need neither runs nor pairs. */
static int group(const struct strv *paths, struct work *w, struct err *err)
{
	const struct shift_options so = { .seed = w->ro.seed, .draws = w->ro.draws };
	int rc = 0;

	if (w->pairs.n)
		rc = shift_new(&w->pairs, &so, &w->shift, err);
	if (rc == 0 && (w->results.n || (!w->study && !w->pairs.n && (paths->n || !w->sizes.n))))
		rc = report_new(&w->results, &w->ro, &w->report, err);
	return rc;
}

/* Prices are needed to work out dollars, and for table 7 by itself. */
static int read_prices(const struct opts *o, struct work *w, struct err *err)
{
	bool shipped = !o->prices || strcmp(o->prices, "shipped") == 0;
	int rc = 0;

	if (o->prices || (o->table && strcmp(o->table, "7") == 0))
		rc = prices_load(shipped ? NULL : o->prices, &w->prices, err);
	w->ro.prices = w->prices;
	w->ro.recompute = o->prices != NULL;
	return rc;
}

static int gather(const struct opts *o, const struct strv *paths, struct work *w, struct err *err)
{
	int rc = 0;

	w->ro.benchmarks = o->benchmarks; /* borrowed */
	w->ro.condition = o->condition;
	w->ro.force_pairs = o->force_pairs;
	w->ro.seed = o->seed ? o->seed : 1;
	w->ro.draws = DRAWS;
	for (size_t i = 0; rc == 0 && i < paths->n; i++)
		rc = read_path(paths->v[i], w, err);
	if (rc == 0)
		rc = read_prices(o, w, err);
	if (rc == 0)
		rc = read_sizes(o, w, err);
	if (rc == 0)
		rc = write_results(o, w, err);
	if (rc == 0)
		rc = write_counts(o, w, err);
	if (rc == 0 && of_protocol(o->table))
		return read_protocol(w, err);
	return rc == 0 ? group(paths, w, err) : rc;
}

/* Table @name of the runs, or of the pairs. NULL with *ret_why. */
static struct table *one_table(const struct work *w, const char *name, bool of_pairs,
			       const char **ret_why)
{
	if (of_pairs && !w->shift) {
		*ret_why = "no pairs of continuations are given";
		return NULL;
	}
	if (of_pairs)
		return shift_table(w->shift, name, ret_why);
	if (!w->report && strcmp(name, "2") != 0) {
		*ret_why = "no runs are given";
		return NULL;
	}
	return report_table(w->report, name, &w->sizes, ret_why);
}

/* The overview of a study, when there is one and it is asked for. Returns how many tables, or negative. */
static int make_overview(const struct opts *o, const struct work *w, bool all, struct table **ret,
			 struct err *err)
{
	bool named = o->table && strcmp(o->table, STUDYTABLE_NAME) == 0;

	if (named && !w->study)
		return err_set(err, ERR_INPUT, "report: nothing for table %s: no study is given",
			       o->table);
	if (!w->study || !(all || named))
		return 0;
	*ret = studytable_overview(&w->cells, &w->sums);
	return 1;
}

/* The tables asked for, in their order: of the study, of runs, of pairs. Returns how many, or negative. */
static int make(const struct opts *o, const struct work *w, struct table **ret, size_t room,
		struct err *err)
{
	const char *const *names[] = { report_tables, shift_tables };
	bool all = !o->table || strcmp(o->table, "all") == 0;
	int n = make_overview(o, w, all, ret, err), first = n;

	if (n < 0)
		return n;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		for (size_t i = 0; names[k][i] && (size_t)n < room; i++) {
			const char *name = names[k][i], *why = NULL;

			if (all ? k && !shift_in_all(name) : strcmp(name, o->table) != 0)
				continue;
			ret[n] = one_table(w, name, k > 0, &why);
			if (ret[n])
				n++;
			else if (!all)
				return err_set(err, ERR_INPUT, "report: nothing for table %s: %s",
					       name, why);
		}
	}
	for (int i = first; w->study && i < n; i++)
		studytable_note(ret[i], &w->cells);
	return n;
}

/* One page with all of them, each with its figure. */
static void print_page(const struct work *w, struct table *const *t, size_t n, struct buf *out)
{
	table_page_begin("Report", out);
	for (size_t i = 0; i < n; i++) {
		table_print(t[i], TABLE_HTML, out);
		if (w->shift)
			shift_figure(w->shift, table_name(t[i]), out);
	}
	table_page_end(out);
}

static int write_dir(const struct opts *o, const struct work *w, struct table *const *t, size_t n,
		     struct err *err)
{
	static const char *const endings[] = { "txt", "csv", "md", "tex", "json", "html" };
	int rc = fd_mkdirs(o->out, 0755, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		auto_free char *name =
			mem_printf("%s/table-%s.%s", o->out, table_name(t[i]), endings[o->format]);
		auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

		if (o->format == TABLE_HTML)
			print_page(w, t + i, 1, &text);
		else
			table_print(t[i], (enum table_format)o->format, &text);
		rc = put(name, &text, err);
	}
	return rc;
}

static void print_json(struct table *const *t, size_t n, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.report/1");
	json_open(&w, "tables", '[');
	for (size_t i = 0; i < n; i++)
		table_json(t[i], &w);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

static int print(const struct opts *o, const struct work *w, struct table *const *t, size_t n,
		 struct err *err)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

	if (o->out && (str_ends(o->out, "/") || is_dir(o->out)))
		return write_dir(o, w, t, n, err);
	if (o->format == TABLE_CSV && n > 1)
		return err_set(
			err, ERR_USAGE,
			"report: csv holds one table: name it with --table, or give --out DIR/ for "
			"a file each");
	if (o->format == TABLE_JSON)
		print_json(t, n, &text);
	else if (o->format == TABLE_HTML)
		print_page(w, t, n, &text);
	for (size_t i = 0; o->format < TABLE_JSON && i < n; i++) {
		buf_adds(&text, i ? "\n" : "");
		table_print(t[i], (enum table_format)o->format, &text);
	}
	return put(o->out, &text, err);
}

/* The one table of figures or histories that was asked for: 1, or negative. */
static int make_protocol(const struct opts *o, struct work *w, struct table **ret, struct err *err)
{
	const char *why = "";
	int rc;

	*ret = protocol_table(&w->protocol, o->table, &why, &rc, err);
	if (!*ret && rc == 0)
		rc = err_set(err, ERR_INPUT, "report: nothing for table %s: %s", o->table, why);
	return rc < 0 ? rc : 1;
}

static int tables(const struct opts *o, struct work *w, struct err *err)
{
	struct table *t[48] = { NULL };
	int n = of_protocol(o->table) ? make_protocol(o, w, t, err)
				      : make(o, w, t, ARRAY_SIZE(t) - 1, err);
	int rc = n < 0 ? n : print(o, w, t, (size_t)n, err);

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		table_free(t[i]);
	return rc;
}

/* A run by itself is told in words, or as its record. */
static int single(const struct opts *o, const struct work *w, struct err *err)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);
	const struct result *r = w->results.v;
	int rc = 0;

	if (o->format == TABLE_JSON)
		result_print(r, &text);
	else
		rc = report_run(r->source, r, &text, err);
	return rc < 0 ? rc : put(o->out, &text, err);
}

static int check(const struct opts *o, const struct strv *paths, struct err *err)
{
	const char *names[64] = { "all", STUDYTABLE_NAME };
	const char *near;
	size_t n = 2;

	if (!paths->n && !o->sizes.n)
		return err_set(
			err, ERR_USAGE,
			"report: give a run directory, a directory of runs or pairs, or a file of "
			"results or counts");
	if (!o->table || strcmp(o->table, "all") == 0)
		return 0;
	for (size_t i = 0; report_tables[i] && n + 1 < ARRAY_SIZE(names); i++)
		names[n++] = report_tables[i];
	for (size_t i = 0; shift_tables[i] && n + 1 < ARRAY_SIZE(names); i++)
		names[n++] = shift_tables[i];
	for (size_t i = 0; protocol_tables[i] && n + 1 < ARRAY_SIZE(names); i++)
		names[n++] = protocol_tables[i];
	for (size_t i = 0; i < n; i++) {
		if (strcmp(o->table, names[i]) == 0)
			return 0;
	}
	near = str_nearest(o->table, names);
	return err_set(err, ERR_USAGE, "report: unknown table \"%s\"%s%s%s; see --help", o->table,
		       near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int whole(void *arg, const struct strv *paths, struct err *err)
{
	const struct opts *o = arg;
	struct work w = { 0 };
	bool one = paths->n == 1 && is_dir(paths->v[0]) && !o->table && !o->sizes.n &&
		   (o->format == TABLE_TEXT || o->format == TABLE_JSON);
	int rc = check(o, paths, err);

	if (rc == 0)
		rc = gather(o, paths, &w, err);
	if (rc == 0 && one && w.results.n == 1 && !w.pairs.n && !w.study)
		rc = single(o, &w, err);
	else if (rc == 0)
		rc = tables(o, &w, err);
	work_done(&w);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };
	int status = cmd_main(cmd, argc, argv, &o, whole);

	strv_done(&o.benchmarks);
	strv_done(&o.sizes);
	return status;
}

const struct opt_cmd cmd_report = {
	.name = "report",
	.summary = "make tables of many runs, or tell one in a few lines",
	.synopsis = "[--table NAME] [--format FORMAT] RUN|DIR|STUDY|RESULTS...",
	.text = "One run directory: what happened in it. Several, a directory of them, or files of results\n"
		"(proctor.result/1, one record a line, - for standard input): tables. Pairs of continuations\n"
		"(pair.json below a directory, see proctor-fork(1)) and plain tables of counts\n"
		"(proctor.paircounts/1) have tables of their own. The directory of a study (proctor-study(1)) may be\n"
		"given at any time, also while it runs: cells that have no result yet stand beside the rest.\n"
		"\n"
		"study      of a study: successes, means, and cells without a result, by agent and condition\n"
		"runs       results, limits, interventions and patches by model and condition\n"
		"2          sizes of reference repairs and user edits (--sizes)\n"
		"3          resolve rate, steps and tokens under vanilla and the condition, retention, ranks\n"
		"4          several benchmarks side by side\n"
		"5          every condition against vanilla of the same repeats\n"
		"7          prices\n"
		"10         tasks by outcome under vanilla and the condition\n"
		"tests      exact McNemar test, Newcombe's interval, bootstrap over tasks\n"
		"failures   types of failure of runs that only vanilla solved\n"
		"behaviour  reads, edits and tests after the last user edit, and what became of it\n"
		"cost       tokens and dollars\n"
		"\n"
		"Of pairs:\n"
		"\n"
		"pairs      clean, shifted and paired success (PSR), conditional recovery (CRR) as both averages\n"
		"families   the same by family of change; positions: by position of the fork\n"
		"grid       PSR by family and position; cells: as counts\n"
		"ladder     by step of state access (fork --ladder); sweep: by token budget (fork --budget)\n"
		"versus     two systems on the same pairs: exact McNemar test, intervals\n"
		"checks     which strict check did not hold, by family and arm\n"
		"invalid    invalid pairs by reason; missing: cells without a valid pair\n"
		"after      tokens, time and actions behind the fork\n"
		"scenarios  by scenario\n"
		"\n"
		"By scenario, only when asked for:\n"
		"\n"
		"figures    user correction, questions, milestones, and what the scenario's figures say\n"
		"paths      histories of one contract: realisation, conditional path violation\n"
		"\n"
		"Rates count runs that are resolved or unresolved; invalid, infra and ungraded ones are shown\n"
		"beside. Runs pair by task, model and repeat; a pair whose plans differ in more than the\n"
		"condition is an error. CSV and JSON hold unrounded figures.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file or pair.\n",
	.rows = rows,
	.run = run,
};

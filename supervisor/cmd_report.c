#include "supervisor/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/report.h"

#define DRAWS 10000u /* resamples of the bootstrap */

struct opts {
	const char *table, *condition, *prices, *out, *results, *tasks;
	struct strv benchmarks, sizes;
	uint64_t seed;
	int format; /* enum table_format */
	bool force_pairs;
};

static const struct opt_row rows[] = {
	{ 't', "table", OPT_STR, offsetof(struct opts, table), "NAME",
	  "runs, 2, 3, 4, 5, 7, 10, tests, failures, behaviour, cost, or all (default)" },
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
};

static void work_done(struct work *w)
{
	report_free(w->report);
	report_sizes_done(&w->sizes);
	prices_free(w->prices);
	results_done(&w->results);
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
		rc = results_load(paths->v[i], &w->results, err);
	if (rc == 0)
		rc = read_prices(o, w, err);
	if (rc == 0)
		rc = read_sizes(o, w, err);
	if (rc == 0)
		rc = write_results(o, w, err);
	/* Patch sizes need no run. */
	if (rc == 0 && (paths->n || !w->sizes.n))
		rc = report_new(&w->results, &w->ro, &w->report, err);
	return rc;
}

/* The tables asked for, in their order. Returns how many, or negative. */
static int make(const struct opts *o, const struct work *w, struct table **ret, size_t room,
		struct err *err)
{
	bool all = !o->table || strcmp(o->table, "all") == 0;
	int n = 0;

	for (size_t i = 0; report_tables[i] && (size_t)n < room; i++) {
		const char *name = report_tables[i], *why = NULL;

		if (!all && strcmp(name, o->table) != 0)
			continue;
		if (!w->report && strcmp(name, "2") != 0)
			why = "no runs are given";
		else
			ret[n] = report_table(w->report, name, &w->sizes, &why);
		if (ret[n])
			n++;
		else if (!all)
			return err_set(err, ERR_INPUT, "report: nothing for table %s: %s", name,
				       why);
	}
	return n;
}

static int write_dir(const struct opts *o, struct table *const *t, size_t n, struct err *err)
{
	static const char *const endings[] = { "txt", "csv", "md", "tex", "json" };
	int rc = fd_mkdirs(o->out, 0755, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		auto_free char *name =
			mem_printf("%s/table-%s.%s", o->out, table_name(t[i]), endings[o->format]);
		auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

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

static int print(const struct opts *o, struct table *const *t, size_t n, struct err *err)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);

	if (o->out && (str_ends(o->out, "/") || is_dir(o->out)))
		return write_dir(o, t, n, err);
	if (o->format == TABLE_CSV && n > 1)
		return err_set(
			err, ERR_USAGE,
			"report: csv holds one table: name it with --table, or give --out DIR/ for "
			"a file each");
	if (o->format == TABLE_JSON)
		print_json(t, n, &text);
	for (size_t i = 0; o->format != TABLE_JSON && i < n; i++) {
		buf_adds(&text, i ? "\n" : "");
		table_print(t[i], (enum table_format)o->format, &text);
	}
	return put(o->out, &text, err);
}

static int tables(const struct opts *o, const struct work *w, struct err *err)
{
	struct table *t[32] = { NULL };
	int n = make(o, w, t, ARRAY_SIZE(t) - 1, err);
	int rc = n < 0 ? n : print(o, t, (size_t)n, err);

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
	const char *near;

	if (!paths->n && !o->sizes.n)
		return err_set(
			err, ERR_USAGE,
			"report: give a run directory, a directory of them, or a file of results");
	if (!o->table || strcmp(o->table, "all") == 0)
		return 0;
	for (size_t i = 0; report_tables[i]; i++) {
		if (strcmp(o->table, report_tables[i]) == 0)
			return 0;
	}
	near = str_nearest(o->table, report_tables);
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
	if (rc == 0 && one && w.results.n == 1)
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
	.synopsis = "[--table NAME] [--format FORMAT] RUN|DIR|RESULTS...",
	.text = "One run directory: what happened in it. Several, a directory of them, or files of results\n"
		"(proctor.result/1, one record a line, - for standard input): tables.\n"
		"\n"
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
		"Rates count runs that are resolved or unresolved; invalid, infra and ungraded ones are shown\n"
		"beside. Runs pair by task, model and repeat; a pair whose plans differ in more than the\n"
		"condition is an error. CSV and JSON hold unrounded figures.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file or pair.\n",
	.rows = rows,
	.run = run,
};

#include "supervisor/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/scenario.h"
#include "study/import_harbor.h"
#include "study/import_rows.h"
#include "study/import_swetouch.h"
#include "study/taskset.h"

#define ROUNDS_MAX 1000 /* as max_rounds of a scenario */

/* "co-edit" is left out: those scenarios are written anyway, each with its own edit. */
static const char *const modes[] = { "own", "vanilla", "edit+message", "edit", "message", NULL };

/* test.match of the tasks; "own": what the family's lists need. */
static const char *const matches[] = { "own", "exact", "swebench-compat", NULL };

struct opts {
	const char *out, *tasks, *rootfs, *image_map, *sources;
	const char *spec, *scripts, *only;
	int match; /* index into matches */
	uint64_t rounds;
	int mode; /* index into modes */
	bool accept_conflict, json, quiet;
};

static const struct opt_row rows[] = {
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR", "where the files go (needed)" },
	{ 0, "tasks", OPT_STR, offsetof(struct opts, tasks), "FILE|DIR",
	  "import only records of these tasks, under the tasks' names" },
	{ 0, "accept-apply-conflict", OPT_FLAG, offsetof(struct opts, accept_conflict), NULL,
	  "import also edits after which the reference no longer applies" },
	{ 'k', "rounds", OPT_U64, offsetof(struct opts, rounds), "K",
	  "rounds of each scenario (default: as recorded)" },
	{ 'm', "mode", OPT_ENUM, offsetof(struct opts, mode), "MODE",
	  "mode of each scenario (default: own, as recorded)", modes },
	{ 0, "rootfs", OPT_STR, offsetof(struct opts, rootfs), "ROOT",
	  "root file system of all tasks: host (default), dir:PATH, oci:LAYOUT or docker-archive:FILE; {instance_id} "
	  "and {image} are put in" },
	{ 0, "image-map", OPT_STR, offsetof(struct opts, image_map), "FILE",
	  "harbor: JSON object that gives the root file system of each image (or task)" },
	{ 0, "sources", OPT_STR, offsetof(struct opts, sources), "DIR",
	  "repositories of the tasks, as DIR/INSTANCE, DIR/OWNER/NAME, DIR/OWNER__NAME or DIR/NAME, each also with "
	  ".git or .bundle (harbor: and .tar, .tar.gz, .tar.xz)" },
	{ 0, "spec", OPT_STR, offsetof(struct opts, spec), "FILE",
	  "SWE-bench family: how tests are run, by repository and version (test-spec), before the shipped rows" },
	{ 0, "scripts", OPT_STR, offsetof(struct opts, scripts), "DIR",
	  "SWE-bench Pro: its run_scripts, DIR/INSTANCE/run_script.sh and parser.py" },
	{ 0, "match", OPT_ENUM, offsetof(struct opts, match), "MODE",
	  "SWE-bench family: how listed names are looked for (default: own, swebench-compat where the list was "
	  "made by SWE-bench's harness)",
	  matches },
	{ 0, "only", OPT_STR, offsetof(struct opts, only), "GLOB",
	  "SWE-bench family: only the instances that fit" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL,
	  "print import.json (harbor writes none)" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

static void print_names(const char *why, const struct strv *names)
{
	if (!names->n)
		return;
	printf("left out, %s: %zu\n", why, names->n);
	strv_each (i, names)
		printf("  %s\n", names->v[i]);
}

static void print_counts(const struct import_result *r)
{
	for (int b = 0; b < IMPORT_BENCHMARKS; b++) {
		const struct import_counts *c = &r->count[b];

		if (!c->records)
			continue;
		printf("%s: %" PRIu64 " records, %" PRIu64 " with patch, %" PRIu64
		       " text-only; imported %" PRIu64 "\n",
		       import_benchmark_name(b), c->records, c->with_patch, c->text_only,
		       c->imported);
		for (int s = 0; s < IMPORT_STATUSES; s++)
			if (c->status[s])
				printf("  %-32s %" PRIu64 "\n", import_status_name(s),
				       c->status[s]);
		for (size_t n = 1; n <= IMPORT_ROUNDS_MAX; n++)
			if (c->distinct[n])
				printf("  with %zu distinct round%s %*s %" PRIu64 "\n", n,
				       n == 1 ? "" : "s", n == 1 ? 11 : 10, "", c->distinct[n]);
	}
	print_names("the reference does not apply after the edit (--accept-apply-conflict)",
		    &r->conflicts);
	print_names("no task of that name", &r->no_task);
	print_names("a message alone does nothing in mode edit", &r->no_effect);
	printf("%" PRIu64 " scenarios and %" PRIu64 " co-edits written\n", r->scenarios,
	       r->co_edits);
}

static int report(const struct opts *o, const struct import_result *r)
{
	auto_buf text = BUF_INIT(64u << 20);

	if (o->json) {
		import_json(r, &text);
		return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	}
	if (!o->quiet)
		print_counts(r);
	return 0;
}

/* Index into modes to enum scenario_mode, -1 for "own". */
static int mode_of(int index)
{
	for (int m = MODE_VANILLA; m <= MODE_CO_EDIT; m++)
		if (strcmp(scenario_mode_name(m), modes[index]) == 0)
			return m;
	return -1;
}

static int swetouch(const struct opts *o, const struct strv *files, struct err *err)
{
	struct import_options io = { .out = o->out,
				     .accept_conflict = o->accept_conflict,
				     .rounds = o->rounds,
				     .mode = mode_of(o->mode) };
	struct import_result r = { .scenarios = 0 };
	struct taskset tasks = { .id = { 0 } };
	int rc = 0;

	if (o->tasks) {
		rc = taskset_load(o->tasks, &tasks, err);
		io.tasks = &tasks;
	}
	if (rc == 0)
		rc = import_swetouch(files, &io, &r, err);
	if (rc == 0)
		rc = report(o, &r);
	import_done(&r);
	taskset_done(&tasks);
	return rc;
}

static int harbor(const struct opts *o, const struct strv *dirs, struct err *err)
{
	struct harbor_options ho = { o->out, o->rootfs, o->image_map, o->sources };
	struct harbor_result r = { .tasks = 0 };
	int rc;

	if (o->rootfs && o->image_map)
		return err_set(err, ERR_USAGE, "import: give --rootfs or --image-map, not both");
	rc = harbor_import(dirs, &ho, &r, err);
	if (rc == 0 && !o->quiet) {
		strv_each (i, &r.notes) {
			auto_free char *safe = cmd_safe(r.notes.v[i]);

			printf("%s\n", safe);
		}
		printf("%zu tasks written\n", r.tasks);
	}
	harbor_result_done(&r);
	return rc;
}

static int print_rows(const struct opts *o, const struct rows_result *r)
{
	auto_buf text = BUF_INIT(64u << 20);

	if (o->json) {
		rows_json(r, &text);
		return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	}
	if (o->quiet)
		return 0;
	strv_each (i, &r->reasons) {
		auto_free char *safe = cmd_safe(r->reasons.v[i]);

		printf("%s\n", safe);
	}
	printf("%zu rows, %zu left out by --only; %zu tasks written, %zu of them can be graded as they are\n",
	       r->rows, r->left_out, r->ids.n, r->ids.n - r->not_gradable);
	return 0;
}

static int rows_of(const struct opts *o, const struct strv *files,
		   int (*import)(const struct strv *files, const struct rows_options *o,
				 struct rows_result *ret, struct err *err),
		   struct err *err)
{
	struct rows_options ro = { .out = o->out,
				   .sources = o->sources,
				   .spec = o->spec,
				   .scripts = o->scripts,
				   .rootfs = o->rootfs,
				   .match = o->match ? matches[o->match] : NULL,
				   .only = o->only };
	struct rows_result r = { .rows = 0 };
	int rc = import(files, &ro, &r, err);

	if (rc == 0)
		rc = print_rows(o, &r);
	rows_done(&r);
	return rc;
}

static int swebench(const struct opts *o, const struct strv *files, struct err *err)
{
	return rows_of(o, files, import_swebench, err);
}

static int multi(const struct opts *o, const struct strv *files, struct err *err)
{
	return rows_of(o, files, import_multi, err);
}

/* What can be imported: the first operand. */
static const struct {
	const char *name;
	int (*run)(const struct opts *o, const struct strv *files, struct err *err);
} formats[] = {
	{ "swe-bench", swebench },
	{ "multi-swe-bench", multi },
	{ "swe-touch", swetouch },
	{ "harbor", harbor },
};

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	const char *names[ARRAY_SIZE(formats) + 1] = { NULL }, *near;
	auto_buf list = BUF_INIT(4096);
	struct strv files = { 0 };
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		names[i] = formats[i].name;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	if (rest->n < 2)
		return err_set(err, ERR_USAGE, "import: give a format (%s) and at least one file",
			       buf_str(&list));
	if (!o->out)
		return err_set(err, ERR_USAGE, "import: --out DIR is needed");
	if (o->rounds > ROUNDS_MAX)
		return err_set(err, ERR_USAGE, "import: --rounds is at most %d", ROUNDS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(rest->v[0], formats[i].name) != 0)
			continue;
		for (size_t k = 1; k < rest->n; k++)
			strv_add(&files, rest->v[k]);
		rc = formats[i].run(o, &files, err);
		strv_done(&files);
		return rc;
	}
	near = str_nearest(rest->v[0], names);
	return err_set(err, ERR_USAGE, "import: unknown format \"%s\"%s%s%s", rest->v[0],
		       near ? ", did you mean \"" : "; known: ", near ? near : buf_str(&list),
		       near ? "\"?" : "");
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_import = {
	.name = "import",
	.summary = "make tasks and scenarios of other programs' files",
	.synopsis = "FORMAT FILE... --out DIR",
	.text = "swe-bench reads rows of SWE-bench and its relatives (JSON Lines, a list, a map by\n"
		"instance_id, or task directories of version 5), multi-swe-bench those of\n"
		"Multi-SWE-bench. Each becomes INSTANCE.task.json, and INSTANCE.extra.json with what a\n"
		"task cannot hold, so that export gives the row back. A row that cannot be graded as it is\n"
		"(no repository, no test command, ...) is written all the same and named with the reason, here\n"
		"and in import.json. A bad row is an error with file and line, and then nothing is written.\n"
		"\n"
		"harbor reads Harbor task directories (or directories of them) and writes for each\n"
		"INSTANCE.task.json, INSTANCE.extra.json, INSTANCE.harbor/ with the directory as it was, and\n"
		"INSTANCE.source/ when its Dockerfile copies the work tree. What is not carried over as it was\n"
		"is told.\n"
		"\n"
		"swe-touch reads SWE-Touch records (schema 1.0.0, one a line) and writes\n"
		"INSTANCE.scenario.json for each, INSTANCE.co-edit.json where its helpful edit has a patch,\n"
		"and import.json with the counts. Unknown, missing or contradictory fields are errors with\n"
		"file and line, and then nothing is written.\n"
		"\n"
		"A record whose reference does not apply after its edit shows nothing about both\n"
		"together; it is counted, named and left out unless --accept-apply-conflict is given.\n"
		"A text-only record becomes a scenario of messages on its regions.\n"
		"\n"
		"With --tasks a record's task is found by its name, or by its name without\n"
		"\"swebenchpro_\" or \"deepswe_\" in front; two tasks that fit are an error.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file, 6 too many tasks.\n",
	.rows = rows,
	.run = run,
};

#include "supervisor/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/scenario.h"
#include "study/import_swetouch.h"
#include "study/taskset.h"

#define ROUNDS_MAX 1000 /* as max_rounds of a scenario */

/* "co-edit" is left out: those scenarios are written anyway, each with its own edit. */
static const char *const modes[] = { "own", "vanilla", "edit+message", "edit", "message", NULL };

struct opts {
	const char *out, *tasks;
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
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print import.json" },
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

/* What can be imported: the first operand. */
static const struct {
	const char *name;
	int (*run)(const struct opts *o, const struct strv *files, struct err *err);
} formats[] = {
	{ "swe-touch", swetouch },
};

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	const char *names[ARRAY_SIZE(formats) + 1] = { NULL }, *near;
	struct strv files = { 0 };
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		names[i] = formats[i].name;
	if (rest->n < 2)
		return err_set(err, ERR_USAGE, "import: give a format (%s) and at least one file",
			       names[0]);
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
		       near ? ", did you mean \"" : "; known: ", near ? near : names[0],
		       near ? "\"?" : "");
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_import = {
	.name = "import",
	.summary = "make scenarios of released records",
	.synopsis = "swe-touch FILE... --out DIR",
	.text = "Reads SWE-Touch records (schema 1.0.0, one a line) and writes INSTANCE.scenario.json for\n"
		"each, INSTANCE.co-edit.json where its helpful edit has a patch, and import.json with\n"
		"the counts. Unknown, missing or contradictory fields are errors with file and line, and\n"
		"then nothing is written.\n"
		"\n"
		"A record whose reference does not apply after its edit shows nothing about both\n"
		"together; it is counted, named and left out unless --accept-apply-conflict is given.\n"
		"A text-only record becomes a scenario of messages on its regions.\n"
		"\n"
		"With --tasks a record's task is found by its name, or by its name without\n"
		"\"swebenchpro_\" or \"deepswe_\" in front; two tasks that fit are an error.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file.\n",
	.rows = rows,
	.run = run,
};

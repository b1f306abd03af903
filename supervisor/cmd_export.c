#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "study/export.h"

#define FORMATS_MAX 32

struct opts {
	const char *out, *tasks, *model, *run_id;
	bool quiet;
};

static const struct opt_row rows[] = {
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "FILE|DIR",
	  "where the result goes: a file (default: standard output), or the directory for formats "
	  "that write several files" },
	{ 't', "tasks", OPT_STR, offsetof(struct opts, tasks), "FILE|DIR",
	  "swe-bench-summary: all tasks, so that those without a result are named" },
	{ 'm', "model", OPT_STR, offsetof(struct opts, model), "NAME",
	  "name of the model that made all results (default: as recorded)" },
	{ 0, "run-id", OPT_STR, offsetof(struct opts, run_id), "NAME",
	  "harbor, inspect, junit: name of the whole (default: proctor)" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

static int unknown(const char *name, struct err *err)
{
	const char *names[FORMATS_MAX] = { NULL }, *near;
	auto_buf list = BUF_INIT(4096);

	for (size_t i = 0; i + 1 < ARRAY_SIZE(names) && export_formats[i].name; i++) {
		names[i] = export_formats[i].name;
		buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	if (!name)
		return err_set(err, ERR_USAGE, "export: give a format (%s) and at least one input",
			       buf_str(&list));
	near = str_nearest(name, names);
	return err_set(err, ERR_USAGE, "export: unknown format \"%s\"%s%s%s; formats are %s", name,
		       near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "",
		       buf_str(&list));
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	const struct export_format *f = rest->n ? export_find(rest->v[0]) : NULL;
	struct export_job job = { .tasks = o->tasks, .model = o->model, .run_id = o->run_id };
	auto_buf text = BUF_INIT(EXPORT_TEXT_MAX);
	auto_strv inputs = { 0 };
	int rc;

	if (!f || rest->n < 2)
		return unknown(f || !rest->n ? NULL : rest->v[0], err);
	if (f->directory && !o->out)
		return err_set(err, ERR_USAGE, "export: %s writes several files: give --out DIR",
			       f->name);
	for (size_t i = 1; i < rest->n; i++)
		strv_add(&inputs, rest->v[i]);
	job.inputs = &inputs;
	job.out = f->directory ? o->out : NULL;
	rc = f->run(&job, &text, err);
	if (rc == 0 && text.full)
		rc = err_set(err, ERR_LIMIT, "export: the result is larger than 1G");
	if (rc < 0)
		return rc;
	if (!f->directory && o->out)
		return fd_replace_file(o->out, buf_str(&text), text.len, err);
	if (f->directory && o->quiet)
		return 0;
	return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_export = {
	.name = "export",
	.summary = "write tasks and results in the forms of other programs",
	.synopsis = "FORMAT INPUT... [--out FILE|DIR]",
	.text = "From task files: swe-bench and multi-swe-bench give back the rows that they were imported\n"
		"from, without loss, with what was changed in the task since; harbor-task gives back the\n"
		"directories that tasks were imported from.\n"
		"\n"
		"From results, which are run directories or what grade left (one result, or a directory of\n"
		"many): swe-bench-report, swe-bench-summary, swe-bench-predictions,\n"
		"multi-swe-bench-report, ctrf, junit, csv, harbor (a job directory) and inspect (an eval\n"
		"log). A result that is infra or invalid is an error there and never counts as unresolved.\n"
		"\n"
		"From run directories: atif, the trajectory.\n"
		"\n"
		"The formats are in docs/formats.md.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file, 6 too large.\n",
	.rows = rows,
	.run = run,
};

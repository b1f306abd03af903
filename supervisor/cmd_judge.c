#include "supervisor/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tracerec.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "study/table.h"
#include "supervisor/tracetext.h"
#include "verifier/strict.h"

enum { CITED_MAX = 20000 };

#define TEXT_MAX (64u << 20)

struct opts {
	const char *scenario, *task;
	bool explain, json;
};

static const struct opt_row rows[] = {
	{ 's', "scenario", OPT_STR, offsetof(struct opts, scenario), "FILE",
	  "scenario with the checks (default: the one that run.json names)" },
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task (default: the file that run.json names)" },
	{ 'e', "explain", OPT_FLAG, offsetof(struct opts, explain), NULL,
	  "print what each part asked, the window, and the records that answer; operands behind RUN "
	  "choose rows" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print strict.json" },
	{ 0 },
};

/* Life of one call. */
struct job {
	const struct opts *o;
	const struct strv *rest;
	struct strict_result r;
	struct map line; /* record number -> its line as trace prints it; owned texts */
	size_t n_lines;
	struct buf text;
};

/* A string of run.json: "task" "file"; NULL when absent. Caller frees. */
static char *named(const struct json_src *run, const char *group, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(run->root, group);
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
	char *copy = mem_strdup(s);

	if (copy)
		(void)json_unescape_bytes(copy); /* a NUL byte ends it: no path holds one */
	return copy;
}

/* A file that the run was made with, relative to where proctor was then. Takes @file; caller frees. */
static char *beside(const struct json_src *run, char *file)
{
	auto_free char *cwd = named(run, "request", "cwd"), *name = file;

	return name && cwd ? path_join(cwd, name) : take_ptr(&name);
}

static int load_inputs(const struct opts *o, const char *dir, struct task **task,
		       struct scenario **sc, struct err *err)
{
	auto_free char *path = NULL, *task_file = NULL, *sc_file = NULL;
	struct json_src run = { 0 };
	int rc = cmd_run_file(dir, "run.json", &path, err);

	if (rc == 0)
		rc = json_load(path, &run, err);
	if (rc < 0)
		return rc;
	task_file = o->task ? mem_strdup(o->task) : named(&run, "task", "file");
	if (o->scenario)
		sc_file = mem_strdup(o->scenario);
	else
		sc_file = beside(&run, named(&run, "request", "scenario"));
	json_src_done(&run);
	if (task_file) {
		rc = task_load(task_file, task, err);
		if (rc < 0)
			return err_wrap(err, "%s: its task%s", dir,
					o->task ? "" : " (say --task when it has moved)");
	}
	if (sc_file) {
		rc = scenario_load(sc_file, sc, err);
		if (rc < 0)
			return err_wrap(err, "%s: its scenario%s", dir,
					o->scenario ? "" : " (say --scenario when it has moved)");
	}
	return rc;
}

/* A record that a part cites is wanted. */
static void want(struct job *j, const struct pred_records *r)
{
	for (size_t i = 0; i < r->n && j->n_lines < CITED_MAX; i++) {
		if (map_get(&j->line, r->v[i]))
			continue;
		map_put(&j->line, r->v[i], mem_strdup("(this record is not in the trace)\n"));
		j->n_lines++;
	}
}

static void want_bound(struct job *j, uint64_t n)
{
	struct pred_records one = { .v = { n }, .n = n && n != UINT64_MAX };

	want(j, &one);
}

static void want_parts(struct job *j, const struct pred_finding *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct pred_part *p = &f->v[i];

		want(j, &p->records);
		want(j, &p->outside);
		want_bound(j, p->windowed ? p->after : 0);
		want_bound(j, p->windowed ? p->before : 0);
	}
}

static void want_row(struct job *j, const struct strict_row *row)
{
	want(j, &row->records);
	want_parts(j, &row->parts);
}

static int each_record(const cJSON *rec, void *arg)
{
	struct job *j = arg;
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(rec, "n");
	auto_buf line = BUF_INIT(1u << 20);
	uint64_t no = cJSON_IsNumber(n) && n->valuedouble >= 1 && n->valuedouble < 1e15
			      ? (uint64_t)n->valuedouble
			      : 0;

	if (!no || !map_get(&j->line, no))
		return 0;
	tracetext_add(&line, rec);
	free(map_get(&j->line, no));
	map_put(&j->line, no, buf_steal(&line, NULL));
	return 0;
}

static void say_line(struct job *j, const char *what, uint64_t n)
{
	const char *s = map_get(&j->line, n);

	buf_addf(&j->text, "        %s %llu  %s", what, (unsigned long long)n, s ? s : "\n");
}

static void say_part(struct job *j, const struct pred_part *p)
{
	struct buf *b = &j->text;

	buf_addf(b, "    %*s%s ", (int)(p->depth * 2), "", p->ok ? "ok  " : "FAIL");
	table_safe(b, p->asked);
	buf_addf(b, "\n    %*s     ", (int)(p->depth * 2), "");
	table_safe(b, p->reason ? p->reason : "");
	buf_addc(b, '\n');
	if (p->windowed && p->after)
		say_line(j, "behind  ", p->after);
	for (size_t i = 0; i < p->records.n; i++)
		say_line(j, "record  ", p->records.v[i]);
	if (p->records.total > p->records.n)
		buf_addf(b, "        ... and %llu more\n",
			 (unsigned long long)(p->records.total - p->records.n));
	if (p->windowed && p->before != UINT64_MAX)
		say_line(j, "in front", p->before);
	for (size_t i = 0; !p->ok && i < p->outside.n; i++)
		say_line(j, "outside ", p->outside.v[i]);
}

/* No operand behind RUN, or one of them is @name. */
static bool chosen(const struct job *j, const char *name)
{
	bool any = j->rest->n < 2;

	for (size_t i = 1; i < j->rest->n; i++)
		any |= strcmp(j->rest->v[i], name) == 0;
	return any;
}

static void say_row(struct job *j, const struct strict_row *row)
{
	struct buf *b = &j->text;

	if (!chosen(j, row->name))
		return;
	buf_addf(b, "  %-18s%-5s", row->name, !row->applies ? "-" : row->ok ? "ok" : "FAIL");
	table_safe(b, row->reason ? row->reason : "");
	for (size_t i = 0; i < row->records.n && !j->o->explain; i++)
		buf_addf(b, "%s%llu", i ? ", " : " [records ",
			 (unsigned long long)row->records.v[i]);
	buf_adds(b, row->records.n && !j->o->explain ? "]\n" : "\n");
	if (!j->o->explain)
		return;
	for (size_t i = 0; i < row->parts.n; i++)
		say_part(j, &row->parts.v[i]);
	for (size_t i = 0; i < row->records.n && !row->parts.n; i++)
		say_line(j, "record  ", row->records.v[i]);
}

static void say_figures(struct job *j)
{
	const struct strict_result *r = &j->r;
	struct buf *b = &j->text;

	for (size_t i = 0; i < r->n_figures; i++) {
		const struct strict_figure *f = &r->figure[i];
		double value = strict_figure_value(f);

		buf_adds(b, "figure ");
		table_safe(b, f->name);
		buf_addf(b, ": %llu", (unsigned long long)f->count);
		if (f->rate)
			buf_addf(b, " of %llu", (unsigned long long)f->of);
		if (f->rate && value >= 0)
			buf_addf(b, ", %.3f", value);
		buf_addc(b, '\n');
		for (size_t k = 0; j->o->explain && chosen(j, "figures") && k < f->parts.n; k++)
			say_part(j, &f->parts.v[k]);
	}
}

static void report(struct job *j, const char *dir)
{
	const struct strict_result *r = &j->r;
	struct buf *b = &j->text;

	table_safe(b, dir);
	buf_addf(b, ": %s arm, goal ", strict_arm_name(r->arm));
	table_safe(b, r->goal);
	buf_adds(b, ", verifier ");
	table_safe(b, r->verifier);
	buf_addf(b, "\nprotocol: %s\n", r->valid ? "valid" : "INVALID");
	for (size_t i = 0; i < STRICT_VALID_MAX; i++)
		say_row(j, &r->rule[i]);
	buf_adds(b, "evidence:\n");
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		say_row(j, &r->check[i]);
	if (r->has_milestones)
		buf_addf(b, "milestones: %llu of %llu, similarity %.3f\n",
			 (unsigned long long)r->matched, (unsigned long long)r->of, r->similarity);
	for (size_t i = 0; j->o->explain && chosen(j, "milestones") && i < r->milestones.n; i++)
		say_part(j, &r->milestones.v[i]);
	say_figures(j);
	buf_addf(b, "strict success: %s\n", r->success ? "yes" : "no");
}

/* The names that may stand behind RUN. */
static int check_rows(const struct strv *rest, struct err *err)
{
	const char *names[STRICT_VALID_MAX + STRICT_CHECK_MAX + 3];
	size_t n = 0;

	for (size_t i = 0; i < STRICT_VALID_MAX; i++)
		names[n++] = strict_valid_name((enum strict_valid)i);
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		names[n++] = strict_check_name((enum strict_check)i);
	names[n++] = "milestones";
	names[n++] = "figures";
	names[n] = NULL;
	for (size_t i = 1; i < rest->n; i++) {
		const char *near = str_nearest(rest->v[i], names);
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known |= strcmp(names[k], rest->v[i]) == 0;
		if (!known)
			return err_set(err, ERR_USAGE, "judge: no row \"%s\"%s%s%s", rest->v[i],
				       near ? ", did you mean \"" : "", near ? near : "",
				       near ? "\"?" : "");
	}
	return 0;
}

/* The lines of all records that are cited. */
static int collect(struct job *j, const char *dir, struct err *err)
{
	auto_free char *path = path_join(dir, "trace.jsonl");
	bool cut;

	for (size_t i = 0; i < STRICT_VALID_MAX; i++)
		want_row(j, &j->r.rule[i]);
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		want_row(j, &j->r.check[i]);
	want_parts(j, &j->r.milestones);
	for (size_t i = 0; i < j->r.n_figures; i++)
		want_parts(j, &j->r.figure[i].parts);
	return tracerec_read(path, each_record, j, &cut, err);
}

static int write_result(struct job *j, const char *dir, struct err *err)
{
	auto_free char *path = path_join(dir, "strict.json");
	auto_buf file = BUF_INIT(TEXT_MAX);
	int rc;

	strict_json(&j->r, &file);
	rc = fd_replace_file(path, buf_str(&file), file.len, err);
	if (rc == 0 && j->o->json)
		buf_add(&j->text, buf_str(&file), file.len);
	return rc;
}

static int judge(struct job *j, const char *dir, struct err *err)
{
	struct task *task = NULL;
	struct scenario *sc = NULL;
	int rc = load_inputs(j->o, dir, &task, &sc, err);
	struct strict_request req = { .dir = dir, .scenario = sc, .task = task };

	if (rc == 0)
		rc = strict_judge(&req, &j->r, err);
	scenario_free(sc);
	task_free(task);
	if (rc == 0)
		rc = write_result(j, dir, err);
	if (rc == 0 && j->o->explain && !j->o->json)
		rc = collect(j, dir, err);
	if (rc < 0)
		return rc;
	if (!j->o->json)
		report(j, dir);
	if (j->text.full)
		return err_set(err, ERR_LIMIT,
			       "judge: more than 64 MiB to print; strict.json has all of it");
	rc = cmd_print(&j->text) == 0 ? 0 : -ERR_SYS;
	return rc < 0 ? rc : !j->r.success;
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	struct job j = { .o = o, .rest = rest, .text = BUF_INIT(TEXT_MAX) };
	int rc;

	if (!rest->n)
		return err_set(err, ERR_USAGE, "judge: give one run directory");
	rc = check_rows(rest, err);
	if (rc == 0)
		rc = judge(&j, rest->v[0], err);
	map_each (s, &j.line)
		free(s->val);
	map_done(&j.line);
	strict_done(&j.r);
	buf_done(&j.text);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_judge = {
	.name = "judge",
	.summary = "judge a run by the evidence in its trace",
	.synopsis = "[--scenario FILE] [--task FILE] [--explain] [--json] RUN [ROW...]",
	.text = "Strict success of a graded run: was the protocol kept (trace, fork, prefix, update, end, patch,\n"
		"verdict), and does every check of the scenario hold that applies to this arm (task,\n"
		"preservation, prohibited, authority, fresh_observation, recovery_order)? Writes strict.json\n"
		"into RUN. Grade the run first.\n"
		"\n"
		"--explain shows for each part of a check what was asked, the window of the trace it was looked\n"
		"for in, the records that answer, as trace prints them, and those that match outside of the\n"
		"window. ROW limits it to rows of that name.\n"
		"\n"
		"Exit status: 0 strict success, 1 none, 2 usage, 3 a bad file or a run without verdict.\n",
	.rows = rows,
	.run = run,
};

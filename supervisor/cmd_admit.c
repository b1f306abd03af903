#include "supervisor/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "study/table.h"
#include "study/taskset.h"
#include "verifier/admit.h"

enum { REPEATS = 3, JSON_MAX = 256 << 20 };

struct opts {
	const char *profile, *agent, *out;
	uint64_t repeats, factor;
	bool json, write, strict, quiet, no_cgroup;
};

static const struct opt_row rows[] = {
	{ 'n', "repeats", OPT_U64, offsetof(struct opts, repeats), "N",
	  "grade reference and empty patch N times each (default 3, at most 100)" },
	{ 0, "factor", OPT_U64, offsetof(struct opts, factor), "N",
	  "suggest limits of N times what the reference used, twice that of wall time (default 5)" },
	{ 0, "strict", OPT_FLAG, offsetof(struct opts, strict), NULL,
	  "refuse a task whose results come from a log that code under test can forge" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading boxes (default: verify)" },
	{ 0, "agent-profile", OPT_STR, offsetof(struct opts, agent), "NAME|FILE",
	  "policy of the agent's box, for history and network (default: agent)" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "write DIR/INSTANCE/admission.json and the output of each grading there" },
	{ 0, "write", OPT_FLAG, offsetof(struct opts, write), NULL,
	  "also write DIR/INSTANCE/task.json: the task with the suggestions, without comments" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print admission.json" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0, "no-cgroup", OPT_FLAG, offsetof(struct opts, no_cgroup), NULL,
	  "use no control groups even where they can be made" },
	{ 0 },
};

static int keep_log(void *arg, const char *name, const struct buf *log, struct err *err)
{
	const char *dir = arg;
	auto_free char *path = mem_printf("%s/%s.log", dir, name);

	return fd_replace_file(path, buf_str(log), log->len, err);
}

static int print_table(const struct task *task, const struct admit_result *r)
{
	auto_buf text = BUF_INIT(TABLE_BYTES_MAX);
	auto_free char *caption =
		mem_printf("%s: %s", task->instance_id, r->admitted ? "admitted" : "NOT admitted");
	struct table *t = table_new("admission", caption);
	size_t name = table_col(t, NULL, "check", "Check", TABLE_WORDS, 0, 0);
	size_t state = table_col(t, NULL, "state", "State", TABLE_WORDS, 0, 0);
	size_t found = table_col(t, NULL, "found", "Found", TABLE_WORDS, 0, 0);
	int status;

	for (size_t i = 0; i < r->n; i++) {
		const struct admit_check *c = &r->check[i];

		table_row(t, false);
		table_words(t, name, c->name);
		table_words(t, state, admit_state_name(c->state));
		table_words(t, found, c->found);
		for (size_t k = 0; c->state == ADMIT_FAILED && k < c->evidence.n && k < 20; k++)
			table_note(t, "%s: %s", c->name, c->evidence.v[k]);
	}
	for (size_t i = 0; i < r->take_out.n && i < 20; i++)
		table_note(t, "take out: %s", r->take_out.v[i]);
	table_print(t, TABLE_TEXT, &text);
	table_free(t);
	status = cmd_print(&text);
	return status == 0 ? 0 : -ERR_SYS;
}

static int write_task(const char *dir, const struct task *task, const struct admit_result *r,
		      struct err *err)
{
	auto_free char *path = path_join(dir, "task.json");
	auto_buf old = BUF_INIT(TASK_FILE_MAX), text = BUF_INIT(4u * TASK_FILE_MAX);
	int rc = fd_read_file(task->file, &old, err);

	if (rc == 0)
		rc = admit_task(task, buf_str(&old), old.len, r, &text, err);
	return rc < 0 ? rc : fd_replace_file(path, buf_str(&text), text.len, err);
}

static int report(const struct opts *o, const char *dir, const struct task *task,
		  const struct admit_result *r, struct err *err)
{
	auto_buf text = BUF_INIT(JSON_MAX);
	int rc = 0;

	admit_json(task, r, &text);
	if (text.full)
		return err_set(err, ERR_LIMIT, "%s: admission.json is too large",
			       task->instance_id);
	if (dir) {
		auto_free char *path = path_join(dir, "admission.json");

		rc = fd_replace_file(path, buf_str(&text), text.len, err);
	}
	if (rc == 0 && o->write)
		rc = write_task(dir, task, r, err);
	if (rc == 0 && o->json)
		return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	return rc == 0 && !o->quiet ? print_table(task, r) : rc;
}

/* The user's own task file never comes to harm, wherever DIR is. */
static int check_place(const struct opts *o, const char *dir, const struct task *task,
		       struct err *err)
{
	auto_free char *path = path_join(dir, "task.json"), *want = NULL, *own = NULL;

	want = realpath(path, NULL);
	own = realpath(task->file, NULL);
	if (o->write && want && own && strcmp(want, own) == 0)
		return err_set(err, ERR_USAGE,
			       "admit: --write would replace %s; give another --out", task->file);
	return 0;
}

/* 0 admitted, 1 not, negative on error. */
static int one(const struct opts *o, const char *file, struct admit_request *req, struct err *err)
{
	struct admit_result r = { 0 };
	struct task *task = NULL;
	auto_free char *dir = NULL;
	int rc = task_load(file, &task, err);

	if (rc == 0 && o->out) {
		dir = path_join(o->out, task->instance_id);
		rc = check_place(o, dir, task, err);
		if (rc == 0)
			rc = fd_mkdirs(dir, 0755, err);
	}
	if (rc == 0) {
		req->task = task;
		req->log = dir ? keep_log : NULL;
		req->arg = dir;
		rc = admit_run(req, &r, err);
	}
	if (rc == 0)
		rc = report(o, dir, task, &r, err);
	if (rc == 0)
		rc = r.admitted ? 0 : 1;
	admit_done(&r);
	task_free(task);
	return rc;
}

/* Every task of the operands: files, or directories of tasks. */
static int each(const struct opts *o, const struct strv *operands, struct admit_request *req,
		struct err *err)
{
	int rc = 0, worst = 0;

	for (size_t i = 0; rc >= 0 && i < operands->n; i++) {
		struct taskset tasks = { .id = { 0 } };

		rc = taskset_load(operands->v[i], &tasks, err);
		for (size_t k = 0; rc >= 0 && k < tasks.path.n; k++) {
			rc = one(o, tasks.path.v[k], req, err);
			if (rc > worst)
				worst = rc;
		}
		taskset_done(&tasks);
	}
	return rc < 0 ? rc : worst;
}

static int whole(void *arg, const struct strv *operands, struct err *err)
{
	const struct opts *o = arg;
	struct profile *profile = NULL, *agent = NULL;
	struct admit_request req = { .strict = o->strict, .no_cgroup = o->no_cgroup };
	int rc = 0;

	if (!operands->n)
		return err_set(err, ERR_USAGE,
			       "admit: give at least one task file or directory of tasks");
	if (!o->repeats || o->repeats > CMD_REPEATS_MAX)
		return err_set(err, ERR_USAGE, "admit: --repeats is 1 to %u", CMD_REPEATS_MAX);
	if (!o->factor || o->factor > ADMIT_FACTOR_MAX)
		return err_set(err, ERR_USAGE, "admit: --factor is 1 to %u", ADMIT_FACTOR_MAX);
	if (o->write && !o->out)
		return err_set(err, ERR_USAGE, "admit: --write needs --out DIR");
	rc = profile_load(o->profile ? o->profile : "verify", &profile, err);
	if (rc == 0)
		rc = profile_load(o->agent ? o->agent : "agent", &agent, err);
	if (rc == 0)
		rc = janitor_start(&req.janitor, NULL, err);
	if (rc == 0) {
		req.profile = profile;
		req.agent = agent;
		req.repeats = (unsigned)o->repeats;
		req.factor = (unsigned)o->factor;
		rc = each(o, operands, &req, err);
	}
	janitor_finish(req.janitor);
	profile_free(profile);
	profile_free(agent);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .repeats = REPEATS, .factor = ADMIT_FACTOR };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_admit = {
	.name = "admit",
	.summary = "check that a task can be trusted as a measure",
	.synopsis = "[--repeats N] [--out DIR [--write]] TASK...",
	.text = "reference: the task's reference is resolved in each of N fresh gradings.\n"
		"empty: no patch at all never is; FAIL_TO_PASS fails on the base, PASS_TO_PASS passes.\n"
		"flaky: no listed test comes out both ways. One more run of the reference has another\n"
		"time zone, language, home directory and hash seed, and a busy processor beside it.\n"
		"hacks: the usual attacks on grading, fitted to the task, are all unresolved. Where results\n"
		"come from the log alone, two of them cannot be told from honest work; they are noted,\n"
		"and count with --strict.\n"
		"calibration: test.timeout is at least three times what the reference took; limits are\n"
		"suggested.\n"
		"history: the workspace holds the base's history and nothing else, also for git in the\n"
		"agent's box; files of the root file system that hold the fix are noted.\n"
		"network: nothing gets out of the agent's box, and its loopback works.\n"
		"\n"
		"A directory stands for all tasks in it. With --write the suggestions, and the lists\n"
		"without flaky and wrong tests, go into a new task file; the task itself is not changed.\n"
		"\n"
		"Exit status: 0 all admitted, 1 one is not, 2 usage, 3 a bad file, 4 and above as for run.\n",
	.rows = rows,
	.run = run,
};

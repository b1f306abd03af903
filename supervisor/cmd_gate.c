#include "supervisor/cmd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "study/taskset.h"
#include "supervisor/forkrun.h"
#include "supervisor/shiftgate.h"
#include "verifier/gate.h"

struct opts {
	const char *task, *profile, *out;
	uint64_t repeats;
	int most; /* index into steps */
	bool json, accept_conflict, quiet, mutations;
	const char *at, *agent;
};

/* In the order of enum apply_method. */
static const char *const steps[] = { "exact", "offset", "fuzz", "context", NULL };

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE|DIR",
	  "task that the scenarios belong to, or a directory in which each finds its own by its "
	  "instance_id (default: task.json beside each scenario)" },
	{ 'n', "repeats", OPT_U64, offsetof(struct opts, repeats), "N",
	  "run every check N times; one that comes out both ways is flaky (default 1, at most 100)" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading boxes (default: verify)" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "write NAME.gate.json for each scenario there, and the test output of each check as "
	  "NAME.CHECK.RUN.log" },
	{ 0, "most", OPT_ENUM, offsetof(struct opts, most), "STEP",
	  "last step of the ladder by which diffs may go on (default fuzz)", steps },
	{ 0, "accept-apply-conflict", OPT_FLAG, offsetof(struct opts, accept_conflict), NULL,
	  "exit 0 also when the reference no longer applies after the edit" },
	{ 0, "at", OPT_STR, offsetof(struct opts, at), "POSITION[,POSITION]...",
	  "families F01 to F12: where the update comes (default 0.5; 'all' is 0.1, 0.2, ... 0.9)" },
	{ 0, "agent", OPT_STR, offsetof(struct opts, agent), "NAME|FILE",
	  "families F01 to F12: who plays the scripts (default actor)" },
	{ 0, "mutations", OPT_FLAG, offsetof(struct opts, mutations), NULL,
	  "families F01 to F12: also play the recoveries that are broken in one way" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print gate.json" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

/* Where the output of a scenario's checks goes. */
struct logs {
	const char *dir, *id;
};

static int keep_log(void *arg, const struct gate_check *check, const char *label,
		    const struct buf *log, struct err *err)
{
	const struct logs *l = arg;
	auto_free char *path = mem_printf("%s/%s.%s.%u.log", l->dir, l->id, label, check->run);

	return fd_replace_file(path, buf_str(log), log->len, err);
}

static void print_result(const struct scenario *sc, const struct gate_result *r)
{
	auto_free char *why = cmd_safe(r->reason);

	printf("%s: %s%s%s\n", sc->id, gate_verdict_name(r->verdict), r->reason ? ": " : "", why);
	for (size_t i = 0; i < r->n; i++) {
		const struct gate_check *c = &r->check[i];
		auto_free char *label = gate_check_label(r, c);

		printf("  %-30s expected %-10s got %-10s", label,
		       c->expected ? "resolved" : "unresolved", verdict_name(c->got));
		printf(" applied: %s\n", c->method ? c->method : "no");
	}
}

static int report(const struct opts *o, const struct scenario *sc, const struct gate_result *r,
		  struct err *err)
{
	auto_buf text = BUF_INIT(1u << 20);
	int rc = 0;

	gate_json(sc, r, &text);
	if (o->out) {
		auto_free char *name = mem_printf("%s/%s.gate.json", o->out, sc->id);

		rc = fd_replace_file(name, buf_str(&text), text.len, err);
	}
	if (rc == 0 && o->json)
		return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	if (rc == 0 && !o->quiet)
		print_result(sc, r);
	return rc;
}

/* The scenario's task: the one given, the one of that name among those given, or the one beside it. */
static int find_task(const struct opts *o, const struct taskset *tasks, const char *file,
		     const struct scenario *sc, struct task **ret, struct err *err)
{
	auto_free char *dir = path_dir(file), *beside = path_join(dir, "task.json");
	size_t at;
	int rc;

	if (!o->task)
		return task_load(beside, ret, err);
	if (!tasks->id.n)
		return task_load(o->task, ret, err);
	if (!sc->instance_id)
		return err_set(err, ERR_INPUT, "%s: no instance_id; give its task with --task FILE",
			       file);
	rc = taskset_find(tasks, sc->instance_id, &at, err);
	if (rc == 0)
		return err_set(err, ERR_INPUT, "%s: no task \"%s\" in %s", file, sc->instance_id,
			       o->task);
	return rc < 0 ? rc : task_load(tasks->path.v[at], ret, err);
}

static void print_shift(const struct scenario *sc, const struct shiftgate_result *r)
{
	auto_free char *why = cmd_safe(r->reason);

	printf("%s: %s: %s\n", sc->id, gate_verdict_name(r->verdict), why);
	for (size_t i = 0; i < r->n; i++) {
		const struct shiftgate_outcome *o = &r->out[i];
		auto_free char *said = cmd_safe(o->complaint);

		printf("  %-24s %-18s %-8s %-6s %-10s %s\n", shiftgate_row_name(o->row),
		       o->mutation ? o->mutation : "", o->shifted ? "shifted" : "clean",
		       o->position ? o->position : "", verdict_name(o->verdict),
		       o->ok ? "as expected" : said);
	}
}

/* A scenario of SWE-Shift. As one(). */
static int shift(const struct opts *o, const char *file, const struct scenario *sc,
		 const struct task *task, const struct profile *profile, struct janitor *jan,
		 struct err *err)
{
	auto_free char *cwd = getcwd(NULL, 0), *out = NULL;
	auto_strv at = { 0 };
	char scratch[] = "/var/tmp/proctor-gate-XXXXXX";
	struct shiftgate_request req = { .scenario = sc,
					 .scenario_file = file,
					 .task_file = task->file,
					 .task = task,
					 .profile = profile,
					 .agent = o->agent,
					 .cwd = cwd,
					 .janitor = jan,
					 .mutations = o->mutations };
	struct shiftgate_result r = { 0 };
	auto_buf text = BUF_INIT(16u << 20);
	int rc = forkrun_positions(o->at ? o->at : "0.5", &at, err);

	if (rc < 0)
		return rc;
	if (!cwd || (!o->out && !mkdtemp(scratch)))
		return err_sys(err, "cannot make a directory for the runs");
	out = o->out ? mem_printf("%s/%s", o->out, sc->id) : mem_strdup(scratch);
	req.positions = (const char *const *)at.v;
	req.out = out;
	rc = shiftgate_run(&req, &r, err);
	if (rc == 0)
		shiftgate_json(sc, &r, &text);
	if (rc == 0 && o->out) {
		auto_free char *name = mem_printf("%s/%s.gate.json", o->out, sc->id);

		rc = fd_replace_file(name, buf_str(&text), text.len, err);
	}
	if (rc == 0 && o->json)
		rc = cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	else if (rc == 0 && !o->quiet)
		print_shift(sc, &r);
	if (rc == 0)
		rc = r.verdict == GATE_VALID ? 0 : 1;
	shiftgate_done(&r);
	if (!o->out)
		(void)fd_remove_tree(AT_FDCWD, scratch);
	return rc;
}

/* 0 valid, 1 not, negative on error. */
static int one(const struct opts *o, const char *file, const struct taskset *tasks,
	       const struct profile *profile, struct janitor *jan, struct err *err)
{
	struct gate_request req = { .profile = profile,
				    .repeats = (unsigned)o->repeats,
				    .most = (enum apply_method)o->most,
				    .janitor = jan };
	struct scenario *sc = NULL;
	struct task *task = NULL;
	struct gate_result r = { 0 };
	struct logs logs = { .dir = o->out };
	int rc = scenario_load(file, &sc, err);

	if (rc == 0)
		rc = find_task(o, tasks, file, sc, &task, err);
	if (rc == 0 && o->out)
		rc = fd_mkdirs(o->out, 0755, err);
	if (rc == 0 && shiftgate_is(sc)) {
		rc = shift(o, file, sc, task, profile, jan, err);
		task_free(task);
		scenario_free(sc);
		return rc;
	}
	if (rc == 0) {
		logs.id = sc->id;
		req.task = task;
		req.scenario = sc;
		req.log = o->out ? keep_log : NULL;
		req.arg = &logs;
		rc = gate_run(&req, &r, err);
	}
	if (rc == 0)
		rc = report(o, sc, &r, err);
	if (rc == 0)
		rc = r.verdict == GATE_VALID ||
				     (r.verdict == GATE_APPLY_CONFLICT && o->accept_conflict)
			     ? 0
			     : 1;
	gate_done(&r);
	task_free(task);
	scenario_free(sc);
	return rc;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int whole(void *arg, const struct strv *files, struct err *err)
{
	const struct opts *o = arg;
	struct taskset tasks = { .id = { 0 } };
	struct profile *profile = NULL;
	struct janitor *jan = NULL;
	int rc = 0, worst = 0;

	if (!files->n)
		return err_set(err, ERR_USAGE, "gate: give at least one scenario file");
	if (o->repeats > CMD_REPEATS_MAX)
		return err_set(err, ERR_USAGE, "gate: --repeats is at most %u", CMD_REPEATS_MAX);
	if (o->task && is_dir(o->task))
		rc = taskset_load(o->task, &tasks, err);
	if (rc == 0)
		rc = profile_load(o->profile ? o->profile : "verify", &profile, err);
	if (rc == 0)
		rc = janitor_start(&jan, NULL, err);
	for (size_t i = 0; rc >= 0 && i < files->n; i++) {
		rc = one(o, files->v[i], &tasks, profile, jan, err);
		if (rc > worst)
			worst = rc;
	}
	janitor_finish(jan);
	profile_free(profile);
	taskset_done(&tasks);
	return rc < 0 ? rc : worst;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .most = GATE_MOST };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_gate = {
	.name = "gate",
	.summary = "check that a scenario's edit does what it is meant to do",
	.synopsis = "[--task FILE] SCENARIO...",
	.text = "Counter-Edit: the tests fail with the edit alone, pass with the reference alone, and\n"
		"fail with the edit followed by the reference. Co-Edit: the same, but the last passes.\n"
		"Each check runs in a fresh box; the verdict is recomputed from the outcomes.\n"
		"\n"
		"Where the rounds have different edits each of them must pass, and all of them in order,\n"
		"followed by the reference, must come out as one edit and the reference do.\n"
		"\n"
		"apply_conflict: nothing came out wrong, but the reference does not go on after the edit,\n"
		"so that both together were never seen. The ladder is exact, offset, fuzz; with --most\n"
		"context also a search by context, which may put the reference over the edit.\n"
		"A check that comes out both ways in repeated runs makes the scenario invalid: flaky.\n"
		"\n"
		"Families F01 to F12 (SWE-Shift) are admitted by six rows that scripted agents play: the\n"
		"initial tree fails; the reference succeeds; the update alone is valid and the task still\n"
		"fails; the unadapted agent succeeds undisturbed and fails task or preservation with the\n"
		"update; a repair made for the former state is valid and no success; the recovery succeeds.\n"
		"The reference's run is the record, and all others continue it.\n"
		"\n"
		"Exit status: 0 all valid, 1 one is not (invalid, apply_conflict, infra), 2 usage, 3 a bad\n"
		"file, 7 interrupted at the arms of a pair, otherwise 4 and above as for run.\n",
	.rows = rows,
	.run = run,
};

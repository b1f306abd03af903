#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "supervisor/runfile.h"
#include "verifier/grade.h"

enum { PATCH_MAX = 256 << 20 };

struct opts {
	const char *task, *patch, *run, *profile, *out;
	bool json, quiet, no_cgroup;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task file (default with --run: the task of the run)" },
	{ 0, "patch", OPT_STR, offsetof(struct opts, patch), "FILE",
	  "diff to grade, - for standard input" },
	{ 'r', "run", OPT_STR, offsetof(struct opts, run), "DIR",
	  "grade patch.diff of this run directory and keep the verdict there" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading box (default: verify); it has no network in any case" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "where verdict.json, report.json and test.log go (default with --run: the run)" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print verdict.json" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0, "no-cgroup", OPT_FLAG, offsetof(struct opts, no_cgroup), NULL,
	  "use no control groups even where they can be made" },
	{ 0 },
};

static int keep(const char *dir, const char *name, const char *text, size_t n, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	return fd_replace_file(path, text, n, err);
}

static int write_out(const struct opts *o, const struct task *task, const struct verdict *v,
		     const char *plan_digest, struct err *err)
{
	const char *dir = o->out ? o->out : o->run;
	auto_buf verdict = BUF_INIT(256u << 20), report = BUF_INIT(256u << 20);
	int rc = 0;

	verdict_json(task, v, plan_digest, &verdict);
	verdict_swebench(task, v, &report);
	if (dir) {
		if ((rc = fd_mkdirs(dir, 0755, err)) < 0 ||
		    (rc = keep(dir, "verdict.json", buf_str(&verdict), verdict.len, err)) < 0 ||
		    (rc = keep(dir, "report.json", buf_str(&report), report.len, err)) < 0 ||
		    (rc = keep(dir, "test.log", buf_str(&v->log), v->log.len, err)) < 0)
			return rc;
	}
	if (o->run)
		rc = runfile_set_verdict(o->run, verdict_name(v->kind), err);
	if (rc == 0 && o->json)
		return cmd_print(&verdict) == 0 ? 0 : -ERR_SYS;
	if (rc == 0 && !o->quiet)
		printf("%s: %s (%s)\n", task->instance_id, verdict_name(v->kind), v->reason);
	return rc;
}

static int grade(const struct opts *o, const struct task *task, const struct profile *profile,
		 const char *patch, const char *plan_digest, struct err *err)
{
	struct grade_request req = {
		.task = task,
		.profile = profile,
		.patches = { patch },
		.no_cgroup = o->no_cgroup,
	};
	struct verdict v;
	int rc = janitor_start(&req.janitor, NULL, err);

	if (rc < 0)
		return rc;
	rc = grade_run(&req, &v, err);
	janitor_finish(req.janitor);
	if (rc < 0)
		return rc;
	rc = write_out(o, task, &v, plan_digest, err);
	if (rc == 0)
		rc = v.kind == VERDICT_RESOLVED ? 0 : 1;
	verdict_done(&v);
	return rc;
}

/* The diff text and, from a run, its task file and plan digest. */
static int gather(const struct opts *o, struct buf *patch, struct runfile *rf, struct err *err)
{
	auto_free char *path = NULL;
	int rc;

	if (!o->run)
		return fd_read_file(o->patch, patch, err);
	rc = runfile_load(o->run, rf, err);
	if (rc < 0)
		return rc;
	rc = cmd_run_file(o->run, "patch.diff", &path, err);
	return rc < 0 ? rc : fd_read_file(path, patch, err);
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	auto_buf patch = BUF_INIT(PATCH_MAX);
	struct runfile rf = { 0 };
	struct profile *profile = NULL;
	struct task *task = NULL;
	const char *file;
	int rc;

	if (rest->n)
		return err_set(err, ERR_USAGE, "grade: unexpected argument %s", rest->v[0]);
	if (!o->patch == !o->run)
		return err_set(err, ERR_USAGE, "grade: give either --patch FILE or --run DIR");
	rc = gather(o, &patch, &rf, err);
	file = o->task ? o->task : rf.task_file;
	if (rc == 0 && !file)
		rc = err_set(err, ERR_USAGE, "grade: give --task FILE");
	if (rc == 0)
		rc = task_load(file, &task, err);
	if (rc == 0)
		rc = profile_load(o->profile ? o->profile : "verify", &profile, err);
	if (rc == 0)
		rc = grade(o, task, profile, buf_str(&patch), rf.plan_digest, err);
	task_free(task);
	profile_free(profile);
	runfile_done(&rf);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_grade = {
	.name = "grade",
	.summary = "grade a patch on a pristine tree in a clean sandbox",
	.synopsis = "--task FILE --patch FILE | --run DIR",
	.text = "The patch is replayed on the task's base tree in a box that the agent never saw, hidden\n"
		"tests are put back, the test command runs without network, and its results are read.\n"
		"\n"
		"Verdicts: resolved, unresolved, invalid (the task cannot be graded), infra (the fault is\n"
		"not the patch's; never counts as a result).\n"
		"\n"
		"Exit status: 0 resolved, 1 any other verdict, 2 usage, 3 a bad file, 4 and above as for\n"
		"run.\n",
	.rows = rows,
	.run = run,
};

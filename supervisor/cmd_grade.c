#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "study/pool.h"
#include "supervisor/armgrade.h"
#include "supervisor/cmd_grade_batch.h"
#include "supervisor/cmd_grade_log.h"
#include "supervisor/runfile.h"
#include "verifier/grade.h"
#include "verifier/oracle.h"
#include "verifier/owntree.h"

enum {
	PATCH_MAX = 256 << 20,
	TREE_MAX = 1 << 30,
	INFRA_REPEATS = 2,
	INFRA_REPEATS_MAX = 100,
	EXIT_MAX = 255
};

#define NO_EXIT UINT64_MAX

struct opts {
	const char *task, *patch, *run, *profile, *out, *predictions, *tasks, *log;
	struct strv only;
	uint64_t jobs, infra_repeats, exit_status;
	int progress;
	bool json, quiet, no_cgroup, no_own_tree, oracle;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task file (default with --run: the task of the run)" },
	{ 0, "patch", OPT_STR, offsetof(struct opts, patch), "FILE",
	  "diff to grade, - for standard input" },
	{ 'r', "run", OPT_STR, offsetof(struct opts, run), "DIR",
	  "grade patch.diff of this run directory and keep the verdict there" },
	{ 0, "oracle", OPT_FLAG, offsetof(struct opts, oracle), NULL,
	  "grade the task's reference: its patch, or what its solution command changes" },
	{ 0, "log", OPT_STR, offsetof(struct opts, log), "FILE|DIR",
	  "run nothing: decide from this test output, or from the directory that SWE-bench's harness "
	  "kept for the instance" },
	{ 0, "exit", OPT_U64, offsetof(struct opts, exit_status), "N",
	  "with --log: exit status of the test command, where the log does not tell it" },
	{ 0, "predictions", OPT_STR, offsetof(struct opts, predictions), "FILE",
	  "grade all predictions of this file (JSON Lines, list or map), - for standard input" },
	{ 0, "tasks", OPT_STR, offsetof(struct opts, tasks), "FILE|DIR",
	  "tasks of the predictions" },
	{ 0, "only", OPT_LIST, offsetof(struct opts, only), "GLOB",
	  "with --predictions: only these instances; may be given again" },
	{ 'j', "jobs", OPT_U64, offsetof(struct opts, jobs), "N",
	  "with --predictions: so many at once (default: one for each CPU)" },
	{ 0, "infra-repeats", OPT_U64, offsetof(struct opts, infra_repeats), "N",
	  "grade again after an infra verdict, at most N times (default 2)" },
	{ 0, "progress", OPT_ENUM, offsetof(struct opts, progress), "WHEN",
	  "with --predictions: a bar on standard error (default: auto, on a terminal)",
	  cmd_grade_progress },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading box (default: verify); it has no network in any case" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "where verdict.json, report.json and test.log go (default with --run: the run)" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL,
	  "print verdict.json (with --predictions: summary.json)" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0, "no-own-tree", OPT_FLAG, offsetof(struct opts, no_own_tree), NULL,
	  "with --run: grade the replayed patch only, not the agent's own tree beside it" },
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
	if (verdict.full || report.full)
		return err_set(err, ERR_LIMIT, "%s: the verdict has more than %zu bytes",
			       task->instance_id, verdict.max);
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
	if (rc == 0 && !o->quiet)
		cmd_grade_log_print(task, v);
	if (rc == 0 && !o->quiet && v->own)
		printf("%s: the agent's own tree: %s (%s)\n", task->instance_id,
		       verdict_name(v->own->kind), v->own->reason);
	return rc;
}

/* A run's second score. tree.diff is missing when .gitignore left nothing out. */
static int own_tree(const struct opts *o, const struct grade_request *req, struct verdict *v,
		    struct err *err)
{
	auto_buf tree = BUF_INIT(TREE_MAX);
	auto_free char *path = NULL;
	bool have;
	int rc;

	if (!o->run || o->no_own_tree)
		return 0;
	path = path_join(o->run, "tree.diff");
	have = access(path, F_OK) == 0;
	rc = have ? fd_read_file(path, &tree, err) : 0;
	return rc < 0 ? rc
		      : owntree_grade(req, have ? buf_str(&tree) : NULL, (unsigned)o->infra_repeats,
				      v, err);
}

static int grade(const struct opts *o, const struct task *task, const struct profile *profile,
		 const char *patch, const char *plan_digest, const struct authority *authority,
		 struct err *err)
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
	rc = grade_repeat(&req, (unsigned)o->infra_repeats, &v, err);
	if (rc == 0 && (rc = own_tree(o, &req, &v, err)) < 0)
		verdict_done(&v);
	janitor_finish(req.janitor);
	if (rc < 0)
		return rc;
	v.goal = authority->goal;
	v.verifier = authority->verifier;
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
		return o->oracle ? 0 : fd_read_file(o->patch, patch, err);
	rc = runfile_load(o->run, rf, err);
	if (rc < 0)
		return rc;
	rc = cmd_run_file(o->run, "patch.diff", &path, err);
	return rc < 0 ? rc : fd_read_file(path, patch, err);
}

/* The reference's diff; what making it printed goes to --out, or is shown when it failed. */
static int reference(const struct opts *o, const struct task *task, const struct profile *profile,
		     struct buf *patch, struct err *err)
{
	struct grade_request req = { .task = task, .profile = profile, .no_cgroup = o->no_cgroup };
	auto_buf log = BUF_INIT(GRADE_LOG_MAX);
	int rc = janitor_start(&req.janitor, NULL, err), kept = 0;

	if (rc < 0)
		return rc;
	rc = oracle_patch(&req, patch, &log, err);
	janitor_finish(req.janitor);
	if (o->out && (rc == 0 || log.len)) {
		kept = fd_mkdirs(o->out, 0755, rc == 0 ? err : NULL);
		if (kept == 0 && log.len)
			kept = keep(o->out, "oracle.log", log.data, log.len, rc == 0 ? err : NULL);
		if (kept == 0 && rc == 0)
			kept = keep(o->out, "patch.diff", buf_str(patch), patch->len, err);
	} else if (rc < 0 && !o->quiet) {
		(void)fd_write_all(STDERR_FILENO, buf_str(&log), log.len);
	}
	return rc < 0 ? rc : kept;
}

static int one(const struct opts *o, struct err *err)
{
	auto_buf patch = BUF_INIT(PATCH_MAX);
	struct runfile rf = { 0 };
	struct profile *profile = NULL;
	struct task *task = NULL, *version = NULL;
	struct authority authority = { 0 };
	const char *file;
	int rc = gather(o, &patch, &rf, err);

	file = o->task ? o->task : rf.task_file;
	if (rc == 0 && !file)
		rc = err_set(err, ERR_USAGE, "grade: give --task FILE");
	if (rc == 0)
		rc = task_load(file, &task, err);
	if (rc == 0)
		rc = profile_load(o->profile ? o->profile : "verify", &profile, err);
	if (rc == 0 && o->oracle)
		rc = reference(o, task, profile, &patch, err);
	if (rc == 0 && o->run)
		rc = armgrade_task(o->run, task, &authority, &version, err);
	if (rc == 0)
		rc = grade(o, version ? version : task, profile, buf_str(&patch), rf.plan_digest,
			   &authority, err);
	authority_done(&authority);
	task_free(version);
	task_free(task);
	profile_free(profile);
	runfile_done(&rf);
	return rc;
}

/* A verdict on what somebody else ran. */
static int from_log(const struct opts *o, struct err *err)
{
	struct task *task = NULL;
	struct verdict v;
	int rc;

	if (!o->task)
		return err_set(err, ERR_USAGE, "grade: --log needs --task FILE");
	rc = task_load(o->task, &task, err);
	if (rc == 0 &&
	    (rc = cmd_grade_log_read(o->log, task,
				     o->exit_status == NO_EXIT ? -1 : (int)o->exit_status, &v,
				     err)) == 0) {
		rc = write_out(o, task, &v, NULL, err);
		if (rc == 0)
			rc = v.kind == VERDICT_RESOLVED ? 0 : 1;
		verdict_done(&v);
	}
	task_free(task);
	return rc;
}

static int many(const struct opts *o, struct err *err)
{
	struct cmd_grade_batch_opts g = {
		.predictions = o->predictions,
		.tasks = o->tasks ? o->tasks : o->task,
		.profile = o->profile,
		.out = o->out,
		.only = &o->only,
		.jobs = o->jobs,
		.infra_repeats = o->infra_repeats,
		.progress = o->progress,
		.json = o->json,
		.quiet = o->quiet,
		.no_cgroup = o->no_cgroup,
	};

	if (!g.tasks || !g.out)
		return err_set(err, ERR_USAGE, "grade: --predictions needs %s",
			       g.tasks ? "--out DIR" : "--tasks FILE|DIR");
	return cmd_grade_batch(&g, err);
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;

	if (rest->n)
		return err_set(err, ERR_USAGE, "grade: unexpected argument %s", rest->v[0]);
	if (!!o->patch + !!o->run + !!o->predictions + o->oracle + !!o->log != 1)
		return err_set(err, ERR_USAGE,
			       "grade: give one of --patch FILE, --run DIR, --predictions FILE, "
			       "--oracle and --log FILE");
	if (o->exit_status != NO_EXIT && (!o->log || o->exit_status > EXIT_MAX))
		return err_set(err, ERR_USAGE, "grade: --exit goes with --log, and is at most %d",
			       EXIT_MAX);
	if (o->jobs > POOL_JOBS_MAX)
		return err_set(err, ERR_USAGE, "grade: --jobs is at most %u", POOL_JOBS_MAX);
	if (o->infra_repeats > INFRA_REPEATS_MAX)
		return err_set(err, ERR_USAGE, "grade: --infra-repeats is at most %d",
			       INFRA_REPEATS_MAX);
	if (!o->predictions && (o->only.n || o->tasks || o->jobs))
		return err_set(err, ERR_USAGE, "grade: --%s goes with --predictions",
			       o->only.n  ? "only"
			       : o->tasks ? "tasks"
					  : "jobs");
	if (o->log)
		return from_log(o, err);
	return o->predictions ? many(o, err) : one(o, err);
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .infra_repeats = INFRA_REPEATS, .exit_status = NO_EXIT };
	int status = cmd_main(cmd, argc, argv, &o, whole);

	strv_done(&o.only);
	return status;
}

const struct opt_cmd cmd_grade = {
	.name = "grade",
	.summary = "grade patches on a pristine tree in a clean sandbox",
	.synopsis =
		"--task FILE --patch FILE | --oracle | --run DIR | --log FILE | --predictions FILE --tasks FILE|DIR --out DIR",
	.text = "The patch is replayed on the task's base tree in a box that the agent never saw, hidden\n"
		"tests are put back, the test command runs without network, and its results are read.\n"
		"\n"
		"Verdicts: resolved, unresolved, invalid (the task cannot be graded), infra (the fault is\n"
		"not the patch's; never counts as a result). After an infra verdict the grading is done\n"
		"again, at most --infra-repeats times; how often is written into the result.\n"
		"\n"
		"A run whose scenario put another version of the tests in force is graded under the versions that held\n"
		"at its end; verdict.json says which.\n"
		"\n"
		"With --predictions many patches are graded, --jobs at once. Each result has a directory\n"
		"OUT/INSTANCE (OUT/MODEL/INSTANCE when the file has several models) with verdict.json,\n"
		"report.json, test.log, patch.diff and graded.json; OUT/results.jsonl holds a line for each\n"
		"prediction, OUT/summary.json the counts. The same call again after a kill goes on where the\n"
		"other stopped: what was graded from the same task, patch and policy is kept.\n"
		"\n"
		"With --log nothing is run: what the log shows is believed. For a task with test.match\n"
		"swebench-compat it is read between the markers that SWE-bench's harness prints, by its\n"
		"rules; the exact verdict, and that of a report.json beside the log, are printed, too.\n"
		"\n"
		"Exit status: 0 resolved, 1 any other verdict, 2 usage, 3 a bad file, 4 and above as for\n"
		"run. With --predictions: 0 when each one is resolved or unresolved, 1 when some are invalid\n"
		"or infra.\n",
	.rows = rows,
	.run = run,
};

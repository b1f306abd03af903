#include "verifier/grade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "profiles/task_bounds.h"
#include "sandbox/janitor.h"
#include "sandbox/workspace.h"
#include "verifier/grade_channel_internal.h"
#include "verifier/grade_internal.h"
#include "verifier/protect.h"
#include "verifier/rantree.h"
#include "verifier/replay.h"
#include "verifier/stages.h"
#include "verifier/verdict_internal.h"

/* One grading under way. */
struct grade {
	const struct grade_request *req;
	const struct task *task;
	const struct profile *profile;
	struct profile *own_profile; /* owned: when the request had none */
	struct profile bounded;      /* borrows from either; limits are the task's, too */
	struct workspace *ws;        /* owned */
	struct strv owned;           /* paths of the test patch */
	struct strv honest;          /* paths of the reference patch and of the test patch */
	struct strv test_files;      /* files that listed tests stand in */
	struct protect_rules protect;
	struct replay_rules rules;
	git_oid tree;
	struct verdict_readers readers;
	struct verdict *v;
};

static void grade_done(struct grade *g)
{
	strv_done(&g->owned);
	strv_done(&g->honest);
	strv_done(&g->test_files);
	workspace_free(g->ws);
	profile_free(g->own_profile);
}

static int load_profile(struct grade *g, struct err *err)
{
	int rc = 0;

	if (!g->req->profile)
		rc = profile_load("verify", &g->own_profile, err);
	if (rc < 0)
		return rc;
	/* A copy for its limits only: what it points to stays the other's. */
	g->bounded = g->req->profile ? *g->req->profile : *g->own_profile;
	task_bounds_limits(g->task, false, &g->bounded.limits);
	g->profile = &g->bounded;
	return 0;
}

/* Whose files are whose. An honest patch may have to change what steers the tests: what the reference changes. A
 * reference that does not apply is the business of the task's admission. */
static int make_rules(struct grade *g, struct err *err)
{
	auto_free char *reason = NULL;
	int rc;

	strv_copy(&g->honest, &g->owned);
	rc = replay_paths(&g->ws->store, &g->tree, g->task->patch, &g->honest, &reason, err);
	protect_test_files(&g->task->fail_to_pass, &g->test_files);
	protect_test_files(&g->task->pass_to_pass, &g->test_files);
	g->protect = (struct protect_rules){
		.command = g->task->test.command,
		.globs = &g->task->test.protect,
		.allow = &g->task->test.allow,
		.honest = &g->honest,
		.files = &g->test_files,
	};
	g->rules = (struct replay_rules){ .hidden = &g->task->test.hidden,
					  .owned = &g->owned,
					  .report = g->task->test.report,
					  .protect = &g->protect,
					  .own_tree = g->req->own_tree };
	return rc < 0 ? rc : 0;
}

/* The base tree, and which of its paths are the tests'. */
static int prepare(struct grade *g, struct err *err)
{
	auto_free char *reason = NULL;
	int rc = workspace_new(g->req->janitor, &g->ws, err);

	if (rc < 0)
		return rc;
	rc = gitstore_import(&g->ws->store, g->task->source, g->task->base_commit,
			     &g->ws->base_commit, &g->ws->base_tree, &g->ws->history, err);
	if (rc < 0)
		return err_wrap(err, "task %s", g->task->instance_id);
	g->tree = g->ws->base_tree;
	rc = replay_paths(&g->ws->store, &g->tree, g->task->test_patch, &g->owned, &reason, err);
	if (rc == 0)
		verdict_set(g->v, VERDICT_INVALID,
			    "the task's test patch does not apply to its base: %s",
			    reason ? reason : "no reason known");
	return rc < 0 ? rc : make_rules(g, err);
}

/* The request's patches in order, each without what belongs to the tests. */
static int put_patches(struct grade *g, struct err *err)
{
	struct replay_result res = { 0 };
	struct verdict *v = g->v;
	int rc = 1;

	for (size_t i = 0; i < GRADE_PATCHES && g->req->patches[i] && rc > 0; i++) {
		git_oid next;

		rc = replay_patch(&g->ws->store, &g->tree, g->req->patches[i], g->req->most,
				  &g->rules, &next, &res, err);
		if (rc > 0) {
			g->tree = next;
			v->patches_applied++;
		}
	}
	if (rc == 0)
		verdict_set(v, VERDICT_UNRESOLVED, "patch does not apply: %s",
			    res.reason ? res.reason : "no reason known");
	if (rc > 0) {
		v->patch_applied = true;
		v->method = apply_method_name(res.method);
	}
	strv_copy(&v->dropped, &res.dropped);
	strv_copy(&v->tamper, &res.tamper);
	replay_done(&res);
	return rc < 0 ? rc : 0;
}

/* Files on disk. A patch may hold names that no file system takes; then it is the patch that failed,
 * not the host, or an agent could withdraw from being judged. */
static int write_out(struct grade *g, struct err *err)
{
	struct err local = { 0 };
	int rc = workspace_from_tree(g->ws, &g->tree, !g->ws->history.made, &local);

	if (rc >= 0)
		return 0;
	if (rc == -ERR_INPUT || rc == -ERR_LIMIT || local.sys == ENAMETOOLONG ||
	    local.sys == EINVAL || local.sys == EILSEQ) {
		verdict_set(g->v, VERDICT_UNRESOLVED, "the patched tree cannot be written out: %s",
			    local.text);
		return 0;
	}
	if (err)
		*err = local;
	return rc;
}

/* The hidden tests are newer than anything that was made from other ones. Only a hint for tools such as make, so that
 * what cannot be set is let be. */
static void freshen(struct grade *g)
{
	auto_fd int lower = open(g->ws->lower, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; lower >= 0 && i < g->owned.n; i++) {
		auto_fd int fd =
			fd_open_beneath(lower, g->owned.v[i], O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

		if (fd >= 0)
			(void)futimens(fd, NULL);
	}
}

/* Hidden tests on, an old report off, files written out. */
static int lay_out(struct grade *g, struct err *err)
{
	struct replay_result res = { 0 };
	git_oid next;
	int rc = replay_patch(&g->ws->store, &g->tree, g->task->test_patch, APPLY_EXACT, NULL,
			      &next, &res, err);

	/* Its own paths are as in the base, so this is about what stands beside them. */
	if (rc == 0)
		verdict_set(g->v, VERDICT_UNRESOLVED,
			    "the hidden tests do not fit onto the patched tree: %s",
			    res.reason ? res.reason : "no reason known");
	replay_done(&res);
	if (rc <= 0)
		return rc;
	g->tree = next;
	if (g->task->test.report) {
		rc = replay_remove(&g->ws->store, &g->tree, g->task->test.report, &next, err);
		if (rc < 0)
			return rc;
		g->tree = next;
	}
	rc = write_out(g, err);
	if (rc == 0 && !g->v->reason)
		freshen(g);
	return rc;
}

/* Were the tests changed while they ran? Nobody knows then what ran. */
static int check_after(struct grade *g, struct err *err)
{
	auto_free char *first = NULL;
	int rc = rantree_check(&g->ws->store, &g->tree, g->ws->upper, &g->rules, &g->v->tamper,
			       &first, err);

	if (first)
		verdict_set(g->v, VERDICT_UNRESOLVED, "the tests were changed while they ran: %s",
			    first);
	return rc;
}

/* What the reader gets of the report directory. */
static void named_files(const struct testlog_reader *reader, const struct grade_end *end,
			struct testlog_file *files)
{
	for (size_t i = 0; reader && reader->files && reader->files[i] && i < TESTLOG_FILES_MAX;
	     i++)
		files[i] = (struct testlog_file){
			.name = reader->files[i],
			.text = end->has_file[i] ? buf_str(&end->file[i]) : NULL,
			.len = end->file[i].len,
		};
}

/* A box that cannot be had is seen from outside and is no result: infra. What the user wrote, and our own
 * mistakes, are errors. */
static int run_tests(struct grade *g, const struct testlog_reader *reader, struct err *err)
{
	struct grade_channel channel = { .ch.fd = -1, .box_end = -1 };
	struct grade_end end = { .report = BUF_INIT(GRADE_REPORT_MAX), .channel = &channel };
	struct test_results results = { 0 };
	struct testlog_file files[TESTLOG_FILES_MAX] = { { 0 } };
	struct verdict *v = g->v;
	struct testlog_input in;
	struct err box_err = { 0 };
	int rc = grade_channel_open(&channel, g->task, &box_err);

	if (rc == 0)
		rc = grade_box_run(g->req, g->profile, g->ws, v, &end, &box_err);
	if (rc < 0) {
		grade_end_done(&end);
		grade_channel_done(&channel);
		if (rc == -ERR_INPUT || rc == -ERR_USAGE || rc == -ERR_BUG) {
			if (err)
				*err = box_err;
			return rc;
		}
		/* A command that no kernel would start is the task's fault, however often it is tried. */
		verdict_set(v, box_err.sys == E2BIG ? VERDICT_INVALID : VERDICT_INFRA, "%s",
			    box_err.text);
		return 0;
	}
	named_files(reader, &end, files);
	in = (struct testlog_input){
		.log = buf_str(&v->log),
		.log_len = v->log.len,
		.report = end.has_report ? buf_str(&end.report) : NULL,
		.report_len = end.report.len,
		.exit_status = v->exit_status,
		.root = g->task->workdir,
		.files = files,
		.n_files = ARRAY_SIZE(files),
		.reward = g->task->test.reward,
		.leftovers = g->task->test.leftovers ? 0 : end.leftovers,
		.instance_id = g->task->instance_id,
		.version = g->task->version,
	};
	rc = check_after(g, err);
	if (rc == 0 && g->readers.exact)
		rc = g->readers.exact->read(&in, &results, err);
	if (rc == 0) {
		v->complete = !end.stopped && !end.fault;
		v->note = take_ptr(&end.fault);
		if (g->req->results)
			g->req->results(g->req->results_arg, &results);
		grade_channel_decide(&channel, g->task, &results, v);
		if (g->task->test.match == TASK_MATCH_SWEBENCH)
			rc = verdict_compat(v, g->task, &g->readers, &in, &results, g->profile,
					    &end, err);
		else
			verdict_decide(v, g->task, g->profile, &end);
	}
	grade_channel_done(&channel);
	testlog_done(&results);
	grade_end_done(&end);
	return rc;
}

/* Is the task fit for grading at all? Fills the verdict when not. */
static const struct testlog_reader *check_task(struct grade *g, struct err *err)
{
	struct err reader_err = { 0 };
	int rc = verdict_readers(g->task, &g->readers, &reader_err);
	const struct testlog_reader *reader = rc == 0 ? verdict_reader(&g->readers) : NULL;

	if (!g->task->test.command)
		verdict_set(g->v, VERDICT_INVALID, "the task has no test command");
	if (!g->task->fail_to_pass.n)
		verdict_set(g->v, VERDICT_INVALID, "the task lists no FAIL_TO_PASS test");
	if (reader && reader->files && g->task->test.report && g->task->test.report[0] != '/')
		verdict_set(g->v, VERDICT_INVALID,
			    "reader %s needs an absolute directory in test.report", reader->name);
	if (!reader && !g->v->reason && err)
		*err = reader_err;
	return reader;
}

static bool any_text(const char *const *patches)
{
	for (; *patches; patches++)
		if ((*patches)[strspn(*patches, " \t\r\n")])
			return true;
	return false;
}

int grade_run(const struct grade_request *req, struct verdict *ret, struct err *err)
{
	struct verdict v = { .exit_status = -1, .log = BUF_INIT(GRADE_LOG_MAX) };
	struct grade g = { .req = req, .task = req->task, .v = &v };
	const struct testlog_reader *reader = check_task(&g, err);
	int rc = 0;

	if (reader && !v.reason && req->task->test.stages)
		return stages_run(req, ret, err);
	v.patch_exists = any_text(req->patches);
	if (!reader && !v.reason)
		return -ERR_INPUT;
	if (!v.reason)
		rc = load_profile(&g, err);
	if (rc == 0 && !v.reason)
		rc = prepare(&g, err);
	if (rc == 0 && !v.reason)
		rc = put_patches(&g, err);
	if (rc == 0 && !v.reason)
		rc = lay_out(&g, err);
	if (rc == 0 && !v.reason && reader)
		rc = run_tests(&g, reader, err);
	grade_done(&g);
	if (rc < 0) {
		verdict_done(&v);
		return rc;
	}
	if (!v.tests)
		verdict_fill(&v, req->task, NULL);
	verdict_digest(&v, req->task, req->patches);
	*ret = v;
	return 0;
}

int grade_repeat(const struct grade_request *req, unsigned repeats, struct verdict *ret,
		 struct err *err)
{
	for (unsigned i = 0;; i++) {
		int rc = grade_run(req, ret, err);

		if (rc < 0)
			return rc;
		ret->infra_repeats = i;
		if (ret->kind != VERDICT_INFRA || i == repeats)
			return 0;
		verdict_done(ret);
	}
}

int grade_alone(const struct grade_request *req, unsigned repeats, struct verdict *ret,
		struct err *err)
{
	struct grade_request own = *req;
	int rc = janitor_start(&own.janitor, NULL, err);

	if (rc < 0)
		return rc;
	rc = grade_repeat(&own, repeats, ret, err);
	janitor_finish(own.janitor);
	return rc;
}

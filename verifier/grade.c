#include "verifier/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sandbox/workspace.h"
#include "verifier/grade_internal.h"
#include "verifier/replay.h"
#include "verifier/verdict_internal.h"

/* One grading under way. */
struct grade {
	const struct grade_request *req;
	const struct task *task;
	const struct profile *profile;
	struct profile *own_profile; /* owned: when the request had none */
	struct workspace *ws;        /* owned */
	struct strv owned;           /* paths of the test patch */
	git_oid tree;
	struct verdict *v;
};

static void grade_done(struct grade *g)
{
	strv_done(&g->owned);
	workspace_free(g->ws);
	profile_free(g->own_profile);
}

static int load_profile(struct grade *g, struct err *err)
{
	int rc = 0;

	if (!g->req->profile)
		rc = profile_load("verify", &g->own_profile, err);
	g->profile = g->req->profile ? g->req->profile : g->own_profile;
	return rc;
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
	return rc < 0 ? rc : 0;
}

/* The request's patches in order, each without what belongs to the tests. */
static int put_patches(struct grade *g, struct err *err)
{
	struct replay_rules rules = { .hidden = &g->task->test.hidden,
				      .owned = &g->owned,
				      .report = g->task->test.report };
	struct replay_result res = { 0 };
	struct verdict *v = g->v;
	int rc = 1;

	for (size_t i = 0; i < GRADE_PATCHES && g->req->patches[i] && rc > 0; i++) {
		git_oid next;

		rc = replay_patch(&g->ws->store, &g->tree, g->req->patches[i], g->req->most, &rules,
				  &next, &res, err);
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
	return write_out(g, err);
}

/* A box that cannot be had is seen from outside and is no result: infra. What the user wrote, and our own
 * mistakes, are errors. */
static int run_tests(struct grade *g, const struct testlog_reader *reader, struct err *err)
{
	struct grade_end end = { .report = BUF_INIT(GRADE_REPORT_MAX) };
	struct test_results results = { 0 };
	struct verdict *v = g->v;
	struct testlog_input in;
	struct err box_err = { 0 };
	int rc = grade_box_run(g->req, g->profile, g->ws, v, &end, &box_err);

	if (rc < 0) {
		buf_done(&end.report);
		if (rc == -ERR_INPUT || rc == -ERR_USAGE || rc == -ERR_BUG) {
			if (err)
				*err = box_err;
			return rc;
		}
		verdict_set(v, VERDICT_INFRA, "%s", box_err.text);
		return 0;
	}
	in = (struct testlog_input){
		.log = buf_str(&v->log),
		.log_len = v->log.len,
		.report = end.has_report ? buf_str(&end.report) : NULL,
		.report_len = end.report.len,
		.exit_status = v->exit_status,
		.root = g->task->workdir,
	};
	rc = reader->read(&in, &results, err);
	if (rc == 0) {
		v->complete = !results.incomplete && !end.stopped;
		v->note = take_ptr(&results.note);
		verdict_fill(v, g->task, &results);
		verdict_decide(v, g->task, g->profile, &end);
	}
	testlog_done(&results);
	buf_done(&end.report);
	return rc;
}

/* Is the task fit for grading at all? Fills the verdict when not. */
static const struct testlog_reader *check_task(struct grade *g, struct err *err)
{
	const struct testlog_reader *reader = testlog_find(g->task->test.reader);
	const char *names[32] = { NULL }, *near;
	auto_buf list = BUF_INIT(4096);

	for (size_t i = 0; i + 1 < ARRAY_SIZE(names) && testlog_readers[i].name; i++) {
		names[i] = testlog_readers[i].name;
		buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	if (!g->task->test.command)
		verdict_set(g->v, VERDICT_INVALID, "the task has no test command");
	if (!g->task->fail_to_pass.n)
		verdict_set(g->v, VERDICT_INVALID, "the task lists no FAIL_TO_PASS test");
	if (reader || g->v->reason)
		return reader;
	near = g->task->test.reader ? str_nearest(g->task->test.reader, names) : NULL;
	err_set(err, ERR_INPUT, "%s: test.reader \"%s\" is unknown%s%s%s; readers are %s",
		g->task->file ? g->task->file : g->task->instance_id,
		g->task->test.reader ? g->task->test.reader : "", near ? ", did you mean \"" : "",
		near ? near : "", near ? "\"" : "", buf_str(&list));
	return NULL;
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

#include "verifier/oracle.h"

#include <string.h>

#include "base/mem.h"
#include "profiles/task_bounds.h"
#include "sandbox/workspace.h"
#include "verifier/capture.h"
#include "verifier/grade_channel_internal.h"
#include "verifier/grade_internal.h"

/* Carry the command out on @ws. The task's tests and their report have no part in it. */
static int solve(const struct grade_request *req, const struct task *task, struct workspace *ws,
		 struct buf *log, struct err *err)
{
	struct grade_channel channel = { .ch.fd = -1, .box_end = -1 };
	struct grade_end end = { .report = BUF_INIT(0), .channel = &channel };
	struct verdict v = { .exit_status = -1, .log = BUF_INIT(GRADE_LOG_MAX) };
	struct profile bounded = *req->profile;
	struct grade_request own = *req;
	char text[40];
	int rc;

	own.task = task;
	task_bounds_limits(task, false, &bounded.limits);
	rc = grade_box_run(&own, &bounded, ws, &v, &end, err);
	if (rc == 0 && end.stopped)
		rc = err_set(err, ERR_CHILD,
			     "task %s: the solution command needed more than %s (%s)",
			     task->instance_id, limits_text(end.over, end.limit, text),
			     limits_name(end.over));
	else if (rc == 0 && v.exit_status != 0)
		rc = err_set(err, ERR_CHILD, "task %s: the solution command ended with status %d",
			     task->instance_id, v.exit_status);
	buf_add(log, buf_str(&v.log), v.log.len);
	grade_end_done(&end);
	grade_channel_done(&channel);
	verdict_done(&v);
	return rc;
}

static int captured(struct workspace *ws, struct buf *patch, struct err *err)
{
	struct capture c = { 0 };
	int rc = capture_take(ws, &c, err);

	if (rc < 0)
		return rc;
	if (buf_add(patch, buf_str(&c.diff), c.diff.len) < 0)
		rc = err_set(err, ERR_LIMIT, "the reference change is too large");
	capture_done(&c);
	return rc;
}

int oracle_patch(const struct grade_request *req, struct buf *patch, struct buf *log,
		 struct err *err)
{
	const struct task_solution *s = &req->task->solution;
	struct task task = *req->task; /* borrows everything */
	struct workspace *ws = NULL;
	int rc;

	if (!s->command && !req->task->patch)
		return err_set(err, ERR_INPUT, "task %s has neither a patch nor a solution command",
			       req->task->instance_id);
	if (!s->command) {
		buf_adds(patch, req->task->patch);
		return 0;
	}
	task.test.command = s->command;
	task.test.timeout = s->timeout;
	task.test.files = s->files;
	task.test.report = NULL;
	rc = workspace_new(req->janitor, &ws, err);
	if (rc == 0)
		rc = workspace_from_task(ws, &task, err);
	if (rc == 0)
		rc = solve(req, &task, ws, log, err);
	if (rc == 0)
		rc = captured(ws, patch, err);
	workspace_free(ws);
	return rc;
}

#include "verifier/oracle.h"

#include <string.h>

#include "base/mem.h"
#include "sandbox/workspace.h"
#include "verifier/capture.h"
#include "verifier/grade_internal.h"

/* Carry the command out on @ws. The task's tests and their report have no part in it. */
static int solve(const struct grade_request *req, const struct task *task, struct workspace *ws,
		 struct buf *log, struct err *err)
{
	struct grade_request own = *req;
	auto_free char *why = NULL;
	int status, rc;

	own.task = task;
	rc = grade_box_command(&own, false, ws, log, &status, &why, err);
	if (rc == 0 && why)
		return err_set(err, ERR_CHILD, "task %s: the solution command %s",
			       task->instance_id, why);
	if (rc == 0 && status != 0)
		return err_set(err, ERR_CHILD, "task %s: the solution command ended with status %d",
			       task->instance_id, status);
	return rc;
}

static int give(const struct task *task, const char *text, size_t n, struct buf *patch,
		struct err *err)
{
	if (buf_add(patch, text, n) < 0)
		return err_set(err, ERR_LIMIT,
			       "task %s: the reference change has more than %zu bytes",
			       task->instance_id, patch->max);
	return 0;
}

static int captured(const struct task *task, struct workspace *ws, struct buf *patch,
		    struct err *err)
{
	struct capture c = { 0 };
	int rc = capture_take(ws, &c, err);

	if (rc < 0)
		return rc;
	rc = give(task, buf_str(&c.diff), c.diff.len, patch, err);
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
	if (!s->command)
		return give(req->task, req->task->patch, strlen(req->task->patch), patch, err);
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
		rc = captured(req->task, ws, patch, err);
	workspace_free(ws);
	return rc;
}

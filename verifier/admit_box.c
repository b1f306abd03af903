/* The agent's box without an agent: what gets out of it. */
#include "verifier/admit_internal.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/workspace.h"
#include "verifier/grade_internal.h"
#include "verifier/witness.h"

#define PROBE_MAX (120 * CLOCK_SEC) /* of a probe's command */
#define PROBE     "netprobe"        /* beside the witnesses' program */

int admit_in_box(const struct admit_request *req, const char *command, const char *helper,
		 struct buf *log, int *ret_status, struct err *err)
{
	struct task_file file = { .from = (char *)helper, .to = (char *)ADMIT_HELPER };
	struct task task = *req->task; /* borrows everything */
	const struct grade_request own = { .task = &task,
					   .profile = req->agent,
					   .janitor = req->janitor,
					   .no_cgroup = req->no_cgroup };
	struct workspace *ws = NULL;
	int rc;

	/* The agent's environment with @command in its place: the task's tests have no part in it. */
	task.test.command = (char *)command;
	task.test.reader = (char *)"exit-code";
	task.test.timeout = PROBE_MAX;
	task.test.report = NULL;
	task.test.files = (struct json_array){ .v = helper ? &file : NULL, .n = helper ? 1 : 0 };
	rc = workspace_new(req->janitor, &ws, err);
	if (rc == 0)
		rc = workspace_from_task(ws, &task, err);
	if (rc == 0)
		rc = grade_box_command(&own, true, ws, log, ret_status, NULL, err);
	workspace_free(ws);
	return rc;
}

/* One line of the probe's. */
static void line(struct admit_check *c, const char *s, size_t n, bool *ret_end)
{
	if (n > 5 && memcmp(s, "open ", 5) == 0) {
		admit_say(c, ADMIT_FAILED, "something gets out of the agent's box: %.*s",
			  (int)n - 5, s + 5);
		admit_line(c, "%.*s", (int)n, s);
	} else if (n > 7 && memcmp(s, "broken ", 7) == 0) {
		admit_say(c, ADMIT_FAILED, "the box's own loopback does not work: %.*s", (int)n - 7,
			  s + 7);
		admit_line(c, "%.*s", (int)n, s);
	} else if (n == 3 && memcmp(s, "end", 3) == 0) {
		*ret_end = true;
	} else if (n) {
		admit_line(c, "%.*s", (int)n, s);
	}
}

int admit_network(const struct admit_request *req, struct admit_check *c, struct err *err)
{
	auto_free char *dir = NULL, *exec = NULL, *at = NULL, *probe = NULL;
	auto_buf log = BUF_INIT(GRADE_LOG_MAX);
	const char *s;
	bool ended = false;
	int rc = witness_files(&dir, &exec, err), status = -1;

	if (rc < 0)
		return rc;
	if (exec) {
		at = path_dir(exec);
		probe = path_join(at, PROBE);
	}
	if (!probe || access(probe, X_OK) < 0) {
		admit_say(
			c, ADMIT_SKIPPED,
			"this installation has no program \"%s\" to try it with: the build found no static C library",
			PROBE);
		return 0;
	}
	rc = admit_in_box(req, ADMIT_HELPER, probe, &log, &status, err);
	if (rc < 0)
		return err_wrap(err, "network probe");
	if (req->log && (rc = req->log(req->arg, "network", &log, err)) < 0)
		return rc;
	for (s = buf_str(&log); *s; s += strcspn(s, "\n"), s += *s == '\n')
		line(c, s, strcspn(s, "\n"), &ended);
	if (!ended || status != 0)
		admit_say(c, ADMIT_FAILED, "the probe did not come to its end (status %d)", status);
	admit_say(c, ADMIT_PASSED, "nothing gets out of the agent's box, and its loopback works");
	return 0;
}

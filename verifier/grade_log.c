#include "verifier/grade.h"

#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "verifier/compat.h"
#include "verifier/verdict_internal.h"

/* For readers when nobody knows the status: none of them lets 0 contradict a failure that it
 * read. */
enum { UNKNOWN_EXIT = 0 };

/* A verdict on the exit status alone cannot be had without one. */
static int check_exit(const struct task *task, const struct testlog_reader *row, bool known,
		      struct err *err)
{
	if (known || strcmp(row->name, "exit-code") != 0)
		return 0;
	return err_set(
		err, ERR_INPUT,
		"task %s: its reader exit-code reads nothing but the exit status of the test "
		"command, and the log does not tell it: give it with --exit",
		task->instance_id);
}

/* The task's tests by name: a list may be long on both sides. Two names under one hash sit at consecutive keys. */
static void tests_by_name(const struct verdict *v, struct map *ret)
{
	for (size_t i = 0; i < v->n_tests; i++) {
		uint64_t key = map_hash(v->tests[i].name, strlen(v->tests[i].name));

		while (map_get(ret, key))
			key++;
		map_put(ret, key, &v->tests[i]);
	}
}

/* Names of one half of a list of the report, with what it says of them. */
static void published_half(struct jslice half, bool success, const struct map *tests,
			   struct verdict_published *p)
{
	struct jslice_walk walk = jslice_walk(half);
	struct jslice item;

	while (jslice_member(&walk, NULL, &item)) {
		auto_free char *name = jslice_cstr(item);
		const struct verdict_test *t = NULL;

		for (uint64_t key = name ? map_hash(name, strlen(name)) : 0;
		     name && (t = map_get(tests, key)); key++)
			if (strcmp(t->name, name) == 0)
				break;
		if (!t)
			continue;
		p->tests++;
		if (verdict_passed(t) != success)
			strv_add(&p->differs, name);
	}
}

/* {"ID": {"resolved": ..., "tests_status": {"FAIL_TO_PASS": {"success": [], "failure": []},
 * ...}}} */
static int read_published(const struct grade_log_request *req, struct verdict *v, struct err *err)
{
	static const char *const lists[] = { "FAIL_TO_PASS", "PASS_TO_PASS" };
	struct jslice root, one, status;
	struct err inner = { 0 };
	struct map tests = { 0 };

	if (!req->report)
		return 0;
	if (jslice_parse("report.json", req->report, req->report_len, &root, &inner) < 0)
		return err_set(err, ERR_INPUT, "%s", inner.text);
	one = jslice_get(root, req->task->instance_id);
	if (jslice_kind(one) != '{')
		return err_set(err, ERR_INPUT,
			       "report.json: there is no object \"%s\": it belongs to another task",
			       req->task->instance_id);
	v->published = mem_zalloc(1, sizeof(*v->published));
	v->published->resolved = jslice_kind(jslice_get(one, "resolved")) == 't';
	status = jslice_get(one, "tests_status");
	tests_by_name(v, &tests);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct jslice list = jslice_get(status, lists[i]);

		published_half(jslice_get(list, "success"), true, &tests, v->published);
		published_half(jslice_get(list, "failure"), false, &tests, v->published);
	}
	map_done(&tests);
	return 0;
}

static int decide(const struct grade_log_request *req, const struct verdict_readers *readers,
		  struct verdict *v, struct err *err)
{
	const struct task *task = req->task;
	struct test_results results = { 0 };
	struct testlog_input in = {
		.log = req->log,
		.log_len = req->log_len,
		.root = task->workdir,
		.instance_id = task->instance_id,
		.version = task->version,
	};
	struct compat_log log;
	bool known;
	int rc = 0;

	compat_markers(&in, &log);
	known = log.has_exit || req->exit_status >= 0;
	in.exit_status = log.has_exit ? log.exit_status : known ? req->exit_status : UNKNOWN_EXIT;
	/* A harness' log has its work directory in it, not the task's. */
	if (log.from && strcmp(task->workdir, MATCH_TESTBED) != 0)
		in.root = MATCH_TESTBED;
	rc = check_exit(task, verdict_reader(readers), known, err);
	if (rc == 0 && readers->exact)
		rc = readers->exact->read(&in, &results, err);
	if (rc == 0) {
		v->complete = !results.incomplete;
		v->note = take_ptr(&results.note);
		v->exit_status = known && in.exit_status >= 0 ? in.exit_status : -1;
		v->patch_applied = log.found;
		verdict_fill(v, task, &results);
		if (task->test.match == TASK_MATCH_SWEBENCH)
			rc = verdict_compat(v, task, readers, &in, &results, NULL, NULL, err);
		else
			verdict_decide(v, task, NULL, NULL);
	}
	testlog_done(&results);
	return rc;
}

int grade_log(const struct grade_log_request *req, struct verdict *ret, struct err *err)
{
	static const char *const no_patch[] = { NULL };
	struct verdict v = { .exit_status = -1,
			     .patch_exists = true,
			     .log = BUF_INIT(GRADE_LOG_MAX) };
	struct verdict_readers readers;
	int rc = verdict_readers(req->task, &readers, err);

	if (rc == 0 && req->log_len > GRADE_LOG_MAX)
		rc = err_set(err, ERR_INPUT, "the log is longer than %u bytes", GRADE_LOG_MAX);
	if (rc == 0)
		rc = decide(req, &readers, &v, err);
	if (rc == 0)
		rc = read_published(req, &v, err);
	if (rc < 0) {
		verdict_done(&v);
		return rc;
	}
	buf_add(&v.log, req->log, req->log_len);
	verdict_digest(&v, req->task, no_patch);
	*ret = v;
	return 0;
}

/* Verdicts from logs that somebody kept: by SWE-bench's rules with the exact verdict beside it, and
 * exactly. */
#include "verifier/grade.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define HEAD ">>>>> Start Test Output\n"
#define TAIL ">>>>> End Test Output\n"
#define LINES                                                                                      \
	"============================= short test summary info ==============================\n"

/* A log of pytest -rA between the markers, as that harness keeps it. */
static const char pytest_log[] =
	"set up\n" HEAD LINES "PASSED /testbed/x.py::gone\nPASSED t.py::a\nPASSED t.py::p[x y]\n"
	"XFAIL t.py::x - why\n"
	"===== 3 passed, 1 xfailed in 0.02s =====\n" TAIL "HEAD is now at 1234\n";

static struct task base = {
	.instance_id = (char *)"acme__calc-12",
	.workdir = (char *)"/workspace",
	.test = { .reader = (char *)"swebench/pytest", .match = TASK_MATCH_SWEBENCH },
};

static struct task with(const char *f2p, const char *p2p)
{
	struct task t = base;

	t.fail_to_pass = (struct strv){ 0 };
	t.pass_to_pass = (struct strv){ 0 };
	strv_add(&t.fail_to_pass, f2p);
	if (p2p)
		strv_add(&t.pass_to_pass, p2p);
	return t;
}

static void done(struct task *t)
{
	strv_done(&t->fail_to_pass);
	strv_done(&t->pass_to_pass);
}

static int decide(const struct task *t, const char *log, int exit_status, const char *report,
		  struct verdict *v, struct err *err)
{
	const struct grade_log_request req = {
		.task = t,
		.log = log,
		.log_len = strlen(log),
		.exit_status = exit_status,
		.report = report,
		.report_len = report ? strlen(report) : 0,
	};

	return grade_log(&req, v, err);
}

/* clang-format off */
static const struct {
	const char *name, *f2p, *p2p, *log;
	int exit_status;
	enum verdict_kind compat, exact;
	const char *how, *why; /* of the second test, or the first when there is one only */
} rows[] = {
	{ "both passed", "t.py::a", NULL, pytest_log, -1, VERDICT_RESOLVED, VERDICT_RESOLVED, "exact", NULL },
	{ "an id that was cut", "t.py::a", "t.py::p[x", pytest_log, -1, VERDICT_RESOLVED, VERDICT_UNRESOLVED, "exact", "cut:" },
	{ "an expected failure", "t.py::a", "t.py::x", pytest_log, -1, VERDICT_RESOLVED, VERDICT_UNRESOLVED, "exact", "xfail-passes:" },
	{ "a path below the harness' work directory", "t.py::a", "/testbed/x.py::gone", pytest_log, -1, VERDICT_RESOLVED, VERDICT_UNRESOLVED, "root", "name:" },
	{ "not there", "t.py::a", "t.py::b", pytest_log, -1, VERDICT_UNRESOLVED, VERDICT_UNRESOLVED, "absent", NULL },
	{ "the patch did not apply", "t.py::a", NULL, ">>>>> Patch Apply Failed\n", -1, VERDICT_UNRESOLVED, VERDICT_UNRESOLVED, "absent", NULL },
	{ "a line that was printed counts there", "t.py::b", NULL,
	  HEAD "FAILED t.py::x\nPASSED t.py::b\n" LINES "FAILED t.py::b\n=== 1 failed in 0.1s ===\nPASSED t.py::b\n" TAIL ">>>>> Test Exit Code: 1\n",
	  -1, VERDICT_RESOLVED, VERDICT_UNRESOLVED, "exact", "status:" },
	{ "cut off", "t.py::a", NULL, HEAD LINES "PASSED t.py::a\n" TAIL, -1, VERDICT_RESOLVED, VERDICT_UNRESOLVED, "exact", NULL },
};
/* clang-format on */

static void run_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct task t = with(rows[i].f2p, rows[i].p2p);
		const struct verdict_test *last;
		struct verdict v;
		struct err err = { 0 };

		if (decide(&t, rows[i].log, rows[i].exit_status, NULL, &v, &err) < 0) {
			tap_ok(false, "%s: %s", rows[i].name, err.text);
			continue;
		}
		last = &v.tests[v.n_tests - 1];
		tap_is_str(verdict_name(v.kind), verdict_name(rows[i].compat), rows[i].name);
		tap_is_str(verdict_name(v.match->exact_kind), verdict_name(rows[i].exact),
			   rows[i].name);
		tap_is_str(match_how_name(last->how), rows[i].how, rows[i].name);
		tap_ok(rows[i].why ? last->why && strncmp(last->why, rows[i].why,
							  strlen(rows[i].why)) == 0
				   : !last->why,
		       "%s: %s", rows[i].name, last->why ? last->why : "no difference");
		tap_ok(v.match->differences == (last->why != NULL), "%s: differences counted",
		       rows[i].name);
		tap_ok(v.kind != VERDICT_INFRA && v.log.len == strlen(rows[i].log),
		       "%s: the log is kept", rows[i].name);
		verdict_done(&v);
		done(&t);
	}
}

/* What verdict.json and report.json say of it. */
static void json(void)
{
	static const char report[] =
		"{\"acme__calc-12\": {\"resolved\": true, \"tests_status\": {\"FAIL_TO_PASS\": "
		"{\"success\": [\"t.py::a\"], \"failure\": []}, \"PASS_TO_PASS\": {\"success\": [], "
		"\"failure\": [\"t.py::p[x\", \"t.py::other\"]}}}}";
	struct task t = with("t.py::a", "t.py::p[x");
	auto_buf text = BUF_INIT(1u << 20), swebench = BUF_INIT(1u << 20);
	struct verdict v;
	struct err err = { 0 };
	cJSON *root, *match, *published, *second;

	if (decide(&t, pytest_log, -1, report, &v, &err) < 0) {
		tap_ok(false, "%s", err.text);
		return;
	}
	verdict_json(&t, &v, NULL, &text);
	verdict_swebench(&t, &v, &swebench);
	root = cJSON_Parse(buf_str(&text));
	match = cJSON_GetObjectItem(root, "match");
	published = cJSON_GetObjectItem(root, "published");
	second = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "tests"), 1);
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(match, "mode")), "swebench-compat",
		   "mode");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(match, "reader")), "swebench/pytest",
		   "reader");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(match, "exact_reader")), "pytest",
		   "exact reader");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(match, "exact_verdict")), "unresolved",
		   "exact verdict");
	tap_ok(cJSON_GetObjectItem(match, "differences")->valueint == 1, "one test differs");
	tap_ok(cJSON_IsTrue(cJSON_GetObjectItem(second, "passed")), "the second test passed");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(second, "how")), "exact",
		   "found among the cut names");
	tap_ok(cJSON_IsFalse(cJSON_GetObjectItem(cJSON_GetObjectItem(second, "exact"), "passed")),
	       "not so exactly");
	tap_ok(strncmp(cJSON_GetStringValue(cJSON_GetObjectItem(second, "why")), "cut:", 4) == 0,
	       "and why");
	tap_ok(cJSON_IsFalse(cJSON_GetObjectItem(published, "same")) &&
		       cJSON_GetObjectItem(published, "tests")->valueint == 2,
	       "the report beside it says otherwise of one of two");
	tap_is_str(cJSON_GetStringValue(
			   cJSON_GetArrayItem(cJSON_GetObjectItem(published, "differences"), 0)),
		   "t.py::p[x", "of this one");
	tap_ok(strstr(buf_str(&swebench), "\"resolved\": true") != NULL,
	       "SWE-bench's report says resolved");
	cJSON_Delete(root);
	verdict_done(&v);
	done(&t);
}

/* Digests: of the mode and the eval type, too; those of exact tasks do not know them. */
static void digests(void)
{
	struct task t = with("t.py::a", NULL), u = t;
	char a[65], b[65], c[65];

	verdict_task_digest(&t, a);
	u.test.eval_type = TASK_EVAL_FAIL_ONLY;
	verdict_task_digest(&u, b);
	u.test.match = TASK_MATCH_EXACT;
	verdict_task_digest(&u, c);
	tap_ok(strcmp(a, b) != 0 && strcmp(b, c) != 0, "mode and eval type decide");
	u.test.eval_type = TASK_EVAL_PASS_AND_FAIL;
	tap_is_str(verdict_task_digest(&u, a), c, "an exact task's eval type does not");
	done(&t);
}

/* fail_only: what is not there has passed, if anything ran. */
static void failures_only(void)
{
	struct task t = with("a b", NULL);
	struct verdict v;
	struct err err = { 0 };

	t.test.reader = (char *)"swebench/marked";
	t.test.eval_type = TASK_EVAL_FAIL_ONLY;
	tap_ok(decide(&t, HEAD "3 specs, 0 failures\n" TAIL, -1, NULL, &v, &err) == 0 &&
		       v.kind == VERDICT_RESOLVED && v.tests[0].rule == MATCH_ABSENT_PASSES,
	       "absent passes");
	tap_ok(!v.match->exact_reader && !v.match->exact_reason, "there is no exact verdict");
	verdict_done(&v);
	tap_ok(decide(&t, HEAD "1) a b\n1 spec, 1 failure\n" TAIL, -1, NULL, &v, &err) == 0 &&
		       v.kind == VERDICT_UNRESOLVED,
	       "failed fails");
	verdict_done(&v);
	tap_ok(decide(&t, HEAD "no browser\n" TAIL, -1, NULL, &v, &err) == 0 &&
		       v.kind == VERDICT_UNRESOLVED && !verdict_passed(&v.tests[0]),
	       "nothing ran: nothing passed");
	verdict_done(&v);
	done(&t);
}

/* The results of the exact reader, counted by those rules. */
static void plain_reader(void)
{
	struct task t = with("t.py::a", "t.py::p[x");
	struct verdict v;
	struct err err = { 0 };

	t.test.reader = (char *)"pytest";
	tap_ok(decide(&t, pytest_log, 0, NULL, &v, &err) == 0 && v.kind == VERDICT_RESOLVED &&
		       v.tests[1].how == MATCH_CUT && v.match->exact_kind == VERDICT_UNRESOLVED,
	       "ids of an exact reader are cut");
	verdict_done(&v);
	done(&t);
}

static const char failed_log[] = LINES "PASSED t.py::a\nFAILED t.py::b\n"
				       "== 1 failed, 1 passed in 0.1s ==\n";

static void exactly(void)
{
	struct task t = with("t.py::a", NULL);
	struct verdict v;
	struct err err = { 0 };

	t.test.match = TASK_MATCH_EXACT;
	tap_ok(decide(&t, pytest_log, -1, NULL, &v, &err) == 0 && v.kind == VERDICT_RESOLVED &&
		       !v.match && v.exit_status == -1,
	       "exact mode takes the exact reader of the same runner");
	verdict_done(&v);
	done(&t);
	t = with("t.py::a", NULL);
	t.test.match = TASK_MATCH_EXACT;
	t.test.reader = (char *)"pytest";
	tap_ok(decide(&t, failed_log, -1, NULL, &v, &err) == 0 && v.kind == VERDICT_RESOLVED,
	       "an exit status that is not known contradicts nothing");
	verdict_done(&v);
	tap_ok(decide(&t, failed_log, 3, NULL, &v, &err) == 0 && v.kind == VERDICT_UNRESOLVED &&
		       !v.complete,
	       "one that is known does");
	verdict_done(&v);
	tap_ok(decide(&t,
		      HEAD ">>>>> Test Exit Code: 3\n" TAIL LINES
			   "PASSED t.py::a\n== 1 passed in 0.1s ==\n",
		      0, NULL, &v, &err) == 0 &&
		       v.kind == VERDICT_UNRESOLVED && v.exit_status == 3,
	       "that of the log counts first");
	verdict_done(&v);
	done(&t);
}

static void refused(void)
{
	/* clang-format off */
	static const struct {
		const char *reader, *report, *want;
		int match;
	} bad[] = {
		{ "exit-code", NULL, "reads nothing but the exit status", TASK_MATCH_EXACT },
		{ "swebench/marked", NULL, "\"match\": \"swebench-compat\"", TASK_MATCH_EXACT },
		{ "pytset", NULL, "did you mean \"pytest\"", TASK_MATCH_EXACT },
		{ "swebench/pytset", NULL, "did you mean \"swebench/pytest\"", TASK_MATCH_SWEBENCH },
		{ "pytest", "{", "report.json", TASK_MATCH_EXACT },
		{ "pytest", "{\"other\": {}}", "belongs to another task", TASK_MATCH_EXACT },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct task t = with("t.py::a", NULL);
		struct verdict v;
		struct err err = { 0 };
		int rc;

		t.test.reader = (char *)bad[i].reader;
		t.test.match = bad[i].match;
		rc = decide(&t, "PASSED t.py::a\n", -1, bad[i].report, &v, &err);
		tap_ok(rc == -ERR_INPUT && strstr(err.text, bad[i].want), "%s: %s", bad[i].reader,
		       rc < 0 ? err.text : "no error");
		if (rc == 0)
			verdict_done(&v);
		done(&t);
	}
}

int main(void)
{
	run_rows();
	json();
	digests();
	failures_only();
	plain_reader();
	exactly();
	refused();
	return tap_done();
}

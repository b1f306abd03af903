/* From results to a verdict, without a box: which statuses count, which reason comes first, what the
 * two JSON files look like, what the digest depends on. */
#include "verifier/verdict_internal.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/grade_internal.h"

static struct task task = {
	.instance_id = (char *)"acme__calc-12",
	.workdir = (char *)"/workspace",
	.test = { .command = (char *)"sh tests/run.sh",
		  .reader = (char *)"tap",
		  .timeout = 600ull * 1000000000 },
};
static const struct profile unlimited, limited = { .limits.max[LIMIT_MEMORY] = 1u << 30 };

/* "name status" pairs to results. */
static void results(struct test_results *r, const char *const *v)
{
	for (; *v; v++) {
		const char *eq = strrchr(*v, '=');

		for (int s = 0; s <= TEST_MISSING; s++)
			if (strcmp(eq + 1, test_status_name((enum test_status)s)) == 0)
				testlog_add(r, *v, (size_t)(eq - *v), (enum test_status)s, 1, 2);
	}
}

struct row {
	const char *name;
	const char *results[6];
	bool incomplete;
	struct grade_end end;
	const struct profile *profile;
	enum verdict_kind kind;
	const char *reason;
};

static const struct row rows[] = {
	{ "all passed",
	  { "big=passed", "small=passed" },
	  .kind = VERDICT_RESOLVED,
	  .reason = "all 2 listed tests passed" },
	{ "unlisted tests may fail",
	  { "big=passed", "small=passed", "other=failed" },
	  .kind = VERDICT_RESOLVED,
	  .reason = "all 2 listed tests passed" },
	{ "xpass has passed",
	  { "big=xpass", "small=passed" },
	  .kind = VERDICT_RESOLVED,
	  .reason = "all 2 listed tests passed" },
	{ "xfail has not",
	  { "big=xfail", "small=passed" },
	  .kind = VERDICT_UNRESOLVED,
	  .reason =
		  "1 of 1 FAIL_TO_PASS and 0 of 1 PASS_TO_PASS tests did not pass, first: big (xfail)" },
	{ "skipped has not",
	  { "big=passed", "small=skipped" },
	  .kind = VERDICT_UNRESOLVED,
	  .reason =
		  "0 of 1 FAIL_TO_PASS and 1 of 1 PASS_TO_PASS tests did not pass, first: small (skipped)" },
	{ "missing has not",
	  { "big=passed" },
	  .kind = VERDICT_UNRESOLVED,
	  .reason =
		  "0 of 1 FAIL_TO_PASS and 1 of 1 PASS_TO_PASS tests did not pass, first: small (missing)" },
	{ "a forged line in front of the real one",
	  { "big=passed", "big=failed", "small=passed" },
	  .kind = VERDICT_UNRESOLVED,
	  .reason =
		  "1 of 1 FAIL_TO_PASS and 0 of 1 PASS_TO_PASS tests did not pass, first: big (failed)" },
	{ "repetitions that all passed",
	  { "big=passed", "big=passed", "small=passed" },
	  .kind = VERDICT_RESOLVED,
	  .reason = "all 2 listed tests passed" },
	{ "incomplete",
	  { "big=passed", "small=passed" },
	  .incomplete = true,
	  .kind = VERDICT_UNRESOLVED,
	  .reason = "the listed tests passed, but the results are incomplete: cut" },
	{ "timeout comes first",
	  { "big=failed", "small=passed" },
	  .incomplete = true,
	  .end = { .stopped = true, .over = LIMIT_WALL, .limit = 600ull * 1000000000 },
	  .kind = VERDICT_UNRESOLVED,
	  .reason = "timeout: the tests ran longer than 10m" },
	{ "output",
	  { "big=passed", "small=passed" },
	  .end = { .stopped = true, .over = LIMIT_OUTPUT, .limit = 1u << 20 },
	  .kind = VERDICT_UNRESOLVED,
	  .reason = "output: the tests needed more than 1M (limits.output)" },
	{ "memory, no limit of ours",
	  { "big=failed" },
	  .end = { .oom = true },
	  .kind = VERDICT_INFRA,
	  .reason =
		  "the kernel killed for memory, and the profile has no memory limit: the host ran out; "
		  "grade again" },
	{ "memory, our limit",
	  { "big=failed" },
	  .end = { .oom = true },
	  .profile = &limited,
	  .kind = VERDICT_UNRESOLVED,
	  .reason = "memory: the tests needed more than 1G (limits.memory)" },
	{ "memory, our limit, and yet all passed",
	  { "big=passed", "small=passed" },
	  .end = { .oom = true },
	  .profile = &limited,
	  .kind = VERDICT_RESOLVED,
	  .reason = "all 2 listed tests passed" },
};

static void run_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verdict v = { .exit_status = 0, .complete = !rows[i].incomplete };
		struct test_results r = { 0 };

		results(&r, rows[i].results);
		if (rows[i].incomplete)
			v.note = mem_strdup("cut");
		verdict_fill(&v, &task, &r);
		verdict_decide(&v, &task, rows[i].profile ? rows[i].profile : &unlimited,
			       &rows[i].end);
		tap_ok(v.kind == rows[i].kind, "%s: %s", rows[i].name, verdict_name(v.kind));
		tap_ok(strncmp(v.reason, rows[i].reason, strlen(rows[i].reason)) == 0,
		       "%s: reason: %s", rows[i].name, v.reason);
		verdict_done(&v);
		testlog_done(&r);
	}
}

/* Listed repetitions are looked at by themselves; ids are compared with the root taken off. */
static void test_names(void)
{
	struct task t = task;
	struct test_results r = { 0 };
	struct verdict v = { .complete = true };
	static const char *const got[] = { "x=passed", "x=failed", "t[ROOT/d]=passed", NULL };

	t.fail_to_pass = t.pass_to_pass = (struct strv){ 0 };
	strv_add(&t.fail_to_pass, "x");
	strv_add(&t.fail_to_pass, "t[/workspace/d]");
	strv_add(&t.pass_to_pass, "x #2");
	results(&r, got);
	verdict_fill(&v, &t, &r);
	tap_ok(v.tests[0].status == TEST_PASSED && v.tests[0].f2p, "x");
	tap_ok(v.tests[1].status == TEST_PASSED, "the root in an id");
	tap_ok(v.tests[2].status == TEST_FAILED && !v.tests[2].f2p, "x #2, listed itself");
	verdict_done(&v);
	testlog_done(&r);
	strv_done(&t.fail_to_pass);
	strv_done(&t.pass_to_pass);
}

static struct verdict sample(void)
{
	static const char *const got[] = { "big=passed", NULL };
	const char *const patches[] = { "diff", NULL };
	struct test_results r = { 0 };
	struct verdict v = { .complete = true,
			     .patch_exists = true,
			     .patch_applied = true,
			     .method = "exact",
			     .exit_status = 1,
			     .wall_ns = 5 };

	results(&r, got);
	strv_add(&v.dropped, "tests/a b.sh");
	strv_add(&v.tamper, "hidden-tests tests/a b.sh");
	verdict_fill(&v, &task, &r);
	verdict_decide(&v, &task, &unlimited, NULL);
	verdict_digest(&v, &task, patches);
	testlog_done(&r);
	return v;
}

static const cJSON *at(const cJSON *root, const char *a, const char *b)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(root, a);

	return b ? cJSON_GetObjectItemCaseSensitive(x, b) : x;
}

static void test_json(void)
{
	struct verdict v = sample();
	auto_buf out = BUF_INIT(1u << 20), sb = BUF_INIT(1u << 20);
	cJSON *root, *report;
	const cJSON *inst;

	verdict_json(&task, &v, "plan", &out);
	root = cJSON_Parse(buf_str(&out));
	tap_ok(root, "verdict.json parses");
	tap_is_str(cJSON_GetStringValue(at(root, "schema", NULL)), "proctor.verdict/1", "schema");
	tap_is_str(cJSON_GetStringValue(at(root, "verdict", NULL)), "unresolved", "verdict");
	tap_is_str(cJSON_GetStringValue(cJSON_GetArrayItem(at(root, "FAIL_TO_PASS", "success"), 0)),
		   "big", "FAIL_TO_PASS.success");
	tap_is_str(cJSON_GetStringValue(cJSON_GetArrayItem(at(root, "PASS_TO_PASS", "failure"), 0)),
		   "small", "PASS_TO_PASS.failure");
	tap_is_str(cJSON_GetStringValue(
			   at(cJSON_GetArrayItem(at(root, "tamper", NULL), 0), "path", NULL)),
		   "tests/a b.sh", "tamper path with a blank");
	tap_is_str(cJSON_GetStringValue(cJSON_GetArrayItem(at(root, "patch", "dropped"), 0)),
		   "tests/a b.sh", "patch.dropped");
	tap_ok(cJSON_IsArray(at(root, "checks", NULL)), "checks is there");
	tap_is_str(cJSON_GetStringValue(at(root, "plan_digest", NULL)), "plan", "plan digest");
	tap_ok(strlen(cJSON_GetStringValue(at(root, "verifier_digest", NULL))) == 64,
	       "verifier digest");
	verdict_swebench(&task, &v, &sb);
	report = cJSON_Parse(buf_str(&sb));
	inst = at(report, "acme__calc-12", NULL);
	tap_ok(cJSON_IsFalse(at(inst, "patch_is_None", NULL)) &&
		       cJSON_IsTrue(at(inst, "patch_exists", NULL)) &&
		       cJSON_IsTrue(at(inst, "patch_successfully_applied", NULL)) &&
		       cJSON_IsFalse(at(inst, "resolved", NULL)),
	       "report.json: the four flags");
	tap_ok(cJSON_GetArraySize(at(at(inst, "tests_status", "PASS_TO_PASS"), "failure", NULL)) ==
		       1,
	       "report.json: tests_status");
	cJSON_Delete(root);
	cJSON_Delete(report);
	verdict_done(&v);
}

static void test_digest(void)
{
	struct verdict a = sample(), b = sample();
	const char *const other[] = { "diff2", NULL };
	char one[65], two[65];

	tap_is_str(a.digest, b.digest, "same inputs, same digest");
	verdict_digest(&b, &task, other);
	tap_ok(strcmp(a.digest, b.digest) != 0, "another patch, another digest");
	verdict_task_digest(&task, one);
	strv_add(&task.pass_to_pass, "more");
	verdict_task_digest(&task, two);
	tap_ok(strcmp(one, two) != 0, "another list, another task digest");
	verdict_done(&a);
	verdict_done(&b);
}

static void test_set(void)
{
	struct verdict v = { .kind = VERDICT_RESOLVED };

	verdict_set(&v, VERDICT_UNRESOLVED, "a\nb\033c %d", 1);
	verdict_set(&v, VERDICT_INFRA, "later");
	tap_is_str(v.reason, "a b c 1", "one line, first one wins");
	tap_ok(v.kind == VERDICT_UNRESOLVED, "kind of the first");
	verdict_done(&v);
	tap_is_str(verdict_name((enum verdict_kind)9), "infra", "name out of range");
}

int main(void)
{
	strv_add(&task.fail_to_pass, "big");
	strv_add(&task.pass_to_pass, "small");
	run_rows();
	test_names();
	test_json();
	test_digest();
	test_set();
	strv_done(&task.fail_to_pass);
	strv_done(&task.pass_to_pass);
	return tap_done();
}

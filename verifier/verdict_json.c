#include "verifier/grade.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* "success" and "failure" names of one list. */
static void split(struct json_w *w, const struct verdict *v, const char *key, bool f2p)
{
	static const char *const halves[] = { "success", "failure" };

	json_open(w, key, '{');
	for (size_t h = 0; h < ARRAY_SIZE(halves); h++) {
		json_open(w, halves[h], '[');
		for (size_t i = 0; i < v->n_tests; i++) {
			const struct verdict_test *t = &v->tests[i];
			bool good = verdict_passed(t);

			if (t->f2p == f2p && good == (h == 0))
				json_str(w, NULL, t->name);
		}
		json_close(w, ']');
	}
	json_close(w, '}');
}

/* Why a test counts as it does, and what exact mode says of it. */
static void test_match(struct json_w *w, const struct verdict *v, const struct verdict_test *t)
{
	json_str(w, "rule", match_rule_name(t->rule));
	if (!v->match->exact_reader)
		return;
	json_open(w, "exact", '{');
	json_str(w, "status", test_status_name(t->exact.status));
	json_bool(w, "passed", t->exact.passed);
	json_str(w, "how", match_how_name(t->exact.how));
	json_close(w, '}');
	json_str(w, "why", t->why);
}

/* Which rules the verdict follows; with those of SWE-bench, the exact verdict beside it. */
static void match(struct json_w *w, const struct task *task, const struct verdict *v)
{
	static const char *const eval_types[] = { "pass_and_fail", "fail_only" };
	const struct verdict_match *m = v->match;

	json_open(w, "match", '{');
	json_str(w, "mode", task->test.match == TASK_MATCH_SWEBENCH ? "swebench-compat" : "exact");
	if (m) {
		json_str(w, "eval_type", eval_types[task->test.eval_type == TASK_EVAL_FAIL_ONLY]);
		json_str(w, "reader", m->reader);
		json_str(w, "exact_reader", m->exact_reader);
		json_str(w, "exact_verdict", m->exact_reader ? verdict_name(m->exact_kind) : NULL);
		json_str(w, "exact_reason", m->exact_reason);
		json_bool(w, "exact_complete", m->exact_complete);
		json_str(w, "exact_note", m->exact_note);
		json_u64(w, "differences", m->differences);
	}
	json_close(w, '}');
	if (!v->published)
		return;
	json_open(w, "published", '{');
	json_bool(w, "resolved", v->published->resolved);
	json_bool(w, "same",
		  v->published->resolved == (v->kind == VERDICT_RESOLVED) &&
			  !v->published->differs.n);
	json_u64(w, "tests", v->published->tests);
	json_strings(w, "differences", v->published->differs.v, v->published->differs.n);
	json_close(w, '}');
}

static void tests(struct json_w *w, const struct verdict *v)
{
	json_open(w, "tests", '[');
	for (size_t i = 0; i < v->n_tests; i++) {
		const struct verdict_test *t = &v->tests[i];

		json_open(w, NULL, '{');
		json_str(w, "name", t->name);
		json_str(w, "list", t->f2p ? "FAIL_TO_PASS" : "PASS_TO_PASS");
		json_str(w, "expected", test_status_name(TEST_PASSED));
		json_str(w, "status", test_status_name(t->status));
		json_bool(w, "passed", verdict_passed(t));
		json_str(w, "how", match_how_name(t->how));
		if (v->match)
			test_match(w, v, t);
		if (t->status == TEST_MISSING) {
			json_null(w, "log_span");
		} else {
			json_open(w, "log_span", '[');
			json_u64(w, NULL, t->from);
			json_u64(w, NULL, t->to);
			json_close(w, ']');
		}
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* Where the results came from; null when the tests were not run. */
static void channel(struct json_w *w, const struct verdict *v)
{
	const struct verdict_channel *c = &v->channel;

	if (!c->kind) {
		json_null(w, "channel");
		return;
	}
	json_open(w, "channel", '{');
	json_str(w, "kind", c->kind);
	json_str(w, "runner", c->who);
	json_bool(w, "complete", c->complete);
	json_u64(w, "records", c->records);
	json_u64(w, "disagreements", c->disagreements);
	json_str(w, "note", c->note);
	json_close(w, '}');
}

static void patch(struct json_w *w, const struct verdict *v)
{
	json_open(w, "patch", '{');
	json_bool(w, "exists", v->patch_exists);
	json_bool(w, "applied", v->patch_applied);
	json_str(w, "method", v->method);
	json_strings(w, "dropped", v->dropped.v, v->dropped.n);
	json_close(w, '}');
}

/* "KIND:ACTION PATH" rows (see replay_tamper()) as objects. */
static void tamper(struct json_w *w, const struct verdict *v)
{
	json_open(w, "tamper", '[');
	strv_each (i, &v->tamper) {
		const char *row = v->tamper.v[i], *blank = strchr(row, ' ');
		size_t n = blank ? (size_t)(blank - row) : strlen(row);
		const char *colon = memchr(row, ':', n);
		size_t kind = colon ? (size_t)(colon - row) : n;

		json_open(w, NULL, '{');
		json_strn(w, "kind", row, kind);
		json_str(w, "path", blank ? blank + 1 : "");
		if (colon)
			json_strn(w, "action", colon + 1, n - kind - 1);
		else
			json_str(w, "action", "seen");
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* The agent's own tree beside the replayed patch: its verdict, and the tests that differ. */
static void own_tree(struct json_w *w, const struct verdict *v)
{
	const struct verdict *own = v->own;

	if (!own && !v->own_same) {
		json_null(w, "own_tree");
		return;
	}
	json_open(w, "own_tree", '{');
	json_bool(w, "same_tree", !own);
	json_str(w, "verdict", verdict_name(own ? own->kind : v->kind));
	json_str(w, "reason", own ? own->reason : v->reason);
	json_open(w, "differences", '[');
	for (size_t i = 0; own && i < v->n_tests && i < own->n_tests; i++) {
		if (v->tests[i].status == own->tests[i].status)
			continue;
		json_open(w, NULL, '{');
		json_str(w, "name", v->tests[i].name);
		json_str(w, "replayed", test_status_name(v->tests[i].status));
		json_str(w, "own", test_status_name(own->tests[i].status));
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
}

void verdict_json(const struct task *task, const struct verdict *v, const char *plan_digest,
		  struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };
	char sum[65];

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.verdict/1");
	json_str(&w, "instance_id", task->instance_id);
	json_str(&w, "verdict", verdict_name(v->kind));
	json_str(&w, "reason", v->reason);
	tests(&w, v);
	split(&w, v, "FAIL_TO_PASS", true);
	split(&w, v, "PASS_TO_PASS", false);
	patch(&w, v);
	tamper(&w, v);
	json_open(&w, "checks", '[');
	json_close(&w, ']');
	json_str(&w, "reader", task->test.reader);
	match(&w, task, v);
	channel(&w, v);
	json_bool(&w, "complete", v->complete);
	json_str(&w, "note", v->note);
	if (v->exit_status < 0)
		json_null(&w, "exit_status");
	else
		json_u64(&w, "exit_status", (uint64_t)v->exit_status);
	json_u64(&w, "infra_repeats", v->infra_repeats);
	own_tree(&w, v);
	if (v->stages)
		json_raw(&w, "stages", v->stages);
	json_open(&w, "resources", '{');
	json_u64(&w, "wall_ns", v->wall_ns);
	json_u64(&w, "cpu_ns", v->cpu_ns);
	json_u64(&w, "max_mem", v->max_mem);
	json_u64(&w, "output", v->log.len);
	json_close(&w, '}');
	json_str(&w, "verifier_digest", verdict_task_digest(task, sum));
	json_str(&w, "digest", v->digest);
	json_str(&w, "plan_digest", plan_digest);
	if (v->goal) {
		json_open(&w, "authority", '{');
		json_str(&w, "goal", v->goal);
		json_str(&w, "verifier", v->verifier);
		json_close(&w, '}');
	}
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void verdict_swebench(const struct task *task, const struct verdict *v, struct buf *out)
{
	static const char *const unused[] = { "FAIL_TO_FAIL", "PASS_TO_FAIL" };
	struct json_w w = { .b = out, .pretty = true };
	auto_buf id = BUF_INIT(1u << 20);

	/* The writer does not escape keys; an instance id is [A-Za-z0-9._-]+, but this text is also
	 * made for tasks that no file was read for. */
	json_escape(&id, task->instance_id, strlen(task->instance_id));
	json_open(&w, NULL, '{');
	json_open(&w, buf_str(&id), '{');
	json_bool(&w, "patch_is_None", !v->patch_exists);
	json_bool(&w, "patch_exists", v->patch_exists);
	json_bool(&w, "patch_successfully_applied", v->patch_applied);
	json_bool(&w, "resolved", v->kind == VERDICT_RESOLVED);
	json_bool(&w, "infra_failure", v->kind == VERDICT_INFRA);
	json_open(&w, "tests_status", '{');
	split(&w, v, "FAIL_TO_PASS", true);
	split(&w, v, "PASS_TO_PASS", false);
	for (size_t i = 0; i < ARRAY_SIZE(unused); i++) {
		json_open(&w, unused[i], '{');
		json_open(&w, "success", '[');
		json_close(&w, ']');
		json_open(&w, "failure", '[');
		json_close(&w, ']');
		json_close(&w, '}');
	}
	json_close(&w, '}');
	json_close(&w, '}');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

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
			bool good = t->status == TEST_PASSED || t->status == TEST_XPASS;

			if (t->f2p == f2p && good == (h == 0))
				json_str(w, NULL, t->name);
		}
		json_close(w, ']');
	}
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

static void patch(struct json_w *w, const struct verdict *v)
{
	json_open(w, "patch", '{');
	json_bool(w, "exists", v->patch_exists);
	json_bool(w, "applied", v->patch_applied);
	json_str(w, "method", v->method);
	json_strings(w, "dropped", v->dropped.v, v->dropped.n);
	json_close(w, '}');
}

/* "kind path" rows as objects. */
static void tamper(struct json_w *w, const struct verdict *v)
{
	json_open(w, "tamper", '[');
	strv_each (i, &v->tamper) {
		const char *row = v->tamper.v[i], *blank = strchr(row, ' ');
		size_t n = blank ? (size_t)(blank - row) : strlen(row);

		json_open(w, NULL, '{');
		json_strn(w, "kind", row, n);
		json_str(w, "path", blank ? blank + 1 : "");
		json_close(w, '}');
	}
	json_close(w, ']');
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
	json_bool(&w, "complete", v->complete);
	json_str(&w, "note", v->note);
	if (v->exit_status < 0)
		json_null(&w, "exit_status");
	else
		json_u64(&w, "exit_status", (uint64_t)v->exit_status);
	json_open(&w, "resources", '{');
	json_u64(&w, "wall_ns", v->wall_ns);
	json_u64(&w, "cpu_ns", v->cpu_ns);
	json_u64(&w, "max_mem", v->max_mem);
	json_u64(&w, "output", v->log.len);
	json_close(&w, '}');
	json_str(&w, "verifier_digest", verdict_task_digest(task, sum));
	json_str(&w, "digest", v->digest);
	json_str(&w, "plan_digest", plan_digest);
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

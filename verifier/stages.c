#include "verifier/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/verdict_internal.h"

static const enum stage_status status_of[] = {
	[TEST_PASSED] = STAGE_PASS,  [TEST_FAILED] = STAGE_FAIL, [TEST_ERROR] = STAGE_FAIL,
	[TEST_SKIPPED] = STAGE_SKIP, [TEST_XFAIL] = STAGE_SKIP,  [TEST_XPASS] = STAGE_PASS,
	[TEST_MISSING] = STAGE_NONE,
};

const char *stage_status_name(enum stage_status s)
{
	static const char *const names[] = { "NONE", "PASS", "FAIL", "SKIP" };

	return names[s];
}

void stages_add(struct stages_table *t, enum stage stage, const struct test_results *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct stage_test one = { .name = mem_strdup(r->v[i].name) };

		one.s[stage] = status_of[r->v[i].status];
		MEM_GROW(t->v, t->cap, t->n + 1);
		t->v[t->n++] = one;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct stage_test *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void stages_sort(struct stages_table *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_name);
	for (size_t i = 0; i < t->n; i++) {
		if (!n || strcmp(t->v[n - 1].name, t->v[i].name) != 0) {
			t->v[n++] = t->v[i];
			continue;
		}
		for (int s = 0; s < STAGES; s++)
			if (t->v[i].s[s])
				t->v[n - 1].s[s] = t->v[i].s[s];
		free(t->v[i].name);
	}
	t->n = n;
}

void stages_done(struct stages_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].name);
	free(t->v);
	*t = (struct stages_table){ .v = NULL };
}

/* The rules over all tests; the first test that breaks each. */
struct rules {
	bool any, fixed;
	const struct stage_test *broken, *anomalous;
};

char *stages_judge(const struct stages_table *t)
{
	struct rules r = { .broken = NULL };

	for (size_t i = 0; i < t->n; i++) {
		const struct stage_test *e = &t->v[i];
		enum stage_status run = e->s[STAGE_RUN], test = e->s[STAGE_TEST],
				  fix = e->s[STAGE_FIX];

		r.any = r.any || fix;
		r.fixed = r.fixed || (test != STAGE_PASS && fix == STAGE_PASS);
		if (!r.broken && test == STAGE_PASS && fix == STAGE_FAIL)
			r.broken = e;
		if (!r.anomalous && (test == STAGE_NONE || test == STAGE_SKIP) &&
		    fix == STAGE_FAIL && run == STAGE_PASS)
			r.anomalous = e;
	}
	if (!r.any)
		return mem_strdup("no test result with the patch");
	if (r.broken)
		return mem_printf("a test that passed before the patch fails with it: %.200s",
				  r.broken->name);
	if (!r.fixed)
		return mem_strdup("no test came to pass with the patch");
	if (r.anomalous)
		return mem_printf("a test that passed on the base and did not run with the tests "
				  "of the task fails with the patch: %.200s",
				  r.anomalous->name);
	return NULL;
}

/* Where the results of the stage under way go. */
struct sink {
	struct stages_table table;
	enum stage stage;
};

static void take_results(void *arg, const struct test_results *r)
{
	struct sink *s = arg;

	stages_add(&s->table, s->stage, r);
}

/* One stage: what it leaves out of task and request. The lists stay, or the task would be invalid. */
static int run_stage(const struct grade_request *whole, enum stage stage, struct sink *sink,
		     struct verdict *v, struct err *err)
{
	static const char *const names[] = { "run", "test patch", "fix patch" };
	struct grade_request req = *whole;
	struct task task = *whole->task; /* borrowed fields, never freed */
	int rc;

	task.test.stages = false;
	if (stage == STAGE_RUN)
		task.test_patch = NULL;
	if (stage != STAGE_FIX)
		memset(req.patches, 0, sizeof(req.patches));
	req.task = &task;
	req.results = take_results;
	req.results_arg = sink;
	sink->stage = stage;
	rc = grade_run(&req, v, err);
	return rc < 0 ? err_wrap(err, "stage \"%s\"", names[stage]) : 0;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The worse of what the first stages and the last came to: infra and invalid of an earlier one make the last
 * worthless. */
static void merge(struct verdict *last, struct verdict *earlier, const char *name)
{
	last->wall_ns += earlier->wall_ns;
	last->cpu_ns += earlier->cpu_ns;
	last->max_mem = max(last->max_mem, earlier->max_mem);
	last->max_disk = max(last->max_disk, earlier->max_disk);
	last->max_tasks = max(last->max_tasks, earlier->max_tasks);
	if (earlier->kind < VERDICT_INVALID || last->kind == VERDICT_INFRA)
		return;
	free(last->reason);
	last->kind = earlier->kind;
	last->reason = mem_printf("stage \"%s\": %s", name, earlier->reason);
}

int stages_run(const struct grade_request *req, struct verdict *ret, struct err *err)
{
	struct sink sink = { .stage = STAGE_RUN };
	struct verdict v[STAGES] = { { .exit_status = -1 },
				     { .exit_status = -1 },
				     { .exit_status = -1 } };
	struct verdict *last = &v[STAGE_FIX];
	auto_free char *broken = NULL;
	auto_buf report = BUF_INIT(STAGES_REPORT_MAX);
	int rc = 0;

	for (int s = 0; s < STAGES && rc == 0; s++)
		rc = run_stage(req, s, &sink, &v[s], err);
	if (rc == 0) {
		stages_sort(&sink.table);
		broken = stages_judge(&sink.table);
		if (last->kind == VERDICT_RESOLVED && broken) {
			free(last->reason);
			last->reason = NULL;
			verdict_set(last, VERDICT_UNRESOLVED, "%s", broken);
		}
		merge(last, &v[STAGE_TEST], "test patch");
		merge(last, &v[STAGE_RUN], "run");
		stages_report(req->task, &sink.table,
			      last->kind == VERDICT_RESOLVED ? NULL : last->reason, &report);
		last->stages = buf_steal(&report, NULL);
		verdict_digest(last, req->task, req->patches);
	}
	stages_done(&sink.table);
	for (int s = 0; s < STAGES; s++)
		if (rc < 0 || s != STAGE_FIX)
			verdict_done(&v[s]);
	if (rc == 0)
		*ret = *last;
	return rc;
}

#include "verifier/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* The classes by what a test was with the test patch; all pass with the candidate. */
static const struct class_row {
	const char *key;
	enum stage_status test;
	bool any_but_pass; /* the sum of all but p2p */
} classes[] = {
	{ "fixed_tests", STAGE_NONE, true }, { "p2p_tests", STAGE_PASS, false },
	{ "f2p_tests", STAGE_FAIL, false },  { "s2p_tests", STAGE_SKIP, false },
	{ "n2p_tests", STAGE_NONE, false },
};

static void test_object(struct json_w *w, const struct stage_test *e)
{
	static const char *const keys[] = { "run", "test", "fix" };
	auto_buf name = BUF_INIT(1u << 20);

	json_escape(&name, e->name, strlen(e->name)); /* the writer takes keys as they are */
	json_open(w, buf_str(&name), '{');
	for (int s = 0; s < STAGES; s++)
		json_str(w, keys[s], stage_status_name(e->s[s]));
	json_close(w, '}');
}

static void class_object(struct json_w *w, const struct stages_table *t, const struct class_row *c)
{
	json_open(w, c->key, '{');
	for (size_t i = 0; i < t->n; i++) {
		enum stage_status test = t->v[i].s[STAGE_TEST];

		if (t->v[i].s[STAGE_FIX] == STAGE_PASS &&
		    (c->any_but_pass ? test != STAGE_PASS : test == c->test))
			test_object(w, &t->v[i]);
	}
	json_close(w, '}');
}

static void result_object(struct json_w *w, const struct stages_table *t, enum stage s, bool names)
{
	static const char *const keys[] = { "run_result", "test_patch_result", "fix_patch_result" };
	static const struct {
		enum stage_status status;
		const char *count, *list;
	} rows[] = { { STAGE_PASS, "passed_count", "passed_tests" },
		     { STAGE_FAIL, "failed_count", "failed_tests" },
		     { STAGE_SKIP, "skipped_count", "skipped_tests" } };

	json_open(w, keys[s], '{');
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		size_t n = 0;

		for (size_t i = 0; i < t->n; i++)
			n += t->v[i].s[s] == rows[r].status;
		json_u64(w, rows[r].count, n);
	}
	for (size_t r = 0; r < ARRAY_SIZE(rows) && names; r++) {
		json_open(w, rows[r].list, '[');
		for (size_t i = 0; i < t->n; i++)
			if (t->v[i].s[s] == rows[r].status)
				json_str(w, NULL, t->v[i].name);
		json_close(w, ']');
	}
	json_close(w, '}');
}

/* What a listed test was before, as the task says. */
struct want {
	char *name;
	enum stage_status status;
	int rank; /* of several entries of one name the highest counts */
};

static int by_rank(const void *a, const void *b)
{
	const struct want *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : y->rank - x->rank;
}

static int by_name(const void *key, const void *want)
{
	return strcmp(key, ((const struct want *)want)->name);
}

/* The task's lists sorted by name, each name once, in the form that readers give. Caller frees. */
static struct want *wanted(const struct task *task, size_t *ret_n)
{
	const struct {
		const struct strv *list;
		enum stage_status status;
	} lists[] = { { &task->pass_to_pass, STAGE_PASS },
		      { &task->fail_to_pass, STAGE_FAIL },
		      { &task->test.s2p, STAGE_SKIP },
		      { &task->test.n2p, STAGE_NONE } };
	size_t n = 0, kept = 0;
	struct want *v;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		n += lists[l].list->n;
	v = mem_zalloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		strv_each (i, lists[l].list) {
			const char *name = lists[l].list->v[i];

			v[n++] = (struct want){ testlog_name(name, strlen(name), task->workdir),
						lists[l].status, (int)l };
		}
	qsort(v, n, sizeof(*v), by_rank);
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(v[kept - 1].name, v[i].name) == 0)
			free(v[i].name);
		else
			v[kept++] = v[i];
	}
	*ret_n = kept;
	return v;
}

/* Listed tests that passed, but were something else before than the task says. */
static void changed(struct json_w *w, const struct task *task, const struct stages_table *t)
{
	size_t n;
	struct want *v = wanted(task, &n);

	json_open(w, "class_changed", '[');
	for (size_t i = 0; i < t->n; i++) {
		const struct want *e = bsearch(t->v[i].name, v, n, sizeof(*v), by_name);

		if (e && t->v[i].s[STAGE_FIX] == STAGE_PASS && t->v[i].s[STAGE_TEST] != e->status)
			json_str(w, NULL, t->v[i].name);
	}
	json_close(w, ']');
	for (size_t i = 0; i < n; i++)
		free(v[i].name);
	free(v);
}

static void report(const struct task *task, const struct stages_table *t, const char *error,
		   bool names, struct buf *out)
{
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_bool(&w, "valid", !error);
	json_str(&w, "error_msg", error ? error : "");
	for (size_t c = 0; c < ARRAY_SIZE(classes) && names; c++)
		class_object(&w, t, &classes[c]);
	for (int s = 0; s < STAGES; s++)
		result_object(&w, t, s, names);
	if (names)
		changed(&w, task, t);
	else
		json_bool(&w, "truncated", true);
	json_close(&w, '}');
}

void stages_report(const struct task *task, const struct stages_table *t, const char *error,
		   struct buf *out)
{
	report(task, t, error, true, out);
	if (!out->full)
		return;
	buf_clear(out);
	report(task, t, error, false, out);
}

#include "study/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const id_keys[] = { "resolved_ids", "unresolved_ids", "invalid_ids",
				       "infra_ids" };

static void ids(struct json_w *w, const struct batch_result *r, int verdict)
{
	json_open(w, id_keys[verdict], '[');
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].verdict == verdict)
			json_str(w, NULL, r->v[i].instance_id);
	json_close(w, ']');
}

static void share(struct json_w *w, const size_t *count)
{
	size_t judged = count[VERDICT_RESOLVED] + count[VERDICT_UNRESOLVED];

	for (int v = VERDICT_RESOLVED; v <= VERDICT_INFRA; v++)
		json_u64(w, verdict_name(v), count[v]);
	json_u64(w, "judged", judged);
	if (judged)
		json_dbl(w, "resolved_share", (double)count[VERDICT_RESOLVED] / (double)judged);
	else
		json_null(w, "resolved_share");
}

static int by_model(const void *a, const void *b)
{
	const struct graded *x = *(const struct graded *const *)a,
			    *y = *(const struct graded *const *)b;
	int d = strcmp(x->model, y->model);

	return d ? d : (x > y) - (x < y); /* those of one model stay in order */
}

/* Pointers to the results, those of one model together. Caller frees. */
static const struct graded **sorted(const struct batch_result *r)
{
	const struct graded **v = mem_zalloc(r->n + 1, sizeof(*v));

	for (size_t i = 0; i < r->n; i++)
		v[i] = &r->v[i];
	qsort(v, r->n, sizeof(*v), by_model);
	return v;
}

struct batch_model *batch_models(const struct batch_result *r, size_t *ret_n)
{
	auto_free const struct graded **v = sorted(r);
	struct batch_model *m = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (n == 0 || strcmp(m[n - 1].model, v[i]->model) != 0) {
			MEM_GROW(m, cap, n + 1);
			m[n++] = (struct batch_model){ .model = v[i]->model };
		}
		m[n - 1].total++;
		m[n - 1].count[v[i]->verdict]++;
		m[n - 1].empty += !v[i]->patch_exists;
	}
	*ret_n = n;
	return m;
}

static void models(struct json_w *w, const struct batch_result *r)
{
	auto_free const struct graded **v = sorted(r);
	size_t n, at = 0;
	auto_free struct batch_model *m = batch_models(r, &n);

	json_open(w, "models", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(w, NULL, '{');
		json_str(w, "model", m[i].model);
		json_u64(w, "predictions", m[i].total);
		share(w, m[i].count);
		json_u64(w, "empty_patches", m[i].empty);
		for (int k = VERDICT_RESOLVED; k <= VERDICT_INFRA; k++) {
			json_open(w, id_keys[k], '[');
			for (size_t j = at; j < at + m[i].total; j++)
				if (v[j]->verdict == k)
					json_str(w, NULL, v[j]->instance_id);
			json_close(w, ']');
		}
		at += m[i].total;
		json_close(w, '}');
	}
	json_close(w, ']');
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Tasks of the set that nobody predicted anything for. */
static void untried(struct json_w *w, const struct batch_result *r, const struct taskset *tasks)
{
	auto_free const char **seen = mem_zalloc(r->n + 1, sizeof(*seen));

	for (size_t i = 0; i < r->n; i++)
		seen[i] = r->v[i].instance_id;
	qsort(seen, r->n, sizeof(*seen), by_name);
	json_open(w, "no_prediction_ids", '[');
	for (size_t i = 0; i < tasks->id.n; i++)
		if (!bsearch(&tasks->id.v[i], seen, r->n, sizeof(*seen), by_name))
			json_str(w, NULL, tasks->id.v[i]);
	json_close(w, ']');
}

void batch_summary(const struct batch_result *r, const struct taskset *tasks, struct buf *out)
{
	const struct batch_state *st = &r->state;
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.graded-summary/1");
	json_u64(&w, "tasks", tasks->id.n);
	json_u64(&w, "predictions", r->n);
	share(&w, st->count);
	json_u64(&w, "infra_repeats", st->infra_repeats);
	json_u64(&w, "empty_patches", st->empty);
	json_u64(&w, "tampered", st->tampered);
	for (int v = VERDICT_RESOLVED; v <= VERDICT_INFRA; v++)
		ids(&w, r, v);
	untried(&w, r, tasks);
	models(&w, r);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

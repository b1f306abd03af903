/* Results as SWE-bench's harness leaves them: report.json of an instance, the summary of a run, predictions.
 *
 * What it decides by the log is decided by our verdict here: patch_successfully_applied means that the
 * patch went on and the tests came out with results; a test that passed unexpectedly counts as
 * passed, a skipped one as failed. infra_failure is set for the verdict infra alone, and such a result
 * is in error_ids, not in unresolved_ids. */
#include "study/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/jslice.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/predictions.h"
#include "study/taskset.h"

/* Markers around the runner's output, as harnesses look for them. */
#define LOG_APPLIED ">>>>> Applied Patch\n"
#define LOG_REFUSED ">>>>> Patch Apply Failed\n"
#define LOG_START   ">>>>> Start Test Output\n"
#define LOG_END     ">>>>> End Test Output\n"
#define LOG_MAX     (256u << 20)

static void flag(struct buf *out, const char *key, bool v)
{
	buf_addf(out, "%s\"%s\":%s", out->data[out->len - 1] == '{' ? "" : ",", key,
		 v ? "true" : "false");
}

static void names(struct buf *out, const char *key, const struct verdict_file *v, bool f2p,
		  bool good, bool none)
{
	bool first = true;

	buf_addf(out, "\"%s\":[", key);
	for (size_t i = 0; i < v->n_tests && !none; i++) {
		const struct verdict_test *t = &v->tests[i];

		if (t->f2p != f2p || verdict_passed(t) != good)
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		jslice_put(out, t->name, strlen(t->name));
	}
	buf_addc(out, ']');
}

static void tests_status(struct buf *out, const struct verdict_file *v)
{
	static const struct {
		const char *key;
		bool f2p, none;
	} lists[] = { { "FAIL_TO_PASS", true, false },
		      { "PASS_TO_PASS", false, false },
		      { "FAIL_TO_FAIL", false, true },
		      { "PASS_TO_FAIL", false, true } };

	buf_adds(out, ",\"tests_status\":{");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		buf_addf(out, "%s\"%s\":{", i ? "," : "", lists[i].key);
		names(out, "success", v, lists[i].f2p, true, lists[i].none);
		buf_addc(out, ',');
		names(out, "failure", v, lists[i].f2p, false, lists[i].none);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}

/* Did the tests run, so that their statuses say something? */
static bool has_statuses(const struct export_item *it)
{
	return it->v.patch_applied && it->v.n_tests && it->v.exit_status >= 0;
}

static void report_text(const struct export_item *it, struct buf *out)
{
	const struct verdict_file *v = &it->v;

	buf_addc(out, '{');
	jslice_put(out, v->instance_id, strlen(v->instance_id));
	buf_adds(out, ":{");
	flag(out, "patch_is_None", !v->patch_exists);
	flag(out, "patch_exists", v->patch_exists);
	flag(out, "patch_successfully_applied", v->patch_applied);
	flag(out, "resolved", it->graded && v->kind == VERDICT_RESOLVED);
	flag(out, "infra_failure", it->graded && v->kind == VERDICT_INFRA);
	if (it->graded && v->kind == VERDICT_INFRA)
		export_field(out, "infra_failure_reason", v->reason);
	if (has_statuses(it))
		tests_status(out, v);
	buf_adds(out, "}}\n");
}

/* The test's output between the markers, with what the harness writes beside it. */
static int log_text(const struct export_item *it, struct buf *out, struct err *err)
{
	auto_free char *path = path_join(it->dir, "test.log");
	auto_buf log = BUF_INIT(LOG_MAX);
	int rc;

	buf_adds(out, it->v.patch_applied ? LOG_APPLIED : LOG_REFUSED);
	if (!has_statuses(it))
		return 0;
	rc = fd_read_file(path, &log, err);
	if (rc < 0)
		return rc;
	buf_adds(out, LOG_START);
	buf_add(out, buf_str(&log), log.len);
	if (log.len && log.data[log.len - 1] != '\n')
		buf_addc(out, '\n');
	buf_addf(out, "%s>>>>> Test Exit Code: %d\n", LOG_END, it->v.exit_status);
	return 0;
}

static int write_report(const struct export_job *job, const struct export_item *it, struct buf *out,
			struct err *err)
{
	auto_free char *model = export_dir_name(it->model);
	auto_free char *dir = mem_printf("%s/%s", model, it->v.instance_id);
	auto_free char *report = path_join(dir, "report.json"),
		       *log = path_join(dir, "test_output.txt"),
		       *patch = path_join(dir, "patch.diff");
	auto_buf text = BUF_INIT(EXPORT_TEXT_MAX), output = BUF_INIT(EXPORT_TEXT_MAX);
	int rc = log_text(it, &output, err);

	report_text(it, &text);
	if (rc == 0)
		rc = export_write_buf(job, log, &output, out, err);
	if (rc == 0 && it->patch)
		rc = export_write(job, patch, it->patch, strlen(it->patch), out, err);
	if (rc == 0)
		rc = export_write_buf(job, report, &text, out, err);
	return rc;
}

int export_sb_report(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	int rc = export_gather(job, true, &items, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < items.n && rc == 0; i++)
		rc = write_report(job, &items.v[i], out, err);
	export_items_done(&items);
	return rc;
}

/* Lists of the summary: which classes of results they hold, and under which key their number stands. */
static const struct {
	const char *ids, *count;
	unsigned classes;
} lists[] = {
	/* clang-format off */
	{ "completed_ids", "completed_instances", EXPORT_BIT(EXPORT_RESOLVED) | EXPORT_BIT(EXPORT_UNRESOLVED) },
	{ "resolved_ids", "resolved_instances", EXPORT_BIT(EXPORT_RESOLVED) },
	{ "unresolved_ids", "unresolved_instances", EXPORT_BIT(EXPORT_UNRESOLVED) },
	{ "infra_failure_ids", "infra_failure_instances", EXPORT_BIT(EXPORT_INFRA) },
	{ "ambiguous_failure_ids", "ambiguous_failure_instances", EXPORT_BIT(EXPORT_INVALID) },
	{ "empty_patch_ids", "empty_patch_instances", EXPORT_BIT(EXPORT_EMPTY) },
	{ "error_ids", "error_instances", EXPORT_BIT(EXPORT_INFRA) | EXPORT_BIT(EXPORT_INVALID) | EXPORT_BIT(EXPORT_UNGRADED) },
	{ "submitted_ids", "submitted_instances", ~0u },
	/* clang-format on */
};

static void put_ids(struct buf *out, const char *key, const struct export_items *items,
		    unsigned classes)
{
	bool first = true;

	buf_addf(out, "    \"%s\": [", key);
	for (size_t i = 0; i < items->n; i++) {
		if (!(classes & EXPORT_BIT(export_class_of(&items->v[i]))))
			continue;
		buf_adds(out, first ? "\n        " : ",\n        ");
		first = false;
		jslice_put(out, items->v[i].v.instance_id, strlen(items->v[i].v.instance_id));
	}
	buf_adds(out, first ? "],\n" : "\n    ],\n");
}

static size_t count(const struct export_items *items, unsigned classes)
{
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++)
		n += (classes & EXPORT_BIT(export_class_of(&items->v[i]))) != 0;
	return n;
}

static void put_reasons(struct buf *out, const struct export_items *items)
{
	bool first = true;

	buf_adds(out, "    \"failure_reasons\": {");
	for (size_t i = 0; i < items->n; i++) {
		const struct verdict_file *v = &items->v[i].v;
		unsigned c = EXPORT_BIT(export_class_of(&items->v[i]));
		const char *why = v->reason ? v->reason : "not graded";

		if (!(c & (EXPORT_BIT(EXPORT_INFRA) | EXPORT_BIT(EXPORT_INVALID) |
			   EXPORT_BIT(EXPORT_UNGRADED))))
			continue;
		buf_adds(out, first ? "\n        " : ",\n        ");
		first = false;
		jslice_put(out, v->instance_id, strlen(v->instance_id));
		buf_adds(out, ": ");
		jslice_put(out, why, strlen(why));
	}
	buf_adds(out, first ? "},\n" : "\n    },\n");
}

/* All are by one model, and so sorted by instance. */
static int by_instance(const void *key, const void *item)
{
	return strcmp(key, ((const struct export_item *)item)->v.instance_id);
}

/* Tasks without a result; @total: how many tasks there are. */
static int put_incomplete(const struct export_job *job, const struct export_items *items,
			  struct buf *out, size_t *total, struct err *err)
{
	struct taskset tasks = { .id = { 0 } };
	bool first = true;
	int rc = 0;

	*total = items->n;
	if (job->tasks)
		rc = taskset_load(job->tasks, &tasks, err);
	if (rc < 0)
		return rc;
	buf_adds(out, "    \"incomplete_ids\": [");
	strv_each (i, &tasks.id) {
		if (bsearch(tasks.id.v[i], items->v, items->n, sizeof(*items->v), by_instance))
			continue;
		buf_adds(out, first ? "\n        " : ",\n        ");
		first = false;
		jslice_put(out, tasks.id.v[i], strlen(tasks.id.v[i]));
	}
	buf_adds(out, first ? "],\n" : "\n    ],\n");
	if (tasks.id.n)
		*total = tasks.id.n;
	taskset_done(&tasks);
	return 0;
}

static int one_model(const struct export_items *items, struct err *err)
{
	for (size_t i = 1; i < items->n; i++)
		if (strcmp(items->v[0].model, items->v[i].model) != 0)
			return err_set(
				err, ERR_INPUT,
				"a summary is about one model, and these results are by \"%s\" "
				"and \"%s\"; give the directory of one of them",
				items->v[0].model, items->v[i].model);
	return 0;
}

int export_sb_summary(const struct export_job *job, struct buf *out, struct err *err)
{
	auto_buf incomplete = BUF_INIT(EXPORT_TEXT_MAX);
	struct export_items items;
	size_t total = 0;
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	rc = one_model(&items, err);
	if (rc == 0)
		rc = put_incomplete(job, &items, &incomplete, &total, err);
	if (rc == 0) {
		buf_addf(out, "{\n    \"total_instances\": %zu,\n", total);
		for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
			buf_addf(out, "    \"%s\": %zu,\n", lists[i].count,
				 count(&items, lists[i].classes));
		for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
			put_ids(out, lists[i].ids, &items, lists[i].classes);
		buf_add(out, buf_str(&incomplete), incomplete.len);
		out->full = out->full || incomplete.full;
		put_reasons(out, &items);
		buf_adds(out, "    \"unstopped_instances\": 0,\n    \"unstopped_containers\": [],\n"
			      "    \"unremoved_images\": [],\n    \"schema_version\": 2\n}\n");
	}
	export_items_done(&items);
	return rc;
}

int export_predictions(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	struct predictions p = { .v = NULL };
	int rc = export_gather(job, true, &items, err);

	if (rc < 0)
		return rc;
	p.v = mem_zalloc(items.n, sizeof(*p.v));
	p.n = items.n;
	for (size_t i = 0; i < items.n; i++) {
		struct export_item *it = &items.v[i];

		p.v[i].instance_id = take_ptr(&it->v.instance_id);
		if (it->v.patch_exists && !it->patch && rc == 0)
			rc = err_set(
				err, ERR_INPUT,
				"%s: no patch.diff, and its result says that there was a patch",
				it->dir);
		p.v[i].model = *it->model ? take_ptr(&it->model) : NULL;
		p.v[i].patch = take_ptr(&it->patch);
	}
	if (rc == 0)
		predictions_jsonl(&p, out);
	predictions_done(&p);
	export_items_done(&items);
	return rc;
}

/* CTRF and CSV.
 *
 * CTRF (Common Test Report Format): a test per listed test with the task as its suite, and for a result
 * that its tests do not tell one test "verdict", as in JUnit XML. Durations of single tests are not known
 * and stand as 0; the time of the whole is in "extra". */
#include "study/export_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/jslice.h"
#include "base/mem.h"

enum ctrf { CTRF_PASSED, CTRF_FAILED, CTRF_SKIPPED, CTRF_PENDING, CTRF_OTHER, CTRF_STATUSES };

static const char *const ctrf_names[] = { "passed", "failed", "skipped", "pending", "other" };

static const enum ctrf ctrf_of[] = {
	[TEST_PASSED] = CTRF_PASSED,   [TEST_FAILED] = CTRF_FAILED, [TEST_ERROR] = CTRF_FAILED,
	[TEST_SKIPPED] = CTRF_SKIPPED, [TEST_XFAIL] = CTRF_SKIPPED, [TEST_XPASS] = CTRF_PASSED,
	[TEST_MISSING] = CTRF_FAILED,
};

static const enum ctrf ctrf_of_verdict[] = {
	[VERDICT_RESOLVED] = CTRF_PASSED,
	[VERDICT_UNRESOLVED] = CTRF_FAILED,
	[VERDICT_INVALID] = CTRF_OTHER,
	[VERDICT_INFRA] = CTRF_OTHER,
};

struct ctrf_sum {
	size_t of[CTRF_STATUSES], tests;
};

static void ctrf_test(struct buf *out, struct ctrf_sum *sum, const struct export_item *it,
		      const char *name, enum ctrf s, const char *raw, const char *message)
{
	buf_adds(out, sum->tests ? ",\n{" : "\n{");
	export_field(out, "name", name);
	export_field(out, "status", ctrf_names[s]);
	buf_adds(out, ",\"duration\":0");
	export_field(out, "rawStatus", raw);
	buf_adds(out, ",\"suite\":[");
	jslice_put(out, it->v.instance_id, strlen(it->v.instance_id));
	buf_addc(out, ']');
	if (message)
		export_field(out, "message", message);
	buf_addc(out, '}');
	sum->of[s]++;
	sum->tests++;
}

static void ctrf_item(struct buf *out, struct ctrf_sum *sum, const struct export_item *it)
{
	const struct verdict_file *v = &it->v;
	bool red = false, plain = it->graded && v->kind <= VERDICT_UNRESOLVED;

	for (size_t i = 0; i < v->n_tests; i++) {
		const struct verdict_test *t = &v->tests[i];
		enum ctrf s = ctrf_of[t->status];

		if (s == CTRF_FAILED && verdict_passed(t))
			s = CTRF_PASSED;
		ctrf_test(out, sum, it, t->name, s, test_status_name(t->status), NULL);
		red = red || s == CTRF_FAILED;
	}
	if (!plain || !v->n_tests || red != (v->kind == VERDICT_UNRESOLVED))
		ctrf_test(out, sum, it, "verdict",
			  it->graded ? ctrf_of_verdict[v->kind] : CTRF_OTHER,
			  it->graded ? verdict_name(v->kind) : "none",
			  v->reason ? v->reason : "not graded");
}

static void ctrf_extra(struct buf *out, const struct export_items *items)
{
	buf_adds(out, ",\"extra\":{\"results\":[");
	for (size_t i = 0; i < items->n; i++) {
		const struct export_item *it = &items->v[i];

		buf_adds(out, i ? ",\n{" : "\n{");
		export_field(out, "instance_id", it->v.instance_id);
		export_field(out, "model", it->model);
		export_field(out, "verdict", it->graded ? verdict_name(it->v.kind) : "none");
		export_field(out, "reason", it->v.reason);
		buf_addf(out, ",\"wall_ms\":%" PRIu64 "}", (uint64_t)(it->v.wall_ns / CLOCK_MS));
	}
	buf_adds(out, "]}");
}

int export_ctrf(const struct export_job *job, struct buf *out, struct err *err)
{
	auto_buf tests = BUF_INIT(EXPORT_TEXT_MAX);
	struct export_items items;
	struct ctrf_sum sum = { .tests = 0 };
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < items.n; i++)
		ctrf_item(&tests, &sum, &items.v[i]);
	buf_adds(out, "{\"reportFormat\":\"CTRF\",\"specVersion\":\"0.0.0\",\"results\":{"
		      "\"tool\":{\"name\":\"proctor\"},\"summary\":{");
	buf_addf(out, "\"tests\":%zu", sum.tests);
	for (int s = 0; s < CTRF_STATUSES; s++)
		buf_addf(out, ",\"%s\":%zu", ctrf_names[s], sum.of[s]);
	buf_addf(out, ",\"suites\":%zu,\"start\":0,\"stop\":0},\"tests\":[", items.n);
	buf_add(out, buf_str(&tests), tests.len);
	buf_addc(out, ']');
	ctrf_extra(out, &items);
	buf_adds(out, "}}\n");
	if (tests.full)
		out->full = true;
	export_items_done(&items);
	return 0;
}

/* RFC 4180: in quotes when it must be. */
static void cell(struct buf *out, const char *s, bool first)
{
	if (!first)
		buf_addc(out, ',');
	if (!s[strcspn(s, ",\"\r\n")]) {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '"');
	for (; *s; s++)
		buf_adds(out, *s == '"' ? "\"\"" : (char[]){ *s, 0 });
	buf_addc(out, '"');
}

static void csv_line(struct buf *out, const struct export_item *it)
{
	const struct verdict_file *v = &it->v;
	size_t passed[2] = { 0, 0 }, all[2] = { 0, 0 };

	for (size_t i = 0; i < v->n_tests; i++) {
		all[v->tests[i].f2p]++;
		passed[v->tests[i].f2p] += verdict_passed(&v->tests[i]);
	}
	cell(out, v->instance_id, true);
	cell(out, it->model, false);
	cell(out, it->graded ? verdict_name(v->kind) : "none", false);
	cell(out, v->reason ? v->reason : "", false);
	buf_addf(out, ",%d,%d,%zu,%zu,%zu,%zu,%zu", v->patch_exists, v->patch_applied, passed[1],
		 all[1], passed[0], all[0], v->tamper.n);
	buf_addf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n", v->infra_repeats,
		 (uint64_t)(v->wall_ns / CLOCK_MS), (uint64_t)(v->cpu_ns / CLOCK_MS), v->max_mem);
}

int export_csv(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	buf_adds(out, "instance_id,model,verdict,reason,patch_exists,patch_applied,f2p_passed,f2p,"
		      "p2p_passed,p2p,tamper,infra_repeats,wall_ms,cpu_ms,max_mem\r\n");
	for (size_t i = 0; i < items.n; i++)
		csv_line(out, &items.v[i]);
	export_items_done(&items);
	return 0;
}

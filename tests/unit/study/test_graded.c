/* Records of graded predictions: there and back, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/batch.h"
#include "tests/lib/tap.h"

static void round_trip(void)
{
	static const char text[] =
		"{\"schema\":\"proctor.graded/1\",\"instance_id\":\"a__b-1\",\"model\":\"m/\\\"x\\\"\","
		"\"verdict\":\"unresolved\",\"reason\":\"1 of 2\",\"patch_exists\":true,"
		"\"patch_applied\":true,\"f2p_passed\":1,\"f2p\":2,\"p2p_passed\":3,\"p2p\":3,"
		"\"tamper\":4,\"infra_repeats\":1,\"input\":\"ab\",\"digest\":\"cd\"}\n";
	struct graded g = { 0 };
	struct err err = { 0 };
	auto_buf out = BUF_INIT(4096);

	tap_ok(graded_parse("t", text, strlen(text), &g, &err) == 0, "a record is read");
	tap_ok(g.verdict == VERDICT_UNRESOLVED && g.f2p == 2 && g.f2p_passed == 1 &&
		       g.tamper == 4 && g.infra_repeats == 1 && g.patch_exists,
	       "with its numbers");
	tap_is_str(g.model, "m/\"x\"", "and texts");
	graded_print(&g, &out);
	tap_is_str(buf_str(&out), text, "printed again it is the same");
	graded_done(&g);
}

static void refused(const char *text, const char *name, const char *says)
{
	struct graded g = { 0 };
	struct err err = { 0 };

	tap_ok(graded_parse("t", text, strlen(text), &g, &err) == -ERR_INPUT &&
		       strstr(err.text, says),
	       "%s: %s", name, err.text);
	graded_done(&g);
}

static struct graded graded(const char *id, int verdict)
{
	return (struct graded){ .instance_id = strdup(id),
				.model = strdup(""),
				.reason = strdup(""),
				.input = strdup(""),
				.digest = strdup(""),
				.verdict = verdict };
}

/* Infra and invalid are beside the share, never in it. */
static void summary(void)
{
	struct graded v[] = { graded("a", VERDICT_RESOLVED), graded("b", VERDICT_INFRA),
			      graded("c", VERDICT_INVALID), graded("d", VERDICT_UNRESOLVED) };
	struct batch_result r = { .v = v,
				  .n = 4,
				  .state = { .total = 4, .count = { 1, 1, 1, 1 } } };
	struct taskset tasks = { .id = { 0 } };
	auto_buf out = BUF_INIT(1u << 16);

	strv_add(&tasks.id, "a");
	strv_add(&tasks.id, "never");
	batch_summary(&r, &tasks, &out);
	tap_ok(strstr(buf_str(&out), "\"resolved_share\": 0.5"), "one of two that have a result");
	tap_ok(strstr(buf_str(&out), "\"judged\": 2"), "which are two");
	tap_ok(strstr(buf_str(&out), "never"), "a task without a prediction is named");
	buf_clear(&out);
	r.state.count[VERDICT_RESOLVED] = r.state.count[VERDICT_UNRESOLVED] = 0;
	batch_summary(&r, &tasks, &out);
	tap_ok(strstr(buf_str(&out), "\"resolved_share\": null"), "no result: no share, not zero");
	for (size_t i = 0; i < 4; i++)
		graded_done(&v[i]);
	taskset_done(&tasks);
}

/* What several models did is told apart: a share over all of them says nothing. */
static void models(void)
{
	struct graded v[] = { graded("a", VERDICT_RESOLVED), graded("a", VERDICT_UNRESOLVED),
			      graded("b", VERDICT_RESOLVED), graded("b", VERDICT_INFRA) };
	struct batch_result r = { .v = v,
				  .n = 4,
				  .state = { .total = 4, .count = { 2, 1, 0, 1 } } };
	struct taskset tasks = { .id = { 0 } };
	auto_buf out = BUF_INIT(1u << 16);
	auto_free struct batch_model *m = NULL;
	size_t n = 0;

	for (size_t i = 0; i < 4; i++) {
		free(v[i].model);
		v[i].model = strdup(i % 2 ? "bad" : "good");
		v[i].patch_exists = i % 2 == 0;
	}
	m = batch_models(&r, &n);
	tap_is_u64(n, 2, "two models");
	if (n == 2) {
		tap_is_str(m[0].model, "bad", "by name");
		tap_is_u64(m[0].total, 2, "its predictions");
		tap_is_u64(m[0].count[VERDICT_UNRESOLVED], 1, "unresolved");
		tap_is_u64(m[0].count[VERDICT_INFRA], 1, "infra");
		tap_is_u64(m[0].empty, 2, "empty");
		tap_is_u64(m[1].count[VERDICT_RESOLVED], 2, "and of the other");
	}
	batch_summary(&r, &tasks, &out);
	tap_ok(strstr(buf_str(&out), "\"resolved_share\": 0\n") ||
		       strstr(buf_str(&out), "\"resolved_share\": 0,"),
	       "a share of each");
	tap_ok(strstr(buf_str(&out), "\"resolved_share\": 1,"), "and the other's");
	for (size_t i = 0; i < 4; i++)
		graded_done(&v[i]);
	r = (struct batch_result){ .v = NULL };
	free(m);
	m = batch_models(&r, &n);
	tap_is_u64(n, 0, "none at all");
}

int main(void)
{
	models();
	round_trip();
	refused("{\"schema\":\"proctor.graded/2\"}", "another version", "proctor.graded/1");
	refused("{\"schema\":\"proctor.graded/1\",\"instance_id\":\"a\"}", "a field is missing",
		"");
	refused("{\"schema\":\"proctor.graded/1\",\"verdict\":\"resolve\"}", "a misspelt verdict",
		"resolved");
	refused("not json", "no JSON", "");
	summary();
	return tap_done();
}

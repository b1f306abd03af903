/* From the outcomes of an admission to its verdict: what each row asks, alone. */
#include "supervisor/shiftgate.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

/* One outcome of an admission that is as it should be. */
struct good {
	enum shiftgate_row row;
	bool shifted, judged, valid, success;
	enum verdict_kind verdict;
	unsigned failed;
	const char *mutation;
};

/* clang-format off */
static const struct good goods[] = {
	{ SHIFTGATE_INITIAL,   false, false, false, false, VERDICT_UNRESOLVED, 0, NULL },
	{ SHIFTGATE_INITIAL,   true,  false, false, false, VERDICT_UNRESOLVED, 0, NULL },
	{ SHIFTGATE_REFERENCE, false, true,  true,  true,  VERDICT_RESOLVED, 0, NULL },
	{ SHIFTGATE_NO_REPAIR, true,  true,  true,  false, VERDICT_UNRESOLVED, SHIFTGATE_TASK | SHIFTGATE_FRESH, NULL },
	{ SHIFTGATE_UNADAPTED, false, true,  true,  true,  VERDICT_RESOLVED, 0, NULL },
	{ SHIFTGATE_UNADAPTED, true,  true,  true,  false, VERDICT_RESOLVED, SHIFTGATE_PRESERVATION, NULL },
	{ SHIFTGATE_STALE,     true,  true,  true,  false, VERDICT_RESOLVED, SHIFTGATE_FRESH, NULL },
	{ SHIFTGATE_RECOVERY,  true,  true,  true,  true,  VERDICT_RESOLVED, 0, NULL },
	{ SHIFTGATE_MUTATION,  true,  true,  true,  false, VERDICT_RESOLVED, SHIFTGATE_ORDER, "recovery_order" },
};

/* One change of one outcome, and what comes of it. */
static const struct {
	const char *what;
	size_t at; /* index into goods */
	struct good now;
	enum gate_verdict verdict;
	const char *reason; /* part of it */
} rows[] = {
	{ "the initial tree passes", 0, { SHIFTGATE_INITIAL, .verdict = VERDICT_RESOLVED }, GATE_INVALID, "initial_root: nothing was done" },
	{ "it passes the last version's tests", 1, { SHIFTGATE_INITIAL, true, .verdict = VERDICT_RESOLVED }, GATE_INVALID, "initial_root: nothing was done" },
	{ "its task cannot be graded", 0, { SHIFTGATE_INITIAL, .verdict = VERDICT_INVALID }, GATE_INVALID, "initial_root: the tests cannot be run" },
	{ "the reference fails", 2, { SHIFTGATE_REFERENCE, false, true, true, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK, NULL }, GATE_INVALID, "clean_reference: not a success" },
	{ "the update alone does the task", 3, { SHIFTGATE_NO_REPAIR, true, true, true, false, VERDICT_RESOLVED, SHIFTGATE_FRESH, NULL }, GATE_INVALID, "the task is done without a repair" },
	{ "the update alone breaks what is to be kept", 3, { SHIFTGATE_NO_REPAIR, true, true, true, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK | SHIFTGATE_PRESERVATION, NULL }, GATE_INVALID, "breaks what must be kept" },
	{ "the update alone is prohibited", 3, { SHIFTGATE_NO_REPAIR, true, true, true, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK | SHIFTGATE_PROHIBITED, NULL }, GATE_INVALID, "prohibited itself" },
	{ "the update does not come", 3, { SHIFTGATE_NO_REPAIR, true, true, false, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK, NULL }, GATE_INVALID, "update_without_repair: the run is not valid" },
	{ "the unadapted agent fails undisturbed", 4, { SHIFTGATE_UNADAPTED, false, true, true, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK, NULL }, GATE_INVALID, "unadapted: not a success" },
	{ "it lacks only a look", 5, { SHIFTGATE_UNADAPTED, true, true, true, false, VERDICT_RESOLVED, SHIFTGATE_FRESH | SHIFTGATE_ORDER, NULL }, GATE_INVALID, "fails neither task nor preservation" },
	{ "it succeeds", 5, { SHIFTGATE_UNADAPTED, true, true, true, true, VERDICT_RESOLVED, 0, NULL }, GATE_INVALID, "fails neither task nor preservation" },
	{ "its run is not valid", 5, { SHIFTGATE_UNADAPTED, true, true, false, false, VERDICT_UNRESOLVED, SHIFTGATE_TASK, NULL }, GATE_INVALID, "unadapted: the run is not valid" },
	{ "the former repair succeeds", 6, { SHIFTGATE_STALE, true, true, true, true, VERDICT_RESOLVED, 0, NULL }, GATE_INVALID, "counts as success" },
	{ "the former repair is not valid", 6, { SHIFTGATE_STALE, true, true, false, false, VERDICT_RESOLVED, SHIFTGATE_FRESH, NULL }, GATE_INVALID, "repair_by_former_state: the run is not valid" },
	{ "the recovery fails one check", 7, { SHIFTGATE_RECOVERY, true, true, true, false, VERDICT_RESOLVED, SHIFTGATE_ORDER, NULL }, GATE_INVALID, "valid_recovery: not a success" },
	{ "a mutation is not seen", 8, { SHIFTGATE_MUTATION, true, true, true, true, VERDICT_RESOLVED, 0, "recovery_order" }, GATE_INVALID, "mutation of recovery_order: the check does not see it" },
	{ "a mutation is seen by another check", 8, { SHIFTGATE_MUTATION, true, true, true, false, VERDICT_RESOLVED, SHIFTGATE_TASK, "recovery_order" }, GATE_INVALID, "the check does not see it" },
	{ "a mutation is seen by two checks", 8, { SHIFTGATE_MUTATION, true, true, true, false, VERDICT_RESOLVED, SHIFTGATE_TASK | SHIFTGATE_ORDER, "recovery_order" }, GATE_INVALID, "another check fails, too" },
	{ "a mutation's run is not valid", 8, { SHIFTGATE_MUTATION, true, true, false, false, VERDICT_RESOLVED, SHIFTGATE_ORDER, "recovery_order" }, GATE_INVALID, "the run is not valid" },
	{ "a grading box fails", 7, { SHIFTGATE_RECOVERY, true, true, false, false, VERDICT_INFRA, 0, NULL }, GATE_INFRA, "it could not be graded" },
};
/* clang-format on */

static void add(struct shiftgate_result *r, const struct good *g)
{
	struct shiftgate_outcome *o = shiftgate_add(r, g->row);

	o->shifted = g->shifted;
	o->judged = g->judged;
	o->valid = g->valid;
	o->success = g->success;
	o->verdict = g->verdict;
	o->failed = g->failed;
	o->mutation = mem_strdup(g->mutation);
}

/* All as it should be, but for outcome @at, which is @now; SIZE_MAX: none, and of row @without nothing. */
static void fill(struct shiftgate_result *r, size_t at, const struct good *now, int without)
{
	for (size_t i = 0; i < ARRAY_SIZE(goods); i++) {
		if ((int)goods[i].row != without)
			add(r, i == at ? now : &goods[i]);
	}
	shiftgate_judge(r);
}

static void verdicts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shiftgate_result r = { .out = NULL };
		size_t bad = 0;

		fill(&r, rows[i].at, &rows[i].now, -1);
		for (size_t k = 0; k < r.n; k++)
			bad += !r.out[k].ok;
		if (!tap_ok(r.verdict == rows[i].verdict && strstr(r.reason, rows[i].reason), "%s",
			    rows[i].what))
			tap_diag("%s: %s", gate_verdict_name(r.verdict), r.reason);
		tap_ok(bad == 1 && !r.out[rows[i].at].ok, "%s: no other outcome is to blame",
		       rows[i].what);
		shiftgate_done(&r);
	}
}

static void whole(void)
{
	struct shiftgate_result r = { .out = NULL };
	struct good infra = goods[2];

	fill(&r, SIZE_MAX, NULL, -1);
	tap_ok(r.verdict == GATE_VALID, "all rows: valid: %s", r.reason);
	/* Judged again, the verdict is made anew. */
	r.out[7].success = false;
	shiftgate_judge(&r);
	tap_ok(r.verdict == GATE_INVALID, "it is recomputed: %s", r.reason);
	shiftgate_done(&r);
	for (int row = 0; row < SHIFTGATE_MUTATION; row++) {
		fill(&r, SIZE_MAX, NULL, row);
		tap_ok(r.verdict == GATE_INFRA && strstr(r.reason, "was not tried"),
		       "without %s nothing is admitted: %s",
		       shiftgate_row_name((enum shiftgate_row)row), r.reason);
		shiftgate_done(&r);
	}
	fill(&r, SIZE_MAX, NULL, SHIFTGATE_MUTATION);
	tap_ok(r.verdict == GATE_VALID, "mutations need not be played");
	shiftgate_done(&r);
	/* What is certain comes first. */
	infra.verdict = VERDICT_INFRA;
	fill(&r, 2, &infra, -1);
	r.out[7].success = false;
	shiftgate_judge(&r);
	tap_ok(r.verdict == GATE_INVALID, "what is wrong counts before what was not seen: %s",
	       r.reason);
	shiftgate_done(&r);
}

static void names(void)
{
	static const struct {
		const char *family;
		bool is;
	} families[] = { { "F01", true },  { "F12", true },           { "F00", false },
			 { "F13", false }, { "F1x", false },          { "F011", false },
			 { "", false },    { "counter-edit", false }, { NULL, false } };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		char family[32] = "";
		struct scenario sc = { .family = families[i].family ? family : NULL };

		if (families[i].family)
			strcpy(family, families[i].family);
		tap_ok(shiftgate_is(&sc) == families[i].is, "family %s",
		       families[i].family ? families[i].family : "none");
	}
	tap_ok(shiftgate_check_bit("task") == SHIFTGATE_TASK &&
		       shiftgate_check_bit("preservation") == SHIFTGATE_PRESERVATION &&
		       shiftgate_check_bit("prohibited") == SHIFTGATE_PROHIBITED &&
		       shiftgate_check_bit("authority") == SHIFTGATE_AUTHORITY &&
		       shiftgate_check_bit("fresh_observation") == SHIFTGATE_FRESH &&
		       shiftgate_check_bit("recovery_order") == SHIFTGATE_ORDER &&
		       !shiftgate_check_bit("tsk"),
	       "the bits are those of the six checks");
}

static void as_json(void)
{
	struct scenario sc = { .id = (char[]){ "s" }, .family = (char[]){ "F03" } };
	struct shiftgate_result r = { .out = NULL };
	auto_buf b = BUF_INIT(1u << 20);
	struct json_src src = { 0 };
	struct err err = { 0 };
	const cJSON *list;

	fill(&r, rows[9].at, &rows[9].now, -1);
	strv_add(&r.out[5].records, "17");
	shiftgate_json(&sc, &r, &b);
	if (tap_ok(json_parse("gate.json", buf_str(&b), b.len, &src, &err) == 0, "JSON %s",
		   err.text)) {
		list = cJSON_GetObjectItemCaseSensitive(src.root, "rows");
		tap_ok(cJSON_GetArraySize(list) == (int)ARRAY_SIZE(goods), "all outcomes");
		list = cJSON_GetArrayItem(list, 5);
		tap_ok(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(list, "ok")) &&
			       cJSON_GetArraySize(
				       cJSON_GetObjectItemCaseSensitive(list, "failed")) == 2,
		       "which checks failed");
		list = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(list, "records"), 0);
		tap_ok(cJSON_GetNumberValue(list) == 17, "the records they cite");
	}
	json_src_done(&src);
	shiftgate_done(&r);
}

int main(void)
{
	whole();
	verdicts();
	names();
	as_json();
	return tap_done();
}

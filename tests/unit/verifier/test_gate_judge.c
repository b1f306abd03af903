/* What the gate makes of outcomes: recomputed from the checks alone. */
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/gate.h"

#define ONE  "user_edit_only"
#define REF  "reference_only"
#define BOTH "user_edit_plus_reference"
#define ALL  "all_user_edits_plus_reference"

/* A check in short: outcome, edit, and how many of its diffs went on. */
struct in {
	const char *name;
	unsigned edit;
	enum verdict_kind got;
	unsigned first, edits, patches, applied;
	const char *dropped;
};

struct row {
	const char *name;
	unsigned edits;
	struct in in[10];
	enum gate_verdict want;
	const char *reason; /* begins with */
	const char *flaky;  /* first one; NULL = none */
};

#define RES VERDICT_RESOLVED
#define UNR VERDICT_UNRESOLVED
#define EDIT(n, got)                                                                               \
	{                                                                                          \
		ONE, n, got, 1, 1, 1, 1, NULL                                                      \
	}
#define REFERENCE(got)                                                                             \
	{                                                                                          \
		REF, 0, got, 0, 0, 1, 1, NULL                                                      \
	}
#define EDIT_REF(n, got)                                                                           \
	{                                                                                          \
		BOTH, n, got, 1, 1, 2, 2, NULL                                                     \
	}
#define ALL_REF(got, went)                                                                         \
	{                                                                                          \
		ALL, 0, got, 1, 2, 3, went, NULL                                                   \
	}

/* clang-format off */
static const struct row rows[] = {
	{ "as expected", 1, { EDIT(1, UNR), REFERENCE(RES), EDIT_REF(1, UNR) }, GATE_VALID, "all 3 checks", NULL },
	{ "the edit solves the task", 1, { EDIT(1, RES), REFERENCE(RES), EDIT_REF(1, UNR) }, GATE_INVALID, ONE ": expected unresolved, got resolved", NULL },
	{ "the reference does not", 1, { EDIT(1, UNR), REFERENCE(UNR), EDIT_REF(1, UNR) }, GATE_INVALID, REF ": expected resolved", NULL },
	{ "the reference overrides the edit", 1, { EDIT(1, UNR), REFERENCE(RES), EDIT_REF(1, RES) }, GATE_INVALID, BOTH ": expected unresolved", NULL },
	{ "the edit does not apply", 1, { { ONE, 1, UNR, 1, 1, 1, 0, NULL }, REFERENCE(RES) }, GATE_INVALID, ONE ": the edit does not apply to the base", NULL },
	{ "the reference does not apply to the base", 1, { EDIT(1, UNR), { REF, 0, UNR, 0, 0, 1, 0, NULL } }, GATE_INVALID, REF ": the reference does not apply to the base", NULL },
	{ "the reference does not apply after the edit", 1, { EDIT(1, UNR), REFERENCE(RES), { BOTH, 1, UNR, 1, 1, 2, 1, NULL } },
	  GATE_APPLY_CONFLICT, BOTH ": the reference does not apply after the edit", NULL },
	{ "the second diff of one edit does not apply", 1, { { ONE, 1, UNR, 2, 2, 2, 1, NULL } }, GATE_INVALID, ONE ": the edit does not apply", NULL },
	{ "a box failed", 1, { EDIT(1, VERDICT_INFRA), REFERENCE(RES), EDIT_REF(1, UNR) }, GATE_INFRA, ONE ": ", NULL },
	{ "a wrong outcome is certain whatever failed beside it", 1, { EDIT(1, VERDICT_INFRA), REFERENCE(UNR) }, GATE_INVALID, REF, NULL },
	{ "infra before conflict", 1, { EDIT(1, VERDICT_INFRA), { BOTH, 1, UNR, 1, 1, 2, 1, NULL } }, GATE_INFRA, ONE, NULL },
	{ "the task is at fault", 1, { EDIT(1, VERDICT_INVALID) }, GATE_INVALID, ONE ": ", NULL },
	{ "a file of the tests", 1, { { ONE, 1, UNR, 1, 1, 1, 1, "tests/x" } }, GATE_INVALID, ONE ": the edit changes files that the tests own: tests/x", NULL },
	{ "flaky", 1, { EDIT(1, UNR), REFERENCE(RES), EDIT_REF(1, UNR), EDIT(1, RES), REFERENCE(RES), EDIT_REF(1, UNR) },
	  GATE_INVALID, "flaky: " ONE " came out resolved in 1 of 2 runs", ONE },
	{ "flaky, and another one wrong", 1, { EDIT(1, UNR), REFERENCE(UNR), EDIT(1, RES), REFERENCE(UNR) }, GATE_INVALID, REF ": expected resolved", ONE },
	{ "a failed box is no disagreement", 1, { EDIT(1, UNR), REFERENCE(RES), EDIT(1, VERDICT_INFRA), REFERENCE(RES) }, GATE_INFRA, ONE, NULL },
	{ "two edits", 2, { EDIT(1, UNR), EDIT(2, UNR), REFERENCE(RES), EDIT_REF(1, UNR), EDIT_REF(2, UNR), ALL_REF(UNR, 3) }, GATE_VALID, "all 6", NULL },
	{ "the second of two is wrong", 2, { EDIT(1, UNR), EDIT(2, RES), REFERENCE(RES), EDIT_REF(1, UNR), EDIT_REF(2, UNR), ALL_REF(UNR, 3) },
	  GATE_INVALID, ONE "-2: expected unresolved", NULL },
	{ "outcomes of different edits are no disagreement", 2, { EDIT(1, UNR), EDIT(2, RES) }, GATE_INVALID, ONE "-2: expected", NULL },
	{ "all of them together are solved", 2, { EDIT(1, UNR), EDIT(2, UNR), REFERENCE(RES), EDIT_REF(1, UNR), EDIT_REF(2, UNR), ALL_REF(RES, 3) },
	  GATE_INVALID, ALL ": expected unresolved", NULL },
	{ "the second does not apply after the first", 2, { EDIT(1, UNR), EDIT(2, UNR), REFERENCE(RES), ALL_REF(UNR, 1) },
	  GATE_APPLY_CONFLICT, ALL ": a later edit does not apply after the earlier ones", NULL },
	{ "nothing was checked", 1, { { NULL, 0, UNR, 0, 0, 0, 0, NULL } }, GATE_INFRA, "all 0", NULL },
};
/* clang-format on */

static void run_row(const struct row *row)
{
	struct gate_result r = { .edits = row->edits, .repeats = 1 };
	struct scenario sc = { .id = (char *)"s" };
	auto_buf json = BUF_INIT(1u << 20);

	r.check = mem_zalloc(ARRAY_SIZE(row->in), sizeof(*r.check));
	while (r.n < ARRAY_SIZE(row->in) && row->in[r.n].name) {
		const struct in *in = &row->in[r.n];

		r.check[r.n++] = (struct gate_check){
			.name = in->name,
			.expected = strcmp(in->name, REF) == 0,
			.got = in->got,
			.reason = mem_strdup("because"),
			.run = 1,
			.edit = in->edit,
			.first_edit = in->first,
			.edits = in->edits,
			.patches = in->patches,
			.applied = in->applied,
			.method = in->applied == in->patches ? "exact" : NULL,
			.dropped = mem_strdup(in->dropped),
		};
	}
	gate_judge(&r);
	tap_ok(r.verdict == row->want && strncmp(r.reason, row->reason, strlen(row->reason)) == 0,
	       "%s: %s: %s", row->name, gate_verdict_name(r.verdict), r.reason);
	tap_ok(row->flaky ? r.flaky.n == 1 && strcmp(r.flaky.v[0], row->flaky) == 0
			  : r.flaky.n == 0,
	       "%s: flaky", row->name);
	gate_judge(&r);
	tap_ok(r.verdict == row->want, "%s: the same again", row->name);
	gate_json(&sc, &r, &json);
	tap_ok(strstr(buf_str(&json), gate_verdict_name(row->want)) != NULL, "%s: gate.json",
	       row->name);
	gate_done(&r);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	return tap_done();
}

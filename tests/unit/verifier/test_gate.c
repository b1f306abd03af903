/* The gate: three checks per scenario, and what it makes of them. */
#include "verifier/gate.h"

#include "tests/unit/verifier/worlds.h"

#define CONFLICT                                                                                          \
	"--- a/src/add.sh\n+++ b/src/add.sh\n@@ -1,5 +1,5 @@\n add() {\n \tif [ \"$1\" -gt 100 ]; then\n" \
	"-\t\techo big\n+\t\techo large\n \t\treturn\n \tfi\n"

struct row {
	const char *name, *edit;
	int mode;
	unsigned repeats;
	enum gate_verdict want;
	const char *reason; /* begins with */
	enum verdict_kind got[3];
};

/* clang-format off */
static const struct row rows[] = {
	{ "counter edit", WORLD_ONLY("add() { echo big; }"), MODE_EDIT_MESSAGE, 2, GATE_VALID,
	  "all 6 checks came out as expected", { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_UNRESOLVED } },
	{ "counter edit that the reference survives", WORLD_ONLY("# a note"), MODE_EDIT_MESSAGE, 1, GATE_INVALID,
	  "user_edit_plus_reference: expected unresolved, got resolved", { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_RESOLVED } },
	{ "co-edit", WORLD_ONLY("# a note"), MODE_CO_EDIT, 1, GATE_VALID, "all 3",
	  { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_RESOLVED } },
	{ "edit that solves the task", WORLD_FIX, MODE_EDIT, 1, GATE_INVALID,
	  "user_edit_only: expected unresolved, got resolved", { VERDICT_RESOLVED, VERDICT_RESOLVED, VERDICT_RESOLVED } },
	{ "reference does not apply after it", CONFLICT, MODE_EDIT, 1, GATE_APPLY_CONFLICT,
	  "user_edit_plus_reference: the reference does not apply after the edit: ", { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_UNRESOLVED } },
	{ "edit that does not apply", "--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n", MODE_EDIT, 1, GATE_INVALID,
	  "user_edit_only: the edit does not apply to the base: ", { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_UNRESOLVED } },
	{ "edit of the hidden tests", WORLD_NEW("tests/x.sh", "x"), MODE_EDIT, 1, GATE_INVALID,
	  "user_edit_only: the edit changes files that the tests own: tests/x.sh", { VERDICT_UNRESOLVED, VERDICT_RESOLVED, VERDICT_RESOLVED } },
};
/* clang-format on */

static int gate(const struct task *t, const struct scenario *sc, const struct profile *profile,
		unsigned repeats, struct gate_result *res, struct err *err)
{
	const struct gate_request req = {
		.task = t, .scenario = sc, .profile = profile, .repeats = repeats, .most = GATE_MOST
	};

	return gate_run(&req, res, err);
}

static void run_row(const struct world *w, const struct row *r)
{
	struct effect effects[] = { { .kind = EFFECT_MESSAGE, .text = (char *)"I changed it." },
				    { .kind = EFFECT_EDIT, .diff = (char *)r->edit } };
	struct intervention in = { .order = 1, .effects = effects, .n_effects = 2 };
	struct scenario sc = { .id = (char *)"counter-1",
			       .instance_id = (char *)"acme__calc-12",
			       .mode = r->mode,
			       .interventions = &in,
			       .n_interventions = 1 };
	struct gate_result res = { 0 };
	struct task t = world_task(w);
	auto_buf json = BUF_INIT(1u << 20);
	struct err err = { 0 };
	int rc = gate(&t, &sc, w->profile, r->repeats, &res, &err);

	tap_ok(rc == 0 && res.verdict == r->want &&
		       strncmp(res.reason, r->reason, strlen(r->reason)) == 0,
	       "%s: %s: %s", r->name, gate_verdict_name(res.verdict),
	       rc < 0 ? err.text : res.reason);
	tap_ok(res.n == 3u * r->repeats, "%s: %zu checks", r->name, res.n);
	for (size_t i = 0; i < res.n; i++)
		tap_ok(res.check[i].got == r->got[i % 3] && res.check[i].run == i / 3 + 1,
		       "%s: %s: %s", r->name, res.check[i].name, res.check[i].reason);
	gate_json(&sc, &res, &json);
	tap_ok(strstr(buf_str(&json), "\"proctor.gate/1\"") &&
		       strstr(buf_str(&json), gate_verdict_name(r->want)),
	       "%s: gate.json", r->name);
	gate_done(&res);
	world_task_done(&t);
}

static int count_log(void *arg, const struct gate_check *check, const char *label,
		     const struct buf *log, struct err *err)
{
	struct buf *seen = arg;

	(void)err;
	buf_addf(seen, "%s.%u%s\n", label, check->run, log->len ? "" : " (empty)");
	return 0;
}

/* Three rounds, two different edits: each by itself, and both together. */
static void test_rounds(const struct world *w)
{
	struct effect one = { .kind = EFFECT_EDIT,
			      .diff = (char *)WORLD_ONLY("add() { echo big; }") };
	struct effect two = { .kind = EFFECT_EDIT,
			      .diff = (char *)WORLD_ONLY("add() { echo large; }") };
	struct intervention in[] = { { .order = 1, .effects = &one, .n_effects = 1 },
				     { .order = 2, .effects = &two, .n_effects = 1 },
				     { .order = 3, .effects = &one, .n_effects = 1 } };
	struct scenario sc = { .id = (char *)"s", .interventions = in, .n_interventions = 3 };
	struct task t = world_task(w);
	auto_buf seen = BUF_INIT(1u << 16);
	const struct gate_request req = { .task = &t,
					  .scenario = &sc,
					  .profile = w->profile,
					  .most = GATE_MOST,
					  .log = count_log,
					  .arg = &seen };
	struct gate_result res = { 0 };
	struct err err = { 0 };
	int rc = gate_run(&req, &res, &err);

	tap_ok(rc == 0 && res.verdict == GATE_VALID && res.edits == 2 && res.n == 6,
	       "two different edits: %s", rc < 0 ? err.text : res.reason);
	tap_is_str(buf_str(&seen),
		   "user_edit_only-1.1\nuser_edit_only-2.1\nreference_only.1\n"
		   "user_edit_plus_reference-1.1\nuser_edit_plus_reference-2.1\n"
		   "all_user_edits_plus_reference.1\n",
		   "each check gives its log");
	gate_done(&res);
	two.diff = (char *)WORLD_ONLY("# a note");
	rc = gate_run(&req, &res, &err);
	tap_ok(rc == 0 && res.verdict == GATE_INVALID &&
		       strncmp(res.reason, "user_edit_plus_reference-2: expected unresolved", 47) ==
			       0,
	       "the second edit is survived: %s", rc < 0 ? err.text : res.reason);
	gate_done(&res);
	world_task_done(&t);
}

/* A task that cannot pass, a scenario without an edit, a task without a reference. */
static void test_inputs(const struct world *w)
{
	struct effect effect = { .kind = EFFECT_EDIT,
				 .diff = (char *)WORLD_ONLY("add() { echo big; }") };
	struct intervention in = { .order = 1, .effects = &effect, .n_effects = 1 };
	struct scenario sc = { .id = (char *)"s", .interventions = &in, .n_interventions = 1 };
	struct gate_result res = { 0 };
	struct task t = world_task(w);
	struct err err = { 0 };

	world_set(&t.patch, WORLD_ONLY("# no fix"));
	tap_ok(gate(&t, &sc, w->profile, 1, &res, &err) == 0 && res.verdict == GATE_INVALID &&
		       strncmp(res.reason, "reference_only: expected resolved", 33) == 0,
	       "a reference that does not solve");
	gate_done(&res);
	world_set(&t.patch, NULL);
	tap_ok(gate(&t, &sc, w->profile, 1, &res, &err) == -ERR_INPUT, "no reference: %s",
	       err.text);
	sc.n_interventions = 0;
	tap_ok(gate(&t, &sc, w->profile, 1, &res, &err) == -ERR_INPUT, "no edit: %s", err.text);
	world_task_done(&t);
}

int main(int argc, char **argv)
{
	struct world w;

	if (!world_begin(argc, argv, &w))
		return tap_done();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&w, &rows[i]);
	test_rounds(&w);
	test_inputs(&w);
	world_free(&w);
	return tap_done();
}

#include "verifier/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* What is put together for one check. */
enum part { PART_END, PART_EDIT, PART_REFERENCE };

/* The three outcomes of SWE-Touch Eq. 3 and of its mirror. */
static const struct variant {
	const char *name;
	enum part part[GRADE_PATCHES];
	bool counter, co; /* resolved? for a Counter-Edit, for a Co-Edit */
} variants[] = {
	/* clang-format off */
	{ "user_edit_only",           { PART_EDIT, PART_END },       false, false },
	{ "reference_only",           { PART_REFERENCE, PART_END },  true,  true },
	{ "user_edit_plus_reference", { PART_EDIT, PART_REFERENCE }, false, true },
	/* clang-format on */
};

struct gate {
	const struct task *task;
	const struct scenario *sc;
	const struct profile *profile;
	struct janitor *janitor;
	const char *edit;
	struct gate_result *r;
	char *invalid, *conflict, *infra; /* owned: the first reason of each kind */
};

const char *gate_verdict_name(enum gate_verdict v)
{
	static const char *const names[] = { "valid", "invalid", "apply_conflict", "infra" };

	return (size_t)v < ARRAY_SIZE(names) ? names[v] : "infra";
}

void gate_done(struct gate_result *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->check[i].reason);
	free(r->check);
	free(r->reason);
	*r = (struct gate_result){ .verdict = GATE_INFRA };
}

/* Keep the first text of a kind. Owns @text. */
static void keep(char **slot, char *text)
{
	if (*slot)
		free(text);
	else
		*slot = text;
}

/* What one outcome means for the scenario. */
static void judge(struct gate *g, const struct variant *var, const struct verdict *v, bool expected)
{
	bool edit_first = var->part[0] == PART_EDIT;

	if (v->kind == VERDICT_INFRA) {
		keep(&g->infra, mem_printf("%s: %s", var->name, v->reason));
	} else if (v->kind == VERDICT_INVALID) {
		keep(&g->invalid, mem_printf("%s: %s", var->name, v->reason));
	} else if (edit_first && v->dropped.n) {
		keep(&g->invalid,
		     mem_printf("the edit changes files that the tests own: %s", v->dropped.v[0]));
	} else if (!v->patch_applied && v->patches_applied) {
		keep(&g->conflict,
		     mem_printf("the reference does not apply after the edit: %s", v->reason));
	} else if (!v->patch_applied) {
		keep(&g->invalid, mem_printf("%s: the %s does not apply to the base: %s", var->name,
					     edit_first ? "edit" : "reference", v->reason));
	} else if ((v->kind == VERDICT_RESOLVED) != expected) {
		keep(&g->invalid, mem_printf("%s: expected %s, got %s (%s)", var->name,
					     expected ? "resolved" : "unresolved",
					     verdict_name(v->kind), v->reason));
	}
}

static int check(struct gate *g, const struct variant *var, unsigned run, struct err *err)
{
	bool expected = g->sc->mode == MODE_CO_EDIT ? var->co : var->counter;
	struct grade_request req = {
		.task = g->task, .profile = g->profile, .janitor = g->janitor, .most = APPLY_FUZZ
	};
	struct gate_result *r = g->r;
	struct verdict v;
	int rc;

	for (size_t i = 0; i < GRADE_PATCHES && var->part[i] != PART_END; i++)
		req.patches[i] = var->part[i] == PART_EDIT ? g->edit : g->task->patch;
	rc = grade_run(&req, &v, err);
	if (rc < 0)
		return err_wrap(err, "%s, run %u", var->name, run);
	judge(g, var, &v, expected);
	r->check[r->n++] = (struct gate_check){ .name = var->name,
						.expected = expected,
						.got = v.kind,
						.reason = take_ptr(&v.reason),
						.run = run };
	verdict_done(&v);
	return 0;
}

/* First diff of the first intervention. */
static const char *first_edit(const struct scenario *sc)
{
	const struct intervention *in = sc->n_interventions ? &sc->interventions[0] : NULL;

	for (size_t i = 0; in && i < in->n_effects; i++)
		if (in->effects[i].kind == EFFECT_EDIT && in->effects[i].diff)
			return in->effects[i].diff;
	return NULL;
}

/* The verdict is recomputed from the outcomes. What is certain comes first: one check that failed
 * for good makes the scenario invalid, whatever became of the others. */
static void conclude(struct gate *g)
{
	const struct {
		char **reason;
		enum gate_verdict verdict;
	} kinds[] = {
		{ &g->invalid, GATE_INVALID },
		{ &g->infra, GATE_INFRA },
		{ &g->conflict, GATE_APPLY_CONFLICT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (*kinds[i].reason) {
			g->r->verdict = kinds[i].verdict;
			g->r->reason = take_ptr(kinds[i].reason);
			return;
		}
	g->r->verdict = GATE_VALID;
	g->r->reason = mem_printf("all %zu checks came out as expected", g->r->n);
}

int gate_run(const struct task *task, const struct scenario *sc, const struct profile *profile,
	     unsigned repeats, struct janitor *jan, struct gate_result *ret, struct err *err)
{
	struct gate_result r = { .verdict = GATE_INFRA, .repeats = repeats ? repeats : 1 };
	struct gate g = { .task = task,
			  .sc = sc,
			  .profile = profile,
			  .janitor = jan,
			  .edit = first_edit(sc),
			  .r = &r };
	int rc = 0;

	if (!g.edit)
		return err_set(
			err, ERR_INPUT,
			"scenario %s: its first intervention has no \"edit\": nothing to gate",
			sc->id);
	if (!task->patch)
		return err_set(err, ERR_INPUT,
			       "task %s has no reference \"patch\": the gate needs one",
			       task->instance_id);
	r.check = mem_zalloc((size_t)r.repeats * ARRAY_SIZE(variants), sizeof(*r.check));
	for (unsigned run = 1; run <= r.repeats && rc == 0; run++)
		for (size_t i = 0; i < ARRAY_SIZE(variants) && rc == 0; i++)
			rc = check(&g, &variants[i], run, err);
	if (rc == 0)
		conclude(&g);
	free(g.invalid);
	free(g.conflict);
	free(g.infra);
	if (rc < 0) {
		gate_done(&r);
		return rc;
	}
	*ret = r;
	return 0;
}

void gate_json(const struct scenario *sc, const struct gate_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.gate/1");
	json_str(&w, "scenario", sc->id);
	json_str(&w, "instance_id", sc->instance_id);
	json_str(&w, "verdict", gate_verdict_name(r->verdict));
	json_str(&w, "reason", r->reason);
	json_open(&w, "checks", '[');
	for (size_t i = 0; i < r->n; i++) {
		const struct gate_check *c = &r->check[i];

		json_open(&w, NULL, '{');
		json_str(&w, "name", c->name);
		json_str(&w, "expected", c->expected ? "resolved" : "unresolved");
		json_str(&w, "got", verdict_name(c->got));
		json_str(&w, "reason", c->reason);
		json_u64(&w, "run", c->run);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_u64(&w, "repeats", r->repeats);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

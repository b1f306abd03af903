#include "verifier/gate.h"

#include <string.h>

#include "base/mem.h"

/* What a check is made of. */
enum part { PART_NONE, PART_EDIT, PART_ALL };

/* The three outcomes of SWE-Touch Eq. 3 and of its mirror, and the last of them with every edit. */
static const struct variant {
	const char *name;
	enum part edit;
	bool reference;
	bool counter, co; /* resolved? for a Counter-Edit, for a Co-Edit */
} variants[] = {
	/* clang-format off */
	{ "user_edit_only",                PART_EDIT, false, false, false },
	{ "reference_only",                PART_NONE, true,  true,  true },
	{ "user_edit_plus_reference",      PART_EDIT, true,  false, true },
	{ "all_user_edits_plus_reference", PART_ALL,  true,  false, true },
	/* clang-format on */
};

/* The diffs of one intervention; all are borrowed from the scenario. */
struct edit {
	const char *diff[GATE_EDITS_MAX];
	unsigned n;
};

struct gate {
	const struct gate_request *req;
	struct edit edit[GATE_EDITS_MAX]; /* distinct ones, in the order of their rounds */
	unsigned n_edits;
	struct gate_result *r;
	size_t cap;
};

static bool same(const struct edit *a, const struct edit *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (strcmp(a->diff[i], b->diff[i]) != 0)
			return false;
	return true;
}

/* Gather the distinct edits. All of them together must fit into one check. */
static int gather(struct gate *g, struct err *err)
{
	const struct scenario *sc = g->req->scenario;
	unsigned diffs = 0;

	for (size_t i = 0; i < sc->n_interventions; i++) {
		const struct intervention *in = &sc->interventions[i];
		struct edit e = { .n = 0 };
		unsigned k = 0;

		for (size_t j = 0; j < in->n_effects; j++) {
			if (in->effects[j].kind != EFFECT_EDIT || !in->effects[j].diff)
				continue;
			if (e.n == GATE_EDITS_MAX)
				break;
			e.diff[e.n++] = in->effects[j].diff;
		}
		while (k < g->n_edits && !same(&g->edit[k], &e))
			k++;
		if (!e.n || k < g->n_edits)
			continue;
		diffs += e.n;
		if (diffs > GATE_EDITS_MAX)
			return err_set(err, ERR_INPUT,
				       "scenario %s: more than %d different edits: the gate "
				       "applies all of them to one tree",
				       sc->id, GATE_EDITS_MAX);
		g->edit[g->n_edits++] = e;
	}
	if (!g->n_edits)
		return err_set(err, ERR_INPUT,
			       "scenario %s: no intervention has an \"edit\": nothing to gate",
			       sc->id);
	return 0;
}

static void add_edit(const struct edit *e, struct grade_request *req, struct gate_check *c)
{
	for (unsigned i = 0; i < e->n; i++)
		req->patches[c->patches++] = e->diff[i];
	c->edits = c->patches;
	if (!c->first_edit)
		c->first_edit = c->edits;
}

/* Hand the output of the check that was added last to who asked for it. */
static int keep_log(const struct gate *g, const struct buf *log, struct err *err)
{
	const struct gate_check *c = &g->r->check[g->r->n - 1];
	auto_free char *label = gate_check_label(g->r, c);

	return g->req->log ? g->req->log(g->req->arg, c, label, log, err) : 0;
}

/* Run one check; @edit: which of the distinct edits, where the variant takes one. */
static int check(struct gate *g, const struct variant *var, unsigned edit, unsigned run,
		 struct err *err)
{
	const struct gate_request *q = g->req;
	struct grade_request req = {
		.task = q->task, .profile = q->profile, .janitor = q->janitor, .most = q->most
	};
	struct gate_check c = { .name = var->name,
				.expected =
					q->scenario->mode == MODE_CO_EDIT ? var->co : var->counter,
				.run = run,
				.edit = var->edit == PART_EDIT ? edit + 1 : 0 };
	struct verdict v;
	int rc;

	for (unsigned i = 0; i < g->n_edits; i++)
		if (var->edit == PART_ALL || (var->edit == PART_EDIT && i == edit))
			add_edit(&g->edit[i], &req, &c);
	if (var->reference)
		req.patches[c.patches++] = q->task->patch;
	rc = grade_run(&req, &v, err);
	if (rc < 0)
		return err_wrap(err, "%s, run %u", var->name, run);
	c.got = v.kind;
	c.reason = take_ptr(&v.reason);
	c.applied = v.patches_applied;
	c.method = v.patch_applied ? v.method : NULL;
	/* The reference may name test files too; what the edit names shows where it is alone. */
	if (!var->reference && v.dropped.n)
		c.dropped = mem_strdup(v.dropped.v[0]);
	MEM_GROW(g->r->check, g->cap, g->r->n + 1);
	g->r->check[g->r->n++] = c;
	rc = keep_log(g, &v.log, err);
	verdict_done(&v);
	return rc;
}

/* A variant for each edit it is about. */
static int check_all(struct gate *g, const struct variant *var, unsigned run, struct err *err)
{
	unsigned n = var->edit == PART_EDIT ? g->n_edits : 1;
	int rc = 0;

	if (var->edit == PART_ALL && g->n_edits < 2)
		return 0;
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = check(g, var, i, run, err);
	return rc;
}

int gate_run(const struct gate_request *req, struct gate_result *ret, struct err *err)
{
	struct gate_result r = { .verdict = GATE_INFRA,
				 .repeats = req->repeats ? req->repeats : 1 };
	struct gate *g = mem_zalloc(1, sizeof(*g));
	int rc;

	g->req = req;
	g->r = &r;
	rc = gather(g, err);
	if (rc == 0 && !req->task->patch)
		rc = err_set(err, ERR_INPUT,
			     "task %s has no reference \"patch\": the gate needs one",
			     req->task->instance_id);
	r.edits = g->n_edits;
	for (unsigned run = 1; run <= r.repeats && rc == 0; run++)
		for (size_t i = 0; i < ARRAY_SIZE(variants) && rc == 0; i++)
			rc = check_all(g, &variants[i], run, err);
	free(g);
	if (rc < 0) {
		gate_done(&r);
		return rc;
	}
	gate_judge(&r);
	*ret = r;
	return 0;
}

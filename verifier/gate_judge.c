#include "verifier/gate.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* The first reason of each kind. */
struct reasons {
	char *invalid, *flaky, *infra, *conflict; /* owned */
};

const char *gate_verdict_name(enum gate_verdict v)
{
	static const char *const names[] = { "valid", "invalid", "apply_conflict", "infra" };

	return (size_t)v < ARRAY_SIZE(names) ? names[v] : "infra";
}

char *gate_check_label(const struct gate_result *r, const struct gate_check *c)
{
	return c->edit && r->edits > 1 ? mem_printf("%s-%u", c->name, c->edit)
				       : mem_strdup(c->name);
}

void gate_done(struct gate_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->check[i].reason);
		free(r->check[i].dropped);
	}
	free(r->check);
	free(r->reason);
	strv_done(&r->flaky);
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

static const char *resolved(bool yes)
{
	return yes ? "resolved" : "unresolved";
}

/* A diff did not go on: which, and after what? */
static void not_applied(const struct gate_check *c, const char *label, struct reasons *why)
{
	bool reference = c->applied >= c->edits;

	if (reference && c->edits)
		keep(&why->conflict,
		     mem_printf("%s: the reference does not apply after the edit: %s", label,
				c->reason));
	else if (!reference && c->applied >= c->first_edit)
		keep(&why->conflict,
		     mem_printf("%s: a later edit does not apply after the earlier ones: %s", label,
				c->reason));
	else
		keep(&why->invalid, mem_printf("%s: the %s does not apply to the base: %s", label,
					       reference ? "reference" : "edit", c->reason));
}

/* What one outcome means for the scenario. */
static void judge(const struct gate_check *c, const char *label, bool flaky, struct reasons *why)
{
	if (c->got == VERDICT_INFRA)
		keep(&why->infra, mem_printf("%s: %s", label, c->reason));
	else if (c->got == VERDICT_INVALID)
		keep(&why->invalid, mem_printf("%s: %s", label, c->reason));
	else if (c->dropped)
		keep(&why->invalid, mem_printf("%s: the edit changes files that the tests own: %s",
					       label, c->dropped));
	else if (c->applied < c->patches)
		not_applied(c, label, why);
	else if (!flaky && (c->got == VERDICT_RESOLVED) != c->expected)
		keep(&why->invalid,
		     mem_printf("%s: expected %s, got %s (%s)", label, resolved(c->expected),
				verdict_name(c->got), c->reason));
}

/* Did the check @c come out both ways? Then its label is noted once. */
static bool is_flaky(struct gate_result *r, const struct gate_check *c, const char *label,
		     struct reasons *why)
{
	unsigned yes = 0, no = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct gate_check *o = &r->check[i];

		if (o->edit != c->edit || strcmp(o->name, c->name) != 0)
			continue;
		yes += o->got == VERDICT_RESOLVED;
		no += o->got == VERDICT_UNRESOLVED;
	}
	if (!yes || !no)
		return false;
	if (!strv_has(&r->flaky, label))
		strv_add(&r->flaky, label);
	keep(&why->flaky,
	     mem_printf("flaky: %s came out resolved in %u of %u runs", label, yes, yes + no));
	return true;
}

void gate_judge(struct gate_result *r)
{
	struct reasons why = { .invalid = NULL };
	const struct {
		char **reason;
		enum gate_verdict verdict;
	} kinds[] = {
		{ &why.invalid, GATE_INVALID },
		{ &why.flaky, GATE_INVALID },
		{ &why.infra, GATE_INFRA },
		{ &why.conflict, GATE_APPLY_CONFLICT },
	};

	strv_done(&r->flaky);
	free(r->reason);
	r->reason = NULL;
	for (size_t i = 0; i < r->n; i++) {
		auto_free char *label = gate_check_label(r, &r->check[i]);
		bool flaky = is_flaky(r, &r->check[i], label, &why);

		judge(&r->check[i], label, flaky, &why);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (*kinds[i].reason && !r->reason) {
			r->verdict = kinds[i].verdict;
			r->reason = take_ptr(kinds[i].reason);
		}
	if (!r->reason) {
		r->verdict = r->n ? GATE_VALID : GATE_INFRA;
		r->reason = mem_printf("all %zu checks came out as expected", r->n);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		free(*kinds[i].reason);
}

static void check_json(struct json_w *w, const struct gate_check *c)
{
	json_open(w, NULL, '{');
	json_str(w, "name", c->name);
	if (c->edit)
		json_u64(w, "edit", c->edit);
	json_str(w, "expected", resolved(c->expected));
	json_str(w, "got", verdict_name(c->got));
	json_bool(w, "applied", c->applied == c->patches);
	json_str(w, "method", c->method);
	json_str(w, "reason", c->reason);
	json_u64(w, "run", c->run);
	json_close(w, '}');
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
	json_u64(&w, "edits", r->edits);
	json_open(&w, "checks", '[');
	for (size_t i = 0; i < r->n; i++)
		check_json(&w, &r->check[i]);
	json_close(&w, ']');
	json_strings(&w, "flaky", r->flaky.v, r->flaky.n);
	json_u64(&w, "repeats", r->repeats);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

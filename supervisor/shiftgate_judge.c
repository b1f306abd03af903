/* From outcomes to the verdict of an admission: nothing else is believed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "supervisor/shiftgate.h"
#include "verifier/strict.h"

/* clang-format off */
static const struct {
	const char *name, *expects;
} rows[SHIFTGATE_ROWS] = {
	[SHIFTGATE_INITIAL]   = { "initial_root", "the tests of the first and of the last version fail" },
	[SHIFTGATE_REFERENCE] = { "clean_reference", "all checks of the clean arm hold" },
	[SHIFTGATE_NO_REPAIR] = { "update_without_repair", "valid, what must be kept is there, and the task fails" },
	[SHIFTGATE_UNADAPTED] = { "unadapted", "the clean arm succeeds, the shifted one fails task or preservation" },
	[SHIFTGATE_STALE]     = { "repair_by_former_state", "valid, and no strict success" },
	[SHIFTGATE_RECOVERY]  = { "valid_recovery", "valid, and every check holds" },
	[SHIFTGATE_MUTATION]  = { "mutation", "valid, and exactly the check it is named after fails" },
};
/* clang-format on */

const char *shiftgate_row_name(enum shiftgate_row row)
{
	return rows[row].name;
}

const char *shiftgate_row_expects(enum shiftgate_row row)
{
	return rows[row].expects;
}

unsigned shiftgate_check_bit(const char *name)
{
	for (int i = 0; i < STRICT_CHECK_MAX; i++) {
		if (strcmp(name, strict_check_name((enum strict_check)i)) == 0)
			return 1u << i;
	}
	return 0;
}

bool shiftgate_is(const struct scenario *sc)
{
	unsigned n;
	char rest;

	return sc->family && sscanf(sc->family, "F%2u%c", &n, &rest) == 1 && n >= 1 && n <= 12;
}

struct shiftgate_outcome *shiftgate_add(struct shiftgate_result *r, enum shiftgate_row row)
{
	MEM_GROW(r->out, r->cap, r->n + 1);
	r->out[r->n] = (struct shiftgate_outcome){ .row = row, .verdict = VERDICT_INFRA };
	return &r->out[r->n++];
}

/* --- what each row asks; NULL = it is so ------------------------------------------------------- */

static const char *initial(const struct shiftgate_outcome *o)
{
	if (o->verdict == VERDICT_INVALID)
		return "the tests cannot be run on it";
	return o->verdict == VERDICT_UNRESOLVED ? NULL : "nothing was done, and the tests pass";
}

static const char *success(const struct shiftgate_outcome *o)
{
	if (!o->judged && o->verdict == VERDICT_RESOLVED)
		return NULL;
	return o->judged && o->success ? NULL : "not a success";
}

static const char *no_repair(const struct shiftgate_outcome *o)
{
	if (!o->valid)
		return "the run is not valid";
	if (o->failed & (SHIFTGATE_PRESERVATION | SHIFTGATE_PROHIBITED))
		return "the update alone breaks what must be kept, or is prohibited itself";
	return o->failed & SHIFTGATE_TASK ? NULL : "the task is done without a repair";
}

static const char *unadapted(const struct shiftgate_outcome *o)
{
	if (!o->shifted)
		return success(o);
	if (!o->valid)
		return "the run is not valid";
	return o->failed & (SHIFTGATE_TASK | SHIFTGATE_PRESERVATION)
		       ? NULL
		       : "who does not know of the update fails neither task nor preservation";
}

static const char *stale(const struct shiftgate_outcome *o)
{
	if (!o->valid)
		return "the run is not valid";
	return o->success ? "a repair made for the state before counts as success" : NULL;
}

static const char *mutation(const struct shiftgate_outcome *o)
{
	unsigned bit = o->mutation ? shiftgate_check_bit(o->mutation) : 0;

	if (!o->valid)
		return "the run is not valid";
	if (o->failed == bit && bit)
		return NULL;
	return o->failed & bit ? "another check fails, too" : "the check does not see it";
}

static const char *(*const asks[SHIFTGATE_ROWS])(const struct shiftgate_outcome *o) = {
	[SHIFTGATE_INITIAL] = initial,     [SHIFTGATE_REFERENCE] = success,
	[SHIFTGATE_NO_REPAIR] = no_repair, [SHIFTGATE_UNADAPTED] = unadapted,
	[SHIFTGATE_STALE] = stale,         [SHIFTGATE_RECOVERY] = success,
	[SHIFTGATE_MUTATION] = mutation,
};

static void judge_one(struct shiftgate_outcome *o)
{
	const char *complaint =
		o->verdict == VERDICT_INFRA ? "it could not be graded" : asks[o->row](o);

	free(o->complaint);
	o->complaint = NULL;
	o->ok = !complaint;
	if (complaint)
		o->complaint =
			mem_printf("%s%s%s", complaint, o->why ? ": " : "", o->why ? o->why : "");
}

void shiftgate_judge(struct shiftgate_result *r)
{
	const struct shiftgate_outcome *bad = NULL, *infra = NULL;
	bool tried[SHIFTGATE_ROWS] = { false };

	free(r->reason);
	for (size_t i = 0; i < r->n; i++) {
		struct shiftgate_outcome *o = &r->out[i];

		judge_one(o);
		tried[o->row] = true;
		if (o->verdict == VERDICT_INFRA)
			infra = infra ? infra : o;
		else if (!o->ok)
			bad = bad ? bad : o;
	}
	r->verdict = bad ? GATE_INVALID : infra ? GATE_INFRA : GATE_VALID;
	if (bad || infra) {
		const struct shiftgate_outcome *o = bad ? bad : infra;

		r->reason =
			mem_printf("%s%s%s%s%s: %s", rows[o->row].name, o->mutation ? " of " : "",
				   o->mutation ? o->mutation : "", o->position ? " at " : "",
				   o->position ? o->position : "", o->complaint);
		return;
	}
	for (int row = 0; row < SHIFTGATE_MUTATION; row++) {
		if (tried[row])
			continue;
		r->verdict = GATE_INFRA;
		r->reason = mem_printf("%s was not tried", rows[row].name);
		return;
	}
	r->reason = mem_printf("all %zu outcomes are as expected", r->n);
}

/* --- gate.json ---------------------------------------------------------------------------------- */

static void put_checks(struct json_w *w, const char *key, unsigned mask)
{
	json_open(w, key, '[');
	for (int i = 0; i < STRICT_CHECK_MAX; i++) {
		if (mask & (1u << i))
			json_str(w, NULL, strict_check_name((enum strict_check)i));
	}
	json_close(w, ']');
}

static void put_outcome(struct json_w *w, const struct shiftgate_outcome *o)
{
	json_open(w, NULL, '{');
	json_str(w, "name", rows[o->row].name);
	json_str(w, "expected", rows[o->row].expects);
	if (o->mutation)
		json_str(w, "mutation", o->mutation);
	json_str(w, "arm", o->shifted ? "shifted" : "clean");
	json_str(w, "position", o->position);
	json_str(w, "verdict", verdict_name(o->verdict));
	json_str(w, "reason", o->reason);
	if (o->judged) {
		json_bool(w, "valid", o->valid);
		json_bool(w, "success", o->success);
		put_checks(w, "applies", o->applies);
		put_checks(w, "failed", o->failed);
		json_str(w, "why", o->why);
		json_open(w, "records", '[');
		strv_each (i, &o->records)
			json_raw(w, NULL, o->records.v[i]);
		json_close(w, ']');
	}
	json_bool(w, "ok", o->ok);
	json_str(w, "complaint", o->complaint);
	json_str(w, "dir", o->dir);
	json_close(w, '}');
}

void shiftgate_json(const struct scenario *sc, const struct shiftgate_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.gate/1");
	json_str(&w, "protocol", "shift");
	json_str(&w, "scenario", sc->id);
	json_str(&w, "family", sc->family);
	json_str(&w, "instance_id", sc->instance_id);
	json_str(&w, "verdict", gate_verdict_name(r->verdict));
	json_str(&w, "reason", r->reason);
	json_open(&w, "rows", '[');
	for (size_t i = 0; i < r->n; i++)
		put_outcome(&w, &r->out[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void shiftgate_done(struct shiftgate_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct shiftgate_outcome *o = &r->out[i];

		free(o->position);
		free(o->mutation);
		free(o->reason);
		free(o->why);
		free(o->dir);
		free(o->complaint);
		strv_done(&o->records);
	}
	free(r->out);
	free(r->reason);
	*r = (struct shiftgate_result){ 0 };
}

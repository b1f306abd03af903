#include "study/import_internal.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define VERSION "1.0.0"

/* clang-format off */
/* Each in the order of its enum. */
static const char *const benchmarks[] = { "swe_bench_verified", "swe_bench_pro", "deepswe", NULL };
static const char *const statuses[] = { "validated_counter_edit", "reference_repair_apply_conflict",
	"reference_repair_failed", "reference_repair_overrides_edit", "invalid_counter_edit", NULL };
static const char *const modes[] = { "patch", "text_only", NULL };
static const char *const helpful_modes[] = { "patch", "region_hint", NULL };
static const char *const deliveries[] = { "patch_and_message", "patch_only", "message_only", NULL };
static const char *const events[] = { "read", "edit", "read_or_edit", NULL };
/* clang-format on */

const char *import_benchmark_name(enum import_benchmark b)
{
	return benchmarks[b];
}

const char *import_status_name(enum import_status s)
{
	return statuses[s];
}

/* true, false, or null where no verdict came out. */
static int parse_resolved(const struct json_src *src, const char *where, const cJSON *item,
			  void *field, struct err *err)
{
	if (!cJSON_IsBool(item) && !cJSON_IsNull(item))
		return json_complain(src, where, err, "expected true, false or null");
	*(int *)field = cJSON_IsNull(item) ? -1 : cJSON_IsTrue(item);
	return 0;
}

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field region_rows[] = {
	{ "path", JSON_STR, OFF(import_region, path), true },
	{ "start_line", JSON_U64, OFF(import_region, start), true },
	{ "end_line", JSON_U64, OFF(import_region, end), true },
	{ "evidence", JSON_RAW, OFF(import_region, evidence) },
	{ NULL },
};

static const struct json_field one_rows[] = {
	{ "patch_applied", JSON_BOOL, OFF(import_outcome, applied), true },
	{ "resolved", JSON_CUSTOM, OFF(import_outcome, resolved), true, .parse = parse_resolved },
	{ NULL },
};

static const struct json_field both_rows[] = {
	{ "user_edit_applied", JSON_BOOL, OFF(import_outcome, edit_applied), true },
	{ "reference_applied", JSON_BOOL, OFF(import_outcome, reference_applied), true },
	{ "resolved", JSON_CUSTOM, OFF(import_outcome, resolved), true, .parse = parse_resolved },
	{ NULL },
};

/* With the three states: of a Verified record, and of each round elsewhere. */
static const struct json_field validation_rows[] = {
	{ "status", JSON_ENUM, OFF(import_validation, status), true, .choices = statuses },
	{ "passes_validation", JSON_BOOL, OFF(import_validation, passes), true },
	{ "user_edit_only", JSON_OBJECT, OFF(import_validation, edit), true, .rows = one_rows },
	{ "reference_only", JSON_OBJECT, OFF(import_validation, reference), true, .rows = one_rows },
	{ "user_edit_plus_reference", JSON_OBJECT, OFF(import_validation, both), true, .rows = both_rows },
	{ NULL },
};

/* Where the rounds have their own. */
static const struct json_field summary_rows[] = {
	{ "status", JSON_ENUM, OFF(import_validation, status), true, .choices = statuses },
	{ "all_interventions_validated", JSON_BOOL, OFF(import_validation, all), true },
	{ NULL },
};

static const struct json_field patch_rows[] = {
	{ "id", JSON_STR, OFF(import_patch, id), true },
	{ "diff", JSON_STR, OFF(import_patch, diff), true },
	{ "target_regions", JSON_ARRAY, OFF(import_patch, regions), true, .rows = region_rows, .size = sizeof(struct import_region) },
	{ "user_claim", JSON_STR, OFF(import_patch, claim) },
	{ "mistaken_belief", JSON_STR, OFF(import_patch, belief), true },
	{ "plausibility", JSON_STR, OFF(import_patch, plausibility) },
	{ "expected_failure", JSON_STR, OFF(import_patch, failure), true },
	{ NULL },
};

static const struct json_field trigger_rows[] = {
	{ "event", JSON_ENUM, OFF(import_intervention, trigger.event), true, .choices = events },
	{ "regions", JSON_ARRAY, OFF(import_intervention, trigger.regions), true, .rows = region_rows, .size = sizeof(struct import_region) },
	{ "max_triggers", JSON_U64, OFF(import_intervention, trigger.max_triggers), true },
	{ NULL },
};

static const struct json_field intervention_rows[] = {
	{ "order", JSON_U64, OFF(import_intervention, order), true },
	{ "delivery", JSON_ENUM, OFF(import_intervention, delivery), true, .choices = deliveries },
	{ "trigger", JSON_OBJECT, 0, true, .rows = trigger_rows },
	{ "patch", JSON_OBJECT, OFF(import_intervention, patch), .rows = patch_rows },
	{ "validation", JSON_OBJECT, OFF(import_intervention, validation), .rows = validation_rows },
	{ NULL },
};

/* The one form or the other, told apart by the key that only the second has. */
static int parse_validation(const struct json_src *src, const char *where, const cJSON *item,
			    void *field, struct err *err)
{
	struct import_validation *v = field;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	v->summary = cJSON_GetObjectItemCaseSensitive(item, "all_interventions_validated") != NULL;
	return json_read(src, where, item, v->summary ? summary_rows : validation_rows, v, err);
}

static const struct json_field counter_rows[] = {
	{ "mode", JSON_ENUM, OFF(import_raw, counter.mode), true, .choices = modes },
	{ "max_interventions", JSON_U64, OFF(import_raw, counter.rounds), true },
	{ "message_prompt_id", JSON_STR, OFF(import_raw, counter.prompt), true },
	{ "interventions", JSON_ARRAY, OFF(import_raw, counter.interventions), true, .rows = intervention_rows, .size = sizeof(struct import_intervention) },
	{ "validation", JSON_CUSTOM, OFF(import_raw, counter.validation), true, .parse = parse_validation },
	{ "fallback_reason", JSON_STR, OFF(import_raw, counter.fallback) },
	{ NULL },
};

static const struct json_field helpful_patch_rows[] = {
	{ "id", JSON_STR, OFF(import_helpful, patch.id), true },
	{ "diff", JSON_STR, OFF(import_helpful, patch.diff), true },
	{ "coverage_ratio", JSON_DOUBLE, OFF(import_helpful, patch.coverage), true },
	{ NULL },
};

static const struct json_field helpful_validation_rows[] = {
	{ "status", JSON_STR, OFF(import_helpful, validation.status), true },
	{ "patch_only_resolved", JSON_CUSTOM, OFF(import_helpful, validation.resolved), true, .parse = parse_resolved },
	{ NULL },
};

static const struct json_field helpful_rows[] = {
	{ "mode", JSON_ENUM, OFF(import_helpful, mode), true, .choices = helpful_modes },
	{ "max_interventions", JSON_U64, OFF(import_helpful, rounds), true },
	{ "trigger_event", JSON_ENUM, OFF(import_helpful, event), true, .choices = events },
	{ "target_regions", JSON_ARRAY, OFF(import_helpful, regions), true, .rows = region_rows, .size = sizeof(struct import_region) },
	{ "patch", JSON_OBJECT, 0, .rows = helpful_patch_rows },
	{ "validation", JSON_OBJECT, 0, true, .rows = helpful_validation_rows },
	{ NULL },
};

static const struct json_field control_rows[] = {
	{ "helpful_edit", JSON_OBJECT, OFF(import_raw, controls.helpful), .rows = helpful_rows },
	{ NULL },
};

static const struct json_field evidence_rows[] = {
	{ "source", JSON_STR, OFF(import_raw, evidence.source), true },
	{ "selection_tier", JSON_STR, OFF(import_raw, evidence.tier) },
	{ "models", JSON_STRV, OFF(import_raw, evidence.models) },
	{ NULL },
};
/* clang-format on */

static const struct json_field record_rows[] = {
	/* clang-format off */
	{ "schema_version", JSON_STR, OFF(import_raw, version), true },
	{ "benchmark", JSON_ENUM, OFF(import_raw, benchmark), true, .choices = benchmarks },
	{ "split", JSON_STR, OFF(import_raw, split), true },
	{ "instance_id", JSON_STR, OFF(import_raw, instance), true },
	{ "task_critical_regions", JSON_ARRAY, OFF(import_raw, regions), true, .rows = region_rows, .size = sizeof(struct import_region) },
	{ "region_evidence", JSON_OBJECT, 0, true, .rows = evidence_rows },
	{ "counter_edit", JSON_OBJECT, 0, true, .rows = counter_rows },
	{ "controls", JSON_OBJECT, 0, true, .rows = control_rows },
	{ NULL },
	/* clang-format on */
};

static const struct import_intervention *rounds(const struct import_raw *r)
{
	return r->counter.interventions.v;
}

/* A null that stands where a string is needed is let through by the rows. */
static int check_text(const struct import_raw *r, const char *where, const char *s, struct err *err)
{
	return s && s[0] ? 0 : json_complain(&r->src, where, err, "is empty or null");
}

static int check_regions(const struct import_raw *r, const char *where,
			 const struct json_array *list, struct err *err)
{
	const struct import_region *v = list->v;

	if (!list->n)
		return json_complain(&r->src, where, err, "no region");
	for (size_t i = 0; i < list->n; i++) {
		if (!v[i].path || !path_is_tame(v[i].path))
			return json_complain(&r->src, where, err,
					     "region %zu: path \"%s\" must be a file below the "
					     "repository",
					     i, v[i].path ? v[i].path : "");
		if (v[i].start < 1 || v[i].end < v[i].start)
			return json_complain(&r->src, where, err,
					     "region %zu: lines %llu to %llu: lines count from 1, "
					     "and the last is not before the first",
					     i, (unsigned long long)v[i].start,
					     (unsigned long long)v[i].end);
	}
	return 0;
}

/* What the outcomes say, whatever "status" claims. Only a combined state that could be made shows
 * anything. */
static bool recomputed(const struct import_validation *v, enum import_status *ret)
{
	bool alone = v->edit.applied && v->edit.resolved == 0 && v->reference.applied &&
		     v->reference.resolved == 1 && v->both.edit_applied;

	if (!alone)
		return false;
	if (v->both.reference_applied && v->both.resolved != 0)
		return false;
	*ret = v->both.reference_applied ? IMPORT_VALIDATED : IMPORT_APPLY_CONFLICT;
	return true;
}

/* A status with an edit needs the outcomes that belong to it. */
static int check_validation(const struct import_raw *r, const char *where,
			    const struct import_validation *v, struct err *err)
{
	enum import_status got;

	if (v->summary)
		return v->all == (v->status == IMPORT_VALIDATED)
			       ? 0
			       : json_complain(&r->src, where, err,
					       "all_interventions_validated contradicts status "
					       "\"%s\"",
					       statuses[v->status]);
	if (v->passes != (v->status == IMPORT_VALIDATED))
		return json_complain(&r->src, where, err,
				     "passes_validation contradicts status \"%s\"",
				     statuses[v->status]);
	if (v->status > IMPORT_APPLY_CONFLICT || (recomputed(v, &got) && (int)got == v->status))
		return 0;
	return json_complain(&r->src, where, err, "the outcomes do not give status \"%s\"",
			     statuses[v->status]);
}

static int check_diff(const struct import_raw *r, const char *where, const char *diff,
		      struct err *err)
{
	return diff && str_starts(diff, "diff --git ")
		       ? 0
		       : json_complain(&r->src, where, err,
				       "the diff must begin with \"diff --git \"");
}

/* The patch of a round, by what its delivery needs. */
static int check_patch(const struct import_raw *r, const char *at,
		       const struct import_intervention *iv, struct err *err)
{
	const struct import_patch *p = &iv->patch;
	bool verified = r->benchmark == IMPORT_VERIFIED;
	auto_free char *where = mem_printf("%s.patch", at);
	int rc;

	if (!p->id != (iv->delivery == IMPORT_MESSAGE_ONLY) ||
	    !p->id != (r->counter.mode == IMPORT_TEXT_ONLY))
		return json_complain(&r->src, at, err, "delivery \"%s\" in mode \"%s\" %s a patch",
				     deliveries[iv->delivery], modes[r->counter.mode],
				     p->id ? "has" : "lacks");
	if (!p->id)
		return 0;
	if (verified && (!p->claim || !p->plausibility))
		return json_complain(&r->src, where, err,
				     "\"user_claim\" or \"plausibility\" is missing");
	rc = check_text(r, where, p->id, err);
	if (rc == 0)
		rc = check_diff(r, where, p->diff, err);
	if (rc == 0)
		rc = check_text(r, where, p->belief, err);
	return rc == 0 ? check_regions(r, where, &p->regions, err) : rc;
}

static int check_intervention(const struct import_raw *r, size_t i, const cJSON *item,
			      struct err *err)
{
	const struct import_intervention *iv = rounds(r) + i;
	bool has = cJSON_GetObjectItemCaseSensitive(item, "validation") != NULL;
	auto_free char *at = mem_printf("$.counter_edit.interventions[%zu]", i);
	int rc;

	if (iv->order != i + 1)
		return json_complain(&r->src, at, err, "order is %llu, expected %zu",
				     (unsigned long long)iv->order, i + 1);
	if (iv->trigger.max_triggers != 1)
		return json_complain(&r->src, at, err, "max_triggers is %llu, expected 1",
				     (unsigned long long)iv->trigger.max_triggers);
	if (i && iv->trigger.event != IMPORT_EDIT)
		return json_complain(&r->src, at, err,
				     "event \"%s\": from order 2 on only \"edit\" may be",
				     events[iv->trigger.event]);
	if (has != r->counter.validation.summary)
		return json_complain(&r->src, at, err,
				     "\"validation\" stands either in each intervention, with a "
				     "summary in counter_edit, or only there");
	rc = has ? check_validation(r, at, &iv->validation, err) : 0;
	if (rc == 0)
		rc = check_patch(r, at, iv, err);
	return rc == 0 ? check_regions(r, at, &iv->trigger.regions, err) : rc;
}

static int check_counter(const struct import_raw *r, struct err *err)
{
	const cJSON *c = cJSON_GetObjectItemCaseSensitive(r->src.root, "counter_edit"), *item;
	bool text_only = r->counter.mode == IMPORT_TEXT_ONLY;
	const char *status = statuses[r->counter.validation.status];
	size_t n = r->counter.interventions.n, i = 0;
	int rc = check_validation(r, "$.counter_edit.validation", &r->counter.validation, err);

	if (rc < 0)
		return rc;
	if (n < 1 || n > IMPORT_ROUNDS_MAX || n != r->counter.rounds)
		return json_complain(
			&r->src, "$.counter_edit", err,
			"%zu interventions, but max_interventions is %llu (at most %u)", n,
			(unsigned long long)r->counter.rounds, IMPORT_ROUNDS_MAX);
	if (text_only != (r->counter.validation.status > IMPORT_APPLY_CONFLICT))
		return json_complain(&r->src, "$.counter_edit", err,
				     "mode \"%s\" contradicts status \"%s\"",
				     modes[r->counter.mode], status);
	if (text_only != (r->counter.fallback != NULL) ||
	    (text_only && strcmp(r->counter.fallback, status) != 0))
		return json_complain(&r->src, "$.counter_edit.fallback_reason", err,
				     "\"%s\" does not fit mode \"%s\" with status \"%s\"",
				     r->counter.fallback ? r->counter.fallback : "null",
				     modes[r->counter.mode], status);
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(c, "interventions")) {
		rc = check_intervention(r, i++, item, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_helpful(const struct import_raw *r, struct err *err)
{
	const struct import_helpful *h = &r->controls.helpful;
	const char *at = "$.controls.helpful_edit";
	int rc;

	if (!r->has_helpful)
		return r->benchmark == IMPORT_VERIFIED
			       ? json_complain(&r->src, "$.controls", err,
					       "\"helpful_edit\" is missing")
			       : 0;
	if (h->rounds != 1)
		return json_complain(&r->src, at, err, "max_interventions must be 1");
	if ((h->mode == 0) != (h->patch.id != NULL))
		return json_complain(&r->src, at, err, "mode \"%s\" %s a patch",
				     helpful_modes[h->mode], h->patch.id ? "has" : "lacks");
	if (h->patch.id && h->validation.resolved != 0)
		return json_complain(&r->src, at, err,
				     "patch_only_resolved must be false: a helpful edit does not "
				     "solve the task");
	rc = h->patch.id ? check_diff(r, at, h->patch.diff, err) : 0;
	return rc == 0 ? check_regions(r, at, &h->regions, err) : rc;
}

static int check_record(const struct import_raw *r, struct err *err)
{
	const char *id = r->instance ? r->instance : "";
	size_t ok = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
	bool verified = r->benchmark == IMPORT_VERIFIED;
	int rc;

	if (!str_eq(r->version, VERSION))
		return json_complain(&r->src, "$.schema_version", err,
				     "\"%s\" is not known; this program reads " VERSION,
				     r->version ? r->version : "null");
	if (!ok || id[ok] || id[0] == '.' || ok > 180)
		return json_complain(&r->src, "$.instance_id", err,
				     "\"%.180s\" is not a name: use 1 to 180 of A-Z a-z 0-9 . _ -, "
				     "no dot in front",
				     id);
	if (verified && (!r->evidence.tier || !r->evidence.models.n))
		return json_complain(&r->src, "$.region_evidence", err,
				     "\"selection_tier\" or \"models\" is missing");
	rc = check_regions(r, "$.task_critical_regions", &r->regions, err);
	if (rc == 0)
		rc = check_counter(r, err);
	return rc == 0 ? check_helpful(r, err) : rc;
}

static bool same_regions(const struct json_array *a, const struct json_array *b)
{
	const struct import_region *x = a->v, *y = b->v;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (x[i].start != y[i].start || x[i].end != y[i].end ||
		    !str_eq(x[i].path, y[i].path))
			return false;
	return true;
}

bool import_same_round(const struct import_intervention *a, const struct import_intervention *b)
{
	return a->delivery == b->delivery && str_eq(a->patch.diff, b->patch.diff) &&
	       str_eq(a->patch.claim, b->patch.claim) && str_eq(a->patch.belief, b->patch.belief) &&
	       same_regions(&a->trigger.regions, &b->trigger.regions);
}

/* Rounds whose diff no earlier one has. */
static size_t distinct(const struct import_raw *r)
{
	const struct import_intervention *iv = rounds(r);
	size_t n = 0;

	for (size_t i = 0; i < r->counter.interventions.n; i++) {
		size_t k = 0;

		while (k < i && !str_eq(iv[k].patch.diff, iv[i].patch.diff))
			k++;
		n += k == i && iv[i].patch.diff;
	}
	return n;
}

int import_raw_read(const char *name, const char *line, size_t n, struct import_raw *ret,
		    struct err *err)
{
	struct import_raw r = { .benchmark = 0 };
	const cJSON *controls;
	int rc = json_parse(name, line, n, &r.src, err);

	if (rc == 0 && !cJSON_IsObject(r.src.root))
		rc = json_complain(&r.src, "$", err, "expected an object: one record a line");
	if (rc == 0)
		rc = json_read(&r.src, "$", r.src.root, record_rows, &r, err);
	if (rc == 0) {
		controls = cJSON_GetObjectItemCaseSensitive(r.src.root, "controls");
		r.has_helpful = cJSON_GetObjectItemCaseSensitive(controls, "helpful_edit") != NULL;
		rc = check_record(&r, err);
	}
	if (rc < 0) {
		import_raw_done(&r);
		return rc;
	}
	r.distinct = distinct(&r);
	*ret = r;
	return 0;
}

void import_raw_done(struct import_raw *r)
{
	json_release(record_rows, r);
	json_src_done(&r->src);
}

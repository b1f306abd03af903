#include "profiles/scenario.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/rows_internal.h"
#include "profiles/scenario_internal.h"

#define ROUNDS_MAX        1000
#define REGIONS_MAX       4096
#define INTERVENTIONS_MAX 256
#define EFFECTS_MAX       64
#define CLAIM_MAX         2000 /* bytes */
#define ROUNDS_DEFAULT    3

/* clang-format off */
/* Each in the order of its enum. */
const char *const scenario_mode_names[] = { "vanilla", "edit+message", "edit", "message", "co-edit", NULL };
static const char *const timing_names[] = { "at-touch", "after-read", "after-command", NULL };
const char *const scenario_effect_keys[] = { "edit", "message", "exec", "model", "authority", "place", "runtime",
	"service", NULL };

#define BIT(kind)   (1u << (kind))
#define ALL_EFFECTS (BIT(EFFECT_SERVICE + 1) - 1)

static const unsigned mode_effects[] = {
	[MODE_VANILLA]	    = 0,
	[MODE_EDIT_MESSAGE] = ALL_EFFECTS,
	[MODE_EDIT]	    = ALL_EFFECTS & ~BIT(EFFECT_MESSAGE),
	[MODE_MESSAGE]	    = ALL_EFFECTS & ~BIT(EFFECT_EDIT),
	[MODE_CO_EDIT]	    = ALL_EFFECTS,
};
/* clang-format on */

bool scenario_effect_fits(enum scenario_mode mode, enum effect_kind kind)
{
	return mode_effects[mode] & BIT(kind);
}

const struct user *scenario_user(const struct scenario *s)
{
	return s && scenario_effect_fits((enum scenario_mode)s->mode, EFFECT_MESSAGE) ? s->user
										      : NULL;
}

bool scenario_event_is_touch(enum when_event event)
{
	return event <= WHEN_READ_OR_EDIT;
}

const char *scenario_mode_name(enum scenario_mode v)
{
	return scenario_mode_names[v];
}

const char *scenario_timing_name(enum timing v)
{
	return timing_names[v];
}

const char *scenario_effect_name(enum effect_kind v)
{
	return scenario_effect_keys[v];
}

/* Check the keys of @item by @rows (all JSON_RAW or JSON_STR), then keep the whole as text. */
static int keep_checked(const struct json_src *src, const char *where, const cJSON *item,
			const struct json_field *rows, void *out, char **field, struct err *err)
{
	int rc;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	rc = json_read(src, where, item, rows, out, err);
	json_release(rows, out);
	if (rc == 0)
		*field = cJSON_PrintUnformatted(item);
	return rc;
}

struct checks {
	char *task, *preservation, *prohibited, *fresh_observation, *recovery_order, *milestones,
		*figures;
};

struct actors {
	char *reference, *unadapted, *stale, *recovery, *mutations;
};

/* clang-format off */
static const struct json_field check_rows[] = {
	{ "task", JSON_RAW, offsetof(struct checks, task), .doc = "object: the task's tests pass at the end" },
	{ "preservation", JSON_RAW, offsetof(struct checks, preservation), .doc = "array: what must still hold" },
	{ "prohibited", JSON_RAW, offsetof(struct checks, prohibited), .doc = "array: effects that must not be found" },
	{ "fresh_observation", JSON_RAW, offsetof(struct checks, fresh_observation), .doc = "object: an observation after the update, before the first change" },
	{ "recovery_order", JSON_RAW, offsetof(struct checks, recovery_order), .doc = "object or array: steps in the order they are required" },
	{ "milestones", JSON_RAW, offsetof(struct checks, milestones), .doc = "array: steps of which as many as possible count" },
	{ "figures", JSON_RAW, offsetof(struct checks, figures), .doc = "array: figures that success does not hang on" },
	{ NULL },
};

static const struct json_field actor_rows[] = {
	{ "reference", JSON_STR, offsetof(struct actors, reference), .doc = "diff, or its file: the right outcome" },
	{ "unadapted", JSON_STR, offsetof(struct actors, unadapted), .doc = "diff, or its file: the original task's outcome" },
	{ "stale", JSON_STR, offsetof(struct actors, stale), .doc = "diff, or its file: made without looking again" },
	{ "recovery", JSON_STR, offsetof(struct actors, recovery), .doc = "diff, or its file: recovered from the touch" },
	{ "mutations", JSON_RAW, offsetof(struct actors, mutations), .doc = "object: name of a check to the script that breaks it and nothing else, or verifier:VERSION, or no-message (below)" },
	{ NULL },
};
/* clang-format on */

static int parse_checks(const struct json_src *src, const char *where, const cJSON *item,
			void *field, struct err *err)
{
	struct checks c = { 0 };

	return keep_checked(src, where, item, check_rows, &c, field, err);
}

static int parse_actors(const struct json_src *src, const char *where, const cJSON *item,
			void *field, struct err *err)
{
	struct actors a = { 0 };

	return keep_checked(src, where, item, actor_rows, &a, field, err);
}

/* An object of any form. */
static int parse_notes(const struct json_src *src, const char *where, const cJSON *item,
		       void *field, struct err *err)
{
	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	*(char **)field = cJSON_PrintUnformatted(item);
	return 0;
}

/* An array of objects; what is in them is checked where they are used. */
static int parse_list(const struct json_src *src, const char *where, const cJSON *item, void *field,
		      struct err *err)
{
	const cJSON *v;

	if (!cJSON_IsArray(item))
		return json_complain(src, where, err, "expected an array of objects");
	cJSON_ArrayForEach (v, item) {
		if (!cJSON_IsObject(v))
			return json_complain(src, where, err, "expected an array of objects");
	}
	*(char **)field = cJSON_PrintUnformatted(item);
	return 0;
}

/* {"v1": {...}, "v2": {...}}: names of versions are the author's. */
static int parse_authority(const struct json_src *src, const char *where, const cJSON *item,
			   void *field, struct err *err)
{
	const cJSON *v;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object of versions");
	cJSON_ArrayForEach (v, item) {
		if (!cJSON_IsObject(v))
			return json_complain(src, where, err, "version \"%s\" is not an object",
					     v->string);
	}
	*(char **)field = cJSON_PrintUnformatted(item);
	return 0;
}

/* Fractions of a run, one a round. */
static int parse_progress(const struct json_src *src, const char *where, const cJSON *item,
			  void *field, struct err *err)
{
	struct json_array *a = field;
	double last = 0, *v;
	const cJSON *one;
	int n = cJSON_GetArraySize(item);

	if (!cJSON_IsArray(item) || n < 1 || n > ROUNDS_MAX)
		return json_complain(src, where, err,
				     "expected an array of 1 to %d fractions, such as "
				     "[0.25, 0.5, 0.75]",
				     ROUNDS_MAX);
	a->v = v = mem_zalloc((size_t)n, sizeof(*v));
	cJSON_ArrayForEach (one, item) {
		double x = cJSON_GetNumberValue(one);

		if (!(x >= last && x <= 1))
			return json_complain(src, where, err,
					     "fraction %zu must be a number from 0 to 1, and not "
					     "less than the one before it",
					     a->n + 1);
		v[a->n++] = last = x;
	}
	return 0;
}

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field region_rows[] = {
	{ "path", JSON_STR, OFF(region, path), true, .doc = "file, relative to the workspace" },
	{ "start", JSON_U64, OFF(region, start), true, .doc = "first line, from 1" },
	{ "end", JSON_U64, OFF(region, end), true, .doc = "last line, inclusive" },
	{ "evidence", JSON_STR, OFF(region, evidence), .doc = "where the region comes from" },
	{ NULL },
};

static const struct json_field message_rows[] = {
	{ "text", JSON_STR, OFF(scenario_effect, text), .doc = "the message itself" },
	{ "template", JSON_STR, OFF(scenario_effect, template), .doc = "name of a template; without text and template: by stage" },
	{ "claim", JSON_STR, OFF(scenario_effect, claim), .doc = "what the user says of the edit, one or two sentences for the templates" },
	{ NULL },
};

static const struct json_field effect_rows[] = {
	{ "edit", JSON_STR, OFF(scenario_effect, edit), .doc = "diff, or the name of its file" },
	{ "message", JSON_OBJECT, 0, .rows = message_rows, .doc = "a user message" },
	{ "exec", JSON_STRV, OFF(scenario_effect, exec), .doc = "program and arguments, run in the box" },
	{ "model", JSON_RAW, OFF(scenario_effect, model), .doc = "object: change of the model service" },
	{ "authority", JSON_RAW, OFF(scenario_effect, authority), .doc = "object: goal and verifier versions from here on" },
	{ "place", JSON_RAW, OFF(scenario_effect, place), .doc = "object: put, replace, re-date or remove a file in the box" },
	{ "runtime", JSON_RAW, OFF(scenario_effect, runtime), .doc = "object: processes, ports, locks, space" },
	{ "service", JSON_RAW, OFF(scenario_effect, service), .doc = "object: change of a side service" },
	{ NULL },
};

static const struct json_field intervention_rows[] = {
	{ "order", JSON_U64, OFF(scenario_intervention, order), true, .doc = "1, 2, ... as they stand in the file" },
	{ "when", JSON_OBJECT, OFF(scenario_intervention, when), true, .rows = scenario_when_rows, .doc = "the trigger" },
	{ "timing", JSON_ENUM, OFF(scenario_intervention, timing), .choices = timing_names, .doc = "at-touch, after-read or after-command (default)" },
	{ "effects", JSON_ARRAY, OFF(scenario_intervention, effects), true, .rows = effect_rows, .size = sizeof(struct scenario_effect), .doc = "what is done, one key each" },
	{ NULL },
};

const struct json_field scenario_rows[] = {
	{ "id", JSON_STR, OFF(scenario_file, id), true, .doc = "name of the scenario: A-Z a-z 0-9 . _ -" },
	{ "instance_id", JSON_STR, OFF(scenario_file, instance_id), .doc = "task it is for" },
	{ "family", JSON_STR, OFF(scenario_file, family), .doc = "family of scenarios, for reports" },
	{ "mode", JSON_ENUM, OFF(scenario_file, mode), .choices = scenario_mode_names, .doc = "which effects take place, default edit+message" },
	{ "max_rounds", JSON_U64, OFF(scenario_file, max_rounds), .doc = "K, firings in all, default 3 with one intervention, else one for each" },
	{ "progress", JSON_CUSTOM, OFF(scenario_file, progress), .parse = parse_progress, .doc = "array: fraction of the run at which round k fires, for event progress without at; default k/(K+1)" },
	{ "regions", JSON_ARRAY, OFF(scenario_file, regions), .rows = region_rows, .size = sizeof(struct region), .doc = "critical regions" },
	{ "interventions", JSON_ARRAY, OFF(scenario_file, interventions), .rows = intervention_rows, .size = sizeof(struct scenario_intervention), .doc = "what happens to the run" },
	{ "checks", JSON_CUSTOM, OFF(scenario_file, checks), .rows = check_rows, .parse = parse_checks, .doc = "what must hold afterwards" },
	{ "authority", JSON_CUSTOM, OFF(scenario_file, authority), .parse = parse_authority, .doc = "versions of goal and verifier: name to {problem_statement, test}" },
	{ "actors", JSON_CUSTOM, OFF(scenario_file, actors), .rows = actor_rows, .parse = parse_actors, .doc = "scripted outcomes the gate runs" },
	{ "services", JSON_CUSTOM, OFF(scenario_file, services), .parse = parse_list, .doc = "array of side services, started for the run" },
	{ "user", JSON_CUSTOM, OFF(scenario_file, user), .rows = user_rows, .parse = parse_notes, .doc = "object: a user process that reacts to the run" },
	{ "notes", JSON_CUSTOM, OFF(scenario_file, notes), .parse = parse_notes, .doc = "object of any form: where the scenario comes from; changes nothing" },
	{ NULL },
};
/* clang-format on */

static int check_regions(const struct json_src *src, const struct scenario_file *f, struct err *err)
{
	const struct region *r = f->regions.v;

	if (f->regions.n > REGIONS_MAX)
		return json_complain(src, "$.regions", err, "more than %d regions", REGIONS_MAX);
	for (size_t i = 0; i < f->regions.n; i++) {
		auto_free char *at = mem_printf("$.regions[%zu]", i);

		if (!r[i].path || !path_is_tame(r[i].path))
			return json_complain(src, at, err,
					     "path \"%s\" must be a file relative to the "
					     "workspace, without \"..\" and .git",
					     r[i].path ? r[i].path : "");
		if (r[i].start < 1 || r[i].end < r[i].start)
			return json_complain(src, at, err,
					     "lines %llu to %llu: lines count from 1, and the last "
					     "is not before the first",
					     (unsigned long long)r[i].start,
					     (unsigned long long)r[i].end);
	}
	return 0;
}

/* Is it given as an object? */
static bool is_raw(const struct scenario_effect *e)
{
	return e->model || e->authority || e->place || e->runtime || e->service;
}

/* One key per effect; the kind is that key. */
static int check_effect(const struct json_src *src, const char *at, const cJSON *item,
			const struct scenario_effect *e, struct err *err)
{
	const cJSON *key = item->child;
	const char *wrong = NULL;

	if (!key || key->next)
		return json_complain(src, at, err,
				     "an effect has exactly one of the keys edit, message, exec, "
				     "model, authority, place, runtime, service");
	if (strcmp(key->string, "edit") == 0 && (!e->edit || !e->edit[0]))
		wrong = "is empty; write a diff or the name of its file";
	if (strcmp(key->string, "exec") == 0 && (!e->exec.n || !e->exec.v[0][0]))
		wrong = "is empty; write a program and its arguments";
	if (e->text && e->template)
		wrong = "has both a text and a template; choose one";
	if (e->claim && strlen(e->claim) > CLAIM_MAX)
		wrong = "has a claim of more than 2000 bytes; say it in a sentence or two";
	if (e->text && !e->text[0])
		wrong = "is empty; write a text, or leave it out for the templates by stage";
	if (is_raw(e) && !cJSON_IsObject(key))
		wrong = "must be an object";
	return wrong ? json_complain(src, at, err, "%s %s", key->string, wrong) : 0;
}

static int check_effects(const struct json_src *src, const char *at, const cJSON *item,
			 const struct scenario_file *f, const struct scenario_intervention *iv,
			 struct err *err)
{
	const struct scenario_effect *e = iv->effects.v;
	const cJSON *sub;
	bool fits = false;
	size_t i = 0;

	if (iv->effects.n > EFFECTS_MAX)
		return json_complain(src, at, err, "more than %d effects", EFFECTS_MAX);
	cJSON_ArrayForEach (sub, cJSON_GetObjectItemCaseSensitive(item, "effects")) {
		auto_free char *where = mem_printf("%s.effects[%zu]", at, i);
		int rc = check_effect(src, where, sub, e + i, err);

		if (rc < 0)
			return rc;
		for (int k = 0; scenario_effect_keys[k]; k++) {
			if (strcmp(sub->child->string, scenario_effect_keys[k]) == 0)
				fits |= scenario_effect_fits(f->mode, k);
		}
		i++;
	}
	if (!fits && f->mode != MODE_VANILLA)
		return json_complain(src, at, err, "no effect takes place in mode \"%s\"",
				     scenario_mode_names[f->mode]);
	return 0;
}

static int check_intervention(const struct json_src *src, size_t i, const cJSON *item,
			      const struct scenario_file *f, struct err *err)
{
	struct scenario_intervention *iv = (struct scenario_intervention *)f->interventions.v + i;
	const cJSON *when = cJSON_GetObjectItemCaseSensitive(item, "when");
	auto_free char *at = mem_printf("$.interventions[%zu]", i);
	auto_free char *at_when = mem_printf("%s.when", at);
	int rc;

	/* Elements of an array begin as zeros, so these defaults hang on the key. */
	if (!cJSON_GetObjectItemCaseSensitive(item, "timing"))
		iv->timing = TIMING_AFTER_COMMAND;
	if (!cJSON_GetObjectItemCaseSensitive(when, "touch"))
		iv->when.touch = TOUCH_BYTES;
	if (!cJSON_GetObjectItemCaseSensitive(when, "min_overlap"))
		iv->when.min_overlap = 1;
	if (!cJSON_GetObjectItemCaseSensitive(when, "unit"))
		iv->when.unit = UNIT_AUTO;
	if (iv->order != i + 1)
		return json_complain(src, at, err,
				     "order is %llu; interventions stand in order 1, 2, ... "
				     "without gaps, so %zu is expected here",
				     (unsigned long long)iv->order, i + 1);
	if (iv->when.min_overlap < 1)
		return json_complain(src, at_when, err, "min_overlap must be 1 or more");
	rc = scenario_when_check(src, at_when, f, iv, err);
	if (iv->when.event == WHEN_PROGRESS && !cJSON_GetObjectItemCaseSensitive(when, "at"))
		iv->when.at = -1;
	if (iv->when.event == WHEN_PROGRESS && iv->when.n)
		iv->when.from = LENGTH_FILE;
	return rc == 0 ? check_effects(src, at, item, f, iv, err) : rc;
}

int scenario_check(const struct json_src *src, struct scenario_file *f, struct err *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(src->root, "interventions"), *item;
	int rc = input_check_id(src, "$.id", f->id, err);
	size_t i = 0;

	if (rc == 0 && f->instance_id)
		rc = input_check_id(src, "$.instance_id", f->instance_id, err);
	if (!cJSON_GetObjectItemCaseSensitive(src->root, "max_rounds"))
		f->max_rounds = f->interventions.n > 1 ? f->interventions.n : ROUNDS_DEFAULT;
	if (rc == 0 && (f->max_rounds < 1 || f->max_rounds > ROUNDS_MAX))
		rc = json_complain(src, "$.max_rounds", err, "must be from 1 to %d", ROUNDS_MAX);
	if (rc == 0)
		rc = check_regions(src, f, err);
	if (rc == 0 && f->interventions.n > INTERVENTIONS_MAX)
		rc = json_complain(src, "$.interventions", err, "more than %d", INTERVENTIONS_MAX);
	if (rc == 0 && f->mode != MODE_VANILLA && f->interventions.n == 0 && !f->user &&
	    !f->services)
		rc = json_complain(
			src, "$", err,
			"mode \"%s\" needs \"interventions\", \"user\" or \"services\"; mode "
			"\"vanilla\" does not",
			scenario_mode_names[f->mode]);
	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (item, list) {
		rc = check_intervention(src, i++, item, f, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

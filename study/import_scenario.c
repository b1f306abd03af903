/* A released record becomes a scenario that any run can take.
 *
 * The trigger is the recorded one under the released rule (swe-touch-1.0, after the command, one line of
 * overlap). Rounds that are all the same become one intervention that fires K times; the first round's
 * event holds, and later rounds need an edit, as recorded. Rounds that differ become one intervention
 * each. Regions: those of the triggers, then the mined ones that no trigger names, so that reads of them
 * are recorded too. What a scenario has no field for stands in its notes, as recorded. */
#include "study/import_internal.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "profiles/scenario.h"

#define TOUCH  "swe-touch-1.0"
#define TIMING "after-command"

static const char *const event_names[] = { "read", "edit", "read_or_edit" };

/* Where the region comes from: mined, or named by a trigger only. */
static char *evidence_of(const struct import_raw *r, const struct import_region *region)
{
	const struct import_region *v = r->regions.v;

	for (size_t i = 0; i < r->regions.n; i++)
		if (v[i].start == region->start && v[i].end == region->end &&
		    str_eq(v[i].path, region->path))
			return mem_printf("released: %s%s%s", r->evidence.source,
					  r->evidence.tier ? ", " : "",
					  r->evidence.tier ? r->evidence.tier : "");
	return mem_strdup("released: trigger");
}

/* Index of @region in array @regions, added when it is new. */
static int region_index(const struct import_raw *r, cJSON *regions,
			const struct import_region *region)
{
	auto_free char *evidence = evidence_of(r, region);
	cJSON *item;
	int i = 0;

	cJSON_ArrayForEach (item, regions) {
		if (strcmp(cJSON_GetObjectItem(item, "path")->valuestring, region->path) == 0 &&
		    cJSON_GetObjectItem(item, "start")->valuedouble == (double)region->start &&
		    cJSON_GetObjectItem(item, "end")->valuedouble == (double)region->end)
			return i;
		i++;
	}
	item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "path", region->path);
	cJSON_AddNumberToObject(item, "start", (double)region->start);
	cJSON_AddNumberToObject(item, "end", (double)region->end);
	cJSON_AddStringToObject(item, "evidence", evidence);
	cJSON_AddItemToArray(regions, item);
	return i;
}

static void add_when(const struct import_raw *r, cJSON *iv, cJSON *regions, const char *event,
		     const struct json_array *where)
{
	const struct import_region *v = where->v;
	cJSON *when = cJSON_AddObjectToObject(iv, "when"), *list;

	cJSON_AddStringToObject(when, "event", event);
	list = cJSON_AddArrayToObject(when, "regions");
	for (size_t i = 0; i < where->n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(region_index(r, regions, v + i)));
	cJSON_AddStringToObject(when, "touch", TOUCH);
	cJSON_AddNumberToObject(when, "min_overlap", 1);
	cJSON_AddStringToObject(iv, "timing", TIMING);
}

static void add_edit(cJSON *effects, const char *diff)
{
	cJSON *effect = cJSON_CreateObject();

	cJSON_AddStringToObject(effect, "edit", diff);
	cJSON_AddItemToArray(effects, effect);
}

/* A template by stage tells it; Pro and DeepSWE records have no claim, so there the mistaken belief, which
 * is the user's too, takes its place. */
static void add_message(cJSON *effects, const struct import_patch *p)
{
	const char *claim = p->claim ? p->claim : p->belief;
	cJSON *effect = cJSON_CreateObject(), *message = cJSON_AddObjectToObject(effect, "message");

	if (claim)
		cJSON_AddStringToObject(message, "claim", claim);
	cJSON_AddItemToArray(effects, effect);
}

static void add_round(const struct import_raw *r, cJSON *list, cJSON *regions,
		      const struct import_intervention *iv)
{
	cJSON *item = cJSON_CreateObject(), *effects;

	cJSON_AddNumberToObject(item, "order", cJSON_GetArraySize(list) + 1);
	add_when(r, item, regions, event_names[iv->trigger.event], &iv->trigger.regions);
	effects = cJSON_AddArrayToObject(item, "effects");
	if (iv->delivery != IMPORT_MESSAGE_ONLY)
		add_edit(effects, iv->patch.diff);
	if (iv->delivery != IMPORT_PATCH_ONLY)
		add_message(effects, &iv->patch);
	cJSON_AddItemToArray(list, item);
}

static void add_mined(const struct import_raw *r, cJSON *regions)
{
	const struct import_region *v = r->regions.v;
	for (size_t i = 0; i < r->regions.n; i++)
		(void)region_index(r, regions, v + i);
}

/* Copy @key of @from into @to when it is there. */
static void copy(cJSON *to, const cJSON *from, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, key);

	if (item)
		cJSON_AddItemToObject(to, key, cJSON_Duplicate(item, true));
}

static cJSON *new_notes(const struct import_raw *r, cJSON *root)
{
	cJSON *notes = cJSON_AddObjectToObject(root, "notes");

	cJSON_AddStringToObject(notes, "source", "SWE-Touch record");
	copy(notes, r->src.root, "schema_version");
	copy(notes, r->src.root, "benchmark");
	copy(notes, r->src.root, "split");
	copy(notes, r->src.root, "instance_id");
	copy(notes, r->src.root, "region_evidence");
	return notes;
}

/* All that is recorded of the rounds but the diffs, which stand in the effects. */
static void counter_notes(const struct import_raw *r, cJSON *root)
{
	const cJSON *counter = cJSON_GetObjectItem(r->src.root, "counter_edit"), *item;
	cJSON *notes = new_notes(r, root), *list;

	copy(notes, counter, "mode");
	copy(notes, counter, "fallback_reason");
	copy(notes, counter, "message_prompt_id");
	copy(notes, counter, "validation");
	list = cJSON_AddArrayToObject(notes, "rounds");
	cJSON_ArrayForEach (item, cJSON_GetObjectItem(counter, "interventions")) {
		cJSON *one = cJSON_Duplicate(item, true);

		cJSON_DeleteItemFromObjectCaseSensitive(one, "trigger");
		cJSON_DeleteItemFromObjectCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(one, "patch"), "diff");
		cJSON_AddItemToArray(list, one);
	}
}

static cJSON *new_scenario(const char *id, const char *task, const char *family,
			   enum scenario_mode mode, uint64_t rounds)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddStringToObject(root, "schema", "proctor.scenario/1");
	cJSON_AddStringToObject(root, "id", id);
	cJSON_AddStringToObject(root, "instance_id", task);
	cJSON_AddStringToObject(root, "family", family);
	cJSON_AddStringToObject(root, "mode", scenario_mode_name(mode));
	cJSON_AddNumberToObject(root, "max_rounds", (double)rounds);
	return root;
}

/* Hand the text out and free the tree. */
static void finish(cJSON *root, struct buf *out)
{
	char *text = cJSON_Print(root);

	buf_adds(out, text);
	buf_addc(out, '\n');
	cJSON_free(text);
	cJSON_Delete(root);
}

/* The mode of a record whose rounds need none in particular. */
static enum scenario_mode own_mode(const struct import_raw *r)
{
	const struct import_intervention *iv = r->counter.interventions.v;

	if (iv[0].delivery == IMPORT_MESSAGE_ONLY)
		return MODE_MESSAGE;
	for (size_t i = 0; i < r->counter.interventions.n; i++)
		if (iv[i].delivery != IMPORT_PATCH_ONLY)
			return MODE_EDIT_MESSAGE;
	return MODE_EDIT;
}

void import_counter(const struct import_raw *r, const char *task, const struct import_options *o,
		    struct buf *out)
{
	const struct import_intervention *iv = r->counter.interventions.v;
	size_t n = r->counter.interventions.n, same = 1;
	uint64_t k = o->rounds ? o->rounds : n;
	enum scenario_mode mode = o->mode >= 0 ? (enum scenario_mode)o->mode : own_mode(r);
	auto_free char *id = mem_printf("%s.counter-edit", r->instance);
	cJSON *root = new_scenario(id, task, "counter-edit", mode, k), *regions, *list;

	while (same < n && import_same_round(iv, iv + same))
		same++;
	regions = cJSON_AddArrayToObject(root, "regions");
	list = cJSON_AddArrayToObject(root, "interventions");
	for (size_t i = 0; i < (same == n ? 1 : n); i++)
		add_round(r, list, regions, iv + i);
	add_mined(r, regions);
	counter_notes(r, root);
	finish(root, out);
}

void import_co_edit(const struct import_raw *r, const char *task, struct buf *out)
{
	const struct import_helpful *h = &r->controls.helpful;
	auto_free char *id = mem_printf("%s.co-edit", r->instance);
	cJSON *root = new_scenario(id, task, "co-edit", MODE_CO_EDIT, 1), *regions, *list, *iv,
	      *notes;

	regions = cJSON_AddArrayToObject(root, "regions");
	list = cJSON_AddArrayToObject(root, "interventions");
	iv = cJSON_CreateObject();
	cJSON_AddNumberToObject(iv, "order", 1);
	add_when(r, iv, regions, event_names[h->event], &h->regions);
	add_edit(cJSON_AddArrayToObject(iv, "effects"), h->patch.diff);
	cJSON_AddItemToArray(list, iv);
	add_mined(r, regions);
	notes = new_notes(r, root);
	iv = cJSON_Duplicate(cJSON_GetObjectItem(cJSON_GetObjectItem(r->src.root, "controls"),
						 "helpful_edit"),
			     true);
	cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(iv, "patch"),
						"diff");
	cJSON_AddItemToObject(notes, "helpful_edit", iv);
	finish(root, out);
}

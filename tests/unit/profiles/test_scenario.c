/* scenario.c, scenario_read.c: the contract's example, defaults, which effects fit which mode. */
#include "profiles/scenario.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

static void example(const char *dir)
{
	auto_free char *path = scene_put(dir, "counter.json", SCENE_SCENARIO);
	struct scenario *s = NULL;
	const struct intervention *iv;
	const struct effect *e;
	struct err err = { 0 };

	scene_add(dir, "edit.diff", SCENE_DIFF);
	if (!tap_ok(scenario_load(path, &s, &err) == 0, "the example is read %s", err.text))
		return;
	tap_is_str(s->file, path, "file");
	tap_is_str(s->id, "counter-edit-1", "id");
	tap_is_str(s->instance_id, "acme__calc-12", "instance_id");
	tap_is_str(s->family, "counter-edit", "family");
	tap_ok(s->mode == MODE_EDIT_MESSAGE, "mode");
	tap_is_u64(s->max_rounds, 3, "max_rounds");
	tap_is_u64(s->n_regions, 1, "regions");
	tap_is_str(s->regions[0].path, "src/calc.c", "path");
	tap_ok(s->regions[0].start == 10 && s->regions[0].end == 24, "lines");
	tap_is_str(s->regions[0].evidence, "mined", "evidence");
	tap_is_u64(s->n_interventions, 1, "interventions");
	iv = s->interventions;
	tap_ok(iv->order == 1 && iv->timing == TIMING_AFTER_COMMAND, "order, timing");
	tap_ok(iv->when.event == WHEN_READ_OR_EDIT && iv->when.touch == TOUCH_BYTES,
	       "event, touch");
	tap_ok(iv->when.regions.n == 1 && ((uint64_t *)iv->when.regions.v)[0] == 0, "its regions");
	tap_ok(iv->when.min_overlap == 1 && !iv->when.count_scans && iv->when.n == 12 &&
		       iv->when.at > 0.49 && iv->when.at < 0.51 && iv->when.after == 1,
	       "fields of other events are kept");
	tap_is_str(iv->when.program, "pytest", "program");
	tap_is_u64(iv->n_effects, 5, "effects");
	e = iv->effects;
	tap_ok(e[0].kind == EFFECT_EDIT, "edit");
	tap_is_str(e[0].diff, SCENE_DIFF, "its diff from the file");
	tap_ok(e[1].kind == EFFECT_MESSAGE && !e[1].template, "message without template");
	tap_is_str(e[1].text, "I changed the limit check.", "its text");
	tap_ok(e[2].kind == EFFECT_EXEC && e[2].argv.n == 3, "exec");
	tap_ok(e[3].kind == EFFECT_MODEL, "model");
	tap_is_str(e[3].raw, "{\"session\":\"expire\"}", "its value");
	tap_ok(e[4].kind == EFFECT_AUTHORITY, "authority");
	tap_is_str(e[4].raw, "{\"goal\":\"v2\",\"verifier\":\"v2\"}", "its value");
	tap_ok(s->checks && strstr(s->checks, "\"recovery_order\":[]"), "checks");
	tap_ok(s->authority && strstr(s->authority, "\"v2\":{}"), "authority versions");
	tap_ok(s->actors && strstr(s->actors, "\"reference\":\"ref.diff\""), "actors");
	scenario_free(s);
}

static void defaults(void)
{
	static const char text[] =
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"s\",\n"
		"  \"regions\": [{\"path\": \"a\", \"start\": 1, \"end\": 1}],\n"
		"  \"interventions\": [\n"
		"    {\"order\": 1, \"when\": {\"event\": \"open\"}, \"effects\": [{\"message\": {}}]},\n"
		"    {\"order\": 2, \"when\": {\"event\": \"after\", \"after\": 1, \"touch\": \"open\"},\n"
		"     \"timing\": \"at-touch\", \"effects\": [{\"edit\": \"a\\nb\"}]} ] }";
	struct scenario *s = NULL;
	struct err err = { 0 };

	if (!tap_ok(scenario_parse("text", text, strlen(text), NULL, &s, &err) == 0, "read %s",
		    err.text))
		return;
	tap_ok(s->mode == MODE_EDIT_MESSAGE && s->max_rounds == 3, "mode, rounds");
	tap_ok(s->interventions[0].timing == TIMING_AFTER_COMMAND &&
		       s->interventions[0].when.touch == TOUCH_BYTES &&
		       s->interventions[0].when.min_overlap == 1,
	       "timing, touch, overlap");
	tap_ok(!s->interventions[0].effects[0].text && !s->interventions[0].effects[0].template,
	       "a message by stage");
	tap_ok(s->interventions[1].timing == TIMING_AT_TOUCH &&
		       s->interventions[1].when.touch == TOUCH_OPEN,
	       "the first name of a list is not the default");
	tap_ok(!s->checks && !s->authority && !s->actors && !s->instance_id, "nothing else");
	scenario_free(s);
}

static void fits(void)
{
	/* edit, message, exec, model, authority */
	static const struct {
		enum scenario_mode mode;
		const char *fits;
	} rows[] = {
		{ MODE_VANILLA, "-----" }, { MODE_EDIT_MESSAGE, "emxma" }, { MODE_EDIT, "e-xma" },
		{ MODE_MESSAGE, "-mxma" }, { MODE_CO_EDIT, "emxma" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (int k = EFFECT_EDIT; k <= EFFECT_AUTHORITY; k++)
			tap_ok(scenario_effect_fits(rows[i].mode, k) == (rows[i].fits[k] != '-'),
			       "%s in %s", scenario_effect_name(k),
			       scenario_mode_name(rows[i].mode));
	}
	tap_ok(scenario_event_is_touch(WHEN_OPEN) && scenario_event_is_touch(WHEN_READ_OR_EDIT) &&
		       !scenario_event_is_touch(WHEN_EXEC),
	       "events that are touches");
	tap_is_str(scenario_event_name(WHEN_ANCHOR), "anchor", "name of an event");
	tap_is_str(scenario_touch_name(TOUCH_SWE_TOUCH_1), "swe-touch-1.0", "name of a level");
	tap_is_str(scenario_timing_name(TIMING_AFTER_READ), "after-read", "name of a timing");
}

int main(void)
{
	char *dir = scene_new();

	example(dir);
	defaults();
	fits();
	tap_ok(scenario_free(NULL) == NULL, "nothing can be freed");
	scene_done(dir);
	return tap_done();
}

/* scenario.c, scenario_read.c: the contract's example, defaults, which effects fit which mode. */
#include "profiles/scenario.h"

#include "base/buf.h"
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
	tap_ok(s->mode == MODE_EDIT_MESSAGE && s->max_rounds == 2,
	       "mode; each of several fires once");
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

/* A scenario of @n interventions with event and more in their "when". Caller frees. */
static struct scenario *of(const char *head, unsigned n, const char *when, const char *effect,
			   struct err *err)
{
	auto_buf b = BUF_INIT(1u << 16);
	struct scenario *s = NULL;

	buf_addf(&b, "{ \"schema\": \"proctor.scenario/1\", \"id\": \"s\", %s", head);
	buf_adds(&b, "\"regions\": [{\"path\": \"a\", \"start\": 1, \"end\": 1}],"
		     " \"interventions\": [");
	for (unsigned i = 1; i <= n; i++)
		buf_addf(&b, "%s{\"order\": %u, \"when\": {%s}, \"effects\": [%s]}",
			 i > 1 ? ", " : "", i, when, effect);
	buf_adds(&b, "] }");
	err->text[0] = '\0';
	(void)scenario_parse("s", buf_str(&b), b.len, NULL, &s, err); /* NULL when it failed */
	return s;
}

#define EDIT     "{\"edit\": \"a\\nb\"}"
#define MESSAGE  "{\"message\": {\"claim\": \"The limit is 10.\"}}"
#define TOUCHED  "\"event\": \"read_or_edit\""
#define PROGRESS "\"event\": \"progress\""

static void rounds(void)
{
	static const struct {
		const char *head;
		unsigned n;
		int mode;
		uint64_t rounds;
		uint64_t k;
		size_t part;
	} rows[] = {
		{ "", 1, -1, 0, 3, 1 },
		{ "", 5, -1, 0, 5, 5 },
		{ "\"max_rounds\": 3,", 5, -1, 0, 3, 3 },
		{ "\"max_rounds\": 3,", 2, -1, 0, 3, 2 },
		{ "\"max_rounds\": 3,", 3, -1, 1, 1, 1 },
		{ "\"max_rounds\": 3,", 3, -1, 5, 5, 3 },
		{ "", 1, -1, 1, 1, 1 },
		{ "", 3, MODE_VANILLA, 0, 0, 0 },
		{ "", 3, MODE_VANILLA, 5, 0, 0 },
		{ "", 3, MODE_CO_EDIT, 0, 1, 1 },
		{ "\"mode\": \"vanilla\",", 2, MODE_EDIT, 0, 2, 2 },
		{ "\"mode\": \"co-edit\",", 1, -1, 0, 1, 1 },
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scenario *s = of(rows[i].head, rows[i].n, TOUCHED, EDIT ", " MESSAGE, &err);

		if (!tap_ok(s && scenario_set_condition(s, rows[i].mode, rows[i].rounds, &err) == 0,
			    "row %zu %s", i, err.text))
			continue;
		tap_is_u64(scenario_rounds(s), rows[i].k, "K");
		tap_is_u64(scenario_taking_part(s), rows[i].part, "interventions that take part");
		scenario_free(s);
	}
}

static void conditions_refused(void)
{
	struct err err = { 0 };
	struct scenario *s = of("", 1, TOUCHED, MESSAGE, &err);

	tap_is_str(s->interventions[0].effects[0].claim, "The limit is 10.", "a claim");
	tap_ok(scenario_set_condition(s, MODE_EDIT, 0, &err) == -ERR_INPUT &&
		       strstr(err.text, "takes place in mode \"edit\""),
	       "words alone have nothing for mode edit: %s", err.text);
	tap_ok(scenario_set_condition(s, MODE_MESSAGE, 0, &err) == 0, "but for mode message");
	tap_ok(scenario_set_condition(s, MODE_CO_EDIT, 3, &err) == -ERR_USAGE &&
		       strstr(err.text, "fires once"),
	       "a Co-Edit has one round: %s", err.text);
	tap_ok(scenario_set_condition(s, MODE_MESSAGE, 1001, &err) == -ERR_USAGE, "too many: %s",
	       err.text);
	scenario_free(s);
	s = of("\"progress\": [0.2, 0.9],", 1, PROGRESS, EDIT, &err);
	tap_ok(!s && strstr(err.text, "$.progress names 2 fractions, but there are 3 rounds"),
	       "too few fractions: %s", err.text);
	s = of("\"progress\": [0.2, 0.9], \"max_rounds\": 2,", 1, PROGRESS, EDIT, &err);
	tap_ok(s && scenario_set_condition(s, -1, 5, &err) == -ERR_INPUT, "for K=5 either: %s",
	       err.text);
	scenario_free(s);
}

static void schedule(void)
{
	/* fraction, length, count: ceil, but not of what is only a rounding error */
	static const struct {
		const char *head, *when;
		uint64_t round, want;
	} rows[] = {
		{ "", PROGRESS ", \"n\": 100", 1, 25 },
		{ "", PROGRESS ", \"n\": 100", 2, 50 },
		{ "", PROGRESS ", \"n\": 100", 3, 75 },
		{ "", PROGRESS ", \"n\": 10", 1, 3 },
		{ "", PROGRESS ", \"n\": 10", 3, 8 },
		{ "\"max_rounds\": 1,", PROGRESS ", \"n\": 7", 1, 4 },
		{ "\"max_rounds\": 2,", PROGRESS ", \"n\": 9", 1, 3 },
		{ "\"max_rounds\": 2,", PROGRESS ", \"n\": 9", 2, 6 },
		{ "\"progress\": [0, 0.1, 1],", PROGRESS ", \"n\": 30", 1, 1 },
		{ "\"progress\": [0, 0.1, 1],", PROGRESS ", \"n\": 30", 2, 3 },
		{ "\"progress\": [0, 0.1, 1],", PROGRESS ", \"n\": 30", 3, 30 },
		{ "", PROGRESS ", \"at\": 0.7, \"n\": 10", 3, 7 },
		{ "", PROGRESS ", \"at\": 0.07, \"n\": 100", 1, 7 },
		{ "", PROGRESS ", \"at\": 0, \"n\": 100", 1, 1 },
		{ "", PROGRESS, 1, 0 },
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scenario *s = of(rows[i].head, 1, rows[i].when, EDIT, &err);

		if (tap_ok(s, "row %zu %s", i, err.text))
			tap_is_u64(scenario_point(s, &s->interventions[0].when, rows[i].round),
				   rows[i].want, "its count");
		scenario_free(s);
	}
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
	rounds();
	conditions_refused();
	schedule();
	fits();
	tap_ok(scenario_free(NULL) == NULL, "nothing can be freed");
	scene_done(dir);
	return tap_done();
}

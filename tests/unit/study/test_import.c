/* Released records: what becomes of invented ones, and that every contradiction is refused with its place.
 * Argument: the directory of the invented records. */
#include "study/import_swetouch.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "profiles/scenario.h"
#include "tests/lib/tap.h"

static const char *records;

static void load(const char *name, struct buf *out)
{
	auto_free char *path = mem_printf("%s/%s.json", records, name);
	struct err err = { 0 };

	if (fd_read_file(path, out, &err) < 0) {
		tap_ok(false, "%s", err.text);
		exit(tap_done());
	}
}

/* The record with the first @from replaced by @to. Caller frees. */
static char *changed(const struct buf *b, const char *from, const char *to)
{
	const char *text = buf_str(b), *at = from[0] ? strstr(text, from) : text;

	if (!at) {
		tap_ok(false, "\"%s\" is in the record", from);
		return mem_strdup(text);
	}
	return mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

struct bad {
	const char *record, *from, *to, *want;
};

/* clang-format off */
static const struct bad bad[] = {
	{ "verified", "\"split\"", "\"splot\"", "f:3: $: unknown key \"splot\", did you mean \"split\"?" },
	{ "verified", "\"split\": \"test\", ", "", "f:3: $: \"split\" is missing" },
	{ "verified", "1.0.0", "2.0.0", "$.schema_version: \"2.0.0\" is not known; this program reads 1.0.0" },
	{ "verified", "swe_bench_verified", "swe_bench_verifed", "did you mean \"swe_bench_verified\"?" },
	{ "verified", "example__duration-1", "../x", "$.instance_id: \"../x\" is not a name" },
	{ "verified", "example__duration-1", "", "$.instance_id" },
	{ "verified", "\"example__duration-1\"", "null", "$.instance_id" },
	{ "verified", "\"path\": \"src/duration.c\"", "\"path\": \"/etc/passwd\"", "$.task_critical_regions: region 0: path \"/etc/passwd\"" },
	{ "verified", "\"path\": \"src/duration.c\"", "\"path\": null", "$.task_critical_regions: region 0" },
	{ "verified", "\"start_line\": 30", "\"start_line\": 0", "lines 0 to 75" },
	{ "verified", "\"start_line\": 30", "\"start_line\": 76", "lines 76 to 75" },
	{ "verified", "\"start_line\": 30", "\"start_line\": \"30\"", "expected a whole number" },
	{ "verified", "\"selection_tier\": \"modified_main_non_noise\", ", "", "$.region_evidence: \"selection_tier\" or \"models\" is missing" },
	{ "verified", "\"mode\": \"patch\"", "\"mode\": \"text_only\"", "contradicts status" },
	{ "verified", "\"max_interventions\": 3", "\"max_interventions\": 2", "3 interventions, but max_interventions is 2" },
	{ "verified", "\"order\": 2", "\"order\": 3", "$.counter_edit.interventions[1]: order is 3, expected 2" },
	{ "verified", "\"max_triggers\": 1", "\"max_triggers\": 2", "max_triggers is 2, expected 1" },
	{ "verified", "{\"event\": \"edit\"", "{\"event\": \"read\"", "interventions[1]: event \"read\": from order 2 on" },
	{ "verified", "patch_and_message", "message_only", "delivery \"message_only\" in mode \"patch\" has a patch" },
	{ "verified", "\"diff\": \"diff --git ", "\"diff\": \"", "must begin with \"diff --git \"" },
	{ "verified", "\"user_claim\"", "\"user_clam\"", "unknown key \"user_clam\"" },
	{ "verified", "\"fallback_reason\": null", "\"fallback_reason\": \"reference_repair_failed\"", "$.counter_edit.fallback_reason" },
	{ "verified", "\"passes_validation\": true", "\"passes_validation\": false", "passes_validation contradicts" },
	{ "verified", "\"user_edit_only\": {\"patch_applied\": true, \"resolved\": false}", "\"user_edit_only\": {\"patch_applied\": true, \"resolved\": true}",
	  "the outcomes do not give status \"validated_counter_edit\"" },
	{ "verified", "\"reference_applied\": true", "\"reference_applied\": false", "the outcomes do not give" },
	{ "verified", "\"resolved\": false", "\"resolved\": null", "the outcomes do not give" },
	{ "verified", "\"resolved\": false", "\"resolved\": 0", "expected true, false or null" },
	{ "verified", "\"patch_only_resolved\": false", "\"patch_only_resolved\": true", "patch_only_resolved must be false" },
	{ "verified", "\"mode\": \"patch\", \"max_interventions\": 1", "\"mode\": \"region_hint\", \"max_interventions\": 1", "mode \"region_hint\" has a patch" },
	{ "verified", "\"helpful_edit\"", "\"helpful_edits\"", "unknown key \"helpful_edits\"" },
	{ "verified", "{\"schema_version\"", "{\"split\": \"x\", \"schema_version\"", "key given twice" },
	{ "verified", "{\"schema_version\"", "[{\"schema_version\"", "f:3" },
	{ "conflict", "\"reference_applied\": false", "\"reference_applied\": true", "the outcomes do not give" },
	{ "text-only", "\"fallback_reason\": \"reference_repair_failed\"", "\"fallback_reason\": null", "fallback_reason" },
	{ "text-only", "\"fallback_reason\": \"reference_repair_failed\"", "\"fallback_reason\": \"invalid_counter_edit\"", "fallback_reason" },
	{ "pro", "\"all_interventions_validated\": true", "\"all_interventions_validated\": false", "contradicts status" },
	{ "pro", ", \"validation\": {\"status\": \"validated_counter_edit\", \"passes_validation\"", ", \"validations\": {\"status\": \"validated_counter_edit\", \"passes_validation\"", "unknown key" },
	{ "pro", "\"mistaken_belief\": \"A part", "\"mistaken_belief\": \"\", \"x\": \"A part", "unknown key \"x\"" },
};
/* clang-format on */

static void test_bad(const struct bad *b)
{
	const struct import_options o = { .mode = -1 };
	auto_buf text = BUF_INIT(1u << 20), scenario = BUF_INIT(4u << 20), co = BUF_INIT(4u << 20);
	auto_free char *line = NULL;
	struct err err = { 0 };
	int rc;

	load(b->record, &text);
	line = changed(&text, b->from, b->to);
	rc = import_record("f:3", line, strlen(line), &o, &scenario, &co, &err);
	tap_ok(rc == -ERR_INPUT && strstr(err.text, b->want), "%s: %s", b->record, err.text);
}

/* A record as a loaded scenario; the caller frees it. NULL when the text stays empty. */
static struct scenario *scenario_of(const char *record, const struct import_options *o,
				    bool co_edit)
{
	auto_buf text = BUF_INIT(1u << 20), scenario = BUF_INIT(4u << 20), co = BUF_INIT(4u << 20);
	const struct buf *b = co_edit ? &co : &scenario;
	struct scenario *sc = NULL;
	struct err err = { 0 };

	load(record, &text);
	if (import_record(record, text.data, text.len, o, &scenario, &co, &err) < 0 ||
	    (b->len && scenario_parse("s", buf_str(b), b->len, NULL, &sc, &err) < 0))
		tap_ok(false, "%s: %s", record, err.text);
	return sc;
}

static void test_same_rounds(void)
{
	const struct import_options o = { .mode = -1 },
				    five = { .mode = MODE_MESSAGE, .rounds = 5 };
	struct scenario *sc = scenario_of("verified", &o, false);
	const struct intervention *iv = sc->interventions;
	const uint64_t *region = iv->when.regions.v;

	tap_is_str(sc->id, "example__duration-1.counter-edit", "id");
	tap_is_str(sc->family, "counter-edit", "family");
	tap_ok(sc->mode == MODE_EDIT_MESSAGE && sc->max_rounds == 3 && sc->n_interventions == 1,
	       "three equal rounds are one intervention that fires three times");
	tap_ok(iv->when.event == WHEN_READ_OR_EDIT && iv->when.touch == TOUCH_SWE_TOUCH_1 &&
		       iv->when.min_overlap == 1 && iv->timing == TIMING_AFTER_COMMAND,
	       "the released trigger");
	tap_ok(sc->n_regions == 2 && iv->when.regions.n == 1 && region[0] == 0 &&
		       strcmp(sc->regions[0].path, "src/duration.c") == 0 &&
		       sc->regions[0].start == 30 && sc->regions[0].end == 75 &&
		       strcmp(sc->regions[1].path, "src/duration.h") == 0,
	       "the trigger's region, then the one that was only mined");
	tap_is_str(sc->regions[0].evidence, "released: trajectory_edit, modified_main_non_noise",
		   "evidence");
	tap_ok(iv->n_effects == 2 && iv->effects[0].kind == EFFECT_EDIT &&
		       strstr(iv->effects[0].diff, "diff --git a/src/duration.c") &&
		       iv->effects[1].kind == EFFECT_MESSAGE && !iv->effects[1].text,
	       "the edit, then a message by template");
	tap_is_str(iv->effects[1].claim, "I made duration_parse() shorten a part that is too long.",
		   "the user's claim");
	tap_ok(sc->notes && strstr(sc->notes, "mistaken_belief") &&
		       strstr(sc->notes, "expected_failure") && !strstr(sc->notes, "diff --git"),
	       "belief and failure stand in the notes, the diff does not");
	scenario_free(sc);
	sc = scenario_of("verified", &five, false);
	tap_ok(sc->mode == MODE_MESSAGE && sc->max_rounds == 5, "another mode, another K");
	scenario_free(sc);
	sc = scenario_of("verified", &o, true);
	tap_ok(sc && sc->mode == MODE_CO_EDIT && sc->max_rounds == 1 && sc->n_interventions == 1 &&
		       sc->interventions[0].when.event == WHEN_EDIT &&
		       sc->interventions[0].n_effects == 1,
	       "the helpful edit");
	scenario_free(sc);
}

static void test_other_rounds(void)
{
	const struct import_options o = { .mode = -1 }, two = { .mode = -1, .rounds = 2 };
	struct scenario *sc = scenario_of("pro", &o, false);

	tap_ok(sc->n_interventions == 3 && sc->max_rounds == 3 &&
		       sc->interventions[0].when.event == WHEN_EDIT &&
		       sc->interventions[2].order == 3 &&
		       strstr(sc->interventions[2].effects[0].diff, "three"),
	       "different rounds are interventions of their own");
	tap_is_str(sc->interventions[0].effects[1].claim,
		   "A part that is too long may become the longest duration.",
		   "without a claim the belief is told");
	scenario_free(sc);
	tap_ok(!scenario_of("pro", &o, true), "no helpful edit, no co-edit");
	tap_ok(!scenario_of("conflict", &o, true), "a hint is no co-edit");
	sc = scenario_of("deepswe", &two, false);
	tap_ok(sc->max_rounds == 2 && sc->n_interventions == 3, "K of the caller");
	scenario_free(sc);
	sc = scenario_of("text-only", &o, false);
	tap_ok(sc->mode == MODE_MESSAGE && sc->n_interventions == 1 && sc->max_rounds == 3 &&
		       sc->interventions[0].n_effects == 1 &&
		       sc->interventions[0].effects[0].kind == EFFECT_MESSAGE &&
		       strstr(sc->notes, "\"fallback_reason\":\"reference_repair_failed\""),
	       "a text-only record is messages, with its reason");
	scenario_free(sc);
}

int main(int argc, char **argv)
{
	records = argc > 1 ? argv[1] : "tests/corpus/swetouch_record";
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		test_bad(&bad[i]);
	test_same_rounds();
	test_other_rounds();
	return tap_done();
}

/* Templates by stage, an author's own words, and texts that must not be said. */
#include "triggers/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void source(const struct effect *e, const struct message_about *a, const char *want_text,
		   const char *want_source, const char *name)
{
	auto_free char *src = NULL;
	auto_free char *text = message_text(e, a, &src);

	if (want_text)
		tap_is_str(text, want_text, name);
	tap_is_str(src, want_source, name);
}

static void test_stages(void)
{
	struct effect by_stage = { .kind = EFFECT_MESSAGE };

	for (uint64_t stage = 1; stage <= 5; stage++) {
		struct message_about a = { stage, "the limit is 10 now", "src/calc.c", 10, 24 };
		auto_free char *text = message_by_stage(&a);
		auto_free char *again = message_by_stage(&a);

		tap_ok(strstr(text, "src/calc.c (lines 10-24)") != NULL, "stage %d names the place",
		       (int)stage);
		tap_ok(strstr(text, " the limit is 10 now. ") != NULL, "stage %d brings the claim",
		       (int)stage);
		tap_ok(!message_refused(text, false) && !strcasestr(text, "test"),
		       "stage %d gives nothing away", (int)stage);
		tap_is_str(text, again, "same inputs, same words");
	}
	source(&by_stage, &(struct message_about){ .stage = 1, .path = "a.c" }, NULL, "template:1",
	       "stage 1");
	source(&by_stage, &(struct message_about){ .stage = 2, .path = "a.c" }, NULL, "template:2",
	       "stage 2");
	source(&by_stage, &(struct message_about){ .stage = 7, .path = NULL }, NULL, "template:3",
	       "stage 7 is the third");
}

static void test_own(void)
{
	struct message_about a = { 1, NULL, "a.c", 3, 3 };
	struct effect fixed = { .kind = EFFECT_MESSAGE,
				.text = (char *)"I changed the limit check." };
	struct effect code = { .kind = EFFECT_MESSAGE, .text = (char *)"Use\n```\nx = 1\n```" };
	struct effect bad = { .kind = EFFECT_MESSAGE, .text = (char *)"Part of the Counter-Edit." };
	struct effect own = {
		.kind = EFFECT_MESSAGE,
		.template = (char *)"See {path}:{first}-{last}, {region}, {round}.{claim} {x}"
	};
	struct effect pinned = { .kind = EFFECT_MESSAGE, .template = (char *)"insistent" };
	struct effect typo = { .kind = EFFECT_MESSAGE, .template = (char *)"insistant" };
	auto_free char *third = message_by_stage(&(struct message_about){ 3, NULL, "a.c", 3, 3 });
	struct err err;

	source(&fixed, &a, "I changed the limit check.", "text", "fixed text");
	source(&code, &a, "Use\n```\nx = 1\n```", "text", "a person may send code");
	source(&bad, &a, NULL, "template:1 (text refused: counter-edit)",
	       "a give-away is replaced");
	source(&own, &a, "See a.c:3-3, a.c (line 3), 1. {x}", "template:1", "own template");
	source(&pinned, &a, third, "template:3", "pinned stage");
	tap_ok(message_check(&own, &err) == 0 && message_check(&pinned, &err) == 0,
	       "good templates");
	tap_ok(message_check(&typo, &err) == -ERR_INPUT && strstr(err.text, "\"insistent\""), "%s",
	       err.text);
}

static void test_filter(void)
{
	static const char *const bad[] = { "",
					   " \n",
					   "from SWE-Bench",
					   "the Hidden Tests",
					   "```\ncode\n```",
					   "diff --git a/x b/x",
					   "I am a simulated user",
					   "as an AI model" };
	static const char *const good[] = { "I changed the retry limit.", "Please rerun the tests.",
					    "The benchmarks folder is mine.",
					    "the simulation step is 3" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		tap_ok(message_refused(bad[i], false) != NULL, "refused: %zu", i);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		tap_ok(message_refused(good[i], false) == NULL, "allowed: %s", good[i]);
}

int main(void)
{
	test_stages();
	test_own();
	test_filter();
	return tap_done();
}

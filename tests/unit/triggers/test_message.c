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

/* Ends of sentences; a dot inside a name or number is none. */
static unsigned sentences(const char *text)
{
	unsigned n = 0;

	for (const char *p = text; *p; p++)
		n += strchr(".!?", *p) && (p[1] == ' ' || !p[1]);
	return n;
}

static void test_stages(void)
{
	static const char *const hedges[] = { "maybe",    "perhaps",  "i think", "might",
					      "probably", "not sure", "seems",   "sorry" };
	static const struct {
		uint64_t round;
		const char *source;
	} rows[] = { { 1, "template:1" }, { 2, "template:2" },   { 3, "template:3" },
		     { 4, "template:4" }, { 5, "template:4" },   { 6, "template:6" },
		     { 7, "template:6" }, { 1000, "template:6" } };
	struct effect by_stage = { .kind = EFFECT_MESSAGE };
	auto_free char *before = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct message_about a = { rows[i].round, "the limit is 10 now", "src/calc.c", 10,
					   24 };
		auto_free char *text = message_by_stage(&a);
		auto_free char *again = message_by_stage(&a);
		auto_free char *bare = NULL;
		int r = (int)a.stage;
		bool same_stage = i && strcmp(rows[i].source, rows[i - 1].source) == 0;

		tap_ok(strstr(text, "src/calc.c (lines 10-24)") != NULL, "round %d names the place",
		       r);
		tap_ok(strstr(text, " the limit is 10 now. ") != NULL, "round %d brings the claim",
		       r);
		tap_ok(!message_refused(text, false) && !strcasestr(text, "test"),
		       "round %d gives nothing away", r);
		tap_ok(sentences(text) >= 2 && sentences(text) <= 4, "round %d: 2 to 4 sentences",
		       r);
		for (size_t k = 0; k < ARRAY_SIZE(hedges); k++)
			if (strcasestr(text, hedges[k]))
				tap_ok(false, "round %d hedges: %s", r, hedges[k]);
		tap_is_str(text, again, "same inputs, same words");
		tap_ok((before && strcmp(before, text) == 0) == same_stage,
		       "round %d: a stage of its own", r);
		a.claim = NULL;
		bare = message_by_stage(&a);
		tap_ok(sentences(bare) >= 2 && !strstr(bare, "  "), "round %d without a claim", r);
		source(&by_stage, &(struct message_about){ .stage = rows[i].round, .path = "a.c" },
		       NULL, rows[i].source, "its source");
		free(before);
		before = take_ptr(&text);
	}
}

/* The template that was filled in, for its digest. */
static void test_template(void)
{
	struct message_about one = { .stage = 1, .path = "a.c" }, two = { .stage = 2 };
	struct message_about bad = { .stage = 1, .path = "a.c", .claim = "as in SWE-bench" };
	struct effect by_stage = { .kind = EFFECT_MESSAGE };
	struct effect fixed = { .kind = EFFECT_MESSAGE, .text = (char *)"I changed it." };
	struct effect own = { .kind = EFFECT_MESSAGE, .template = (char *)"See {path}.{claim}" };
	struct effect pinned = { .kind = EFFECT_MESSAGE, .template = (char *)"firm" };
	struct effect refused = { .kind = EFFECT_MESSAGE, .text = (char *)"the gold patch" };

	tap_ok(strstr(message_template(&by_stage, &one), "{region}") != NULL, "a stage's");
	tap_ok(message_template(&by_stage, &one) != message_template(&by_stage, &two),
	       "another stage's is another");
	tap_ok(message_template(&pinned, &one) == message_template(&by_stage, &two),
	       "a stage by name");
	tap_is_str(message_template(&own, &one), "See {path}.{claim}", "the author's");
	tap_ok(message_template(&own, &bad) == message_template(&by_stage, &one),
	       "what must not be said: the stage's");
	tap_ok(!message_template(&fixed, &one), "a fixed text has none");
	tap_ok(message_template(&refused, &one) == message_template(&by_stage, &one),
	       "unless it must not be said");
}

static void test_own(void)
{
	struct message_about a = { 1, NULL, "a.c", 3, 3, NULL };
	struct message_about spent = { .stage = 1, .budget = "3 of 12 model calls" };
	struct effect fixed = { .kind = EFFECT_MESSAGE,
				.text = (char *)"I changed the limit check." };
	struct effect code = { .kind = EFFECT_MESSAGE, .text = (char *)"Use\n```\nx = 1\n```" };
	struct effect bad = { .kind = EFFECT_MESSAGE, .text = (char *)"Part of the Counter-Edit." };
	struct effect own = {
		.kind = EFFECT_MESSAGE,
		.template = (char *)"See {path}:{first}-{last}, {region}, {round}.{claim} {x}"
	};
	struct effect limits = { .kind = EFFECT_MESSAGE, .template = (char *)"Used: {budget}." };
	struct effect pinned = { .kind = EFFECT_MESSAGE, .template = (char *)"insistent" };
	struct effect typo = { .kind = EFFECT_MESSAGE, .template = (char *)"insistant" };
	auto_free char *third =
		message_by_stage(&(struct message_about){ 3, NULL, "a.c", 3, 3, NULL });
	struct err err;

	source(&fixed, &a, "I changed the limit check.", "text", "fixed text");
	source(&code, &a, "Use\n```\nx = 1\n```", "text", "a person may send code");
	source(&bad, &a, NULL, "template:1 (text refused: counter-edit)",
	       "a give-away is replaced");
	source(&own, &a, "See a.c:3-3, a.c (line 3), 1. {x}", "template:1", "own template");
	source(&limits, &spent, "Used: 3 of 12 model calls.", "template:1", "what is used");
	source(&limits, &a, "Used: no limits.", "template:1", "without limits");
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
	test_template();
	test_own();
	test_filter();
	return tap_done();
}

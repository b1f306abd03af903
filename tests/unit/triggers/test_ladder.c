/* What the agent is told of an update: every step says what the one before says, made of the effects themselves. */
#include "triggers/ladder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "triggers/message.h"

/* A scenario with one intervention of these effects; NULL after a failed test. Free with scenario_free(). */
static struct scenario *make(const char *mode, const char *effects, const char *more)
{
	auto_free char *text = mem_printf(
		"{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"instance_id\":\"s\",\"mode\":\"%s\","
		"\"interventions\":[{\"order\":1,\"when\":{\"event\":\"anchor\",\"anchor\":\"fork\"},"
		"\"effects\":[%s]}]%s}",
		mode, effects, more);
	struct scenario *s = NULL;
	struct err err = { 0 };

	if (scenario_parse("s", text, strlen(text), NULL, &s, &err) < 0)
		tap_ok(false, "the scenario is read: %s", err.text);
	return s;
}

static char *say(const struct scenario *s, enum ladder_step step)
{
	auto_buf out = BUF_INIT(1u << 20);

	if (s)
		ladder_text(s, 0, step, &out);
	return buf_steal(&out, NULL);
}

#define DIFF "{\"edit\":\"--- a/src/a.c\\n+++ b/src/a.c\\n@@ -1 +1 @@\\n-int x;\\n+int y;\\n\"}"

/* clang-format off */
static const struct {
	const char *name, *effects, *more;
	enum ladder_step step;
	const char *want, *lack; /* NULL = nothing */
} rows[] = {
	{ "A1 names nothing", DIFF, "", LADDER_A1, "has changed", "src/a.c" },
	{ "A2 names the file", DIFF, "", LADDER_A2, "- the file src/a.c", NULL },
	{ "A2 shows no difference", DIFF, "", LADDER_A2, "has changed", "int y" },
	{ "A3 shows it", DIFF, "", LADDER_A3, "+int y;", "out of date" },
	{ "A4 asks to look again", DIFF, "", LADDER_A4, "out of date", "when you are done" },
	{ "A5 says what is to be kept", DIFF, "", LADDER_A5, "when you are done", NULL },
	{ "A5 in the scenario's words", DIFF, ",\"checks\":{\"preservation\":[{\"name\":\"the menu still works\",\"exists\":{\"kind\":\"edit\"}}]}",
	  LADDER_A5, "- the menu still works\n", NULL },
	{ "a file put in its place", "{\"place\":{\"path\":\"cfg.ini\",\"text\":\"a = 1\\n\"}}", "", LADDER_A3,
	  "- the file cfg.ini\n\nHow it is now:\ncfg.ini is now:\na = 1", NULL },
	{ "a removed one", "{\"place\":{\"path\":\"cfg.ini\",\"absent\":true}}", "", LADDER_A2, "- cfg.ini, which is gone", NULL },
	{ "a re-dated one", "{\"place\":{\"path\":\"cfg.ini\",\"touch\":true}}", "", LADDER_A3, "cfg.ini has the same contents and another date", NULL },
	{ "a link", "{\"place\":{\"path\":\"cfg.ini\",\"link\":\"other.ini\"}}", "", LADDER_A3, "cfg.ini points to other.ini", NULL },
	{ "a replaced text", "{\"place\":{\"path\":\"cfg.ini\",\"replace\":[[\"old\",\"new\"]]}}", "", LADDER_A3, "cfg.ini: \"old\" is now \"new\"", NULL },
	{ "a port", "{\"runtime\":{\"listen\":{\"name\":\"legacy\",\"port\":8200}}}", "", LADDER_A3, "port 8200: in use by legacy", NULL },
	{ "a lock", "{\"runtime\":{\"lock\":{\"name\":\"idx\",\"path\":\"b.lock\",\"kind\":\"flock\"}}}", "", LADDER_A3, "b.lock: locked by idx", NULL },
	{ "a process that is gone", "{\"runtime\":{\"kill\":{\"program\":\"server\"}}}", "", LADDER_A3, "the process server: ended", NULL },
	{ "a started one", "{\"runtime\":{\"start\":{\"name\":\"mailer\",\"argv\":[\"sleep\",\"9\"]}}}", "", LADDER_A3, "the process mailer: started by me", NULL },
	{ "space", "{\"runtime\":{\"fill\":{\"path\":\"big\",\"bytes\":4096}}}", "", LADDER_A2, "- the space left at big", NULL },
	{ "a cache", "{\"runtime\":{\"empty\":{\"path\":\"cache\"}}}", "", LADDER_A3, "cache: emptied", NULL },
	{ "a goal", "{\"authority\":{\"goal\":\"updated\",\"verifier\":\"updated\"}},{\"message\":{\"text\":\"New plan.\"}}",
	  ",\"authority\":{\"updated\":{\"problem_statement\":\"Print in metres.\"}}", LADDER_A3,
	  "- what I want from you\n\nHow it is now:\nWhat I want now:\nPrint in metres.", "verifier" },
	{ "how the work is judged is not told", "{\"authority\":{\"verifier\":\"updated\"}},{\"message\":{\"text\":\"New plan.\"}}",
	  ",\"authority\":{\"updated\":{\"problem_statement\":\"Print in metres.\"}}", LADDER_A5, "has changed", "metres" },
	{ "a message says itself", "{\"message\":{\"text\":\"By the way, the tests are slow.\"}}", "", LADDER_A5, "has changed", "the tests are slow" },
	{ "A0 says nothing", DIFF, "", LADDER_A0, NULL, "changed" },
};
/* clang-format on */

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scenario *s = make("edit+message", rows[i].effects, rows[i].more);
		auto_free char *text = say(s, rows[i].step);
		bool ok = (!rows[i].want || strstr(text, rows[i].want)) &&
			  (!rows[i].lack || !strstr(text, rows[i].lack));

		if (!tap_ok(s && ok, "%s", rows[i].name))
			tap_diag("got: %s", text);
		scenario_free(s);
	}
}

/* Each step begins with all of the one before, and nothing of it gives the experiment away. */
static void test_steps(void)
{
	struct scenario *s = make("edit+message", DIFF, "");
	auto_free char *before = mem_strdup("");

	for (int i = LADDER_A1; i < LADDER_MAX; i++) {
		auto_free char *text = say(s, (enum ladder_step)i);
		auto_free char *again = say(s, (enum ladder_step)i);

		tap_ok(str_starts(text, before) && strlen(text) > strlen(before),
		       "%s says what the step before says, and more", ladder_names[i]);
		tap_is_str(again, text, "the same words every time");
		tap_ok(!message_refused(text, true), "%s gives nothing away", ladder_names[i]);
		free(before);
		before = take_ptr(&text);
	}
	scenario_free(s);
}

static void test_long(void)
{
	auto_buf diff = BUF_INIT(1u << 20);
	struct scenario *s;
	auto_free char *text = NULL;

	buf_adds(&diff, "{\"edit\":\"--- /dev/null\\n+++ b/big.txt\\n@@ -0,0 +1,2000 @@\\n");
	for (int i = 0; i < 2000; i++)
		buf_addf(&diff, "+line %d\\n", i);
	buf_adds(&diff, "\"}");
	s = make("edit+message", buf_str(&diff), "");
	text = say(s, LADDER_A5);
	tap_ok(strlen(text) < MESSAGE_MAX, "a long difference: %zu bytes", strlen(text));
	tap_ok(strstr(text, " more lines)\n") && strstr(text, "the task is done"),
	       "it is cut, and what stands behind it is not");
	scenario_free(s);
}

static void test_set(void)
{
	struct scenario *s = make("edit+message", DIFF ",{\"message\":{\"text\":\"Look.\"}}", "");
	struct err err = { 0 };
	enum ladder_step step;
	const struct effect *last;

	tap_ok(s && ladder_set(s, LADDER_A0, &err) == 0 && s->interventions[0].n_effects == 2,
	       "A0 leaves the scenario as it is");
	tap_ok(s && ladder_set(s, LADDER_A2, &err) == 0 && s->interventions[0].n_effects == 3,
	       "A2 is one more effect");
	last = s ? &s->interventions[0].effects[2] : NULL;
	tap_ok(last && last->kind == EFFECT_MESSAGE && last->text &&
		       strstr(last->text, "the file src/a.c"),
	       "a message behind all others");
	scenario_free(s);
	s = make("edit", DIFF, "");
	tap_ok(s && ladder_set(s, LADDER_A1, &err) == -ERR_USAGE && strstr(err.text, "mode edit"),
	       "a mode without messages has A0 only");
	tap_ok(s && ladder_set(s, LADDER_A0, &err) == 0, "A0 in any mode");
	scenario_free(s);
	tap_ok(ladder_set(NULL, LADDER_A1, &err) == -ERR_USAGE, "nothing to tell of");
	s = make("edit+message", "{\"place\":{\"path\":\"a\",\"text\":\"see the gold patch\"}}",
		 "");
	tap_ok(s && ladder_set(s, LADDER_A3, &err) == -ERR_INPUT && strstr(err.text, "gold patch"),
	       "words that give the experiment away are refused");
	tap_ok(s && ladder_set(s, LADDER_A2, &err) == 0, "a step that does not say them is not");
	scenario_free(s);
	tap_ok(ladder_find("A4", &step, &err) == 0 && step == LADDER_A4, "by name");
	tap_ok(ladder_find(NULL, &step, &err) == 0 && step == LADDER_A0, "none is A0");
	tap_ok(ladder_find("A6", &step, &err) == -ERR_USAGE, "an unknown one");
}

int main(void)
{
	test_rows();
	test_steps();
	test_long();
	test_set();
	return tap_done();
}

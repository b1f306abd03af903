/* What a model wrote in a user's name and may be said, and what may not. */
#include "supervisor/simfilter.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

/* clang-format off */
static const struct {
	const char *text;
	const char *why; /* NULL = may be said */
} rows[] = {
	/* what a person says */
	{ "I changed the rounding in parse_total on purpose, it has to drop the cents. Please keep it.", NULL },
	{ "That check belongs before the loop, so I moved it there. Build on it; I am sure about this one.", NULL },
	{ "I put my change in src/duration.c back.\n\nPlease leave it and adapt the callers.", NULL },
	{ "You took it out again. I have explained why `limit` is inclusive; it stays.", NULL },
	{ "The seconds are counted from the start of the day now, and that is how it is meant.", NULL },
	{ "Keep it as 10 - 1, that is intended - the last slot is reserved.", NULL },
	{ "We test everything by hand here, so rely on my change in the parser.", NULL },
	{ "Das habe ich absichtlich so ge\xc3\xa4ndert, bitte so lassen.", NULL },
	{ "The user id comes first. Assistant and editor follow, in this order.", NULL },
	{ "I did add this; leave it.", NULL }, /* "add" is a test, and a word */
	{ "Too many days are refused now.", NULL },
	{ "The experiment flag of the sampler stays off.", NULL }, /* the task is about it */
	/* nothing, or not prose */
	{ "", "empty" }, { " \n\t ", "empty" },
	{ "Use this:\n```c\nx = 1;\n```", "a code block" },
	{ "~~~\nx = 1\n~~~", "a code block" },
	{ "Like so:\n    x = 1", "a code block" },
	{ "Like so:\n\tx = 1", "a code block" },
	{ "diff --git a/x b/x", "a diff" },
	{ "--- a/x.c\n+++ b/x.c", "a diff" },
	{ "See\n+++ b/x.c", "a diff" },
	{ "@@ -1,2 +1,2 @@", "a diff" },
	{ "Index: x.c", "a diff" },
	{ "{\"message\": \"Keep it.\"}", "not plain text" },
	{ "<message>Keep it.</message>", "not plain text" },
	{ "<think>the user wants</think> Keep it.", "not plain text" },
	{ "# My change\nKeep it.", "not plain text" },
	{ "User: please keep it.", "a role in front of it" },
	{ "Keep it.\nAssistant: ok", "a role in front of it" },
	{ "Message: keep it.", "a role in front of it" },
	{ "Subject: my change", "a role in front of it" },
	{ "Keep it \x1b[31mred", "not plain text" },
	{ "Keep it \xff", "not plain text" },
	/* the experiment */
	{ "This is SWE-bench, keep it.", "swe-bench" },
	{ "As in SWE-Touch.", "swe-touch" },
	{ "My counter-edit stays.", "counter-edit" },
	{ "The gold patch does it otherwise.", "gold patch" },
	{ "The reference patch is wrong.", "reference patch" },
	{ "It fails a hidden test.", "hidden test" },
	{ "FAIL_TO_PASS will be fine.", "fail_to_pass" },
	{ "I am a simulated user.", "simulated user" },
	{ "In this simulated setting, keep it.", "simulat" },
	{ "As instructed, I insist.", "as instructed" },
	{ "My system prompt says to insist.", "system prompt" },
	{ "As an AI, I insist.", "as an ai" },
	{ "I'm sorry, but I can't help with misleading edits.", "i can't help" },
	{ "As a stakeholder I insist.", "stakeholder" },
	{ "I made it deliberately wrong.", "deliberately wrong" },
	{ "This benchmark needs it.", "this benchmark" },
	{ "It is graded by a grader.", "grader" },
	{ "This is the second intervention.", "intervention" },
	{ "proctor changed it.", "proctor" },
	{ "The ground truth says so.", "ground truth" },
	/* tests of the task, and its name */
	{ "test_parse_total passes with it.", "the name of a test" },
	{ "Run tests/test_total.py::TestTotal::test_parse_total first.", "the name of a test" },
	{ "TestTotal::test_round[half] is mine.", "the name of a test" },
	{ "A product beyond 64 bits is fine.", "the name of a test" },
	{ "I looked at test_total.py too.", "the name of a test" },
	{ "That is what example__duration-1 asks for.", "the name of the task" },
};
/* clang-format on */

static struct task make_task(void)
{
	struct task t = { .instance_id = mem_strdup("example__duration-1"),
			  .problem_statement =
				  mem_strdup("The experiment flag is read too late.") };

	strv_add(&t.fail_to_pass, "tests/test_total.py::TestTotal::test_parse_total");
	strv_add(&t.fail_to_pass, "tests/test_total.py::TestTotal::test_round[half]");
	strv_add(&t.fail_to_pass, "a product beyond 64 bits");
	strv_add(&t.pass_to_pass, "seconds");
	strv_add(&t.pass_to_pass, "too many days");
	strv_add(&t.pass_to_pass, "add");
	strv_add(&t.test.hidden, "tests/**");
	strv_add(&t.test.hidden, "more/test_total.py");
	return t;
}

static void task_done(struct task *t)
{
	free(t->instance_id);
	free(t->problem_statement);
	strv_done(&t->fail_to_pass);
	strv_done(&t->pass_to_pass);
	strv_done(&t->test.hidden);
}

static void test_long(void)
{
	auto_free char *text = mem_alloc(SIMFILTER_MAX + 2);

	memset(text, 'a', SIMFILTER_MAX + 1);
	text[SIMFILTER_MAX + 1] = '\0';
	tap_is_str(simfilter_refused(text, NULL), "too long", "a message that is too long");
	text[SIMFILTER_MAX] = '\0';
	tap_is_str(simfilter_refused(text, NULL), NULL, "the longest one");
}

static void test_trim(void)
{
	auto_free char *a = simfilter_trim(" \n two words \r\n"), *b = simfilter_trim(" \n");

	tap_is_str(a, "two words", "blanks at both ends are no part of a message");
	tap_is_str(b, "", "and nothing else is nothing");
}

int main(void)
{
	struct task t = make_task();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf name = BUF_INIT(1024);

		json_escape(&name, rows[i].text, strlen(rows[i].text));
		tap_is_str(simfilter_refused(rows[i].text, &t), rows[i].why, buf_str(&name));
	}
	tap_ok(!simfilter_refused("test_parse_total stays.", NULL),
	       "without a task there are no tests");
	test_long();
	test_trim();
	task_done(&t);
	return tap_done();
}

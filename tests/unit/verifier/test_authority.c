/* Versions of goal and verifier: what a scenario declares, the task of a version, which held at the end. */
#include "verifier/authority.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

#define TASK                                                                                       \
	"{ \"schema\": \"proctor.task/1\", \"instance_id\": \"t\", \"source\": \".\","             \
	" \"problem_statement\": \"old\", \"FAIL_TO_PASS\": [\"a\"], \"PASS_TO_PASS\": [\"p\"],"   \
	" \"test_patch\": \"--- a/t\\n+++ b/t\\n@@ -1 +1 @@\\n-1\\n+2\\n\","                       \
	" \"test\": { \"command\": \"make test\", \"reader\": \"tap\" } }"

/* Effects after the only intervention's "effects": [, versions as the value of "authority". */
#define SCENARIO(effects, versions)                                                                \
	"{ \"schema\": \"proctor.scenario/1\", \"id\": \"s\", \"instance_id\": \"t\","             \
	" \"family\": \"F10\", \"max_rounds\": 1, \"interventions\": [ { \"order\": 1, \"when\":"  \
	" { \"event\": \"anchor\", \"anchor\": \"fork\" }, \"effects\": [" effects                 \
	"] } ], \"authority\": " versions " }"
#define MESSAGE    "{ \"message\": { \"text\": \"x\" } }"
#define EFFECT(v)  MESSAGE ", { \"authority\": " v " }"
#define UPDATED(v) "{ \"updated\": " v " }"

static struct scenario *scenario(const char *text)
{
	struct scenario *sc = NULL;
	struct err err = { 0 };

	if (scenario_parse("./s.json", text, strlen(text), NULL, &sc, &err) < 0)
		tap_diag("%s", err.text);
	return sc;
}

static void put(const char *name, const char *text)
{
	struct err err;

	if (fd_replace_file(name, text, strlen(text), &err) < 0)
		abort();
}

static void refused(void)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ SCENARIO(MESSAGE, "{ \"initial\": { \"problem_statement\": \"x\" } }"),
		  "the task itself" },
		{ SCENARIO(MESSAGE, "{ \"\": { \"problem_statement\": \"x\" } }"),
		  "names have 1 to" },
		{ SCENARIO(MESSAGE, UPDATED("{}")), "at least one of" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"PASS_TO_PAS\": [] }")), "PASS_TO_PASS" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"FAIL_TO_PASS\": [3] }")), "$.authority.updated" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"test\": { \"command\": \"\" } }")), "empty" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"test_patch\": \"none.diff\" }")), "cannot read" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"test_patch\": \"../t.diff\" }")),
		  "own directory" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"test_patch\": \"link.diff\" }")), "cannot read" },
		{ SCENARIO(MESSAGE, UPDATED("{ \"test_patch\": \"empty.diff\" }")),
		  "holds no diff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scenario *sc = scenario(rows[i].text);
		struct err err = { 0 };

		tap_ok(sc && authority_check(sc, &err) == -ERR_INPUT &&
			       strstr(err.text, rows[i].why),
		       "refused: %s", rows[i].why);
		if (sc && !strstr(err.text, rows[i].why))
			tap_diag("%s", err.text);
		scenario_free(sc);
	}
}

/* The version that holds once everything fired. */
static void last(const char *text, const char *goal, const char *verifier)
{
	struct scenario *sc = scenario(text);
	struct authority a = { 0 };
	struct err err = { 0 };

	if (tap_ok(sc && authority_check(sc, &err) == 0 && authority_final(sc, &a, &err) == 0,
		   "in the end %s, %s %s", goal, verifier, err.text)) {
		tap_is_str(a.goal, goal, "goal");
		tap_is_str(a.verifier, verifier, "verifier");
		tap_ok(authority_is_initial(&a) ==
			       (strcmp(verifier, "initial") == 0 && strcmp(goal, "initial") == 0),
		       "is it the first version?");
	}
	authority_done(&a);
	scenario_free(sc);
}

static void tasks(void)
{
	static const char all[] = SCENARIO(
		EFFECT("{ \"goal\": \"updated\", \"verifier\": \"updated\" }"),
		UPDATED("{ \"problem_statement\": \"new\", \"test_patch\": \"t.diff\", \"FAIL_TO_PASS\": "
			"[\"b\", \"c\"], \"PASS_TO_PASS\": [], \"test\": { \"command\": \"make more\" } }"));
	struct scenario *sc = scenario(all);
	struct task *task = NULL, *v = NULL;
	struct err err = { 0 };

	if (!tap_ok(sc && task_load("task.json", &task, &err) == 0, "a task %s", err.text))
		return;
	if (tap_ok(authority_task(task, sc, "updated", "updated", &v, &err) == 0, "its version %s",
		   err.text)) {
		tap_is_str(v->problem_statement, "new", "statement");
		tap_is_str(v->test_patch, "a diff\n", "test patch from a file");
		tap_is_str(v->test.command, "make more", "command");
		tap_is_str(v->test.reader, "tap", "what a version does not say stays");
		tap_ok(v->fail_to_pass.n == 2 && strv_has(&v->fail_to_pass, "c"), "FAIL_TO_PASS");
		tap_is_u64(v->pass_to_pass.n, 0, "an empty list is empty");
		v = task_free(v);
	}
	if (tap_ok(authority_task(task, sc, "updated", NULL, &v, &err) == 0, "the goal alone")) {
		tap_is_str(v->problem_statement, "new", "statement");
		tap_is_str(v->test.command, "make test", "the verifier is the first one");
		v = task_free(v);
	}
	if (tap_ok(authority_task(task, NULL, NULL, NULL, &v, &err) == 0, "the first version")) {
		tap_is_str(v->problem_statement, task->problem_statement, "is the task");
		v = task_free(v);
	}
	tap_ok(authority_task(task, NULL, "initial", "updated", &v, &err) == -ERR_INPUT &&
		       strstr(err.text, "there is no version"),
	       "no scenario, no version");
	free(task->file);
	task->file = NULL;
	tap_ok(authority_task(task, sc, "updated", "updated", &v, &err) == -ERR_INPUT &&
		       strstr(err.text, "task file"),
	       "a task without a file has no versions");
	task_free(task);
	scenario_free(sc);
}

#define HEAD(n) "{\"n\":" n ",\"t\":1,\"ep\":0,\"k\":"

static void runs(void)
{
	static const struct {
		const char *what, *trace, *goal, *verifier;
	} rows[] = {
		{ "nothing changed", HEAD("1") "\"end\"}\n", "initial", "initial" },
		{ "changed twice",
		  HEAD("1") "\"authority\",\"goal\":\"a\",\"verifier\":\"initial\"}\n" HEAD(
			  "2") "\"authority\",\"goal\":\"a\",\"verifier\":\"b\"}\n",
		  "a", "b" },
		{ "cut by a kill",
		  HEAD("1") "\"authority\",\"goal\":\"a\",\"verifier\":\"b\"}\n" HEAD(
			  "2") "\"authority\",\"goal\":\"c\"",
		  "a", "b" },
		{ "names of other types", HEAD("1") "\"authority\",\"goal\":3,\"verifier\":\"\"}\n",
		  "initial", "initial" },
	};
	struct authority a = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put("trace.jsonl", rows[i].trace);
		if (tap_ok(authority_of_run(".", &a, &err) == 0, "%s %s", rows[i].what, err.text)) {
			tap_is_str(a.goal, rows[i].goal, "goal");
			tap_is_str(a.verifier, rows[i].verifier, "verifier");
		}
		authority_done(&a);
	}
	put("trace.jsonl", "no JSON\n{}\n");
	tap_ok(authority_of_run(".", &a, &err) == -ERR_INPUT, "no trace: %s", err.text);
}

int main(void)
{
	char dir[] = "/tmp/authority-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	put("task.json", TASK);
	put("t.diff", "a diff\n");
	put("empty.diff", "");
	if (symlink("t.diff", "link.diff") < 0)
		return 1;
	refused();
	last(SCENARIO(MESSAGE, UPDATED("{ \"problem_statement\": \"x\" }")), "initial", "initial");
	last(SCENARIO(EFFECT("{ \"goal\": \"updated\" }"),
		      UPDATED("{ \"problem_statement\": \"x\" }")),
	     "updated", "initial");
	last(SCENARIO(
		     EFFECT("{ \"verifier\": \"updated\" }") ", { \"authority\": { \"goal\": \"updated\" } }"
							     ", { \"authority\": { \"verifier\": \"initial\" } }",
		     UPDATED("{ \"problem_statement\": \"x\" }")),
	     "updated", "initial");
	tasks();
	runs();
	if (chdir("/") < 0)
		return 1;
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "the scratch directory goes");
	return tap_done();
}

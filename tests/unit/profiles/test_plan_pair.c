/* plan_pair.c: what two plans of a pair may differ in, what they may not, and how that is said. */
#include "profiles/plan_pair.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "base/str.h"
#include "profiles/plan.h"
#include "tests/unit/profiles/scene.h"

#define PLAN(rest) "{ \"schema\": \"proctor.plan/1\", " rest " }"

/* Two texts, and what the check says of them (NULL = a pair). */
static void texts(void)
{
	static const struct {
		const char *a, *b, *want;
	} rows[] = {
		{ PLAN("\"x\": 1"), PLAN("\"x\": 1"), NULL },
		{ PLAN("\"x\": 1, \"y\": 2"), PLAN("\"y\": 2, \"x\": 1"), NULL },
		{ PLAN("\"scenario\": null"), PLAN("\"scenario\": {\"id\": \"s\"}"), NULL },
		{ PLAN("\"scenario\": {\"mode\": \"edit\"}"), PLAN("\"x\": 1"),
		  "x: nothing and 1" },
		{ PLAN("\"condition\": {\"mode\": \"vanilla\", \"k\": 0, \"repeat\": 1}"),
		  PLAN("\"condition\": {\"mode\": \"edit\", \"k\": 3, \"repeat\": 2}"), NULL },
		{ PLAN("\"simulator\": {\"model\": {\"kind\": \"url\"}}"),
		  PLAN("\"simulator\": null"), NULL },
		{ PLAN("\"simulator\": 1"), PLAN("\"home\": \"/\""), "home: nothing and \"/\"" },
		{ PLAN("\"task\": {\"file\": \"a\", \"repo\": \"r\"}"),
		  PLAN("\"task\": {\"file\": \"b\", \"repo\": \"r\"}"), NULL },
		{ PLAN("\"task\": {\"repo\": \"r\"}"), PLAN("\"task\": {\"repo\": \"q\"}"),
		  "task.repo: \"r\" and \"q\"" },
		{ PLAN("\"model\": {\"file\": \"a\", \"sha256\": \"1\", \"then\": {\"file\": \"b\"}}"),
		  PLAN("\"model\": {\"file\": \"c\", \"sha256\": \"1\", \"then\": {\"file\": \"d\"}}"),
		  NULL },
		{ PLAN("\"model\": {\"file\": \"a\", \"sha256\": \"1\"}"),
		  PLAN("\"model\": {\"file\": \"a\", \"sha256\": \"2\"}"),
		  "model.sha256: \"1\" and \"2\"" },
		{ PLAN("\"argv\": [\"a\", \"b\"]"), PLAN("\"argv\": [\"a\", \"c\"]"),
		  "argv.1: \"b\" and \"c\"" },
		{ PLAN("\"argv\": [\"a\", \"b\"]"), PLAN("\"argv\": [\"a\"]"),
		  "argv.1: \"b\" and nothing" },
		{ PLAN("\"argv\": []"), PLAN("\"argv\": {}"), "argv: [] and {}" },
		{ PLAN("\"x\": null"), PLAN("\"x\": 0"), "x: null and 0" },
		{ PLAN("\"x\": true"), PLAN("\"x\": false"), "x: true and false" },
		{ PLAN("\"profile\": {\"limits\": {\"wall\": \"10m\", \"cpu\": \"0\"}}"),
		  PLAN("\"profile\": {\"limits\": {\"wall\": \"20m\", \"cpu\": \"1\"}}"),
		  "profile.limits.wall: \"10m\" and \"20m\"" },
		{ PLAN("\"t\": 3600000000001"), PLAN("\"t\": 3600000000002"),
		  "t: 3600000000001 and 3600000000002" },
		{ PLAN("\"x\": 1, \"x\": 2"), PLAN("\"x\": 1"), "\"x\" is there twice" },
		{ "{ \"schema\": \"proctor.run/1\" }", PLAN("\"x\": 1"), "schema" },
		{ PLAN("\"x\": 1"), "[]", "" },
		{ PLAN("\"x\": 1"), "{", "not valid JSON" },
		{ "", PLAN("\"x\": 1"), "not valid JSON" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char one[DIGEST_HEX] = "", two[DIGEST_HEX] = "";
		struct err err = { 0 };
		int rc = plan_pair_check(rows[i].a, rows[i].b, &err);

		if (!tap_ok(rows[i].want ? rc == -ERR_INPUT && strstr(err.text, rows[i].want)
					 : rc == 0,
			    "row %zu: %s", i, rows[i].want ? rows[i].want : "a pair"))
			tap_diag("rc %d: %s", rc, err.text);
		tap_ok(plan_pair_check(rows[i].b, rows[i].a, &err) == rc, "the same the other way");
		if (plan_pair_digest(rows[i].a, one, &err) == 0 &&
		    plan_pair_digest(rows[i].b, two, &err) == 0 && i != 1)
			tap_ok((strcmp(one, two) == 0) == (rc == 0), "the digests agree with it");
	}
}

/* A long value is cut between characters, a deep path is named. */
static void shown(void)
{
	auto_free char *many = mem_alloc(1001);
	auto_free char *a = NULL, *b = NULL;
	struct err err = { 0 };
	size_t bad;

	for (size_t i = 0; i < 1000; i += 2)
		memcpy(many + i, "\xc3\xa4", 2);
	many[1000] = '\0';
	a = mem_printf(PLAN("\"x\": \"%s\""), many);
	b = mem_printf(PLAN("\"x\": \"y%s\""), many);
	tap_ok(plan_pair_check(a, b, &err) == -ERR_INPUT && strstr(err.text, "... and \"y") &&
		       strlen(err.text) < 600 && str_utf8(err.text, strlen(err.text), &bad),
	       "long values are cut: %s", err.text);
}

static char *plan_text(const struct plan_request *req, char digest[DIGEST_HEX])
{
	auto_buf b = BUF_INIT(1u << 20);
	struct err err = { 0 };
	struct plan *p = NULL;

	if (plan_build(req, &p, &err) < 0) {
		tap_ok(false, "a plan: %s", err.text);
		return mem_strdup("");
	}
	plan_print(p, &b);
	memcpy(digest, p->pair_digest, DIGEST_HEX);
	plan_free(p);
	return buf_steal(&b, NULL);
}

/* Real plans: a row changes the request, and is or is not the base plan's pair. */
static void plans(const char *dir)
{
	auto_free char *task = scene_put(dir, "task.json", SCENE_TASK);
	auto_free char *again = scene_put(dir, "sub/task.json", SCENE_TASK);
	auto_free char *agent = scene_put(
		dir, "a.json",
		"{ \"schema\": \"proctor.agent/1\", \"name\": \"a\", \"command\": [\"sh\"] }");
	auto_free char *other = scene_put(
		dir, "b.json",
		"{ \"schema\": \"proctor.agent/1\", \"name\": \"b\", \"command\": [\"sh\"] }");
	auto_free char *counter = scene_put(
		dir, "counter.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"regions\": [{\"path\": \"a\","
		" \"start\": 1, \"end\": 2}], \"interventions\": [{\"order\": 1, \"when\":"
		" {\"event\": \"read\"}, \"effects\": [{\"edit\": \"a\\nb\"}, {\"message\": {}}]}] }");
	auto_free char *co = scene_put(
		dir, "co.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"d\", \"mode\": \"co-edit\", \"regions\":"
		" [{\"path\": \"z\", \"start\": 3, \"end\": 4}], \"interventions\": [{\"order\": 1, \"when\":"
		" {\"event\": \"edit\"}, \"effects\": [{\"edit\": \"c\\nd\"}]}] }");
	const char *const wall[] = { "limits.wall=59m", NULL };
	const struct plan_request base = { .task = task, .agent = agent, .cwd = dir };
	const struct {
		const char *name;
		struct plan_request req;
		const char *want;
	} rows[] = {
		{ "the same", base, NULL },
		{ "a scenario",
		  { .task = task, .agent = agent, .cwd = dir, .scenario = counter },
		  NULL },
		{ "its vanilla",
		  { .task = task,
		    .agent = agent,
		    .cwd = dir,
		    .scenario = counter,
		    .mode = "vanilla" },
		  NULL },
		{ "K=5",
		  { .task = task, .agent = agent, .cwd = dir, .scenario = counter, .rounds = 5 },
		  NULL },
		{ "the third repetition",
		  { .task = task, .agent = agent, .cwd = dir, .repeat = 3 },
		  NULL },
		{ "a Co-Edit with other regions",
		  { .task = task, .agent = agent, .cwd = dir, .scenario = co },
		  NULL },
		{ "another agent", { .task = task, .agent = other, .cwd = dir }, "agent.name" },
		{ "another limit",
		  { .task = task, .agent = agent, .cwd = dir, .set = wall, .scenario = counter },
		  "profile.limits.wall: \"1h\" and \"59m\"" },
		{ "another profile",
		  { .task = task, .agent = agent, .cwd = dir, .profile = "strict" },
		  "profile.name" },
		{ "a copy of the task elsewhere: other files",
		  { .task = again, .agent = agent, .cwd = dir },
		  "task.source" },
	};
	char digest[DIGEST_HEX], one[DIGEST_HEX];
	auto_free char *first = plan_text(&base, digest);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = plan_text(&rows[i].req, one);
		struct err err = { 0 };
		int rc = plan_pair_check(first, text, &err);

		if (!tap_ok(rows[i].want ? rc == -ERR_INPUT && strstr(err.text, rows[i].want)
					 : rc == 0,
			    "%s", rows[i].name))
			tap_diag("rc %d: %s", rc, err.text);
		tap_ok((strcmp(one, digest) == 0) == (rc == 0),
		       "and the pair digest says the same");
	}
}

static void run(const char *dir)
{
	auto_free char *at = path_join(dir, "run");
	struct err err = { 0 };

	tap_ok(plan_pair_run(PLAN("\"x\": 1"), at, &err) == -ERR_INPUT &&
		       strstr(err.text, "plan.json"),
	       "a run without plan: %s", err.text);
	scene_add(at, "plan.json", PLAN("\"x\": 1, \"condition\": {}"));
	tap_ok(plan_pair_run(PLAN("\"x\": 1"), at, &err) == 0, "a pair");
	tap_ok(plan_pair_run(PLAN("\"x\": 2"), at, &err) == -ERR_INPUT &&
		       strstr(err.text, "x: 2 and 1"),
	       "none: %s", err.text);
}

int main(void)
{
	char *dir = scene_new();

	setenv("XDG_CONFIG_HOME", dir, 1);
	scene_add(dir, "repo/src/calc.c", "int a;\n");
	scene_add(dir, "sub/repo/src/calc.c", "int b;\n");
	for (int i = 0; i < 2; i++) {
		scene_add(dir, i ? "sub/reference.diff" : "reference.diff", SCENE_DIFF);
		scene_add(dir, i ? "sub/hidden-tests.diff" : "hidden-tests.diff", SCENE_DIFF);
	}
	texts();
	shown();
	plans(dir);
	run(dir);
	scene_done(dir);
	return tap_done();
}

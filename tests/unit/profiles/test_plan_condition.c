/* plan_condition.c: one scenario in every condition, and where a schedule by progress gets its
 * counts from. */
#include "profiles/plan.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

#define AGENT(rest)                                                                                \
	"{ \"schema\": \"proctor.agent/1\", \"name\": \"a\", \"command\": [\"sh\"]" rest " }"
#define RUN(rest) "{ \"schema\": \"proctor.run/1\", " rest " }"

static char *task, *agent, *api;

static char *scenario(const char *dir, const char *name, const char *head, const char *when)
{
	auto_free char *text = mem_printf(
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", %s \"interventions\": [{\"order\": 1,"
		" \"when\": {%s}, \"effects\": [{\"edit\": \"a\\nb\"}, {\"message\": {}}]}] }",
		head, when);

	return scene_put(dir, name, text);
}

static void modes(const char *dir)
{
	auto_free char *sc = scenario(dir, "time.json", "", "\"event\": \"time\", \"at\": 1");
	static const struct {
		const char *mode;
		uint64_t rounds, repeat;
		int want;
		uint64_t k;
	} rows[] = {
		{ NULL, 0, 0, MODE_EDIT_MESSAGE, 3 },
		{ "vanilla", 0, 2, MODE_VANILLA, 0 },
		{ "message", 1, 3, MODE_MESSAGE, 1 },
		{ "edit", 5, 1, MODE_EDIT, 5 },
		{ "co-edit", 0, 1, MODE_CO_EDIT, 1 },
		{ "edit+message", 1, 1, MODE_EDIT_MESSAGE, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct plan_request req = { .task = task,
						  .agent = agent,
						  .scenario = sc,
						  .mode = rows[i].mode,
						  .rounds = rows[i].rounds,
						  .repeat = rows[i].repeat,
						  .cwd = dir };
		struct err err = { 0 };
		struct plan *p = NULL;

		if (!tap_ok(plan_build(&req, &p, &err) == 0, "row %zu %s", i, err.text))
			continue;
		tap_ok(p->condition.mode == rows[i].want && p->scenario->mode == rows[i].want,
		       "mode %s", scenario_mode_name((enum scenario_mode)p->condition.mode));
		tap_is_u64(p->condition.k, rows[i].k, "K");
		tap_is_u64(p->condition.repeat, rows[i].repeat ? rows[i].repeat : 1, "repetition");
		plan_free(p);
	}
}

static void refused(const struct plan_request *req, enum err_code code, const char *want)
{
	struct err err = { 0 };
	struct plan *p = NULL;
	int rc = plan_build(req, &p, &err);

	if (!tap_ok(rc == -(int)code && !p && strstr(err.text, want), "refused: %s", want))
		tap_diag("rc %d: %s", rc, err.text);
	plan_free(p);
}

static void refusals(const char *dir)
{
	auto_free char *words = scene_put(
		dir, "words.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"w\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"time\", \"at\": 1}, \"effects\": [{\"message\": {}}]}] }");
	auto_free char *calls = scenario(dir, "calls.json", "",
					 "\"event\": \"progress\", \"unit\": \"calls\", \"n\": 9");
	auto_free char *free_one = scenario(dir, "free.json", "", "\"event\": \"progress\"");
	auto_free char *running = path_join(dir, "running"), *idle = path_join(dir, "idle"),
		       *none = path_join(dir, "none"), *bad = path_join(dir, "bad");
	const char *const r_running[] = { running, NULL }, *const r_idle[] = { idle, NULL },
			  *const r_none[] = { none, NULL }, *const r_bad[] = { bad, NULL };
	struct plan_request req = { .task = task, .agent = agent, .cwd = dir };

	scene_add(running, "run.json", RUN("\"state\": \"running\", \"commands\": 4"));
	scene_add(idle, "run.json", RUN("\"state\": \"done\", \"commands\": 0, \"model\": null"));
	scene_add(bad, "run.json", "{ \"schema\": \"proctor.task/1\" }");
	req.mode = "edti";
	refused(&req, ERR_USAGE, "did you mean \"edit\"?");
	req.mode = "edit";
	refused(&req, ERR_USAGE, "without a scenario");
	req.mode = NULL;
	req.rounds = 3;
	refused(&req, ERR_USAGE, "without a scenario");
	req.rounds = 0;
	req.scenario = words;
	req.mode = "edit";
	refused(&req, ERR_INPUT, "takes place in mode \"edit\"");
	req.mode = "co-edit";
	req.rounds = 3;
	refused(&req, ERR_USAGE, "fires once");
	req = (struct plan_request){ .task = task, .agent = agent, .cwd = dir, .scenario = calls };
	refused(&req, ERR_INPUT, "is about model calls");
	req.scenario = free_one;
	refused(&req, ERR_INPUT, "n or --reference RUN");
	req.reference = r_running;
	refused(&req, ERR_INPUT, "is not done");
	req.reference = r_idle;
	refused(&req, ERR_INPUT, "made no commands");
	req.reference = r_none;
	refused(&req, ERR_INPUT, "reference run");
	req.reference = r_bad;
	refused(&req, ERR_INPUT, "reference run");
}

/* Where N comes from, in which unit, and the counts of K=3 in the printed plan. */
static void lengths(const char *dir)
{
	auto_free char *plain = scenario(dir, "plain.json", "", "\"event\": \"progress\"");
	auto_free char *fixed =
		scenario(dir, "fixed.json", "", "\"event\": \"progress\", \"n\": 40");
	auto_free char *calls =
		scenario(dir, "bycalls.json", "", "\"event\": \"progress\", \"unit\": \"calls\"");
	auto_free char *commands = scenario(dir, "bycommands.json", "",
					    "\"event\": \"progress\", \"unit\": \"commands\"");
	auto_free char *listed = scenario(dir, "listed.json", "\"progress\": [0.1, 0.2, 0.9],",
					  "\"event\": \"progress\"");
	auto_free char *a = path_join(dir, "r10"), *b = path_join(dir, "r20"),
		       *c = path_join(dir, "r31");
	const char *const one[] = { a, NULL }, *const two[] = { c, a, NULL },
			  *const three[] = { c, a, b, NULL };
	const char *const budget[] = { "limits.model_calls=100", NULL };
	const struct {
		const char *name, *agent, *scenario;
		const char *const *reference, *const *set;
		uint64_t n;
		int unit, from;
		const char *points;
	} rows[] = {
		{ "file", agent, fixed, one, NULL, 40, UNIT_COMMANDS, LENGTH_FILE, "10,20,30" },
		{ "one run", agent, plain, one, NULL, 10, UNIT_COMMANDS, LENGTH_RUN, "3,5,8" },
		{ "two runs: the mean, up", agent, plain, two, NULL, 21, UNIT_COMMANDS,
		  LENGTH_MEDIAN, "6,11,16" },
		{ "three runs", agent, plain, three, NULL, 20, UNIT_COMMANDS, LENGTH_MEDIAN,
		  "5,10,15" },
		{ "calls of a run, side calls left out", api, calls, one, NULL, 8, UNIT_CALLS,
		  LENGTH_RUN, "2,4,6" },
		{ "calls where main ones are not told", api, calls, three, NULL, 9, UNIT_CALLS,
		  LENGTH_MEDIAN, "3,5,7" },
		{ "the budget is one of calls", api, plain, NULL, budget, 100, UNIT_CALLS,
		  LENGTH_BUDGET, "25,50,75" },
		{ "counted in commands", api, commands, NULL, budget, 100, UNIT_COMMANDS,
		  LENGTH_BUDGET, "25,50,75" },
		{ "a run goes before the budget", api, plain, one, budget, 10, UNIT_COMMANDS,
		  LENGTH_RUN, "3,5,8" },
		{ "no calls in the budget: a part of the time", api, plain, NULL, NULL, 0,
		  UNIT_COMMANDS, LENGTH_NONE, "" },
		{ "listed fractions", agent, listed, one, NULL, 10, UNIT_COMMANDS, LENGTH_RUN,
		  "1,2,9" },
	};

	scene_add(
		a, "run.json",
		RUN("\"state\": \"done\", \"commands\": 10, \"model\": {\"calls\": 12, \"main_calls\": 8}"));
	scene_add(b, "run.json",
		  RUN("\"state\": \"done\", \"commands\": 20, \"model\": {\"calls\": 9}"));
	scene_add(c, "run.json",
		  RUN("\"state\": \"done\", \"commands\": 31, \"model\": {\"calls\": 30}"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct plan_request req = { .task = task,
						  .agent = rows[i].agent,
						  .scenario = rows[i].scenario,
						  .model = rows[i].agent == api ? "m" : NULL,
						  .reference = rows[i].reference,
						  .set = rows[i].set,
						  .cwd = dir };
		auto_buf text = BUF_INIT(1u << 20);
		auto_buf points = BUF_INIT(256);
		struct err err = { 0 };
		struct plan *p = NULL;
		const struct when *w;
		cJSON *json;
		const cJSON *iv, *v;

		if (!tap_ok(plan_build(&req, &p, &err) == 0, "%s %s", rows[i].name, err.text))
			continue;
		w = &p->scenario->interventions[0].when;
		tap_is_u64(w->n, rows[i].n, "N");
		tap_ok(w->unit == rows[i].unit && w->from == rows[i].from, "%s of %s",
		       scenario_unit_name((enum when_unit)w->unit),
		       scenario_length_name((enum length_from)w->from));
		plan_print(p, &text);
		json = cJSON_Parse(buf_str(&text));
		iv = cJSON_GetObjectItemCaseSensitive(json, "scenario");
		iv = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(iv, "interventions"), 0);
		iv = cJSON_GetObjectItemCaseSensitive(iv, "when");
		cJSON_ArrayForEach (v, cJSON_GetObjectItemCaseSensitive(iv, "points"))
			buf_addf(&points, "%s%d", points.len ? "," : "", v->valueint);
		tap_is_str(buf_str(&points), rows[i].points, "its points are in the plan");
		tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(iv, "n_from")),
			   scenario_length_name((enum length_from)rows[i].from), "and where from");
		cJSON_Delete(json);
		plan_free(p);
	}
}

int main(void)
{
	char *dir = scene_new();

	setenv("XDG_CONFIG_HOME", dir, 1);
	scene_add(dir, "repo/src/calc.c", "int a;\n");
	scene_add(dir, "reference.diff", SCENE_DIFF);
	scene_add(dir, "hidden-tests.diff", SCENE_DIFF);
	task = scene_put(dir, "task.json", SCENE_TASK);
	agent = scene_put(dir, "a.json", AGENT(", \"message_via\": \"stdin\""));
	api = scene_put(dir, "api.json", AGENT(", \"api\": \"anthropic\""));
	modes(dir);
	refusals(dir);
	lengths(dir);
	free(task);
	free(agent);
	free(api);
	scene_done(dir);
	return tap_done();
}

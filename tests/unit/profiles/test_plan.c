/* plan.c, plan_check.c, plan_fill.c, plan_print.c: what is merged, filled in, refused and printed. */
#include "profiles/plan.h"

#include <cjson/cJSON.h>

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

#define AGENT(rest) "{ \"schema\": \"proctor.agent/1\", \"name\": \"scripted\", " rest " }"
#define COMMAND     "\"command\": [\"sh\", \"~/agent.sh\"]"

/* File names of the scene, filled in by main(). */
struct scene {
	char *dir, *task, *agent, *scenario;
	char *installed; /* where a package lies */
};

static struct plan *build(const struct plan_request *req)
{
	struct plan *p = NULL;
	struct err err = { 0 };

	if (plan_build(req, &p, &err) < 0)
		tap_diag("%s", err.text);
	return p;
}

static const char *env_of(const struct plan *p, const char *name)
{
	size_t n = strlen(name);

	strv_each (i, &p->env) {
		if (strncmp(p->env.v[i], name, n) == 0 && p->env.v[i][n] == '=')
			return p->env.v[i] + n + 1;
	}
	return NULL;
}

static bool sorted_and_clean(const struct plan *p)
{
	for (size_t i = 0; i < p->env.n; i++) {
		if (str_starts(p->env.v[i], "PROCTOR") ||
		    (i && strcmp(p->env.v[i - 1], p->env.v[i]) >= 0))
			return false;
	}
	return true;
}

static void of_task(const struct scene *s)
{
	auto_free char *file = scene_put(
		s->dir, "full.json",
		AGENT("\"command\": [\"~/bin/agent\", \"--model={model}\", \"{problem_statement}\","
		      " \"${model} {nothing} {workdir\", \"{workdir}/~/x\", \"\"],"
		      " \"env\": {\"M\": \"<{model}>\", \"LANG\": \"de\", \"TERM\": \"dumb\"},"
		      " \"files\": {\"~/.rc\": \"rc.in\"}, \"message_via\": \"stdin\""));
	const char *const set[] = { "limits.wall=5s", "trace=full", NULL };
	const struct plan_request req = { .task = s->task,
					  .agent = file,
					  .model = "m-{workdir}",
					  .scenario = s->scenario,
					  .set = set,
					  .cwd = s->dir };
	struct plan *p;

	scene_add(s->dir, "rc.in", "{ \"model\": \"{model}\", \"dir\": \"{workdir}\" }");
	setenv("LANG", "xx_YY.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	p = build(&req);
	if (!tap_ok(p, "a plan of task, agent and scenario"))
		return;
	tap_is_str(p->profile->name, "agent", "default profile with a task");
	tap_is_u64(p->profile->limits.max[LIMIT_WALL], 5000000000ull, "--set applied");
	tap_ok(p->profile->trace == TRACE_FULL, "every one of them");
	tap_is_u64(p->argv.n, 6, "argv");
	tap_is_str(p->argv.v[0], "/home/agent/bin/agent", "~/ in front is HOME");
	tap_is_str(p->argv.v[1], "--model=m-{workdir}", "what is put in is not looked at again");
	tap_is_str(p->argv.v[2], "add() overflows for large inputs.", "statement");
	tap_is_str(p->argv.v[3], "${model} {nothing} {workdir",
		   "the shell's and other braces stay");
	tap_is_str(p->argv.v[4], "/workspace/~/x", "~/ elsewhere stays");
	tap_is_str(p->argv.v[5], "", "an empty argument stays");
	tap_is_str(env_of(p, "M"), "<m-{workdir}>", "templates in env");
	tap_is_str(env_of(p, "LANG"), "de", "the agent's env wins over the task's");
	tap_is_str(env_of(p, "TERM"), "dumb", "no variable of the host's");
	tap_is_str(env_of(p, "HOME"), "/home/agent", "HOME");
	tap_is_str(p->home, "/home/agent", "home");
	tap_is_str(env_of(p, "PATH"),
		   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PATH");
	tap_is_str(env_of(p, "USER"), "agent", "USER");
	tap_ok(sorted_and_clean(p), "env is sorted, each name once, nothing of ours");
	tap_is_str(p->home_files.v[0], ".rc=rc.in", "file below HOME");
	tap_is_str(p->home_texts.v[0], "{ \"model\": \"m-{workdir}\", \"dir\": \"/workspace\" }",
		   "its contents filled in");
	tap_is_str(p->rootfs, "host", "rootfs");
	plan_free(p);
}

static void bare(const struct scene *s)
{
	char *argv[] = { (char[]){ "~/x" }, (char[]){ "{model}" }, NULL };
	const struct plan_request req = { .argv = argv, .cwd = s->dir };
	struct plan *p;

	setenv("LANG", "de_DE.UTF-8", 1);
	setenv("TERM", "xterm-256color", 1);
	p = build(&req);
	if (!tap_ok(p, "a plan of a bare command"))
		return;
	tap_is_str(p->profile->name, "command", "default profile without a task");
	tap_is_str(p->task->workdir, s->dir, "in the current directory");
	tap_is_str(p->argv.v[0], "~/x", "taken literally");
	tap_is_str(p->argv.v[1], "{model}", "templates too");
	tap_is_str(env_of(p, "LANG"), "de_DE.UTF-8", "the host's LANG");
	tap_is_str(env_of(p, "TERM"), "xterm-256color", "the host's TERM");
	tap_is_str(env_of(p, "HOME"), "/home/agent", "HOME is the box's");
	tap_ok(sorted_and_clean(p), "env is sorted and clean");
	plan_free(p);

	setenv("TERM", "x\n\033[31m", 1);
	unsetenv("LANG");
	p = build(&req);
	tap_is_str(env_of(p, "TERM"), NULL, "an odd TERM is left out");
	tap_is_str(env_of(p, "LANG"), "C.UTF-8", "default LANG");
	plan_free(p);
}

static void command_on_task(const struct scene *s)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "{problem_statement}" }, NULL };
	const struct plan_request req = {
		.task = s->task, .argv = argv, .cwd = s->dir, .profile = "strict"
	};
	struct plan *p = build(&req);

	if (!tap_ok(p, "a plan of task and command"))
		return;
	tap_is_str(p->argv.v[1], "add() overflows for large inputs.", "templates are filled in");
	tap_is_str(p->profile->name, "strict", "the profile that was named");
	tap_is_str(env_of(p, "TERM"), NULL, "no TERM");
	plan_free(p);
}

static void rootfs(const struct scene *s)
{
	auto_free char *task = NULL, *mine = mem_printf("dir:%s/root", s->dir);
	auto_free char *set_text = mem_printf("filesystem.rootfs=dir:%s", s->dir);
	auto_free char *other = mem_printf("dir:%s", s->dir);
	const char *const set[] = { set_text, NULL };
	struct plan_request req = { .agent = s->agent, .cwd = s->dir };
	struct plan *p;

	scene_add(s->dir, "root/keep", "");
	task = scene_put(s->dir, "rooted.json",
			 "{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a\", "
			 "\"problem_statement\": \"p\", \"source\": \"repo\", "
			 "\"environment\": {\"rootfs\": \"dir:root\"} }");
	req.task = task;
	p = build(&req);
	tap_is_str(p ? p->rootfs : "", mine, "the task's root file system");
	plan_free(p);
	req.set = set;
	p = build(&req);
	tap_is_str(p ? p->rootfs : "", other, "the profile's, when it names one");
	plan_free(p);
}

struct refusal {
	struct plan_request req;
	enum err_code code;
	const char *want;
};

static void refused(const struct refusal *r)
{
	struct plan *p = NULL;
	struct err err = { 0 };
	int rc = plan_build(&r->req, &p, &err);

	if (!tap_ok(rc == -(int)r->code && !p && strstr(err.text, r->want), "refused: %s", r->want))
		tap_diag("rc %d: %s", rc, err.text);
}

static void refusals(const struct scene *s)
{
	char *sh[] = { (char[]){ "sh" }, NULL }, *empty[] = { NULL };
	char *model[] = { (char[]){ "{model}" }, NULL }, *key[] = { (char[]){ "{key}" }, NULL };
	const char *const loop[] = { "network.hosts=127.0.0.1", NULL };
	const char *const off[] = { "trace=off", NULL };
	const char *const image[] = { "filesystem.rootfs=oci:/x:latest", NULL };
	const char *const gone[] = { "filesystem.rootfs=dir:/nowhere", NULL };
	const char *const typo[] = { "limits.wal=1", NULL };
	auto_free char *other =
		scene_put(s->dir, "other.json",
			  "{ \"schema\": \"proctor.scenario/1\", \"id\": \"o\", "
			  "\"mode\": \"vanilla\", \"instance_id\": \"another-1\" }");
	auto_free char *nosource = scene_put(
		s->dir, "nosource.json",
		"{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a\", \"problem_statement\": \"p\", "
		"\"source\": \"not-there\" }");
	auto_free char *big = mem_alloc(140000);
	auto_free char *big_task = NULL, *big_text = NULL;
	char *statement[] = { (char[]){ "{problem_statement}" }, NULL };

	memset(big, 'x', 139999);
	big[139999] = '\0';
	big_text = mem_printf("{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a\", "
			      "\"problem_statement\": \"%s\", \"source\": \"repo\" }",
			      big);
	big_task = scene_put(s->dir, "big.json", big_text);

	const struct refusal rows[] = {
		{ { .cwd = s->dir }, ERR_USAGE, "nothing to run" },
		{ { .argv = empty, .cwd = s->dir }, ERR_USAGE, "is empty" },
		{ { .argv = sh, .agent = s->agent, .cwd = s->dir }, ERR_USAGE, "choose one" },
		{ { .argv = sh, .cwd = "/" }, ERR_USAGE, "current directory is /" },
		{ { .argv = sh, .cwd = s->dir, .set = typo }, ERR_USAGE, "\"limits.wall\"" },
		{ { .argv = sh, .cwd = s->dir, .profile = "agnet" }, ERR_INPUT, "\"agent\"" },
		{ { .agent = "nosuch", .cwd = s->dir }, ERR_INPUT, "there is no agent \"nosuch\"" },
		{ { .argv = sh, .cwd = s->dir, .set = loop },
		  ERR_USAGE,
		  "--set network.hosts=127.0.0.1" },
		{ { .task = s->task, .argv = sh, .cwd = s->dir, .scenario = other },
		  ERR_INPUT,
		  "$.instance_id: \"another-1\", but the task is \"acme__calc-12\"" },
		{ { .argv = sh, .cwd = s->dir, .scenario = s->scenario, .set = off },
		  ERR_INPUT,
		  "trace off" },
		{ { .argv = sh, .cwd = s->dir, .set = image },
		  ERR_INPUT,
		  "image /x:latest: no such" },
		{ { .argv = sh, .cwd = s->dir, .set = gone }, ERR_INPUT, "not a directory" },
		{ { .task = nosource, .argv = sh, .cwd = s->dir }, ERR_INPUT, "not-there" },
		{ { .task = s->task, .argv = model, .cwd = s->dir }, ERR_USAGE, "--model NAME" },
		{ { .task = s->task, .argv = key, .cwd = s->dir }, ERR_INPUT, "uses {key}" },
		{ { .task = big_task, .argv = statement, .cwd = s->dir },
		  ERR_INPUT,
		  "argument 0 of agent" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		refused(rows + i);
}

/* What has to do with models. */
static void model_refusals(const struct scene *s)
{
	char *sh[] = { (char[]){ "sh" }, NULL };
	const char *const no_wall[] = { "limits.wall=0", NULL };
	auto_free char *api =
		scene_put(s->dir, "api.json", AGENT(COMMAND ", \"api\": \"anthropic\""));
	auto_free char *via =
		scene_put(s->dir, "via.json", AGENT(COMMAND ", \"message_via\": \"gateway\""));
	auto_free char *calls = scene_put(
		s->dir, "calls.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"model_call\", \"n\": 2}, \"effects\": [{\"message\": {}}]}] }");
	auto_free char *package = scene_put(
		s->dir, "package.json",
		AGENT("\"command\": [\"no-such-program\"], \"install\": {\"npm\": \"x@1\"}"));
	auto_free char *progress = scene_put(
		s->dir, "progress.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"progress\", \"at\": 0.5}, \"effects\": [{\"message\": {}}]}] }");
	auto_free char *expire = scene_put(
		s->dir, "expire.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"time\", \"at\": 2}, \"effects\": [{\"model\": {}}]}] }");
	auto_free char *anchor = scene_put(
		s->dir, "anchor.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"anchor\", \"anchor\": \"before-submit\"},"
		" \"effects\": [{\"message\": {}}]}] }");

	auto_free char *edit = scene_put(
		s->dir, "edit.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"anchor\", \"anchor\": \"before-first-edit\"},"
		" \"effects\": [{\"exec\": [\"true\"]}]}] }");

	const struct refusal rows[] = {
		{ { .argv = sh, .cwd = s->dir, .scenario = anchor },
		  ERR_INPUT,
		  "anchor before-submit is about model calls" },
		{ { .argv = sh, .cwd = s->dir, .scenario = edit },
		  ERR_INPUT,
		  "--set watch=workspace" },
		{ { .task = s->task, .agent = api, .cwd = s->dir },
		  ERR_USAGE,
		  "--model NAME, URL, URL#NAME, script:FILE or replay:FILE" },
		{ { .task = s->task, .agent = api, .model = "http://a.org", .cwd = s->dir },
		  ERR_USAGE,
		  "in the clear" },
		{ { .task = s->task, .agent = package, .cwd = s->dir },
		  ERR_HOST,
		  "install it with: npm install --prefix" },
		{ { .task = s->task, .agent = via, .scenario = s->scenario, .cwd = s->dir },
		  ERR_INPUT,
		  "but its api is none" },
		{ { .argv = sh, .cwd = s->dir, .scenario = calls },
		  ERR_INPUT,
		  "event model_call is about model calls" },
		{ { .task = s->task,
		    .agent = api,
		    .model = "m",
		    .cwd = s->dir,
		    .scenario = progress,
		    .set = no_wall },
		  ERR_INPUT,
		  "event progress is a part of a budget" },
		{ { .argv = sh, .cwd = s->dir, .scenario = expire }, ERR_HOST, "no effect model" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		refused(rows + i);
}

/* Allowed in spite of a look that is similar to a refusal. */
static void accepted(const struct scene *s)
{
	char *sh[] = { (char[]){ "sh" }, NULL };
	const char *const model_limits[] = { "limits.model_calls=250",
					     "limits.total_tokens=1000000", "limits.dollars=3.00",
					     NULL };
	auto_free char *via =
		scene_put(s->dir, "via.json", AGENT(COMMAND ", \"message_via\": \"gateway\""));
	auto_free char *silent = scene_put(
		s->dir, "silent.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"mode\": \"edit\","
		" \"interventions\": [{\"order\": 1, \"when\": {\"event\": \"time\", \"at\": 2},"
		" \"effects\": [{\"message\": {}}, {\"edit\": \"a\\nb\"}]}] }");
	const char *const allow[] = { "network.mode=allowlist", "network.hosts=a.org", NULL };
	const char *const public[] = { "network.mode=public", NULL };
	auto_free char *api =
		scene_put(s->dir, "api.json", AGENT(COMMAND ", \"api\": \"anthropic\""));
	auto_free char *progress = scene_put(
		s->dir, "progress.json",
		"{ \"schema\": \"proctor.scenario/1\", \"id\": \"c\", \"interventions\": [{\"order\": 1,"
		" \"when\": {\"event\": \"progress\", \"at\": 0.5}, \"effects\": [{\"message\": {}}]}] }");
	const struct plan_request rows[] = {
		{ .argv = sh, .cwd = s->dir, .set = allow },
		{ .argv = sh, .cwd = s->dir, .set = public },
		{ .task = s->task, .agent = api, .model = "m", .cwd = s->dir },
		{ .task = s->task,
		  .agent = api,
		  .model = "m",
		  .cwd = s->dir,
		  .scenario = progress },
		{ .argv = sh, .cwd = s->dir, .set = model_limits },
		{ .task = s->task, .agent = via, .cwd = s->dir },
		{ .task = s->task, .agent = via, .cwd = s->dir, .scenario = silent },
		{ .argv = sh, .cwd = s->dir, .scenario = s->scenario },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan *p = build(rows + i);

		tap_ok(p, "accepted, row %zu", i);
		plan_free(p);
	}
}

static const char *const told =
	"add() overflows for large inputs.\n\nThis work ends at the latest after 5s of wall time, "
	"250 model calls, 1000000 tokens, 3.00 dollars, whichever is reached first.\n";

/* An agent with an API: endpoint, key, model, limits told, a program of the host's. */
static void with_api(const struct scene *s)
{
	static const struct {
		const char *api, *url, *key;
	} apis[] = {
		{ "openai-chat", "http://127.0.0.1:8791/v1", "sk-local-" },
		{ "openai-responses", "http://127.0.0.1:8791/v1", "sk-local-" },
		{ "anthropic", "http://127.0.0.1:8791", "sk-ant-" },
		{ "gemini", "http://127.0.0.1:8791", "AIza" },
	};
	const char *const set[] = { "limits.wall=5s",
				    "limits.model_calls=250",
				    "limits.total_tokens=1000000",
				    "limits.dollars=3.00",
				    "model.tell_limits=true",
				    "network.hosts=a.org",
				    NULL };

	setenv("PROCTOR_AGENTS", s->dir, 1);
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
		auto_free char *text = mem_printf(
			AGENT("\"command\": [\"acme\", \"{model}\", \"{problem_statement}\","
			      " \"{program}\"], \"api\": \"%s\", \"base_url_env\": \"URL\","
			      " \"key_env\": \"KEY\", \"env\": {\"B\": \"{base_url}|{key}\"},"
			      " \"model\": \"acme-1\", \"install\": {\"npm\": \"acme@1\"}"),
			apis[i].api);
		auto_free char *agent = scene_put(s->dir, "model.json", text);
		const struct plan_request req = { .task = s->task,
						  .agent = agent,
						  .model = "script:turns.json",
						  .set = set,
						  .cwd = s->dir };
		struct plan *p = build(&req);

		if (!tap_ok(p, "a plan of an agent with api %s", apis[i].api))
			continue;
		tap_is_str(p->model_name, "acme-1", "the agent's model");
		tap_is_str(p->argv.v[0], "/opt/agent/node_modules/.bin/acme", "its program");
		tap_is_str(p->argv.v[1], "acme-1", "{model}");
		tap_is_str(p->argv.v[2], told, "limits are told");
		tap_is_str(p->argv.v[3], p->argv.v[0], "{program}");
		tap_is_str(p->agent_dir, s->installed, "its installation");
		tap_is_str(env_of(p, "URL"), apis[i].url, "base_url_env");
		tap_ok(str_starts(env_of(p, "KEY"), apis[i].key), "key_env");
		tap_ok(str_starts(env_of(p, "B"), apis[i].url), "templates");
		tap_ok(p->model && p->model->kind == MODEL_SCRIPT && p->prices, "model, prices");
		tap_is_u64(p->rules.n, 1, "host rules");
		plan_free(p);
	}
	unsetenv("PROCTOR_AGENTS");
}

static char *print(const struct plan *p)
{
	auto_buf b = BUF_INIT(1u << 20);

	plan_print(p, &b);
	return buf_steal(&b, NULL);
}

static void printed(const struct scene *s)
{
	auto_free char *api =
		scene_put(s->dir, "api.json",
			  AGENT(COMMAND ", \"api\": \"openai-chat\","
					" \"files\": {\"~/agent.sh\": \"agent.sh\"}"));
	const struct plan_request req = { .task = s->task,
					  .agent = api,
					  .scenario = s->scenario,
					  .model = "script:turns.json",
					  .cwd = s->dir };
	const char *const set[] = { "limits.wall=59m", NULL };
	struct plan_request changed = req;
	struct plan *a = build(&req), *b = build(&req), *c;
	auto_free char *one = print(a), *two = print(b);
	char hex[DIGEST_HEX];
	cJSON *json = cJSON_Parse(one);

	changed.set = set;
	c = build(&changed);
	tap_is_str(one, two, "the same inputs, the same bytes");
	tap_is_str(a->digest, b->digest, "and the same digest");
	tap_is_str(a->digest, digest_bytes(one, strlen(one), hex), "which is that of the text");
	tap_ok(strcmp(a->digest, c->digest) != 0, "another limit, another digest");
	tap_ok(json, "the text is JSON");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "schema")),
		   "proctor.plan/1", "schema");
	tap_ok(strstr(one, "\"problem_statement\": {") && !strstr(one, "add() overflows"),
	       "the statement by digest");
	tap_ok(strstr(one, digest_bytes(SCENE_DIFF, strlen(SCENE_DIFF), hex)) &&
		       !strstr(one, "long a"),
	       "diffs by digest");
	tap_ok(strstr(one, "\"kind\": \"script\"") && strstr(one, "\"bytes\": 46") &&
		       strstr(one, "\"delivery\": \"buffered\""),
	       "the model by digest and length");
	tap_ok(strstr(one, "\"wall\": \"1h\"") && strstr(one, "\"timing\": \"after-command\""),
	       "limits and names are readable");
	cJSON_Delete(json);
	plan_free(a);
	plan_free(b);
	plan_free(c);
	tap_ok(plan_free(NULL) == NULL, "nothing can be freed");
}

int main(void)
{
	struct scene s = { .dir = scene_new() };
	auto_free char *program = NULL;

	setenv("XDG_CONFIG_HOME", s.dir, 1);
	scene_add(s.dir, "repo/src/calc.c", "int a;\n");
	scene_add(s.dir, "reference.diff", SCENE_DIFF);
	scene_add(s.dir, "hidden-tests.diff", SCENE_DIFF);
	scene_add(s.dir, "agent.sh", "echo {workdir}\n");
	s.task = scene_put(s.dir, "task.json", SCENE_TASK);
	s.agent = scene_put(s.dir, "scripted.json",
			    AGENT(COMMAND ", \"files\": {\"~/agent.sh\": \"agent.sh\"}"));
	s.scenario =
		scene_put(s.dir, "touch.json",
			  "{ \"schema\": \"proctor.scenario/1\", \"id\": \"t\","
			  " \"instance_id\": \"acme__calc-12\","
			  " \"regions\": [{\"path\": \"src/calc.c\", \"start\": 1, \"end\": 1}],"
			  " \"interventions\": [{\"order\": 1, \"when\": {\"event\": \"read\"},"
			  " \"effects\": [{\"edit\": \"reference.diff\"}, {\"message\": {}}]}] }");
	s.installed = path_join(s.dir, "scripted");
	program = scene_put(s.installed, "node_modules/.bin/acme", "");
	if (chmod(program, 0755) < 0)
		abort();
	scene_add(s.dir, "turns.json", "{ \"schema\": \"proctor.script/1\", \"turns\": [] }\n");
	of_task(&s);
	bare(&s);
	command_on_task(&s);
	rootfs(&s);
	refusals(&s);
	model_refusals(&s);
	accepted(&s);
	with_api(&s);
	printed(&s);
	free(s.installed);
	free(s.task);
	free(s.agent);
	free(s.scenario);
	scene_done(s.dir);
	return tap_done();
}

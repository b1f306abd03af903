/* profile.c, lookup.c: the contract's example, what is inherited, where names are looked up, the
 * shipped profiles. PROCTOR_DATADIR is the shipped data (meson sets it). */
#include "profiles/profile.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

#define SEC 1000000000ull

static struct profile *load(const char *name)
{
	struct profile *p = NULL;
	struct err err = { 0 };

	if (!tap_ok(profile_load(name, &p, &err) == 0, "\"%s\" is read %s", path_base(name),
		    err.text))
		exit(1);
	return p;
}

static void example(const char *dir)
{
	static const struct {
		enum limit_kind kind;
		uint64_t v;
	} limits[] = {
		{ LIMIT_WALL, 3600 * SEC },      { LIMIT_CPU, 1800 * SEC },
		{ LIMIT_MEMORY, 4ull << 30 },    { LIMIT_PROCESSES, 512 },
		{ LIMIT_OPEN_FILES, 4096 },      { LIMIT_DISK, 8ull << 30 },
		{ LIMIT_OUTPUT, 64ull << 20 },   { LIMIT_MODEL_CALLS, 250 },
		{ LIMIT_INPUT_TOKENS, 0 },       { LIMIT_OUTPUT_TOKENS, 0 },
		{ LIMIT_TOTAL_TOKENS, 1000000 }, { LIMIT_DOLLARS, 3000000 },
	};
	auto_free char *path = scene_put(dir, "example.json", SCENE_PROFILE);
	struct profile *p = load(path);

	tap_is_str(p->file, path, "file");
	tap_is_str(p->name, "agent", "name");
	tap_is_str(p->rootfs, "host", "rootfs");
	tap_is_str(p->read.v[1], "/etc/ssl", "read");
	tap_is_u64(p->write.n, 0, "write");
	tap_is_str(p->hide.v[0], "/etc/shadow", "hide");
	tap_ok(p->net == NET_ALLOWLIST, "network mode");
	tap_is_str(p->hosts.v[1], "api.example.com:443", "hosts");
	tap_is_str(p->deny.v[1], "bpf", "deny");
	tap_ok(!p->nested_userns, "nested_userns");
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		tap_is_u64(p->limits.max[limits[i].kind], limits[i].v, limits_name(limits[i].kind));
	tap_ok(p->on_limit == ON_LIMIT_FINISH && p->trace == TRACE_FILES, "on_limit, trace");
	tap_ok(p->watch == WATCH_REGIONS && p->steps, "watch, steps");
	tap_is_u64(p->grace, 30 * SEC, "grace");
	tap_is_u64(p->require.n, 3, "require");
	profile_free(p);
}

static void inherited(const char *dir)
{
	auto_free char *child = scene_put(dir, "child.json",
					  "{ \"schema\": \"proctor.profile/1\", \"extends\": "
					  "\"sub/parent.json\", \"limits\": {\"cpu\": 5},"
					  " \"filesystem\": {\"read\": [\"/c\"]} }");
	auto_free char *rootfs = mem_printf("dir:%s/sub/root", dir);
	struct profile *p;

	scene_add(
		dir, "sub/parent.json",
		"{ \"schema\": \"proctor.profile/1\", \"name\": \"parent\", \"extends\": \"strict\","
		" \"filesystem\": {\"rootfs\": \"dir:root\", \"read\": [\"/a\", \"/b\"],"
		" \"hide\": [\"/h/\"]}, \"limits\": {\"wall\": \"2h\", \"cpu\": \"1m\"} }");
	p = load(child);
	tap_is_str(p->name, "child", "a name is not inherited");
	tap_is_str(p->file, child, "nor is the file");
	tap_is_str(p->rootfs, rootfs, "a path is relative to the file that says it");
	tap_is_u64(p->read.n, 1, "a list replaces the inherited one");
	tap_is_str(p->hide.v[0], "/h", "or is inherited");
	tap_is_u64(p->limits.max[LIMIT_CPU], 5 * SEC, "own field");
	tap_is_u64(p->limits.max[LIMIT_WALL], 7200 * SEC, "parent's field");
	tap_is_u64(p->limits.max[LIMIT_MEMORY], 4ull << 30, "field of \"agent\", three steps up");
	tap_is_u64(p->require.n, LAYER_MAX, "field of \"strict\"");
	profile_free(p);
}

static void chains(const char *dir)
{
	struct profile *p = NULL;
	struct err err = { 0 };
	auto_free char *one =
		scene_put(dir, "one.json",
			  "{ \"schema\": \"proctor.profile/1\", \"extends\": \"./two.json\" }");
	auto_free char *first = path_join(dir, "deep/0.json");

	scene_add(dir, "two.json",
		  "{ \"schema\": \"proctor.profile/1\", \"extends\": \"one.json\" }");
	tap_ok(profile_load(one, &p, &err) == -ERR_INPUT && !p &&
		       strstr(err.text, "two.json: $.extends: \"one.json\" leads back to"),
	       "a cycle: %s", err.text);
	for (int i = 0; i < 20; i++) {
		auto_free char *name = mem_printf("deep/%d.json", i);
		auto_free char *text = mem_printf(
			"{ \"schema\": \"proctor.profile/1\", \"extends\": \"%d.json\" }", i + 1);

		scene_add(dir, name, text);
	}
	tap_ok(profile_load(first, &p, &err) == -ERR_INPUT &&
		       strstr(err.text, "16.json: $.extends: more than 16"),
	       "a long chain: %s", err.text);
}

static void places(const char *dir)
{
	auto_free char *mine = NULL;
	struct profile *p = NULL;
	struct err err = { 0 };

	setenv("XDG_CONFIG_HOME", dir, 1);
	mine = scene_put(dir, "proctor/profiles/agent.json",
			 "{ \"schema\": \"proctor.profile/1\", \"extends\": \"agent\","
			 " \"limits\": {\"wall\": \"5m\"} }");
	p = load("agent");
	tap_is_str(p->file, mine, "the user's comes first");
	tap_is_u64(p->limits.max[LIMIT_WALL], 300 * SEC, "its field");
	tap_is_u64(p->limits.max[LIMIT_PROCESSES], 512, "it extends the shipped one of its name");
	p = profile_free(p);

	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", dir, 1);
	p = load("agent");
	tap_is_u64(p->limits.max[LIMIT_WALL], 3600 * SEC, "a relative XDG_CONFIG_HOME is ignored");
	p = profile_free(p);
	unsetenv("XDG_CONFIG_HOME");
	scene_add(dir, ".config/proctor/profiles/mine.json",
		  "{ \"schema\": \"proctor.profile/1\" }");
	p = load("mine");
	tap_is_str(p->name, "mine", "found below HOME");
	p = profile_free(p);

	if (chdir(dir) < 0)
		abort();
	scene_add(dir, "here.json", "{ \"schema\": \"proctor.profile/1\" }");
	tap_ok(profile_load("here", &p, &err) == -ERR_INPUT && !p,
	       "a name is never looked up in the current directory: %s", err.text);
	p = load("here.json");
	tap_is_str(p->name, "here", "a path is");
	p = profile_free(p);
	tap_ok(profile_load("stirct", &p, &err) == -ERR_INPUT &&
		       strstr(err.text, "did you mean \"strict\"") && strstr(err.text, " and "),
	       "the nearest name: %s", err.text);
	tap_ok(profile_load("..", &p, &err) == -ERR_INPUT, "not a name: %s", err.text);
	tap_ok(profile_load("", &p, &err) == -ERR_INPUT, "nor is nothing: %s", err.text);
}

static void shipped(void)
{
	static const char *const names[] = { "base", "agent", "command", "verify", "strict" };
	struct profile *p;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		p = load(names[i]);
		tap_is_str(p->name, names[i], names[i]);
		tap_ok(p->net == NET_NONE && !p->nested_userns &&
			       p->workspace == WORKSPACE_OVERLAY && p->write.n == 0,
		       "no network, no nested namespaces, nothing writable outside");
		tap_ok(i == 0 || (strv_has(&p->require, "userns") &&
				  strv_has(&p->require, "seccomp") &&
				  strv_has(&p->require, "overlay")),
		       "a floor");
		profile_free(p);
	}
	p = load("command");
	tap_is_u64(p->limits.max[LIMIT_WALL], 0, "command: no wall limit");
	tap_is_u64(p->limits.max[LIMIT_MEMORY], 0, "command: no memory limit");
	tap_is_u64(p->limits.max[LIMIT_OUTPUT], 0, "command: no output limit");
	tap_is_u64(p->limits.max[LIMIT_PROCESSES], 4096, "command: 4096 processes");
	profile_free(p);
	p = load("strict");
	for (int l = 0; l < LAYER_MAX; l++)
		tap_ok(strv_has(&p->require, layer_name(l)), "strict requires %s", layer_name(l));
	profile_free(p);
}

/* Where the shipped data are, when nobody says so: the build directory that the test runs in. */
static void datadir(void)
{
	auto_free char *given = profile_datadir(), *found = NULL, *base = NULL;

	setenv("PROCTOR_DATADIR", "relative/place", 1);
	found = profile_datadir();
	base = path_join(found, "base.json");
	tap_ok(found[0] == '/' && strcmp(found, given) != 0, "a relative directory is ignored");
	if (access(base, R_OK) == 0)
		tap_ok(true, "found the shipped data");
	else
		tap_skip("found the shipped data", "not run from a build directory");
	setenv("PROCTOR_DATADIR", given, 1);
}

int main(void)
{
	char *dir = scene_new();

	setenv("XDG_CONFIG_HOME", dir, 1);
	shipped();
	example(dir);
	inherited(dir);
	chains(dir);
	datadir();
	places(dir);
	tap_is_str(profile_net_name(NET_NONE), "no-network", "network name");
	tap_is_str(profile_trace_name(TRACE_FULL), "full", "trace name");
	tap_is_str(profile_watch_name(WATCH_WORKSPACE), "workspace", "watch name");
	tap_is_str(profile_on_limit_name(ON_LIMIT_KILL), "kill", "on_limit name");
	tap_is_str(profile_workspace_name(WORKSPACE_DIRECT), "direct", "workspace name");
	tap_is_str(profile_home_name(HOME_EMPTY), "empty", "home name");
	tap_ok(profile_free(NULL) == NULL, "nothing can be freed");
	if (chdir("/") < 0)
		abort();
	scene_done(dir);
	return tap_done();
}

#include "profiles/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/lookup_internal.h"
#include "profiles/netrules.h"
#include "profiles/profile_internal.h"
#include "profiles/rows_internal.h"

#define EXTENDS_MAX   16
#define GRACE_DEFAULT (10 * 1000000000ull)
#define MODEL_TIMEOUT (600 * 1000000000ull)
#define MODEL_RETRIES 3
#define RETRIES_MAX   100

/* Of the simulated user, as SWE-Touch has them. */
#define SIM_TEMPERATURE 0.2
#define SIM_MAX_TOKENS  220
#define SIM_TIMEOUT     (60 * 1000000000ull)
#define SIM_RETRIES     1
#define SIM_TOKENS_MAX  1000 /* such a message is not too long to be said yet */
#define SIM_TIMEOUT_MAX (3600 * 1000000000ull)

/* clang-format off */
static const char *const layer_names[LAYER_MAX + 1] = {
	[LAYER_USERNS]	     = "userns",
	[LAYER_MOUNTS]	     = "mounts",
	[LAYER_PIDNS]	     = "pidns",
	[LAYER_NETNS]	     = "netns",
	[LAYER_IPCNS]	     = "ipcns",
	[LAYER_UTSNS]	     = "utsns",
	[LAYER_CGROUPNS]     = "cgroupns",
	[LAYER_OVERLAY]	     = "overlay",
	[LAYER_SECCOMP]	     = "seccomp",
	[LAYER_LANDLOCK]     = "landlock",
	[LAYER_CAPS]	     = "caps",
	[LAYER_NO_NEW_PRIVS] = "no_new_privs",
	[LAYER_PTRACE]	     = "ptrace",
	[LAYER_CGROUP]	     = "cgroup",
};

/* Each in the order of its enum. */
static const char *const trace_names[] = { "off", "files", "full", NULL };
static const char *const on_limit_names[] = { "finish", "refuse", "kill", NULL };
static const char *const net_names[] = { "no-network", "allowlist", "public", NULL };
static const char *const delivery_names[] = { "buffered", "stream", NULL };
static const char *const provider_tools_names[] = { "strip", "refuse", NULL };
static const char *const pin_names[] = { "rewrite", "refuse", "off", NULL };
static const char *const reattach_names[] = { "never", "once", NULL };
static const char *const home_names[] = { "empty", NULL };
static const char *const workspace_names[] = { "overlay", "direct", NULL };
static const char *const watch_names[] = { "regions", "workspace", NULL };
static const char *const checkpoint_names[] = { "none", "requests", NULL };
/* clang-format on */

const char *layer_name(enum layer l)
{
	ensure(l >= 0 && l < LAYER_MAX, "a layer of the table");
	return layer_names[l];
}

const char *profile_trace_name(enum trace_level v)
{
	return trace_names[v];
}

const char *profile_on_limit_name(enum on_limit v)
{
	return on_limit_names[v];
}

const char *profile_net_name(enum net_mode v)
{
	return net_names[v];
}

const char *profile_delivery_name(enum delivery v)
{
	return delivery_names[v];
}

const char *profile_provider_tools_name(enum provider_tools v)
{
	return provider_tools_names[v];
}

const char *profile_pin_name(enum pin v)
{
	return pin_names[v];
}

const char *profile_reattach_name(int v)
{
	return reattach_names[v];
}

const char *profile_home_name(enum home_mode v)
{
	return home_names[v];
}

const char *profile_workspace_name(enum workspace_mode v)
{
	return workspace_names[v];
}

const char *profile_watch_name(enum watch_mode v)
{
	return watch_names[v];
}

const char *profile_checkpoints_name(enum checkpoint_mode v)
{
	return checkpoint_names[v];
}

/* The parent was read before the rows are walked; here only the type is looked at. */
static int parse_extends(const struct json_src *src, const char *where, const cJSON *item,
			 void *field, struct err *err)
{
	(void)field;
	return cJSON_IsString(item) ? 0 : json_complain(src, where, err, "expected a string");
}

#define OFF(field) offsetof(struct profile, field)

/* clang-format off */
static const struct json_field filesystem_rows[] = {
	{ "rootfs", JSON_STR, OFF(rootfs), .doc = "root file system: \"host\", \"dir:PATH\" or an image as in a task" },
	{ "read", JSON_STRV, OFF(read), .doc = "host paths that are bound read-only in addition" },
	{ "write", JSON_STRV, OFF(write), .doc = "host paths that are bound writable: what happens there is not undone" },
	{ "hide", JSON_STRV, OFF(hide), .doc = "paths that are covered by something empty" },
	{ "home", JSON_ENUM, OFF(home), .choices = home_names, .doc = "what HOME holds: empty, thrown away afterwards" },
	{ "workspace", JSON_ENUM, OFF(workspace), .choices = workspace_names, .doc = "overlay (the user's files stay as they are) or direct" },
	{ NULL },
};

static const struct json_field network_rows[] = {
	{ "mode", JSON_ENUM, OFF(net), .choices = net_names, .doc = "no-network, allowlist or public" },
	{ "hosts", JSON_STRV, OFF(hosts), .doc = "names or addresses for mode allowlist: \"*.example.org\", \"api.example.com:443\"" },
	{ NULL },
};

static const struct json_field model_rows[] = {
	{ "delivery", JSON_ENUM, OFF(delivery), .choices = delivery_names, .doc = "buffered (an answer is checked and billed before the agent sees it) or stream" },
	{ "provider_tools", JSON_ENUM, OFF(provider_tools), .choices = provider_tools_names, .doc = "tools that the provider runs (web search, ...): strip them from requests, or refuse the request" },
	{ "pin", JSON_ENUM, OFF(pin), .choices = pin_names, .doc = "requests for another model than --model: rewrite, refuse, or off (let them pass)" },
	{ "reattach", JSON_ENUM, OFF(reattach), .choices = reattach_names, .doc = "a user message whose place the agent's compaction took away: never put it again, or once" },
	{ "timeout", JSON_DURATION, OFF(model_timeout), .doc = "time for one answer, more than 0" },
	{ "retries", JSON_U64, OFF(model_retries), .doc = "attempts after the first when an endpoint fails, at most 100" },
	{ "prices", JSON_STR, OFF(prices), .doc = "price file (proctor.prices/1 or LiteLLM's table), default the shipped one" },
	{ "tell_limits", JSON_BOOL, OFF(tell_limits), .doc = "tell the agent its limits behind the problem statement" },
	{ NULL },
};

static const struct json_field simulator_rows[] = {
	{ "temperature", JSON_DOUBLE, OFF(sim_temperature), .doc = "sampling temperature, 0 to 2" },
	{ "max_tokens", JSON_U64, OFF(sim_max_tokens), .doc = "tokens of one message, 1 to 1000" },
	{ "timeout", JSON_DURATION, OFF(sim_timeout), .doc = "time for one try, at most 1h; a whole message may take half as much again" },
	{ "retries", JSON_U64, OFF(sim_retries), .doc = "tries after the first when its endpoint fails, at most 100" },
	{ "prompt", JSON_STR, OFF(sim_prompt), .doc = "file of its system prompt, default the shipped one" },
	{ NULL },
};

static const struct json_field syscalls_rows[] = {
	{ "deny", JSON_STRV, OFF(deny), .doc = "system calls refused beside those that always are" },
	{ "nested_userns", JSON_BOOL, OFF(nested_userns), .doc = "allow user namespaces in the box, for agents that sandbox their tools" },
	{ NULL },
};

const struct json_field profile_rows[] = {
	{ "name", JSON_STR, OFF(name), .doc = "name of the profile, default that of its file" },
	{ "extends", JSON_CUSTOM, 0, .parse = parse_extends, .doc = "profile that gives every field not said here" },
	{ "filesystem", JSON_OBJECT, 0, .rows = filesystem_rows, .doc = "what the box sees" },
	{ "network", JSON_OBJECT, 0, .rows = network_rows, .doc = "what the box reaches" },
	{ "model", JSON_OBJECT, 0, .rows = model_rows, .doc = "how model calls are passed on" },
	{ "simulator", JSON_OBJECT, 0, .rows = simulator_rows, .doc = "the model that writes messages without fixed text (run --simulator)" },
	{ "syscalls", JSON_OBJECT, 0, .rows = syscalls_rows, .doc = "what the box may ask of the kernel" },
	{ "limits", JSON_OBJECT, OFF(limits), .rows = limits_rows, .doc = "bounds of the run; 0 = no limit" },
	{ "on_limit", JSON_ENUM, OFF(on_limit), .choices = on_limit_names, .doc = "finish (tidy end, grace, kill), refuse or kill" },
	{ "grace", JSON_DURATION, OFF(grace), .doc = "time between the tidy end and the kill" },
	{ "trace", JSON_ENUM, OFF(trace), .choices = trace_names, .doc = "off (process tree only), files or full" },
	{ "watch", JSON_ENUM, OFF(watch), .choices = watch_names, .doc = "files that are followed closely: regions (those with critical regions) or workspace (all, for mining)" },
	{ "steps", JSON_BOOL, OFF(steps), .doc = "digest the workspace at every request to the model (steps.jsonl), which fork needs" },
	{ "checkpoints", JSON_ENUM, OFF(checkpoints), .choices = checkpoint_names, .doc = "none, or requests: at every main request the box's files are kept, so that fork --resume native can go on there" },
	{ "require", JSON_STRV, OFF(require), .doc = "layers without which the run is refused" },
	{ NULL },
};
/* clang-format on */

struct profile *profile_free(struct profile *p)
{
	if (!p)
		return NULL;
	json_release(profile_rows, p);
	free(p->file);
	free(p);
	return NULL;
}

static struct profile *profile_new(void)
{
	struct profile *p = mem_zalloc(1, sizeof(*p));

	p->rootfs = mem_strdup("host");
	p->grace = GRACE_DEFAULT;
	p->trace = TRACE_FILES;
	p->model_timeout = MODEL_TIMEOUT;
	p->model_retries = MODEL_RETRIES;
	p->sim_temperature = SIM_TEMPERATURE;
	p->sim_max_tokens = SIM_MAX_TOKENS;
	p->sim_timeout = SIM_TIMEOUT;
	p->sim_retries = SIM_RETRIES;
	return p;
}

static int check_paths(const struct json_src *src, const char *where, struct strv *paths,
		       struct err *err)
{
	strv_each (i, paths) {
		auto_free char *at = mem_printf("%s[%zu]", where, i);
		char *normal;

		if (paths->v[i][0] != '/')
			return json_complain(src, at, err, "\"%s\" is not an absolute path",
					     paths->v[i]);
		normal = path_normal(paths->v[i]);
		free(paths->v[i]);
		paths->v[i] = normal;
		if (strcmp(normal, "/") == 0)
			return json_complain(src, at, err,
					     "/ is too much; name the directories that are meant");
	}
	return 0;
}

static int check_hosts(const struct json_src *src, const struct profile *p, struct err *err)
{
	strv_each (i, &p->hosts) {
		auto_free char *at = mem_printf("$.network.hosts[%zu]", i);
		const struct strv one = { .v = p->hosts.v + i, .n = 1 };
		struct netrules rules = { 0 };
		struct err why = { 0 };
		int rc = netrules_parse(&one, &rules, &why);

		netrules_done(&rules);
		if (rc < 0)
			return json_complain(src, at, err, "%s", why.text);
	}
	return 0;
}

/* @dir: what a relative price file is relative to; NULL: it must be absolute. */
static int check_model(const struct json_src *src, const char *dir, struct profile *p,
		       struct err *err)
{
	char *path;

	if (!p->model_timeout)
		return json_complain(src, "$.model.timeout", err,
				     "0 would wait for ever; give a time such as \"10m\"");
	if (p->model_retries > RETRIES_MAX)
		return json_complain(src, "$.model.retries", err, "more than %d", RETRIES_MAX);
	if (!p->prices)
		return 0;
	path = p->prices[0] ? input_path(dir, p->prices) : NULL;
	if (!path && p->prices[0])
		return json_complain(src, "$.model.prices", err, "\"%s\" must be absolute here",
				     p->prices);
	free(p->prices); /* "" takes the shipped table again */
	p->prices = path;
	return 0;
}

/* @dir: as check_model(). */
static int check_simulator(const struct json_src *src, const char *dir, struct profile *p,
			   struct err *err)
{
	char *path;

	if (!(p->sim_temperature >= 0 && p->sim_temperature <= 2))
		return json_complain(src, "$.simulator.temperature", err, "expected 0 to 2");
	if (p->sim_max_tokens < 1 || p->sim_max_tokens > SIM_TOKENS_MAX)
		return json_complain(src, "$.simulator.max_tokens", err, "expected 1 to %d",
				     SIM_TOKENS_MAX);
	if (!p->sim_timeout || p->sim_timeout > SIM_TIMEOUT_MAX)
		return json_complain(src, "$.simulator.timeout", err,
				     "expected more than 0 and at most \"1h\"");
	if (p->sim_retries > RETRIES_MAX)
		return json_complain(src, "$.simulator.retries", err, "more than %d", RETRIES_MAX);
	if (!p->sim_prompt)
		return 0;
	path = p->sim_prompt[0] ? input_path(dir, p->sim_prompt) : NULL;
	if (!path && p->sim_prompt[0])
		return json_complain(src, "$.simulator.prompt", err, "\"%s\" must be absolute here",
				     p->sim_prompt);
	free(p->sim_prompt); /* "" takes the shipped prompt again */
	p->sim_prompt = path;
	return 0;
}

static int check_require(const struct json_src *src, const struct profile *p, struct err *err)
{
	strv_each (i, &p->require) {
		auto_free char *at = mem_printf("$.require[%zu]", i);
		const char *name = p->require.v[i], *near;
		int l = 0;

		while (l < LAYER_MAX && strcmp(name, layer_names[l]) != 0)
			l++;
		if (l < LAYER_MAX)
			continue;
		near = str_nearest(name, layer_names);
		return json_complain(
			src, at, err,
			"there is no layer \"%s\"%s%s%s; \"proctor doctor\" lists them", name,
			near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	}
	return 0;
}

static int check_deny(const struct json_src *src, const struct profile *p, struct err *err)
{
	strv_each (i, &p->deny) {
		auto_free char *at = mem_printf("$.syscalls.deny[%zu]", i);

		if (!input_is_id(p->deny.v[i]))
			return json_complain(src, at, err, "\"%s\" is no name of a system call",
					     p->deny.v[i]);
	}
	return 0;
}

int profile_check(const struct json_src *src, const char *dir, struct profile *p, struct err *err)
{
	int rc = input_check_id(src, "$.name", p->name, err);

	if (rc == 0)
		rc = input_rootfs(src, "$.filesystem.rootfs", dir, &p->rootfs, err);
	if (rc == 0)
		rc = check_paths(src, "$.filesystem.read", &p->read, err);
	if (rc == 0)
		rc = check_paths(src, "$.filesystem.write", &p->write, err);
	if (rc == 0)
		rc = check_paths(src, "$.filesystem.hide", &p->hide, err);
	if (rc == 0)
		rc = check_hosts(src, p, err);
	if (rc == 0)
		rc = check_model(src, dir, p, err);
	if (rc == 0)
		rc = check_simulator(src, dir, p, err);
	if (rc == 0)
		rc = check_deny(src, p, err);
	if (rc == 0)
		rc = check_require(src, p, err);
	return rc;
}

/* The files that are being read, innermost first. */
struct chain {
	const char *file;
	const struct chain *up;
	unsigned depth;
};

static int read_file(const char *path, const struct chain *up, struct profile *p, struct err *err);

/* Read the profile that @src extends, if any, into @p. */
static int read_parent(const struct json_src *src, const char *dir, const struct chain *self,
		       struct profile *p, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(src->root, "extends");
	auto_free char *path = NULL;
	int rc;

	if (!cJSON_IsString(item))
		return 0;
	if (self->depth >= EXTENDS_MAX)
		return json_complain(src, "$.extends", err, "more than %d profiles in a chain",
				     EXTENDS_MAX);
	if (lookup_is_path(item->valuestring)) {
		path = input_path(dir, item->valuestring);
		if (!path)
			return json_complain(src, "$.extends", err, "\"%s\" must be absolute here",
					     item->valuestring);
	} else {
		rc = lookup_find(LOOKUP_PROFILE, item->valuestring, self->file, &path, err);
		if (rc < 0)
			return err_wrap(err, "%s: $.extends", src->name);
	}
	for (const struct chain *c = self; c; c = c->up) {
		if (str_eq(c->file, path))
			return json_complain(src, "$.extends", err,
					     "\"%s\" leads back to %s, which is being read; break "
					     "the cycle",
					     item->valuestring, path);
	}
	rc = read_file(path, self, p, err);
	/* Named once, at the file the user asked for: a chain of names would crowd out the reason. */
	return rc < 0 && !self->up ? err_wrap(err, "%s: $.extends", src->name) : rc;
}

static int read_tree(const struct json_src *src, const char *dir, const struct chain *self,
		     struct profile *p, struct err *err)
{
	int rc = json_check_schema(src, "profile", err);

	if (rc == 0)
		rc = read_parent(src, dir, self, p, err);
	if (rc < 0)
		return rc;
	free(p->name); /* a name is not inherited */
	p->name = NULL;
	rc = input_read(src, "profile", profile_rows, p, err);
	if (rc < 0)
		return rc;
	if (!p->name) {
		const char *base = path_base(src->name);

		p->name = mem_strndup(base, strlen(base) - (str_ends(base, ".json") ? 5 : 0));
	}
	free(p->file);
	p->file = mem_strdup(src->name);
	return profile_check(src, dir, p, err);
}

static int read_file(const char *path, const struct chain *up, struct profile *p, struct err *err)
{
	struct chain self = { .file = path, .up = up, .depth = up ? up->depth + 1 : 0 };
	struct json_src src = { 0 };
	auto_free char *dir = NULL;
	int rc = json_load(path, &src, err);

	if (rc < 0)
		return rc;
	dir = input_dir(path);
	rc = read_tree(&src, dir, &self, p, err);
	json_src_done(&src);
	return rc;
}

int profile_parse(const char *name, const char *text, size_t n, const char *dir,
		  struct profile **ret, struct err *err)
{
	struct chain self = { .file = name };
	struct json_src src = { 0 };
	struct profile *p;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	p = profile_new();
	rc = read_tree(&src, dir, &self, p, err);
	json_src_done(&src);
	if (rc == 0)
		*ret = take_ptr(&p);
	profile_free(p);
	return rc;
}

int profile_load(const char *name, struct profile **ret, struct err *err)
{
	auto_free char *path = NULL;
	struct profile *p;
	int rc = 0;

	if (!lookup_is_path(name))
		rc = lookup_find(LOOKUP_PROFILE, name, NULL, &path, err);
	else if (strcmp(name, "-") == 0)
		path = mem_strdup(name);
	else
		path = input_path(".", name);
	if (rc < 0)
		return rc;
	p = profile_new();
	rc = read_file(path, NULL, p, err);
	if (rc == 0)
		*ret = take_ptr(&p);
	profile_free(p);
	return rc;
}

char *profile_datadir(void)
{
	return lookup_datadir();
}

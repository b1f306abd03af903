#include "profiles/agent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/lookup_internal.h"
#include "profiles/rows_internal.h"

#define VIA_UNSET   ((enum agent_message_via) - 1)
#define EXTENDS_MAX 8

/* clang-format off */
static const struct {
	const char *name; /* with a colon: an argument follows */
	enum agent_message_via via;
} via_rows[] = {
	{ "gateway", VIA_GATEWAY },
	{ "stdin",   VIA_STDIN },
	{ "pty",     VIA_PTY },
	{ "file:",   VIA_FILE },
	{ "exec:",   VIA_EXEC },
	{ "native",  VIA_NATIVE },
};

/* In the order of enum agent_native. */
static const char *const native_names[] = { "none", "pi-rpc", "codex-app-server",
					    "claude-stream-json", NULL };

/* In the order of enum agent_session_id. */
static const char *const session_names[] = { "name", "uuid", "path", NULL };

/* In the order of enum agent_tool_kind. */
static const char *const tool_names[] = { "read", "edit", "shell", "write", NULL };

/* What may stand in the arguments of a tool. */
static const char *const placeholders[] = { "path", "abspath", "first", "last", "count", "offset0",
					    "old", "new", "command", "content", "patch", NULL };
/* clang-format on */

const char *agent_via_name(enum agent_message_via via)
{
	for (size_t i = 0; i < ARRAY_SIZE(via_rows); i++) {
		if (via_rows[i].via == via)
			return via_rows[i].name;
	}
	ensure(false, "a channel of the table");
	return NULL;
}

static int parse_via(const struct json_src *src, const char *where, const cJSON *item, void *field,
		     struct err *err)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	struct agent *a = field;

	for (size_t i = 0; i < ARRAY_SIZE(via_rows); i++) {
		const char *name = via_rows[i].name;
		size_t n = strlen(name);
		bool takes = name[n - 1] == ':';

		if (takes ? (!str_starts(s, name) || !s[n]) : strcmp(s, name) != 0)
			continue;
		a->via = via_rows[i].via;
		free(a->via_arg);
		a->via_arg = takes ? mem_strdup(s + n) : NULL;
		return 0;
	}
	return json_complain(src, where, err,
			     "expected \"gateway\", \"stdin\", \"pty\", \"file:PATH\", "
			     "\"exec:COMMAND\" or \"native\", found \"%s\"",
			     s);
}

const char *agent_native_name(enum agent_native native)
{
	return native_names[native];
}

const char *agent_session_id_name(enum agent_session_id id)
{
	return session_names[id];
}

const char *agent_tool_name(enum agent_tool_kind kind)
{
	ensure(kind >= 0 && kind < AGENT_TOOL_MAX, "a tool of the table");
	return tool_names[kind];
}

const struct agent_tool *agent_tool(const struct agent *a, enum agent_tool_kind kind)
{
	const struct agent_tool *t = a->tools.v;

	for (size_t i = 0; i < a->tools.n; i++) {
		if (t[i].kind == (int)kind)
			return t + i;
	}
	return NULL;
}

#define OFF(field) offsetof(struct agent, field)

/* clang-format off */
static const struct json_field install_rows[] = {
	{ "shipped", JSON_STR, OFF(shipped), .doc = "program that comes with proctor, static, so that it runs in any root file system" },
	{ "npm", JSON_STR, OFF(package), .doc = "package that npm installs: NAME@VERSION" },
	{ "name", JSON_STR, OFF(install_name), .doc = "directory of the installation, default the name of the agent" },
	{ "program", JSON_STR, OFF(program), .doc = "program of the package, or its path below the installation; default that of command" },
	{ NULL },
};

#define TOOL(field) offsetof(struct agent_tool, field)

static const struct json_field tool_rows[] = {
	{ "name", JSON_STR, TOOL(name), true, .doc = "name of the tool, as the model calls it" },
	{ "args", JSON_RAW, TOOL(args), true, .doc = "its arguments with {path} {abspath} {first} {last} {count} {offset0} {old} {new} {command} {content} {patch}" },
	{ "custom", JSON_BOOL, TOOL(custom), .doc = "a custom tool of the Responses API: args is one text" },
	{ NULL },
};

#define TOOLS(k) ((k) * sizeof(struct agent_tool))

static const struct json_field tools_rows[] = {
	{ "read", JSON_OBJECT, TOOLS(AGENT_TOOL_READ), .rows = tool_rows, .doc = "the tool that reads lines of a file" },
	{ "edit", JSON_OBJECT, TOOLS(AGENT_TOOL_EDIT), .rows = tool_rows, .doc = "the tool that replaces text in a file" },
	{ "shell", JSON_OBJECT, TOOLS(AGENT_TOOL_SHELL), .rows = tool_rows, .doc = "the tool that runs a command" },
	{ "write", JSON_OBJECT, TOOLS(AGENT_TOOL_WRITE), .rows = tool_rows, .doc = "the tool that writes a whole file" },
	{ NULL },
};
/* clang-format on */

static int parse_install(const struct json_src *src, const char *where, const cJSON *item,
			 void *field, struct err *err)
{
	struct agent *a = field;
	int rc;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err,
				     "expected an object such as {\"npm\": \"NAME@VERSION\"}");
	rc = json_read(src, where, item, install_rows, a, err);
	if (rc == 0 && a->install_name)
		rc = input_check_id(src, where, a->install_name, err);
	if (rc == 0 && a->program && strchr(a->program, '/') && !path_is_tame(a->program))
		rc = json_complain(src, where, err,
				   "program \"%s\" must be a name or a plain relative path",
				   a->program);
	if (rc < 0)
		return rc;
	free(a->install);
	a->install = cJSON_PrintUnformatted(item);
	return 0;
}

static void free_tools(struct agent *a)
{
	struct agent_tool *t = a->tools.v;

	for (size_t i = 0; i < a->tools.n; i++) {
		free(t[i].name);
		free(t[i].args);
	}
	free(a->tools.v);
	a->tools = (struct json_array){ 0 };
}

/* A mistyped placeholder would reach the tool as it stands. Other words in braces are the tool's
 * own ("awk '{print}'"). */
static int check_placeholders(const struct json_src *src, const char *where, const char *args,
			      struct err *err)
{
	for (const char *s = strchr(args, '{'); s; s = strchr(s + 1, '{')) {
		size_t n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
		auto_free char *word = mem_strndup(s + 1, n);
		const char *near = s[n + 1] == '}' ? str_nearest(word, placeholders) : NULL;

		if (near && strcmp(near, word) != 0)
			return json_complain(src, where, err,
					     "there is no {%s}, did you mean {%s}?", word, near);
	}
	return 0;
}

static int check_tool(const struct json_src *src, const char *where, const struct agent_tool *t,
		      struct err *err)
{
	auto_free char *at = mem_printf("%s.%s", where, tool_names[t->kind]);

	if (!t->name || !t->name[0])
		return json_complain(src, at, err, "\"name\" is empty");
	if (t->args[0] != (t->custom ? '"' : '{'))
		return json_complain(src, at, err, "\"args\" must be %s",
				     t->custom ? "a string, as the tool is custom" : "an object");
	return check_placeholders(src, at, t->args, err);
}

static int parse_tools(const struct json_src *src, const char *where, const cJSON *item,
		       void *field, struct err *err)
{
	struct agent_tool *all = mem_zalloc(AGENT_TOOL_MAX, sizeof(*all));
	struct agent *a = field;
	size_t n = 0;
	int rc = 0;

	free_tools(a);
	a->tools = (struct json_array){ .v = all, .n = AGENT_TOOL_MAX };
	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object of tools");
	rc = json_read(src, where, item, tools_rows, all, err);
	/* Close the gaps of tools that were not given. */
	for (int k = 0; k < AGENT_TOOL_MAX && rc == 0; k++) {
		struct agent_tool t = all[k];

		if (!cJSON_GetObjectItemCaseSensitive(item, tool_names[k]))
			continue;
		t.kind = k;
		all[k] = (struct agent_tool){ 0 };
		all[n++] = t;
		rc = check_tool(src, where, all + n - 1, err);
	}
	if (rc == 0)
		a->tools.n = n;
	return rc;
}

/* The parent was read before the rows are walked; here only the type is looked at. */
static int parse_extends(const struct json_src *src, const char *where, const cJSON *item,
			 void *field, struct err *err)
{
	(void)field;
	return cJSON_IsString(item) ? 0 : json_complain(src, where, err, "expected a string");
}

/* In the order of enum agent_api. */
static const char *const api_names[] = { "none",      "openai-chat", "openai-responses",
					 "anthropic", "gemini",      NULL };

const char *agent_api_name(enum agent_api api)
{
	return api_names[api];
}

/* clang-format off */
static const struct json_field native_rows[] = {
	{ "protocol", JSON_ENUM, OFF(native), .choices = native_names, .doc = "how user messages are sent to the running agent" },
	{ "command", JSON_STRV, OFF(native_command), .doc = "program and arguments that speak it, templates as in command" },
	{ NULL },
};

static const struct json_field resume_rows[] = {
	{ "command", JSON_STRV, OFF(resume_command), .doc = "program and arguments that take a session up again; {session} and {prompt} beside the templates of command" },
	{ "session", JSON_STR, OFF(resume_session), .doc = "where the session files are: \"~/\" and a glob" },
	{ "id", JSON_ENUM, OFF(resume_id), .choices = session_names, .doc = "what {session} is: name of the session file without its extension (default), the UUID at the end of it, or its path" },
	{ "prompt", JSON_STR, OFF(resume_prompt), .doc = "what {prompt} is, default \"" AGENT_RESUME_PROMPT "\"" },
	{ NULL },
};

const struct json_field agent_rows[] = {
	{ "name", JSON_STR, OFF(name), true, .doc = "name of the agent: A-Z a-z 0-9 . _ -" },
	{ "extends", JSON_CUSTOM, 0, .parse = parse_extends, .doc = "agent file or shipped agent that gives every field not said here" },
	{ "command", JSON_STRV, OFF(command), .doc = "program and arguments, needed unless inherited; {problem_statement} {model} {base_url} {key} {workdir} {program} are filled in" },
	{ "api", JSON_ENUM, OFF(api), .choices = api_names, .doc = "model API the agent speaks, default none" },
	{ "env", JSON_ENV, OFF(env), .doc = "environment variables of the agent, templates as in command" },
	{ "base_url_env", JSON_STR, OFF(base_url_env), .doc = "variable that carries the model's base URL" },
	{ "key_env", JSON_STR, OFF(key_env), .doc = "variable that carries the model's key" },
	{ "files", JSON_ENV, OFF(files), .doc = "files made in the box: \"~/path\" to the template beside this file" },
	{ "install", JSON_CUSTOM, 0, .parse = parse_install, .rows = install_rows, .doc = "how people install the agent; its program is then looked for on the host" },
	{ "tools", JSON_CUSTOM, 0, .parse = parse_tools, .rows = tools_rows, .doc = "the agent's tools, for scripts and for touches" },
	{ "model", JSON_STR, OFF(default_model), .doc = "{model} when --model names none" },
	{ "native", JSON_OBJECT, 0, .rows = native_rows, .doc = "the agent's own channel for user messages, for message_via native" },
	{ "resume", JSON_OBJECT, 0, .rows = resume_rows, .doc = "how the agent takes up a session of its own again, for fork --resume native" },
	{ "sandbox", JSON_STR, OFF(sandbox), .doc = "how the agent's own sandbox is handled, one sentence" },
	{ "message_via", JSON_CUSTOM, 0, .parse = parse_via, .doc = "how a message reaches it: gateway, stdin, pty, file:PATH, exec:COMMAND or native" },
	{ NULL },
};
/* clang-format on */

struct agent *agent_free(struct agent *a)
{
	if (!a)
		return NULL;
	json_release(agent_rows, a);
	json_release(install_rows, a);
	free_tools(a);
	strv_done(&a->file_texts);
	free(a->file);
	free(a->install);
	free(a->via_arg);
	free(a);
	return NULL;
}

/* Templates are read now, so that the plan is complete. Only files below the agent file's own
 * directory, no links: what they hold ends up in the box. */
static int read_file(const struct json_src *src, int dirfd, const char *entry, struct agent *a,
		     struct err *err)
{
	const char *eq = strchr(entry, '=');
	auto_free char *name = mem_strndup(entry, (size_t)(eq - entry));
	auto_free char *where = mem_printf("$.files.%s", name);
	auto_fd int fd = -1;
	char *text;
	int rc;

	if (!str_starts(name, "~/") || !path_is_tame(name + 2))
		return json_complain(src, where, err,
				     "the name must be \"~/\" and a plain relative path");
	if (!path_is_tame(eq + 1) || dirfd < 0)
		return json_complain(src, where, err,
				     "\"%s\" must be a file below the agent file's own directory",
				     eq + 1);
	fd = fd_open_beneath(dirfd, eq + 1, INPUT_OPEN_FLAGS, 0);
	rc = input_file(src, where, fd, eq + 1, &text, err);
	if (rc == 0)
		strv_take(&a->file_texts, text);
	return rc;
}

static int read_files(const struct json_src *src, const char *dir, struct agent *a, struct err *err)
{
	auto_fd int dirfd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int rc = 0;

	for (size_t i = 0; i < a->files.n && rc == 0; i++)
		rc = read_file(src, dirfd, a->files.v[i], a, err);
	return rc;
}

static int check_variable(const struct json_src *src, const char *where, const char *name,
			  struct err *err)
{
	auto_strv env = { 0 };

	if (!name)
		return 0;
	strv_take(&env, mem_printf("%s=", name));
	return input_check_env(src, where, &env, err);
}

static int check_resume(const struct json_src *src, const struct agent *a, struct err *err)
{
	bool there = a->resume_command.n > 0;

	if (!there && !a->resume_session)
		return 0;
	if (!there || !a->resume_command.v[0][0])
		return json_complain(src, "$.resume.command", err,
				     "empty; give the program and its arguments");
	if (!a->resume_session || !str_starts(a->resume_session, "~/") ||
	    !path_is_tame(a->resume_session + 2))
		return json_complain(
			src, "$.resume.session", err,
			"expected \"~/\" and a plain relative path, which may hold * and ?");
	return 0;
}

static int check(const struct json_src *src, struct agent *a, struct err *err)
{
	int rc = input_check_id(src, "$.name", a->name, err);

	if (rc == 0 && !cJSON_GetObjectItemCaseSensitive(src->root, "command") && !a->command.n)
		rc = json_complain(src, "$", err, "\"command\" is missing: program and arguments");
	if (rc == 0 && (a->command.n == 0 || !a->command.v[0][0]))
		rc = json_complain(src, "$.command", err,
				   "empty; give the program and its arguments");
	if (rc == 0)
		rc = input_check_env(src, "$.env", &a->env, err);
	if (rc == 0)
		rc = check_variable(src, "$.base_url_env", a->base_url_env, err);
	if (rc == 0)
		rc = check_variable(src, "$.key_env", a->key_env, err);
	if (a->via == VIA_UNSET)
		a->via = a->api == AGENT_API_NONE ? VIA_STDIN : VIA_GATEWAY;
	if (rc == 0 && a->via == VIA_NATIVE &&
	    (a->native == NATIVE_NONE || !a->native_command.n || !a->native_command.v[0][0]))
		rc = json_complain(
			src, "$.message_via", err,
			"native needs \"native\": {\"protocol\": ..., \"command\": [...]}");
	return rc < 0 ? rc : check_resume(src, a, err);
}

static int read_tree(const struct json_src *src, const char *dir, unsigned depth, struct agent *a,
		     struct err *err);

/* Read the agent that @src extends, if any, into @a. */
static int read_parent(const struct json_src *src, const char *dir, unsigned depth, struct agent *a,
		       struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(src->root, "extends");
	auto_free char *path = NULL, *parent_dir = NULL;
	struct json_src parent = { 0 };
	int rc = 0;

	if (!cJSON_IsString(item))
		return 0;
	if (depth >= EXTENDS_MAX)
		return json_complain(src, "$.extends", err,
				     "more than %d agents in a chain, or the chain leads back",
				     EXTENDS_MAX);
	if (lookup_is_path(item->valuestring)) {
		path = input_path(dir, item->valuestring);
		if (!path)
			return json_complain(src, "$.extends", err, "\"%s\" must be absolute here",
					     item->valuestring);
	} else {
		rc = lookup_find(LOOKUP_AGENT, item->valuestring, src->name, &path, err);
	}
	if (rc == 0)
		rc = json_load(path, &parent, err);
	if (rc == 0) {
		parent_dir = input_dir(path);
		rc = read_tree(&parent, parent_dir, depth + 1, a, err);
	}
	json_src_done(&parent);
	/* Named once, at the file the user asked for: a chain of names would crowd out the reason. */
	return rc < 0 && depth == 0 ? err_wrap(err, "%s: $.extends", src->name) : rc;
}

static int read_tree(const struct json_src *src, const char *dir, unsigned depth, struct agent *a,
		     struct err *err)
{
	int rc = json_check_schema(src, "agent", err);

	if (rc == 0)
		rc = read_parent(src, dir, depth, a, err);
	if (rc < 0)
		return rc;
	free(a->name); /* a name is not inherited */
	a->name = NULL;
	rc = input_read(src, "agent", agent_rows, a, err);
	if (rc < 0 || !cJSON_GetObjectItemCaseSensitive(src->root, "files"))
		return rc;
	strv_done(&a->file_texts);
	return read_files(src, dir, a, err);
}

int agent_parse(const char *name, const char *text, size_t n, const char *dir, struct agent **ret,
		struct err *err)
{
	struct json_src src = { 0 };
	struct agent *a;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	a = mem_zalloc(1, sizeof(*a));
	a->file = mem_strdup(name);
	a->via = VIA_UNSET;
	rc = read_tree(&src, dir, 0, a, err);
	if (rc == 0)
		rc = check(&src, a, err);
	json_src_done(&src);
	if (rc == 0)
		*ret = take_ptr(&a);
	agent_free(a);
	return rc;
}

int agent_load(const char *path, struct agent **ret, struct err *err)
{
	auto_buf b = BUF_INIT(JSON_FILE_MAX);
	auto_free char *dir = NULL;
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	dir = input_dir(path);
	return agent_parse(path, buf_str(&b), b.len, dir, ret, err);
}

struct agent *agent_from_argv(char *const *argv)
{
	struct agent *a = mem_zalloc(1, sizeof(*a));

	for (; *argv; argv++)
		strv_add(&a->command, *argv);
	a->name = mem_strdup(a->command.n ? path_base(a->command.v[0]) : "");
	a->via = VIA_STDIN;
	return a;
}

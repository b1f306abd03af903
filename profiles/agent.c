#include "profiles/agent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/rows_internal.h"

#define VIA_UNSET ((enum agent_message_via) - 1)

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
};
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
		a->via_arg = takes ? mem_strdup(s + n) : NULL;
		return 0;
	}
	return json_complain(src, where, err,
			     "expected \"gateway\", \"stdin\", \"pty\", \"file:PATH\" or "
			     "\"exec:COMMAND\", found \"%s\"",
			     s);
}

static int parse_install(const struct json_src *src, const char *where, const cJSON *item,
			 void *field, struct err *err)
{
	if (!cJSON_IsObject(item))
		return json_complain(src, where, err,
				     "expected an object such as {\"npm\": \"NAME\"}");
	*(char **)field = cJSON_PrintUnformatted(item);
	return 0;
}

/* In the order of enum agent_api. */
static const char *const api_names[] = { "none",      "openai-chat", "openai-responses",
					 "anthropic", "gemini",      NULL };

const char *agent_api_name(enum agent_api api)
{
	return api_names[api];
}

#define OFF(field) offsetof(struct agent, field)

/* clang-format off */
const struct json_field agent_rows[] = {
	{ "name", JSON_STR, OFF(name), true, .doc = "name of the agent: A-Z a-z 0-9 . _ -" },
	{ "command", JSON_STRV, OFF(command), true, .doc = "program and arguments; {problem_statement} {model} {base_url} {key} {workdir} are filled in" },
	{ "api", JSON_ENUM, OFF(api), .choices = api_names, .doc = "model API the agent speaks, default none" },
	{ "env", JSON_ENV, OFF(env), .doc = "environment variables of the agent, templates as in command" },
	{ "base_url_env", JSON_STR, OFF(base_url_env), .doc = "variable that carries the model's base URL" },
	{ "key_env", JSON_STR, OFF(key_env), .doc = "variable that carries the model's key" },
	{ "files", JSON_ENV, OFF(files), .doc = "files made in the box: \"~/path\" to the template beside this file" },
	{ "install", JSON_CUSTOM, OFF(install), .parse = parse_install, .doc = "how people install the agent, shown by doctor" },
	{ "message_via", JSON_CUSTOM, 0, .parse = parse_via, .doc = "how a message reaches it: gateway, stdin, pty, file:PATH or exec:COMMAND" },
	{ NULL },
};
/* clang-format on */

struct agent *agent_free(struct agent *a)
{
	if (!a)
		return NULL;
	json_release(agent_rows, a);
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

static int check(const struct json_src *src, const char *dir, struct agent *a, struct err *err)
{
	int rc = input_check_id(src, "$.name", a->name, err);

	if (rc == 0 && (a->command.n == 0 || !a->command.v[0][0]))
		rc = json_complain(src, "$.command", err,
				   "empty; give the program and its arguments");
	if (rc == 0)
		rc = input_check_env(src, "$.env", &a->env, err);
	if (rc == 0)
		rc = check_variable(src, "$.base_url_env", a->base_url_env, err);
	if (rc == 0)
		rc = check_variable(src, "$.key_env", a->key_env, err);
	if (rc == 0)
		rc = read_files(src, dir, a, err);
	if (a->via == VIA_UNSET)
		a->via = a->api == AGENT_API_NONE ? VIA_STDIN : VIA_GATEWAY;
	return rc;
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
	rc = input_read(&src, "agent", agent_rows, a, err);
	if (rc == 0)
		rc = check(&src, dir, a, err);
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

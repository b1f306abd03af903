#include "profiles/plan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/input_internal.h"

#define FILLED_MAX    (64u << 20)   /* bytes of one text with its templates filled in */
#define ARG_MAX_BYTES (128u * 1024) /* MAX_ARG_STRLEN (execve(2)), with the NUL */

/* One template: its name in braces and what takes its place. */
struct var {
	const char *name;
	const char *value;   /* borrowed; NULL: not to be had */
	const char *missing; /* what to do then */
};

enum {
	VAR_STATEMENT,
	VAR_MODEL,
	VAR_BASE_URL,
	VAR_KEY,
	VAR_WORKDIR,
	VAR_PROGRAM,
	VAR_SESSION,
	VAR_PROMPT,
	VAR_MAX
};

struct vars {
	struct var v[VAR_MAX];
	bool literal; /* nothing is filled in */
};

/* The variable whose "{name}" stands at @s, NULL when none does. */
static const struct var *var_at(const struct vars *vars, const char *s)
{
	for (size_t i = 0; i < VAR_MAX; i++) {
		size_t n = strlen(vars->v[i].name);

		if (strncmp(s + 1, vars->v[i].name, n) == 0 && s[n + 1] == '}')
			return vars->v + i;
	}
	return NULL;
}

static int missing(const struct vars *vars, const char *what, const struct var *var,
		   struct err *err)
{
	enum err_code code = var == vars->v + VAR_MODEL ? ERR_USAGE : ERR_INPUT;

	err_set(err, code, "%s uses {%s}, but %s", what, var->name, var->missing);
	return -(int)code;
}

/* @text with templates filled in, one pass: what was put in is not looked at again, so a problem
 * statement that holds "{key}" stays as it is. "${model}" is the shell's and left alone, as are
 * braces around other words. @what names the text in errors. */
static int fill(const struct vars *vars, const char *what, const char *text, char **ret,
		struct err *err)
{
	auto_buf out = BUF_INIT(FILLED_MAX);
	const char *start = text;

	while (*text) {
		size_t n = strcspn(text, "{");
		const struct var *var;

		buf_add(&out, text, n);
		text += n;
		if (!*text)
			break;
		var = vars->literal || (text > start && text[-1] == '$') ? NULL
									 : var_at(vars, text);
		if (!var) {
			buf_addc(&out, *text++);
			continue;
		}
		if (!var->value)
			return missing(vars, what, var, err);
		buf_adds(&out, var->value);
		text += strlen(var->name) + 2;
	}
	if (out.full) {
		err_set(err, ERR_INPUT, "%s is larger than 64M with its templates filled in", what);
		return -ERR_INPUT;
	}
	*ret = buf_steal(&out, NULL);
	return 0;
}

static int check_size(const char *what, const char *text, struct err *err)
{
	size_t n = strlen(text);

	if (n < ARG_MAX_BYTES)
		return 0;
	return err_set(err, ERR_INPUT,
		       "%s has %zu bytes, but Linux takes %u at most; give long texts to the agent "
		       "in one of its \"files\"",
		       what, n, ARG_MAX_BYTES - 1);
}

/* Does the first word of a command name the program that was looked for on the host? */
static bool names_program(const struct plan *p, const char *word)
{
	return p->program && !strchr(word, '/') &&
	       (!p->agent->program || strcmp(word, p->agent->program) == 0);
}

static int fill_argv(struct plan *p, const struct vars *vars, const struct strv *command,
		     struct err *err)
{
	strv_each (i, command) {
		auto_free char *what =
			mem_printf("argument %zu of agent \"%s\"", i, p->agent->name);
		auto_free char *text = NULL;
		const char *arg = command->v[i];
		int rc = fill(vars, what, arg, &text, err);

		if (rc < 0)
			return rc;
		rc = check_size(what, text, err);
		if (rc < 0)
			return rc;
		if (i == 0 && names_program(p, arg))
			strv_add(&p->argv, p->program);
		else if (!vars->literal && str_starts(arg, "~/"))
			strv_take(&p->argv, mem_printf("%s%s", p->home, text + 1));
		else
			strv_take(&p->argv, take_ptr(&text));
	}
	return 0;
}

static void env_set(struct strv *env, const char *assignment)
{
	size_t n = strcspn(assignment, "=") + 1;

	strv_each (i, env) {
		if (strncmp(env->v[i], assignment, n) == 0) {
			free(env->v[i]);
			env->v[i] = mem_strdup(assignment);
			return;
		}
	}
	strv_add(env, assignment);
}

/* A variable of the host's for a bare command, when it is short and plain. */
static void env_from_host(struct strv *env, const char *name)
{
	const char *value = getenv(name);
	auto_free char *assignment = NULL;

	if (!value || !value[0] || strlen(value) > 64 ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			  "._@+-") != strlen(value))
		return;
	assignment = mem_printf("%s=%s", name, value);
	env_set(env, assignment);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Variable @name of the agent takes @value; nothing when one of them is not there. */
static void set_endpoint(struct plan *p, const char *name, const char *value)
{
	auto_free char *assignment = name && value ? mem_printf("%s=%s", name, value) : NULL;

	if (assignment)
		env_set(&p->env, assignment);
}

static int fill_env(struct plan *p, const struct vars *vars, bool bare, struct err *err)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"USER=agent",
		"LOGNAME=agent",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TZ=UTC",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		env_set(&p->env, fixed[i]);
	strv_take(&p->env, mem_printf("HOME=%s", p->home));
	if (bare) {
		env_from_host(&p->env, "LANG");
		env_from_host(&p->env, "TERM");
	}
	for (size_t i = 0; p->image && i < p->image->env.n; i++)
		env_set(&p->env, p->image->env.v[i]);
	strv_each (i, &p->task->env)
		env_set(&p->env, p->task->env.v[i]);
	set_endpoint(p, p->agent->base_url_env, vars->v[VAR_BASE_URL].value);
	set_endpoint(p, p->agent->key_env, vars->v[VAR_KEY].value);
	strv_each (i, &p->agent->env) {
		const char *s = p->agent->env.v[i];
		auto_free char *what = mem_printf("variable \"%.*s\" of agent \"%s\"",
						  (int)strcspn(s, "="), s, p->agent->name);
		auto_free char *text = NULL;
		int rc = fill(vars, what, s, &text, err);

		if (rc < 0)
			return rc;
		env_set(&p->env, text);
	}
	strv_each (i, &p->env) {
		int rc = check_size("a variable of the environment", p->env.v[i], err);

		if (rc < 0)
			return rc;
	}
	qsort(p->env.v, p->env.n, sizeof(*p->env.v), compare);
	return 0;
}

static int fill_files(struct plan *p, const struct vars *vars, struct err *err)
{
	strv_each (i, &p->agent->files) {
		const char *entry = p->agent->files.v[i];
		char *text;
		int rc = fill(vars, entry, p->agent->file_texts.v[i], &text, err);

		if (rc < 0)
			return rc;
		strv_take(&p->home_texts, text);
		strv_add(&p->home_files, entry + strlen("~/"));
	}
	return 0;
}

/* What an agent is given as endpoint, in the order of enum agent_api. The keys are made up, of the
 * shape that each API's clients expect: the real one stays outside the box. */
/* clang-format off */
static const struct {
	const char *path;
	const char *key;
} endpoints[] = {
	[AGENT_API_NONE]      = { NULL, NULL },
	[AGENT_API_CHAT]      = { "/v1", "sk-local-0000000000000000000000000000000000000000" },
	[AGENT_API_RESPONSES] = { "/v1", "sk-local-0000000000000000000000000000000000000000" },
	[AGENT_API_ANTHROPIC] = { "", "sk-ant-local-00000000000000000000000000000000" },
	[AGENT_API_GEMINI]    = { "", "AIzaLocal000000000000000000000000000000" },
};
/* clang-format on */

/* The problem statement, with the limits behind it when the profile wants them told. */
static char *statement(const struct plan *p)
{
	static const struct {
		enum limit_kind kind;
		const char *unit;
	} told[] = {
		{ LIMIT_WALL, "of wall time" },
		{ LIMIT_MODEL_CALLS, "model calls" },
		{ LIMIT_TOTAL_TOKENS, "tokens" },
		{ LIMIT_DOLLARS, "dollars" },
	};
	auto_buf b = BUF_INIT(FILLED_MAX);
	bool any = false;

	if (p->task->problem_statement)
		buf_adds(&b, p->task->problem_statement);
	for (size_t i = 0; i < ARRAY_SIZE(told) && p->profile->tell_limits; i++) {
		uint64_t max = p->profile->limits.max[told[i].kind];
		char out[40];

		if (!max)
			continue;
		buf_addf(&b, "%s%s %s", any ? ", " : "\n\nThis work ends at the latest after ",
			 limits_text(told[i].kind, max, out), told[i].unit);
		any = true;
	}
	buf_adds(&b, any ? ", whichever is reached first.\n" : "");
	return buf_steal(&b, NULL);
}

/* All templates of @p; @url (NULL none), @session and @prompt (NULL: a new session) are borrowed. */
static struct vars make_vars(const struct plan *p, const char *url, const char *session,
			     const char *prompt)
{
	static const char no_api[] = "its \"api\" is none, so there is no model to reach";
	static const char fresh[] = "only \"resume\" takes up a session";

	return (struct vars){
		.v = {
			[VAR_STATEMENT] = { "problem_statement", p->statement, "" },
			[VAR_MODEL] = { "model", p->model_name,
					"no model was named; add --model NAME" },
			[VAR_BASE_URL] = { "base_url", url, no_api },
			[VAR_KEY] = { "key", endpoints[p->agent->api].key, no_api },
			[VAR_WORKDIR] = { "workdir", p->task->workdir, "" },
			[VAR_PROGRAM] = { "program", p->program,
					  "it was not found on the host, or \"install\" names no "
					  "package" },
			[VAR_SESSION] = { "session", session, fresh },
			[VAR_PROMPT] = { "prompt", prompt, fresh },
		},
	};
}

static char *base_url(const struct plan *p)
{
	const char *path = endpoints[p->agent->api].path;

	return path ? mem_printf("http://" MODEL_HOST ":%d%s", MODEL_PORT, path) : NULL;
}

int plan_fill_resume(struct plan *p, const char *session, struct err *err)
{
	auto_free char *url = base_url(p);
	const char *own = p->agent->resume_prompt;
	struct vars vars = make_vars(p, url, session, own ? own : AGENT_RESUME_PROMPT);

	strv_done(&p->argv);
	return fill_argv(p, &vars, &p->agent->resume_command, err);
}

int plan_fill(struct plan *p, bool bare, struct err *err)
{
	auto_free char *url = base_url(p);
	struct vars vars;
	int rc;

	p->statement = statement(p);
	vars = make_vars(p, url, NULL, NULL);
	vars.literal = bare;
	rc = fill_argv(p, &vars,
		       p->agent->via == VIA_NATIVE ? &p->agent->native_command : &p->agent->command,
		       err);
	if (rc == 0)
		rc = fill_env(p, &vars, bare, err);
	if (rc == 0)
		rc = fill_files(p, &vars, err);
	return rc;
}

#include "verifier/witness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "profiles/profile.h"
#include "verifier/compat.h"

#define NODE_HOOK      "NODE_OPTIONS=--require=" WITNESS_DIR "/node/start.cjs"
#define RUNNER(triple) "CARGO_TARGET_" triple "_RUNNER=" WITNESS_EXEC

/* clang-format off */
const struct witness witnesses[] = {
	{ .name = "pytest", .readers = "pytest", .others = "junit-xml", .words = "pytest py.test", .unique = true,
	  .env = { "PYTHONPATH=" WITNESS_DIR "/python" }, .glue = ':',
	  .doc = "a plug-in that sees each phase's exception before any hook does, with canaries" },
	{ .name = "unittest", .readers = "unittest", .unique = true,
	  .env = { "PYTHONPATH=" WITNESS_DIR "/python" }, .glue = ':',
	  .doc = "around the result object of unittest and Django's runner, with canaries" },
	{ .name = "node", .readers = "node-test", .env = { NODE_HOOK }, .glue = ' ',
	  .doc = "in the parent of node --test, which runs no code under test; canaries in the test processes" },
	{ .name = "mocha", .readers = "mocha", .others = "tap", .words = "mocha _mocha", .env = { NODE_HOOK }, .glue = ' ',
	  .doc = "at the runner's events, with canaries at the end" },
	{ .name = "tape", .readers = "", .others = "tap", .words = "tape", .env = { NODE_HOOK }, .glue = ' ',
	  .doc = "at the events of its tests, with canaries at the end" },
	{ .name = "jest", .readers = "jest", .env = { NODE_HOOK }, .glue = ' ',
	  .doc = "a results processor in the parent process" },
	{ .name = "vitest", .readers = "vitest", .env = { NODE_HOOK }, .glue = ' ',
	  .doc = "a reporter in the parent process" },
	{ .name = "go", .readers = "gotest gotest-json", .unique = true, .needs_exec = true, .apart = true,
	  .env = { "GOFLAGS=-exec=" WITNESS_EXEC }, .glue = ' ', .log_reader = "gotest",
	  .doc = "the parent of each test program: its output apart, its status, its list of tests, an empty run" },
	{ .name = "cargo", .readers = "libtest libtest-json", .unique = true, .needs_exec = true,
	  .env = { RUNNER("X86_64_UNKNOWN_LINUX_GNU"), RUNNER("X86_64_UNKNOWN_LINUX_MUSL"),
		   RUNNER("AARCH64_UNKNOWN_LINUX_GNU"), RUNNER("AARCH64_UNKNOWN_LINUX_MUSL") },
	  .headers = true, .beyond = "doc/",
	  .doc = "as for go; documentation tests are read from the log" },
	{ NULL },
};
/* clang-format on */

bool witness_word(const char *words, const char *s, size_t n)
{
	for (; *words; words += strcspn(words, " ")) {
		size_t len;

		words += strspn(words, " ");
		len = strcspn(words, " ");
		if (len == n && n && memcmp(words, s, n) == 0)
			return true;
	}
	return false;
}

bool witness_command_has(const char *command, const char *words)
{
	static const char ends[] = " \t\n'\"=/;&|()";

	for (const char *s = command; *s;) {
		size_t n = strcspn(s, ends);

		if (witness_word(words, s, n))
			return true;
		s += n;
		s += strspn(s, ends);
	}
	return false;
}

static bool fits(const struct witness *w, const struct task *task)
{
	const char *reader = compat_plain(task->test.reader);

	return witness_word(w->readers, reader, strlen(reader)) ||
	       (w->others && witness_word(w->others, reader, strlen(reader)) &&
		witness_command_has(task->test.command, w->words));
}

int witness_choose(const struct task *task, const struct witness **ret, bool *ret_required,
		   struct err *err)
{
	const char *want = task->test.channel, *names[32] = { "auto", "log" }, *near;
	size_t n = 2;

	*ret = NULL;
	*ret_required = false;
	if (!task->test.command || !task->test.reader || str_eq(want, "log"))
		return 0;
	for (const struct witness *w = witnesses; w->name; w++) {
		if (n + 1 < ARRAY_SIZE(names))
			names[n++] = w->name;
		if (!want || strcmp(want, "auto") == 0 ? !fits(w, task) : !str_eq(want, w->name))
			continue;
		*ret = w;
		*ret_required = want && strcmp(want, "auto") != 0;
		return 0;
	}
	if (!want || strcmp(want, "auto") == 0)
		return 0;
	near = str_nearest(want, names);
	return err_set(err, ERR_INPUT,
		       "%s: test.channel \"%s\" is unknown%s%s%s; use auto, log or the name of a "
		       "witness (docs/grading.md)",
		       task->file ? task->file : task->instance_id, want,
		       near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

bool witness_log_may(const struct witness *w, const char *name)
{
	return w->beyond && str_starts(name, w->beyond);
}

bool witness_plain(const char *command)
{
	char quote = 0;

	for (const char *s = command; *s; s++) {
		if (quote) {
			/* Command substitution inside double quotes changes no status by itself. */
			if (quote == '"' && *s == '\\' && s[1])
				s++;
			else if (*s == quote)
				quote = 0;
			continue;
		}
		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
		} else if (*s == '&' && s[1] == '&') {
			s++;
		} else if (*s == '&' && s > command && s[-1] == '>') {
			continue; /* "2>&1" */
		} else if (strchr(";|&\n!`({", *s)) {
			return false;
		}
	}
	return true;
}

/* Put "NAME=ours" into @env; when it holds NAME already, ours in front of that value. */
static void put(struct strv *env, const char *ours, char glue)
{
	size_t n = strcspn(ours, "=") + 1;

	strv_each (i, env) {
		char *old = env->v[i];

		if (strncmp(old, ours, n) != 0)
			continue;
		/* Without a glue the task's own wins: two values cannot be joined. */
		if (!glue)
			return;
		env->v[i] = old[n] ? mem_printf("%s%c%s", ours, glue, old + n) : mem_strdup(ours);
		free(old);
		return;
	}
	strv_add(env, ours);
}

void witness_environment(const struct witness *w, const char *nonce, struct strv *env)
{
	auto_free char *var = mem_printf("%s=%d:%s:%s", WITNESS_VAR, BOX_EXTRA_FD, nonce, w->name);

	for (size_t i = 0; i < ARRAY_SIZE(w->env) && w->env[i]; i++)
		put(env, w->env[i], w->glue);
	put(env, var, 0);
}

int witness_files(char **ret_dir, char **ret_exec, struct err *err)
{
	auto_free char *data = profile_datadir();
	auto_free char *dir = path_join(data, "witness");

	*ret_dir = *ret_exec = NULL;
	if (access(dir, R_OK | X_OK) < 0)
		return err_set(err, ERR_HOST,
			       "the witness files are not in %s; install proctor, or set "
			       "PROCTOR_DATADIR to its shipped data",
			       dir);
	*ret_exec = profile_program("witness/exec");
	*ret_dir = take_ptr(&dir);
	return 0;
}

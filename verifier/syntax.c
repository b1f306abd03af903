#include "verifier/syntax.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/grade.h"

#define TIMEOUT   (60 * CLOCK_SEC)
#define NOT_FOUND 127 /* of sh(1) */
#define WORDS_MAX 300u

/* Tools by the end of a file's name; {} becomes the quoted path. They look at one file and write nothing. */
static const struct tool {
	const char *suffix, *program, *command;
} tools[] = {
	/* clang-format off */
	{ ".py",   "python3", "python3 -c 'import ast,sys; ast.parse(open(sys.argv[1],\"rb\").read(), sys.argv[1])' {}" },
	{ ".js",   "node",    "node --check {}" },
	{ ".cjs",  "node",    "node --check {}" },
	{ ".mjs",  "node",    "node --check {}" },
	{ ".c",    "cc",      "cc -fsyntax-only -w -I. -Iinclude -Isrc {}" },
	{ ".go",   "gofmt",   "gofmt -e -l {} >/dev/null" },
	{ ".rb",   "ruby",    "ruby -c {} >/dev/null" },
	{ ".rs",   "rustfmt", "rustfmt --edition 2021 --emit stdout {} >/dev/null" },
	{ ".java", "javac",   "javac -proc:none -d /tmp {}" },
	{ ".sh",   "sh",      "sh -n {}" },
	{ ".pl",   "perl",    "perl -c {}" },
	/* clang-format on */
};

const char *syntax_name(enum syntax_verdict v)
{
	static const char *const names[] = { "good", "bad", "unchecked" };

	return names[v];
}

static const struct tool *tool_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (str_ends(path, tools[i].suffix))
			return &tools[i];
	return NULL;
}

static void quote(struct buf *b, const char *path)
{
	buf_addc(b, '\'');
	for (const char *p = path; *p; p++)
		buf_adds(b, *p == '\'' ? "'\\''" : (const char[]){ *p, '\0' });
	buf_addc(b, '\'');
}

/* The command for @path, "" when there is no tool for it. */
static const struct tool *add_command(struct buf *b, const char *path)
{
	const struct tool *t = tool_of(path);

	if (!t)
		return NULL;
	buf_addf(b, "command -v %s >/dev/null 2>&1 || exit %d\n", t->program, NOT_FOUND);
	for (const char *p = t->command; *p; p++) {
		if (p[0] == '{' && p[1] == '}') {
			quote(b, path);
			p++;
		} else {
			buf_addc(b, *p);
		}
	}
	buf_adds(b, " || exit 1\n");
	return t;
}

/* Run @command on the base with @diff (NULL: as it is). 0 with the exit status and the output's first words,
 * negative on error; -1 in *ret_status: no box. */
static int ask(const struct task *task, char *command, const char *diff,
	       const struct profile *profile, struct janitor *jan, int *ret_status,
	       char **ret_words, struct err *err)
{
	struct task copy = *task;
	char *const names[] = { (char *)"exit-code", NULL };
	const struct grade_request req = { .task = &copy,
					   .profile = profile,
					   .patches = { diff },
					   .janitor = jan,
					   .most = APPLY_FUZZ };
	struct verdict v;
	const char *log;
	int rc;

	copy.test = (struct task_test){ .command = command,
					.reader = (char *)"exit-code",
					.timeout = TIMEOUT };
	copy.test_patch = NULL;
	copy.fail_to_pass = (struct strv){ .v = (char **)names, .n = 1 };
	copy.pass_to_pass = (struct strv){ .v = NULL };
	rc = grade_run(&req, &v, err);
	if (rc < 0)
		return rc;
	*ret_status = v.kind == VERDICT_INFRA ? -1 : v.exit_status;
	log = buf_str(&v.log);
	log += strspn(log, " \t\r\n");
	free(*ret_words);
	*ret_words = mem_strndup(v.kind == VERDICT_INFRA ? v.reason : log, WORDS_MAX);
	verdict_done(&v);
	return 0;
}

/* The tool says no: does it like the base? Then the edit is at fault. */
static int refused(const struct task *task, char *command, const char *program, const char *said,
		   const struct profile *profile, struct janitor *jan, enum syntax_verdict *ret,
		   char **ret_why, struct err *err)
{
	char *words = NULL;
	int status = -1, rc = ask(task, command, NULL, profile, jan, &status, &words, err);

	free(words);
	if (rc < 0)
		return rc;
	if (status == 0)
		*ret = SYNTAX_BAD;
	*ret_why = status == 0 ? mem_printf("%s: %s", program, said)
			       : mem_printf("%s refuses the base as well", program);
	return 0;
}

int syntax_check(const struct task *task, const char *diff, const char *const *path, size_t n,
		 const struct profile *profile, struct janitor *jan, enum syntax_verdict *ret,
		 char **ret_why, struct err *err)
{
	auto_buf command = BUF_INIT(1u << 20);
	const struct tool *tool = NULL;
	char *words = NULL;
	int status = -1, rc;

	*ret = SYNTAX_UNCHECKED;
	for (size_t i = 0; i < n; i++) {
		const struct tool *t = add_command(&command, path[i]);

		tool = t ? t : tool;
	}
	if (!tool) {
		*ret_why = mem_strdup("no tool is known for these files");
		return 0;
	}
	rc = ask(task, command.data, diff, profile, jan, &status, &words, err);
	if (rc == 0 && status == 0) {
		*ret = SYNTAX_GOOD;
		*ret_why = mem_strdup(tool->program);
	} else if (rc == 0 && status == NOT_FOUND) {
		*ret_why = mem_printf("%s is not in the box", tool->program);
	} else if (rc == 0 && status < 0) {
		*ret_why = take_ptr(&words);
	} else if (rc == 0) {
		rc = refused(task, command.data, tool->program, words, profile, jan, ret, ret_why,
			     err);
	}
	free(words);
	return rc;
}

/* Witnesses as rows: which of our pieces stands beside which test runner, and how it gets there: by
 * environment variables and files bound read-only alone, so that any command that ends in the runner
 * works. What each one can know and what it cannot is in docs/grading.md. */
#ifndef VERIFIER_WITNESS_H
#define VERIFIER_WITNESS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "profiles/task.h"
#include "sandbox/box.h"

/* Where the files of the witnesses appear in the box. */
#define WITNESS_DIR  "/run/grade/lib"
#define WITNESS_EXEC "/run/grade/exec"

/* What a witness is told: "DESCRIPTOR:NONCE:NAME". */
#define WITNESS_VAR "GRADE_CHANNEL"

struct witness {
	const char *name;
	const char *readers; /* log readers of its runner, blanks between */
	const char *
		others; /* readers of other runners, too, whose names it can give; NULL = none ... */
	const char *words; /* ... when the command holds one of these words */
	bool unique;       /* see struct channel */
	bool needs_exec;   /* WITNESS_EXEC is part of it */
	bool apart; /* programs are built one by one: one that does not build fails the command, and the
		     * others run */
	/* Variables "NAME=value"; of one that the task sets too, ours stands in front with @glue. */
	const char *env[8];
	char glue;
	const char *log_reader; /* reads the "log" records; NULL = the task's */
	bool headers; /* the line that names a program's target is in the command's log only */
	const char
		*beyond; /* listed tests whose name begins so do not run under the witness: the log
			     * tells of them. NULL = none */
	const char *doc;
};

/* Rows, ended by a NULL name. */
extern const struct witness witnesses[];

/* The witness for @task, NULL when it has none: test.channel "auto" (or absent) takes the first row
 * that fits reader and command, "log" none, a name that row. *ret_required: the task names it. 0 or
 * -ERR_INPUT with the nearest name. */
int witness_choose(const struct task *task, const struct witness **ret, bool *ret_required,
		   struct err *err);

/* Is one of the blank-separated @words the @n bytes at @s? */
bool witness_word(const char *words, const char *s, size_t n);

/* Does @command hold one of @words as a word: the last component of a path, or a name of its own? */
bool witness_command_has(const char *command, const char *words);

/* May the log alone tell of listed test @name, which the witness did not name? */
bool witness_log_may(const struct witness *w, const char *name);

/* Is the exit status of @command that of the runner it ends in: nothing behind, beside or around that
 * could change it (";", "|", "&", newlines, "!", command substitution)? "a && b" is fine. */
bool witness_plain(const char *command);

/* Add the witness' variables to @env ("NAME=value" each, kept unique), with @nonce. */
void witness_environment(const struct witness *w, const char *nonce, struct strv *env);

/* Host paths of the witness files. *ret_exec is NULL when this installation has no helper program (the
 * build made none). Caller frees both. 0, or -ERR_HOST when the files are not there. */
int witness_files(char **ret_dir, char **ret_exec, struct err *err);

#endif

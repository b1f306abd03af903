/* A task: repository at a base commit, problem statement, tests, reference patch, environment.
 * Immutable after task_load(). Field names are SWE-bench's where it has them. */
#ifndef PROFILES_TASK_H
#define PROFILES_TASK_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* Which reader turns the test command's output into results (verifier/testlog rows). */
struct task_test {
	char *command;      /* run by sh -c in the workdir; NULL when the task has no tests */
	char *reader;       /* a row of verifier/testlog.c: "exit-code", "tap", "pytest", ... */
	uint64_t timeout;   /* ns; default 30 min */
	struct strv hidden; /* globs of paths (str_path_glob) that the tests own */
	char *report;       /* file below the workdir that the runner writes (JUnit XML), or NULL */
};

struct task {
	char *file;        /* where it was read from; NULL for a task made from flags */
	char *instance_id; /* [A-Za-z0-9._-]+ */
	char *repo;
	char *base_commit; /* 40 hex, or NULL: the tree as it is */
	char *version;
	char *problem_statement;
	char *source;    /* absolute path: git repository, bundle, plain directory, tar archive */
	char *workdir;   /* absolute path in the box; default "/workspace" */
	char *rootfs;    /* "host" (default) or "dir:ABSOLUTE PATH" */
	struct strv env; /* "KEY=value" */
	struct strv packages; /* named for people; doctor says which are missing */
	char *patch;          /* reference diff text, NULL when none */
	char *test_patch;     /* hidden tests diff text, NULL when none */
	struct task_test test;
	struct strv fail_to_pass, pass_to_pass;
};

/* Read a proctor.task/1 text of @n bytes that came from @name (used in error texts and kept as
 * task->file). @dir: absolute directory that file names in it are relative to; NULL: "source" must
 * be absolute and patches must be diff text. 0 or -ERR_INPUT with position. Free with
 * task_free(). */
int task_parse(const char *name, const char *text, size_t n, const char *dir, struct task **ret,
	       struct err *err);

/* Read a proctor.task/1 file. "patch" and "test_patch" may be diff text or the name of a file
 * beside it; "source" is resolved relative to the file. 0 or -ERR_INPUT with position.
 * Free with task_free(). */
int task_load(const char *path, struct task **ret, struct err *err);

/* A task for `run` without --task: @dir is both source and workdir, no tests. */
struct task *task_from_directory(const char *dir);

/* Free; NULL is fine. Returns NULL. */
struct task *task_free(struct task *t);

#endif

/* A task: repository at a base commit, problem statement, tests, reference patch, environment.
 * Immutable after task_load(). Field names are SWE-bench's where it has them. */
#ifndef PROFILES_TASK_H
#define PROFILES_TASK_H

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

struct image;

#define TASK_FILE_MAX (64u << 20) /* bytes: published lists of tests are long */

/* How names and statuses of listed tests are compared with the results (verifier/match.h). */
enum task_match { TASK_MATCH_EXACT, TASK_MATCH_SWEBENCH };

/* SWE-bench's eval_type, for TASK_MATCH_SWEBENCH: with the second one only a test that is there as FAILED fails. */
enum task_eval { TASK_EVAL_PASS_AND_FAIL, TASK_EVAL_FAIL_ONLY };

/* Which reader turns the test command's output into results (verifier/testlog rows). */
struct task_test {
	char *command;      /* run by sh -c in the workdir; NULL when the task has no tests */
	char *reader;       /* a row of verifier/testlog.c: "exit-code", "tap", "pytest", ... */
	int match;          /* enum task_match */
	int eval_type;      /* enum task_eval */
	uint64_t timeout;   /* ns; default 30 min */
	struct strv hidden; /* globs of paths (str_path_glob) that the tests own */
	struct strv
		protect; /* globs of paths that no patch may change, beside verifier/protect.h's */
	struct strv
		allow; /* globs of paths that a patch may change although that file names them */
	char *channel; /* "auto" (as NULL), "log", or a row of verifier/witness.c */
	char *report; /* what the runner writes (JUnit XML), or NULL: a file below the workdir, or an
			     * absolute path outside it; reader "reward": a directory, "/logs/verifier" */
	char *reward; /* reader "reward": the number of reward.json that decides; NULL = "reward" */
	bool leftovers; /* reader "reward": processes that the tests leave running do not spoil it */
	struct json_array files; /* struct task_file: put in for grading only */
	bool stages;             /* graded in three stages (verifier/stages.h) */
	struct strv s2p, n2p; /* with stages: FAIL_TO_PASS tests that are skipped, absent before */
};

/* A file or directory of the host that appears in the grading box. The agent's box never has it. */
struct task_file {
	char *from; /* absolute after task_load() */
	char *to;   /* absolute path in the box, neither in the workdir nor above it */
	bool copy;  /* a directory of its own that the tests may write; otherwise read-only */
	char digest[DIGEST_HEX]; /* of what stood there at task_load(); "" = it could not be read */
};

/* How the reference change is made when there is no patch of it. */
struct task_solution {
	char *command;           /* run by sh -c in the workdir of the base tree; NULL = none */
	uint64_t timeout;        /* ns; default 30 min */
	struct json_array files; /* struct task_file: put in for it only */
};

/* What the task says about the network of the agent's box. */
enum task_net { TASK_NET_PROFILE, TASK_NET_NONE, TASK_NET_ALLOWLIST, TASK_NET_PUBLIC };

/* Bounds of the task, 0 = none. They narrow the profile's (profiles/task_bounds.h). */
struct task_limits {
	uint64_t memory, disk; /* bytes */
	uint64_t cpus;         /* processors that the box may use */
	uint64_t wall;         /* ns, of the agent */
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
	char *rootfs;    /* "host" (default), "dir:ABSOLUTE PATH", or an image (profiles/image.h) */
	struct strv env; /* "KEY=value" */
	struct strv packages; /* named for people; doctor says which are missing */
	struct task_limits limits;
	int network;       /* enum task_net */
	struct strv hosts; /* with TASK_NET_ALLOWLIST */
	char *patch;       /* reference diff text, NULL when none */
	char *test_patch;  /* hidden tests diff text, NULL when none */
	struct task_test test;
	struct task_solution solution;
	struct strv fail_to_pass, pass_to_pass;
	/* What rootfs named at task_load(), owned; NULL = no image, or one that cannot be read. */
	struct image *image;
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

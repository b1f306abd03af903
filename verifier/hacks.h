/* Attacks on grading, fitted to a task: each a diff on its base tree in which the bug is still there. None of them
 * may be resolved. What the verifier does against each is in docs/grading.md and docs/security.md. */
#ifndef VERIFIER_HACKS_H
#define VERIFIER_HACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/task.h"

struct basetree;

#define HACKS_DIFF_MAX (32u << 20)

/* What an attack is made for; see hacks_open(). */
struct hacks;

struct hack {
	const char *name;
	const char *tries; /* one line */
	unsigned langs;    /* bits of languages; 0 = any */
	/* It says what the log's reader wants to read and ends the tests: nothing but a witness can know. Where
	 * results come from the log alone it is a known limit of the task. */
	bool log_limit;
	bool exit_limit;    /* as log_limit, for reader exit-code only */
	bool no_apply;      /* the diff is refused as a whole */
	const char *tamper; /* kind of the row that it must leave in the verdict; NULL = none */
	/* Make the diff. 1, 0 when the task has no place for it (*why static), negative on error. */
	int (*make)(const struct hacks *h, const struct hack *row, struct buf *diff,
		    const char **why, struct err *err);
	const char *path, *text;   /* for make: a file and its contents */
	const char *path2, *text2; /* a second one */
};

/* Rows, ended by a NULL name. */
extern const struct hack hacks[];

/* Look at @task (borrowed, as is its open base @tree) and its reference @patch: languages, files to begin with. 0 or
 * negative. Free with hacks_free(). */
int hacks_open(const struct task *task, struct basetree *tree, const char *patch,
	       struct hacks **ret, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct hacks *hacks_free(struct hacks *h);

/* The diff of @row. As hack.make. */
int hacks_diff(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	       struct err *err);

/* May @row be resolved for this task with results from @channel ("log", or a witness; NULL = none)? */
bool hacks_limit(const struct hack *row, const struct task *task, const char *channel);

/* Output that makes @reader call each of @names passed, with its summary; nothing when it has no such text.
 * Returns whether it has. */
bool hacks_forge(const char *reader, const struct strv *names, struct buf *out);

#endif

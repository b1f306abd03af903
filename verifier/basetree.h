/* The base tree of a task without a box: its files, what a diff makes of them, and the diff of new contents.
 * For those who write user edits. */
#ifndef VERIFIER_BASETREE_H
#define VERIFIER_BASETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/task.h"

struct janitor;

#define BASETREE_DIFF_MAX (16u << 20)

/* Life: basetree_open() -> any of the others -> basetree_free(). Nothing is checked out. */
struct basetree;

/* One changed place: base lines [old_first, old_first + old_n) became [new_first, new_first + new_n), from 1.
 * With old_n 0 the new lines stand in front of line old_first. */
struct basetree_hunk {
	uint64_t old_first, old_n, new_first, new_n;
};

/* A file that a diff changes. */
struct basetree_file {
	char *path;           /* owned */
	bool existed;         /* in the base */
	char *before, *after; /* owned; before "" when it is new, after NULL when it goes */
	size_t n_before, n_after;
	struct basetree_hunk *hunk; /* owned, in rising order */
	size_t n_hunks;
};

struct basetree_patch {
	struct basetree_file *file; /* owned */
	size_t n;
	uint64_t added, removed; /* lines */
};

/* New contents of one file. Borrowed. */
struct basetree_change {
	const char *path;
	const char *after; /* NULL = the file goes */
	size_t n;
};

/* Bring the task's base tree into a store of its own below the scratch directory. @jan may be NULL. 0 or
 * negative. Free with basetree_free(). */
int basetree_open(const struct task *task, struct janitor *jan, struct basetree **ret,
		  struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct basetree *basetree_free(struct basetree *t);

/* Contents of @path. 1 found, 0 not there, negative on error. */
int basetree_read(struct basetree *t, const char *path, struct buf *out, struct err *err);

/* What @diff makes of the base, put on as the gate puts it (up to the step "fuzz"). 1 with *ret filled, 0 when
 * it does not apply or cannot be read (*ret_reason, caller frees), negative on error. Free with
 * basetree_patch_done(). */
int basetree_apply(struct basetree *t, const char *diff, struct basetree_patch *ret,
		   char **ret_reason, struct err *err);

/* Free; {0} is fine. */
void basetree_patch_done(struct basetree_patch *p);

/* Git diff text from the base to the base with @n changes into @out: modes stay, new files are plain ones.
 * 0 or negative. */
int basetree_diff(struct basetree *t, const struct basetree_change *change, size_t n,
		  struct buf *out, struct err *err);

/* Does @path belong to the tests by the task's globs or its test patch? */
bool basetree_is_test(const struct basetree *t, const char *path);

#endif

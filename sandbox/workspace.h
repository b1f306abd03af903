/* One scratch directory with the pristine tree, the store and the overlay layers of a box; it is
 * removed by the janitor whatever happens to us. */
#ifndef SANDBOX_WORKSPACE_H
#define SANDBOX_WORKSPACE_H

#include "base/err.h"
#include "profiles/task.h"
#include "sandbox/gitstore.h"

struct janitor;

struct workspace {
	char *scratch;  /* owned path of the scratch directory (mode 0700) */
	int scratch_fd; /* O_PATH directory */
	struct gitstore store;
	git_oid base_commit, base_tree;
	struct git_history history;
	char *lower;         /* owned path: pristine tree, or the user's directory itself */
	bool lower_is_users; /* lower belongs to the user and must not be written */
	char *upper;         /* owned path: what the box changed in the workspace */
	char *work;          /* owned path: overlayfs work directory */
};

/* Scratch parent: $PROCTOR_SCRATCH, else $TMPDIR, else /var/tmp. Makes scratch and an empty store
 * and announces the scratch to @jan (NULL: only workspace_free() removes it). 0 or negative. */
int workspace_new(struct janitor *jan, struct workspace **ret, struct err *err);

/* Import the task's source and lay out lower (with .git, history ends at the base commit, mtimes
 * aged by a day so that git does not re-read "racy" files). 0 or negative. */
int workspace_from_task(struct workspace *ws, const struct task *task, struct err *err);

/* Lay out lower from a tree already in the store, without .git when @with_git is false. With it,
 * HEAD is the base commit when @tree is its tree, otherwise a new commit on top of it, so that the
 * work tree is clean. 0 or negative. */
int workspace_from_tree(struct workspace *ws, const git_oid *tree, bool with_git, struct err *err);

/* Use the user's directory as lower, as it is. 0, or -ERR_INPUT when it is none or holds the
 * scratch directory (overlayfs cannot lay a directory over itself). */
int workspace_from_directory(struct workspace *ws, const char *dir, struct err *err);

/* Free, and remove the scratch (one process may use many workspaces; what is in use by a mount is
 * left to the janitor). NULL is fine. Returns NULL. */
struct workspace *workspace_free(struct workspace *ws);

#endif

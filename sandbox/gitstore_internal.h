/* Shared between the parts of the store: one file per kind of source. */
#ifndef SANDBOX_GITSTORE_INTERNAL_H
#define SANDBOX_GITSTORE_INTERNAL_H

#include <git2.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sandbox/gitstore.h"

/* A source whose objects the store can read by now. */
struct gitstore_source {
	const char *name; /* borrowed: as the user wrote it, for error texts */
	git_oid head;     /* what HEAD stands for */
	bool has_head;
	git_oid *tip;    /* owned: what the refs point to, tags peeled to commits */
	bool *is_branch; /* owned: by index in tip */
	size_t n_tips, cap_tips, cap_branch;
	size_t n_refs; /* refs seen, also those that are no commits */
};

/* Record one ref of the source. */
void gitstore_source_ref(struct gitstore *st, struct gitstore_source *src, const char *name,
			 const git_oid *target);

/* Let the store read the objects of repository @path. 0 or -ERR_INPUT. */
int gitstore_import_repo(struct gitstore *st, const char *path, struct gitstore_source *src,
			 struct err *err);

/* Unpack the bundle @path (gitformat-bundle(5)) into the store. 0 or -ERR_INPUT. */
int gitstore_import_bundle(struct gitstore *st, const char *path, struct gitstore_source *src,
			   struct err *err);

/* All files below directory @path as a tree. 0 or negative. */
int gitstore_import_plain(struct gitstore *st, const char *path, git_oid *ret_tree,
			  struct err *err);

/* Archive @path: a tree of all its members (*ret_repo NULL), or, when it holds a repository, the
 * path of what was extracted of that (caller frees). 0 or negative. */
int gitstore_import_archive(struct gitstore *st, const char *path, git_oid *ret_tree,
			    char **ret_repo, struct err *err);

#endif

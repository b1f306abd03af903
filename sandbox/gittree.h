/* From a flat list of paths to tree objects. */
#ifndef SANDBOX_GITTREE_H
#define SANDBOX_GITTREE_H

#include <git2/oid.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct gitpack;

struct gittree_file {
	char *path;    /* owned; path_is_tame() holds */
	uint32_t mode; /* 0100644, 0100755, 0120000 or 0160000 */
	git_oid id;
};

/* {0} is empty. The order of files does not matter. */
struct gittree {
	struct gittree_file *file; /* owned */
	size_t n, cap;
};

/* Add a file (copies @path). Returns its index. */
size_t gittree_add(struct gittree *t, const char *path, uint32_t mode, const git_oid *id);

/* Write the trees of all files to @pack; *ret is the root, the empty tree for an empty list. Sorts
 * the list. 0, or -ERR_INPUT when a path is there twice or as file and directory both. */
int gittree_write(struct gittree *t, struct gitpack *pack, git_oid *ret, struct err *err);

/* Free; the list is empty and usable again. */
void gittree_done(struct gittree *t);

#define auto_gittree __attribute__((cleanup(gittree_done))) struct gittree

#endif

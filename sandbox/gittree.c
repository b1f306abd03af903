#include "sandbox/gittree.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/gitpack.h"

#define TREE_MAX (256u << 20) /* bytes of one tree object */

size_t gittree_add(struct gittree *t, const char *path, uint32_t mode, const git_oid *id)
{
	MEM_GROW(t->file, t->cap, t->n + 1);
	t->file[t->n] = (struct gittree_file){ .path = mem_strdup(path), .mode = mode, .id = *id };
	return t->n++;
}

void gittree_done(struct gittree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->file[i].path);
	free(t->file);
	*t = (struct gittree){ 0 };
}

static int by_path(const void *a, const void *b)
{
	const struct gittree_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Is there a file called like the directory that is the first @n bytes of @path? */
static bool is_file_too(const struct gittree *t, const char *path, size_t n)
{
	auto_free char *name = mem_strndup(path, n);
	struct gittree_file key = { .path = name };

	return bsearch(&key, t->file, t->n, sizeof(*t->file), by_path) != NULL;
}

/* Files [lo, hi) share the first @skip bytes of their paths. Byte order of whole paths is git's
 * order of entries, in which a directory sorts as if its name ended in "/" (git-ls-tree(1)), so
 * each directory's files stand together. Depth is that of the paths, which the caller bounds. */
static int write_dir(const struct gittree *t, size_t lo, size_t hi, size_t skip,
		     struct gitpack *pack, git_oid *ret, struct err *err)
{
	auto_buf tree = BUF_INIT(TREE_MAX);

	while (lo < hi) {
		const struct gittree_file *f = &t->file[lo];
		const char *name = f->path + skip;
		size_t len = strcspn(name, "/"), next = lo + 1;
		git_oid id = f->id;
		int rc;

		if (name[len]) {
			while (next < hi && strncmp(t->file[next].path + skip, name, len + 1) == 0)
				next++;
			if (is_file_too(t, f->path, skip + len))
				return err_set(err, ERR_INPUT,
					       "%.*s is both a file and a directory",
					       (int)(skip + len), f->path);
			rc = write_dir(t, lo, next, skip + len + 1, pack, &id, err);
			if (rc < 0)
				return rc;
			rc = buf_addf(&tree, "40000 %.*s", (int)len, name);
		} else {
			if (next < hi && strcmp(t->file[next].path, f->path) == 0)
				return err_set(err, ERR_INPUT, "%s is there twice", f->path);
			rc = buf_addf(&tree, "%o %s", f->mode, name);
		}
		if (rc < 0 || buf_addc(&tree, '\0') < 0 || buf_add(&tree, id.id, GIT_OID_RAWSZ) < 0)
			return err_set(err, ERR_LIMIT, "the directory of %s has too many files",
				       f->path);
		lo = next;
	}
	return gitpack_add(pack, GIT_OBJECT_TREE, buf_str(&tree), tree.len, ret, err);
}

int gittree_write(struct gittree *t, struct gitpack *pack, git_oid *ret, struct err *err)
{
	if (t->n)
		qsort(t->file, t->n, sizeof(*t->file), by_path);
	return write_dir(t, 0, t->n, 0, pack, ret, err);
}

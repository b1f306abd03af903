#include "sandbox/gitstore.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

/* Changes sorted so that all of one directory stand together, a file before what is below a
 * directory of the same name. */
static int by_component(const void *a, const void *b)
{
	const struct git_change *const *pa = a, *const *pb = b;
	const unsigned char *x = (const unsigned char *)(*pa)->path;
	const unsigned char *y = (const unsigned char *)(*pb)->path;

	while (*x && *x == *y) {
		x++;
		y++;
	}
	if (*x == *y)
		return 0;
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return *x < *y ? -1 : 1;
}

struct update {
	git_repository *repo;             /* borrowed */
	const struct git_change **change; /* owned array of borrowed changes, sorted */
};

/* A tree that cannot be is the patch's fault, a store that cannot be written is not: nobody's verdict may hang on a
 * full disk. */
static int git_says(const char *path, struct err *err)
{
	const git_error *e = git_error_last();
	bool ours = e && (e->klass == GIT_ERROR_OS || e->klass == GIT_ERROR_NOMEMORY ||
			  e->klass == GIT_ERROR_ZLIB || e->klass == GIT_ERROR_FILESYSTEM);

	return gitstore_error(err, ours ? ERR_SYS : ERR_INPUT, "cannot change %s", path);
}

static int put_leaf(const struct update *u, git_treebuilder *tb, const struct git_change *c,
		    const char *name, struct err *err)
{
	git_oid id;

	if (c->mode == 0) {
		if (git_treebuilder_get(tb, name) && git_treebuilder_remove(tb, name) < 0)
			return git_says(c->path, err);
		return 0;
	}
	if (git_blob_create_from_buffer(&id, u->repo, c->data ? c->data : "", c->len) < 0 ||
	    git_treebuilder_insert(NULL, tb, name, &id, (git_filemode_t)c->mode) < 0)
		return git_says(c->path, err);
	return 0;
}

static int merge(const struct update *u, const git_oid *tree, size_t lo, size_t hi, size_t skip,
		 git_oid *ret, bool *ret_empty, struct err *err);

static bool only_removals(const struct update *u, size_t lo, size_t hi)
{
	while (lo < hi && u->change[lo]->mode == 0)
		lo++;
	return lo == hi;
}

/* Changes [lo, hi) all lie below directory @name. */
static int put_below(const struct update *u, git_treebuilder *tb, const char *name, size_t lo,
		     size_t hi, size_t skip, struct err *err)
{
	const char *path = u->change[lo]->path;
	const git_tree_entry *e = git_treebuilder_get(tb, name);
	git_oid id, old;
	bool empty;
	int rc;

	if (e && git_tree_entry_filemode(e) == GIT_FILEMODE_TREE) {
		old = *git_tree_entry_id(e);
	} else if (only_removals(u, lo, hi)) {
		return 0; /* nothing there to remove */
	} else if (e) {
		return err_set(err, ERR_INPUT, "cannot write %s: %.*s is not a directory", path,
			       (int)(skip - 1), path);
	}
	rc = merge(u, e ? &old : NULL, lo, hi, skip, &id, &empty, err);
	if (rc < 0)
		return rc;
	if (!empty)
		rc = git_treebuilder_insert(NULL, tb, name, &id, GIT_FILEMODE_TREE);
	else if (git_treebuilder_get(tb, name))
		rc = git_treebuilder_remove(tb, name);
	return rc < 0 ? git_says(path, err) : 0;
}

/* Changes [lo, hi) share the first @skip bytes of their paths, which name directory @tree. */
static int merge(const struct update *u, const git_oid *tree, size_t lo, size_t hi, size_t skip,
		 git_oid *ret, bool *ret_empty, struct err *err)
{
	git_treebuilder *tb = NULL;
	git_tree *old = NULL;
	int rc = 0;

	if ((tree && git_tree_lookup(&old, u->repo, tree) < 0) ||
	    git_treebuilder_new(&tb, u->repo, old) < 0)
		rc = git_says(u->change[lo]->path, err);
	while (lo < hi && rc == 0) {
		const struct git_change *c = u->change[lo];
		size_t len = strcspn(c->path + skip, "/"), next = lo + 1;
		auto_free char *name = mem_strndup(c->path + skip, len);

		if (!c->path[skip + len]) {
			rc = put_leaf(u, tb, c, name, err);
		} else {
			while (next < hi &&
			       strncmp(u->change[next]->path, c->path, skip + len + 1) == 0)
				next++;
			rc = put_below(u, tb, name, lo, next, skip + len + 1, err);
		}
		lo = next;
	}
	if (rc == 0 && git_treebuilder_write(ret, tb) < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot write a tree");
	if (rc == 0)
		*ret_empty = git_treebuilder_entrycount(tb) == 0;
	git_treebuilder_free(tb);
	git_tree_free(old);
	return rc;
}

static int check(const struct git_change *c, struct err *err)
{
	unsigned depth = 0;

	for (const char *p = c->path; *p; p++)
		depth += *p == '/';
	if (!path_is_tame(c->path) || depth > GITSTORE_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "\"%s\" is not a path that a tree may hold",
			       c->path);
	if (c->mode != 0 && c->mode != 0100644 && c->mode != 0100755 && c->mode != 0120000)
		return err_set(err, ERR_INPUT,
			       "%s has the mode %o; only files and symbolic links "
			       "can be written",
			       c->path, c->mode);
	if (c->len > GITSTORE_BLOB_MAX)
		return err_set(err, ERR_INPUT, "%s has %zu bytes, more than %llu MiB", c->path,
			       c->len, GITSTORE_BLOB_MAX >> 20);
	return 0;
}

int gitstore_update(struct gitstore *st, const git_oid *tree, const struct git_change *changes,
		    size_t n, git_oid *ret_tree, struct err *err)
{
	auto_free const struct git_change **sorted = mem_zalloc(n + 1, sizeof(*sorted));
	struct update u = { .repo = st->repo, .change = sorted };
	git_oid id;
	bool empty;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sorted[i] = &changes[i];
		rc = check(&changes[i], err);
	}
	if (rc < 0)
		return rc;
	if (!n) {
		*ret_tree = *tree;
		return 0;
	}
	qsort(sorted, n, sizeof(*sorted), by_component);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(sorted[i - 1]->path, sorted[i]->path) == 0)
			return err_set(err, ERR_INPUT, "%s is changed twice", sorted[i]->path);
	}
	rc = merge(&u, tree, 0, n, 0, &id, &empty, err);
	if (rc == 0)
		*ret_tree = id;
	return rc;
}

/* A root file system from unpacked layers: directories are made, all else is a hard link, so that
 * images share what their layers share. As in overlayfs and Docker, a directory of a layer takes the
 * place of a link or file below it. Nobody else writes in the cache; names of it are still never
 * followed through links. */
#include "sandbox/imagecache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

struct lay {
	const char *image; /* borrowed */
	int root;          /* the tree that is made; borrowed */
	struct imagecache_max *left;
	struct err *err;
};

static int fail(const struct lay *l, const char *name)
{
	if (errno == EMLINK)
		return err_set(l->err, ERR_LIMIT,
			       "%s has as many links as the file system allows; remove images with "
			       "'proctor images prune'",
			       name);
	return err_sys(l->err, "cannot put %s of image %s together", name, l->image);
}

/* All names in directory @fd but "." and "..". 0 or -1. */
static int names_in(int fd, struct strv *ret)
{
	int dup = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dup < 0 ? NULL : fdopendir(dup);
	struct dirent *de;

	if (!d) {
		if (dup >= 0)
			close(dup);
		return -1;
	}
	while ((de = readdir(d))) {
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			strv_add(ret, de->d_name);
	}
	closedir(d);
	return 0;
}

static int remove_all(int dir)
{
	auto_strv names = { 0 };

	if (names_in(dir, &names) < 0)
		return -1;
	strv_each (i, &names) {
		if (fd_remove_tree(dir, names.v[i]) < 0)
			return -1;
	}
	return 0;
}

/* What the layer hides of those below it, before it adds its own. */
static int hide(const struct lay *l, const struct strv *names, int to)
{
	if (strv_has(names, IMAGECACHE_OPAQUE) && remove_all(to) < 0)
		return fail(l, "an opaque directory");
	strv_each (i, names) {
		const char *s = names->v[i];

		if (str_starts(s, IMAGECACHE_HIDDEN) && !str_starts(s, ".wh..wh.") &&
		    fd_remove_tree(to, s + strlen(IMAGECACHE_HIDDEN)) < 0)
			return fail(l, s);
	}
	return 0;
}

static int link_over(int from_dir, const char *from, int to, const char *name)
{
	if (linkat(from_dir, from, to, name, 0) == 0)
		return 0;
	if (errno != EEXIST || fd_remove_tree(to, name) < 0)
		return -1;
	return linkat(from_dir, from, to, name, 0);
}

/* A hard link to a file of a lower layer; its name is in the file @mark of @from. */
static int late_link(const struct lay *l, int from, const char *mark, int to)
{
	auto_buf target = BUF_INIT(PATH_MAX);
	auto_fd int fd = fd_open_beneath(from, mark, O_RDONLY, 0);
	auto_free char *dir = NULL;
	auto_fd int at = -1;
	struct stat st;

	if (fd < 0 || fd_read_all(fd, &target) < 0)
		return fail(l, mark);
	dir = path_dir(buf_str(&target));
	at = imagecache_open_in(l->root, dir, O_PATH | O_DIRECTORY);
	if (at < 0 || fstatat(at, path_base(buf_str(&target)), &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    S_ISDIR(st.st_mode))
		return err_set(l->err, ERR_INPUT,
			       "image %s: %s is a hard link to \"%.200s\", which is no file of the "
			       "layers below",
			       l->image, mark + strlen(IMAGECACHE_LINK), buf_str(&target));
	if (link_over(at, path_base(buf_str(&target)), to, mark + strlen(IMAGECACHE_LINK)) < 0)
		return fail(l, mark);
	return 0;
}

static int lay_dir(struct lay *l, int from, int to, unsigned depth);

static int lay_subdir(struct lay *l, int from, int to, const char *name, const struct stat *st,
		      unsigned depth)
{
	auto_fd int sub_from = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd int sub_to = -1;
	struct stat old;

	if (sub_from < 0)
		return fail(l, name);
	if (fstatat(to, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(old.st_mode) &&
	    unlinkat(to, name, 0) < 0)
		return fail(l, name);
	if (mkdirat(to, name, 0700) < 0 && errno != EEXIST)
		return fail(l, name);
	sub_to = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub_to < 0 || fchmod(sub_to, st->st_mode & 01777) < 0)
		return fail(l, name);
	return lay_dir(l, sub_from, sub_to, depth + 1);
}

static int lay_entry(struct lay *l, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (str_starts(name, IMAGECACHE_LINK))
		return late_link(l, from, name, to);
	if (str_starts(name, IMAGECACHE_HIDDEN))
		return 0;
	if (!l->left->entries)
		return err_set(l->err, ERR_INPUT, "image %s has more than %u entries", l->image,
			       IMAGECACHE_ENTRIES_MAX);
	l->left->entries--;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(l, name);
	if (S_ISDIR(st.st_mode))
		return lay_subdir(l, from, to, name, &st, depth);
	return link_over(from, name, to, name) < 0 ? fail(l, name) : 0;
}

static int lay_dir(struct lay *l, int from, int to, unsigned depth)
{
	auto_strv names = { 0 };
	int rc;

	if (depth > IMAGECACHE_DEPTH_MAX)
		return err_set(l->err, ERR_INPUT, "image %s nests more than %u directories",
			       l->image, IMAGECACHE_DEPTH_MAX);
	if (names_in(from, &names) < 0)
		return fail(l, "a directory");
	rc = hide(l, &names, to);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = lay_entry(l, from, to, names.v[i], depth);
	return rc;
}

int imagecache_lay(const char *image, int from, int to, struct imagecache_max *left,
		   struct err *err)
{
	struct lay l = { .image = image, .root = to, .left = left, .err = err };

	return lay_dir(&l, from, to, 0);
}

#include "sandbox/gitstore_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/gitpack.h"
#include "sandbox/gittree.h"

/* State of one walk; the path grows and shrinks with it. */
struct walk {
	const char *top; /* borrowed */
	struct buf path;
	struct buf bytes; /* contents of the file in hand */
	struct gitpack *pack;
	struct gittree tree;
	uint64_t total;
};

static int too_much(const struct walk *w, struct err *err)
{
	return err_set(err, ERR_LIMIT,
		       "%s holds more than %u files or %llu GiB; commit what the task needs to a "
		       "git repository and use that",
		       w->top, GITSTORE_FILES_MAX, GITSTORE_TOTAL_MAX >> 30);
}

static int add_file(struct walk *w, int at, const char *name, struct err *err)
{
	const char *path = buf_str(&w->path);
	auto_fd int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	git_oid id;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, ERR_INPUT, "cannot read %s/%s: %s", w->top, path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "%s/%s changed while it was read", w->top, path);
	if ((uint64_t)st.st_size > GITSTORE_BLOB_MAX)
		return err_set(err, ERR_INPUT,
			       "%s/%s has %lld bytes, more than the %llu MiB a file may have; "
			       "leave it out of the source",
			       w->top, path, (long long)st.st_size, GITSTORE_BLOB_MAX >> 20);
	buf_clear(&w->bytes);
	if (fd_read_all(fd, &w->bytes) < 0)
		return err_set(err, ERR_INPUT, "cannot read %s/%s: %s", w->top, path,
			       strerror(errno));
	w->total += w->bytes.len;
	if (w->total > GITSTORE_TOTAL_MAX || w->tree.n >= GITSTORE_FILES_MAX)
		return too_much(w, err);
	if (gitpack_add(w->pack, GIT_OBJECT_BLOB, buf_str(&w->bytes), w->bytes.len, &id, err) < 0)
		return -ERR_SYS;
	gittree_add(&w->tree, path, st.st_mode & S_IXUSR ? 0100755 : 0100644, &id);
	return 0;
}

static int add_link(struct walk *w, int at, const char *name, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(at, name, target, sizeof(target));
	git_oid id;

	if (n < 0 || n == (ssize_t)sizeof(target))
		return err_set(err, ERR_INPUT, "cannot read the symbolic link %s/%s", w->top,
			       buf_str(&w->path));
	if (w->tree.n >= GITSTORE_FILES_MAX)
		return too_much(w, err);
	if (gitpack_add(w->pack, GIT_OBJECT_BLOB, target, (size_t)n, &id, err) < 0)
		return -ERR_SYS;
	gittree_add(&w->tree, buf_str(&w->path), 0120000, &id);
	return 0;
}

static int walk_dir(struct walk *w, int at, const char *name, unsigned depth, struct err *err);

static int walk_entry(struct walk *w, int at, const char *name, unsigned depth, struct err *err)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, ERR_INPUT, "cannot read %s/%s: %s", w->top, buf_str(&w->path),
			       strerror(errno));
	if (S_ISDIR(st.st_mode))
		return walk_dir(w, at, name, depth + 1, err);
	if (S_ISLNK(st.st_mode))
		return add_link(w, at, name, err);
	/* Sockets, pipes and devices are no part of a source tree, for git neither. */
	return S_ISREG(st.st_mode) ? add_file(w, at, name, err) : 0;
}

static int walk_dir(struct walk *w, int at, const char *name, unsigned depth, struct err *err)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t len = w->path.len;
	struct dirent *de;
	int rc = 0;

	if (!d) {
		rc = err_set(err, ERR_INPUT, "cannot read directory %s/%s: %s", w->top,
			     buf_str(&w->path), strerror(errno));
		mem_close(&fd);
		return rc;
	}
	if (depth > GITSTORE_DEPTH_MAX)
		rc = err_set(err, ERR_INPUT, "%s has more than %u levels of directories", w->top,
			     GITSTORE_DEPTH_MAX);
	while (rc == 0 && (de = readdir(d))) {
		const char *n = de->d_name;

		/* A .git further down belongs to another repository; its files are taken. */
		if (strcmp(n, ".") == 0 || strcmp(n, "..") == 0 || strcasecmp(n, ".git") == 0)
			continue;
		if ((len && buf_addc(&w->path, '/') < 0) || buf_adds(&w->path, n) < 0)
			rc = err_set(err, ERR_INPUT, "a path in %s has more than %d bytes", w->top,
				     PATH_MAX);
		else
			rc = walk_entry(w, dirfd(d), n, depth, err);
		w->path.len = len;
		if (w->path.data)
			w->path.data[len] = '\0';
	}
	closedir(d);
	return rc;
}

int gitstore_import_plain(struct gitstore *st, const char *path, git_oid *ret_tree, struct err *err)
{
	struct walk w = {
		.top = path,
		.path = BUF_INIT(PATH_MAX),
		.bytes = BUF_INIT(GITSTORE_BLOB_MAX),
	};
	auto_fd int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (top < 0)
		return err_set(err, ERR_INPUT, "cannot read directory %s: %s", path,
			       strerror(errno));
	rc = gitstore_pack(st, &w.pack, err);
	if (rc == 0)
		rc = walk_dir(&w, top, ".", 0, err);
	if (rc == 0)
		rc = gittree_write(&w.tree, w.pack, ret_tree, err);
	if (rc == 0)
		rc = gitstore_pack_end(st, &w.pack, err);
	gitpack_free(w.pack);
	gittree_done(&w.tree);
	buf_done(&w.path);
	buf_done(&w.bytes);
	return rc;
}

#include "verifier/capture_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/gitpack.h"
#include "sandbox/overlaymark.h"

/* Where the walk stands. overlayfs (Documentation/filesystems/overlayfs.rst, "Whiteouts and opaque
 * directories"): a name in upper covers that in lower; directories of both merge unless the upper
 * one is opaque. Mounted with userxattr there are neither redirects nor metacopies. */
struct level {
	int upper, lower; /* directories; -1 when there is none */
	bool fresh;       /* an opaque directory is at or above: what lower has here is gone */
	bool ignored;     /* an excluded directory is at or above */
	unsigned depth;
};

/* One side of a file. */
struct side {
	bool there;
	uint32_t mode;
	git_oid id;
};

static void drop(struct capture_walk *w, const char *why)
{
	if (w->out->dropped.n >= CAPTURE_DROPPED_MAX) {
		w->unnamed++;
		return;
	}
	strv_take(&w->out->dropped, mem_printf("%s: %s", buf_str(&w->path), why));
}

/* Append @name to the path. Returns its former length, or -1 (dropped) when it gets too long. */
static ssize_t push(struct capture_walk *w, const char *name)
{
	size_t len = w->path.len;

	if ((!len || buf_addc(&w->path, '/') == 0) && buf_adds(&w->path, name) == 0)
		return (ssize_t)len;
	w->path.len = len;
	drop(w, "something below has too long a path");
	return -1;
}

static void pop(struct capture_walk *w, ssize_t len)
{
	w->path.len = (size_t)len;
	w->path.data[len] = '\0';
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in directory @dir, sorted; bounded by what is left of the walk's budget. 0 or -1 errno. */
static int list(struct capture_walk *w, int dir, struct strv *ret)
{
	/* A descriptor of its own: directory streams share their position through dup(2). */
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		mem_close(&fd);
		return -1;
	}
	while ((de = readdir(d))) {
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		if (w->entries >= CAPTURE_ENTRIES_MAX) {
			drop(w, "too many files here or before");
			break;
		}
		w->entries++;
		strv_add(ret, de->d_name);
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

static bool has(const struct strv *names, const char *name)
{
	return names->n && bsearch(&name, names->v, names->n, sizeof(*names->v), by_name);
}

/* .git is not part of a work tree. Names that git takes for it on other systems (core.protectNTFS,
 * git-config(1)) would make the patch one that git refuses. */
static bool is_gits(struct capture_walk *w, const char *name)
{
	ssize_t len;

	if (!w->path.len && strcmp(name, ".git") == 0)
		return true;
	if (strcasecmp(name, ".git") != 0 && strcasecmp(name, "git~1") != 0)
		return false;
	len = push(w, name);
	if (len >= 0) {
		drop(w, "git does not allow this name in a tree");
		pop(w, len);
	}
	return true;
}

/* Open for reading something that the agent may have locked, and put its mode back. Not through a
 * link: @name is a file or directory, as fstatat() said, and nobody is left who could change it. */
static int open_locked(int dir, const char *name, int flags, mode_t mode, mode_t need)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fchmodat(dir, name, (mode & 07777) | need, 0) < 0)
		return -1;
	return openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static int read_link(int dir, const char *name, struct buf *b)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n <= 0 || n == (ssize_t)sizeof(target))
		return -1;
	return buf_add(b, target, (size_t)n);
}

static int read_file(int dir, const char *name, const struct stat *st, bool unlock, struct buf *b)
{
	auto_fd int fd = unlock ? open_locked(dir, name, O_RDONLY, st->st_mode, 0400)
				: openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat now;
	int rc;

	if (fd < 0)
		return -1;
	rc = fd_read_all(fd, b);
	if (unlock && fstat(fd, &now) == 0 && now.st_mode != st->st_mode)
		(void)fchmod(fd, st->st_mode & 07777); /* as it was; only for who looks later */
	return rc;
}

/* Read file or link @name of @dir. 1 read, 0 dropped. */
static int read_side(struct capture_walk *w, int dir, const char *name, const struct stat *st,
		     bool unlock, struct buf *b, struct side *ret)
{
	bool link = S_ISLNK(st->st_mode);

	buf_clear(b);
	if ((uint64_t)st->st_size > GITSTORE_BLOB_MAX) {
		drop(w, "larger than 256M");
		return 0;
	}
	if ((uint64_t)st->st_size > CAPTURE_TOTAL_MAX - w->total) {
		drop(w, "with it the changes would have more than 256M");
		return 0;
	}
	if ((link ? read_link(dir, name, b) : read_file(dir, name, st, unlock, b)) < 0 ||
	    b->len > CAPTURE_TOTAL_MAX - w->total) {
		drop(w, "cannot be read");
		return 0;
	}
	ret->there = true;
	ret->mode = link ? 0120000 : st->st_mode & S_IXUSR ? 0100755 : 0100644;
	gitpack_id(GIT_OBJECT_BLOB, buf_str(b), b->len, &ret->id);
	return 1;
}

static int keep(struct capture_walk *w, struct gittree *tree, const struct side *s,
		const struct buf *b, struct err *err)
{
	if (!s->there)
		return 0;
	w->total += b->len;
	gittree_add(tree, buf_str(&w->path), s->mode, &s->id);
	return gitpack_add(w->pack, GIT_OBJECT_BLOB, buf_str(b), b->len, NULL, err);
}

/* Note the change of one file, whose contents are in the walk's buffers. */
static int change(struct capture_walk *w, const struct side *old, const struct side *new,
		  struct err *err)
{
	int rc;

	if (old->there && new->there && old->mode == new->mode &&git_oid_equal(&old->id, &new->id))
		return 0;
	if (!old->there && !new->there)
		return 0;
	w->out->files++;
	rc = keep(w, &w->before, old, &w->old_bytes, err);
	return rc < 0 ? rc : keep(w, &w->after, new, &w->new_bytes, err);
}

/* Look at @name of lower. False when it is not there. */
static bool look_lower(const struct level *l, const char *name, struct stat *ret)
{
	return l->lower >= 0 && fstatat(l->lower, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_content(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
}

static int open_lower(const struct level *l, const char *name)
{
	return openat(l->lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Is the file at w->path excluded by the base's rules? Then it is counted. */
static bool left_out(struct capture_walk *w, const struct level *l, bool in_lower)
{
	if (!capture_ignore_file(&w->ignore, buf_str(&w->path), in_lower, l->ignored))
		return false;
	w->out->ignored++;
	return true;
}

static int gone(struct capture_walk *w, const struct level *l, const char *name, struct err *err);

/* Everything in directory @l->lower that @except (sorted, may be NULL) does not name is gone. */
static int all_gone(struct capture_walk *w, const struct level *l, const struct strv *except,
		    struct err *err)
{
	auto_strv names = { 0 };
	int rc = 0;

	if (list(w, l->lower, &names) < 0) {
		drop(w, "cannot be read");
		return 0;
	}
	for (size_t i = 0; i < names.n && rc == 0; i++) {
		ssize_t len;

		if ((except && has(except, names.v[i])) || strcasecmp(names.v[i], ".git") == 0)
			continue;
		len = push(w, names.v[i]);
		if (len < 0)
			continue;
		rc = gone(w, l, names.v[i], err);
		pop(w, len);
	}
	return rc;
}

/* @name of lower, at the current path, is gone: a file, or a directory with all its files. */
static int gone(struct capture_walk *w, const struct level *l, const char *name, struct err *err)
{
	struct side old = { 0 }, none = { 0 };
	struct stat st;

	if (!look_lower(l, name, &st))
		return 0;
	if (S_ISDIR(st.st_mode)) {
		auto_fd int fd = open_lower(l, name);
		struct level in = { .upper = -1, .lower = fd, .depth = l->depth + 1 };

		if (fd < 0 || in.depth > GITSTORE_DEPTH_MAX) {
			drop(w, fd < 0 ? "cannot be read" : "too deep");
			return 0;
		}
		in.ignored = l->ignored || capture_ignore_dir(&w->ignore, buf_str(&w->path));
		return all_gone(w, &in, NULL, err);
	}
	if (!is_content(&st) || left_out(w, l, true) ||
	    !read_side(w, l->lower, name, &st, false, &w->old_bytes, &old))
		return 0;
	return change(w, &old, &none, err);
}

static int file(struct capture_walk *w, const struct level *l, const char *name,
		const struct stat *st, struct err *err)
{
	struct side old = { 0 }, new = { 0 };
	struct stat low;
	bool in_lower = look_lower(l, name, &low);
	int rc;

	if (in_lower && S_ISDIR(low.st_mode)) {
		rc = gone(w, l, name, err);
		if (rc < 0)
			return rc;
		in_lower = false;
	}
	in_lower = in_lower && is_content(&low);
	if (left_out(w, l, in_lower))
		return 0;
	if (in_lower && !read_side(w, l->lower, name, &low, false, &w->old_bytes, &old))
		return 0;
	if (!read_side(w, l->upper, name, st, true, &w->new_bytes, &new))
		return 0;
	return change(w, &old, &new, err);
}

static int walk_level(struct capture_walk *w, const struct level *l, struct err *err);

static int directory(struct capture_walk *w, const struct level *l, const char *name,
		     const struct stat *st, struct err *err)
{
	auto_fd int upper = open_locked(l->upper, name, O_RDONLY | O_DIRECTORY, st->st_mode, 0700);
	auto_fd int lower = -1;
	struct level in = { .depth = l->depth + 1 };
	struct stat low;
	int rc = 0;

	if (upper < 0 || in.depth > GITSTORE_DEPTH_MAX) {
		drop(w, upper < 0 ? "cannot be read" : "too deep");
		return 0;
	}
	if ((st->st_mode & 0700) != 0700)
		(void)fchmod(upper, (st->st_mode & 07777) | 0700); /* else its files say EACCES */
	if (look_lower(l, name, &low)) {
		if (S_ISDIR(low.st_mode))
			lower = open_lower(l, name);
		else
			rc = gone(w, l, name, err);
	}
	if (rc == 0) {
		in.upper = upper;
		in.lower = lower;
		in.fresh = l->fresh || overlaymark_opaque(upper);
		in.ignored = l->ignored || capture_ignore_dir(&w->ignore, buf_str(&w->path));
		rc = walk_level(w, &in, err);
	}
	if ((st->st_mode & 0700) != 0700)
		(void)fchmod(upper, st->st_mode & 07777); /* as it was */
	return rc;
}

static int entry(struct capture_walk *w, const struct level *l, const char *name, struct err *err)
{
	struct stat st;
	int rc;

	if (fstatat(l->upper, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		drop(w, "cannot be read");
		return 0;
	}
	if (overlaymark_whiteout(l->upper, name, &st))
		return gone(w, l, name, err);
	if (S_ISDIR(st.st_mode))
		return directory(w, l, name, &st, err);
	if (is_content(&st))
		return file(w, l, name, &st, err);
	rc = gone(w, l, name, err); /* it hides what lower has there */
	drop(w, S_ISFIFO(st.st_mode) ? "a pipe" : S_ISSOCK(st.st_mode) ? "a socket" : "a device");
	return rc;
}

static int walk_level(struct capture_walk *w, const struct level *l, struct err *err)
{
	auto_strv names = { 0 };
	int rc = 0;

	if (list(w, l->upper, &names) < 0) {
		drop(w, "cannot be read");
		return 0;
	}
	for (size_t i = 0; i < names.n && rc == 0; i++) {
		ssize_t len;

		if (is_gits(w, names.v[i]))
			continue;
		len = push(w, names.v[i]);
		if (len < 0)
			continue;
		rc = entry(w, l, names.v[i], err);
		pop(w, len);
	}
	if (rc == 0 && l->fresh && l->lower >= 0)
		rc = all_gone(w, l, &names, err);
	return rc;
}

int capture_walk_layers(struct capture_walk *w, int upper, int lower, struct err *err)
{
	struct level top = { .upper = upper, .lower = lower };
	int rc = walk_level(w, &top, err);

	if (rc == 0 && w->unnamed)
		strv_take(&w->out->dropped,
			  mem_printf("... and %llu more", (unsigned long long)w->unnamed));
	return rc;
}

/* What was kept, put into a fresh box. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/box.h"
#include "sandbox/snapshot_internal.h"

/* While an entry is made: its directory in the box, and its name there. */
struct spot {
	int dir; /* owned */
	const char *name;
};

static int unusable(const struct snapshot_entry *e, const char *what, struct err *err)
{
	return err_set(err, ERR_HOST, "cannot restore %s in the box: %s: %s", e->path, what,
		       strerror(errno));
}

static int make_dir(const struct spot *at, const struct snapshot_entry *e, struct err *err)
{
	struct stat st;
	bool there = fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (there && (e->opaque || !S_ISDIR(st.st_mode))) {
		if (fd_remove_tree(at->dir, at->name) < 0)
			return unusable(e, "what is there stays", err);
		there = false;
	}
	/* Its own mode comes when all is in it. */
	if (!there && mkdirat(at->dir, at->name, 0700) < 0)
		return unusable(e, "mkdir", err);
	return 0;
}

static int make_other(const struct spot *at, const struct snapshot_entry *e, struct err *err)
{
	if (fd_remove_tree(at->dir, at->name) < 0)
		return unusable(e, "what is there stays", err);
	if (e->kind == 'l' && symlinkat(e->link, at->dir, at->name) < 0)
		return unusable(e, "symlink", err);
	if (e->kind == 'p' && mkfifoat(at->dir, at->name, e->mode) < 0)
		return unusable(e, "mkfifo", err);
	return 0;
}

static int make_file(const struct spot *at, const struct snapshot_entry *e, int from,
		     struct err *err)
{
	const struct timespec t = { .tv_sec = (time_t)(e->mtime / 1000000000),
				    .tv_nsec = (long)(e->mtime % 1000000000) };
	const struct timespec times[2] = { t, t };
	auto_fd int to = -1;

	if (fd_remove_tree(at->dir, at->name) < 0)
		return unusable(e, "what is there stays", err);
	to = openat(at->dir, at->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0 || snapshot_copy(from, to, e->size) < 0)
		return unusable(e, "write", err);
	if (fchmod(to, e->mode) < 0 || futimens(to, times) < 0)
		return unusable(e, "mode and time", err);
	return 0;
}

/* The kept contents, proven to be what they were. */
static int contents(const struct snapshot_entry *e, int store, int *ret, struct err *err)
{
	char now[DIGEST_HEX];

	*ret = snapshot_fetch(store, e->sha256);
	if (*ret < 0)
		return err_set(err, ERR_INPUT, "the contents of %s (%.12s) were not kept: %s",
			       e->path, e->sha256, strerror(errno));
	if (digest_fd(*ret, e->size + 1, now) < 0 || strcmp(now, e->sha256) != 0)
		return err_set(err, ERR_INPUT,
			       "the kept contents of %s were changed since: recorded %.12s, now "
			       "%.12s",
			       e->path, e->sha256, now[0] ? now : "longer");
	return lseek(*ret, 0, SEEK_SET) < 0 ? err_sys(err, "cannot read %s", e->path) : 0;
}

static int make(struct box *box, int area, const struct snapshot_entry *e, int store,
		struct err *err)
{
	auto_free char *up = path_dir(e->path);
	auto_fd int from = -1, dir = -1;
	struct spot at = { .name = path_base(e->path) };
	int rc = e->kind == 'f' ? contents(e, store, &from, err) : 0;

	if (rc < 0)
		return rc;
	box_act_as(box, true);
	dir = at.dir = fd_open_beneath(area, up, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		rc = unusable(e, "its directory", err);
	else if (e->kind == 'd')
		rc = make_dir(&at, e, err);
	else if (e->kind == 'f')
		rc = make_file(&at, e, from, err);
	else
		rc = make_other(&at, e, err);
	box_act_as(box, false);
	return rc;
}

/* Modes of directories, the innermost first. */
static int set_modes(struct box *box, int area, const struct snapshot_entry *v, size_t n,
		     struct err *err)
{
	int rc = 0;

	box_act_as(box, true);
	for (size_t i = n; rc == 0 && i-- > 0;) {
		auto_fd int fd = -1;
		struct stat st;

		if (v[i].kind != 'd')
			continue;
		fd = fd_open_beneath(area, v[i].path, O_RDONLY | O_DIRECTORY, 0);
		if (fd < 0 || fstat(fd, &st) < 0 ||
		    ((st.st_mode & 01777) != v[i].mode && fchmod(fd, v[i].mode) < 0))
			rc = unusable(&v[i], "mode", err);
	}
	box_act_as(box, false);
	return rc;
}

int snapshot_restore(struct box *box, enum snapshot_area area, const char *store,
		     const struct snapshot_entry *v, size_t n, struct err *err)
{
	auto_fd int from = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int at = area == SNAPSHOT_WORKSPACE ? box->ws_fd : box->root_fd, rc = 0;

	if (from < 0)
		return err_set(err, ERR_INPUT, "cannot open %s: %s", store, strerror(errno));
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = make(box, at, &v[i], from, err);
	return rc < 0 ? rc : set_modes(box, at, v, n, err);
}

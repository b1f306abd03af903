#include "supervisor/userview.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/treestate.h"

#define CHUNK 65536

struct userview {
	char *dir;                    /* owned */
	int dir_fd, upper_fd, low_fd; /* owned */
	struct treestate *state;
	uint64_t room; /* bytes that this update may still copy */
};

const char *userview_dir(const struct userview *v)
{
	return v->dir;
}

struct userview *userview_free(struct userview *v)
{
	if (!v)
		return NULL;
	treestate_free(v->state);
	mem_close(&v->dir_fd);
	mem_close(&v->upper_fd);
	mem_close(&v->low_fd);
	free(v->dir);
	free(v);
	return NULL;
}

/* --- one file ---------------------------------------------------------------------------------- */

/* At most @max bytes. 0, or -1 with errno. */
static int pump(int from, int to, uint64_t max)
{
	auto_free char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	while ((n = read(from, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if ((uint64_t)n > max) {
			errno = EFBIG;
			return -1;
		}
		max -= (uint64_t)n;
		if (fd_write_all(to, chunk, (size_t)n) < 0)
			return -1;
	}
	return 0;
}

/* Make the directories that @path lies in; a file in the way of one goes. */
static int make_parents(int dir, const char *path)
{
	auto_free char *part = mem_strdup(path);

	for (char *p = strchr(part, '/'); p; p = strchr(p + 1, '/')) {
		struct stat st;

		*p = '\0';
		if (fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
		    unlinkat(dir, part, 0) < 0)
			return -1;
		if (mkdirat(dir, part, 0755) < 0 && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return 0;
}

/* What stands at @path goes, directories with all that is in them. */
static void clear(const struct userview *v, const char *path)
{
	auto_free char *dir = path_dir(path);
	/* Not through a link of the tree: it may lead out of the copy. */
	auto_fd int at = fd_open_beneath(v->dir_fd, dir, O_RDONLY | O_DIRECTORY, 0);

	if (at >= 0 && unlinkat(at, path_base(path), 0) < 0 && (errno == EISDIR || errno == EPERM))
		(void)fd_remove_tree(at, path_base(path)); /* what stays is in the way of the new */
}

/* A regular file of layer @from, @mode is 0644 or 0755. What cannot be read or is too large is left out. */
static void put_file(struct userview *v, int from, const char *path, mode_t mode)
{
	auto_fd int in = fd_open_beneath(from, path, O_RDONLY | O_NONBLOCK, 0);
	auto_fd int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > v->room)
		return;
	out = fd_open_beneath(v->dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	if (out < 0 || fchmod(out, mode) < 0 || pump(in, out, (uint64_t)st.st_size) < 0)
		(void)unlinkat(v->dir_fd, path, 0); /* not half of it */
	v->room -= (uint64_t)st.st_size;
}

static void put_link(const struct userview *v, int from, const char *path)
{
	auto_free char *dir = path_dir(path);
	auto_fd int at = fd_open_beneath(from, dir, O_PATH | O_DIRECTORY, 0);
	char target[PATH_MAX];
	ssize_t n = at < 0 ? -1 : readlinkat(at, path_base(path), target, sizeof(target) - 1);

	if (n < 0)
		return;
	target[n] = '\0';
	if (symlinkat(target, v->dir_fd, path) < 0)
		return; /* a link that cannot be made is left out */
}

/* As the pristine tree again. */
static void restore(struct userview *v, const char *path)
{
	auto_free char *dir = path_dir(path);
	auto_fd int at = fd_open_beneath(v->low_fd, dir, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	if (at < 0 || fstatat(at, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (make_parents(v->dir_fd, path) < 0)
		return;
	if (S_ISLNK(st.st_mode))
		put_link(v, v->low_fd, path);
	else
		put_file(v, v->low_fd, path, st.st_mode & 0100 ? 0755 : 0644);
}

/* --- the pristine tree ------------------------------------------------------------------------- */

/* One entry of the walk. 0, or negative. */
static int take(struct userview *v, FTS *fts, FTSENT *e, size_t root, struct err *err)
{
	const char *path = e->fts_path + root;

	path += strspn(path, "/");
	if (!path[0])
		return 0;
	if (e->fts_level == 1 && strcmp(e->fts_name, ".git") == 0) {
		fts_set(fts, e, FTS_SKIP);
		return 0;
	}
	switch (e->fts_info) {
	case FTS_D:
		if (mkdirat(v->dir_fd, path, 0755) < 0)
			return err_sys(err, "cannot make %s in %s", path, v->dir);
		break;
	case FTS_F:
		put_file(v, v->low_fd, path, e->fts_statp->st_mode & 0100 ? 0755 : 0644);
		break;
	case FTS_SL:
	case FTS_SLNONE:
		put_link(v, v->low_fd, path);
		break;
	default:
		break;
	}
	return 0;
}

static int copy_tree(struct userview *v, const char *lower, struct err *err)
{
	char *const paths[] = { (char *)(uintptr_t)lower, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	uint64_t entries = 0;
	FTSENT *e;
	int rc = 0;

	if (!fts)
		return err_sys(err, "cannot read %s", lower);
	v->room = USERVIEW_BYTES_MAX;
	while (rc == 0 && (e = fts_read(fts))) {
		bool file = e->fts_info == FTS_F;

		if (entries++ >= USERVIEW_FILES_MAX ||
		    (file && (uint64_t)e->fts_statp->st_size > v->room))
			rc = err_set(err, ERR_LIMIT,
				     "the workspace is too large to be shown to the user of the "
				     "scenario; say \"view\": false");
		else
			rc = take(v, fts, e, strlen(lower), err);
	}
	fts_close(fts);
	return rc;
}

int userview_new(const struct workspace *ws, struct userview **ret, struct err *err)
{
	struct userview *v = mem_zalloc(1, sizeof(*v));
	int rc = 0;

	v->dir = path_join(ws->scratch, "view");
	v->dir_fd = v->upper_fd = v->low_fd = -1;
	if (mkdir(v->dir, 0755) < 0)
		rc = err_sys(err, "cannot make %s", v->dir);
	if (rc == 0) {
		v->dir_fd = open(v->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		v->upper_fd = open(ws->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		v->low_fd = open(ws->lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (v->dir_fd < 0 || v->upper_fd < 0 || v->low_fd < 0)
			rc = err_sys(err, "cannot open the layers of the workspace");
	}
	if (rc == 0)
		rc = copy_tree(v, ws->lower, err);
	if (rc < 0) {
		userview_free(v);
		return rc;
	}
	v->state = treestate_new(ws->upper, ws->lower, NULL, NULL);
	*ret = v;
	return 0;
}

/* --- between two turns ------------------------------------------------------------------------- */

static void put(struct userview *v, const struct treestate_file *f)
{
	if (make_parents(v->dir_fd, f->path) < 0)
		return;
	if (f->kind == 'l')
		put_link(v, v->upper_fd, f->path);
	else
		put_file(v, v->upper_fd, f->path, f->kind == 'x' ? 0755 : 0644);
}

int userview_update(struct userview *v, struct strv *changed, struct err *err)
{
	struct treestate_look l;
	int rc = treestate_look(v->state, &l, err);

	if (rc < 0)
		return rc;
	v->room = USERVIEW_LOOK_MAX;
	/* First everything old goes: a file may stand where a directory was, or the other way round. */
	for (size_t i = 0; i < l.n_changes; i++)
		clear(v, l.change[i].path);
	for (size_t i = 0; i < l.n_changes; i++) {
		char kind = l.change[i].kind;

		if (kind == '=')
			restore(v, l.change[i].path);
		else if (strchr("fxl", kind))
			put(v, &l.change[i]);
		strv_add(changed, l.change[i].path);
	}
	treestate_look_done(&l);
	return 0;
}

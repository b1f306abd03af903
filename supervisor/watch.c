#include "supervisor/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/procfs.h"

enum { NAMES_MAX = 1 << 16, SCAN_MAX = 1 << 20 };

static void add_name(struct watch *w, const char *name, size_t n)
{
	if (w->names.n >= NAMES_MAX) {
		w->all = true;
		return;
	}
	map_put(&w->names, map_hash(name, n), w);
}

static size_t last_component(const char *path, size_t n, const char **ret)
{
	size_t end = n, from;

	while (end > 0 && path[end - 1] == '/')
		end--;
	from = end;
	while (from > 0 && path[from - 1] != '/')
		from--;
	*ret = path + from;
	return end - from;
}

void watch_name(struct watch *w, const char *path)
{
	const char *name;
	size_t n;

	if (!watch_on(w))
		return;
	n = last_component(path, strlen(path), &name);
	add_name(w, name, n);
}

/* /proc/self/fd/3, /dev/fd/3, /dev/stdin, also relative to their directories: magic links. */
static bool magic_name(const char *name, size_t n)
{
	size_t digits = 0;

	while (digits < n && name[digits] >= '0' && name[digits] <= '9')
		digits++;
	return digits == n || (n >= 5 && n <= 6 && memcmp(name, "std", 3) == 0);
}

bool watch_hint(const struct watch *w, const char *path, size_t n)
{
	const char *name;
	size_t len;

	if (!watch_on(w))
		return false;
	if (w->all)
		return true;
	len = last_component(path, n, &name);
	if (!len)
		return false;
	if (magic_name(name, len))
		return true;
	return map_get(&w->names, map_hash(name, len)) != NULL;
}

/* Names of symbolic links below @fd (consumed). */
static void scan_links(struct watch *w, int fd, unsigned *left)
{
	DIR *d = fdopendir(fd);
	struct dirent *de;

	if (!d) {
		close(fd);
		return;
	}
	while (*left && (de = readdir(d))) {
		int sub;

		--*left;
		if (de->d_type == DT_LNK)
			add_name(w, de->d_name, strlen(de->d_name));
		if (de->d_type != DT_DIR || strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0 || strcmp(de->d_name, ".git") == 0)
			continue;
		sub = openat(dirfd(d), de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			scan_links(w, sub, left);
	}
	closedir(d);
}

/* Inode below the overlay of workspace-relative @path; zeros when there is none. */
static void real_identity(const struct watch *w, const char *path, uint64_t *dev, uint64_t *ino)
{
	auto_fd int fd = w->upper_fd < 0 ? -1 : fd_open_beneath(w->upper_fd, path, O_PATH, 0);
	struct stat st;

	*dev = *ino = 0;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		*dev = st.st_dev;
		*ino = st.st_ino;
	}
}

static uint64_t ino_key(uint64_t dev, uint64_t ino)
{
	return ino ^ (dev << 48 | dev >> 16);
}

void watch_identity(struct watch *w, int i, uint64_t dev, uint64_t ino)
{
	struct watch_file *f = &w->file[i];
	void *self = (void *)(uintptr_t)((unsigned)i + 1);
	uint64_t old = ino_key(f->dev, f->ino);

	/* The number may be given to another file now. */
	if (map_get(&w->by_ino, old) == self)
		(void)map_del(&w->by_ino, old); /* it is @self */
	f->there = f->named = true;
	f->dev = dev;
	f->ino = ino;
	map_put(&w->by_ino, ino_key(dev, ino), self);
}

void watch_identify(struct watch *w, int i)
{
	struct watch_file *f = &w->file[i];
	auto_fd int fd = fd_open_beneath(w->ws_fd, f->path, O_PATH, 0);
	struct stat st;

	f->named = fd >= 0 && fstat(fd, &st) == 0;
	/* The name is gone but descriptors may remain: the old identity is kept then. */
	if (!f->named)
		return;
	watch_identity(w, i, st.st_dev, st.st_ino);
	real_identity(w, f->path, &f->real_dev, &f->real_ino);
}

/* Opening for writing copies the file up; the mode may forbid it to its owner for a moment. */
static void copy_up(struct watch *w, const struct watch_file *f)
{
	int fd = fd_open_beneath(w->ws_fd, f->path, O_RDWR | O_NOFOLLOW, 0);
	struct stat st;

	if (fd < 0 && errno == EACCES) {
		auto_fd int ro = fd_open_beneath(w->ws_fd, f->path, O_RDONLY, 0);

		/* fchmod copies up as well, and puts the mode back at once. */
		if (ro >= 0 && fstat(ro, &st) == 0 && fchmod(ro, st.st_mode | 0200) == 0)
			(void)fchmod(ro, st.st_mode & 07777); /* same owner: cannot fail now */
	}
	if (fd >= 0) {
		if (fstat(fd, &st) == 0 && st.st_nlink > 1)
			w->all = true;
		close(fd);
	}
}

void watch_sync(struct watch *w, const struct engine *e)
{
	while (w->n < engine_files(e)) {
		int i = (int)w->n;

		MEM_GROW(w->file, w->cap, w->n + 1);
		w->file[w->n++] = (struct watch_file){ .path = engine_file(e, (size_t)i) };
		/* The others are found by follow.h. */
		if (!watch_bare(w, i)) {
			copy_up(w, &w->file[i]);
			watch_name(w, w->file[i].path);
		}
		watch_identify(w, i);
	}
}

int watch_init(struct watch *w, const struct engine *e, int ws_fd, const char *upper,
	       const char *workdir, struct err *err)
{
	unsigned left = SCAN_MAX;
	int fd;

	*w = (struct watch){
		.ws_fd = ws_fd,
		.upper_fd = upper ? open(upper, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1,
		.workdir = workdir,
		.n_first = engine_files(e),
	};
	watch_sync(w, e);
	if (!w->n)
		return 0;
	fd = openat(ws_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot read the workspace");
	scan_links(w, fd, &left);
	if (!left)
		w->all = true;
	return 0;
}

void watch_done(struct watch *w)
{
	free(w->file);
	mem_close(&w->upper_fd);
	map_done(&w->names);
	map_done(&w->by_ino);
	*w = (struct watch){ .ws_fd = -1, .upper_fd = -1 };
}

int watch_find(const struct watch *w, uint64_t dev, uint64_t ino)
{
	uintptr_t at = (uintptr_t)map_get(&w->by_ino, ino_key(dev, ino));
	const struct watch_file *f = at ? &w->file[at - 1] : NULL;

	return f && f->there && f->ino == ino && f->dev == dev ? (int)(at - 1) : -1;
}

/* The region file whose inode below the overlay is that of what descriptor @fd of @tid leads to. */
static int find_below(const struct watch *w, pid_t tid, int fd)
{
	auto_free char *target = NULL;
	size_t skip = strlen(w->workdir);
	uint64_t dev, ino;
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	target = procfs_link(tid, name);
	if (!target || !path_beneath(target, w->workdir) || target[skip] != '/')
		return -1;
	real_identity(w, target + skip + 1, &dev, &ino);
	for (size_t i = 0; ino && i < w->n; i++) {
		if (w->file[i].real_ino == ino && w->file[i].real_dev == dev)
			return (int)i;
	}
	return -1;
}

int watch_fd(const struct watch *w, pid_t tid, int fd)
{
	struct stat st;
	int file;

	if (!w->n || fd < 0 || procfs_fd_stat(tid, fd, &st) < 0)
		return -1;
	file = watch_find(w, st.st_dev, st.st_ino);
	if (file < 0 && w->upper_fd >= 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
		file = find_below(w, tid, fd);
	return file;
}

void watch_refresh(struct watch *w, uint64_t *ret_changed)
{
	*ret_changed = 0;
	for (size_t i = 0; i < w->n; i++) {
		struct watch_file old = w->file[i], *f = &w->file[i];

		watch_identify(w, (int)i);
		if (i < 64 && (f->there != old.there || f->named != old.named ||
			       f->ino != old.ino || f->dev != old.dev))
			*ret_changed |= 1ull << i;
	}
}

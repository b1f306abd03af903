#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/sysdefs.h"

int fd_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.mode = flags & (O_CREAT | __O_TMPFILE) ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	/* EAGAIN: a rename elsewhere raced with the walk (openat2(2)); the kernel asks for a
	 * retry. Bounded, so that an agent that renames all day cannot hold us. */
	for (int tries = 0; tries < 64; tries++) {
		fd = (int)syscall(__NR_openat2, dirfd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			return fd;
	}
	return -1;
}

int fd_read_all(int fd, struct buf *b)
{
	for (;;) {
		size_t room = b->max - b->len, want = room < 65536 ? room + 1 : 65536;
		char tmp[65536];
		ssize_t n;

		n = read(fd, tmp, want < sizeof(tmp) ? want : sizeof(tmp));
		if (n == 0)
			return 0;
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (buf_add(b, tmp, (size_t)n) < 0) {
			errno = EFBIG;
			return -1;
		}
	}
}

int fd_write_all(int fd, const void *p, size_t n)
{
	const char *s = p;

	while (n) {
		ssize_t w = write(fd, s, n);

		if (w < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		s += w;
		n -= (size_t)w;
	}
	return 0;
}

int fd_read_file(const char *path, struct buf *b, struct err *err)
{
	bool in = strcmp(path, "-") == 0;
	auto_fd int fd = in ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > b->max)
		return err_set(err, ERR_INPUT, "%s has %lld bytes, more than the %zu allowed here",
			       path, (long long)st.st_size, b->max);
	if (fd_read_all(fd, b) < 0) {
		if (errno == EFBIG)
			return err_set(err, ERR_INPUT,
				       "%s is larger than the %zu bytes allowed here", path,
				       b->max);
		return err_set(err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	}
	return 0;
}

/* A device or a pipe keeps its place: as root a rename would put a plain file over /dev/null. */
static int write_special(const char *path, const void *p, size_t n, struct err *err)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 || fd_write_all(fd, p, n) < 0 ? err_sys(err, "cannot write %s", path) : 0;
}

int fd_replace_file(const char *path, const void *p, size_t n, struct err *err)
{
	auto_free char *tmp = mem_printf("%s.tmp%d", path, (int)getpid());
	auto_fd int fd = -1;
	struct stat st;

	if (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
		return write_special(path, p, n, err);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return err_sys(err, "cannot write %s", tmp);
	if (fd_write_all(fd, p, n) < 0 || fsync(fd) < 0 || rename(tmp, path) < 0) {
		int rc = err_sys(err, "cannot write %s", path);

		unlink(tmp);
		return rc;
	}
	return 0;
}

int fd_mkdirs(const char *path, mode_t mode, struct err *err)
{
	auto_free char *copy = path_normal(path);

	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return err_sys(err, "cannot make directory %s", copy);
		if (!c) {
			struct stat st;

			if (stat(copy, &st) == 0 && S_ISDIR(st.st_mode))
				return 0;
			errno = ENOTDIR;
			return err_sys(err, "cannot make directory %s", copy);
		}
		*p = c;
	}
}

/* Open a directory for walking; one whose mode forbids it to its owner is opened up first. */
static DIR *walk_dir(int at, const char *name, bool chmod_allowed)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);
	DIR *d;

	if (fd < 0 && errno == EACCES && chmod_allowed && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, flags);
	if (fd < 0)
		return NULL;
	if (chmod_allowed) {
		struct stat st;

		if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
			(void)fchmod(fd, 0700); /* failure shows as EACCES below */
	}
	d = fdopendir(fd);
	if (!d)
		close(fd);
	return d;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Levels that are walked with one descriptor each. An agent can nest directories deeper than there
 * are descriptors and stack, so what lies below is first moved up to the top. */
#define REMOVE_DEPTH 64

struct removal {
	int top;         /* directory that is being emptied */
	unsigned serial; /* for names of what was moved up */
	bool moved;      /* the top has new entries: walk it again */
	int first;       /* errno of the first failure */
};

static void removal_failed(struct removal *r)
{
	if (!r->first)
		r->first = errno;
}

/* Move directory @name below @at to the top under a name that is free. */
static void move_up(struct removal *r, int at, const char *name)
{
	char fresh[32];

	/* Giving a directory a new ".." needs write permission on it (rename(2)). */
	if (fchmodat(at, name, 0700, 0) < 0) {
		removal_failed(r);
		return;
	}
	for (unsigned tries = 0; tries < 1000; tries++) {
		snprintf(fresh, sizeof(fresh), ".deep-%u", r->serial++);
		if (renameat2(at, name, r->top, fresh, RENAME_NOREPLACE) == 0) {
			r->moved = true;
			return;
		}
		if (errno != EEXIST)
			break;
	}
	removal_failed(r);
}

static void remove_entries(struct removal *r, DIR *d, unsigned depth)
{
	struct dirent *de;

	while ((de = readdir(d))) {
		const char *name = de->d_name;
		DIR *sub;

		if (is_dots(name) || unlinkat(dirfd(d), name, 0) == 0 || errno == ENOENT)
			continue;
		if (errno != EISDIR && errno != EPERM && errno != EACCES) {
			removal_failed(r);
			continue;
		}
		if (depth >= REMOVE_DEPTH) {
			move_up(r, dirfd(d), name);
			continue;
		}
		sub = walk_dir(dirfd(d), name, true);
		if (!sub) {
			removal_failed(r);
			continue;
		}
		remove_entries(r, sub, depth + 1);
		closedir(sub);
		if (unlinkat(dirfd(d), name, AT_REMOVEDIR) < 0)
			removal_failed(r);
	}
}

int fd_remove_tree(int at, const char *name)
{
	struct removal r = { 0 };
	DIR *d;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return -1;
	d = walk_dir(at, name, true);
	if (!d)
		return -1;
	r.top = dirfd(d);
	do {
		r.moved = false;
		rewinddir(d);
		remove_entries(&r, d, 0);
	} while (r.moved && !r.first);
	closedir(d);
	if (unlinkat(at, name, AT_REMOVEDIR) < 0)
		removal_failed(&r);
	errno = r.first;
	return r.first ? -1 : 0;
}

/* One level of a walk that holds one descriptor however deep it goes. */
struct level {
	dev_t dev;
	ino_t ino;
	struct strv subs; /* names of the directories in it */
	size_t next;      /* the one to enter next */
};

struct walk {
	struct level *v; /* owned */
	size_t n, cap;
	uint64_t sum, left;
	int fd; /* of the innermost level, owned */
};

static void count_entry(struct walk *w, struct level *lv, int at, const char *name)
{
	struct stat st;

	if (is_dots(name) || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	w->left--;
	w->sum += (uint64_t)st.st_blocks * 512;
	if (S_ISDIR(st.st_mode))
		strv_add(&lv->subs, name);
}

/* Enter @fd (taken): count what is in it and note its directories. */
static void enter(struct walk *w, int fd)
{
	struct level *lv;
	struct dirent *de;
	struct stat st;
	DIR *d;

	MEM_GROW(w->v, w->cap, w->n + 1);
	lv = &w->v[w->n++];
	*lv = (struct level){ 0 };
	if (fstat(fd, &st) == 0) {
		lv->dev = st.st_dev;
		lv->ino = st.st_ino;
	}
	d = walk_dir(fd, ".", false);
	while (d && w->left && (de = readdir(d)))
		count_entry(w, lv, dirfd(d), de->d_name);
	if (d)
		closedir(d);
	mem_close(&w->fd);
	w->fd = fd;
}

/* Back to the level above. False when there is none, or when the directory was moved away
 * meanwhile, so that ".." leads somewhere else. */
static bool leave(struct walk *w)
{
	struct level *up;
	struct stat st;
	int fd;

	strv_done(&w->v[--w->n].subs);
	if (!w->n)
		return false;
	up = &w->v[w->n - 1];
	fd = openat(w->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mem_close(&w->fd);
	w->fd = fd;
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == up->dev && st.st_ino == up->ino;
}

uint64_t fd_tree_bytes(int at, const char *name, uint64_t max_entries)
{
	struct walk w = { .left = max_entries, .fd = -1 };
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd;

	if (!max_entries || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	w.left--;
	w.sum = (uint64_t)st.st_blocks * 512;
	fd = openat(at, name, flags);
	if (fd < 0)
		return w.sum;
	enter(&w, fd);
	while (w.left) {
		struct level *lv = &w.v[w.n - 1];

		if (lv->next == lv->subs.n) {
			if (!leave(&w))
				break;
			continue;
		}
		fd = openat(w.fd, lv->subs.v[lv->next++], flags);
		if (fd >= 0)
			enter(&w, fd);
	}
	while (w.n)
		strv_done(&w.v[--w.n].subs);
	free(w.v);
	mem_close(&w.fd);
	return w.sum;
}

int fd_send(int sock, const void *p, size_t n, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { (void *)(uintptr_t)p, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t rc;

	memset(&ctl, 0, sizeof(ctl));
	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = ctl.bytes;
		msg.msg_controllen = sizeof(ctl.bytes);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do {
		rc = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (rc < 0 && errno == EINTR);
	return rc == (ssize_t)n ? 0 : -1;
}

/* The first descriptor of @c; others that the padding of the buffer had room for are closed. */
static void keep_first(struct cmsghdr *c, int *ret_fd)
{
	for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
		int fd;

		memcpy(&fd, (char *)c + at, sizeof(fd));
		if (*ret_fd < 0)
			*ret_fd = fd;
		else
			close(fd);
	}
}

ssize_t fd_recv(int sock, void *p, size_t n, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { p, n };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.bytes,
		.msg_controllen = sizeof(ctl.bytes),
	};
	struct cmsghdr *c;
	ssize_t rc;

	*ret_fd = -1;
	do {
		rc = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		keep_first(c, ret_fd);
	return rc;
}

void fd_close_from(unsigned from)
{
	(void)close_range(from, ~0u, 0); /* cannot fail for this range (close_range(2)) */
}

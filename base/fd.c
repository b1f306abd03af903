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

int fd_replace_file(const char *path, const void *p, size_t n, struct err *err)
{
	auto_free char *tmp = mem_printf("%s.tmp%d", path, (int)getpid());
	auto_fd int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

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
		if (!c)
			return 0;
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

int fd_remove_tree(int at, const char *name)
{
	int first = 0;
	struct dirent *de;
	DIR *d;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return -1;
	d = walk_dir(at, name, true);
	if (!d)
		return -1;
	while ((de = readdir(d))) {
		if (!is_dots(de->d_name) && fd_remove_tree(dirfd(d), de->d_name) < 0 && !first)
			first = errno;
	}
	closedir(d);
	if (unlinkat(at, name, AT_REMOVEDIR) < 0 && !first)
		first = errno;
	errno = first;
	return first ? -1 : 0;
}

static uint64_t tree_bytes(int at, const char *name, uint64_t *left)
{
	struct dirent *de;
	struct stat st;
	uint64_t sum;
	DIR *d;

	if (!*left || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	--*left;
	sum = (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return sum;
	d = walk_dir(at, name, false);
	if (!d)
		return sum;
	while (*left && (de = readdir(d))) {
		if (!is_dots(de->d_name))
			sum += tree_bytes(dirfd(d), de->d_name, left);
	}
	closedir(d);
	return sum;
}

uint64_t fd_tree_bytes(int at, const char *name, uint64_t max_entries)
{
	return tree_bytes(at, name, &max_entries);
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
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return rc;
}

void fd_close_from(unsigned from)
{
	(void)close_range(from, ~0u, 0); /* cannot fail for this range (close_range(2)) */
}

/* Copying a tree for the box where the kernel or the file system cannot map its owner. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/ids.h"

#define DEPTH_MAX 256 /* directory levels */

struct copy {
	const struct ids *ids;
	uint64_t left; /* bytes; an entry costs its size and one block */
};

static int copy_file(struct copy *c, int from, int to, const char *name, const struct stat *st)
{
	auto_fd int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	auto_fd int out = -1;
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	off_t off = 0;

	if (in < 0)
		return -1;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -1;
	while (off < st->st_size) {
		ssize_t n = sendfile(out, in, NULL, 1u << 30);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		off += n;
	}
	if (fchown(out, c->ids->uid, c->ids->gid) < 0 || fchmod(out, st->st_mode & 0777) < 0)
		return -1;
	return futimens(out, times);
}

static int copy_link(const struct copy *c, int from, int to, const char *name)
{
	char text[4096];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	if (symlinkat(text, to, name) < 0)
		return -1;
	return fchownat(to, name, c->ids->uid, c->ids->gid, AT_SYMLINK_NOFOLLOW);
}

static int copy_dir(struct copy *c, int from, int to, unsigned depth);

static int copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	auto_fd int sub_from = -1;
	auto_fd int sub_to = -1;
	struct stat st;
	uint64_t cost;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	cost = 4096 + (S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	if (cost > c->left || depth > DEPTH_MAX) {
		errno = EFBIG;
		return -1;
	}
	c->left -= cost;
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, &st);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (mkdirat(to, name, 0700) < 0)
		return -1;
	sub_from = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	sub_to = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub_from < 0 || sub_to < 0 || copy_dir(c, sub_from, sub_to, depth) < 0)
		return -1;
	if (fchown(sub_to, c->ids->uid, c->ids->gid) < 0)
		return -1;
	return fchmod(sub_to, st.st_mode & 01777);
}

static int copy_dir(struct copy *c, int from, int to, unsigned depth)
{
	int fd = fcntl(from, F_DUPFD_CLOEXEC, 0), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (rc == 0 && (de = readdir(d))) {
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			rc = copy_entry(c, from, to, de->d_name, depth + 1);
	}
	closedir(d);
	return rc;
}

int ids_copy(const struct ids *ids, const char *from, const char *to, uint64_t max, struct err *err)
{
	struct copy c = { .ids = ids, .left = max };
	auto_fd int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return err_sys(err, "cannot read %s", from);
	if (mkdir(to, 0700) < 0)
		return err_sys(err, "cannot make %s", to);
	out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out < 0)
		return err_sys(err, "cannot open %s", to);
	if (copy_dir(&c, in, out, 0) < 0) {
		if (errno == EFBIG)
			return err_set(err, ERR_LIMIT,
				       "%s holds more than %" PRIu64
				       " MiB or nests too deeply to be "
				       "copied for the box; use a kernel with idmapped mounts "
				       "(5.19) or a smaller directory",
				       from, max >> 20);
		return err_sys(err, "cannot copy %s for the box", from);
	}
	if (fchown(out, ids->uid, ids->gid) < 0 || fchmod(out, st.st_mode & 01777) < 0)
		return err_sys(err, "cannot give %s to the box", to);
	return 0;
}

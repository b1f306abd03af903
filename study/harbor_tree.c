#include "study/harbor_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "profiles/task_files.h"

#define SUMS_MAX (16u << 20) /* bytes of a list of sums */

struct copy {
	size_t entries;
	uint64_t bytes;
	struct err *err;
};

static int bad(struct copy *c, const char *path, const char *what)
{
	return err_set(c->err, ERR_INPUT, "%s: %s", path, what);
}

/* Does the target of a link at @rel (its path below the top) stay below the top? */
static bool stays(const char *rel, const char *target)
{
	auto_free char *dir = path_dir(rel), *joined = path_join(dir, target),
		       *normal = path_normal(joined);

	return target[0] != '/' && !str_eq(normal, "..") && !str_starts(normal, "../");
}

static int copy_link(struct copy *c, int from, const char *name, int to, const char *to_name,
		     const char *rel)
{
	char target[4096];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return err_sys(c->err, "cannot read link %s", rel);
	target[n] = '\0';
	if (!stays(rel, target))
		return bad(c, rel, "the link leads out of the directory");
	if (unlinkat(to, to_name, 0) < 0 && errno != ENOENT)
		return err_sys(c->err, "cannot replace %s", rel);
	return symlinkat(target, to, to_name) < 0 ? err_sys(c->err, "cannot copy %s", rel) : 0;
}

static int copy_file(struct copy *c, int in, const struct stat *st, int to, const char *name,
		     const char *rel)
{
	auto_fd int out = -1;
	char part[65536];
	ssize_t n;

	if (unlinkat(to, name, 0) < 0 && errno != ENOENT)
		return err_sys(c->err, "cannot replace %s", rel);
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return err_sys(c->err, "cannot copy %s", rel);
	while ((n = read(in, part, sizeof(part))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		c->bytes += n > 0 ? (uint64_t)n : 0;
		if (c->bytes > TASK_FILES_BYTES_MAX)
			return bad(c, rel, "more than 4 GiB of files");
		if (n < 0 || fd_write_all(out, part, (size_t)n) < 0)
			return err_sys(c->err, "cannot copy %s", rel);
	}
	return fchmod(out, st->st_mode & 0777) < 0 ? err_sys(c->err, "cannot copy %s", rel) : 0;
}

static int copy_any(struct copy *c, int from, const char *name, int to, const char *to_name,
		    const char *rel, unsigned depth);

static int copy_dir(struct copy *c, int in, const struct stat *st, int to, const char *name,
		    const char *rel, unsigned depth)
{
	auto_fd int out = -1, copy = -1;
	DIR *d;
	const struct dirent *e;
	int rc = 0;

	if (depth > TASK_FILES_DEPTH_MAX)
		return bad(c, rel, "too many levels of directories");
	if (mkdirat(to, name, 0700) < 0 && errno != EEXIST)
		return err_sys(c->err, "cannot make %s", rel);
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	copy = out < 0 ? -1 : fcntl(in, F_DUPFD_CLOEXEC, 0);
	d = copy < 0 ? NULL : fdopendir(copy);
	if (!d)
		return err_sys(c->err, "cannot copy directory %s", rel);
	copy = -1; /* the stream's now */
	while (rc == 0 && (e = readdir(d))) {
		auto_free char *below =
			mem_printf("%s%s%s", depth ? rel : "", depth ? "/" : "", e->d_name);

		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = copy_any(c, in, e->d_name, out, e->d_name, below, depth + 1);
	}
	closedir(d);
	if (rc == 0 && fchmod(out, (st->st_mode & 0777) | 0700) < 0)
		rc = err_sys(c->err, "cannot copy directory %s", rel);
	return rc;
}

static int copy_any(struct copy *c, int from, const char *name, int to, const char *to_name,
		    const char *rel, unsigned depth)
{
	auto_fd int in =
		openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (++c->entries > TASK_FILES_ENTRIES_MAX)
		return bad(c, rel, "too many files");
	if (in < 0 && errno == ELOOP)
		return copy_link(c, from, name, to, to_name, rel);
	if (in < 0 || fstat(in, &st) < 0)
		return err_set(c->err, ERR_INPUT, "cannot read %s: %s", rel, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, in, &st, to, to_name, rel, depth);
	if (!S_ISREG(st.st_mode))
		return bad(c, rel, "neither a file, a directory nor a link");
	return copy_file(c, in, &st, to, to_name, rel);
}

int harbor_tree_copy(const char *from, const char *to, struct err *err)
{
	struct copy c = { .err = err };
	auto_free char *parent = path_dir(to);
	auto_fd int at = -1;
	int rc = fd_mkdirs(parent, 0755, err);

	if (rc < 0)
		return rc;
	at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return err_sys(err, "cannot open %s", parent);
	rc = copy_any(&c, AT_FDCWD, from, at, path_base(to), path_base(from), 0);
	return rc < 0 ? err_wrap(err, "%s", from) : 0;
}

static int check_sum(int dir, const char *name, const char *line, size_t n, unsigned no,
		     struct err *err)
{
	auto_free char *path = NULL;
	char got[DIGEST_HEX];
	auto_fd int fd = -1;
	struct stat st;

	if (n < 67 || strspn(line, "0123456789abcdefABCDEF") != 64 || line[64] != ' ')
		return err_set(err, ERR_INPUT,
			       "%s:%u: expected 64 hex digits, two blanks and a path", name, no);
	path = mem_strndup(line + 66, n - 66);
	if (str_starts(path, "./"))
		memmove(path, path + 2, strlen(path + 2) + 1);
	if (!path_is_tame(path))
		return err_set(err, ERR_INPUT, "%s:%u: \"%s\" lies outside", name, no, path);
	fd = fd_open_beneath(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    digest_fd(fd, TASK_FILES_BYTES_MAX, got) < 0)
		return err_set(err, ERR_INPUT, "%s:%u: %s cannot be read", name, no, path);
	if (strncasecmp(got, line, 64) != 0)
		return err_set(err, ERR_INPUT, "%s:%u: %s is not the file that was summed up", name,
			       no, path);
	return 0;
}

int harbor_tree_sums(const char *dir, const char *sums, struct err *err)
{
	auto_buf b = BUF_INIT(SUMS_MAX);
	auto_fd int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = at < 0 ? err_sys(err, "cannot open %s", dir) : fd_read_file(sums, &b, err);
	const char *s = buf_str(&b), *end = s + b.len;

	for (unsigned no = 1; rc == 0 && s < end; no++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);

		if (n)
			rc = check_sum(at, sums, s, n, no, err);
		s += n + 1;
	}
	return rc;
}

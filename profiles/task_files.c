#include "profiles/task_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define LIST_MAX (256u << 20) /* bytes of the list that is digested */

struct walk {
	struct buf list; /* a line for each entry */
	uint64_t bytes;
	size_t entries, root; /* root: bytes of the top's own path */
	struct err *err;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int names_of(int dirfd, struct strv *ret)
{
	DIR *d = fdopendir(dirfd); /* owns it from now on */
	struct dirent *de;

	if (!d) {
		close(dirfd);
		return -1;
	}
	while ((de = readdir(d)) && ret->n <= TASK_FILES_ENTRIES_MAX)
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			strv_add(ret, de->d_name);
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

static int entry(struct walk *w, int dirfd, const char *name, const char *path, unsigned depth);

static int directory(struct walk *w, int fd, const char *path, unsigned depth)
{
	auto_strv names = { 0 };
	int rc = 0;

	if (depth > TASK_FILES_DEPTH_MAX)
		return err_set(w->err, ERR_INPUT, "%s: more than %u levels of directories", path,
			       TASK_FILES_DEPTH_MAX);
	if (names_of(fcntl(fd, F_DUPFD_CLOEXEC, 0), &names) < 0)
		return err_set(w->err, ERR_INPUT, "cannot read directory %s: %s", path,
			       strerror(errno));
	for (size_t i = 0; i < names.n && rc == 0; i++) {
		auto_free char *below = mem_printf("%s/%s", path, names.v[i]);

		rc = entry(w, fd, names.v[i], below, depth + 1);
	}
	return rc;
}

static int file(struct walk *w, int fd, const struct stat *st, const char *path)
{
	char sum[DIGEST_HEX];

	w->bytes += (uint64_t)st->st_size;
	if (w->bytes > TASK_FILES_BYTES_MAX)
		return err_set(w->err, ERR_INPUT, "%s: more than %" PRIu64 " bytes of files", path,
			       (uint64_t)TASK_FILES_BYTES_MAX);
	if (digest_fd(fd, TASK_FILES_BYTES_MAX, sum) < 0)
		return err_set(w->err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	buf_addf(&w->list, "file %s %d", sum, (st->st_mode & 0111) != 0);
	return 0;
}

/* One entry: its line says kind and contents, then the name. */
static int entry(struct walk *w, int dirfd, const char *name, const char *path, unsigned depth)
{
	auto_fd int fd =
		openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char link[4096];
	ssize_t n;
	int rc = 0;

	if (++w->entries > TASK_FILES_ENTRIES_MAX)
		return err_set(w->err, ERR_INPUT, "%s: more than %u files", path,
			       TASK_FILES_ENTRIES_MAX);
	if (fd < 0 && errno == ELOOP && (n = readlinkat(dirfd, name, link, sizeof(link))) >= 0) {
		buf_adds(&w->list, "link ");
		buf_add(&w->list, link, (size_t)n);
	} else if (fd < 0 || fstat(fd, &st) < 0) {
		return err_set(w->err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	} else if (S_ISREG(st.st_mode)) {
		rc = file(w, fd, &st, path);
	} else if (!S_ISDIR(st.st_mode)) {
		return err_set(w->err, ERR_INPUT, "%s is neither a file, a directory nor a link",
			       path);
	} else {
		buf_adds(&w->list, "dir");
	}
	/* Names hold no NUL, so lines of different trees differ. */
	buf_addc(&w->list, '\0');
	buf_adds(&w->list, path + w->root);
	buf_addc(&w->list, '\n');
	if (rc == 0 && fd >= 0 && S_ISDIR(st.st_mode))
		rc = directory(w, fd, path, depth);
	if (rc == 0 && w->list.full)
		rc = err_set(w->err, ERR_INPUT, "%s: too many long names", path);
	return rc;
}

int task_files_digest(const char *path, char out[DIGEST_HEX], struct err *err)
{
	struct walk w = { .list = BUF_INIT(LIST_MAX), .root = strlen(path), .err = err };
	int rc = entry(&w, AT_FDCWD, path, path, 0);

	if (rc == 0)
		digest_bytes(buf_str(&w.list), w.list.len, out);
	buf_done(&w.list);
	return rc;
}

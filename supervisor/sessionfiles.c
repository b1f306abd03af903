#include "supervisor/sessionfiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

enum { NAMES_MAX = 10000 };

struct looking {
	uint64_t sign;
	unsigned names; /* looked at so far */
};

/* Order of a directory's names is the file system's, so what is found is added up. */
static void add(struct looking *k, const struct stat *st)
{
	const uint64_t v[] = { (uint64_t)st->st_ino, (uint64_t)st->st_size,
			       (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };

	k->sign += map_hash((const char *)v, sizeof(v)) | 1;
}

static void look(struct looking *k, int dir, const char *pattern);

static void visit(struct looking *k, int dir, const char *name, const char *rest)
{
	auto_fd int sub = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!*rest && S_ISREG(st.st_mode))
		add(k, &st);
	if (!*rest || !S_ISDIR(st.st_mode))
		return;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub >= 0)
		look(k, sub, rest);
}

/* As deep as the pattern has components. */
static void look(struct looking *k, int dir, const char *pattern)
{
	size_t n = strcspn(pattern, "/");
	auto_free char *one = mem_strndup(pattern, n);
	const char *rest = pattern + n + (pattern[n] == '/');
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		mem_close(&fd);
		return;
	}
	while (k->names < NAMES_MAX && (de = readdir(d))) {
		k->names++;
		if (!str_eq(de->d_name, ".") && !str_eq(de->d_name, "..") &&
		    str_path_glob(one, de->d_name))
			visit(k, dir, de->d_name, rest);
	}
	closedir(d);
}

uint64_t sessionfiles_sign(const char *dir, const char *pattern)
{
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct looking k = { 0 };

	if (fd >= 0)
		look(&k, fd, pattern);
	return k.sign;
}

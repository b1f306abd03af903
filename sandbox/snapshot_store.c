/* Contents by their digest: STORE/ab/cdef... */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/snapshot_internal.h"

enum { NAME_BYTES = DIGEST_HEX + 1, CHUNK = 1 << 20 };

static void name_of(const char *sha256, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "%.2s/%.62s", sha256, sha256 + 2);
}

int snapshot_copy(int from, int to, uint64_t n)
{
	auto_free char *chunk = NULL;

	while (n) {
		ssize_t k = copy_file_range(from, NULL, to, NULL, n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		/* Not between these file systems, or not by this kernel: by hand. */
		if (k <= 0)
			break;
		n -= (uint64_t)k;
	}
	if (n)
		chunk = mem_alloc(CHUNK);
	while (n) {
		ssize_t k = read(from, chunk, n < CHUNK ? (size_t)n : CHUNK);

		if (k < 0 && errno == EINTR)
			continue;
		if (k == 0)
			errno = ENODATA;
		if (k <= 0 || fd_write_all(to, chunk, (size_t)k) < 0)
			return -1;
		n -= (uint64_t)k;
	}
	return 0;
}

int snapshot_fetch(int store, const char *sha256)
{
	char name[NAME_BYTES];

	name_of(sha256, name);
	return fd_open_beneath(store, name, O_RDONLY | O_NONBLOCK, 0);
}

int snapshot_store(int store, int fd, const struct snapshot_entry *e, uint64_t left, uint64_t *ret)
{
	static const char fresh[] = "new";
	char name[NAME_BYTES], dir[3] = { e->sha256[0], e->sha256[1], '\0' };
	auto_fd int to = -1;
	struct stat st;

	*ret = 0;
	name_of(e->sha256, name);
	if (fstatat(store, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (e->size > left)
		return 1;
	if (mkdirat(store, dir, 0755) < 0 && errno != EEXIST)
		return -1;
	/* What a former try left is written over. */
	to = openat(store, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (to < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	if (ioctl(to, FICLONE, fd) < 0 && snapshot_copy(fd, to, e->size) < 0)
		return -1;
	if (renameat(store, fresh, store, name) < 0)
		return -1;
	*ret = e->size;
	return 0;
}

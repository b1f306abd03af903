#include "sandbox/ids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sysdefs.h"

#define DEPTH_MAX 256 /* directory levels that a walk goes down */

/* Is outside id @id known in our own user namespace? */
static bool id_mapped(const char *map, uint32_t id)
{
	unsigned first, lower, count;
	FILE *f = fopen(map, "re");
	bool hit = false;

	if (!f)
		return false;
	while (!hit && fscanf(f, "%u %u %u", &first, &lower, &count) == 3)
		hit = id >= first && id - first < count;
	fclose(f);
	return hit;
}

static bool both_mapped(uint32_t id)
{
	return id_mapped("/proc/self/uid_map", id) && id_mapped("/proc/self/gid_map", id);
}

void ids_choose(const char *keep, struct ids *ret)
{
	uint32_t id;
	struct stat st;

	*ret = (struct ids){ .uid = geteuid(), .gid = getegid() };
	if (geteuid() != 0)
		return;
	/* Two boxes of one process differ by the clock. */
	id = IDS_FIRST + (uint32_t)(((uint64_t)getpid() * 2654435761u + clock_mono()) % IDS_COUNT);
	if (keep && stat(keep, &st) == 0 && st.st_uid >= IDS_FIRST &&
	    st.st_uid - IDS_FIRST < IDS_COUNT)
		id = st.st_uid;
	/* Inside a container only some ids exist; 65533 is nobody's on every distribution. */
	if (!both_mapped(id))
		id = 65533;
	if (!both_mapped(id))
		return;
	ret->mapped = true;
	ret->uid = id;
	ret->gid = id;
}

bool ids_owned(const struct ids *ids, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == ids->uid && st.st_gid == ids->gid;
}

static int give_tree(const struct ids *ids, int at, const char *name, unsigned depth)
{
	struct dirent *de;
	struct stat st;
	int fd, rc = 0;
	DIR *d;

	if (fchownat(at, name, ids->uid, ids->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (depth >= DEPTH_MAX) {
		errno = ELOOP;
		return -1;
	}
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (rc == 0 && (de = readdir(d))) {
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			rc = give_tree(ids, dirfd(d), de->d_name, depth + 1);
	}
	closedir(d);
	return rc;
}

int ids_give(const struct ids *ids, const char *path, struct err *err)
{
	if (!ids->mapped || ids_owned(ids, path))
		return 0;
	if (give_tree(ids, AT_FDCWD, path, 0) < 0)
		return err_sys(err, "cannot give %s to the box's user id %u", path, ids->uid);
	return 0;
}

static int write_map(pid_t pid, const char *what, uint32_t from, uint32_t to)
{
	char path[64], text[64];
	int n = snprintf(text, sizeof(text), "%u %u 1\n", from, to);
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = (int)write(fd, text, (size_t)n) == n ? 0 : -1;
	close(fd);
	return rc;
}

/* A user namespace that exists only to carry the map @from -> the box. Its one process lives until
 * our end of a pipe closes, so our own death ends it, too. Returns a descriptor or -1. */
static int map_userns(const struct ids *ids, uid_t from_uid, gid_t from_gid)
{
	auto_fd int hold = -1;
	int ends[2], fd = -1;
	char path[64];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		char c;

		close(ends[1]);
		while (read(ends[0], &c, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(ends[0]);
	hold = ends[1];
	if (pid < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (write_map(pid, "uid_map", from_uid, ids->uid) == 0 &&
	    write_map(pid, "gid_map", from_gid, ids->gid) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	mem_close(&hold);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

int ids_mount(const struct ids *ids, const char *path, bool own, bool recursive, int *ret_fd,
	      struct err *err)
{
	struct mount_attr attr = { .propagation = MS_PRIVATE };
	unsigned rec = recursive ? AT_RECURSIVE : 0;
	auto_fd int userns = -1;
	auto_fd int fd = -1;
	struct stat st;

	fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | rec);
	if (fd < 0)
		return err_sys(err, "cannot take a mount of %s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "cannot look at %s", path);
	if (own && (st.st_uid != ids->uid || st.st_gid != ids->gid)) {
		userns = map_userns(ids, st.st_uid, st.st_gid);
		if (userns < 0)
			return err_sys(err, "cannot make a user namespace for the owner of %s",
				       path);
		attr.attr_set = MOUNT_ATTR_IDMAP;
		attr.userns_fd = (uint64_t)userns;
	}
	if (mount_setattr(fd, "", AT_EMPTY_PATH | rec, &attr, sizeof(attr)) < 0) {
		if (userns >= 0 && (errno == EINVAL || errno == EPERM || errno == ENOSYS))
			return 1;
		return err_sys(err, "cannot set up the mount of %s", path);
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Mounts, roots and what lies above them. */
#include "escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
static const char *const dev_names[] = {
	"null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "ptmx",
	"core", "pts", "shm", "mqueue", "console", NULL,
};
static const char *const home_names[] = { "agent", NULL };
static const char *const run_names[] = { "lock", NULL };
static const char *const no_names[] = { NULL };
/* clang-format on */

/* clang-format off */
static const struct call calls[] = {
	{ "mount", SYS_mount, { PTR("x"), PTR("/mnt"), PTR("tmpfs") } },
	{ "mount-cgroup-v1", SYS_mount, { PTR("x"), PTR("/mnt"), PTR("cgroup"), 0, PTR("rdma") } },
	{ "remount", SYS_mount, { 0, PTR("/usr"), 0, 32 } },
	{ "umount2", SYS_umount2, { PTR("/proc/sys"), 2 } },
	{ "open-tree", SYS_open_tree, { (uint64_t)AT_FDCWD, PTR("/"), 1 } },
	{ "move-mount", SYS_move_mount, { 0 } },
	{ "fsopen", SYS_fsopen, { PTR("tmpfs") } },
	{ "fsconfig", SYS_fsconfig, { 0 } },
	{ "fsmount", SYS_fsmount, { 0 } },
	{ "fspick", SYS_fspick, { (uint64_t)AT_FDCWD, PTR("/") } },
	{ "mount-setattr", SYS_mount_setattr, { (uint64_t)AT_FDCWD, PTR("/usr") } },
	{ "pivot-root", SYS_pivot_root, { PTR("."), PTR(".") } },
	{ "chroot", SYS_chroot, { PTR("/usr") } },
	{ "setns", SYS_setns, { 0 } },
	{ NULL },
};
/* clang-format on */

/* @dir holds nothing but @names. */
static long only(const char *dir, const char *const *names)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	long rc = 0;

	while (d && (de = readdir(d))) {
		bool good = strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0;

		for (size_t i = 0; names[i]; i++)
			good |= strcmp(de->d_name, names[i]) == 0;
		if (!good)
			rc = wrong(de->d_name);
	}
	return rc;
}

static long dev_only(void)
{
	return only("/dev", dev_names);
}

static long bare_directories(void)
{
	long rc[] = { only("/home", home_names), only("/root", no_names), only("/run", run_names),
		      only("/sys", no_names) };

	return rc[0] ? rc[0] : rc[1] ? rc[1] : rc[2] ? rc[2] : rc[3];
}

/* The old root is gone, and there is no way up. */
static long no_way_up(void)
{
	struct stat root, up;

	for (int i = 0; i < 64; i++) {
		if (chdir("..") < 0)
			return -errno;
	}
	if (stat("/", &root) < 0 || stat(".", &up) < 0)
		return -errno;
	return root.st_ino == up.st_ino && root.st_dev == up.st_dev ? 0 : wrong("..");
}

/* Nor by the descriptor of a directory. */
static long up_from_descriptor(void)
{
	int root = open("/", O_PATH | O_DIRECTORY), fd = openat(root, "../../../../..", O_PATH);
	struct stat a, b;

	if (fd < 0 || fstat(root, &a) < 0 || fstat(fd, &b) < 0)
		return -errno;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev ? 0 : wrong("..");
}

/* Every mount is nosuid, and none shows where on the host our files lie. */
static long mounts(void)
{
	char *text = strdup(text_of("/proc/self/mountinfo"));

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "nosuid") || strstr(line, "/proctor-") || strstr(line, "/root/"))
			return wrong(line);
	}
	return 0;
}

static long cgroup_root(void)
{
	char *text = strdup(text_of("/proc/self/cgroup"));

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strcmp(strrchr(line, ':'), ":/") != 0)
			return wrong(line);
	}
	return 0;
}

static const struct attempt attempts[] = {
	{ "dev-nodes", dev_only },
	{ "bare-directories", bare_directories },
	{ "no-way-up", no_way_up },
	{ "up-from-descriptor", up_from_descriptor },
	{ "mounts-nosuid", mounts },
	{ "cgroup-root", cgroup_root },
	{ NULL },
};

const struct family family_mounts = {
	"mounts",
	.calls = calls,
	.attempts = attempts,
};

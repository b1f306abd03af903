/* Files of the system and of the workspace, descriptors, queues. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* clang-format off */
static const struct call calls[] = {
	{ "name-to-handle-at", SYS_name_to_handle_at, { (uint64_t)AT_FDCWD, PTR("/") } },
	{ "open-by-handle-at", SYS_open_by_handle_at, { 0 } },
	{ "mknod-block", SYS_mknod, { PTR("node"), S_IFBLK | 0600, 0x800 } },
	{ "mknod-char", SYS_mknod, { PTR("node"), S_IFCHR | 0600, 0x101 } },
	{ "mknod-whiteout", SYS_mknod, { PTR("node"), S_IFCHR, 0 } },
	{ "mknodat-block", SYS_mknodat, { (uint64_t)AT_FDCWD, PTR("node"), S_IFBLK | 0600, 0x800 } },
	{ "mknodat-char-high-half", SYS_mknodat, { (uint64_t)AT_FDCWD, PTR("node"), HI_ALL(S_IFCHR | 0600), 0x101 } },
	{ "rename-to-whiteout", SYS_renameat2, { (uint64_t)AT_FDCWD, PTR("tracked"), (uint64_t)AT_FDCWD, PTR("moved"), 4 } },
	{ "trusted-overlay", SYS_setxattr, { PTR("."), PTR("trusted.overlay.opaque"), PTR("y"), 1 } },
	{ "file-capabilities", SYS_setxattr, { PTR("escape"), PTR("security.capability"), PTR("x"), 1 } },
	{ "link-of-usr", SYS_link, { PTR("/usr/bin/env"), PTR("env") } },
	{ "unlink-in-usr", SYS_unlink, { PTR("/usr/bin/env") } },
	{ "rename-in-usr", SYS_rename, { PTR("/usr/bin/env"), PTR("/usr/bin/" MARK) } },
	{ "rename-into-usr", SYS_rename, { PTR("escape"), PTR("/usr/bin/env") } },
	{ "symlink-in-usr", SYS_symlink, { PTR("/"), PTR("/usr/" MARK) } },
	{ "truncate-in-usr", SYS_truncate, { PTR("/usr/bin/env"), 0 } },
	{ "chmod-in-usr", SYS_chmod, { PTR("/usr/bin/env"), 0777 } },
	{ "mkdir-in-usr", SYS_mkdir, { PTR("/usr/" MARK), 0755 } },
	{ "mkdir-in-proc", SYS_mkdir, { PTR("/proc/" MARK), 0755 } },
	{ "mknod-in-dev", SYS_mknod, { PTR("/dev/" MARK), S_IFIFO | 0600 } },
	{ "chown", SYS_chown, { PTR("escape"), 0, 0 } },
	{ "lease", SYS_fcntl, { 0, F_SETLEASE, F_WRLCK } },
	{ "lease-bit-32", SYS_fcntl, { 0, HI(F_SETLEASE), F_WRLCK } },
	{ NULL },
};
/* clang-format on */

static long descriptors(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			return wrong("a descriptor beside 0, 1, 2 is open");
	}
	return 0;
}

/* A working directory by a descriptor that somebody left open. */
static long directory_left_open(void)
{
	char path[64];

	for (int fd = 3; fd < 32; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (chdir(path) == 0)
			return wrong(path);
	}
	return 0;
}

/* The program that runs is not written. */
static long running_program(void)
{
	return result(open("/proc/self/exe", O_WRONLY));
}

/* Reading gives nothing, whether the name is missing or covered. */
static long empty_files(void)
{
	static const char *const names[] = { "/proc/kcore", "/proc/kmsg", "/proc/keys",
					     "/proc/key-users", "/proc/timer_list" };

	for (size_t i = 0; i < COUNT(names); i++) {
		int fd = open(names[i], O_RDONLY | O_NONBLOCK);
		char c;

		if (fd >= 0 && read(fd, &c, 1) > 0)
			return wrong(names[i]);
	}
	return 0;
}

/* Landlock looks at a queue's own mount, which no path leads to (landlock(7) does not say so). */
static long queues_work(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };

	return result(mq_open("/" MARK, O_CREAT | O_RDWR, 0600, &attr));
}

/* What the overlay keeps for itself in attributes of the user's: what the agent sets there does nothing. */
static long overlay_attributes(void)
{
	static const char *const names[] = { "user.overlay.opaque", "user.overlay.redirect",
					     "user.overlay.metacopy", "user.overlay.whiteout" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (setxattr(".", names[i], "y", 1, 0) < 0 && errno != EPERM && errno != EOPNOTSUPP)
			return -errno;
		if (setxattr("tracked", names[i], "/etc/passwd", 11, 0) < 0 && errno != EPERM &&
		    errno != EOPNOTSUPP)
			return -errno;
	}
	return access("mine", F_OK) == 0 ? result(access("tracked", F_OK))
					 : wrong("files are gone");
}

static long memory_file(void)
{
	return result(memfd_create(MARK, MFD_CLOEXEC));
}

static const struct attempt attempts[] = {
	{ "descriptors", descriptors },         { "directory-left-open", directory_left_open },
	{ "running-program", running_program }, { "proc-empty", empty_files },
	{ "queues-work", queues_work },         { "memory-file", memory_file },
	{ "user-overlay", overlay_attributes }, { NULL },
};

const struct family family_files = {
	"files",
	.calls = calls,
	.attempts = attempts,
};

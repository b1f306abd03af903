#include "supervisor/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, Linux 6.9 */
#define PAGEMAP_IN_RAM  (1ull << 63)
#define PAGEMAP_OF_FILE (1ull << 61) /* of a file, or memory that is shared like one */
#define PAGE_BYTES      4096u

enum { ARGV_BYTES = 65536, ARGV_WORDS = 256, FDS_MAX = 65536 };

static ssize_t slurp(pid_t pid, const char *name, char *to, size_t n)
{
	char path[64];
	auto_fd int fd = -1;
	size_t got = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (got < n) {
		ssize_t r = read(fd, to + got, n - got);

		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

void procfs_argv(pid_t pid, struct strv *ret)
{
	auto_free char *text = mem_alloc(ARGV_BYTES + 1);
	ssize_t n = slurp(pid, "cmdline", text, ARGV_BYTES);

	strv_done(ret);
	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *p = text; p < text + n && ret->n < ARGV_WORDS; p += strlen(p) + 1)
		strv_add(ret, p);
}

int procfs_borrow(pid_t tid, int fd)
{
	auto_fd int pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
	pid_t pid;

	if (pidfd < 0 && errno == EINVAL) {
		pid = procfs_tgid(tid); /* its threads share descriptors, but for rare ones */
		pidfd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	}
	return pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

char *procfs_link(pid_t pid, const char *name)
{
	char path[64], to[4096];
	auto_fd int ours = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	n = readlink(path, to, sizeof(to));
	if (n < 0 && errno == EACCES && strncmp(name, "fd/", 3) == 0) {
		ours = procfs_borrow(pid, atoi(name + 3));
		snprintf(path, sizeof(path), "/proc/self/fd/%d", ours);
		n = readlink(path, to, sizeof(to));
	}
	return n < 0 ? NULL : mem_strndup(to, (size_t)n);
}

pid_t procfs_tgid(pid_t tid)
{
	char text[2048];
	ssize_t n = slurp(tid, "status", text, sizeof(text) - 1);
	char *at;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strstr(text, "\nTgid:");
	return at ? (pid_t)strtol(at + 6, NULL, 10) : 0;
}

bool procfs_is_thread(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

int procfs_pos(pid_t tid, int fd, uint64_t *ret)
{
	char name[32], text[128];
	ssize_t n;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	n = slurp(tid, name, text, sizeof(text) - 1);
	if (n < 5)
		return -1;
	text[n] = '\0';
	*ret = strtoull(text + 4, NULL, 10); /* first line is "pos:\tN" (proc(5)) */
	return 0;
}

bool procfs_same_files(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == 0;
}

bool procfs_same_vm(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

bool procfs_has_fd(pid_t tid, int fd)
{
	struct stat st;

	return procfs_fd_stat(tid, fd, &st) == 0;
}

int procfs_fd_stat(pid_t tid, int fd, struct stat *ret)
{
	auto_fd int ours = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	if (stat(path, ret) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	ours = procfs_borrow(tid, fd);
	return ours < 0 ? -1 : fstat(ours, ret);
}

int procfs_fd_flags(pid_t tid, int fd, uint64_t *ret)
{
	char name[32], text[128], *at;
	ssize_t n;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	n = slurp(tid, name, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strstr(text, "\nflags:");
	if (!at)
		return -1;
	*ret = strtoull(at + strlen("\nflags:"), NULL, 8);
	return 0;
}

void procfs_each_fd(pid_t tid, bool (*fn)(void *arg, int fd), void *arg)
{
	struct dirent *de;
	char path[64];
	int n = 0;
	DIR *dir;

	/* Unlike /proc/PID/fd it can be listed where the process is not dumpable. */
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)tid);
	dir = opendir(path);
	while (dir && n++ < FDS_MAX && (de = readdir(dir))) {
		if (de->d_name[0] != '.' && !fn(arg, atoi(de->d_name)))
			break;
	}
	if (dir)
		closedir(dir);
}

bool procfs_private(pid_t tid, uint64_t addr, size_t n)
{
	uint64_t first = addr / PAGE_BYTES, last = (addr + (n ? n - 1 : 0)) / PAGE_BYTES, page[2];
	size_t want = (size_t)(last - first + 1) * sizeof(page[0]);
	auto_fd int fd = -1;
	char path[64];

	if (last - first > 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, page, want, (off_t)(first * sizeof(page[0]))) != (ssize_t)want)
		return false;
	for (size_t i = 0; i < want / sizeof(page[0]); i++) {
		if ((page[i] & (PAGEMAP_IN_RAM | PAGEMAP_OF_FILE)) != PAGEMAP_IN_RAM)
			return false;
	}
	return true;
}

#include "supervisor/procfs.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { ARGV_BYTES = 65536, ARGV_WORDS = 256 };

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

char *procfs_link(pid_t pid, const char *name)
{
	char path[64], to[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	n = readlink(path, to, sizeof(to));
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

bool procfs_has_fd(pid_t tid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	return lstat(path, &st) == 0;
}

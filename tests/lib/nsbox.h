/* Namespaces for tests of the network: a process that is root in its own user namespace, processes that
 * hold a net namespace each, and clients that enter one. Not for use outside tests/. */
#ifndef TESTS_LIB_NSBOX_H
#define TESTS_LIB_NSBOX_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Write @text to @path. 0 or -1 with errno. */
static inline int nsbox_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* New namespaces @flags for this process, which is uid 0 in the user namespace among them. 0 or -1 with
 * errno. */
static inline int nsbox_unshare(int flags)
{
	char map[2][64];

	snprintf(map[0], sizeof(map[0]), "0 %u 1\n", geteuid());
	snprintf(map[1], sizeof(map[1]), "0 %u 1\n", getegid());
	if (unshare(flags) < 0)
		return -1;
	if (!(flags & CLONE_NEWUSER))
		return 0;
	if (nsbox_write("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
		return -1;
	return nsbox_write("/proc/self/uid_map", map[0]) < 0
		       ? -1
		       : nsbox_write("/proc/self/gid_map", map[1]);
}

/* Let @target of this mount namespace show @text instead. 0 or -1 with errno. */
static inline int nsbox_cover(const char *target, const char *text)
{
	char name[] = "/tmp/nsbox-XXXXXX";
	int fd = mkstemp(name), rc = -1;

	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, 0644) == 0)
		rc = mount(name, target, NULL, MS_BIND, NULL);
	close(fd);
	unlink(name);
	return rc;
}

/* A process that holds namespaces. */
struct nsbox {
	pid_t pid;
	int user_fd, net_fd; /* user_fd -1 without a user namespace of its own */
};

static inline int nsbox_open_ns(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Fork a process in new namespaces @flags that then runs @fn (NULL: waits for its end). It ends with this
 * one. 0 or -1 with errno. */
static inline int nsbox_start(struct nsbox *b, int flags, void (*fn)(void *), void *arg)
{
	int p[2];
	char c = 1;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	b->pid = fork();
	if (b->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		c = nsbox_unshare(flags) < 0 ? 1 : 0;
		/* New ids clear it: prctl(2). */
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (write(p[1], &c, 1) != 1 || c)
			_exit(1);
		close(p[0]);
		close(p[1]);
		if (fn)
			fn(arg);
		for (;;)
			pause();
	}
	close(p[1]);
	if (b->pid < 0 || read(p[0], &c, 1) != 1)
		c = 1;
	close(p[0]);
	b->net_fd = c ? -1 : nsbox_open_ns(b->pid, "net");
	b->user_fd = c || !(flags & CLONE_NEWUSER) ? -1 : nsbox_open_ns(b->pid, "user");
	return c ? -1 : 0;
}

/* End it. */
static inline void nsbox_end(struct nsbox *b)
{
	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		waitpid(b->pid, NULL, 0);
	}
	if (b->user_fd >= 0)
		close(b->user_fd);
	if (b->net_fd >= 0)
		close(b->net_fd);
}

/* Enter @b's namespaces. 0 or -1 with errno. */
static inline int nsbox_enter(const struct nsbox *b)
{
	if (b->user_fd >= 0 && setns(b->user_fd, CLONE_NEWUSER) < 0)
		return -1;
	return setns(b->net_fd, CLONE_NEWNET);
}

/* Run a command line made by printf. True when it succeeds. */
static inline bool nsbox_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline bool nsbox_run(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return system(line) == 0;
}

#endif

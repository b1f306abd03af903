#include "sandbox/janitor_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

#define BUSY_NS    (3 * CLOCK_SEC)
#define STEP_MS    5
#define PROCS_MAX  (4u << 20) /* bytes of cgroup.procs */
#define LEVELS_MAX 16u

/* The kernel tells nobody when a mount of a dying namespace or a member of a v1 cgroup is gone, so
 * these two things alone are asked for again at a fixed pace. False when the time is up. */
static bool again(uint64_t end)
{
	if (clock_mono() >= end)
		return false;
	(void)poll(NULL, 0, STEP_MS); /* only the time counts */
	return true;
}

void janitor_remove(const char *path)
{
	uint64_t end = clock_mono() + BUSY_NS;

	while (fd_remove_tree(AT_FDCWD, path) < 0 && (errno == EBUSY || errno == ENOTEMPTY) &&
	       again(end))
		continue;
}

/* Call @fn for each cgroup directly below @path. */
static void each_child(const char *path, unsigned level, void (*fn)(const char *, unsigned))
{
	DIR *d = level < LEVELS_MAX ? opendir(path) : NULL;
	struct dirent *de;

	while (d && (de = readdir(d))) {
		auto_free char *child = path_join(path, de->d_name);

		if (de->d_type == DT_DIR && strcmp(de->d_name, ".") != 0 &&
		    strcmp(de->d_name, "..") != 0)
			fn(child, level + 1);
	}
	if (d)
		closedir(d);
}

/* SIGKILL to every member. Returns how many there were. */
static size_t kill_members(const char *path)
{
	auto_free char *procs = path_join(path, "cgroup.procs");
	auto_buf text = BUF_INIT(PROCS_MAX);
	char *line, *rest;
	size_t n = 0;

	if (fd_read_file(procs, &text, NULL) < 0 || !text.len)
		return 0;
	for (rest = text.data; (line = strsep(&rest, "\n"));) {
		long pid = strtol(line, NULL, 10);

		/* 0 is a process of a PID namespace that we cannot see into. */
		if (pid > 1 && pid != getpid()) {
			(void)kill((pid_t)pid, SIGKILL); /* it may have ended meanwhile */
			n++;
		}
	}
	return n;
}

/* Write to a control file. False when there is none or the kernel refuses. */
static bool control(const char *path, const char *name, const char *text)
{
	auto_free char *file = path_join(path, name);
	auto_fd int fd = open(file, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0;
}

void janitor_thaw_cgroup(const char *path)
{
	(void)control(path, "freezer.state", "THAWED"); /* not there in version 2 */
}

static void kill_level(const char *path, unsigned level)
{
	uint64_t end = clock_mono() + BUSY_NS;

	/* A fork bomb can run ahead of one pass over the list; a second finds what it made. */
	if (!control(path, "cgroup.kill", "1")) {
		while (kill_members(path) && again(end))
			continue;
		each_child(path, level, kill_level);
	}
}

void janitor_kill_cgroup(const char *path)
{
	kill_level(path, 0);
}

static void remove_level(const char *path, unsigned level)
{
	uint64_t end = clock_mono() + BUSY_NS;

	each_child(path, level, remove_level);
	while (rmdir(path) < 0 && errno == EBUSY && again(end))
		continue;
}

void janitor_remove_cgroup(const char *path)
{
	remove_level(path, 0);
}

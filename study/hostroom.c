#include "study/hostroom.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define FILE_BYTES (64u << 10)

/* One process of /proc. */
struct proc {
	pid_t pid, parent;
	uint64_t rss;
	bool in; /* belongs to the tree */
};

static bool read_small(const char *path, struct buf *b)
{
	buf_clear(b);
	return fd_read_file(path, b, NULL) == 0;
}

/* A number behind "@key:" in kB, as in /proc/meminfo. */
static uint64_t meminfo(const char *key)
{
	auto_buf b = BUF_INIT(FILE_BYTES);
	const char *at = read_small("/proc/meminfo", &b) ? strstr(buf_str(&b), key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : UINT64_MAX;
}

/* A file of a control group that holds one number; UINT64_MAX for "max" or none. */
static uint64_t group_number(const char *group, const char *name)
{
	auto_free char *path = path_join(group, name);
	auto_buf b = BUF_INIT(FILE_BYTES);

	if (!read_small(path, &b) || !isdigit((unsigned char)buf_str(&b)[0]))
		return UINT64_MAX;
	return strtoull(buf_str(&b), NULL, 10);
}

/* What is left in our control group and those above it. */
static uint64_t group_left(void)
{
	auto_buf b = BUF_INIT(FILE_BYTES);
	uint64_t left = UINT64_MAX;
	auto_free char *group = NULL;
	const char *at = read_small("/proc/self/cgroup", &b) ? strstr(buf_str(&b), "0::/") : NULL;

	if (!at)
		return left;
	group = mem_printf("/sys/fs/cgroup/%.*s", (int)strcspn(at + 4, "\n"), at + 4);
	while (str_starts(group, "/sys/fs/cgroup")) {
		uint64_t max = group_number(group, "memory.max");
		uint64_t now = group_number(group, "memory.current");
		char *up;

		if (max != UINT64_MAX && now != UINT64_MAX && (now > max ? 0 : max - now) < left)
			left = now > max ? 0 : max - now;
		up = path_dir(group);
		free(group);
		group = up;
	}
	return left;
}

uint64_t hostroom_memory(void)
{
	uint64_t machine = meminfo("MemAvailable:"), group = group_left();

	return machine < group ? machine : group;
}

uint64_t hostroom_disk(const char *path)
{
	struct statvfs st;

	return statvfs(path, &st) < 0 ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

/* Field @n (from 1) of /proc/PID/stat; the name of the program, which may hold anything, is passed over. */
static uint64_t stat_field(const char *text, unsigned n)
{
	const char *at = strrchr(text, ')');

	for (unsigned i = 2; at && i < n; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool read_stat(pid_t pid, struct buf *b)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_small(path, b);
}

uint64_t hostroom_start_time(pid_t pid)
{
	auto_buf b = BUF_INIT(FILE_BYTES);

	return read_stat(pid, &b) ? stat_field(buf_str(&b), 22) : 0;
}

/* Everything that runs. Caller frees. */
static struct proc *all(size_t *ret_n)
{
	long page = sysconf(_SC_PAGESIZE);
	struct proc *v = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir("/proc");
	const struct dirent *e;
	auto_buf b = BUF_INIT(FILE_BYTES);

	while (d && (e = readdir(d))) {
		uint64_t pid;

		if (str_u64(e->d_name, &pid) < 0 || !read_stat((pid_t)pid, &b))
			continue;
		MEM_GROW(v, cap, n + 1);
		v[n++] = (struct proc){ .pid = (pid_t)pid,
					.parent = (pid_t)stat_field(buf_str(&b), 4),
					.rss = stat_field(buf_str(&b), 24) * (uint64_t)page };
	}
	if (d)
		closedir(d);
	*ret_n = n;
	return v;
}

static int by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

uint64_t hostroom_tree_memory(pid_t pid)
{
	size_t n;
	auto_free struct proc *v = all(&n);
	uint64_t sum = 0;
	bool more = true;

	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), by_pid);
	/* Numbers come around, so that a child's may be below its parent's: until nothing is added. */
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			struct proc key = { .pid = v[i].parent };
			const struct proc *up;

			if (v[i].in)
				continue;
			up = bsearch(&key, v, n, sizeof(*v), by_pid);
			if (v[i].pid == pid || (up && up->in)) {
				v[i].in = more = true;
				sum += v[i].rss;
			}
		}
	}
	return sum;
}

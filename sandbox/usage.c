/* What a box uses: from its cgroup, and where that knows nothing, from /proc. */
#include "sandbox/box_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/cgroup.h"

#define TASKS_MAX 65536 /* processes looked at in one walk */
#define DEPTH_MAX 512   /* generations */

struct sum {
	uint64_t cpu_ticks, mem_pages, tasks;
	unsigned left;
};

static ssize_t read_small(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n;
}

/* Fields of /proc/PID/stat, counted from 3 behind the name, which may hold anything (proc(5)). */
static bool add_stat(pid_t pid, struct sum *sum)
{
	uint64_t field[25] = { 0 };
	char path[64], text[1024];
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (read_small(path, text, sizeof(text)) <= 0)
		return false;
	p = strrchr(text, ')');
	if (!p || strlen(p) < 4)
		return false;
	p += 3;
	for (int i = 4; i < 25; i++)
		field[i] = strtoull(p, &p, 10);
	/* utime, stime, and those of its reaped children: together every tick is counted once. */
	sum->cpu_ticks += field[14] + field[15] + field[16] + field[17];
	sum->tasks += field[20];
	sum->mem_pages += field[24];
	return true;
}

static void add_tree(pid_t pid, unsigned depth, struct sum *sum);

/* Children of one thread (task/TID/children, CONFIG_PROC_CHILDREN). */
static void add_children(pid_t pid, const char *tid, unsigned depth, struct sum *sum)
{
	auto_free char *text = mem_alloc(65536);
	char path[320];

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
	if (read_small(path, text, 65536) <= 0)
		return;
	for (char *p = text; *p;) {
		char *end;
		long child = strtol(p, &end, 10);

		if (end == p)
			return;
		add_tree((pid_t)child, depth + 1, sum);
		p = *end ? end + 1 : end;
	}
}

/* Orphans are PID 1's children, so the tree below it is the whole box. A process that moves
 * meanwhile may be missed once: these are samples. */
static void add_tree(pid_t pid, unsigned depth, struct sum *sum)
{
	struct dirent *de;
	char path[64];
	DIR *d;

	if (!sum->left || depth > DEPTH_MAX)
		return;
	sum->left--;
	if (!add_stat(pid, sum))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return;
	while ((de = readdir(d))) {
		if (de->d_name[0] != '.')
			add_children(pid, de->d_name, depth, sum);
	}
	closedir(d);
}

void box_usage(struct box *box, uint64_t *cpu_ns, uint64_t *mem_bytes, uint64_t *tasks)
{
	struct sum sum = { .left = TASKS_MAX };

	*cpu_ns = *mem_bytes = *tasks = 0;
	if (box->cg)
		cgroup_usage(box->cg, cpu_ns, mem_bytes, tasks);
	if (*tasks)
		--*tasks; /* PID 1 is ours */
	if (*cpu_ns && *mem_bytes && box->cg && cgroup_has(box->cg, CGROUP_PIDS))
		return;
	if (box->init_pid <= 0)
		return;
	add_tree(box->init_pid, 0, &sum);
	if (!*cpu_ns)
		*cpu_ns = sum.cpu_ticks * (CLOCK_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	if (!*mem_bytes) {
		uint64_t now = sum.mem_pages * (uint64_t)sysconf(_SC_PAGESIZE);

		if (now > box->max_mem)
			box->max_mem = now;
		*mem_bytes = box->max_mem;
	}
	if (!*tasks && sum.tasks)
		*tasks = sum.tasks - 1;
}

bool box_oom(const struct box *box)
{
	return box->cg && cgroup_oom(box->cg);
}

int box_freeze(struct box *box, bool on)
{
	return box->cg ? cgroup_freeze(box->cg, on) : -1;
}

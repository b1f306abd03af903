#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/cgroup_internal.h"
#include "sandbox/janitor.h"

#define DIRS        (CGROUP_PARTS + 1)
#define PIDS_MARGIN 16 /* above limits.processes, whose rlimit is the one that agents see */
#define WAIT_FREEZE CLOCK_SEC
#define WAIT_REMOVE (2 * CLOCK_SEC)

struct cgroup {
	char *dir[DIRS]; /* owned; [0] is the version 2 group, the others version 1; NULL = none */
	int part[CGROUP_PARTS]; /* index into dir, -1 = not there */
	char text[96];
};

/* File names of one controller in both versions, and the version 1 hierarchy it lives in. */
static const struct {
	const char *name, *v1;
	const char *probe; /* version 2: file that exists when the controller is on */
} parts[CGROUP_PARTS] = {
	[CGROUP_MEMORY] = { "memory", "memory", "memory.max" },
	[CGROUP_PIDS] = { "pids", "pids", "pids.max" },
	[CGROUP_CPU] = { "cpu", "cpuacct", "cpu.stat" },
	[CGROUP_FREEZER] = { "freezer", "freezer", "cgroup.freeze" },
};

static int put(const char *dir, const char *file, const char *text)
{
	auto_free char *path = mem_printf("%s/%s", dir, file);
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static int put_u64(const char *dir, const char *file, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return put(dir, file, text);
}

/* Contents of a small file into @out; false when it cannot be read. */
static bool get(const char *dir, const char *file, char *out, size_t size)
{
	auto_free char *path = mem_printf("%s/%s", dir, file);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* The number behind @key ("oom_kill 3") in @file, or the file's own number when @key is NULL. 0
 * when it is not there. */
static uint64_t get_u64(const char *dir, const char *file, const char *key)
{
	char text[4096];
	const char *p = text;

	if (!get(dir, file, text, sizeof(text)))
		return 0;
	if (!key)
		return strtoull(p, NULL, 10);
	while (*p) {
		size_t n = strlen(key);

		if (strncmp(p, key, n) == 0 && p[n] == ' ')
			return strtoull(p + n + 1, NULL, 10);
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return 0;
}

static bool exists(const char *dir, const char *file)
{
	auto_free char *path = mem_printf("%s/%s", dir, file);

	return access(path, F_OK) == 0;
}

/* mkdir @parent/proctor-<pid>-<n> with the first free n. The janitor hears of it first: between the
 * two we may be killed. NULL with errno. Caller frees. */
static char *make_group(const char *parent, struct janitor *jan)
{
	for (unsigned n = 0; n < 10000; n++) {
		auto_free char *dir = mem_printf("%s/proctor-%d-%u", parent, (int)getpid(), n);

		if (access(dir, F_OK) == 0)
			continue;
		if (access(parent, W_OK) < 0)
			return NULL;
		if (jan && janitor_cgroup(jan, dir) < 0)
			return NULL;
		if (mkdir(dir, 0755) == 0)
			return take_ptr(&dir);
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

/* Is process @pid ourselves or a child of ours? */
static bool is_ours(pid_t pid)
{
	char path[64], text[512];
	const char *p;

	if (pid == getpid())
		return true;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (!get(path, "stat", text, sizeof(text)))
		return false;
	p = strrchr(text, ')');
	return p && strlen(p) > 4 && strtol(p + 4, NULL, 10) == getpid();
}

/* A version 2 group with processes of its own cannot hand controllers down ("no internal
 * processes", cgroups(7)). When nobody but us is in @parent, as in a delegated scope, we step aside
 * into a leaf. 0 or -1. */
static int step_aside(const char *parent, struct janitor *jan)
{
	auto_free char *leaf = NULL;
	char text[4096];

	if (!get(parent, "cgroup.procs", text, sizeof(text)))
		return -1;
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (!is_ours((pid_t)strtol(p, NULL, 10)))
			return -1;
	}
	leaf = make_group(parent, jan);
	if (!leaf)
		return -1;
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		char one[32];

		snprintf(one, sizeof(one), "%ld", strtol(p, NULL, 10));
		if (put(leaf, "cgroup.procs", one) < 0)
			return -1;
	}
	return 0;
}

/* Hand the controllers down from our own group, where they are not yet. */
static void enable(const char *parent, struct janitor *jan)
{
	static const char *const want[] = { "+memory", "+pids" };
	char on[512];

	if (!get(parent, "cgroup.controllers", on, sizeof(on)) || !strstr(on, "memory"))
		return; /* version 1 has them */
	if (get(parent, "cgroup.subtree_control", on, sizeof(on)) && strstr(on, "memory") &&
	    strstr(on, "pids"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		if (put(parent, "cgroup.subtree_control", want[i]) < 0 && errno == EBUSY &&
		    step_aside(parent, jan) == 0)
			/* Failure shows as a missing memory.max. */
			(void)put(parent, "cgroup.subtree_control", want[i]);
	}
}

static void make_v2(struct cgroup *cg, struct janitor *jan, int *why)
{
	auto_free char *parent = cgroup_find(NULL);

	if (!parent)
		return;
	cg->dir[0] = make_group(parent, jan);
	if (!cg->dir[0]) {
		*why = errno;
		return;
	}
	if (!exists(cg->dir[0], "memory.max"))
		enable(parent, jan);
	for (int i = 0; i < CGROUP_PARTS; i++) {
		if (exists(cg->dir[0], parts[i].probe))
			cg->part[i] = 0;
	}
}

static void make_v1(struct cgroup *cg, int part, struct janitor *jan, int *why)
{
	auto_free char *parent = cgroup_find(parts[part].v1);

	if (!parent)
		return;
	/* Two controllers may share one hierarchy ("cpu,cpuacct"): then one group serves both. */
	for (int i = 1; i < DIRS; i++) {
		if (cg->dir[i] && strncmp(cg->dir[i], parent, strlen(parent)) == 0 &&
		    str_starts(cg->dir[i] + strlen(parent), "/proctor-")) {
			cg->part[part] = i;
			return;
		}
	}
	cg->dir[part + 1] = make_group(parent, jan);
	if (cg->dir[part + 1])
		cg->part[part] = part + 1;
	else
		*why = errno;
}

static int set_limits(const struct cgroup *cg, const struct limits *l, struct err *err)
{
	uint64_t mem = l->max[LIMIT_MEMORY], pids = l->max[LIMIT_PROCESSES];
	int m = cg->part[CGROUP_MEMORY], p = cg->part[CGROUP_PIDS];

	if (mem && m >= 0) {
		if (put_u64(cg->dir[m], m ? "memory.limit_in_bytes" : "memory.max", mem) < 0)
			return err_sys(err, "cannot set the memory limit in %s", cg->dir[m]);
		/* Without swap accounting these files do not exist, nor does the loophole. */
		if (m)
			(void)put_u64(cg->dir[m], "memory.memsw.limit_in_bytes", mem);
		else
			(void)put_u64(cg->dir[m], "memory.swap.max", 0);
	}
	if (pids && p >= 0 && put_u64(cg->dir[p], "pids.max", pids + PIDS_MARGIN) < 0)
		return err_sys(err, "cannot set the process limit in %s", cg->dir[p]);
	return 0;
}

static void describe(struct cgroup *cg)
{
	size_t n = 0;

	for (int i = 0; i < CGROUP_PARTS; i++) {
		if (cg->part[i] >= 0)
			n += (size_t)snprintf(cg->text + n, sizeof(cg->text) - n, "%s%s v%d",
					      n ? ", " : "", parts[i].name, cg->part[i] ? 1 : 2);
	}
}

static const char *why_not(int sys)
{
	static const struct {
		int sys;
		const char *text;
	} why[] = {
		{ 0, "off: no cgroup file system is mounted" },
		{ EROFS, "off: the cgroup file system is mounted read-only" },
		{ EACCES, "off: our own cgroup is not delegated to this user" },
		{ EPERM, "off: our own cgroup is not delegated to this user" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(why); i++) {
		if (why[i].sys == sys)
			return why[i].text;
	}
	return "off: no group can be made below our own cgroup";
}

int cgroup_new(const struct limits *l, struct janitor *jan, struct cgroup **ret,
	       const char **ret_why, struct err *err)
{
	struct cgroup *cg = mem_zalloc(1, sizeof(*cg));
	bool any = false;
	int why = 0, rc;

	for (int i = 0; i < CGROUP_PARTS; i++)
		cg->part[i] = -1;
	make_v2(cg, jan, &why);
	for (int i = 0; i < CGROUP_PARTS; i++) {
		if (cg->part[i] < 0)
			make_v1(cg, i, jan, &why);
		any |= cg->part[i] >= 0;
	}
	if (!any) {
		*ret_why = why_not(why);
		cgroup_free(cg);
		return 1;
	}
	rc = set_limits(cg, l, err);
	if (rc < 0) {
		cgroup_free(cg);
		return rc;
	}
	describe(cg);
	*ret = cg;
	return 0;
}

const char *cgroup_text(const struct cgroup *cg)
{
	return cg->text;
}

bool cgroup_has(const struct cgroup *cg, enum cgroup_part part)
{
	return cg->part[part] >= 0;
}

int cgroup_add(struct cgroup *cg, pid_t pid, struct err *err)
{
	for (int i = 0; i < DIRS; i++) {
		if (cg->dir[i] && put_u64(cg->dir[i], "cgroup.procs", (uint64_t)pid) < 0)
			return err_sys(err, "cannot put the box into %s", cg->dir[i]);
	}
	return 0;
}

void cgroup_usage(const struct cgroup *cg, uint64_t *cpu_ns, uint64_t *mem_bytes, uint64_t *tasks)
{
	int c = cg->part[CGROUP_CPU], m = cg->part[CGROUP_MEMORY], p = cg->part[CGROUP_PIDS];

	*cpu_ns = *mem_bytes = *tasks = 0;
	if (c == 0)
		*cpu_ns = get_u64(cg->dir[0], "cpu.stat", "usage_usec") * 1000;
	else if (c > 0)
		*cpu_ns = get_u64(cg->dir[c], "cpuacct.usage", NULL);
	if (m == 0) {
		/* memory.peak: Linux 5.19. */
		*mem_bytes = get_u64(cg->dir[0], "memory.peak", NULL);
		if (!*mem_bytes)
			*mem_bytes = get_u64(cg->dir[0], "memory.current", NULL);
	} else if (m > 0) {
		*mem_bytes = get_u64(cg->dir[m], "memory.max_usage_in_bytes", NULL);
	}
	if (p >= 0)
		*tasks = get_u64(cg->dir[p], "pids.current", NULL);
}

bool cgroup_oom(const struct cgroup *cg)
{
	int m = cg->part[CGROUP_MEMORY];

	if (m < 0)
		return false;
	return get_u64(cg->dir[m], m ? "memory.oom_control" : "memory.events", "oom_kill") > 0;
}

/* Wait until @test says so, woken by changes of @dir/cgroup.events where there is one; version 1
 * notifies nobody, so it is looked at every millisecond. */
static int await(const char *dir, bool v1, bool (*test)(const char *dir, bool want), bool want,
		 uint64_t max)
{
	auto_free char *path = mem_printf("%s/cgroup.events", dir);
	auto_fd int fd = v1 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	uint64_t end = clock_mono() + max;
	char text[256];

	while (!test(dir, want)) {
		struct pollfd pfd = { .fd = fd, .events = POLLPRI };

		if (clock_mono() >= end)
			return -1;
		(void)poll(&pfd, 1, fd < 0 ? 1 : 10); /* whatever woke us, the test decides */
		if (fd >= 0)
			(void)!pread(fd, text, sizeof(text), 0); /* rearms the notification */
	}
	return 0;
}

static bool frozen_v2(const char *dir, bool want)
{
	return (get_u64(dir, "cgroup.events", "frozen") == 1) == want;
}

static bool frozen_v1(const char *dir, bool want)
{
	char text[32];

	return get(dir, "freezer.state", text, sizeof(text)) &&
	       str_starts(text, want ? "FROZEN" : "THAWED");
}

int cgroup_freeze(struct cgroup *cg, bool on)
{
	int f = cg->part[CGROUP_FREEZER];
	const char *dir;

	if (f < 0)
		return -1;
	dir = cg->dir[f];
	if (f == 0) {
		if (put(dir, "cgroup.freeze", on ? "1" : "0") < 0)
			return -1;
		return await(dir, false, frozen_v2, on, WAIT_FREEZE);
	}
	if (put(dir, "freezer.state", on ? "FROZEN" : "THAWED") < 0)
		return -1;
	return await(dir, true, frozen_v1, on, WAIT_FREEZE);
}

void cgroup_kill(struct cgroup *cg)
{
	char text[65536];

	if (cg->dir[0] && put(cg->dir[0], "cgroup.kill", "1") == 0)
		return;
	for (int i = 0; i < DIRS; i++) {
		if (!cg->dir[i] || !get(cg->dir[i], "cgroup.procs", text, sizeof(text)))
			continue;
		for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
			pid_t pid = (pid_t)strtol(p, NULL, 10);

			/* A number read a moment ago: the group holds nobody but the box. */
			if (pid > 1 && pid != getpid())
				(void)kill(pid, SIGKILL);
		}
		return;
	}
}

static bool removed(const char *dir, bool want)
{
	return (rmdir(dir) == 0 || errno != EBUSY) == want;
}

struct cgroup *cgroup_free(struct cgroup *cg)
{
	if (!cg)
		return NULL;
	for (int i = 0; i < DIRS; i++) {
		/* What does not go away now is the janitor's. */
		if (cg->dir[i])
			(void)await(cg->dir[i], i > 0, removed, true, WAIT_REMOVE);
		free(cg->dir[i]);
	}
	free(cg);
	return NULL;
}

/* Where our own group is found (parsing), and real groups where this host lets us make them. */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/cgroup_internal.h"
#include "tests/lib/tap.h"

/* clang-format off */
static const struct {
	const char *name, *mounts, *own, *controller, *want;
} finds[] = {
	{ "v2 at the usual place",
	  "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
	  "0::/user.slice/user-1000.slice/app.scope\n", NULL,
	  "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope" },
	{ "v2, root group", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n", NULL,
	  "/sys/fs/cgroup" },
	{ "v1 controller among several",
	  "31 30 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
	  "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n",
	  "4:memory:/m\n2:cpu,cpuacct:/a/b\n", "cpuacct", "/sys/fs/cgroup/cpu,cpuacct/a/b" },
	{ "v1 name is not a prefix match", "32 31 0:29 / /c rw - cgroup cgroup rw,cpuacct\n",
	  "2:cpuacct:/a\n", "cpu", NULL },
	{ "container: a part of the hierarchy is mounted",
	  "32 31 0:29 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
	  "4:memory:/docker/abc\n", "memory", "/sys/fs/cgroup/memory" },
	{ "container: our group below the mounted part",
	  "32 31 0:29 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
	  "4:memory:/docker/abc/x\n", "memory", "/sys/fs/cgroup/memory/x" },
	{ "another part is mounted",
	  "32 31 0:29 /docker/abc /m rw - cgroup cgroup rw,memory\n", "4:memory:/docker/abcd\n",
	  "memory", NULL },
	{ "our group is outside the namespace", "30 23 0:26 / /c rw - cgroup2 cgroup2 rw\n",
	  "0::/../x\n", NULL, NULL },
	{ "blank in the mount point", "30 23 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n", "0::/x\n",
	  NULL, "/a b/x" },
	{ "not mounted", "30 23 0:26 / /proc rw - proc proc rw\n", "0::/x\n", NULL, NULL },
	{ "the later mount wins",
	  "30 23 0:26 / /one rw - cgroup2 cgroup2 rw\n31 23 0:26 / /two rw - cgroup2 cgroup2 rw\n",
	  "0::/x\n", NULL, "/two/x" },
	{ "no own line", "30 23 0:26 / /c rw - cgroup2 cgroup2 rw\n", "1:memory:/x\n", NULL, NULL },
	{ "torn line", "30 23 0:26 - cgroup2 cgroup2 rw\n", "0::/x\n", NULL, NULL },
};
/* clang-format on */

static void finding(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(finds); i++) {
		auto_free char *got =
			cgroup_find_in(finds[i].mounts, finds[i].own, finds[i].controller);

		tap_is_str(got, finds[i].want, finds[i].name);
	}
}

/* Groups named after us below our own, in any hierarchy. */
static unsigned groups_left(void)
{
	auto_free char *cmd =
		mem_printf("find /sys/fs/cgroup -maxdepth 6 -type d -name 'proctor-%d-*' "
			   "2>/dev/null | wc -l",
			   (int)getpid());
	FILE *p = popen(cmd, "re");
	unsigned n = 99;

	if (p && fscanf(p, "%u", &n) != 1)
		n = 99;
	if (p)
		pclose(p);
	return n;
}

/* A child that waits for a byte on @go, then runs @work. */
static pid_t child(int go, void (*work)(void))
{
	pid_t pid = fork();
	char c;

	if (pid == 0) {
		if (read(go, &c, 1) == 1)
			work();
		_exit(0);
	}
	return pid;
}

static void burn(void)
{
	struct timespec t = { 0 };

	/* Of CPU time: the machine may be busy with others. */
	while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 && t.tv_nsec < 100000000)
		;
}

static void eat(void)
{
	for (int i = 0; i < 256; i++) {
		char *p = malloc(1u << 20);

		if (p)
			memset(p, 1, 1u << 20);
		__asm__ volatile("" : : "r"(p) : "memory");
	}
}

static void spin(void)
{
	for (;;)
		pause();
}

static int run(struct cgroup *cg, void (*work)(void), struct err *err)
{
	int go[2], status = -1;
	pid_t pid;

	if (pipe(go) < 0)
		return -1;
	pid = child(go[0], work);
	if (cgroup_add(cg, pid, err) < 0)
		tap_diag("%s", err->text);
	(void)!write(go[1], "x", 1);
	close(go[0]);
	close(go[1]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool state_is(pid_t pid, const char *states)
{
	auto_free char *path = mem_printf("/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	char s = '?';
	bool hit;

	if (!f)
		return false;
	hit = fscanf(f, "%*d %*s %c", &s) == 1 && strchr(states, s);
	fclose(f);
	return hit;
}

static void freezing(struct cgroup *cg, struct err *err)
{
	int go[2], status;
	pid_t pid;

	if (!cgroup_has(cg, CGROUP_FREEZER) || pipe(go) < 0) {
		tap_skip("freezer", "cgroup: no freezer here");
		return;
	}
	pid = child(go[0], spin);
	tap_ok(cgroup_add(cg, pid, err) == 0, "process added");
	tap_ok(cgroup_freeze(cg, true) == 0, "frozen");
	(void)!write(go[1], "x", 1);
	tap_ok(state_is(pid, "DSt"), "the process does not run");
	tap_ok(cgroup_freeze(cg, false) == 0, "thawed");
	cgroup_kill(cg);
	tap_ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
		       WTERMSIG(status) == SIGKILL,
	       "killed by group");
	close(go[0]);
	close(go[1]);
}

static void real(void)
{
	struct limits l = { .max = { [LIMIT_MEMORY] = 64u << 20, [LIMIT_PROCESSES] = 10 } };
	struct cgroup *cg = NULL, *second = NULL;
	uint64_t cpu, mem, tasks;
	struct err err = { 0 };
	const char *why = NULL;
	int rc = cgroup_new(&l, NULL, &cg, &why, &err);

	if (rc == 1) {
		tap_ok(why && str_starts(why, "off"), "reason: %s", why);
		tap_skip("real groups", "cgroup: none can be made here");
		return;
	}
	if (!tap_ok(rc == 0, "group made: %s", rc < 0 ? err.text : cgroup_text(cg)))
		return;
	tap_ok(cgroup_new(&l, NULL, &second, &why, &err) == 0, "a second one beside it");
	second = cgroup_free(second);
	tap_ok(WIFEXITED(run(cg, burn, &err)), "a process runs in it");
	cgroup_usage(cg, &cpu, &mem, &tasks);
	tap_ok(cpu >= 90 * CLOCK_MS && cpu < 10 * CLOCK_SEC, "CPU time %" PRIu64 " ns", cpu);
	tap_ok(!cgroup_oom(cg), "no OOM yet");
	if (cgroup_has(cg, CGROUP_MEMORY)) {
		int st = run(cg, eat, &err);

		tap_ok(WIFSIGNALED(st) && WTERMSIG(st) == SIGKILL, "256 MiB in 64 MiB is killed");
		tap_ok(cgroup_oom(cg), "and counted as OOM");
		cgroup_usage(cg, &cpu, &mem, &tasks);
		tap_ok(mem > 32u << 20 && mem <= 65u << 20, "peak %" PRIu64, mem);
	}
	freezing(cg, &err);
	cgroup_free(cg);
	tap_is_u64(groups_left(), 0, "no group is left");
}

int main(void)
{
	finding();
	real();
	return tap_done();
}

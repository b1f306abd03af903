/* The life of a box seen from outside: gate, tracer, exec failure, end, kill, what is left behind.
 * As root and as an ordinary user. */
#include "tests/unit/sandbox/box_help.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "sandbox/filter.h"
#include "sandbox/janitor.h"

#define ARGV(...)                                                                                  \
	(char *const[])                                                                            \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define S(text) (char *)(uintptr_t)(text)

static unsigned count_dir(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Processes whose command line holds @mark. */
static unsigned processes(const char *mark)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		auto_buf b = BUF_INIT(65536);
		auto_free char *path = mem_printf("/proc/%s/cmdline", de->d_name);

		if (de->d_name[0] < '0' || de->d_name[0] > '9' || fd_read_file(path, &b, NULL) < 0)
			continue;
		n += b.len && memmem(b.data, b.len, mark, strlen(mark)) != NULL;
	}
	if (d)
		closedir(d);
	return n;
}

/* Wait, at most a few seconds, until @mark runs in @n processes. */
static bool processes_are(const char *mark, unsigned n)
{
	for (int i = 0; i < 5000; i++) {
		if (processes(mark) == n)
			return true;
		(void)poll(NULL, 0, 1);
	}
	return false;
}

static void exec_failures(void)
{
	static const struct {
		const char *argv0, *want;
	} rows[] = {
		{ "no-such-program", "was not found in the box's PATH" },
		{ "/no/such/file", "there is no such file in the box" },
		{ "/etc/hosts", "it is not executable" },
		{ "./file", "it is not executable" },
		{ "./badinterp", "interpreter" },
		{ "/etc", "it is not executable" },
	};
	struct help h;

	help_open(&h);
	help_put(h.lower, "badinterp", "#!/no/such/interpreter\n");
	help_put(h.lower, "script", "echo plain script $1\n");
	{
		auto_free char *cmd =
			mem_printf("chmod 755 %s/badinterp %s/script", h.lower, h.lower);

		if (system(cmd) != 0)
			tap_diag("chmod");
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		h.spec.argv = ARGV(S(rows[i].argv0), S("arg"));
		h.spec.stdio[0] = h.spec.stdio[1] = h.spec.stdio[2] = 2;
		memset(&h.err, 0, sizeof(h.err));
		if (!tap_ok(help_box(&h) == 0, "box for %s", rows[i].argv0))
			continue;
		tap_ok(box_exec_error(h.box, true, &h.err) == -ERR_CHILD &&
			       strstr(h.err.text, rows[i].want),
		       "%s", h.err.text);
		tap_ok(box_wait(h.box, HELP_TIMEOUT, NULL) == 1 &&
			       WEXITSTATUS(h.box->status) == 127,
		       "and the command ends with 127");
		tap_ok(box_exec_error(h.box, true, &h.err) == 0, "told once");
		h.box = box_free(h.box);
	}
	h.spec.argv = ARGV(S("./script"), S("7"));
	tap_ok(help_start(&h) == 0 && strcmp(buf_str(&h.out), "plain script 7\n") == 0,
	       "a script without #! runs: %s", buf_str(&h.out));
	help_close(&h);
}

static void statuses(void)
{
	struct help h;

	help_open(&h);
	(void)help_sh(&h, "exit 3");
	tap_ok(WIFEXITED(h.status) && WEXITSTATUS(h.status) == 3, "exit status");
	(void)help_sh(&h, "kill -TERM $$");
	tap_ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGTERM, "signal");
	(void)help_sh(&h, "kill -KILL $$");
	tap_ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGKILL, "SIGKILL");
	(void)help_sh(&h, "kill -KILL 1; kill -KILL -1; exit 9");
	tap_ok(WIFEXITED(h.status) && WEXITSTATUS(h.status) == 9, "PID 1 cannot be killed inside");
	h.spec.argv = ARGV(S("/bin/sleep"), S("1000"));
	tap_ok(help_box(&h) == 0, "box");
	tap_ok(box_wait(h.box, 10 * CLOCK_MS, &h.err) == 0, "not yet");
	box_kill(h.box);
	tap_ok(box_wait(h.box, HELP_TIMEOUT, &h.err) == 1 && WIFSIGNALED(h.box->status),
	       "killed box: the command ended by signal");
	help_close(&h);
}

/* The command ends, what it left in the background lives until the box is killed. */
static void background(void)
{
	struct help h;

	help_open(&h);
	(void)help_sh(&h, "(setsid sh -c 'sleep 98765 & sleep 98765' >/dev/null 2>&1 &) ; exit 4");
	tap_ok(WEXITSTATUS(h.status) == 4, "the command ended");
	tap_ok(processes_are("98765", 3), "its daemons live on (%u)", processes("98765"));
	box_kill(h.box);
	box_kill(h.box);
	h.box = box_free(h.box);
	tap_ok(processes_are("98765", 0), "killed with the box");
	help_close(&h);
}

/* A fork bomb ends at its limit and dies with the box, without a cgroup's help. */
static void bomb(void)
{
	struct help h;
	uint64_t t;

	help_open(&h);
	h.spec.no_cgroup = true;
	h.spec.limits.max[LIMIT_PROCESSES] = 100;
	(void)help_sh(&h, "exec >/dev/null 2>&1; f() { f & f & wait; }; f & sleep 0.3; exit 0");
	t = clock_mono();
	h.box = box_free(h.box);
	tap_ok(clock_mono() - t < 20 * CLOCK_SEC, "fork bomb gone after %.1f ms",
	       (double)(clock_mono() - t) / 1e6);
	help_close(&h);
}

static void workspace_fd(void)
{
	auto_buf b = BUF_INIT(4096);
	auto_fd int fd = -1;
	struct stat st;
	struct help h;
	bool edited;

	help_open(&h);
	h.spec.argv =
		ARGV(S("/bin/sh"), S("-c"),
		     S("while ! test -e go; do :; done; cat file; stat -c '%u %a' file made"));
	h.spec.wait_for_tracer = true;
	h.spec.stdio[1] = 2;
	tap_ok(help_box(&h) == 0, "box at its gate");
	box_act_as(h.box, true);
	fd = fd_open_beneath(h.box->ws_fd, "file", O_RDWR, 0);
	edited = fd >= 0 && pwrite(fd, "EDIT!\n", 6, 0) == 6;
	mem_close(&fd);
	fd = fd_open_beneath(h.box->ws_fd, "made", O_WRONLY | O_CREAT | O_EXCL, 0644);
	box_act_as(h.box, false);
	tap_ok(edited && fd >= 0, "we edit and make files from outside: %s", strerror(errno));
	mem_close(&fd);
	tap_ok(box_release(h.box, &h.err) == 0 && box_release(h.box, &h.err) == 0, "released");
	box_act_as(h.box, true);
	fd = fd_open_beneath(h.box->ws_fd, "go", O_WRONLY | O_CREAT, 0644);
	box_act_as(h.box, false);
	tap_ok(fd >= 0, "another file");
	mem_close(&fd);
	tap_ok(box_wait(h.box, HELP_TIMEOUT, &h.err) == 1 && h.box->status == 0,
	       "the command saw all of it");
	box_kill(h.box);
	tap_ok(waitid((idtype_t)P_PIDFD, (id_t)h.box->init_pidfd, &(siginfo_t){ 0 }, WEXITED) == 0,
	       "PID 1 reaped by the caller");
	box_reaped(h.box, 0);
	box_act_as(h.box, true);
	fd = fd_open_beneath(h.box->ws_fd, "file", O_RDWR, 0);
	edited = fd >= 0 && fd_read_all(fd, &b) == 0 && pwrite(fd, "after\n", 6, 0) == 6;
	box_act_as(h.box, false);
	tap_is_str(buf_str(&b), "EDIT!\n", "readable when the box is dead");
	tap_ok(edited, "and writable");
	mem_close(&fd);
	tap_ok(fstatat(h.box->root_fd, "etc/passwd", &st, 0) == 0, "the root, too");
	tap_is_str(help_get(&b, h.upper, "file"), "after\n", "in the upper layer");
	help_close(&h);
}

static int attach(pid_t pid)
{
	return (int)ptrace(PTRACE_SEIZE, pid, 0,
			   PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC);
}

static void tracer(void)
{
	struct sock_fprog prog = { 0 };
	unsigned stops = 0, execs = 0;
	int status = 0;
	struct help h;
	pid_t pid;

	help_open(&h);
	tap_ok(filter_observe(TRACE_FILES, &prog, &h.err) == 0, "observing filter");
	h.spec.filter_b = &prog;
	h.spec.wait_for_tracer = true;
	h.spec.argv = ARGV(S("/bin/cat"), S("/etc/hostname"));
	h.spec.stdio[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!tap_ok(help_box(&h) == 0, "box at its gate %s", h.err.text)) {
		help_close(&h);
		return;
	}
	pid = h.box->agent_pid;
	if (!tap_ok(attach(pid) == 0, "seized: %s", strerror(errno))) {
		help_close(&h);
		return;
	}
	tap_ok(box_release(h.box, &h.err) == 0, "released");
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		stops += status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
		execs += status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
		(void)ptrace(PTRACE_CONT, pid, 0, 0);
	}
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "traced to its end (%#x)",
	       (unsigned)status);
	tap_ok(execs == 1 && stops > 1, "%u exec, %u stops of the observing filter", execs, stops);
	tap_ok(box_exec_error(h.box, true, &h.err) == 0, "executed");
	tap_ok(box_wait(h.box, HELP_TIMEOUT, &h.err) == 1 && h.box->status == 0,
	       "PID 1 tells the status as well");
	close(h.spec.stdio[1]);
	h.box = box_free(h.box);
	/* Without a tracer the kernel answers ENOSYS for what filter B traces. */
	h.spec.wait_for_tracer = false;
	(void)help_sh(&h, "true");
	tap_ok(h.status != 0, "filter B without tracer fails closed");
	/* A stopped tracee that nobody waits for does not hold the end up. */
	h.spec.wait_for_tracer = true;
	h.spec.argv = ARGV(S("/bin/sleep"), S("1000"));
	h.spec.stdio[1] = 2;
	tap_ok(help_box(&h) == 0 && attach(h.box->agent_pid) == 0 &&
		       box_release(h.box, &h.err) == 0,
	       "another tracee");
	help_close(&h);
	tap_ok(true, "freed without waiting for it");
	filter_free(&prog);
}

static void further_commands(void)
{
	struct box_command cmd = { .env = help_env, .cwd = "/etc" };
	int p[2], fd = -1, status = -1, rc;
	char text[256] = "";
	struct help h;
	pid_t pid = 0;

	help_open(&h);
	h.spec.argv = ARGV(S("/bin/sleep"), S("1000"));
	if (!tap_ok(help_box(&h) == 0 && pipe2(p, O_CLOEXEC) == 0, "box")) {
		help_close(&h);
		return;
	}
	cmd.argv =
		ARGV(S("sh"), S("-c"),
		     S("pwd; id -u; grep NoNew /proc/self/status | cut -f2; mount -t proc x /proc "
		       "2>/dev/null || echo no; ls /proc/self/fd | wc -l; exit 6"));
	cmd.stdio[0] = cmd.stdio[1] = cmd.stdio[2] = p[1];
	rc = box_spawn(h.box, &cmd, &fd, &pid, &h.err);
	tap_ok(rc == 0 && pid > 1, "second command %s", h.err.text);
	rc = rc < 0 ? rc : box_spawned(fd, "sh", HELP_TIMEOUT, &status, &h.err);
	tap_ok(rc == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 6, "its status %#x",
	       (unsigned)status);
	tap_ok(read(p[0], text, sizeof(text) - 1) > 0, "its output");
	tap_is_str(text, "/etc\n1000\n1\nno\n4\n", "confined like the first");
	mem_close(&fd);
	tap_ok(box_exec(h.box, ARGV(S("touch"), S("made-by-effect")), help_env, "/workspace", 30,
			&h.err) == 0,
	       "effect %s", h.err.text);
	tap_ok(faccessat(h.box->ws_fd, "made-by-effect", F_OK, 0) == 0, "took place");
	tap_ok(box_exec(h.box, ARGV(S("false")), help_env, NULL, 30, &h.err) == -ERR_CHILD &&
		       strstr(h.err.text, "status 1"),
	       "a failed one: %s", h.err.text);
	tap_ok(box_exec(h.box, ARGV(S("nothing-such")), help_env, NULL, 30, &h.err) == -ERR_CHILD &&
		       strstr(h.err.text, "PATH"),
	       "a missing one: %s", h.err.text);
	tap_ok(box_exec(h.box, ARGV(S("sleep"), S("77777")), help_env, NULL, 0, &h.err) ==
		       -ERR_LIMIT,
	       "a slow one: %s", h.err.text);
	tap_ok(processes_are("77777", 0), "is killed");
	box_kill(h.box);
	tap_ok(box_exec(h.box, ARGV(S("true")), help_env, NULL, 5, &h.err) == -ERR_CHILD,
	       "dead box: %s", h.err.text);
	close(p[0]);
	close(p[1]);
	help_close(&h);
}

static void usage(bool no_cgroup)
{
	uint64_t cpu = 0, mem = 0, tasks = 0;
	struct help h;

	help_open(&h);
	h.spec.no_cgroup = no_cgroup;
	(void)help_sh(
		&h, "i=0; while test $i -lt 200000; do i=$((i+1)); done; sleep 1000 & sleep 1000 & "
		    "exec >&- 2>&-; exit 0");
	if (!h.box) {
		help_close(&h);
		return;
	}
	box_usage(h.box, &cpu, &mem, &tasks);
	tap_ok(cpu > 10 * CLOCK_MS && mem > 100000 && tasks == 2,
	       "usage %s cgroup: %" PRIu64 " ns, %" PRIu64 " bytes, %" PRIu64 " tasks",
	       no_cgroup ? "without" : "with", cpu, mem, tasks);
	if (no_cgroup) {
		tap_ok(str_starts(h.box->posture[LAYER_CGROUP], "off") && !h.box->cg, "posture: %s",
		       h.box->posture[LAYER_CGROUP]);
		tap_ok(box_freeze(h.box, true) < 0 && !box_oom(h.box), "no freezer, no OOM");
	} else if (h.box->cg) {
		tap_ok(box_freeze(h.box, true) == 0, "frozen");
		box_kill(h.box);
	}
	help_close(&h);
}

static void memory(void)
{
	struct help h;

	help_open(&h);
	h.spec.limits.max[LIMIT_MEMORY] = 64u << 20;
	(void)help_sh(&h, "head -c 300000000 /dev/zero | tail -c 299999999 | wc -c");
	if (h.box && h.box->cg)
		tap_ok(box_oom(h.box), "killed for memory");
	else
		tap_skip("memory limit", "cgroup: none can be made here");
	help_close(&h);
}

/* Start a box and die by SIGKILL; only returns when that did not come about. */
static void die_with_box(void)
{
	const struct janitor_ops ops = { 0 };
	struct janitor *jan = NULL;
	struct help h;

	help_open(&h);
	h.spec.argv = ARGV(S("/bin/sh"), S("-c"), S("setsid sleep 56565 & sleep 56565"));
	h.spec.limits.max[LIMIT_MEMORY] = 64u << 20;
	if (janitor_start(&jan, &ops, &h.err) < 0 || janitor_scratch(jan, h.scratch) < 0)
		return;
	h.spec.janitor = jan;
	if (help_box(&h) == 0 && processes_are("56565", 3))
		raise(SIGKILL);
}

/* Our death, however it comes, is the box's; groups and directories go with it. */
static void our_death(void)
{
	auto_free char *find = NULL;
	int status, left = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		die_with_box();
		_exit(1);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "supervisor killed");
	tap_ok(processes_are("56565", 0), "nothing of the box is left");
	find = mem_printf("! find /sys/fs/cgroup -type d -name 'proctor-%d-*' 2>/dev/null | "
			  "grep -q . && ! find /var/tmp -maxdepth 1 -name 'proctor-test.*' -user "
			  "$(id -u) -newermt '5 minutes ago' | grep -q .",
			  (int)pid);
	for (int i = 0; left && i < 100; i++) {
		(void)poll(NULL, 0, 20);
		left = system(find);
	}
	tap_ok(left == 0, "the janitor removed cgroups and scratch");
}

/* Each failing set-up names its cause and leaves nothing. */
static void failures(void)
{
	unsigned fds = count_dir("/proc/self/fd"), dirs;
	struct help h;

	help_open(&h);
	dirs = count_dir(h.scratch);
	h.spec.argv = ARGV(S("/bin/true"));
	h.spec.cwd = "/no/such";
	tap_ok(help_box(&h) < 0 && strstr(h.err.text, "start directory"), "%s", h.err.text);
	h.spec.cwd = NULL;
	h.spec.workdir = "/proc/x/y";
	tap_ok(help_box(&h) < 0 && strstr(h.err.text, "/proc/x/y"), "%s", h.err.text);
	h.spec.workdir = "/usr/no/such";
	tap_ok(help_box(&h) < 0 && strstr(h.err.text, "/usr/no/such"), "%s", h.err.text);
	h.spec.workdir = "/workspace";
	h.spec.ws_lower = "/no/lower";
	tap_ok(help_box(&h) < 0 && strstr(h.err.text, "/no/lower"), "%s", h.err.text);
	h.spec.ws_lower = h.lower;
	h.spec.rootfs = "oci:x";
	tap_ok(help_box(&h) == -ERR_INPUT, "%s", h.err.text);
	h.spec.rootfs = "dir:/no/such/root";
	tap_ok(help_box(&h) == -ERR_INPUT, "%s", h.err.text);
	h.spec.rootfs = "host";
	strv_add(&h.profile.deny, "ptrase");
	tap_ok(help_box(&h) == -ERR_INPUT, "%s", h.err.text);
	tap_is_u64(count_dir(h.scratch), dirs, "no directory is left");
	tap_ok(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD, "no child is left");
	help_close(&h);
	tap_is_u64(count_dir("/proc/self/fd"), fds, "no descriptor is left");
}

static void many(void)
{
	unsigned fds = count_dir("/proc/self/fd"), bad = 0;
	uint64_t start = clock_mono(), ready = 0;
	struct help h;

	for (int i = 0; i < 200; i++) {
		uint64_t t;

		help_open(&h);
		h.spec.argv = ARGV(S("/bin/true"));
		t = clock_mono();
		bad += help_box(&h) < 0 || box_exec_error(h.box, true, &h.err) != 0;
		ready += clock_mono() - t;
		bad += !h.box || box_wait(h.box, HELP_TIMEOUT, &h.err) != 1 || h.box->status != 0;
		help_close(&h);
	}
	tap_is_u64(bad, 0, "200 boxes in a row");
	tap_diag("%.2f ms to the first instruction, %.2f ms in all", (double)ready / 200e6,
		 (double)(clock_mono() - start) / 200e6);
	tap_is_u64(count_dir("/proc/self/fd"), fds, "no descriptor is left");
	tap_ok(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD, "no process is left");
}

static void tests(void)
{
	exec_failures();
	statuses();
	background();
	bomb();
	workspace_fd();
	tracer();
	further_commands();
	usage(false);
	usage(true);
	memory();
	our_death();
	failures();
	many();
}

int main(void)
{
	return help_main(tests);
}

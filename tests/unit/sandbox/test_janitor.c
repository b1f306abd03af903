/* The janitor after an orderly end, after SIGKILL of its supervisor, and under attack. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/janitor.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

static void say(void *arg)
{
	int fd = open(arg, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	/* The scratch must still be there: the patch is taken from it. */
	if (fd >= 0 && access("scratch/x", F_OK) == 0 && write(fd, "words", 5) == 5)
		close(fd);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Wait at most @ms for child @pid; 0 when it ended. */
static int reap(pid_t pid, int ms)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int rc = poll(&p, 1, ms) > 0 && waitpid(pid, NULL, 0) == pid ? 0 : -1;

	close(fd);
	return rc;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	return pid;
}

static void test_orderly(void)
{
	struct janitor_ops ops = { .last_words = say, .arg = mem_strdup("words") };
	struct janitor *jan = NULL;
	auto_free char *comm = NULL, *fds = NULL;
	struct err err = { 0 };
	pid_t other = sleeper();
	char path[PATH_MAX];

	sh("mkdir -p scratch/x/y && echo z >scratch/x/y/z && chmod 0 scratch/x/y");
	tap_ok(janitor_start(&jan, &ops, &err) == 0, "start: %s", err.text);
	snprintf(path, sizeof(path), "%s/scratch", getenv("HOME"));
	tap_ok(janitor_scratch(jan, path) == 0, "told of the scratch");
	/* Its answer to nothing: what it is called shows once it has set itself up. */
	for (uint64_t end = clock_mono() + 5 * CLOCK_SEC; clock_mono() < end;) {
		free(comm);
		comm = sh_out("cat /proc/%d/comm; ls /proc/%d/fd | wc -l", jan->pid, jan->pid);
		if (strcmp(comm, "proctor-janitor\n5") == 0)
			break;
	}
	tap_is_str(comm, "proctor-janitor\n5", "its name, and five descriptors");
	fds = sh_out("readlink /proc/%d/fd/1", jan->pid);
	tap_is_str(fds, "/dev/null", "standard output is nobody's");
	tap_ok(getsid(jan->pid) == jan->pid, "a session of its own");
	for (int sig = 1; sig < 32; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP && sig != SIGCHLD)
			kill(jan->pid, sig);
	}
	tap_ok(kill(jan->pid, 0) == 0 && waitpid(jan->pid, NULL, WNOHANG) == 0,
	       "signals do not end it");
	tap_ok(janitor_cgroup(jan, "/sys/fs/cgroup/none") == 0,
	       "told of a cgroup that is not there");
	tap_ok(janitor_finish(jan) == NULL, "finish");
	tap_ok(!is_there("scratch"), "the scratch is gone");
	tap_ok(!is_there("words"), "no last words after an orderly end");
	tap_ok(waitpid(other, NULL, WNOHANG) == 0, "another child was not touched");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	free(ops.arg);
	tap_ok(janitor_finish(NULL) == NULL, "none to finish");
}

/* A supervisor that makes things and is killed; it says who its children are through @out. */
static _Noreturn void supervise(int out, const char *cgroup)
{
	struct janitor_ops ops = { .last_words = say, .arg = (char[]){ "words" } };
	struct janitor *jan = NULL;
	char path[PATH_MAX];
	pid_t pid[3];
	int pidfd;

	if (janitor_start(&jan, &ops, NULL) < 0)
		_exit(1);
	pid[0] = jan->pid;
	pid[1] = sleeper(); /* stands for a box's PID 1; it holds a copy of the socket */
	pid[2] = sleeper(); /* in the cgroup only */
	snprintf(path, sizeof(path), "%s/scratch", getenv("HOME"));
	pidfd = (int)syscall(SYS_pidfd_open, pid[1], 0);
	if (janitor_scratch(jan, path) < 0 || janitor_kill(jan, pidfd) < 0)
		_exit(1);
	if (*cgroup) {
		snprintf(path, sizeof(path), "echo %d >%s/cgroup.procs", pid[2], cgroup);
		if (janitor_cgroup(jan, cgroup) < 0 || system(path) != 0)
			_exit(1);
	}
	if (write(out, pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	raise(SIGKILL);
	_exit(1);
}

static void test_killed(const char *cgroup)
{
	int out[2];
	uint64_t t;
	pid_t pid[3] = { 0 }, sup;
	char byte;

	sh("mkdir -p scratch/x && cd scratch/x && echo z >z && rm -f ../../words");
	tap_ok(pipe2(out, O_CLOEXEC) == 0, "pipe");
	sup = fork();
	if (sup == 0) {
		close(out[0]);
		supervise(out[1], cgroup);
	}
	close(out[1]);
	tap_ok(read(out[0], pid, sizeof(pid)) == sizeof(pid), "the supervisor works");
	t = clock_mono();
	tap_ok(waitpid(sup, NULL, 0) == sup, "the supervisor is dead");
	tap_ok(reap(pid[0], 5000) == 0, "the janitor ends");
	tap_diag("%.0f ms from the kill to the janitor's end", (double)(clock_mono() - t) / 1e6);
	tap_ok(clock_mono() - t < CLOCK_SEC, "... within a second");
	tap_ok(reap(pid[1], 0) == 0, "the box's PID 1 is dead");
	tap_ok(!is_there("scratch"), "the scratch is gone");
	tap_ok(is_there("words"), "the last words were said, before the scratch went");
	if (*cgroup) {
		tap_ok(reap(pid[2], 0) == 0, "the process of the cgroup is dead");
		tap_ok(!is_there(cgroup), "the cgroup is gone");
	} else {
		kill(pid[2], SIGKILL);
		waitpid(pid[2], NULL, 0);
	}
	/* Both children held the pipe; what matters is that the janitor does not. */
	tap_ok(read(out[0], &byte, 1) == 0, "standard output is at its end");
	close(out[0]);
}

/* Deeper than the usual limit of open files. */
static void test_deep(void)
{
	struct janitor *jan = NULL;
	char path[PATH_MAX];

	sh("mkdir scratch && "
	   "python3 - <<'E'\nimport os\nos.chdir('scratch')\nfor i in range(1500):\n"
	   " os.mkdir('d'); os.chdir('d')\nE");
	snprintf(path, sizeof(path), "%s/scratch", getenv("HOME"));
	tap_ok(janitor_start(&jan, NULL, NULL) == 0 && janitor_scratch(jan, path) == 0, "start");
	janitor_finish(jan);
	tap_ok(!is_there("scratch"), "a tree of 1500 levels is gone");
}

/* A cgroup below our own where one can be made, "" otherwise. */
static char *make_cgroup(const char *controller)
{
	const char *key = *controller ? controller : "0:";

	return sh_out(
		"for m in /sys/fs/cgroup/%s /sys/fs/cgroup/unified; do "
		"d=$m$(grep -m1 -E '(^|:)%s:' /proc/self/cgroup | cut -d: -f3)/proctor-test-$$; "
		"mkdir $d 2>/dev/null && [ -e $d/cgroup.procs ] && echo $d && break; done",
		controller, *controller ? key : "0");
}

static void test_frozen(void)
{
	auto_free char *cgroup = make_cgroup("freezer");
	struct janitor *jan = NULL;
	pid_t pid;

	if (!*cgroup) {
		tap_skip("a frozen cgroup", "cgroup: no freezer that we may use");
		return;
	}
	pid = sleeper();
	sh("echo %d >%s/cgroup.procs && echo FROZEN >%s/freezer.state", pid, cgroup, cgroup);
	tap_ok(janitor_start(&jan, NULL, NULL) == 0 && janitor_cgroup(jan, cgroup) == 0, "start");
	janitor_finish(jan);
	tap_ok(reap(pid, 0) == 0 && !is_there(cgroup), "a frozen cgroup is emptied and removed");
}

int main(void)
{
	const char *dir = sh_enter();
	auto_free char *v1 = make_cgroup("pids"), *v2 = make_cgroup("");

	prctl(PR_SET_CHILD_SUBREAPER, 1); /* the orphans come to us */
	test_orderly();
	test_killed("");
	test_killed(*v1 ? v1 : v2);
	if (*v1 && *v2)
		test_killed(v2);
	test_frozen();
	test_deep();
	sh_leave(dir);
	return tap_done();
}

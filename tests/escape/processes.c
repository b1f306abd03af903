/* Other processes of the box and of the host: their memory, descriptors, signals, priorities. */
#include "escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
static const struct call calls[] = {
	{ "ptrace-traceme", SYS_ptrace, { PTRACE_TRACEME } },
	{ "ptrace-attach", SYS_ptrace, { PTRACE_ATTACH, 1 } },
	{ "ptrace-suspend-seccomp", SYS_ptrace, { PTRACE_SEIZE, 1, 0, 0x200000 } },
	{ "process-vm-readv", SYS_process_vm_readv, { 1 } },
	{ "process-vm-writev", SYS_process_vm_writev, { 1 } },
	{ "process-madvise", SYS_process_madvise, { 0 } },
	{ "pidfd-getfd", SYS_pidfd_getfd, { 0 } },
	{ "kcmp", SYS_kcmp, { 1, 1 } },
	{ "setpriority", SYS_setpriority, { 0, 0, (uint64_t)-20 } },
	{ "ioprio-realtime", SYS_ioprio_set, { IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_RT << IOPRIO_CLASS_SHIFT } },
	{ NULL },
};
/* clang-format on */

static long host_pid(void)
{
	char path[64];

	if (kill(atoi(arg_pid), 0) == 0 || errno != ESRCH)
		return wrong("a process of the host can be signalled");
	if (syscall(SYS_pidfd_open, atoi(arg_pid), 0) >= 0)
		return wrong("a process of the host has a descriptor");
	snprintf(path, sizeof(path), "/proc/%s", arg_pid);
	return access(path, F_OK) == 0 ? wrong(path) : 0;
}

/* Everything in /proc is PID 1, or descends from the command. */
static long few_pids(void)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	int n = 0;

	while (d && (de = readdir(d)))
		n += de->d_name[0] >= '1' && de->d_name[0] <= '9';
	return n >= 2 && n <= 6 ? 0 : wrong("more processes than the box has");
}

static long prlimit_init(void)
{
	struct rlimit lim = { 3, 3 };

	return result(prlimit(1, RLIMIT_NOFILE, &lim, NULL));
}

static long raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return -errno;
	lim.rlim_max++;
	return result(setrlimit(RLIMIT_NOFILE, &lim));
}

/* PID 1 cannot be killed or stopped from inside (pid_namespaces(7)). */
static long kill_init(void)
{
	if (kill(1, SIGKILL) < 0 && errno != EPERM)
		return -errno;
	kill(1, SIGSTOP);
	usleep(50000);
	return access("/proc/1", F_OK) == 0 && kill(getppid(), 0) == 0 ? 0 : wrong("PID 1 is hurt");
}

/* Another process of the agent's own, of which nobody but the tracer writes the memory. */
static long memory_of_another(void)
{
	pid_t pid = fork();
	char path[64];
	long rc;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	rc = result(open(path, O_RDWR));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

static long realtime(void)
{
	struct sched_param param = { .sched_priority = 1 };

	return result(sched_setscheduler(0, SCHED_FIFO, &param));
}

static long never_killed(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	return fd < 0 ? -errno : result(write(fd, "-1000", 5));
}

/* The root that a process has is the box's, whoever is asked. */
static long roots(void)
{
	DIR *d = opendir("/proc");
	struct stat ours, theirs;
	struct dirent *de;
	char path[300];

	if (stat("/", &ours) < 0)
		return -errno;
	while (d && (de = readdir(d))) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/root/", de->d_name);
		if (stat(path, &theirs) == 0 && theirs.st_ino != ours.st_ino)
			return wrong(path);
	}
	return 0;
}

static const struct attempt attempts[] = {
	{ "host-pid", host_pid },         { "proc-box-only", few_pids },
	{ "prlimit-init", prlimit_init }, { "raise-limit", raise_limit },
	{ "kill-init", kill_init },       { "memory-of-another", memory_of_another },
	{ "realtime", realtime },         { "never-killed", never_killed },
	{ "proc-roots", roots },          { NULL },
};

const struct family family_processes = {
	"processes",
	.calls = calls,
	.attempts = attempts,
};

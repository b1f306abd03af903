/* What programs do against debuggers, and namespaces of the agent's own. */
#include "evasion.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void traceme(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
}

static void dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

static void ptracer(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	prctl(PR_SET_PTRACER, 1);
}

static void own_filter(unsigned action)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, action) };
	struct sock_fprog prog = { COUNT(code), code };

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void allow_all(void)
{
	own_filter(SECCOMP_RET_ALLOW);
}

static void log_all(void)
{
	own_filter(SECCOMP_RET_LOG);
}

static void trace_all(void)
{
	own_filter(SECCOMP_RET_TRACE | 0x7fff);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/* libc keeps some for itself. */
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
}

static void pass_by(int sig)
{
	(void)sig;
}

static void ignore_traps(void)
{
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
}

static void break_points(void)
{
	signal(SIGTRAP, pass_by);
#ifdef __x86_64__
	for (int i = 0; i < 100; i++)
		__asm__ volatile("int3");
#endif
}

/* Single steps by the processor's own flag: a trap behind every instruction. */
static void trap_flag(void)
{
	signal(SIGTRAP, pass_by);
#ifdef __x86_64__
	__asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n nop\n" ::: "memory", "cc");
#endif
}

static void dies_with_nobody(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	prctl(PR_SET_NAME, "init");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* All together with a second thread group in between. */
static void in_layers(void)
{
	dumpable();
	block_signals();
	trace_all();
	if (fork() > 0) {
		reap();
		_exit(0);
	}
}

static int against_debuggers(long n)
{
	static void (*const tricks[])(void) = {
		traceme,       dumpable,     ptracer,      allow_all, log_all,          trace_all,
		block_signals, ignore_traps, break_points, trap_flag, dies_with_nobody, in_layers,
	};
	long each = n / (long)COUNT(tricks) + 1;

	for (size_t i = 0; i < COUNT(tricks); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			tricks[i]();
			read_tracked(each);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (status != 0)
			printf("# trick %zu: status %#x\n", i, (unsigned)status);
	}
	expect("read", "path", TRACKED, false, each * (long)COUNT(tricks));
	expect("open", "path", "*/" TRACKED, true, each * (long)COUNT(tricks));
	return 0;
}

/* A program that may be executed and not read: the kernel closes its memory and /proc to tracers. */
static int sealed(long n)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open("sealed", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	char *argv[] = { (char *)"sealed", (char *)"read", (char *)"50", NULL };

	if (from < 0 || to < 0)
		fail("sealed");
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(to);
	chmod("sealed", 0111);
	for (long i = 0; i < n; i += 50) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execv("./sealed", argv);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		shared->reads += WEXITSTATUS(status);
	}
	expect("read", "path", TRACKED, false, shared->reads);
	expect("open", "path", "*/" TRACKED, true, shared->reads);
	return shared->reads >= n ? 0 : 1;
}

/* Where the box may make namespaces: another name for the file without any link. */
static int nested(long n)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		fail("unshare");
	close(open("other", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	if (mount(TRACKED, "other", NULL, MS_BIND, NULL) < 0)
		fail("mount");
	for (long i = 0; i < n; i++) {
		int fd = open("other", O_RDONLY | O_CLOEXEC);
		char c;

		if (fd < 0 || pread(fd, &c, 1, 0) != 1)
			fail("other");
		close(fd);
	}
	expect("read", "path", TRACKED, false, n);
	if (chroot(".") < 0)
		fail("chroot");
	return 0;
}

const struct way ways_blind[] = {
	{ "debuggers", against_debuggers },
	{ "sealed", sealed },
	{ "nested", nested },
	{ NULL, NULL },
};

/* The command's process between fork and exec: gives up every privilege by a table of steps, says
 * ready, waits at its gate, executes. No allocation, no stdio: errors go out as fixed records. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* Where the two descriptors that outlive close_range() are kept until exec closes them. */
#define GATE_FD  3
#define ERROR_FD 4
#define HIGH_FD  32

static int step_session(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	return setsid() < 0 ? -1 : 0;
}

static int step_stdio(struct child_plan *p, struct child_state *st)
{
	/* The same numbers as in to[]: what is not there stays closed. */
	int from[6] = { p->stdio[0], p->stdio[1], p->stdio[2],
			p->gate,     p->error,    st->extra ? 0 : p->extra_fd };
	static const int to[6] = { 0, 1, 2, GATE_FD, ERROR_FD, BOX_EXTRA_FD };
	int n = from[5] > 0 ? 6 : 5;

	/* Out of the way first: a descriptor lent as 1 may be number 0 here. */
	for (int i = 0; i < n; i++) {
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, HIGH_FD);
		if (from[i] < 0)
			return -1;
	}
	for (int i = 0; i < n; i++) {
		if (dup3(from[i], to[i], i < 3 || i == 5 ? 0 : O_CLOEXEC) < 0)
			return -1;
	}
	p->gate = GATE_FD;
	p->error = ERROR_FD;
	if (close_range(ERROR_FD + 1, BOX_EXTRA_FD - (n == 6), 0) < 0)
		return -1;
	return close_range(BOX_EXTRA_FD + 1, ~0u, 0);
}

static int step_tty(struct child_plan *p, struct child_state *st)
{
	return p->new_tty && !st->extra ? ioctl(0, TIOCSCTTY, 0) : 0;
}

static int step_signals(struct child_plan *p, struct child_state *st)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	(void)p, (void)st;
	for (int sig = 1; sig < _NSIG; sig++)
		(void)sigaction(sig, &dfl, NULL); /* SIGKILL, SIGSTOP and libc's own refuse */
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int step_rlimits(struct child_plan *p, struct child_state *st)
{
	(void)st;
	for (unsigned i = 0; i < p->n_rlimit; i++) {
		if (setrlimit((__rlimit_resource_t)p->rlimit[i].which, &p->rlimit[i].lim) < 0)
			return -1;
	}
	return 0;
}

static int step_cwd(struct child_plan *p, struct child_state *st)
{
	(void)st;
	umask(022);
	return chdir(p->cwd);
}

static int step_caps(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	return caps_drop();
}

static int step_no_new_privs(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int step_landlock(struct child_plan *p, struct child_state *st)
{
	(void)st;
	return p->landlock ? landlock_confine(p->signal_beside) : 0;
}

/* The first candidate that is an executable file, as execvp(3) looks: EACCES is remembered, going
 * on otherwise. Done before any filter, so that the look-up is not in the trace. */
static int step_choose(struct child_plan *p, struct child_state *st)
{
	st->chosen = -1;
	st->choose_errno = ENOENT;
	strv_each (i, &p->candidates) {
		const char *path = p->candidates.v[i];
		struct stat s;

		if (stat(path, &s) < 0)
			continue;
		if (S_ISREG(s.st_mode) && access(path, X_OK) == 0) {
			st->chosen = (int)i;
			st->ops.at = i + 1; /* tells the parent that there is such a file */
			return 0;
		}
		st->choose_errno = EACCES;
	}
	return 0; /* reported after the gate, where a failed exec is expected */
}

static int load_filter(const struct sock_fprog *prog)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog);
}

static int step_filter_a(struct child_plan *p, struct child_state *st)
{
	(void)st;
	return load_filter(&p->filter_a);
}

/* A tracer without CAP_SYS_PTRACE over the host's user namespace may only attach to a dumpable
 * process (ptrace(2), "Ptrace access mode checking"). Nothing secret is left in this one. */
static int step_dumpable(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* The kernel adds our pid as the parent sees it (SO_PASSCRED, unix(7)). */
static int step_ready(struct child_plan *p, struct child_state *st)
{
	struct note n = { .kind = NOTE_READY };

	(void)st;
	return fd_send(p->gate, &n, sizeof(n), -1);
}

static int step_wait(struct child_plan *p, struct child_state *st)
{
	struct note n;
	ssize_t got;

	if (st->extra)
		return 0;
	do {
		got = recv(p->gate, &n, sizeof(n), 0);
	} while (got < 0 && errno == EINTR);
	/* The parent is gone or gave up: so do we. */
	if (got != sizeof(n) || n.kind != NOTE_GO)
		_exit(127);
	return 0;
}

static int step_filter_b(struct child_plan *p, struct child_state *st)
{
	if (st->extra || !p->filter_b || !p->filter_b->len)
		return 0;
	return load_filter(p->filter_b);
}

static int step_exec(struct child_plan *p, struct child_state *st)
{
	char *path;

	if (st->chosen < 0) {
		errno = st->choose_errno;
		return -1;
	}
	path = p->candidates.v[st->chosen];
	execve(path, p->argv, p->env);
	if (errno == ENOEXEC) {
		/* As execvp(3): a text file without "#!" is a shell script. */
		p->sh_argv[1] = path;
		execve("/bin/sh", p->sh_argv, p->env);
		errno = ENOEXEC;
	}
	return -1;
}

/* clang-format off */
static const struct child_step steps[] = {
	{ step_session,      "start a session", NULL },
	{ step_stdio,        "set up standard input and output", NULL },
	{ step_tty,          "make the terminal the controlling one", NULL },
	{ step_signals,      "reset signals", NULL },
	{ step_rlimits,      "set resource limits",
	  "lower profile limits.processes, open_files or disk" },
	{ step_cwd,          "enter the start directory", "it must exist inside the box" },
	{ step_caps,         "drop capabilities", NULL },
	{ step_no_new_privs, "set no_new_privs", NULL },
	{ step_landlock,     "apply Landlock rules", NULL },
	{ step_choose,       "look the program up", NULL },
	{ step_filter_a,     "load the policy filter",
	  "the kernel needs CONFIG_SECCOMP_FILTER" },
	{ step_dumpable,     "allow the tracer", NULL },
	{ step_ready,        "say ready", NULL },
	{ step_wait,         "wait at the gate", NULL },
	{ step_filter_b,     "load the observing filter", NULL },
	{ step_exec,         "execute", NULL },
};
/* clang-format on */

const struct child_step *child_step(unsigned i)
{
	return i < ARRAY_SIZE(steps) ? &steps[i] : NULL;
}

void child_main(struct child_plan *p, struct child_state *st)
{
	st->ops.at = 0;
	for (st->at = 0; st->at < ARRAY_SIZE(steps); st->at++) {
		if (steps[st->at].run(p, st) < 0)
			init_fail(p->error, st);
	}
	_exit(127);
}

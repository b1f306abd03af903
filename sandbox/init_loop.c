/* The life of the box's PID 1 after the world is built. No allocation, no stdio. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/msg.h"

/* Fixed numbers while it lives: nothing else is open. */
enum { FD_STATUS = 3, FD_CTL, FD_SIGNAL, FD_FREE };

struct loop {
	struct child_plan *plan;
	pid_t command;
	struct {
		pid_t pid; /* 0 = free */
		int report;
	} extra[EXEC_MAX];
};

/* Standard descriptors to the box's /dev/null, the three we need to their places, all others
 * closed. */
static void shed(struct child_plan *p)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t chld;
	int sig, from[FD_FREE];

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	/* Blocked, so that the descriptor gets it; none can have been lost: waitpid() is asked
	 * after every wake-up, and once before the first. */
	(void)sigprocmask(SIG_SETMASK, &chld, NULL);
	sig = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	for (int i = 0; i < 3; i++)
		from[i] = null;
	from[FD_STATUS] = p->status;
	from[FD_CTL] = p->ctl;
	from[FD_SIGNAL] = sig;
	for (int i = 0; i < FD_FREE; i++) {
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FD_FREE);
		if (from[i] < 0)
			_exit(127);
	}
	for (int i = 0; i < FD_FREE; i++) {
		if (dup3(from[i], i, i < 3 ? 0 : O_CLOEXEC) < 0 && i >= 3)
			_exit(127);
	}
	(void)close_range(FD_FREE, ~0u, 0); /* cannot fail for this range (close_range(2)) */
}

static void report(int fd, int status)
{
	struct note n = { .kind = NOTE_STATUS, .sys = status };

	(void)fd_write_all(fd, &n, sizeof(n)); /* nobody listens any more: nothing to do */
	close(fd);
}

/* The command's end does not end the box: children that it left in the background may still be
 * granted time. */
static void reap(struct loop *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid == l->command) {
			(void)fd_write_all(FD_STATUS, &status, sizeof(status)); /* as report() */
			close(FD_STATUS);
			l->command = 0;
		}
		for (int i = 0; i < EXEC_MAX; i++) {
			if (l->extra[i].pid != pid)
				continue;
			report(l->extra[i].report, status);
			l->extra[i].pid = 0;
		}
	}
}

/* False when the parent closed its end: no more requests. */
static bool serve(struct loop *l)
{
	static char text[EXEC_BYTES + sizeof(struct exec_request)];
	int fd[EXEC_FDS], slot = 0;
	size_t n_fd = 0;
	ssize_t n = msg_recv(FD_CTL, text, sizeof(text), fd, EXEC_FDS, &n_fd, MSG_DONTWAIT);
	pid_t pid;

	if (n <= 0 || n_fd != EXEC_FDS)
		return n != 0;
	while (slot < EXEC_MAX && l->extra[slot].pid)
		slot++;
	pid = slot < EXEC_MAX ? fork() : -1;
	if (pid == 0)
		init_exec(l->plan, text, (size_t)n, fd);
	for (int i = 0; i < EXEC_FDS - 1; i++)
		close(fd[i]);
	if (pid > 0) {
		l->extra[slot].pid = pid;
		l->extra[slot].report = fd[EXEC_FDS - 1];
	} else {
		struct note fail = { .kind = NOTE_FAILED, .sys = EAGAIN };

		(void)fd_write_all(fd[EXEC_FDS - 1], &fail, sizeof(fail)); /* as report() */
		close(fd[EXEC_FDS - 1]);
	}
	return true;
}

void init_loop(struct child_plan *p, pid_t command)
{
	struct loop l = { .plan = p, .command = command };
	bool open_ctl = true;

	shed(p);
	if (caps_drop() < 0)
		_exit(127);
	for (;;) {
		struct signalfd_siginfo info;
		struct pollfd pfd[2] = {
			{ .fd = FD_SIGNAL, .events = POLLIN },
			{ .fd = open_ctl ? FD_CTL : -1, .events = POLLIN },
		};

		reap(&l);
		(void)poll(pfd, 2, -1); /* EINTR or not: both are looked at */
		if (pfd[0].revents)
			(void)!read(FD_SIGNAL, &info, sizeof(info)); /* only to clear it */
		if (pfd[1].revents)
			open_ctl = serve(&l);
	}
}

#include "sandbox/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/janitor_internal.h"

/* First byte of a message; a path follows those that have one. */
enum word { WORD_SCRATCH = 's', WORD_CGROUP = 'c', WORD_KILL = 'k', WORD_GOODBYE = 'g' };

#define MESSAGE_MAX (1 + PATH_MAX)
#define THINGS_MAX  65536u /* of a kind; a long study in one process makes thousands */
#define KILL_NS     (5 * CLOCK_SEC)

/* What the janitor knows. */
struct chores {
	struct strv scratch, cgroup;
	int *pidfd; /* owned */
	size_t n_pidfd, cap_pidfd;
	bool goodbye;
};

static void learn(struct chores *c, char *msg, size_t n, int fd)
{
	struct strv *list = msg[0] == WORD_SCRATCH ? &c->scratch : &c->cgroup;

	msg[n] = '\0';
	if (msg[0] == WORD_KILL && fd >= 0 && c->n_pidfd < THINGS_MAX) {
		MEM_GROW(c->pidfd, c->cap_pidfd, c->n_pidfd + 1);
		c->pidfd[c->n_pidfd++] = take_fd(&fd);
	} else if (msg[0] == WORD_GOODBYE) {
		c->goodbye = true;
	} else if ((msg[0] == WORD_SCRATCH || msg[0] == WORD_CGROUP) && n > 1 &&
		   list->n < THINGS_MAX) {
		strv_add(list, msg + 1);
	}
	mem_close(&fd);
}

/* Close the pidfds of boxes that ended meanwhile: a study starts many in one life. */
static void forget_dead(struct chores *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_pidfd; i++) {
		struct pollfd p = { .fd = c->pidfd[i], .events = POLLIN };

		if (poll(&p, 1, 0) > 0)
			close(c->pidfd[i]);
		else
			c->pidfd[kept++] = c->pidfd[i];
	}
	c->n_pidfd = kept;
}

/* It may be stuck where not even that reaches it: then what it held is cleaned up all the same. */
static void kill_hung(int parent)
{
	struct pollfd p = { .fd = parent, .events = POLLIN };

	(void)syscall(SYS_pidfd_send_signal, parent, SIGKILL, NULL, 0); /* may be dead by now */
	(void)poll(&p, 1, (int)(KILL_NS / CLOCK_MS));
}

/* Take messages until the supervisor is gone. Its socket alone would not do: a process it forked
 * may hold a copy and outlive it, so its pidfd is watched too; messages that lie in the socket at
 * its death are still read. */
static void listen_to(struct chores *c, int sock, int parent, const struct janitor_ops *ops)
{
	struct pollfd p[2] = {
		{ .fd = sock, .events = POLLIN },
		{ .fd = parent, .events = POLLIN },
	};
	char msg[MESSAGE_MAX + 1];

	while (!c->goodbye) {
		int fd = -1, ms = ops && ops->watch ? ops->watch(ops->arg) : -1, rc;
		ssize_t n;

		if (ms == 0) {
			kill_hung(parent);
			return;
		}
		rc = poll(p, 2, ms);
		if (rc < 0 && errno != EINTR)
			return;
		if (rc <= 0)
			continue;
		if (!p[0].revents && p[1].revents)
			return; /* dead, and nothing left to read */
		if (!p[0].revents)
			continue;
		n = fd_recv(sock, msg, MESSAGE_MAX, &fd);
		if (n <= 0) {
			mem_close(&fd);
			return;
		}
		if (msg[0] == WORD_KILL)
			forget_dead(c);
		learn(c, msg, (size_t)n, fd);
	}
}

static void kill_boxes(struct chores *c)
{
	uint64_t end = clock_mono() + KILL_NS;

	for (size_t i = 0; i < c->n_pidfd; i++)
		(void)syscall(SYS_pidfd_send_signal, c->pidfd[i], SIGKILL, NULL,
			      0); /* may be dead */
	for (size_t i = 0; i < c->n_pidfd; i++) {
		struct pollfd p = { .fd = c->pidfd[i], .events = POLLIN };
		uint64_t now = clock_mono();

		/* Readable when PID 1 is dead, and that is when its whole namespace is. */
		while (now < end && poll(&p, 1, (int)((end - now) / CLOCK_MS) + 1) < 0 &&
		       errno == EINTR)
			now = clock_mono();
		close(c->pidfd[i]);
	}
	c->n_pidfd = 0;
}

static void clean_up(struct chores *c, const struct janitor_ops *ops)
{
	/* A frozen task of cgroup v1 does not die, and the supervisor may have gone in the middle
	 * of an intervention. */
	for (size_t i = 0; i < c->cgroup.n; i++)
		janitor_thaw_cgroup(c->cgroup.v[i]);
	kill_boxes(c);
	/* Cgroups before the last words: members outside the box's PID namespace die too, and
	 * nothing writes any more while the patch is taken. */
	for (size_t i = 0; i < c->cgroup.n; i++)
		janitor_kill_cgroup(c->cgroup.v[i]);
	if (!c->goodbye && ops && ops->last_words)
		ops->last_words(ops->arg);
	for (size_t i = 0; i < c->scratch.n; i++)
		janitor_remove(c->scratch.v[i]);
	for (size_t i = 0; i < c->cgroup.n; i++)
		janitor_remove_cgroup(c->cgroup.v[i]);
}

/* Nothing of the caller's stays open: who reads our standard output sees its end when the
 * supervisor is gone, not when we are. *sock and *parent move to 3 and 4. */
static int detach(int *sock, int *parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int s = fcntl(*sock, F_DUPFD_CLOEXEC, 16), p = fcntl(*parent, F_DUPFD_CLOEXEC, 16);

	if (null < 0 || s < 0 || p < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0 || dup3(s, 3, O_CLOEXEC) < 0 || dup3(p, 4, O_CLOEXEC) < 0)
		return -1;
	fd_close_from(5);
	*sock = 3;
	*parent = 4;
	return 0;
}

static _Noreturn void live(int sock, int parent, const struct janitor_ops *ops)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct chores c = { 0 };
	struct rlimit files;
	sigset_t none;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		/* Ignored, SIGCHLD would have no effect but ours; the rest ends us. */
		if (sig != SIGCHLD)
			(void)sigaction(sig, &ignore, NULL); /* SIGKILL and SIGSTOP refuse */
	}
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail with a valid set */
	(void)setsid(); /* fails for a leader only, which a child is not */
	(void)prctl(PR_SET_NAME, "proctor-janitor");
	/* Removing a tree takes a descriptor per level, and the agent chose how many there are. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files); /* then the old limit holds */
	}
	if (detach(&sock, &parent) < 0)
		_exit(1);
	listen_to(&c, sock, parent, ops);
	clean_up(&c, ops);
	_exit(0);
}

int janitor_start(struct janitor **ret, const struct janitor_ops *ops, struct err *err)
{
	auto_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	sigset_t all, old;
	struct janitor *j;
	int pair[2];
	pid_t pid;

	if (self < 0)
		return err_sys(err, "cannot open a pidfd (Linux 5.3)");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "cannot make a socket pair");
	/* A signal for the whole process group must not find the janitor before it ignores them. */
	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &old); /* cannot fail with valid sets */
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		live(pair[1], self, ops);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL); /* likewise */
	close(pair[1]);
	if (pid < 0) {
		int rc = err_sys(err, "cannot fork the janitor");

		close(pair[0]);
		return rc;
	}
	j = mem_zalloc(1, sizeof(*j));
	j->pid = pid;
	j->sock = pair[0];
	*ret = j;
	return 0;
}

static int tell(struct janitor *j, enum word word, const char *path, int fd)
{
	size_t n = path ? strlen(path) : 0;
	char msg[MESSAGE_MAX];

	if (n >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	msg[0] = (char)word;
	if (n)
		memcpy(msg + 1, path, n);
	return fd_send(j->sock, msg, 1 + n, fd);
}

int janitor_scratch(struct janitor *j, const char *path)
{
	return tell(j, WORD_SCRATCH, path, -1);
}

int janitor_cgroup(struct janitor *j, const char *path)
{
	return tell(j, WORD_CGROUP, path, -1);
}

int janitor_kill(struct janitor *j, int pidfd)
{
	return tell(j, WORD_KILL, NULL, pidfd);
}

struct janitor *janitor_finish(struct janitor *j)
{
	if (!j)
		return NULL;
	(void)tell(j, WORD_GOODBYE, NULL, -1); /* when it is dead, waitpid() says so */
	mem_close(&j->sock);
	while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(j);
	return NULL;
}

/* Cells as processes of this machine. */
#include "study/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/hostroom.h"

/* One process that is watched. */
struct local_cell {
	pid_t pid;
	int pidfd; /* readable when it has ended */
	int go;    /* it begins when a byte comes here, and ends when this is closed; -1 = it has */
	bool child;
};

struct local {
	const struct engine_options *o; /* borrowed */
	struct map cells;               /* pid -> struct local_cell, owned */
	int epoll;                      /* of all pidfds */
	char boot[40];
};

/* Which boot this is: a pid and a start time mean nothing in another. random(4) */
static int read_boot(char out[40], struct err *err)
{
	auto_buf b = BUF_INIT(256);
	int rc = fd_read_file("/proc/sys/kernel/random/boot_id", &b, err);

	if (rc == 0)
		snprintf(out, 40, "%.*s", (int)strcspn(buf_str(&b), "\n"), buf_str(&b));
	return rc;
}

static int local_open(const struct engine_options *o, void **ret, struct err *err)
{
	struct local *l = mem_zalloc(1, sizeof(*l));
	int rc;

	l->o = o;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = l->epoll < 0 ? err_sys(err, "cannot watch processes") : read_boot(l->boot, err);
	*ret = l;
	return rc;
}

/* In the new process. Nothing of the study's own descriptors or signals must reach the cell. */
static void become(const struct local *l, const struct engine_job *job, int go)
{
	const char *argv[16] = { NULL };
	char byte;
	sigset_t none;
	int log, null;
	size_t n = 0;

	/* Its own session: Ctrl-C at the terminal is for the study, which decides. */
	if (setsid() < 0 || chdir(job->study) < 0)
		_exit(127);
	if (read(go, &byte, 1) != 1)
		_exit(0); /* the study died before the journal had this process */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (; l->o->command[n] && n + 2 < ARRAY_SIZE(argv); n++)
		argv[n] = l->o->command[n];
	argv[n] = job->dir;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	log = openat(AT_FDCWD, job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	log = log < 0 ? -1
		      : openat(log, "cell.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(127);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

static int watch(struct local *l, struct local_cell *c, struct err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };

	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* Linux 5.3; close-on-exec */
	if (c->pidfd < 0)
		return errno == ESRCH ? 1 : err_sys(err, "cannot watch process %d", (int)c->pid);
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->pidfd, &ev) < 0)
		return err_sys(err, "cannot watch process %d", (int)c->pid);
	map_put(&l->cells, (uint64_t)c->pid, c);
	return 0;
}

static void forget(struct local *l, struct local_cell *c)
{
	map_del(&l->cells, (uint64_t)c->pid);
	mem_close(&c->pidfd);
	mem_close(&c->go);
	free(c);
}

static int local_start(void *e, const struct engine_job *job, struct engine_handle *ret,
		       struct err *err)
{
	struct local *l = e;
	struct local_cell *c = mem_zalloc(1, sizeof(*c));
	int pair[2], rc;

	c->pidfd = c->go = -1;
	c->child = true;
	/* A socket and no pipe: writing to one whose other end is gone must not kill us. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (c->pid = fork()) < 0) {
		rc = err_sys(err, "cannot start a cell; fewer at once (--jobs) may help");
		free(c);
		return rc;
	}
	if (c->pid == 0) {
		close(pair[1]);
		become(l, job, pair[0]);
	}
	close(pair[0]);
	c->go = pair[1];
	rc = watch(l, c, err);
	if (rc != 0) {
		forget(l, c);
		return rc < 0 ? rc : err_set(err, ERR_SYS, "the process of %s is gone", job->key);
	}
	*ret = (struct engine_handle){ .start = hostroom_start_time(c->pid) };
	snprintf(ret->id, sizeof(ret->id), "%d", (int)c->pid);
	memcpy(ret->boot, l->boot, sizeof(ret->boot));
	return 0;
}

static struct local_cell *find(const struct local *l, const struct engine_handle *h)
{
	uint64_t pid;

	return str_u64(h->id, &pid) == 0 ? map_get(&l->cells, pid) : NULL;
}

static int local_release(void *e, const struct engine_handle *h, struct err *err)
{
	struct local_cell *c = find(e, h);
	ssize_t n = c ? send(c->go, "g", 1, MSG_NOSIGNAL) : 0;

	/* A process that died meanwhile is told by poll(). */
	if (n < 0 && errno != EPIPE && errno != ECONNRESET)
		return err_sys(err, "cannot let process %s begin", h->id);
	if (c)
		mem_close(&c->go);
	return 0;
}

static int local_adopt(void *e, const struct engine_handle *h, bool *ret_lives, struct err *err)
{
	struct local *l = e;
	struct local_cell *c;
	uint64_t pid;
	int rc;

	*ret_lives = false;
	if (strcmp(h->boot, l->boot) != 0 || str_u64(h->id, &pid) < 0 || pid < 2 || pid > INT32_MAX)
		return 0;
	c = mem_zalloc(1, sizeof(*c));
	c->pid = (pid_t)pid;
	c->go = c->pidfd = -1;
	rc = watch(l, c, err);
	/* Only now that the descriptor holds it fast does its start time say whose pid this is. */
	if (rc == 0 && hostroom_start_time(c->pid) == h->start) {
		*ret_lives = true;
		return 0;
	}
	forget(l, c);
	return rc < 0 ? rc : 0;
}

static int local_poll(void *e, const struct engine_handle *h, struct engine_status *ret,
		      struct err *err)
{
	struct local *l = e;
	struct local_cell *c = find(l, h);
	struct pollfd pfd = { .fd = c ? c->pidfd : -1, .events = POLLIN };

	*ret = (struct engine_status){ .state = ENGINE_ENDED };
	if (!c)
		return 0;
	if (c->child) {
		pid_t got = waitpid(c->pid, &ret->status, WNOHANG);

		if (got < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for process %s", h->id);
		ret->has_status = got > 0;
		if (got <= 0)
			ret->state = ENGINE_RUNNING;
	} else if (poll(&pfd, 1, 0) <= 0) {
		/* Not our child. The descriptor tells its end even while nobody has waited for it. */
		ret->state = ENGINE_RUNNING;
	}
	if (ret->state == ENGINE_ENDED)
		forget(l, c);
	return 0;
}

static uint64_t local_memory(void *e, const struct engine_handle *h)
{
	const struct local_cell *c = find(e, h);

	return c ? hostroom_tree_memory(c->pid) : 0;
}

static int local_cancel(void *e, const struct engine_handle *h, bool hard, struct err *err)
{
	const struct local_cell *c = find(e, h);

	if (c && syscall(SYS_pidfd_send_signal, c->pidfd, hard ? SIGKILL : SIGTERM, NULL, 0) < 0 &&
	    errno != ESRCH)
		return err_sys(err, "cannot end process %s", h->id);
	return 0;
}

static int local_fd(void *e)
{
	return ((const struct local *)e)->epoll;
}

static void local_close(void *e)
{
	struct local *l = e;

	map_each (s, &l->cells) {
		struct local_cell *c = s->val;

		mem_close(&c->pidfd);
		mem_close(&c->go);
		free(c);
	}
	map_done(&l->cells);
	mem_close(&l->epoll);
	free(l);
}

const struct engine_ops engine_local = {
	.name = "local",
	.open = local_open,
	.start = local_start,
	.release = local_release,
	.adopt = local_adopt,
	.poll = local_poll,
	.memory = local_memory,
	.cancel = local_cancel,
	.fd = local_fd,
	.here = true,
	.close = local_close,
};

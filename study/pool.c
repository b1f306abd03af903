#include "study/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

#define TICK_MS 500

/* One job under way. */
struct slot {
	pid_t pid; /* 0: free */
	size_t job;
	int fd;    /* its result, -1 at the end of file */
	int pidfd; /* readable when it ended */
	struct buf text;
};

struct pool {
	const struct pool_ops *ops;
	struct slot *slots; /* owned, @n of them */
	unsigned n, running;
	bool exhausted; /* no job is left to start */
};

static void child(const struct pool *p, size_t job, int fd, pid_t parent)
{
	/* The parent may have died before the request: then nobody would ever tell us. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	for (unsigned i = 0; i < p->n; i++)
		mem_close(&p->slots[i].fd), mem_close(&p->slots[i].pidfd);
	/* Unflushed output of the parent belongs to the parent. */
	_exit(p->ops->work(p->ops->arg, job, fd));
}

static int start(struct pool *p, struct slot *s, size_t job, struct err *err)
{
	int pipefd[2];
	pid_t parent = getpid();

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe for a job");
	/* Only our end must not block: the job may wait until we read. */
	if (fcntl(pipefd[0], F_SETFL, O_NONBLOCK) < 0 || (s->pid = fork()) < 0) {
		int rc = err_sys(err, "cannot start a job; fewer at once (--jobs) may help");

		s->pid = 0;
		close(pipefd[0]);
		close(pipefd[1]);
		return rc;
	}
	if (s->pid == 0) {
		close(pipefd[0]);
		child(p, job, pipefd[1], parent);
	}
	close(pipefd[1]);
	s->fd = pipefd[0];
	s->job = job;
	p->running++;
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0); /* Linux 5.3; close-on-exec */
	return s->pidfd < 0 ? err_sys(err, "cannot watch a job") : 0;
}

/* Start jobs in all free slots. */
static int fill(struct pool *p, struct err *err)
{
	for (unsigned i = 0; i < p->n && !p->exhausted; i++) {
		size_t job;
		int rc;

		if (p->slots[i].pid)
			continue;
		if (!p->ops->next(p->ops->arg, &job)) {
			p->exhausted = true;
			break;
		}
		rc = start(p, &p->slots[i], job, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Take what is there; at the end of file the descriptor is closed. A job that writes more than it may is
 * not read on: it will be killed by SIGPIPE. */
static void take(struct slot *s)
{
	char part[65536];
	ssize_t n;

	while ((n = read(s->fd, part, sizeof(part))) > 0)
		if (s->text.len + (size_t)n < POOL_TEXT_MAX)
			buf_add(&s->text, part, (size_t)n);
		else
			break;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	mem_close(&s->fd);
}

/* The job's process has ended. The end of its pipe decides nothing: a process that it left behind may hold
 * it open. */
static int end(struct pool *p, struct slot *s, struct err *err)
{
	struct pool_end e = { .job = s->job };
	int rc;

	if (s->fd >= 0)
		take(s);
	mem_close(&s->fd);
	mem_close(&s->pidfd);
	while (waitpid(s->pid, &e.status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, "cannot wait for a job");
	s->pid = 0;
	p->running--;
	e.text = buf_str(&s->text);
	e.n = s->text.len;
	rc = p->ops->ended(p->ops->arg, &e, err);
	buf_clear(&s->text);
	return rc;
}

static void tick(const struct pool *p)
{
	if (p->ops->tick)
		p->ops->tick(p->ops->arg, p->running);
}

/* Wait until a job writes or ends. */
static int wait_some(struct pool *p, struct pollfd *pfd, struct err *err)
{
	int rc;

	for (unsigned i = 0; i < p->n; i++) {
		pfd[2 * i] = (struct pollfd){ .fd = p->slots[i].fd, .events = POLLIN };
		pfd[2 * i + 1] = (struct pollfd){ .fd = p->slots[i].pidfd, .events = POLLIN };
	}
	rc = poll(pfd, 2 * p->n, TICK_MS);
	if (rc < 0 && errno != EINTR)
		return err_sys(err, "cannot wait for jobs");
	for (unsigned i = 0; rc > 0 && i < p->n; i++) {
		struct slot *s = &p->slots[i];

		if (s->fd >= 0 && pfd[2 * i].revents)
			take(s);
		if (s->pidfd >= 0 && pfd[2 * i + 1].revents) {
			int ended = end(p, s, err);

			if (ended < 0)
				return ended;
		}
	}
	return 0;
}

/* Kill and reap what still runs. */
static void stop(struct pool *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct slot *s = &p->slots[i];

		mem_close(&s->fd);
		mem_close(&s->pidfd);
		if (s->pid) {
			kill(s->pid, SIGKILL);
			while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
				;
		}
		buf_done(&s->text);
	}
}

int pool_run(const struct pool_ops *ops, unsigned at_once, struct err *err)
{
	struct pool p = { .ops = ops, .n = at_once };
	struct pollfd *pfd;
	int rc;

	if (at_once < 1 || at_once > POOL_JOBS_MAX)
		return err_set(err, ERR_USAGE, "between 1 and %u jobs can run at once",
			       POOL_JOBS_MAX);
	fflush(NULL); /* or each child would hold a copy of what waits to be written */
	p.slots = mem_zalloc(at_once, sizeof(*p.slots));
	pfd = mem_zalloc(2 * at_once, sizeof(*pfd));
	for (unsigned i = 0; i < at_once; i++) {
		p.slots[i].fd = p.slots[i].pidfd = -1;
		p.slots[i].text = (struct buf)BUF_INIT(POOL_TEXT_MAX);
	}
	do {
		rc = fill(&p, err);
		tick(&p);
		if (rc == 0 && p.running)
			rc = wait_some(&p, pfd, err);
	} while (rc == 0 && (p.running || !p.exhausted));
	stop(&p);
	free(pfd);
	free(p.slots);
	return rc;
}

#include "supervisor/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

enum {
	SAFE_WRITE = 4096, /* PIPE_BUF: what POLLOUT on a pipe promises (pipe(7)) */
	CHUNKS_AT_ONCE = 16,
};

static void watch_fd_for(struct relay *r, int fd, int tag, unsigned events)
{
	struct epoll_event ev = { .events = events, .data.u32 = (uint32_t)tag };

	if (fd < 0)
		return;
	if (!events) {
		(void)epoll_ctl(r->epfd, EPOLL_CTL_DEL, fd, NULL); /* may not be there */
		return;
	}
	if (epoll_ctl(r->epfd, EPOLL_CTL_MOD, fd, &ev) < 0 && errno == ENOENT)
		(void)epoll_ctl(r->epfd, EPOLL_CTL_ADD, fd, &ev); /* EPERM: regular file */
}

/* Can epoll watch it? Not files, and of the devices only terminals (epoll_ctl(2), EPERM). */
static bool pollable(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISCHR(st.st_mode))
		return isatty(fd);
	return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool is_null(int fd)
{
	struct stat st, null;

	return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == null.st_rdev;
}

static int open_log(const char *dir, const char *name, struct err *err)
{
	auto_free char *path = path_join(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);

	return fd < 0 ? err_sys(err, "cannot create %s", path) : fd;
}

static int make_pipe(int *rd, int *wr, struct err *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	*rd = p[0];
	*wr = p[1];
	return 0;
}

static int open_pty(struct relay *r, struct err *err)
{
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };
	struct termios tio;
	int slave;

	if (tcgetattr(0, &tio) < 0)
		return err_sys(err, "cannot read the terminal's settings");
	(void)ioctl(0, TIOCGWINSZ, &ws); /* the default stands when it fails */
	r->saved = tio;
	if (openpty(&r->master, &slave, NULL, &tio, &ws) < 0)
		return err_sys(err, "cannot make a pseudo-terminal");
	(void)fcntl(r->master, F_SETFD, FD_CLOEXEC); /* valid descriptor: cannot fail */
	/* A full terminal must not stop the tracer. */
	(void)fcntl(r->master, F_SETFL, O_NONBLOCK); /* as above */
	(void)fcntl(slave, F_SETFD, FD_CLOEXEC);     /* as above */
	for (int i = 0; i < 3; i++)
		r->child[i] = i ? fcntl(slave, F_DUPFD_CLOEXEC, 3) : slave;
	r->tty = true;
	return 0;
}

static struct relay_pipe no_pipe(void)
{
	struct relay_pipe p = { .from = -1, .to = -1, .log = -1 };

	p.extra.max = 1 << 20;
	return p;
}

void relay_init(struct relay *r)
{
	r->epfd = -1;
	r->in = r->out = r->err = no_pipe();
	r->child[0] = r->child[1] = r->child[2] = r->master = r->log[0] = r->log[1] = -1;
	r->tty = r->raw = r->keep_in = false;
	r->bytes = r->max = 0;
	r->tap = NULL;
	r->tap_arg = NULL;
}

/* Nothing in means nothing in: programs look at what kind of thing their input is (ripgrep reads a
 * pipe but not /dev/null), so ours is passed on as what it is. */
static int open_input(struct relay *r, bool keep_in, struct err *err)
{
	if (!keep_in && is_null(0)) {
		r->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return r->child[0] < 0 ? err_sys(err, "cannot open /dev/null") : 0;
	}
	r->in.from = fcntl(0, F_DUPFD_CLOEXEC, 3);
	r->in.own_to = true;
	return make_pipe(&r->child[0], &r->in.to, err);
}

int relay_open(struct relay *r, const char *dir, int epfd, bool want_tty, bool quiet, bool keep_in,
	       uint64_t max_output, struct err *err)
{
	int rc;

	relay_init(r);
	r->epfd = epfd;
	r->keep_in = keep_in;
	r->max = max_output;
	r->log[0] = open_log(dir, "stdout.log", err);
	if (r->log[0] < 0)
		return r->log[0];
	r->log[1] = open_log(dir, "stderr.log", err);
	if (r->log[1] < 0)
		return r->log[1];
	if (want_tty && isatty(0)) {
		rc = open_pty(r, err);
		if (rc < 0)
			return rc;
		r->in.from = fcntl(0, F_DUPFD_CLOEXEC, 3);
		r->in.to = r->master;
		r->out.from = r->master;
	} else {
		if ((rc = open_input(r, keep_in, err)) < 0 ||
		    (rc = make_pipe(&r->out.from, &r->child[1], err)) < 0 ||
		    (rc = make_pipe(&r->err.from, &r->child[2], err)) < 0)
			return rc;
	}
	r->out.to = quiet ? -1 : 1;
	r->err.to = quiet ? -1 : 2;
	r->out.log = r->log[0];
	r->err.log = r->log[1];
	r->in.to_pollable = true;
	r->out.to_pollable = pollable(r->out.to);
	r->err.to_pollable = pollable(r->err.to);
	return 0;
}

static void start_pipe(struct relay *r, struct relay_pipe *p, int tag)
{
	if (p->from < 0)
		return;
	if (pollable(p->from))
		watch_fd_for(r, p->from, tag, EPOLLIN);
	else
		relay_event(r, tag); /* a regular file is always ready; take the first chunk */
}

int relay_started(struct relay *r, struct err *err)
{
	for (int i = 0; i < 3; i++)
		mem_close(&r->child[i]);
	if (r->tty) {
		struct termios raw = r->saved;

		cfmakeraw(&raw);
		if (tcsetattr(0, TCSADRAIN, &raw) < 0)
			return err_sys(err, "cannot set the terminal to raw");
		r->raw = true;
	}
	start_pipe(r, &r->in, RELAY_TAG_IN);
	start_pipe(r, &r->out, RELAY_TAG_OUT);
	start_pipe(r, &r->err, RELAY_TAG_ERR);
	return 0;
}

static bool out_ready(const struct relay_pipe *p)
{
	struct pollfd pfd = { .fd = p->to, .events = POLLOUT };

	return !p->to_pollable ||
	       (poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLOUT | POLLERR | POLLHUP)));
}

static void close_to(struct relay_pipe *p)
{
	if (p->own_to)
		mem_close(&p->to);
	p->to_dead = true;
}

/* At the end we may wait for our own reader, also when it gave us a descriptor that does not. */
static void wait_out(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	(void)poll(&pfd, 1, -1); /* EINTR: the write is tried again */
}

/* Write what is held as far as that cannot block. */
static void push(struct relay_pipe *p)
{
	while (p->done < p->len && !p->to_dead && p->to >= 0) {
		size_t n = p->len - p->done;
		ssize_t w;

		if (!out_ready(p))
			return;
		if (p->to_pollable && n > SAFE_WRITE)
			n = SAFE_WRITE;
		w = write(p->to, p->data + p->done, n);
		if (w > 0)
			p->done += (size_t)w;
		else if (w < 0 && errno == EAGAIN && p->last)
			wait_out(p->to);
		else if (w < 0 && errno == EAGAIN)
			return;
		else if (w < 0 && errno == EINTR)
			continue;
		else
			close_to(p);
	}
	p->done = p->len = 0;
}

/* Take the next chunk: injected bytes first, then the stream. False when nothing can be had. */
static bool pull(struct relay *r, struct relay_pipe *p)
{
	ssize_t n;

	if (p->extra.len) {
		size_t take = p->extra.len < RELAY_CHUNK ? p->extra.len : RELAY_CHUNK;

		memcpy(p->data, p->extra.data, take);
		memmove(p->extra.data, p->extra.data + take, p->extra.len - take);
		p->extra.len -= take;
		p->len = take;
		p->done = 0;
		return true;
	}
	if (p->eof || p->from < 0)
		return false;
	n = read(p->from, p->data, RELAY_CHUNK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) { /* EIO: the pty's last user closed it */
		p->eof = true;
		return false;
	}
	p->len = (size_t)n;
	p->done = 0;
	if (p == &r->out && r->tap)
		r->tap(r->tap_arg, p->data, (size_t)n);
	if (p != &r->in) {
		if (r->max && r->bytes >= r->max) {
			p->len = 0;
			r->bytes += (uint64_t)n;
			return true;
		}
		r->bytes += (uint64_t)n;
		/* A full disk must not end the run; the loss shows in the log's size. */
		if (p->log >= 0 && fd_write_all(p->log, p->data, (size_t)n) < 0)
			p->log = -1;
	}
	return true;
}

static bool readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* Move what can be moved now. Bounded: an endless writer must not keep the loop from everything
 * else. */
static void move_chunks(struct relay *r, struct relay_pipe *p)
{
	push(p);
	for (int i = 0; i < CHUNKS_AT_ONCE && p->len == p->done; i++) {
		if (!p->extra.len && (p->eof || p->from < 0 || !readable(p->from)))
			return;
		if (!pull(r, p))
			return;
		push(p);
	}
}

/* The stream has ended and everything was passed on. */
static void end_pipe(struct relay *r, struct relay_pipe *p, int tag, int to_tag)
{
	bool from_pty = r->tty && p == &r->out;

	watch_fd_for(r, p->from, tag, 0);
	if (!from_pty)
		mem_close(&p->from);
	if (p == &r->in && !r->tty && !r->keep_in && p->own_to && p->to >= 0) {
		watch_fd_for(r, p->to, to_tag, 0);
		close_to(p);
	}
}

/* Is @p the terminal's output while input waits for room in it? */
static bool pty_held(const struct relay *r, const struct relay_pipe *p)
{
	return r->tty && p == &r->out && r->in.len > r->in.done;
}

static void pump(struct relay *r, struct relay_pipe *p, int tag, int to_tag)
{
	bool to_pty = r->tty && p == &r->in, held;

	move_chunks(r, p);
	held = p->len > p->done;
	if (p->eof && !p->extra.len && !held) {
		end_pipe(r, p, tag, to_tag);
		return;
	}
	/* Held bytes: wait for the reader, and do not take more meanwhile. The pty's master stands
	 * in epoll once, for both directions. */
	if (to_pty)
		watch_fd_for(r, r->master, RELAY_TAG_OUT, EPOLLIN | (held ? EPOLLOUT : 0));
	else if (held || p->to_pollable)
		watch_fd_for(r, p->to, to_tag, held ? EPOLLOUT : 0);
	if (held)
		watch_fd_for(r, p->from, tag, 0);
	else if (p->from >= 0 && pollable(p->from))
		watch_fd_for(r, p->from, tag, EPOLLIN | (pty_held(r, p) ? EPOLLOUT : 0));
	else if (p->from >= 0 && !p->eof) /* always readable: go on when there is room again */
		watch_fd_for(r, p->to, to_tag, EPOLLOUT);
}

void relay_event(struct relay *r, int tag)
{
	switch (tag) {
	case RELAY_TAG_IN:
	case RELAY_TAG_IN_TO:
		pump(r, &r->in, RELAY_TAG_IN, RELAY_TAG_IN_TO);
		break;
	case RELAY_TAG_OUT:
	case RELAY_TAG_OUT_TO:
		if (pty_held(r, &r->out))
			pump(r, &r->in, RELAY_TAG_IN, RELAY_TAG_IN_TO);
		pump(r, &r->out, RELAY_TAG_OUT, RELAY_TAG_OUT_TO);
		break;
	case RELAY_TAG_ERR:
	case RELAY_TAG_ERR_TO:
		pump(r, &r->err, RELAY_TAG_ERR, RELAY_TAG_ERR_TO);
		break;
	default:
		break;
	}
}

int relay_send(struct relay *r, const char *text, size_t n)
{
	if (r->in.to < 0 || r->in.to_dead || buf_add(&r->in.extra, text, n) < 0)
		return -1;
	relay_event(r, RELAY_TAG_IN);
	return 0;
}

void relay_tap(struct relay *r, void (*tap)(void *arg, const char *data, size_t n), void *arg)
{
	r->tap = tap;
	r->tap_arg = arg;
	r->in.extra.max = RELAY_TAPPED_MAX;
	mem_close(&r->in.from);
}

void relay_end_input(struct relay *r)
{
	r->keep_in = false;
	r->in.eof = true;
	relay_event(r, RELAY_TAG_IN);
}

void relay_winch(struct relay *r)
{
	struct winsize ws;

	if (r->tty && ioctl(0, TIOCGWINSZ, &ws) == 0)
		(void)ioctl(r->master, TIOCSWINSZ, &ws); /* a dead pty has no size */
}

void relay_finish(struct relay *r)
{
	struct relay_pipe *p[] = { &r->out, &r->err };

	for (int i = 0; i < 3; i++)
		mem_close(&r->child[i]);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		/* The writers are dead: what is in the pipe is all there is. Our own reader may be
		 * slow, and here we may wait for it. */
		p[i]->to_pollable = false;
		p[i]->last = true;
		push(p[i]);
		while (!p[i]->eof && p[i]->from >= 0 && readable(p[i]->from) && pull(r, p[i]))
			push(p[i]);
		if (p[i]->from == r->master)
			p[i]->from = -1;
		mem_close(&p[i]->from);
	}
	if (r->raw)
		(void)tcsetattr(0, TCSADRAIN, &r->saved); /* the terminal may be gone */
	r->raw = false;
	mem_close(&r->in.from);
	if (r->in.own_to)
		mem_close(&r->in.to);
	mem_close(&r->master);
	mem_close(&r->log[0]);
	mem_close(&r->log[1]);
	buf_done(&r->in.extra);
}

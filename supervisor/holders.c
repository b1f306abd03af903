#include "supervisor/holders.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/sysdefs.h"
#include "profiles/profile.h"

#define PROGRAM_MAX (64u << 20)

void holders_init(struct holders *h)
{
	for (size_t i = 0; i < HOLDERS_MAX; i++)
		h->v[i] = (struct holder){ .fd = -1, .pidfd = -1 };
	h->null = h->program = -1;
}

struct holder *holders_find(struct holders *h, const char *name)
{
	for (size_t i = 0; i < HOLDERS_MAX; i++) {
		if (h->v[i].name && h->v[i].fd >= 0 && strcmp(h->v[i].name, name) == 0)
			return &h->v[i];
	}
	return NULL;
}

/* A place for @name. NULL with the reason. */
static struct holder *place(struct holders *h, const char *name, struct err *err)
{
	struct holder *free_one = NULL;

	for (size_t i = 0; i < HOLDERS_MAX; i++) {
		struct holder *o = &h->v[i];

		if (o->name && o->fd >= 0 && strcmp(o->name, name) == 0) {
			err_set(err, ERR_INPUT, "\"%s\" runs already; release it first", name);
			return NULL;
		}
		if (!free_one && o->fd < 0)
			free_one = o;
	}
	if (!free_one)
		err_set(err, ERR_LIMIT, "%d things are held already; release one", HOLDERS_MAX);
	return free_one;
}

static int spawn(struct box *box, struct holder *o, const char *name, const struct box_command *cmd,
		 struct err *err)
{
	struct pollfd ended = { .events = POLLIN };
	int rc = box_spawn(box, cmd, &o->fd, &o->pid, err);

	if (rc < 0) {
		o->fd = -1;
		return rc;
	}
	ended.fd = o->fd;
	o->pidfd = (int)syscall(SYS_pidfd_open, o->pid, 0);
	/* The box's first process reaps it: when it has ended by now the number may be another's. */
	if (poll(&ended, 1, 0) > 0)
		mem_close(&o->pidfd);
	free(o->name);
	o->name = mem_strdup(name);
	return 0;
}

static int open_null(struct holders *h, struct err *err)
{
	if (h->null < 0)
		h->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	return h->null < 0 ? err_sys(err, "cannot open /dev/null") : 0;
}

int holders_start(struct holders *h, struct box *box, const char *name, char *const *argv,
		  char *const *env, const char *cwd, struct err *err)
{
	struct box_command cmd = { .argv = argv, .env = env, .cwd = cwd };
	struct holder *o = place(h, name, err);

	if (!o)
		return -(int)err->code;
	if (open_null(h, err) < 0)
		return -ERR_SYS;
	cmd.stdio[0] = cmd.stdio[1] = cmd.stdio[2] = h->null;
	return spawn(box, o, name, &cmd, err);
}

/* The program in a file without a name: nothing of ours stands in the box. */
static int open_program(struct holders *h, struct err *err)
{
	auto_free char *path = profile_program("witness/hold");
	auto_buf text = BUF_INIT(PROGRAM_MAX);
	int rc;

	if (h->program >= 0)
		return 0;
	if (!path)
		return err_set(
			err, ERR_HOST,
			"this installation has no program \"hold\" (built without a static C "
			"library); install libc6-dev and build again");
	rc = fd_read_file(path, &text, err);
	if (rc < 0)
		return rc;
	h->program = memfd_create("h", MFD_CLOEXEC);
	if (h->program < 0 || fd_write_all(h->program, buf_str(&text), text.len) < 0 ||
	    fchmod(h->program, 0755) < 0) {
		rc = err_sys(err, "cannot keep a program in memory");
		mem_close(&h->program);
	}
	return rc;
}

/* Wait until @fd can be read, at most HOLDERS_WAIT_S: our own signals must not end that early. */
static bool wait_for(int fd)
{
	uint64_t end = clock_mono() + HOLDERS_WAIT_S * CLOCK_SEC;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, HOLDERS_WAIT_S * 1000);
	while (n < 0 && errno == EINTR && clock_mono() < end);
	return n == 1;
}

/* What it says of itself: "ok", or why not. */
static int listen_to(int fd, const char *name, struct err *err)
{
	char text[256];
	ssize_t n = wait_for(fd) ? read(fd, text, sizeof(text) - 1) : -1;

	if (n < 0)
		return err_set(err, ERR_CHILD, "%s: not held within %d seconds", name,
			       HOLDERS_WAIT_S);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, "ok") == 0)
		return 0;
	return err_set(err, ERR_CHILD, "%s: %s", name, n ? text : "it could not be started");
}

int holders_hold(struct holders *h, struct box *box, const char *name, const char *kind,
		 const char *arg, const char *answer, const char *cwd, struct err *err)
{
	char *const argv[] = { (char *)"/proc/self/fd/0", (char *)(uintptr_t)name,
			       (char *)(uintptr_t)kind,   (char *)(uintptr_t)arg,
			       (char *)(uintptr_t)answer, NULL };
	char *const env[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	struct box_command cmd = { .argv = argv, .env = env, .cwd = cwd };
	struct holder *o = place(h, name, err);
	auto_fd int in = -1, out = -1;
	int pipe_fd[2], rc;

	if (!o)
		return -(int)err->code;
	rc = open_program(h, err);
	if (rc == 0)
		rc = open_null(h, err);
	if (rc < 0)
		return rc;
	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	in = pipe_fd[0];
	out = pipe_fd[1];
	cmd.stdio[0] = h->program;
	cmd.stdio[1] = out;
	cmd.stdio[2] = h->null;
	rc = spawn(box, o, name, &cmd, err);
	mem_close(&out);
	if (rc < 0)
		return rc;
	rc = listen_to(in, name, err);
	if (rc < 0) {
		struct err ignored;

		(void)holders_signal(o, SIGKILL, &ignored); /* it has ended, or ends now */
		mem_close(&o->fd);
		mem_close(&o->pidfd);
	}
	return rc;
}

int holders_signal(struct holder *o, int sig, struct err *err)
{
	if (o->pidfd < 0)
		return err_set(err, ERR_INPUT, "\"%s\" has ended already", o->name);
	if (syscall(SYS_pidfd_send_signal, o->pidfd, sig, NULL, 0) < 0)
		return err_sys(err, "cannot signal \"%s\"", o->name);
	if (sig == SIGKILL && !wait_for(o->pidfd))
		return err_set(err, ERR_CHILD, "\"%s\" did not end within %d seconds", o->name,
			       HOLDERS_WAIT_S);
	return 0;
}

void holders_poll(struct holders *h, struct sink *sink, uint32_t epoch)
{
	for (size_t i = 0; i < HOLDERS_MAX; i++) {
		struct holder *o = &h->v[i];
		struct err err = { 0 };
		int status = 0, rc;
		struct buf *b;

		if (!o->name || o->fd < 0)
			continue;
		rc = box_spawned(o->fd, o->name, 0, &status, &err);
		if (rc == 0)
			continue;
		/* With the box all end; that is nobody's doing. */
		if (rc > 0) {
			b = sink_begin(sink, TK_NOTE, 0, 0, 0, epoch);
			tracerec_str(b, "holder", o->name, strlen(o->name));
			tracerec_i64(b, "ended", status);
			sink_end(sink);
		}
		mem_close(&o->fd);
		mem_close(&o->pidfd);
	}
}

void holders_done(struct holders *h)
{
	for (size_t i = 0; i < HOLDERS_MAX; i++) {
		mem_close(&h->v[i].fd);
		mem_close(&h->v[i].pidfd);
		free(h->v[i].name);
		h->v[i].name = NULL;
	}
	mem_close(&h->null);
	mem_close(&h->program);
}

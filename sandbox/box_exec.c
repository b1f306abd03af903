/* Programs in a box, seen from outside: where they are looked for, how a failed exec reads, and
 * further commands in a running box. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/msg.h"

#define SPAWN_TIMEOUT_MS 10000 /* for a fork and some forty calls */

/* The value of @name in @env, @other when it is not there. Borrowed. */
static const char *env_get(char *const *env, const char *name, const char *other)
{
	size_t n = strlen(name);

	for (; env && *env; env++) {
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	}
	return other;
}

void box_candidates(const char *name, char *const *env, struct strv *out)
{
	const char *path = env_get(env, "PATH", "/usr/local/bin:/usr/bin:/bin");

	if (strchr(name, '/')) {
		strv_add(out, name);
		return;
	}
	for (;;) {
		size_t n = strcspn(path, ":");

		/* An empty element is the current directory (execvp(3)). */
		strv_take(out, mem_printf("%.*s/%s", n ? (int)n : 1, n ? path : ".", name));
		if (!path[n])
			return;
		path += n + 1;
	}
}

int box_exec_text(const char *program, const struct note *n, struct err *err)
{
	static const struct {
		int sys;
		const char *hint;
	} hints[] = {
		{ EACCES, "it is not executable for the box's user" },
		{ ENOEXEC, "it is neither a program for this machine nor a script" },
		{ E2BIG, "its arguments and environment are too long" },
		{ ENOSYS, "it is traced but has no tracer" },
		{ ETXTBSY, "somebody writes it" },
		{ ELIBBAD, "its interpreter cannot be used" },
		{ EAGAIN, "too many processes; raise limits.processes" },
		{ ENOMEM, "memory is short; raise limits.memory" },
	};
	const struct child_step *s = child_step(n->step);
	bool exec = s && strcmp(s->what, "execute") == 0;
	const char *hint = strchr(program, '/') ? "there is no such file in the box"
						: "it was not found in the box's PATH";

	if (!exec && s && n->sys != EAGAIN && n->sys != E2BIG)
		return spawn_error(NULL, n, true, err);
	if (n->sys == ENOENT && n->op > 0)
		hint = "the file is there, but the interpreter or loader that it names is not";
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (hints[i].sys == n->sys)
			hint = hints[i].hint;
	}
	if (err) {
		err_set(err, ERR_CHILD, "cannot run \"%s\": %s; %s", program, strerror(n->sys),
			hint);
		err->sys = n->sys;
	}
	return -ERR_CHILD;
}

/* Add @v's strings with their NULs. Returns their number. */
static uint32_t pack(struct buf *b, char *const *v)
{
	uint32_t n = 0;

	for (; v && v[n]; n++)
		(void)buf_add(b, v[n], strlen(v[n]) + 1); /* b->full tells */
	return n;
}

/* Wait until the new process says ready, and learn its pid from the kernel. */
static int take_pid(int sock, const char *program, pid_t *ret, struct err *err)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	struct note n;
	int rc;

	do {
		rc = poll(&pfd, 1, SPAWN_TIMEOUT_MS);
	} while (rc < 0 && errno == EINTR);
	if (rc <= 0)
		return err_set(err, ERR_CHILD,
			       "cannot run \"%s\": the box did not answer for ten seconds; is the "
			       "machine overloaded?",
			       program);
	if (spawn_recv(sock, &n, ret) < 0)
		return err_set(err, ERR_CHILD, "cannot run \"%s\": the box died", program);
	return n.kind == NOTE_READY ? 0 : box_exec_text(program, &n, err);
}

/* Write @cmd down as a request. 0 or -ERR_LIMIT. */
static int make_request(const struct box_command *cmd, struct buf *b, struct err *err)
{
	struct exec_request req = { 0 };
	auto_strv candidates = { 0 };

	box_candidates(cmd->argv[0], cmd->env, &candidates);
	(void)buf_add(b, &req, sizeof(req)); /* b->full tells */
	(void)buf_add(b, cmd->cwd ? cmd->cwd : "", cmd->cwd ? strlen(cmd->cwd) + 1 : 1);
	req.candidates = pack(b, candidates.v);
	req.argc = pack(b, cmd->argv);
	req.envc = pack(b, cmd->env);
	if (b->full || (uint64_t)req.candidates + req.argc + req.envc > EXEC_ARGS)
		return err_set(err, ERR_LIMIT,
			       "the arguments and environment of \"%s\" are too long",
			       cmd->argv[0]);
	memcpy(b->data, &req, sizeof(req));
	return 0;
}

int box_spawn(struct box *box, const struct box_command *cmd, int *ret_fd, pid_t *ret_pid,
	      struct err *err)
{
	auto_buf b = BUF_INIT(EXEC_BYTES + sizeof(struct exec_request));
	const char *name = cmd->argv[0];
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	int ends[2], on = 1, rc;
	pid_t pid = 0;

	if (box->gate_fd >= 0)
		return err_set(err, ERR_BUG, "a further command before box_release()");
	rc = make_request(cmd, &b, err);
	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "cannot make a socket for \"%s\"", name);
	ours = ends[0];
	theirs = ends[1];
	if (setsockopt(ours, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return err_sys(err, "cannot ask for credentials");
	if (msg_send(box->ctl_fd, b.data, b.len,
		     (int[EXEC_FDS]){ cmd->stdio[0], cmd->stdio[1], cmd->stdio[2], theirs },
		     EXEC_FDS) < 0)
		return err_set(err, ERR_CHILD, "cannot run \"%s\": the box is gone: %s", name,
			       strerror(errno));
	mem_close(&theirs);
	rc = take_pid(ours, name, &pid, err);
	if (rc < 0)
		return rc;
	if (ret_pid)
		*ret_pid = pid;
	*ret_fd = take_fd(&ours);
	return 0;
}

int box_spawned(int fd, const char *program, uint64_t timeout_ns, int *ret_status, struct err *err)
{
	struct timespec left = {
		.tv_sec = (time_t)(timeout_ns / CLOCK_SEC),
		.tv_nsec = (long)(timeout_ns % CLOCK_SEC),
	};
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct note n;
	pid_t from;
	int rc;

	rc = ppoll(&pfd, 1, &left, NULL);
	if (rc <= 0)
		return rc == 0 || errno == EINTR ? 0 : err_sys(err, "cannot wait for a command");
	if (spawn_recv(fd, &n, &from) < 0)
		return err_set(err, ERR_CHILD, "the box died while \"%s\" ran in it", program);
	if (n.kind == NOTE_FAILED)
		return box_exec_text(program, &n, err);
	*ret_status = n.sys;
	return 1;
}

int box_exec(struct box *box, char *const *argv, char *const *env, const char *cwd,
	     unsigned seconds, struct err *err)
{
	auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct box_command cmd = { argv, env, cwd, { null, null, null } };
	uint64_t end = clock_mono() + seconds * CLOCK_SEC, now;
	auto_fd int fd = -1;
	int status = 0, rc;
	pid_t pid = 0;

	if (null < 0)
		return err_sys(err, "cannot open /dev/null");
	rc = box_spawn(box, &cmd, &fd, &pid, err);
	if (rc < 0)
		return rc;
	do {
		now = clock_mono();
		rc = box_spawned(fd, argv[0], end > now ? end - now : 0, &status, err);
	} while (rc == 0 && now < end);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		/* It leads its own session. PID 1 of the box reaps it only when it is dead, and
		 * then tells us first: the number is still its own but for an instant. */
		(void)kill(-pid, SIGKILL);
		return err_set(err, ERR_LIMIT, "\"%s\" did not end within %u s", argv[0], seconds);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, ERR_CHILD, "\"%s\" %s %d", argv[0],
		       WIFEXITED(status) ? "exited with status" : "was killed by signal",
		       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

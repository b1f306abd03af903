/* Parent's side of making a box: clone, maps, cgroup, the conversation until the gate. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/cgroup.h"
#include "sandbox/msg.h"

#define SETUP_TIMEOUT (60 * CLOCK_SEC) /* a copy of a large /etc on a slow disk takes seconds */

#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

static const char *const userns_fix =
	"allow user namespaces: sysctl user.max_user_namespaces must not be 0, on Debian "
	"kernel.unprivileged_userns_clone=1, on Ubuntu "
	"kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for proctor, in "
	"Docker --security-opt seccomp=unconfined (see proctor doctor)";

static int make_ends(struct child_plan *p, struct spawn *s, struct err *err)
{
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "cannot make the set-up socket");
	s->sync = pair[0];
	p->sync = pair[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "cannot make the gate socket");
	s->gate = pair[0];
	p->gate = pair[1];
	if (setsockopt(s->gate, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return err_sys(err, "cannot ask for credentials on the gate socket");
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make the error pipe");
	s->error = pair[0];
	p->error = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make the status pipe");
	s->status = pair[0];
	p->status = pair[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "cannot make the control socket");
	s->ctl = pair[0];
	p->ctl = pair[1];
	p->parent_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (p->parent_pidfd < 0)
		return err_sys(err, "pidfd_open(2) failed; Linux 5.12 or newer is needed");
	return 0;
}

static void close_child_ends(struct child_plan *p)
{
	mem_close(&p->sync);
	mem_close(&p->gate);
	mem_close(&p->error);
	mem_close(&p->status);
	mem_close(&p->parent_pidfd);
	mem_close(&p->ctl);
}

static void close_ends(struct spawn *s)
{
	mem_close(&s->sync);
	mem_close(&s->gate);
	mem_close(&s->error);
	mem_close(&s->status);
	mem_close(&s->ctl);
}

static int write_proc(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = (size_t)write(fd, text, strlen(text)) == strlen(text) ? 0 : -1;
	close(fd);
	return rc;
}

int spawn_maps(const struct ids *ids, pid_t pid, struct err *err)
{
	char uid[64], gid[64];

	snprintf(uid, sizeof(uid), "%d %u 1\n", BOX_UID, ids->uid);
	snprintf(gid, sizeof(gid), "%d %u 1\n", BOX_UID, ids->gid);
	/* Without privilege a gid map is only accepted after setgroups(2) is given up; with it the
	 * box drops root's groups itself (user_namespaces(7)). */
	if (!ids->mapped && write_proc(pid, "setgroups", "deny") < 0)
		return err_set(err, ERR_HOST, "cannot write the box's setgroups file: %s; %s",
			       strerror(errno), userns_fix);
	if (write_proc(pid, "uid_map", uid) < 0 || write_proc(pid, "gid_map", gid) < 0)
		return err_set(err, ERR_HOST, "cannot write the box's id maps: %s; %s",
			       strerror(errno), userns_fix);
	return 0;
}

/* What stands behind a failed operation of the file system list, where the errno alone misleads. */
static const char *files_hint(const struct ops_row *r, int sys)
{
	static const struct {
		enum ops_kind kind;
		const char *dst; /* NULL = any */
		int sys;
		const char *hint;
	} rows[] = {
		{ OPS_FS, "/proc", EPERM,
		  "parts of this machine's own /proc are covered, as in a container; start it with "
		  "--security-opt systempaths=unconfined (docker) or unmask=ALL (podman)" },
		{ OPS_OVERLAY, NULL, EINVAL,
		  "the scratch directory must be on a file system that an overlay can write to "
		  "(ext4, xfs, btrfs, tmpfs; not NFS, not an overlay): set PROCTOR_SCRATCH" },
		{ OPS_OVERLAY, NULL, EPERM,
		  "overlays in user namespaces need Linux 5.11; see proctor doctor, row overlay" },
		{ OPS_OVERLAY, NULL, ENODEV, "sudo modprobe overlay" },
		{ OPS_DIR, NULL, EROFS,
		  "the directory does not exist and its place is read-only in the box; choose "
		  "another workdir, or list its parent in filesystem.write" },
		{ OPS_DIR, NULL, EOVERFLOW,
		  "the directory above it belongs to a user that the box does not have" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].kind == r->kind && rows[i].sys == sys &&
		    (!rows[i].dst || (r->dst && strcmp(rows[i].dst, r->dst) == 0)))
			return rows[i].hint;
	}
	return NULL;
}

/* ": OPERATION ON WHAT" of a failed file system step into @out, its hint into *ret_fix. */
static void describe_files(const struct child_plan *p, const struct note *n, char *out, size_t size,
			   const char **ret_fix)
{
	const struct ops_row *r;

	if (n->source >= 0 && (size_t)n->source < p->ops.n_source) {
		snprintf(out, size, ": take %s", p->ops.source[n->source].path);
		if (n->sys == EINVAL)
			*ret_fix = "something is mounted below it, and such mounts stay together "
				   "for an ordinary user; use a directory without";
		return;
	}
	if (n->op >= p->ops.n)
		return;
	r = &p->ops.row[n->op];
	snprintf(out, size, ": %s %s%s%s", ops_name(r->kind), r->dst ? r->dst : "/",
		 n->detail[0] ? ": " : "", n->detail);
	*ret_fix = files_hint(r, n->sys);
}

int spawn_error(const struct child_plan *p, const struct note *n, bool child, struct err *err)
{
	const struct child_step *s = child ? child_step(n->step) : init_step(n->step);
	enum err_code code = child ? ERR_CHILD : ERR_HOST;
	const char *fix = s ? s->fix : NULL;
	char what[512] = "";
	int rc;

	if (!s)
		return err_set(err, ERR_SYS, "the box could not fork its command: %s",
			       strerror(n->sys));
	if (!child && strcmp(s->what, "build the file system") == 0)
		describe_files(p, n, what, sizeof(what), &fix);
	rc = err_set(err, code, "the box cannot %s%s: %s%s%s", s->what, what, strerror(n->sys),
		     fix ? "; " : "", fix ? fix : "");
	if (err)
		err->sys = n->sys;
	return rc;
}

int spawn_recv(int sock, struct note *n, pid_t *ret_pid)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { n, sizeof(*n) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.bytes,
		.msg_controllen = sizeof(ctl.bytes),
	};
	struct cmsghdr *c;
	struct ucred cred;
	ssize_t got;

	do {
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	c = CMSG_FIRSTHDR(&msg);
	if (got != sizeof(*n) || !c || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_CREDENTIALS)
		return -1;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	n->detail[sizeof(n->detail) - 1] = '\0';
	*ret_pid = cred.pid;
	return 0;
}

/* Take what PID 1 said before the command's process came to its gate: 0 when the descriptors are
 * there, negative with the failure that it told of. */
static int take_sync(const struct child_plan *p, const struct spawn *s, struct box *box,
		     struct err *err)
{
	int fd[NOTE_FD_MAX];
	struct note n;
	size_t n_fd;
	ssize_t got;

	for (;;) {
		got = msg_recv(s->sync, &n, sizeof(n), fd, NOTE_FD_MAX, &n_fd, MSG_DONTWAIT);
		/* PID 1 died before it read the second go: that is told first, and once; its own
		 * last message is behind it. */
		if (got < 0 && errno == ECONNRESET)
			continue;
		if (got != sizeof(n))
			break;
		n.detail[sizeof(n.detail) - 1] = '\0';
		if (n.kind == NOTE_FAILED)
			return spawn_error(p, &n, false, err);
		if (n.kind != NOTE_FDS || n_fd != NOTE_FD_MAX)
			continue;
		box->ws_fd = fd[NOTE_FD_WS];
		box->root_fd = fd[NOTE_FD_ROOT];
		box->net_fd = fd[NOTE_FD_NET];
		box->user_fd = fd[NOTE_FD_USER];
	}
	if (box->ws_fd >= 0)
		return 0;
	return err_set(err, ERR_CHILD,
		       "the box's first process died while it built the box; memory "
		       "may be short");
}

/* Wait until the command's process stands at its gate or the box has failed: then every end of the
 * gate in the box is closed. One wake-up, whatever happens inside. 0 or negative. */
static int converse(const struct child_plan *p, const struct spawn *s, struct box *box,
		    struct err *err)
{
	uint64_t end = clock_mono() + SETUP_TIMEOUT, now;
	struct pollfd pfd = { .fd = s->gate, .events = POLLIN };
	struct note n;
	int rc = 0;

	while (rc <= 0) {
		now = clock_mono();
		if (now >= end)
			return err_set(err, ERR_CHILD, "the box was not built after %llu s",
				       (unsigned long long)(SETUP_TIMEOUT / CLOCK_SEC));
		rc = poll(&pfd, 1, (int)((end - now) / CLOCK_MS) + 1);
		if (rc < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for the box");
	}
	if (spawn_recv(s->gate, &n, &box->agent_pid) == 0 && n.kind == NOTE_READY)
		return take_sync(p, s, box, err);
	rc = take_sync(p, s, box, err);
	if (rc < 0)
		return rc;
	/* The command's process failed on the way: the record is in the pipe, or it was killed. */
	if (read(s->error, &n, sizeof(n)) != sizeof(n))
		return err_set(err, ERR_CHILD, "the command's process died before its gate");
	n.detail[sizeof(n.detail) - 1] = '\0';
	return spawn_error(p, &n, true, err);
}

/* Where our command line stands: fields 48 and 49 of proc_pid_stat(5), Linux 3.5. Unknown is none. */
static void find_args(struct child_plan *p)
{
	auto_buf text = BUF_INIT(4096);
	unsigned long long from = 0, to = 0;
	const char *at;
	struct err err;

	if (fd_read_file("/proc/self/stat", &text, &err) < 0)
		return;
	at = strrchr(buf_str(&text), ')');
	for (int field = 2; at && field < 48; field++)
		at = strchr(at + 1, ' ');
	if (at && sscanf(at, " %llu %llu", &from, &to) == 2 && from && to > from) {
		p->args = (char *)(uintptr_t)from;
		p->n_args = (size_t)(to - from);
	}
}

static int clone_box(struct child_plan *p, struct spawn *s, struct box *box, struct err *err)
{
	int pidfd = -1;
	pid_t pid;

	find_args(p);
	pid = (pid_t)syscall(SYS_clone, NAMESPACES | CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
	if (pid == 0) {
		close_ends(s); /* or PID 1 would wait for itself when we are gone */
		init_main(p);
	}
	if (pid < 0)
		return err_set(err, ERR_HOST, "cannot make namespaces: %s; %s", strerror(errno),
			       userns_fix);
	box->init_pid = pid;
	box->init_pidfd = pidfd;
	return 0;
}

/* Let @pid and what it starts run on @n of our processors only (sched_setaffinity(2)): tools then count no more
 * than these. Which ones goes by the pid, so that boxes side by side do not share a few. 0 or negative. */
static int bind_cpus(pid_t pid, unsigned n, struct err *err)
{
	cpu_set_t ours, set;
	unsigned total, skip;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(ours), &ours) < 0)
		return err_sys(err, "cannot ask for our processors");
	total = (unsigned)CPU_COUNT(&ours);
	if (n >= total)
		return 0;
	skip = (unsigned)pid * n % total;
	for (size_t cpu = 0; n; cpu = (cpu + 1) % CPU_SETSIZE) {
		if (!CPU_ISSET(cpu, &ours))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		CPU_SET(cpu, &set);
		n--;
	}
	if (sched_setaffinity(pid, sizeof(set), &set) < 0)
		return err_sys(err, "cannot limit the box to some processors");
	return 0;
}

/* PID 1 may go on. When it is dead, its last message says why and is read later: no error here. 0 or negative. */
static int let_go(const struct spawn *s, struct err *err)
{
	const struct note go = { .kind = NOTE_GO };

	if (fd_send(s->sync, &go, sizeof(go), -1) == 0 || errno == EPIPE || errno == ECONNRESET)
		return 0;
	return err_sys(err, "cannot tell the box's first process to go on");
}

/* Maps, first go, cgroup, second go. The box builds its files while it is moved into the group. 0 or negative. */
static int guide(const struct child_plan *p, const struct spawn *s, struct box *box,
		 struct err *err)
{
	int rc = spawn_maps(&p->ids, box->init_pid, err);

	if (rc == 0)
		rc = let_go(s, err);
	if (rc == 0 && box->cg)
		rc = cgroup_add(box->cg, box->init_pid, err);
	if (rc == 0 && p->cpus)
		rc = bind_cpus(box->init_pid, p->cpus, err);
	return rc < 0 ? rc : let_go(s, err);
}

int spawn_box(struct child_plan *p, struct box *box, struct err *err)
{
	const struct note go = { .kind = NOTE_GO };
	struct spawn s = {
		.sync = -1,
		.gate = -1,
		.error = -1,
		.status = -1,
		.ctl = -1,
	};
	int rc = make_ends(p, &s, err);

	/* Nobody has to look before the command runs: its gate is open from the start. */
	if (rc == 0 && !p->wait && fd_send(s.gate, &go, sizeof(go), -1) < 0)
		rc = err_sys(err, "cannot open the gate");
	if (rc == 0)
		rc = clone_box(p, &s, box, err);
	close_child_ends(p);
	if (rc == 0)
		rc = guide(p, &s, box, err);
	if (rc == 0)
		rc = converse(p, &s, box, err);
	if (rc == 0) {
		box->gate_fd = p->wait ? take_fd(&s.gate) : -1;
		box->error_fd = take_fd(&s.error);
		box->status_fd = take_fd(&s.status);
		box->ctl_fd = take_fd(&s.ctl);
	}
	close_ends(&s);
	return rc;
}

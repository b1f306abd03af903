/* PID 1 of the box: builds the world by a table of steps, forks the command, reaps orphans until it
 * is killed. It holds no secret and, once the command runs, no capability; not dumpable, so that
 * nobody inside can look into it. No allocation, no stdio. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/msg.h"

void init_fail(int fd, const struct child_state *st)
{
	struct note n = {
		.kind = NOTE_FAILED,
		.step = (uint16_t)st->at,
		.sys = errno,
		.op = (uint32_t)st->ops.at,
		.source = st->ops.at_source,
	};

	memcpy(n.detail, st->ops.detail, sizeof(st->ops.detail));
	/* A pipe for the command's process, a socket here; nobody to tell when it fails. */
	(void)fd_write_all(fd, &n, sizeof(n));
	_exit(127);
}

/* The parent says go twice: when the maps are written, and when we are in our cgroup. Moving into a
 * group can take the kernel long (it waits for RCU), so the file system is built meanwhile. */
static int step_wait(struct child_plan *p, struct child_state *st)
{
	struct note n;
	ssize_t got;

	(void)st;
	do {
		got = recv(p->sync, &n, sizeof(n), 0);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(n) || n.kind != NOTE_GO)
		_exit(127);
	return 0;
}

static int step_ids(struct child_plan *p, struct child_state *st)
{
	(void)st;
	/* As a user setgroups(2) is denied in the namespace, and the groups stay. */
	if (p->ids.mapped && setgroups(0, NULL) < 0)
		return -1;
	if (setresgid(BOX_UID, BOX_UID, BOX_UID) < 0)
		return -1;
	/* Capabilities over the namespace survive: its uid 0 is not mapped, so this is no change
	 * from root to non-root (capabilities(7)). */
	return setresuid(BOX_UID, BOX_UID, BOX_UID);
}

/* After the ids: a change of credentials clears the death signal and dumpable (prctl(2)). */
static int step_death(struct child_plan *p, struct child_state *st)
{
	struct pollfd gone = { .fd = p->parent_pidfd, .events = POLLIN };

	(void)st;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -1;
	/* The parent may have died before the signal was armed. */
	if (poll(&gone, 1, 0) > 0)
		_exit(127);
	return 0;
}

static int step_cgroupns(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	/* Now, not at clone(2): its root is the cgroup that we were put into meanwhile. */
	return unshare(CLONE_NEWCGROUP);
}

static int step_hostname(struct child_plan *p, struct child_state *st)
{
	(void)st;
	return sethostname(p->hostname, strlen(p->hostname));
}

static int step_lo(struct child_plan *p, struct child_state *st)
{
	(void)p, (void)st;
	return netns_lo_up();
}

static int step_limits(struct child_plan *p, struct child_state *st)
{
	int fd;

	(void)st;
	/* Leave the user's session keyring behind; without keys in the kernel there is none. */
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (p->nested_userns)
		return 0;
	/* The filter refuses nested namespaces; this also stops what the filter cannot see. Best
	 * effort: the sysctl exists where user namespaces do. */
	fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fd_write_all(fd, "0\n", 2);
		close(fd);
	}
	return 0;
}

static int step_files(struct child_plan *p, struct child_state *st)
{
	umask(0); /* modes of the list are whole; the command gets 022 */
	return ops_run(&p->ops, &st->ops);
}

/* The parent takes these from us because it cannot open them itself later: we are not dumpable. */
static int step_hand_over(struct child_plan *p, struct child_state *st)
{
	const struct note n = { .kind = NOTE_FDS };
	int fd[NOTE_FD_MAX] = {
		[NOTE_FD_WS] = open(p->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		[NOTE_FD_ROOT] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
		[NOTE_FD_NET] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
		[NOTE_FD_USER] = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC),
	};
	int rc;

	(void)st;
	rc = msg_send(p->sync, &n, sizeof(n), fd, NOTE_FD_MAX);
	for (int i = 0; i < NOTE_FD_MAX; i++)
		close(fd[i]);
	return rc;
}

/* clang-format off */
static const struct child_step steps[] = {
	{ step_wait,      "wait for the maps", NULL },
	{ step_ids,       "become uid 1000 of the box",
	  "the user namespace must be fully allowed (see proctor doctor, row userns)" },
	{ step_death,     "arrange to die with proctor", NULL },
	{ step_hostname,  "set the host name",
	  "user namespaces are restricted here (see proctor doctor, row userns)" },
	{ step_lo,        "bring the loopback device up",
	  "user namespaces are restricted here (see proctor doctor, row userns)" },
	{ step_limits,    "limit nested namespaces", NULL },
	{ step_files,     "build the file system", NULL },
	{ step_wait,      "wait for the cgroup", NULL },
	{ step_cgroupns,  "make a cgroup namespace", NULL },
	{ step_hand_over, "hand over the workspace", NULL },
};
/* clang-format on */

const struct child_step *init_step(unsigned i)
{
	return i < ARRAY_SIZE(steps) ? &steps[i] : NULL;
}

/* Our memory is a copy of the supervisor's, and its environment may hold keys of the user's. */
static void forget_environment(void)
{
	for (char **e = environ; e && *e; e++)
		explicit_bzero(*e, strlen(*e));
}

/* What our owner was called with names its files, and everybody in the box can read the command line of PID 1. The
 * command has its own copy of this memory. */
static void hide_words(const struct child_plan *p)
{
	static const char name[] = "init";

	if (p->n_args > sizeof(name)) {
		memset(p->args, 0, p->n_args);
		memcpy(p->args, name, sizeof(name));
	}
	(void)prctl(PR_SET_NAME, name, 0, 0, 0); /* cannot fail: prctl(2) */
}

void init_main(struct child_plan *p)
{
	struct child_state st = { .ops = { .at_source = -1 } };
	pid_t pid;

	forget_environment();
	for (; st.at < ARRAY_SIZE(steps); st.at++) {
		if (steps[st.at].run(p, &st) < 0)
			init_fail(p->sync, &st);
	}
	pid = fork();
	if (pid < 0)
		init_fail(p->sync, &st);
	if (pid == 0)
		child_main(p, &st);
	hide_words(p);
	init_loop(p, pid);
}

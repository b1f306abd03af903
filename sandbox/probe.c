#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sysdefs.h"
#include "sandbox/box_internal.h"
#include "sandbox/cgroup.h"
#include "sandbox/probe_internal.h"

#define TRY_TIMEOUT_MS 10000

/* Trials run in throw-away children; each returns 0, or -1 with errno. */

static int try_userns(void)
{
	/* Ubuntu's AppArmor rule lets the namespace be made and takes its capabilities away. */
	return unshare(CLONE_NEWUTS);
}

static int try_mounts(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int fs, mnt;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	mnt = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (mnt < 0 || mount_setattr(mnt, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -1;
	return move_mount(mnt, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH);
}

static int try_pidns(void)
{
	int fs = fsopen("proc", FSOPEN_CLOEXEC);

	if (getpid() != 1) {
		errno = EINVAL;
		return -1;
	}
	/* A container that covers parts of its /proc forbids a new one. */
	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC, 0) < 0 ? -1 : 0;
}

static int try_netns(void)
{
	return netns_lo_up();
}

static int try_nothing(void)
{
	return 0; /* that the child was made is the trial */
}

static int try_utsns(void)
{
	return sethostname("probe", 5);
}

static int try_cgroupns(void)
{
	return unshare(CLONE_NEWCGROUP);
}

static int try_overlay(void)
{
	static const char *const dirs[] = { "/tmp/l", "/tmp/u", "/tmp/w", "/tmp/m" };

	if (mount("none", "/tmp", "tmpfs", 0, NULL) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (mkdir(dirs[i], 0755) < 0)
			return -1;
	}
	return mount("none", "/tmp/m", "overlay", 0,
		     "lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w,userxattr");
}

static int try_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

static int try_landlock(void)
{
	if (!landlock_abi()) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return landlock_confine(false);
}

static int try_caps(void)
{
	return caps_drop();
}

static int try_no_new_privs(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Trace a child of our own as the run traces the agent: SEIZE, and PTRACE_GET_SYSCALL_INFO (5.3).
 */
static int try_ptrace(void)
{
	pid_t pid = fork();
	int rc, keep;
	char info[88];

	if (pid == 0) {
		for (;;)
			pause();
	}
	if (pid < 0)
		return -1;
	rc = (int)ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP);
	if (rc == 0)
		rc = (int)ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	if (rc == 0 && waitpid(pid, NULL, __WALL) == pid)
		rc = ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), info) < 0 ? -1 : 0;
	keep = errno;
	(void)kill(pid, SIGKILL);         /* our child, not reaped */
	(void)waitpid(pid, NULL, __WALL); /* gone in any case when we are */
	errno = keep;
	return rc;
}

#define USER     CLONE_NEWUSER
#define USER_MNT (CLONE_NEWUSER | CLONE_NEWNS)

/* clang-format off */
static const struct {
	enum layer layer;
	int flags; /* namespaces of the child */
	int (*run)(void);
} trials[] = {
	{ LAYER_USERNS,       USER,                     try_userns },
	{ LAYER_MOUNTS,       USER_MNT,                 try_mounts },
	{ LAYER_PIDNS,        USER_MNT | CLONE_NEWPID,  try_pidns },
	{ LAYER_NETNS,        USER | CLONE_NEWNET,      try_netns },
	{ LAYER_IPCNS,        USER | CLONE_NEWIPC,      try_nothing },
	{ LAYER_UTSNS,        USER | CLONE_NEWUTS,      try_utsns },
	{ LAYER_CGROUPNS,     USER,                     try_cgroupns },
	{ LAYER_OVERLAY,      USER_MNT,                 try_overlay },
	{ LAYER_SECCOMP,      0,                        try_seccomp },
	{ LAYER_LANDLOCK,     0,                        try_landlock },
	{ LAYER_CAPS,         USER,                     try_caps },
	{ LAYER_NO_NEW_PRIVS, 0,                        try_no_new_privs },
	{ LAYER_PTRACE,       0,                        try_ptrace },
};
/* clang-format on */

/* The child of one trial: waits for its maps, becomes the box's user, tries, and tells its errno.
 */
static void __attribute__((noreturn)) trial_child(int flags, int (*run)(void), int go, int out)
{
	int sys = 0;
	char c;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || read(go, &c, 1) != 1)
		_exit(1);
	if ((flags & CLONE_NEWUSER) &&
	    (setresgid(BOX_UID, BOX_UID, BOX_UID) < 0 || setresuid(BOX_UID, BOX_UID, BOX_UID) < 0))
		sys = errno;
	else if (run() < 0)
		sys = errno ? errno : EINVAL;
	(void)!write(out, &sys, sizeof(sys)); /* the parent waits with a limit */
	_exit(0);
}

/* Run one trial. 0 or the errno of its failure. */
static int trial(int flags, int (*run)(void), const struct ids *ids)
{
	struct pollfd pfd = { .events = POLLIN };
	int go[2], out[2], sys = EPERM;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return errno;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return errno;
	}
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		close(go[1]);
		trial_child(flags, run, go[0], out[1]);
	}
	if (pid < 0)
		sys = errno;
	close(go[0]);
	close(out[1]);
	if (pid > 0) {
		pfd.fd = out[0];
		if (!(flags & CLONE_NEWUSER) || spawn_maps(ids, pid, NULL) == 0)
			(void)!write(go[1], "g", 1); /* a dead child shows below */
		else
			(void)kill(pid, SIGKILL); /* our child, not reaped */
		if (poll(&pfd, 1, TRY_TIMEOUT_MS) <= 0 ||
		    read(out[0], &sys, sizeof(sys)) != sizeof(sys))
			sys = EPERM;      /* killed: a filter around us answers so */
		(void)kill(pid, SIGKILL); /* as above */
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	close(go[1]);
	close(out[0]);
	return sys;
}

static void set(struct probe_row *row, enum layer l, int sys, char *detail_take)
{
	row->on = sys == 0;
	row->detail = detail_take;
	row->fix = sys ? probe_fix(l, sys) : NULL;
}

static void probe_cgroup(struct probe *p)
{
	struct limits none = { .max = { 0 } };
	struct probe_row *row = &p->layer[LAYER_CGROUP];
	struct cgroup *cg = NULL;
	const char *why = "off";
	struct err err = { 0 };
	int rc = cgroup_new(&none, NULL, &cg, &why, &err);

	if (rc == 0) {
		bool both = cgroup_has(cg, CGROUP_MEMORY) && cgroup_has(cg, CGROUP_PIDS);

		set(row, LAYER_CGROUP, both ? 0 : ENOENT,
		    both ? mem_strdup(cgroup_text(cg))
			 : mem_printf("memory or process limits are missing (%s)",
				      cgroup_text(cg)));
	} else {
		set(row, LAYER_CGROUP, EACCES,
		    mem_strdup(rc < 0                          ? err.text
			       : strncmp(why, "off: ", 5) == 0 ? why + 5
							       : why));
	}
	cgroup_free(cg);
}

/* Idmapped mounts, tried where the scratch directories will be. */
static bool probe_idmap(const struct ids *ids)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *dir = mem_printf("%s/proctor-probe.XXXXXX", tmp ? tmp : "/var/tmp");
	int fd = -1, rc;

	if (!ids->mapped || !mkdtemp(dir))
		return false;
	rc = ids_mount(ids, dir, true, false, &fd, NULL);
	mem_close(&fd);
	(void)rmdir(dir); /* empty and ours */
	return rc == 0;
}

void probe_run(struct probe *ret)
{
	struct ids ids;

	memset(ret, 0, sizeof(*ret));
	ids_choose(NULL, &ids);
	for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
		enum layer l = trials[i].layer;
		int sys = trial(trials[i].flags, trials[i].run, &ids);

		set(&ret->layer[l], l, sys, mem_strdup(sys ? strerror(sys) : "on"));
	}
	ret->landlock_abi = landlock_abi();
	if (ret->layer[LAYER_LANDLOCK].on) {
		free(ret->layer[LAYER_LANDLOCK].detail);
		ret->layer[LAYER_LANDLOCK].detail =
			mem_printf("Landlock ABI %d", ret->landlock_abi);
	}
	probe_cgroup(ret);
	ret->idmap = probe_idmap(&ids);
}

void probe_done(struct probe *p)
{
	for (int l = 0; l < LAYER_MAX; l++) {
		free(p->layer[l].detail);
		free(p->layer[l].fix);
	}
	memset(p, 0, sizeof(*p));
}

int probe_require(const struct probe *p, const struct strv *require, struct err *err)
{
	auto_buf text = BUF_INIT(ERR_TEXT_MAX);

	strv_each (i, require) {
		const char *names[LAYER_MAX + 1] = { NULL };
		int l = 0;

		while (l < LAYER_MAX && strcmp(layer_name((enum layer)l), require->v[i]) != 0)
			l++;
		if (l == LAYER_MAX) {
			const char *near;

			for (int k = 0; k < LAYER_MAX; k++)
				names[k] = layer_name((enum layer)k);
			near = str_nearest(require->v[i], names);
			return err_set(err, ERR_INPUT,
				       "profile require: \"%s\" is not a layer%s%s%s",
				       require->v[i], near ? "; did you mean \"" : "",
				       near ? near : "", near ? "\"?" : "");
		}
		if (!p->layer[l].on)
			(void)buf_addf(&text, "%s%s (%s; %s)", text.len ? ", " : "", require->v[i],
				       p->layer[l].detail, p->layer[l].fix); /* cut when long */
	}
	if (!text.len && !text.full)
		return 0;
	return err_set(err, ERR_HOST, "this host lacks what the profile requires: %s",
		       buf_str(&text));
}

#include "sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/box_internal.h"
#include "sandbox/cgroup.h"
#include "sandbox/filter.h"
#include "sandbox/janitor.h"

static void plan_done(struct child_plan *p)
{
	ops_done(&p->ops);
	strv_done(&p->candidates);
	free(p->sh_argv);
	filter_free(&p->filter_a);
	mem_close(&p->sync);
	mem_close(&p->gate);
	mem_close(&p->error);
	mem_close(&p->status);
	mem_close(&p->parent_pidfd);
	mem_close(&p->ctl);
}

static char **shell_argv(char *const *argv)
{
	size_t n = 0;
	char **v;

	while (argv[n])
		n++;
	v = mem_zalloc(n + 2, sizeof(*v));
	v[0] = (char *)(uintptr_t) "sh";
	/* v[1] is the script's path, filled in by the child. */
	for (size_t i = 1; i < n; i++)
		v[i + 1] = argv[i];
	return v;
}

static int check_spec(const struct box_spec *s, struct err *err)
{
	const struct {
		const char *name, *path;
	} must[] = {
		{ "workdir", s->workdir },
		{ "home", s->home },
		{ "scratch", s->scratch },
		{ "ws_lower", s->ws_lower },
	};

	if (!s->argv || !s->argv[0] || !s->argv[0][0])
		return err_set(err, ERR_INPUT, "no command was given for the box");
	for (size_t i = 0; i < ARRAY_SIZE(must); i++) {
		if (!must[i].path || must[i].path[0] != '/')
			return err_set(err, ERR_INPUT, "box: %s \"%s\" must be an absolute path",
				       must[i].name, must[i].path ? must[i].path : "");
	}
	if (!s->rootfs)
		return err_set(err, ERR_INPUT, "no root file system was given for the box");
	if (path_beneath("/", s->workdir) || path_beneath("/", s->home))
		return err_set(err, ERR_INPUT, "the workspace and HOME cannot be / in the box");
	if (s->ws_upper && !s->ws_work)
		return err_set(err, ERR_BUG, "box: ws_upper without ws_work");
	return 0;
}

/* Directory for the box's own layers. 0 or negative. */
static int make_dir(const struct box_spec *spec, struct box *box, struct err *err)
{
	auto_free char *dir = mem_printf("%s/box.XXXXXX", spec->scratch);

	if (!mkdtemp(dir))
		return err_sys(err, "cannot make a directory in %s", spec->scratch);
	box->dir = take_ptr(&dir);
	return 0;
}

static void set_posture(struct box *box, enum layer l, char *text_take)
{
	free(box->posture_text[l]);
	box->posture_text[l] = text_take;
	box->posture[l] = text_take;
}

static void plan_posture(const struct box_spec *spec, struct child_plan *p, struct box *box)
{
	bool nested = spec->profile && spec->profile->nested_userns;
	int abi = landlock_abi();

	for (int l = 0; l < LAYER_MAX; l++)
		box->posture[l] = "on";
	box->posture[LAYER_PTRACE] = "off: no tracer";
	p->nested_userns = nested;
	p->landlock = abi > 0 && !nested;
	if (!abi)
		box->posture[LAYER_LANDLOCK] = "off: this kernel has no Landlock";
	else if (nested)
		box->posture[LAYER_LANDLOCK] =
			"off: syscalls.nested_userns lets agents mount, which Landlock forbids";
	if (!spec->ws_upper)
		box->posture[LAYER_OVERLAY] = "off: the workspace is used in place";
	else if (spec->profile && spec->profile->write.n)
		set_posture(box, LAYER_OVERLAY,
			    mem_printf("on, but %zu host path%s can be written (filesystem.write)",
				       spec->profile->write.n,
				       spec->profile->write.n == 1 ? "" : "s"));
}

static int make_cgroup(const struct box_spec *spec, struct box *box, struct err *err)
{
	const char *why = "off: turned off by the caller";
	int rc = 1;

	if (!spec->no_cgroup)
		rc = cgroup_new(&spec->limits, spec->janitor, &box->cg, &why, err);
	if (rc == 1)
		box->posture[LAYER_CGROUP] = why;
	return rc < 0 ? rc : 0;
}

/* Refuse before anything runs when a layer that the profile requires is off. */
static int check_require(const struct box_spec *spec, const struct box *box, struct err *err)
{
	if (!spec->profile)
		return 0;
	strv_each (i, &spec->profile->require) {
		const char *name = spec->profile->require.v[i];

		for (int l = 0; l < LAYER_MAX; l++) {
			/* The tracer comes later and is its owner's to check; a workspace used in
			 * place is the caller's express wish. */
			if (l == LAYER_PTRACE || (l == LAYER_OVERLAY && !spec->ws_upper) ||
			    strcmp(layer_name((enum layer)l), name) != 0)
				continue;
			if (strncmp(box->posture[l], "on", 2) != 0)
				return err_set(err, ERR_HOST,
					       "the profile requires %s, which is %s; see proctor "
					       "doctor, or take it out of \"require\"",
					       name, box->posture[l]);
		}
	}
	return 0;
}

/* As root the pipes and the terminal are ours, and /dev/stderr or /dev/console could not be opened
 * by name inside. Files and named pipes stay whose they are. */
static void give_stdio(const struct box_spec *spec, const struct ids *ids)
{
	for (int i = 0; ids->mapped && i < 3; i++) {
		char self[64], name[64];
		struct stat st;
		ssize_t n;

		snprintf(self, sizeof(self), "/proc/self/fd/%d", spec->stdio[i]);
		n = readlink(self, name, sizeof(name) - 1);
		if (n <= 0 || fstat(spec->stdio[i], &st) < 0)
			continue;
		name[n] = '\0';
		if ((S_ISFIFO(st.st_mode) && str_starts(name, "pipe:")) ||
		    (S_ISCHR(st.st_mode) && spec->new_tty))
			/* Best effort: writing to the descriptor works in any case. */
			(void)!fchown(spec->stdio[i], ids->uid, ids->gid);
	}
}

static int make_plan(const struct box_spec *spec, struct child_plan *p, struct box *box,
		     struct err *err)
{
	int rc;

	ids_choose(spec->ws_upper, &p->ids);
	box->uid = p->ids.uid;
	box->gid = p->ids.gid;
	box->mapped = p->ids.mapped;
	p->hostname = spec->hostname ? spec->hostname : "proctor";
	p->workdir = spec->workdir;
	p->cwd = spec->cwd ? spec->cwd : spec->workdir;
	p->argv = spec->argv;
	p->env = spec->env;
	p->extra_fd = spec->extra_fd;
	p->new_tty = spec->new_tty;
	p->signal_beside = spec->signal_beside;
	p->wait = spec->wait_for_tracer;
	p->filter_b = spec->filter_b;
	memcpy(p->stdio, spec->stdio, sizeof(p->stdio));
	give_stdio(spec, &p->ids);
	p->n_rlimit = rlimits_plan(&spec->limits, p->rlimit);
	p->cpus = spec->cpus;
	box_candidates(spec->argv[0], spec->env, &p->candidates);
	p->sh_argv = shell_argv(spec->argv);
	plan_posture(spec, p, box);
	rc = filter_policy(spec->profile, &p->filter_a, err);
	if (rc == 0)
		rc = make_cgroup(spec, box, err);
	if (rc == 0)
		rc = check_require(spec, box, err);
	if (rc == 0)
		rc = make_dir(spec, box, err);
	if (rc == 0)
		rc = rootfs_plan(spec, box->dir, &p->ids, &p->ops, err);
	return rc;
}

int box_start(const struct box_spec *spec, struct box **ret, struct err *err)
{
	struct child_plan plan = {
		.parent_pidfd = -1,
		.sync = -1,
		.gate = -1,
		.error = -1,
		.status = -1,
		.ctl = -1,
	};
	struct box *box;
	int rc = check_spec(spec, err);

	if (rc < 0)
		return rc;
	box = mem_zalloc(1, sizeof(*box));
	box->init_pidfd = box->gate_fd = box->ws_fd = box->root_fd = -1;
	box->error_fd = box->status_fd = box->net_fd = box->user_fd = -1;
	box->ctl_fd = -1;
	box->program = mem_strdup(spec->argv[0]);
	rc = make_plan(spec, &plan, box, err);
	if (rc == 0)
		rc = spawn_box(&plan, box, err);
	if (rc == 0 && spec->janitor && janitor_kill(spec->janitor, box->init_pidfd) < 0)
		rc = err_sys(err, "cannot tell the janitor of the box");
	plan_done(&plan);
	box->started = clock_mono(); /* box_release() knows better, if it comes */
	if (rc < 0) {
		box_free(box);
		return rc;
	}
	*ret = box;
	return 0;
}

int box_release(struct box *box, struct err *err)
{
	struct note go = { .kind = NOTE_GO };
	int rc;

	if (box->gate_fd < 0)
		return 0;
	box->started = clock_mono();
	rc = fd_send(box->gate_fd, &go, sizeof(go), -1);
	if (rc < 0)
		rc = err_set(err, ERR_CHILD, "the command's process died at its gate: %s",
			     strerror(errno));
	mem_close(&box->gate_fd);
	return rc;
}

void box_act_as(const struct box *box, bool on)
{
	if (!box->mapped)
		return;
	/* Both calls cannot fail for root and report only the former id (setfsuid(2)). */
	(void)setfsgid(on ? box->gid : getegid());
	(void)setfsuid(on ? box->uid : geteuid());
}

int box_exec_error(struct box *box, bool wait, struct err *err)
{
	struct pollfd pfd = { .fd = box->error_fd, .events = POLLIN };
	struct note n;
	ssize_t got;
	int rc;

	if (box->error_fd < 0)
		return 0;
	do {
		rc = poll(&pfd, 1, wait ? -1 : 0);
	} while (rc < 0 && errno == EINTR);
	if (rc <= 0)
		return rc < 0 ? err_sys(err, "cannot wait for exec") : 1;
	got = read(box->error_fd, &n, sizeof(n));
	mem_close(&box->error_fd);
	if (got != sizeof(n))
		return 0; /* closed by the exec that succeeded, or by the process's death */
	return box_exec_text(box->program, &n, err);
}

/* Take the command's status when it is there. 1 taken, 0 not yet. */
static int take_status(struct box *box)
{
	int status;

	if (box->exited)
		return 1;
	if (box->status_fd < 0)
		return 0;
	if (read(box->status_fd, &status, sizeof(status)) != sizeof(status)) {
		/* PID 1 was killed before the command ended: so was the command. */
		status = SIGKILL;
		box->lost = !box->killed;
	}
	mem_close(&box->status_fd);
	box->exited = true;
	box->status = status;
	return 1;
}

void box_reaped(struct box *box, int status)
{
	(void)status; /* PID 1 always ends by SIGKILL; the command's status is in the pipe */
	box->reaped = true;
	(void)take_status(box); /* 0 when it is taken already */
}

int box_wait(struct box *box, uint64_t timeout_ns, struct err *err)
{
	uint64_t now = clock_mono(), end = now + timeout_ns;

	if (end < now)
		end = UINT64_MAX;
	for (;;) {
		struct pollfd pfd = { .fd = box->status_fd, .events = POLLIN };
		struct timespec left;
		int rc;

		if (box->exited)
			return 1;
		left.tv_sec = (time_t)((end - now) / CLOCK_SEC);
		left.tv_nsec = (long)((end - now) % CLOCK_SEC);
		rc = ppoll(&pfd, 1, &left, NULL);
		if (rc > 0)
			return take_status(box);
		if (rc < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for the box");
		now = clock_mono();
		if (now >= end)
			return 0;
	}
}

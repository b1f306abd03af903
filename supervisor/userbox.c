#include "supervisor/userbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/profile.h"

#define HOME_DIR        "/home/agent"
#define DISK_ENTRIES    100000
#define PIPE_BYTES      (1 << 20) /* a turn's line should fit; a smaller pipe is only slower */
#define PROFILE_OF_USER "user"

/* Files of the program in a new directory. */
static int write_files(const struct user *u, const char *dir, struct err *err)
{
	if (mkdir(dir, 0755) < 0)
		return err_sys(err, "cannot make %s", dir);
	strv_each (i, &u->files) {
		auto_free char *path = path_join(dir, u->files.v[i]);
		auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

		if (fd < 0 || fd_write_all(fd, u->texts.v[i], strlen(u->texts.v[i])) < 0 ||
		    fchmod(fd, 0755) < 0)
			return err_sys(err, "cannot write %s", path);
	}
	return 0;
}

static int make_pipe(int p[2], bool we_write, struct err *err)
{
	if (pipe2(p, O_CLOEXEC) < 0 || fcntl(p[we_write], F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "cannot make a pipe for the user's program");
	(void)fcntl(p[we_write], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static void environment(const struct plan *p, struct strv *env)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		("HOME=" HOME_DIR),
		"USER=agent",
		"LOGNAME=agent",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TZ=UTC",
		"PYTHONUNBUFFERED=1",
		"PYTHONDONTWRITEBYTECODE=1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(env, fixed[i]);
	strv_take(env, mem_printf("WORKSPACE=%s", p->task->workdir));
}

/* Directories of the box's workspace, which is USER_DIR. 0 or negative. */
static int make_layers(const struct user *u, const struct workspace *ws, char **lower, char **upper,
		       char **work, struct err *err)
{
	*lower = path_join(ws->scratch, "user-lower");
	*upper = path_join(ws->scratch, "user-upper");
	*work = path_join(ws->scratch, "user-work");
	if (mkdir(*upper, 0755) < 0 || mkdir(*work, 0755) < 0)
		return err_sys(err, "cannot make the layers of the user's box");
	return write_files(u, *lower, err);
}

static int start_box(const struct plan *plan, const struct user *u, const struct workspace *ws,
		     const char *rootfs, const char *view, struct janitor *jan,
		     const struct profile *profile, const int stdio[3], struct userbox *ret,
		     struct err *err)
{
	const struct box_bind bind = { .host = view,
				       .box = plan->task->workdir,
				       .what = "the view of the scenario's user" };
	auto_free char *lower = NULL;
	auto_free char *work = NULL;
	auto_strv env = { 0 };
	struct box_spec spec = {
		.rootfs = rootfs,
		.profile = profile,
		.workdir = USER_DIR,
		.scratch = ws->scratch,
		.home = HOME_DIR,
		.binds = &bind,
		.n_binds = view ? 1 : 0,
		.argv = u->argv.v,
		.stdio = { stdio[0], stdio[1], stdio[2] },
		.limits = profile->limits,
		.cpus = 1,
		.janitor = jan,
	};
	int rc = make_layers(u, ws, &lower, &ret->upper, &work, err);

	if (rc < 0)
		return rc;
	environment(plan, &env);
	spec.env = env.v;
	spec.ws_lower = lower;
	spec.ws_upper = ret->upper;
	spec.ws_work = work;
	rc = box_start(&spec, &ret->box, err);
	if (rc == 0)
		rc = box_release(ret->box, err);
	if (rc == 0)
		rc = box_exec_error(ret->box, true, err);
	return rc < 0 ? rc : 0;
}

int userbox_start(const struct plan *plan, const struct user *u, const struct workspace *ws,
		  const char *rootfs, const char *view, struct janitor *jan, struct userbox *ret,
		  struct err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, log[2] = { -1, -1 };
	struct profile *profile = NULL;
	int rc = profile_load(PROFILE_OF_USER, &profile, err);

	*ret = (struct userbox){ .in = -1, .out = -1, .err = -1 };
	if (rc == 0)
		rc = make_pipe(in, true, err);
	if (rc == 0)
		rc = make_pipe(out, false, err);
	if (rc == 0)
		rc = make_pipe(log, false, err);
	ret->in = in[1];
	ret->out = out[0];
	ret->err = log[0];
	if (rc == 0) {
		const int stdio[3] = { in[0], out[1], log[1] };

		ret->disk = profile->limits.max[LIMIT_DISK];
		rc = start_box(plan, u, ws, rootfs, view, jan, profile, stdio, ret, err);
	}
	mem_close(&in[0]);
	mem_close(&out[1]);
	mem_close(&log[1]);
	profile_free(profile);
	if (rc < 0)
		userbox_done(ret);
	return rc < 0 ? err_wrap(err, "the scenario's user") : 0;
}

bool userbox_full(const struct userbox *b)
{
	uint64_t used = fd_tree_bytes(AT_FDCWD, b->upper, DISK_ENTRIES);

	if (b->box && b->box->dir)
		used += fd_tree_bytes(AT_FDCWD, b->box->dir, DISK_ENTRIES);
	return b->disk && used > b->disk;
}

void userbox_done(struct userbox *b)
{
	mem_close(&b->in);
	mem_close(&b->out);
	mem_close(&b->err);
	b->box = box_free(b->box);
	free(b->upper);
	b->upper = NULL;
}

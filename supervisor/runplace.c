#include "supervisor/runplace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

/* A patch of usual size, and run.json twice. */
enum { RESERVE = 256 << 10 };

static char *default_parent(const struct plan *p)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	auto_free char *dir = NULL;

	if (state && state[0] == '/')
		dir = mem_printf("%s/proctor/runs", state);
	else if (home && home[0] == '/')
		dir = mem_printf("%s/.local/state/proctor/runs", home);
	/* Somebody who works in HOME itself: the command would see its own record. */
	if (dir && !(!p->task->file && path_beneath(dir, p->task->source)))
		return take_ptr(&dir);
	return mem_printf("/var/tmp/proctor-runs-%u", (unsigned)geteuid());
}

void runplace_id(char out[RUNPLACE_ID])
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(out, RUNPLACE_ID, "%s-%d", when, (int)getpid());
}

/* A run directory that the box can write is no record: the agent could forge it, or lead us elsewhere
 * by a link in its path. */
static int check_apart(const char *rundir, const char *dir, struct err *err)
{
	auto_free char *real = realpath(dir, NULL);
	auto_free char *out = realpath(rundir, NULL);

	if (real && out && path_beneath(out, real))
		return err_set(err, ERR_USAGE,
			       "--out %s lies in %s, which the command sees; choose a directory "
			       "outside",
			       rundir, dir);
	return 0;
}

int runplace_make(const struct plan *plan, const char *out, const char *id, char **ret_dir,
		  struct err *err)
{
	auto_free char *parent = NULL, *mark = NULL, *cwd = NULL;
	struct stat st;
	int rc;

	if (out) {
		cwd = getcwd(NULL, 0);
		if (!cwd)
			return err_sys(err, "cannot tell the current directory");
		*ret_dir = path_join(cwd, out);
	} else {
		parent = default_parent(plan);
		*ret_dir = path_join(parent, id);
	}
	rc = fd_mkdirs(*ret_dir, 0755, err);
	if (rc < 0)
		return rc;
	if (!plan->task->file)
		rc = check_apart(*ret_dir, plan->task->source, err);
	strv_each (i, &plan->profile->write) {
		if (rc == 0)
			rc = check_apart(*ret_dir, plan->profile->write.v[i], err);
	}
	if (rc < 0) {
		(void)rmdir(*ret_dir); /* only when we made it or it was empty */
		return rc;
	}
	mark = path_join(*ret_dir, "run.json");
	if (lstat(mark, &st) == 0)
		return err_set(err, ERR_USAGE, "%s holds a run already; choose another --out",
			       *ret_dir);
	return 0;
}

int runplace_reserve(const char *dir)
{
	struct statvfs disk;
	auto_fd int fd = -1;

	/* On a disk that is nearly full already the run itself needs what there is. */
	if (statvfs(dir, &disk) < 0 || (uint64_t)disk.f_bavail * disk.f_frsize < 4 * RESERVE)
		return -1;
	fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	return fd >= 0 && posix_fallocate(fd, 0, RESERVE) == 0 ? take_fd(&fd) : -1;
}

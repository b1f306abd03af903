#include "sandbox/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"

/* Files older than the index by this much are never "racy" (gitformat-index(5)). */
#define AGE_SECONDS (24 * 60 * 60)

static int make_scratch(struct workspace *ws, struct janitor *jan, struct err *err)
{
	static const char *const names[] = { "PROCTOR_SCRATCH", "TMPDIR" };
	const char *parent = NULL;
	auto_free char *real = NULL;
	uint64_t word;

	for (size_t i = 0; i < ARRAY_SIZE(names) && (!parent || !*parent); i++)
		parent = getenv(names[i]);
	if (!parent || !*parent)
		parent = "/var/tmp";
	real = realpath(parent, NULL); /* overlay options and the janitor need it absolute */
	if (!real)
		return err_set(err, ERR_HOST,
			       "cannot use %s for scratch files: %s; set PROCTOR_SCRATCH to a "
			       "directory on a local disk",
			       parent, strerror(errno));
	if (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word))
		return err_sys(err, "cannot get random bytes for a scratch directory");
	ws->scratch = mem_printf("%s/proctor-%016llx", real, (unsigned long long)word);
	/* First told of, then made: a kill at any moment leaves nothing behind. Nobody else can know the name. */
	if (jan && janitor_scratch(jan, ws->scratch) < 0) {
		int rc = err_sys(err, "cannot tell the janitor of %s", ws->scratch);

		free(take_ptr(&ws->scratch));
		return rc;
	}
	if (mkdir(ws->scratch, 0700) < 0) {
		int rc = err_set(err, ERR_HOST,
				 "cannot make a scratch directory in %s: %s; set PROCTOR_SCRATCH "
				 "to a directory on a local disk",
				 real, strerror(errno));

		free(take_ptr(&ws->scratch));
		return rc;
	}
	return 0;
}

static int make_layers(struct workspace *ws, struct err *err)
{
	auto_free char *store = path_join(ws->scratch, "store.git");

	ws->scratch_fd = open(ws->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ws->scratch_fd < 0)
		return err_sys(err, "cannot open %s", ws->scratch);
	ws->upper = path_join(ws->scratch, "upper");
	ws->work = path_join(ws->scratch, "work");
	if (mkdir(ws->upper, 0755) < 0 || chmod(ws->upper, 0755) < 0 || mkdir(ws->work, 0755) < 0)
		return err_sys(err, "cannot make directories in %s", ws->scratch);
	return gitstore_open(store, &ws->store, err);
}

int workspace_new(struct janitor *jan, struct workspace **ret, struct err *err)
{
	struct workspace *ws = mem_zalloc(1, sizeof(*ws));
	int rc;

	ws->scratch_fd = -1;
	rc = make_scratch(ws, jan, err);
	if (rc == 0)
		rc = make_layers(ws, err);
	if (rc < 0) {
		workspace_free(ws);
		return rc;
	}
	*ret = ws;
	return 0;
}

static int lay_out(struct workspace *ws, const git_oid *tree, const git_oid *commit,
		   struct err *err)
{
	auto_free char *lower = path_join(ws->scratch, "lower");
	int rc = gitstore_checkout(&ws->store, tree, lower, (int64_t)time(NULL) - AGE_SECONDS, err);

	if (rc == 0 && commit)
		rc = gitstore_make_repo(&ws->store, commit, lower, &ws->history, err);
	if (rc < 0)
		return rc;
	free(ws->lower);
	ws->lower = take_ptr(&lower);
	ws->lower_is_users = false;
	return 0;
}

int workspace_from_task(struct workspace *ws, const struct task *task, struct err *err)
{
	int rc;

	if (!task->source)
		return err_set(err, ERR_INPUT, "task %s has no \"source\"",
			       task->instance_id ? task->instance_id : "");
	rc = gitstore_import(&ws->store, task->source, task->base_commit, &ws->base_commit,
			     &ws->base_tree, &ws->history, err);
	return rc < 0 ? rc : lay_out(ws, &ws->base_tree, &ws->base_commit, err);
}

int workspace_from_tree(struct workspace *ws, const git_oid *tree, bool with_git, struct err *err)
{
	git_oid commit = ws->base_commit;
	bool base = !git_oid_is_zero(&commit);
	int rc = 0;

	if (with_git && !(base && git_oid_equal(tree, &ws->base_tree)))
		rc = gitstore_commit(&ws->store, tree, base ? &ws->base_commit : NULL, &commit,
				     err);
	return rc < 0 ? rc : lay_out(ws, tree, with_git ? &commit : NULL, err);
}

int workspace_from_directory(struct workspace *ws, const char *dir, struct err *err)
{
	auto_free char *real = realpath(dir, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0)
		return err_set(err, ERR_INPUT, "cannot use directory %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_INPUT, "%s is not a directory", dir);
	if (path_beneath(ws->scratch, real))
		return err_set(err, ERR_INPUT,
			       "%s holds the scratch directory %s; set PROCTOR_SCRATCH to a "
			       "directory outside",
			       real, ws->scratch);
	free(ws->lower);
	ws->lower = take_ptr(&real);
	ws->lower_is_users = true;
	return 0;
}

struct workspace *workspace_free(struct workspace *ws)
{
	if (!ws)
		return NULL;
	gitstore_close(&ws->store);
	mem_close(&ws->scratch_fd);
	if (ws->scratch)
		(void)fd_remove_tree(AT_FDCWD, ws->scratch); /* what stays is the janitor's */
	free(ws->scratch);
	free(ws->lower);
	free(ws->upper);
	free(ws->work);
	free(ws);
	return NULL;
}

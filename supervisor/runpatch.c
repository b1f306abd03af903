#include "supervisor/runpatch.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"

/* The tree with what .gitignore excludes from the patch: grading compares both. */
static int take_tree(const char *dir, struct workspace *ws, struct err *err)
{
	auto_free char *path = path_join(dir, "tree.diff");
	struct capture tree = { 0 };
	int rc = capture_tree(ws, &tree, err);

	if (rc == 0)
		rc = fd_replace_file(path, buf_str(&tree.diff), tree.diff.len, err);
	capture_done(&tree);
	return rc;
}

int runpatch_apart(const struct workspace *ws, const char *dir, struct capture *ret,
		   struct err *err)
{
	auto_free char *store = path_join(dir, ".patch.git");
	struct workspace other = *ws; /* borrows all of it but the store */
	int rc;

	(void)fd_remove_tree(AT_FDCWD, store); /* what an attempt before this left */
	rc = gitstore_open(store, &other.store, err);
	if (rc == 0) {
		rc = capture_take(&other, ret, err);
		gitstore_close(&other.store);
	}
	(void)fd_remove_tree(AT_FDCWD, store); /* what cannot be removed is in nobody's way */
	return rc;
}

int runpatch_take(const char *dir, const struct plan *plan, struct workspace *ws,
		  struct capture *ret, bool *ret_have, struct err *err)
{
	auto_free char *path = path_join(dir, "patch.diff");
	struct err again;
	int rc;

	if (plan->profile->workspace == WORKSPACE_DIRECT)
		return 0;
	rc = capture_take(ws, ret, err);
	/* The scratch directory may be full, or something was in the way for a moment: what the agent did is gone with
	 * it, so there is a second attempt, elsewhere. */
	if (rc < 0 && runpatch_apart(ws, dir, ret, &again) == 0) {
		log_info("the patch was taken at the second attempt: %s", err->text);
		rc = 0;
	}
	if (rc < 0)
		return err_wrap(err, "taking the patch");
	*ret_have = true;
	rc = fd_replace_file(path, buf_str(&ret->diff), ret->diff.len, err);
	if (rc < 0)
		rc = fd_replace_file(path, buf_str(&ret->diff), ret->diff.len, err);
	if (rc < 0 || !plan->task->test.command || !ret->ignored)
		return rc;
	return take_tree(dir, ws, err);
}

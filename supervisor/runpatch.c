#include "supervisor/runpatch.h"

#include "base/fd.h"
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

int runpatch_take(const char *dir, const struct plan *plan, struct workspace *ws,
		  struct capture *ret, bool *ret_have, struct err *err)
{
	auto_free char *path = path_join(dir, "patch.diff");
	int rc;

	if (plan->profile->workspace == WORKSPACE_DIRECT)
		return 0;
	rc = capture_take(ws, ret, err);
	if (rc < 0)
		return err_wrap(err, "taking the patch");
	*ret_have = true;
	rc = fd_replace_file(path, buf_str(&ret->diff), ret->diff.len, err);
	if (rc < 0 || !plan->task->test.command || !ret->ignored)
		return rc;
	return take_tree(dir, ws, err);
}

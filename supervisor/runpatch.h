/* What a run leaves of the agent's work: patch.diff, and tree.diff where .gitignore hides a part. */
#ifndef SUPERVISOR_RUNPATCH_H
#define SUPERVISOR_RUNPATCH_H

#include <stdbool.h>

#include "base/err.h"
#include "profiles/plan.h"
#include "sandbox/workspace.h"
#include "verifier/capture.h"

/* Capture @ws into @dir. *ret and *ret_have (true) are set as soon as the patch is taken, also when it cannot
 * be written. Nothing happens when the workspace is the user's own directory. 0 or negative. */
int runpatch_take(const char *dir, const struct plan *plan, struct workspace *ws,
		  struct capture *ret, bool *ret_have, struct err *err);

/* Capture @ws through a store of its own, which stands in directory @dir meanwhile: where that of @ws cannot be
 * written any more, or was lost with the process that had it open. 0 or negative; *ret as capture_take() gives it. */
int runpatch_apart(const struct workspace *ws, const char *dir, struct capture *ret,
		   struct err *err);

#endif

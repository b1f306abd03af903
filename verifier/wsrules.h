/* Which files of a workspace are work, by the rules that the final patch is taken by (capture.h): what
 * the base's own .gitignore files exclude, and it does not track, is none. */
#ifndef VERIFIER_WSRULES_H
#define VERIFIER_WSRULES_H

#include <stdbool.h>

#include "base/err.h"
#include "sandbox/workspace.h"

struct wsrules;

/* Read the rules of workspace @ws (borrowed while they are in use), whose lower layer is laid out. 0 or
 * negative. Free with wsrules_free(). */
int wsrules_new(struct workspace *ws, struct wsrules **ret, struct err *err);

/* Is workspace-relative @path (tame, a file) left out? Answers are remembered. NULL rules leave nothing
 * out. */
bool wsrules_left_out(struct wsrules *r, const char *path);

/* Free; NULL is fine. Returns NULL. */
struct wsrules *wsrules_free(struct wsrules *r);

#endif

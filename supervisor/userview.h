/* The workspace as a user sees it: a copy of the pristine tree without .git, brought up to date from the overlay
 * between the agent's turns. What the agent made is data here: no link is followed, nothing of it is executed, and all
 * of it is bounded. */
#ifndef SUPERVISOR_USERVIEW_H
#define SUPERVISOR_USERVIEW_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/workspace.h"

enum { USERVIEW_FILES_MAX = 200000 };   /* entries of the pristine tree */
#define USERVIEW_BYTES_MAX (2ull << 30) /* bytes of the pristine tree */
#define USERVIEW_LOOK_MAX  (256u << 20) /* bytes that one update copies */

struct userview;

/* Copy the pristine tree of @ws (borrowed while the view lives) into its scratch. 0, or negative: ERR_LIMIT when it
 * is too large. Free with userview_free(). */
int userview_new(const struct workspace *ws, struct userview **ret, struct err *err);

/* Directory of the copy. Borrowed. */
const char *userview_dir(const struct userview *v);

/* Take over what the overlay holds now; nobody may write it meanwhile. Paths that changed since the last time are
 * added to @changed. 0, or negative when the overlay cannot be read. */
int userview_update(struct userview *v, struct strv *changed, struct err *err);

/* Free; the copy goes with the scratch. NULL is fine. Returns NULL. */
struct userview *userview_free(struct userview *v);

#endif

/* Copying a set of objects into a pack of their own: entries of existing packs are passed through
 * with their deltas; only what hangs on an object outside the set is packed anew. */
#ifndef SANDBOX_GITCOPY_H
#define SANDBOX_GITCOPY_H

#include <git2.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/oidset.h"

/* Write exactly the objects of @set from @repo into one new pack in directory @dir. The source's
 * packs are looked for in the object directory of @repo and in those named by its
 * objects/info/alternates. *ret_n is their number. 0 or negative. */
int gitcopy_pack(git_repository *repo, const struct oidset *set, const char *dir, uint64_t *ret_n,
		 struct err *err);

#endif

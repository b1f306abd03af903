/* What is reachable from a commit. Walks raw objects, because libgit2's own walk (1.5) fails at the
 * edge of a shallow history. */
#ifndef SANDBOX_GITWALK_H
#define SANDBOX_GITWALK_H

#include <git2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/oidset.h"

enum gitwalk_kind { GITWALK_COMMIT, GITWALK_TREE, GITWALK_BLOB };

struct gitwalk {
	git_odb *odb; /* borrowed */
	const struct oidset
		*shallow; /* borrowed: commits whose parents are not there; may be NULL */
	bool commits_only;
	struct oidset seen; /* what was reached; owned */
	uint8_t *kind;      /* enum gitwalk_kind, by index in seen; owned */
	size_t kind_cap;
	uint64_t commits;
};

/* Add @commit and everything it reaches to walk->seen. 0 or -ERR_INPUT naming an object that is
 * missing or malformed. */
int gitwalk_from(struct gitwalk *w, const git_oid *commit, struct err *err);

/* Free what the walk owns. */
void gitwalk_done(struct gitwalk *w);

/* Read a file of commit ids, one a line (gitrepository-layout(5), "shallow"), into @ret. A missing
 * file is an empty set. 0 or negative. */
int gitwalk_read_shallow(const char *path, struct oidset *ret, struct err *err);

#endif

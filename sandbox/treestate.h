/* What a box has made of its workspace, as one digest that two runs can be compared by, and as the list of
 * files that changed since the last look. Read from outside, from the overlay's upper layer: what it
 * holds is the agent's, so everything is bounded and no link is followed.
 *
 * The state is the set of paths whose contents, executable bit, type or presence differ from the pristine tree.
 * A file that was only copied up, or written again as it was, is no difference. Times, owners and other
 * modes do not count: they differ between any two runs. */
#ifndef SANDBOX_TREESTATE_H
#define SANDBOX_TREESTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"

#define TREESTATE_FILES_MAX 50000u       /* entries of the upper layer that are looked at */
#define TREESTATE_BYTES_MAX (1ull << 30) /* bytes that one look may read */

/* A path of the state. */
struct treestate_file {
	char *path;              /* owned, relative to the workspace */
	char kind;               /* 'f' file, 'x' executable file, 'l' link, 'o' other, '-' gone */
	char sha256[DIGEST_HEX]; /* of the contents, or of a link's target; "" = gone or other */
};

/* One look. */
struct treestate_look {
	char sha256[DIGEST_HEX];       /* of the state; "" = unknown, see why */
	const char *why;               /* static: why it is unknown, NULL = it is known */
	uint64_t files;                /* paths in the state */
	struct treestate_file *change; /* owned: paths that are new, different or as the pristine
					* tree again ('=') since the last look, sorted by path */
	size_t n_changes;
};

struct treestate;

/* Begin for overlay layers @upper and @lower (paths, copied). @left_out (may be NULL) says which
 * workspace-relative files do not count; it gets @arg. .git never counts, nor do caches that no two runs write
 * alike (treestate_cache()). Free with treestate_free(). */
struct treestate *treestate_new(const char *upper, const char *lower,
				bool (*left_out)(void *arg, const char *path), void *arg);

/* Look at the layers; nobody may write them meanwhile. Contents that were read before are not read
 * again (inode, size and change time tell). *ret is filled anew; free with treestate_look_done(). 0, or
 * -ERR_SYS when the upper layer cannot be read at all. */
int treestate_look(struct treestate *ts, struct treestate_look *ret, struct err *err);

/* Free; {0} is fine. */
void treestate_look_done(struct treestate_look *l);

/* Free; NULL is fine. Returns NULL. */
struct treestate *treestate_free(struct treestate *ts);

/* Is workspace-relative @path in a directory, or a file, of a cache whose bytes hold times or chance: compiled
 * Python, tool caches of the test runners? */
bool treestate_cache(const char *path);

#endif

/* Which lines a unified diff changes, on both sides. Lenient: text around a diff (a tool's output, a
 * submission) is passed over, a hunk that is cut counts as far as it goes. Nothing is applied. */
#ifndef VERIFIER_TRAJ_DIFF_H
#define VERIFIER_TRAJ_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TRAJ_DIFF_MAX 200000u /* changes of one diff; the rest is left out */

/* One file of a diff. */
struct traj_diff_file {
	char *path;      /* owned: new name, the old one when the file goes */
	bool born;       /* it is not there before */
	bool gone;       /* it is not there after */
	size_t first, n; /* its changes in traj_diff.v */
};

/* One changed place: old lines [old_first, old_first + old_n) became new lines [new_first,
 * new_first + new_n). With a count of 0 the place is in front of that line. */
struct traj_diff_change {
	size_t file; /* index into traj_diff.file */
	uint64_t old_first, old_n, new_first, new_n;
	uint64_t hunk_first, hunk_last; /* lines of its hunk in the new file, context included */
	bool before, after; /* a line of the old file is known to stand before, behind */
};

struct traj_diff {
	struct traj_diff_file *file; /* owned */
	size_t n_files, cap_files;
	struct map by_path;         /* hash of a path to its first file, borrowed as index + 1 */
	struct traj_diff_change *v; /* owned, per file in rising order */
	size_t n, cap;
};

/* Read all diffs that stand in @n bytes of @text. Carriage returns at line ends do not count. Adds to
 * *out ({0} at first); free with traj_diff_done(). */
void traj_diff_read(struct traj_diff *out, const char *text, size_t n);

/* Free; {0} is fine. */
void traj_diff_done(struct traj_diff *d);

/* Lines of a change in the old file: those that went, or the neighbours of the place where lines came in.
 * 0,0 for a file that is not there before. */
void traj_diff_old(const struct traj_diff *d, const struct traj_diff_change *c, uint64_t *first,
		   uint64_t *last);

/* The same in the new file. 0,0 for a file that is gone. */
void traj_diff_new(const struct traj_diff *d, const struct traj_diff_change *c, uint64_t *first,
		   uint64_t *last);

/* Where lines *first to *last of the new @path are in the old one. False: the file is not there before.
 * A file that the diff does not name stays as it is. */
bool traj_diff_back(const struct traj_diff *d, const char *path, uint64_t *first, uint64_t *last);

#endif

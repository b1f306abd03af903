/* Critical regions from what several models read and edited: SWE-Touch's two algorithms.
 *
 * MINE_EDITS, the released miner: a line's support is the set of models that edited it. Lines that at least
 * min_models edited; when there are none, lines that one did; when there are none, the lines that the
 * reference patch changes. Adjacent lines are merged.
 *
 * MINE_READS_EDITS, the paper's overlap of reads and edits, by tiers: the first one that gives a region wins.
 *   modified_main_non_noise  lines that all models edited, in files that all read and edited
 *   modified_any_non_noise   lines that all models edited, in any file but noise
 *   modified_any             the same in tests, docs, metadata and the like
 *   read_main_non_noise      lines that all read, in files that all read and edited
 *   read_any_non_noise       lines that all read
 *   reference_patch          lines that the reference patch changes
 *   modified_by_one          lines that one model edited: when there is no reference
 * "All" is all models that have such an event at all, or min_models of them. A read or an edit without
 * known lines is one of the whole file. Noise is told by path (mine_noise()). */
#ifndef STUDY_MINE_H
#define STUDY_MINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "study/regionfile.h"
#include "verifier/traj.h"

enum mine_algorithm { MINE_EDITS, MINE_READS_EDITS };

/* Whose line numbers regions are in. A run starts at the base tree, so that is what a scenario needs; the
 * released code counts in the final trees. */
enum mine_lines {
	MINE_BASE,  /* changed lines, and neighbours of lines that came in, in the base tree */
	MINE_FINAL, /* changed lines as they are in each model's final tree */
	MINE_HUNK,  /* whole hunks of the final diffs with their context, in the final tree */
};

/* Contents of @path in the base tree: 1 found, 0 not there, negative on error. */
struct mine_io {
	int (*read)(void *arg, const char *path, struct buf *out, struct err *err);
	void *arg;
};

struct mine_options {
	enum mine_algorithm algorithm;
	enum mine_lines lines;
	uint64_t max;          /* regions, 1 to REGIONFILE_MAX */
	uint64_t min_models;   /* 0: two for MINE_EDITS, all for MINE_READS_EDITS */
	uint64_t merge_gap;    /* lines between two regions that become one */
	bool unfinished;       /* count trajectories that did not come to their own end */
	bool all_edits;        /* count lines that were edited and put back before the end */
	bool enclosing;        /* grow regions of one line to the function around them; needs io */
	const char *reference; /* diff text, NULL = none; borrowed */
	const struct strv *hidden; /* globs of paths that the tests own: noise; NULL = none */
	const struct mine_io *io;  /* NULL = base contents cannot be had */
};

struct mine_result {
	struct regionfile file;
	struct strv notes; /* what a reader should know, one sentence each */
	uint64_t used;     /* trajectories that counted */
	uint64_t found;    /* regions before the maximum cut them */
};

/* Mine @t, whose trajectories are of one task. 0 (perhaps without a region) or negative. Free with
 * mine_result_done(). */
int mine_regions(const struct trajs *t, const struct mine_options *o, struct mine_result *ret,
		 struct err *err);

/* Free; {0} is fine. */
void mine_result_done(struct mine_result *r);

/* What kind of noise @path is ("tests", "docs", "metadata", "lock file", "generated", "build output"), NULL when
 * it is none. Static. */
const char *mine_noise(const char *path);

/* "edits", "reads+edits"; "base", "final", "hunk". Static, NULL-terminated. */
extern const char *const mine_algorithm_names[];
extern const char *const mine_lines_names[]; /* see mine_algorithm_names */

#endif

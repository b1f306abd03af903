/* Co-Edits without a model: a part of the reference, or a remark that helps. Both leave the task to be done
 * and do not stand in its way; the gate has the last word. */
#ifndef STUDY_COEDIT_H
#define STUDY_COEDIT_H

#include <stddef.h>
#include <stdint.h>

#include "study/mutate.h"
#include "verifier/basetree.h"

#define COEDIT_PARTS_MAX 32u
#define COEDIT_COVERAGE                                                                            \
	0.5 /* share of the reference's lines that a part aims at (SWE-Touch's released value) */

struct coedit_file {
	char *path, *after; /* owned */
	size_t n_after;
};

struct coedit {
	const char *op;           /* static: "part-of-reference", "remark" */
	struct coedit_file *file; /* owned */
	size_t n_files;
	double coverage; /* share of the reference's changed lines, 0 for a remark */
	char *path;      /* owned: of the first file; the region that it is about: */
	uint64_t start, end;
	char *claim, *plausible; /* owned */
};

struct coedits {
	struct coedit *v; /* owned, in the order in which they should be tried */
	size_t n, cap;
};

/* Parts of the reference with a coverage near COEDIT_COVERAGE: whole hunks as git makes them, so that the
 * reference still goes on after them; a reference of one hunk is split at its inner changes. Files that are no
 * implementation files are left out. Same inputs, same parts. */
void coedit_parts(const struct basetree_patch *reference, uint64_t seed, struct coedits *out);

/* Remarks on functions near the place, clear of the reference. */
void coedit_remarks(const struct mutate_source *src, uint64_t seed, struct coedits *out);

/* Free; {0} is fine. */
void coedits_done(struct coedits *c);

#endif

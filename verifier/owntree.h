/* The second score: the tests on the agent's own tree, with its caches, build products and changes of the test
 * configuration, beside the score of the replayed patch. */
#ifndef VERIFIER_OWNTREE_H
#define VERIFIER_OWNTREE_H

#include "base/err.h"
#include "verifier/grade.h"

/* Grade what @req grades once more as the agent left it, into v->own. @tree: diff of the whole tree
 * (tree.diff of a run); NULL when the patch left nothing out. @v is the verdict of the replayed patch. Only
 * the files of the hidden tests are put back. When nothing was left out of the patch by anybody, both
 * trees are the same and nothing is run: v->own stays NULL and v->own_same is set. Nothing is done either
 * when @v has no result. 0 or negative. */
int owntree_grade(const struct grade_request *req, const char *tree, unsigned infra_repeats,
		  struct verdict *v, struct err *err);

#endif

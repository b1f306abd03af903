#include "verifier/owntree.h"

#include "base/mem.h"

int owntree_grade(const struct grade_request *req, const char *tree, unsigned infra_repeats,
		  struct verdict *v, struct err *err)
{
	struct grade_request own = *req;
	struct verdict second;
	int rc;

	if (v->kind != VERDICT_RESOLVED && v->kind != VERDICT_UNRESOLVED)
		return 0;
	if (!tree && !v->dropped.n) {
		v->own_same = true;
		return 0;
	}
	own.own_tree = true;
	if (tree) {
		own.patches[0] = tree;
		own.patches[1] = NULL;
	}
	rc = grade_repeat(&own, infra_repeats, &second, err);
	if (rc < 0)
		return err_wrap(err, "grading the agent's own tree");
	v->own = mem_alloc(sizeof(*v->own));
	*v->own = second;
	return 0;
}

#include "verifier/screen.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "verifier/grade.h"

#define LIMIT_FACTOR 5u               /* times what the reference took */
#define LIMIT_LEAST  (10 * CLOCK_SEC) /* beside that */

const char *screen_visible_name(enum screen_visible v)
{
	static const char *const names[] = { "unknown", "green", "red", "broken" };

	return names[v];
}

void screen_done(struct screen *s)
{
	free(s->reason);
	*s = (struct screen){ .reason = NULL };
}

static int grade(const struct screener *s, const struct task *task, const char *first,
		 const char *second, struct verdict *v, struct err *err)
{
	struct task copy = *task;
	const struct grade_request req = { .task = &copy,
					   .profile = s->profile,
					   .patches = { first, second },
					   .janitor = s->janitor,
					   .most = APPLY_FUZZ };

	if (s->limit && (!copy.test.timeout || s->limit < copy.test.timeout))
		copy.test.timeout = s->limit;
	return grade_run(&req, v, err);
}

int screen_reference(struct screener *s, char **ret_reason, struct err *err)
{
	struct verdict v;
	int rc = grade(s, s->task, s->task->patch, NULL, &v, err);

	if (rc < 0)
		return rc;
	s->limit = v.wall_ns * LIMIT_FACTOR + LIMIT_LEAST;
	rc = v.kind == VERDICT_RESOLVED;
	if (!rc)
		*ret_reason =
			mem_printf("the reference alone is %s: %s", verdict_name(v.kind), v.reason);
	verdict_done(&v);
	return rc;
}

/* Does @v say @resolved, and nothing else? Otherwise *ret tells why not. */
static bool as_expected(const struct verdict *v, const char *stage, bool resolved,
			struct screen *ret)
{
	bool graded = v->kind == VERDICT_RESOLVED || v->kind == VERDICT_UNRESOLVED;

	if (graded && v->patch_applied && !v->dropped.n &&
	    (v->kind == VERDICT_RESOLVED) == resolved)
		return true;
	ret->fits = false;
	ret->stage = stage;
	if (v->dropped.n)
		ret->reason =
			mem_printf("it changes files that the tests own: %s", v->dropped.v[0]);
	else if (!graded || !v->patch_applied)
		ret->reason = mem_printf("%s: %s", verdict_name(v->kind), v->reason);
	else
		ret->reason =
			mem_printf("expected %s, got %s (%s)", resolved ? "resolved" : "unresolved",
				   verdict_name(v->kind), v->reason);
	return false;
}

/* By the tests that the task lists as passing before and after. */
static enum screen_visible by_list(const struct verdict *v)
{
	size_t all = 0, good = 0;

	for (size_t i = 0; i < v->n_tests; i++) {
		if (v->tests[i].f2p)
			continue;
		all++;
		good += verdict_passed(&v->tests[i]);
	}
	if (!all)
		return VISIBLE_UNKNOWN;
	return good == all ? VISIBLE_GREEN : good ? VISIBLE_RED : VISIBLE_BROKEN;
}

/* By the base's own tests, without the hidden ones, where the task lists none: FAIL_TO_PASS is then about the
 * whole of them, as with the reader exit-code. */
static int by_own_tests(struct screener *s, const char *diff, enum screen_visible *ret,
			struct err *err)
{
	struct task own = *s->task;
	struct verdict v;
	int rc = 0;

	own.test_patch = NULL;
	if (!s->base) {
		rc = grade(s, &own, NULL, NULL, &v, err);
		if (rc < 0)
			return rc;
		s->base = v.kind == VERDICT_RESOLVED ? 1 : -1;
		verdict_done(&v);
	}
	*ret = VISIBLE_UNKNOWN;
	if (s->base < 0)
		return 0;
	rc = grade(s, &own, diff, NULL, &v, err);
	if (rc < 0)
		return rc;
	*ret = v.kind == VERDICT_RESOLVED ? VISIBLE_GREEN : VISIBLE_BROKEN;
	verdict_done(&v);
	return 0;
}

int screen_edit(struct screener *s, const char *diff, struct screen *ret, struct err *err)
{
	struct verdict v;
	bool good;
	int rc;

	*ret = (struct screen){ .fits = true, .stage = "" };
	rc = grade(s, s->task, diff, s->task->patch, &v, err);
	if (rc < 0)
		return rc;
	good = as_expected(&v, "user_edit_plus_reference", s->co, ret);
	verdict_done(&v);
	if (!good)
		return 0;
	rc = grade(s, s->task, diff, NULL, &v, err);
	if (rc < 0)
		return rc;
	good = as_expected(&v, "user_edit_only", false, ret);
	if (good)
		ret->visible = by_list(&v);
	verdict_done(&v);
	if (good && ret->visible == VISIBLE_UNKNOWN)
		rc = by_own_tests(s, diff, &ret->visible, err);
	return rc;
}

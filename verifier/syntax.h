/* Is a changed file still a program of its language? Asked of the language's own tool, in a box. */
#ifndef VERIFIER_SYNTAX_H
#define VERIFIER_SYNTAX_H

#include <stddef.h>

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/task.h"

struct janitor;

enum syntax_verdict {
	SYNTAX_GOOD,
	SYNTAX_BAD,
	SYNTAX_UNCHECKED /* no tool for it, the tool is not in the box, or it does not like the base either */
};

/* "good", "bad", "unchecked". Static. */
const char *syntax_name(enum syntax_verdict v);

/* Check files @path (@n of them) of the task's base tree with @diff on it. 0 with *ret and *ret_why (owned by
 * the caller: the tool, its first words when bad, why not when unchecked), negative on error. @jan may be
 * NULL. */
int syntax_check(const struct task *task, const char *diff, const char *const *path, size_t n,
		 const struct profile *profile, struct janitor *jan, enum syntax_verdict *ret,
		 char **ret_why, struct err *err);

#endif

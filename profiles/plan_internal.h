/* Between the parts of the plan: plan.c merges and checks, plan_fill.c makes argv, environment and
 * files, plan_print.c prints. */
#ifndef PROFILES_PLAN_INTERNAL_H
#define PROFILES_PLAN_INTERNAL_H

#include "profiles/plan.h"

/* Fill p->argv, p->env, p->home_files and p->home_texts from task, agent and model. @bare: a
 * command in the current directory; it is taken literally and gets the host's LANG and TERM.
 * 0, -ERR_INPUT, -ERR_USAGE when a model is missing. */
int plan_fill(struct plan *p, bool bare, struct err *err);

/* What this version, the task and the profile must agree on before a run makes sense.
 * 0, -ERR_INPUT or -ERR_HOST. */
int plan_check(const struct plan *p, struct err *err);

#endif

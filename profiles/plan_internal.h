/* Between the parts of the plan: plan.c merges and checks, plan_condition.c
 * makes the scenario serve the condition, plan_fill.c makes argv, environment and files,
 * plan_print.c prints. */
#ifndef PROFILES_PLAN_INTERNAL_H
#define PROFILES_PLAN_INTERNAL_H

#include "profiles/plan.h"

/* Fill p->argv, p->env, p->home_files and p->home_texts from task, agent and model. @bare: a
 * command in the current directory; it is taken literally and gets the host's LANG and TERM.
 * 0, -ERR_INPUT, -ERR_USAGE when a model is missing. */
int plan_fill(struct plan *p, bool bare, struct err *err);

/* Fill p->argv anew with the command that takes up @session (what {session} is). 0 or -ERR_INPUT. */
int plan_fill_resume(struct plan *p, const char *session, struct err *err);

/* Put the condition that @req asks for into the scenario and p->condition, and find out the lengths
 * that progress is a part of: when.n in the file, else the reference runs, else limits.model_calls.
 * 0, -ERR_USAGE, or -ERR_INPUT for a scenario or reference run that does not do. */
int plan_condition(const struct plan_request *req, struct plan *p, struct err *err);

/* What this version, the task and the profile must agree on before a run makes sense.
 * 0, -ERR_INPUT or -ERR_HOST. */
int plan_check(const struct plan *p, struct err *err);

#endif

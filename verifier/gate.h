/* The checks a scenario must pass before it may be used, each in a fresh box, recomputed from
 * outcomes. Counter-Edit: V(edit)=0, V(reference)=1, V(edit then reference)=0 (SWE-Touch Eq. 3).
 * Co-Edit, the mirror: V(edit)=0, V(reference)=1, V(edit then reference)=1. */
#ifndef VERIFIER_GATE_H
#define VERIFIER_GATE_H

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/grade.h"

struct janitor;

enum gate_verdict { GATE_VALID, GATE_INVALID, GATE_APPLY_CONFLICT, GATE_INFRA };

/* "valid", "invalid", "apply_conflict", "infra". */
const char *gate_verdict_name(enum gate_verdict v);

struct gate_check {
	const char *name; /* "user_edit_only", "reference_only", "user_edit_plus_reference" */
	bool expected;    /* resolved? */
	enum verdict_kind got;
	char *reason; /* owned */
	unsigned run; /* repetition, from 1 */
};

struct gate_result {
	enum gate_verdict verdict;
	char *reason;             /* owned */
	struct gate_check *check; /* owned */
	size_t n;
	unsigned repeats;
};

/* Run all checks @repeats times. The edit is the first EFFECT_EDIT of the scenario's first
 * intervention. 0 with *ret for every verdict, negative for input errors. */
int gate_run(const struct task *task, const struct scenario *sc, const struct profile *profile,
	     unsigned repeats, struct janitor *jan, struct gate_result *ret, struct err *err);

/* Free. */
void gate_done(struct gate_result *r);

/* gate.json text ("proctor.gate/1"). */
void gate_json(const struct scenario *sc, const struct gate_result *r, struct buf *out);

#endif

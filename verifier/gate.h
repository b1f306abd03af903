/* The checks a scenario must pass before it may be used, each in a fresh box, recomputed from
 * outcomes. Counter-Edit: V(edit)=0, V(reference)=1, V(edit then reference)=0 (SWE-Touch Eq. 3).
 * Co-Edit, the mirror: V(edit)=0, V(reference)=1, V(edit then reference)=1.
 *
 * A scenario may have a different edit in each round. Then every distinct one must pass by itself, and all
 * of them in the order of their rounds with the reference behind them must come out as one edit and the
 * reference do.
 *
 * Verdicts. invalid: a check came out wrong, or flaky: it came out both ways in repeated runs, so that a
 * study could not tell what the agent did from what the tests did. apply_conflict: nothing came out wrong,
 * but no allowed step of the ladder puts the reference on after the edit, or a later edit after the earlier
 * ones, so that the combined state was never seen. infra: a box failed. What is certain comes first: invalid,
 * then infra, then apply_conflict.
 *
 * The ladder ends with the step "fuzz" by default, as the released gate does (git apply, then patch with
 * fuzz). The step "context", which serves edits in a live tree, may put the reference over the edit, and then
 * says nothing about what the two do together. */
#ifndef VERIFIER_GATE_H
#define VERIFIER_GATE_H

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/grade.h"

struct janitor;

#define GATE_MOST      APPLY_FUZZ          /* last step of the ladder by default */
#define GATE_EDITS_MAX (GRADE_PATCHES - 1) /* diffs of all distinct edits together */

enum gate_verdict { GATE_VALID, GATE_INVALID, GATE_APPLY_CONFLICT, GATE_INFRA };

/* "valid", "invalid", "apply_conflict", "infra". */
const char *gate_verdict_name(enum gate_verdict v);

struct gate_check {
	const char *name; /* "user_edit_only", "reference_only", "user_edit_plus_reference",
			   * "all_user_edits_plus_reference" */
	bool expected;    /* resolved? */
	enum verdict_kind got;
	char *reason;  /* owned */
	unsigned run;  /* repetition, from 1 */
	unsigned edit; /* which distinct edit, from 1; 0 = none of them, or all */
	/* Diffs of the check: how many belong to edits (first_edit of them to the first), how many
	 * there are, and how many went on. */
	unsigned first_edit, edits, patches, applied;
	const char *method; /* static: the step of the ladder that the last one took; NULL = it did
			     * not go on */
	char *dropped; /* owned: first file of the edit that belongs to the tests, NULL = none */
};

struct gate_result {
	enum gate_verdict verdict;
	char *reason;             /* owned */
	struct gate_check *check; /* owned */
	size_t n;
	unsigned repeats;
	unsigned edits;    /* distinct edits */
	struct strv flaky; /* checks that came out both ways, as gate_check_label() */
};

struct gate_request {
	const struct task *task;
	const struct scenario *scenario;
	const struct profile *profile;
	unsigned repeats;        /* 0 = 1 */
	struct janitor *janitor; /* may be NULL */
	enum apply_method most;  /* highest step of the ladder for every diff: GATE_MOST */
	/* Given each check, its gate_check_label() and its test output, to keep it; may be NULL. 0 or
	 * negative. */
	int (*log)(void *arg, const struct gate_check *check, const char *label,
		   const struct buf *log, struct err *err);
	void *arg;
};

/* Run all checks. The edits are the EFFECT_EDITs of the scenario's interventions; those of one intervention
 * are applied together. 0 with *ret for every verdict, negative for input errors. Free with gate_done(). */
int gate_run(const struct gate_request *req, struct gate_result *ret, struct err *err);

/* Work out verdict, reason and flaky from the checks alone: nothing else is believed. */
void gate_judge(struct gate_result *r);

/* Name of @c with the number of its edit where there are several: "user_edit_only", "user_edit_only-2". Caller
 * frees. */
char *gate_check_label(const struct gate_result *r, const struct gate_check *c);

/* Free; {0} is fine. */
void gate_done(struct gate_result *r);

/* gate.json text ("proctor.gate/1"). */
void gate_json(const struct scenario *sc, const struct gate_result *r, struct buf *out);

#endif

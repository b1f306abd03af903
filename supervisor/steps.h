/* Steps of a run: for every main request a line of steps.jsonl and a `step` record with the digest of the
 * request and of the workspace, so that another run that claims to have the same beginning can be
 * held against it step by step. */
#ifndef SUPERVISOR_STEPS_H
#define SUPERVISOR_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "gateway/msg.h"
#include "supervisor/sup.h"

struct workspace;

/* Steps that are kept; runs with more go on without. */
#define STEPS_MAX 100000u

struct steps;

/* What the steps of a run are held against. */
struct steps_expect {
	const char *record;  /* steps.jsonl of the run that is continued; NULL = none */
	uint64_t first;      /* its step that the first of ours must be */
	uint64_t n;          /* steps that are compared */
	bool workspace_only; /* requests are compared elsewhere */
};

/* Begin steps.jsonl in @dir for the run of @ws (borrowed), whose box has an overlay; @want is copied. 0 or negative:
 * ERR_INPUT for a record that is none, or has fewer steps. Free with steps_free(). */
int steps_open(const char *dir, struct workspace *ws, const struct steps_expect *want,
	       struct steps **ret, struct err *err);

/* Main request @m has come and waits; nothing was done about it yet. The world is held while the
 * workspace is looked at. 0, or -ERR_REFUSED with the first difference when it is not the step of the
 * record. NULL @st: 0. */
int steps_request(struct sup *s, struct steps *st, const struct gw_msg *m, struct err *err);

/* Steps compared and found the same. */
uint64_t steps_same(const struct steps *st);

/* Free; NULL is fine. Returns NULL. */
struct steps *steps_free(struct steps *st);

#endif

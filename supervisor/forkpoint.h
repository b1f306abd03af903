/* The place at which a run leaves the one that it continues: up to there the model's answers come from the
 * record, and every step must be the recorded one; there the update is made in the shifted arm; from
 * there on budgets count. */
#ifndef SUPERVISOR_FORKPOINT_H
#define SUPERVISOR_FORKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "gateway/msg.h"
#include "profiles/limits.h"
#include "supervisor/sup.h"
#include "verifier/position.h"

struct checkpoint_state;

enum fork_arm { FORK_CLEAN, FORK_SHIFTED };

/* "clean", "shifted". Static. */
const char *fork_arm_name(enum fork_arm arm);

/* What a run continues, and how. Strings are borrowed. */
struct forkpoint {
	const char *record; /* directory of the run that is continued, absolute */
	const char *steps;  /* its steps.jsonl */
	struct position at;
	enum fork_arm arm;
	uint64_t prefix
		[LIMIT_MAX]; /* what the answers before it used, by the record: model_calls, tokens,
				     * dollars (UINT64_MAX = unknown) */
	/* A session taken up again instead of a prefix given again; NULL = it is given again. */
	const struct checkpoint_state *resumed;
	const char *store;  /* of resumed's contents */
	uint64_t budget;    /* tokens of the continuation */
	const char *ladder; /* what of the update is told: "A0" ... "A5" */
	/* set while it runs */
	bool reached;
	uint64_t
		paid; /* tokens used before the fork beyond the record's: side calls that it did not have */
	char *differs; /* owned: the first difference to the record, NULL = none */
};

/* "replayed": the record's answers were given again; "resumed": its files were restored and the agent took its session
 * up. Static. */
const char *forkpoint_by(const struct forkpoint *f);

/* Main request @m has come, its step was recorded. Holds it against the record; at the fork writes the
 * `fork` record and, in the shifted arm, passes the anchor "fork", so that the update is made before the
 * request goes on. 0, or negative when the run cannot go on (s->fork->differs says why). */
int forkpoint_request(struct sup *s, const struct gw_msg *m, struct err *err);

/* Member "fork" of run.json: null for a run that continues none. */
void forkpoint_summary(const struct sup *s, struct json_w *w);

#endif

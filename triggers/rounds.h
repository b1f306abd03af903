/* How often interventions fire: K firings in all, one round each, reserved before anything is done
 * and given back when nothing came of it.
 *
 * The intervention of order j is round j. With more than K of them only the first K take part; with
 * fewer the last one is repeated in the rounds that are left, when its event can come again. So a
 * lone intervention fires in rounds 1..K. From round 2 on a read is not enough ("read_or_edit"
 * becomes "edit", and so does every touch of an intervention that is repeated): re-reading must not
 * use up rounds. */
#ifndef TRIGGERS_ROUNDS_H
#define TRIGGERS_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiles/scenario.h"

enum round_state { ROUND_ARMED, ROUND_RESERVED, ROUND_SPENT, ROUND_STATES };
enum round_step { ROUND_RESERVE, ROUND_COMMIT, ROUND_CANCEL, ROUND_STEPS };

struct rounds {
	const struct scenario *sc; /* borrowed, NULL = nothing ever fires */
	struct {
		enum round_state state;
		uint64_t fired;
	} * one;       /* owned, per intervention */
	uint64_t most; /* K, 1 in co-edit mode, 0 in vanilla */
};

/* All armed. Free with rounds_done(). */
void rounds_init(struct rounds *r, const struct scenario *sc);

/* Free; {0} is fine. */
void rounds_done(struct rounds *r);

/* May intervention @i (index) fire now: does it take part, has it a round left, and have those fired that it
 * waits for (when.all_after)? */
bool rounds_open(const struct rounds *r, size_t i);

/* The round that its next firing is, from 1. */
uint64_t rounds_next(const struct rounds *r, size_t i);

/* The event it waits for in that round. */
enum when_event rounds_event(const struct rounds *r, size_t i);

/* Take a step of the state table; a step that the state does not allow is a bug of ours. */
void rounds_step(struct rounds *r, size_t i, enum round_step step);

/* Has the intervention of @order fired? */
bool rounds_fired(const struct rounds *r, uint64_t order);

#endif

#include "triggers/rounds.h"

#include "base/err.h"
#include "base/mem.h"

void rounds_init(struct rounds *r, const struct scenario *sc)
{
	*r = (struct rounds){ .sc = sc };
	if (!sc)
		return;
	r->one = mem_zalloc(sc->n_interventions + 1, sizeof(*r->one));
	r->most = scenario_rounds(sc);
}

void rounds_done(struct rounds *r)
{
	free(r->one);
	*r = (struct rounds){ .sc = NULL };
}

/* A point in time happens once; touches, programs and a schedule's fractions come again. */
static bool comes_again(const struct when *w)
{
	return scenario_event_is_touch((enum when_event)w->event) || w->event == WHEN_EXEC ||
	       w->event == WHEN_REGION_STATE_CHANGED || (w->event == WHEN_PROGRESS && w->at < 0);
}

/* The last one takes the rounds for which there is none of its own (SWE-Touch: with fewer accepted
 * edits than rounds the last is repeated). */
static bool repeats(const struct rounds *r, size_t i)
{
	return i + 1 == r->sc->n_interventions && comes_again(&r->sc->interventions[i].when);
}

static bool all_fired(const struct rounds *r, const struct when *w)
{
	const uint64_t *order = w->all_after.v;

	for (size_t i = 0; i < w->all_after.n; i++)
		if (!rounds_fired(r, order[i]))
			return false;
	return true;
}

bool rounds_open(const struct rounds *r, size_t i)
{
	return r->one[i].state == ROUND_ARMED && rounds_next(r, i) <= r->most &&
	       all_fired(r, &r->sc->interventions[i].when);
}

uint64_t rounds_next(const struct rounds *r, size_t i)
{
	return r->sc->interventions[i].order + r->one[i].fired;
}

enum when_event rounds_event(const struct rounds *r, size_t i)
{
	enum when_event e = (enum when_event)r->sc->interventions[i].when.event;

	if (!scenario_event_is_touch(e) || rounds_next(r, i) < 2)
		return e;
	if (e == WHEN_READ_OR_EDIT || r->one[i].fired)
		return WHEN_EDIT;
	return e;
}

void rounds_step(struct rounds *r, size_t i, enum round_step step)
{
	/* clang-format off */
	static const enum round_state table[ROUND_STATES][ROUND_STEPS] = {
		/*		    RESERVE	    COMMIT	  CANCEL */
		[ROUND_ARMED]	 = { ROUND_RESERVED, ROUND_STATES, ROUND_STATES },
		[ROUND_RESERVED] = { ROUND_STATES,   ROUND_SPENT,  ROUND_ARMED },
		[ROUND_SPENT]	 = { ROUND_STATES,   ROUND_STATES, ROUND_STATES },
	};
	/* clang-format on */
	enum round_state next = table[r->one[i].state][step];

	ensure(next != ROUND_STATES, "a round takes a step that its state does not have");
	if (step == ROUND_COMMIT) {
		r->one[i].fired++;
		if (repeats(r, i))
			next = ROUND_ARMED;
	}
	r->one[i].state = next;
}

bool rounds_fired(const struct rounds *r, uint64_t order)
{
	for (size_t i = 0; r->sc && i < r->sc->n_interventions; i++)
		if (r->sc->interventions[i].order == order)
			return r->one[i].fired > 0;
	return false;
}

/* Model budgets: reserved before a call goes out, settled after, so that calls in flight together
 * cannot pass a limit together. */
#ifndef GATEWAY_METER_H
#define GATEWAY_METER_H

#include "gateway/api.h"
#include "profiles/limits.h"
#include "profiles/prices.h"

/* What one call holds while it is under way. */
struct hold_tokens {
	uint64_t input, output, micro;
	bool held;
};

struct meter {
	struct limits limit;         /* the model's five kinds count; others are ignored */
	const struct prices *prices; /* borrowed */
	uint64_t used[LIMIT_MAX];    /* settled */
	uint64_t cached;             /* cached input tokens, part of used input */
	uint64_t reserved[LIMIT_MAX];
	uint64_t unknown_cost; /* calls whose price is not known: dollars are then unknown */
	uint32_t flying;       /* calls that hold a reservation */
};

enum meter_say {
	METER_GO,    /* reserved; *cap_output says how many tokens it may generate, 0 = as asked */
	METER_WAIT,  /* would pass a limit only because of calls under way: ask again when one has
		      * settled */
	METER_SPENT, /* *which limit is used up */
};

/* Start with nothing used. With a dollar limit and an unknown price a call is METER_SPENT with
 * *which LIMIT_DOLLARS and the reason in the caller's words: an unknown cost is not zero. */
void meter_init(struct meter *m, const struct limits *limit, const struct prices *prices);

/* Output tokens that a call must have room for, unless it asks for fewer itself. */
enum { METER_LEAST = 16 };

/* May a call to @model with an estimated @input and at most @max_output tokens (0 = not said) go?
 * The input must fit into what is left, at the dearest rate it can have; output above what is left
 * is cut to it when at least METER_LEAST tokens remain. With METER_WAIT @hold and *cap_output are
 * empty. */
enum meter_say meter_reserve(struct meter *m, const char *model, uint64_t input,
			     uint64_t max_output, struct hold_tokens *hold, uint64_t *cap_output,
			     enum limit_kind *which);

/* The call is over: give the reservation back and count what was really used. @usage NULL or not
 * known: the reservation's input and the written length (@fallback_output tokens) count, billed
 * calls are never free. *ret_micro: cost, UINT64_MAX when unknown. */
void meter_settle(struct meter *m, struct hold_tokens *hold, const char *model,
		  const struct api_usage *usage, uint64_t fallback_output, uint64_t *ret_micro);

/* The call never reached the model: give the reservation and the call back. */
void meter_cancel(struct meter *m, struct hold_tokens *hold);

#endif

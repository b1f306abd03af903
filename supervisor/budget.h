/* All limits in one array: what was used, what is allowed, what was reached first. */
#ifndef SUPERVISOR_BUDGET_H
#define SUPERVISOR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "profiles/limits.h"

struct budget {
	struct limits limit;
	uint64_t used[LIMIT_MAX];
	bool warned[LIMIT_MAX];
	enum limit_kind hit; /* the first limit reached, LIMIT_MAX none */
};

/* Start with @limits and nothing used. */
void budget_init(struct budget *b, const struct limits *limits);

/* Add to a budget. True when this reached the limit and no limit was reached before. */
bool budget_add(struct budget *b, enum limit_kind kind, uint64_t amount);

/* Set a budget to a measured level (never down). As budget_add(). */
bool budget_level(struct budget *b, enum limit_kind kind, uint64_t level);

/* Mark a limit as reached by other evidence (the kernel's out-of-memory kill). As budget_add(). */
bool budget_hit(struct budget *b, enum limit_kind kind);

/* Has @kind newly passed 80 % of its limit? Tells once. */
bool budget_warn(struct budget *b, enum limit_kind kind);

/* Append what an agent that watches its resources would want to know: of the limits on calls, tokens and money that
 * there are, how much is used ("3 of 12 model calls, 0.10 of 3.00 dollars"). Nothing without any. Never the time: no two
 * runs would have the same text, and a prefix with it in a message could not be run again. */
void budget_text(const struct budget *b, struct buf *out);

#endif

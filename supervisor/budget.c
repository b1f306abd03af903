#include "supervisor/budget.h"

void budget_init(struct budget *b, const struct limits *limits)
{
	*b = (struct budget){ .limit = *limits, .hit = LIMIT_MAX };
}

bool budget_hit(struct budget *b, enum limit_kind kind)
{
	if (b->hit != LIMIT_MAX)
		return false;
	b->hit = kind;
	return true;
}

bool budget_level(struct budget *b, enum limit_kind kind, uint64_t level)
{
	if (level > b->used[kind])
		b->used[kind] = level;
	if (!b->limit.max[kind] || b->used[kind] < b->limit.max[kind])
		return false;
	return budget_hit(b, kind);
}

bool budget_add(struct budget *b, enum limit_kind kind, uint64_t amount)
{
	return budget_level(b, kind, b->used[kind] + amount);
}

bool budget_warn(struct budget *b, enum limit_kind kind)
{
	uint64_t max = b->limit.max[kind];

	if (!max || b->warned[kind] || b->used[kind] < max - max / 5)
		return false;
	b->warned[kind] = true;
	return true;
}

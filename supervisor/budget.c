#include "supervisor/budget.h"

#include "base/mem.h"

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

void budget_text(const struct budget *b, struct buf *out)
{
	static const struct {
		enum limit_kind kind;
		const char *unit;
	} shown[] = {
		{ LIMIT_MODEL_CALLS, "model calls" },
		{ LIMIT_INPUT_TOKENS, "input tokens" },
		{ LIMIT_OUTPUT_TOKENS, "output tokens" },
		{ LIMIT_TOTAL_TOKENS, "tokens" },
		{ LIMIT_DOLLARS, "dollars" },
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		enum limit_kind k = shown[i].kind;
		char text[2][40];

		if (!b->limit.max[k])
			continue;
		buf_addf(out, "%s%s of %s %s", n++ ? ", " : "", limits_text(k, b->used[k], text[0]),
			 limits_text(k, b->limit.max[k], text[1]), shown[i].unit);
	}
}

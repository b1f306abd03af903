#include "supervisor/budget.h"

#include "tests/lib/tap.h"

int main(void)
{
	struct limits l = { .max = { [LIMIT_CPU] = 100, [LIMIT_OUTPUT] = 50 } };
	struct budget b;

	budget_init(&b, &l);
	tap_ok(!budget_add(&b, LIMIT_OUTPUT, 39), "below the limit");
	tap_ok(!budget_warn(&b, LIMIT_OUTPUT), "no warning below 80 %%");
	tap_ok(!budget_add(&b, LIMIT_OUTPUT, 1), "at 80 %%");
	tap_ok(budget_warn(&b, LIMIT_OUTPUT), "a warning at 80 %%");
	tap_ok(!budget_warn(&b, LIMIT_OUTPUT), "once only");
	tap_ok(budget_add(&b, LIMIT_OUTPUT, 10), "reaching the limit is told");
	tap_ok(b.hit == LIMIT_OUTPUT, "and remembered");
	tap_ok(!budget_add(&b, LIMIT_OUTPUT, 10), "once only");
	tap_ok(!budget_level(&b, LIMIT_CPU, 1000), "a second limit does not take its place");
	tap_ok(b.hit == LIMIT_OUTPUT, "the first one stands");
	tap_is_u64(b.used[LIMIT_CPU], 1000, "but what was used is counted");
	(void)budget_level(&b, LIMIT_CPU, 5);
	tap_is_u64(b.used[LIMIT_CPU], 1000, "a level never goes down");
	tap_ok(!budget_level(&b, LIMIT_WALL, 1u << 30), "no limit is no limit");
	return tap_done();
}

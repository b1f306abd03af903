#include "supervisor/budget.h"

#include "tests/lib/tap.h"

/* What a message says of it. */
static void test_text(void)
{
	struct limits l = { .max = { [LIMIT_WALL] = 1000000000,
				     [LIMIT_MEMORY] = 1 << 20,
				     [LIMIT_MODEL_CALLS] = 12,
				     [LIMIT_DOLLARS] = 3000000 } };
	struct limits none = { .max = { [LIMIT_WALL] = 1000000000 } };
	auto_buf out = BUF_INIT(1000), empty = BUF_INIT(1000);
	struct budget b;

	budget_init(&b, &l);
	(void)budget_add(&b, LIMIT_MODEL_CALLS, 3);
	(void)budget_add(&b, LIMIT_DOLLARS, 100000);
	budget_text(&b, &out);
	tap_is_str(buf_str(&out), "3 of 12 model calls, 0.10 of 3.00 dollars",
		   "calls and money, not time and memory");
	budget_init(&b, &none);
	budget_text(&b, &empty);
	tap_is_str(buf_str(&empty), "", "nothing that is said");
}

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
	test_text();
	return tap_done();
}

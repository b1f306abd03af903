/* What another cell needs, costs and takes, by those that have ended; lines for people; the list of top. */
#include "study/estimate.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "study/progress.h"
#include "study/topframe.h"
#include "tests/lib/tap.h"

static struct journal_cell cell(const char *agent, const char *condition, enum cell_state state)
{
	/* Texts are only read. */
	return (struct journal_cell){ .key = (char *)(uintptr_t) "k",
				      .task = (char *)(uintptr_t) "task",
				      .agent = (char *)(uintptr_t)agent,
				      .condition = (char *)(uintptr_t)condition,
				      .repeat = 1,
				      .state = state };
}

static void estimates(void)
{
	struct estimate e = { .all = { 0 } };
	struct journal_cell a = cell("a", "x", CELL_WAITING), b = cell("b", "x", CELL_WAITING);
	struct attempt_figures f = { .memory = 100 << 20,
				     .disk = 8 << 20,
				     .wall_ns = 10 * CLOCK_SEC,
				     .has_tokens = true,
				     .tokens = 1000,
				     .cost_known = true,
				     .micro_dollars = 400 };
	struct attempt_figures g = { .memory = 300 << 20, .wall_ns = 20 * CLOCK_SEC };

	tap_is_u64(estimate_memory(&e, &a), ESTIMATE_MEMORY, "nothing is known: a default");
	tap_is_u64(estimate_tokens(&e, &a), 0, "and no guess at tokens");
	estimate_add(&e, &a, &f);
	tap_is_u64(estimate_memory(&e, &a), 125 << 20, "the largest, and a quarter more");
	tap_is_u64(estimate_memory(&e, &b), 125 << 20, "others as all, while they are not known");
	estimate_add(&e, &b, &g);
	tap_is_u64(estimate_memory(&e, &b), 375 << 20, "then by their own");
	tap_is_u64(estimate_memory(&e, &a), 125 << 20, "each kind by its own");
	tap_is_u64(estimate_dollars(&e, &a), 400, "dollars");
	tap_is_u64(estimate_dollars(&e, &b), 0, "one without a price is not known");
	tap_is_u64(estimate_wall(&e, &b), 20 * CLOCK_SEC, "time");
	estimate_done(&e);
}

static void left(void)
{
	struct estimate e = { .all = { 0 } };
	struct journal_cell v[4] = { cell("a", "x", CELL_DONE), cell("a", "x", CELL_WAITING),
				     cell("a", "x", CELL_INFRA), cell("a", "x", CELL_GIVEN_UP) };
	struct journal_cells cells = { v, 4 };
	struct attempt_figures f = { .wall_ns = 10 * CLOCK_SEC, .has_tokens = true, .tokens = 50 };
	struct estimate_left l;

	estimate_left(&e, &cells, 2, &l);
	tap_ok(l.cells == 2 && !l.wall_ns && !l.tokens, "two are left, nothing is known of them");
	estimate_add(&e, &v[0], &f);
	v[1].max_tokens = v[2].max_tokens = 500;
	estimate_left(&e, &cells, 1, &l);
	tap_ok(l.wall_ns == 20 * CLOCK_SEC && l.tokens == 100 && l.max_tokens == 1000,
	       "time, tokens, and the bound of their profiles");
	estimate_left(&e, &cells, 16, &l);
	tap_ok(l.wall_ns == 10 * CLOCK_SEC, "no more at once than there are");
	v[2].max_tokens = 0;
	estimate_left(&e, &cells, 1, &l);
	tap_is_u64(l.max_tokens, 0, "one without a bound leaves all without");
	estimate_done(&e);
}

static void lines(void)
{
	struct progress_total t = {
		.count = { [CELL_WAITING] = 5, [CELL_RUNNING] = 1, [CELL_DONE] = 6 },
		.micro_dollars = 1250000,
		.limits = { .dollars = 5000000 },
		.left_ns = 75 * CLOCK_SEC
	};
	struct journal_cell c = cell("agent", "cond", CELL_RUNNING);
	struct live l = { .steps = 12, .tokens = 48000, .touch = "read src/a.c:30-75" };
	auto_buf b = BUF_INIT(4096);

	progress_total(&t, 0, &b);
	tap_is_str(buf_str(&b),
		   "[############............] 6/12  running 1  waiting 5  about 1 min 15 s left  "
		   "$1.25 of $5.00",
		   "the whole");
	buf_clear(&b);
	progress_total(&t, 30, &b);
	tap_is_u64(b.len, 30, "cut to the width");
	buf_clear(&b);
	c.began = CLOCK_SEC;
	progress_cell(&c, &l, 35 * CLOCK_SEC, 0, &b);
	tap_is_str(buf_str(&b),
		   "task agent cond r1  12 steps  48.0k tokens  34 s  read src/a.c:30-75",
		   "a running cell");
	buf_clear(&b);
	progress_cut(&b, "caf\303\251\033[2J", 4);
	tap_is_str(buf_str(&b), "caf\303\251",
		   "whole characters, and nothing that a terminal obeys");
}

static void frame(void)
{
	struct journal_cell v[3] = { cell("a", "x", CELL_WAITING), cell("b", "x", CELL_DONE),
				     cell("c", "x", CELL_RUNNING) };
	struct journal_cells cells = { v, 3 };
	struct topframe f = {
		.cells = &cells, .name = "s", .width = 100, .height = 6, .selected = 9, .ansi = true
	};
	auto_free uint32_t *order = topframe_order(&cells);
	auto_buf b = BUF_INIT(1u << 20);

	tap_ok(order[0] == 2 && order[1] == 1 && order[2] == 0, "running, done, waiting");
	topframe_draw(&f, order, &b);
	tap_is_u64(f.selected, 2, "the choice stays in the list");
	tap_is_u64(f.first, 2, "which moves so that it is seen");
	f.ansi = false;
	f.width = f.height = f.first = f.selected = 0;
	buf_clear(&b);
	topframe_draw(&f, order, &b);
	tap_ok(!strchr(buf_str(&b), '\033') && strstr(buf_str(&b), "\nrunning   task "),
	       "as plain text");
}

int main(void)
{
	estimates();
	left();
	lines();
	frame();
	return tap_done();
}

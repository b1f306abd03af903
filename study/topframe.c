#include "study/topframe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "study/estimate.h"
#include "study/table.h"

#define LINE_MAX  (64u << 10)
#define HEAD_ROWS 4 /* above the list */
#define FOOT_ROWS 1

/* Columns of the list: head, width on the screen, right aligned. */
struct column {
	const char *head;
	size_t width;
	bool right;
};

enum { C_STATE, C_TASK, C_AGENT, C_CONDITION, C_REPEAT, C_STEPS, C_TOKENS, C_COST, C_AGE, C_LAST };

/* clang-format off */
static const struct column columns[] = {
	[C_STATE]	= { "STATE",	  9,  false },
	[C_TASK]	= { "TASK",	  24, false },
	[C_AGENT]	= { "AGENT",	  16, false },
	[C_CONDITION]	= { "CONDITION",  18, false },
	[C_REPEAT]	= { "R",	  3,  true },
	[C_STEPS]	= { "STEPS",	  5,  true },
	[C_TOKENS]	= { "TOKENS",	  7,  true },
	[C_COST]	= { "COST",	  8,  true },
	[C_AGE]		= { "TIME",	  11, true },
	[C_LAST]	= { "LAST TOUCH, OR WHY", 0, false },
};
/* clang-format on */

/* Ranks of states in the list. */
static const int ranks[CELL_STATES] = { [CELL_RUNNING] = 0,
					[CELL_INFRA] = 1,
					[CELL_GIVEN_UP] = 2,
					[CELL_DONE] = 3,
					[CELL_WAITING] = 4 };

/* One cell while they are sorted. */
struct place {
	int rank;
	uint32_t turn, cell;
};

static int by_rank(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	/* Of the done ones the last started stand in front: the news. */
	if (x->rank == ranks[CELL_DONE])
		return (y->turn > x->turn) - (y->turn < x->turn);
	return (x->turn > y->turn) - (x->turn < y->turn);
}

uint32_t *topframe_order(const struct journal_cells *cells)
{
	uint32_t *order = mem_zalloc(cells->n + 1, sizeof(*order));
	auto_free struct place *v = mem_zalloc(cells->n + 1, sizeof(*v));

	for (size_t i = 0; i < cells->n; i++)
		v[i] = (struct place){ ranks[cells->v[i].state], cells->v[i].turn, (uint32_t)i };
	qsort(v, cells->n, sizeof(*v), by_rank);
	for (size_t i = 0; i < cells->n; i++)
		order[i] = v[i].cell;
	return order;
}

static void cell_text(struct buf *line, const struct column *c, const char *text)
{
	auto_buf cut = BUF_INIT(LINE_MAX);
	size_t wide;

	progress_cut(&cut, text, c->width);
	wide = table_width(buf_str(&cut));
	for (size_t i = wide; c->right && i < c->width; i++)
		buf_addc(line, ' ');
	buf_adds(line, buf_str(&cut));
	for (size_t i = wide; !c->right && i < c->width; i++)
		buf_addc(line, ' ');
	buf_addc(line, ' ');
}

/* One line of the screen: cut, and with what a terminal needs around it. */
static void put(const struct topframe *f, const char *text, bool inverse, struct buf *out)
{
	if (f->ansi && inverse)
		buf_adds(out, "\033[7m");
	progress_cut(out, text, f->width);
	if (f->ansi)
		buf_adds(out, inverse ? "\033[0m\033[K\r\n" : "\033[K\r\n");
	else
		buf_addc(out, '\n');
}

static void head(const struct topframe *f, struct buf *out)
{
	auto_buf line = BUF_INIT(LINE_MAX);

	buf_addf(&line, "%s: %zu cells", f->name ? f->name : "study", f->cells->n);
	if (f->last)
		buf_addf(&line, "   %s", f->last);
	put(f, buf_str(&line), false, out);
	buf_clear(&line);
	progress_total(&f->total, f->width, &line);
	put(f, buf_str(&line), false, out);
	put(f, "", false, out);
}

static void list_head(const struct topframe *f, struct buf *out)
{
	auto_buf line = BUF_INIT(LINE_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		cell_text(&line, &columns[i], columns[i].head);
	put(f, buf_str(&line), true, out);
}

/* Figures of a cell: those it has now, or had at its end. */
static void numbers(const struct journal_cell *c, const struct live *l, uint64_t now,
		    struct buf *line)
{
	const struct attempt_figures *f = &c->figures;
	uint64_t steps = l ? l->steps : f->steps, tokens = l ? l->tokens : f->tokens;
	uint64_t cost = l ? l->micro_dollars : f->micro_dollars;
	uint64_t age = l && c->began && now > c->began ? now - c->began : f->wall_ns;
	bool any = l || c->state == CELL_DONE;
	char text[32] = "";

	if (any)
		snprintf(text, sizeof(text), "%" PRIu64, steps);
	cell_text(line, &columns[C_STEPS], text);
	cell_text(line, &columns[C_TOKENS], tokens ? progress_count(tokens, text) : "");
	cell_text(line, &columns[C_COST], cost ? progress_money(cost, text) : "");
	cell_text(line, &columns[C_AGE], any ? estimate_time(age, text) : "");
}

static void list_row(const struct topframe *f, size_t cell, bool selected, struct buf *out)
{
	const struct journal_cell *c = &f->cells->v[cell];
	const struct live *l = f->live ? f->live[cell] : NULL;
	auto_free char *condition = c->position ? mem_printf("%s %s", c->condition, c->position)
						: mem_strdup(c->condition);
	auto_buf line = BUF_INIT(LINE_MAX);
	char text[32];

	cell_text(&line, &columns[C_STATE], journal_states[c->state]);
	cell_text(&line, &columns[C_TASK], c->task);
	cell_text(&line, &columns[C_AGENT], c->agent);
	cell_text(&line, &columns[C_CONDITION], condition);
	snprintf(text, sizeof(text), "%" PRIu64, c->repeat);
	cell_text(&line, &columns[C_REPEAT], text);
	numbers(c, l, f->now, &line);
	if (c->state == CELL_DONE)
		buf_adds(&line, c->figures.verdict ? c->figures.verdict : "done");
	else
		buf_adds(&line, l && l->touch[0] ? l->touch : c->why ? c->why : "");
	put(f, buf_str(&line), selected, out);
}

/* Rows that the list has on the screen. */
static size_t rows_of(const struct topframe *f)
{
	if (!f->height)
		return f->cells->n;
	return f->height > HEAD_ROWS + FOOT_ROWS ? f->height - HEAD_ROWS - FOOT_ROWS : 1;
}

static void bound(struct topframe *f, size_t rows)
{
	if (f->cells->n && f->selected >= f->cells->n)
		f->selected = f->cells->n - 1;
	if (f->selected < f->first)
		f->first = f->selected;
	if (f->selected >= f->first + rows)
		f->first = f->selected - rows + 1;
}

void topframe_draw(struct topframe *f, const uint32_t *order, struct buf *out)
{
	size_t rows = rows_of(f), drawn = 0;

	head(f, out);
	if (f->detail) {
		for (; drawn < f->detail->n && (!f->height || drawn <= rows); drawn++)
			put(f, f->detail->v[drawn], false, out);
	} else {
		bound(f, rows);
		list_head(f, out);
		for (; drawn < rows && f->first + drawn < f->cells->n; drawn++)
			list_row(f, order[f->first + drawn],
				 f->ansi && f->first + drawn == f->selected, out);
	}
	if (!f->ansi)
		return;
	buf_adds(out, "\033[J");
	buf_addf(out, "\033[%zu;1H", f->height);
	progress_cut(out,
		     f->detail ? "enter, q: back to the list"
			       : "arrows, page up and down: choose   enter: details   q: leave",
		     f->width);
	buf_adds(out, "\033[K");
}

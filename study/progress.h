/* Lines that say where a study stands: of the whole, and of one running cell. Plain text that no terminal obeys, cut to a
 * width. */
#ifndef STUDY_PROGRESS_H
#define STUDY_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "study/journal.h"
#include "study/live.h"
#include "study/studyplan.h"

/* The whole, for people. */
struct progress_total {
	size_t count[CELL_STATES];
	uint64_t micro_dollars, tokens, work_ns; /* used so far */
	uint64_t unknown_cost; /* attempts without a price: dollars are a lower bound */
	uint64_t started;
	struct study_limits limits;
	uint64_t left_ns; /* estimate; 0 = unknown */
};

/* "[#####.....] 12/24  resolved ...  3 min 20 s left  $1.20 of $5.00": bar, counts, time left, budgets left. At most @width
 * columns, 0 = as long as it is. No newline. */
void progress_total(const struct progress_total *t, size_t width, struct buf *out);

/* "TASK AGENT CONDITION r2  12 steps  48.0k tokens  $0.12  34 s  read src/a.c:30-75". @live may be NULL: it has not begun. @now
 * and c->began are clock_wall() values. As progress_total(). */
void progress_cell(const struct journal_cell *c, const struct live *live, uint64_t now,
		   size_t width, struct buf *out);

/* What a cell came to: "resolved, 12 steps, 48.0k tokens, $0.12, 34 s", or its state and why. */
void progress_end(const struct journal_cell *c, struct buf *out);

/* "950", "48.0k", "1.20M" into @out. Returns @out. */
const char *progress_count(uint64_t v, char out[32]);

/* "$0.1234" with cents, or more digits while it is below one, into @out. Returns @out. */
const char *progress_money(uint64_t micro, char out[32]);

/* Append @text cut to @width columns (0 = not at all), safe for a terminal. */
void progress_cut(struct buf *out, const char *text, size_t width);

/* Read what studyplan_settings() printed: @ret->limits, and the name into @name (caller frees). 0 or -ERR_INPUT. */
int progress_settings(const char *settings, struct study_limits *ret, char **name, struct err *err);

#endif

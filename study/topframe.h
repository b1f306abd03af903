/* A frame of `proctor top`: where a study stands, as lines of text. */
#ifndef STUDY_TOPFRAME_H
#define STUDY_TOPFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "study/journal.h"
#include "study/live.h"
#include "study/progress.h"

struct topframe {
	const char *name; /* of the study */
	const struct journal_cells *cells;
	const struct live *const
		*live; /* of each cell, NULL entries = it does not run; may be NULL */
	struct progress_total total;
	const char *last;          /* what happened last to the study, NULL = nothing */
	uint64_t now;              /* clock_wall() */
	size_t width, height;      /* of the screen, 0 = as much as there is */
	size_t selected, first;    /* rows of the list; kept in bounds by topframe_draw() */
	const struct strv *detail; /* lines shown instead of the list, NULL = the list */
	bool ansi;                 /* colours, and lines cleared to their end */
};

/* Cells in the order of the list: those that run, those that wait after a fault, given up, done (last ended in front), waiting. Numbers of
 * cells; caller frees. */
uint32_t *topframe_order(const struct journal_cells *cells);

/* Draw into @out. f->selected and f->first are moved so that what is selected can be seen. */
void topframe_draw(struct topframe *f, const uint32_t *order, struct buf *out);

#endif

/* From the journal of a study to tables: an early look at any time, also while it runs. */
#ifndef STUDY_STUDYTABLE_H
#define STUDY_STUDYTABLE_H

#include "base/err.h"
#include "study/journal.h"
#include "study/result.h"
#include "study/shift.h"
#include "study/table.h"

/* Name of the overview among the tables of report. */
#define STUDYTABLE_NAME "study"

/* Add the results of cells that are done to @out, in the order of the plan. A row of the tables is an agent as the plan
 * names it; where two conditions of the plan are one for result_condition() (they differ in profile, or set, alone), the
 * condition's name stands behind it. 0 or -ERR_INPUT. */
int studytable_results(const char *study, const struct journal_cells *cells, struct results *out,
		       struct err *err);

/* Add the pairs of cells that are done, from their directories. 0 or -ERR_INPUT. */
int studytable_pairs(const char *study, const struct journal_cells *cells, struct shift_pairs *out,
		     struct err *err);

/* The overview: by agent and condition the share of successes with Wilson's interval and means, and beside them how many cells have no result yet,
 * were tried again for faults of the host, or were given up. Free with table_free(). */
struct table *studytable_overview(const struct journal_cells *cells,
				  const struct journal_sums *sums);

/* "24 cells: 20 done, 1 running, ..." as a remark below @t, when not all are done. */
void studytable_note(struct table *t, const struct journal_cells *cells);

/* The verdict of a cell's last attempt as a success (1), a failure (0), or none of both (-1). */
int studytable_success(const struct journal_cell *c);

#endif

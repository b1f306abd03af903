/* From results of runs to tables: shaped like Tables 2-5, 7 and 10 of SWE-Touch, and what a careful
 * reader asks beside them. Rates are per cent of the runs with a result (resolved or unresolved); runs
 * that are invalid, infra or not graded count in no rate and are shown beside. */
#ifndef STUDY_REPORT_H
#define STUDY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/prices.h"
#include "study/result.h"
#include "study/table.h"
#include "study/taskset.h"

struct report_options {
	struct strv
		benchmarks;    /* only these; runs that name none count to the first. Empty = all */
	const char *condition; /* what is set against vanilla ("edit+message (K=3)"); NULL = the
				 * edit+message condition with most runs, else the fullest other one */
	const struct prices *prices; /* for table 7; NULL = none */
	bool recompute;   /* dollars anew from tokens and prices, not as the results say */
	bool force_pairs; /* count pairs whose plans differ in more than the condition */
	uint64_t seed;    /* of the bootstrap */
	unsigned draws;   /* resamples, 0 = none */
};

/* What the tables are made from: results, sorted and paired. Borrows the results, options and prices. */
struct report;

/* Sort and pair. -ERR_INPUT: no run at all, the same run twice, a pair whose plans differ, a benchmark or
 * condition that no run has (with the nearest one). Free with report_free(). */
int report_new(const struct results *r, const struct report_options *o, struct report **ret,
	       struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct report *report_free(struct report *rep);

/* Names of the tables in their order: "runs", "2", "3", ..., NULL. */
extern const char *const report_tables[];

/* Patch sizes for table 2: one scenario with its task. */
struct report_size {
	char *source; /* owned: row of the table */
	bool has_reference;
	uint64_t reference_lines, reference_files, edit_lines, edit_files;
};

struct report_sizes {
	struct report_size *v; /* owned */
	size_t n, cap;
};

/* Add the scenario file @path, or every Counter-Edit scenario below directory @path; the task is that of
 * @tasks (NULL = none) with the scenario's instance_id, else task.json beside it (none: the reference is
 * unknown). The row is named by the benchmark in the scenario's notes, else by its family. Lines are
 * summed over distinct edits. 0 or -ERR_INPUT. */
int report_sizes_add(struct report_sizes *s, const char *path, const struct taskset *tasks,
		     struct err *err);

/* Free; {0} is fine. */
void report_sizes_done(struct report_sizes *s);

/* Make table @which (a name of report_tables). @sizes may be NULL. NULL when the runs have nothing for
 * it; *ret_why then says what is missing (static). Free with table_free(). */
struct table *report_table(const struct report *rep, const char *which,
			   const struct report_sizes *sizes, const char **ret_why);

/* Short readable account of one run directory whose record is @r. 0 or -ERR_INPUT. */
int report_run(const char *dir, const struct result *r, struct buf *out, struct err *err);

#endif

/* Shared between the files of the report. */
#ifndef STUDY_REPORT_INTERNAL_H
#define STUDY_REPORT_INTERNAL_H

#include "study/report.h"

/* One run in its place. Sorted by benchmark, row, condition, task, repeat. */
struct report_item {
	const struct result *r;
	unsigned bench, row, cond, task;
};

struct report_cond {
	int mode;
	uint64_t k;
	char name[48];
};

struct report {
	const struct report_options *o; /* borrowed */
	struct report_item *item;       /* owned */
	size_t n;
	struct strv bench, row; /* labels in the order of first appearance */
	struct strv model;      /* of each row, for prices */
	struct report_cond
		*cond; /* owned; vanilla first, then message, edit, edit+message, co-edit */
	size_t n_conds;
	int *main;     /* owned: per benchmark, the condition set against vanilla; -1 = none */
	size_t forced; /* pairs counted although their plans differ */
};

/* Runs of one benchmark, row and condition. */
struct report_slice {
	const struct report_item *v; /* borrowed */
	size_t n;
};

/* Several figures of a slice. NAN where there is none. */
struct report_figures {
	size_t runs, verdicts[RESULT_NONE + 1], excluded, cut; /* cut: ended by a limit */
	double mean, sd;                                       /* resolve rate in per cent */
	double steps, observed_steps; /* means over completed runs; over all with steps */
	double tokens;                /* thousands, over completed runs */
	double input, cached, output; /* thousands, over all runs with tokens */
	double dollars, dollars_sum;  /* mean and sum over runs with known cost */
	size_t dollars_unknown;
	double fired, refused, untouched; /* means; per cent of graded runs where nothing fired */
	double patch_lines, patch_files;
};

/* Task by task under vanilla and the main condition. */
enum report_outcome { OUTCOME_SOLVED, OUTCOME_UNSOLVED, OUTCOME_TIE, OUTCOME_UNKNOWN };

struct report_moves {
	uint64_t count[OUTCOME_UNKNOWN + 1][OUTCOME_UNKNOWN + 1]; /* [vanilla][condition] */
	double *diff; /* owned: condition - vanilla, share of solved runs, tasks with both */
	size_t n;
};

/* Pairs of runs: the same task, row and repeat. */
struct report_pair {
	const struct result *first, *second;
};

/* Runs of (@bench, @row, @cond); n 0 when there are none. @cond may be -1: none. */
struct report_slice report_slice(const struct report *rep, size_t bench, size_t row, int cond);

/* All runs of (@bench, @row), by condition. */
struct report_slice report_row(const struct report *rep, size_t bench, size_t row);

/* Number of the condition vanilla, -1 when no run has it. */
int report_vanilla(const struct report *rep);

/* Work the figures of a slice out. */
void report_figures(const struct report *rep, struct report_slice s, struct report_figures *ret);

/* Resolve rate in per cent of one repeat of @s; NAN without a result. */
double report_rate(struct report_slice s, uint64_t repeat);

/* Task-level moves between two slices of the same row. Free diff. */
void report_moves(struct report_slice vanilla, struct report_slice other, struct report_moves *ret);

/* kept / (kept + lost) in per cent; NAN for none. */
double report_retention(const struct report_moves *m);

/* Pairs of runs of two slices. Returns how many; *ret is owned by the caller. */
size_t report_pairs(struct report_slice a, struct report_slice b, struct report_pair **ret);

/* Runs of two slices that have no run of the same task and repeat on the other side; only repeats of @repeat when
 * it is not NULL (rising, @n of them). */
size_t report_alone(struct report_slice a, struct report_slice b, const uint64_t *repeat, size_t n);

/* Say in @t that @alone runs have no partner: their rates are of unlike tasks. Nothing for 0. */
void report_alone_note(struct table *t, size_t alone);

/* Cost of @r in micro-dollars: by the price file when there is one. False = unknown. */
bool report_cost(const struct report *rep, const struct result *r, uint64_t *ret);

/* Are there two benchmarks or more, so that tables need a column for them? */
bool report_many(const struct report *rep);

/* Name of a benchmark for people. */
const char *report_bench(const struct report *rep, size_t bench);

/* Columns that begin most tables (benchmark when there are several, model); the number of the next. */
size_t report_head(const struct report *rep, struct table *t);

/* Begin a row with them; @apart as for table_row(). */
void report_lead(const struct report *rep, struct table *t, size_t bench, const char *model,
		 bool apart);

/* What every table says at its end: forced pairs. */
void report_foot(const struct report *rep, struct table *t);

/* The makers; NULL with *ret_why. */
struct table *report_main(const struct report *rep, const char **ret_why);      /* table 3 */
struct table *report_horizon(const struct report *rep, const char **ret_why);   /* table 4 */
struct table *report_ablation(const struct report *rep, const char **ret_why);  /* table 5 */
struct table *report_prices(const struct report *rep, const char **ret_why);    /* table 7 */
struct table *report_outcomes(const struct report *rep, const char **ret_why);  /* table 10 */
struct table *report_runs(const struct report *rep, const char **ret_why);      /* counts */
struct table *report_failures(const struct report *rep, const char **ret_why);  /* Figure 4 */
struct table *report_behaviour(const struct report *rep, const char **ret_why); /* Figure 5 */
struct table *report_tests(const struct report *rep, const char **ret_why);     /* significance */
struct table *report_costs(const struct report *rep, const char **ret_why);     /* Figure 3(a) */
struct table *report_size_table(const struct report_sizes *s, const char **ret_why); /* table 2 */

#endif

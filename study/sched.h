/* The scheduler of a study: which cell is started when, what becomes of one that has ended, and when it is enough. All
 * that it decides is in the journal before it is done; where cells run is the engine's business. */
#ifndef STUDY_SCHED_H
#define STUDY_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "study/engine.h"
#include "study/estimate.h"
#include "study/journal.h"
#include "study/live.h"
#include "study/studyplan.h"

#define SCHED_JOBS_MAX 1024u

/* What is told while a study runs. */
enum sched_what {
	SCHED_STARTED,
	SCHED_ADOPTED,  /* begun by an earlier call, and alive */
	SCHED_TAKEN_IN, /* ended under an earlier call, which did not live to write it down */
	SCHED_LOST,     /* begun by an earlier call, and gone: thrown away */
	SCHED_ENDED,
	SCHED_WAITS,  /* why no other cell is started just now */
	SCHED_BUDGET, /* a limit of the study is reached */
	SCHED_STOPS,  /* asked to end */
	SCHED_TICK,   /* nothing but time has passed */
};

/* Names of these in their order, for machine output. */
extern const char *const sched_words[];

/* A cell that runs. */
struct sched_running {
	struct journal_cell *cell; /* borrowed */
	struct live live;
	uint64_t memory;          /* largest seen */
	uint64_t cancelled;       /* clock_mono() of the first request to end, 0 = none */
	bool hard;                /* it was ended at once */
	enum attempt_end because; /* with cancelled */
};

/* Where the study stands. Borrowed by who is told. */
struct sched_state {
	struct journal_cells *cells;
	const struct sched_running *running;
	size_t n_running;
	size_t count[CELL_STATES];
	uint64_t micro_dollars, tokens; /* used by all attempts, those under way included */
	uint64_t work_ns;               /* time at work, earlier calls included */
	uint64_t started;               /* cells that were started at least once */
	uint64_t unknown_cost;          /* attempts whose tokens have no known price */
	struct estimate_left left;
	const char *
		waits; /* why no other cell is started; NULL = all slots are in use, or nothing is left */
	bool stopping, over_budget;
};

struct sched_options {
	const char *study; /* absolute directory */
	struct journal *journal;
	const struct engine_ops *ops;
	void *engine;
	unsigned jobs;
	struct study_limits limits;
	int on_budget; /* enum study_on_budget */
	struct study_retries retries;
	uint64_t keep_memory, keep_disk; /* bytes of this machine that are left to others */
	/* Called at every change and about twice a second; @cell and @text may be NULL. */
	void (*tell)(void *arg, enum sched_what what, const struct journal_cell *cell,
		     const char *text, const struct sched_state *st);
	void *arg;
};

/* How it ended. */
struct sched_end {
	bool interrupted, over_budget;
	size_t count[CELL_STATES];
	struct journal_sums sums;
};

/* Carry out what has no result yet. SIGINT and SIGTERM are taken: the first time no other cell is started, the second time
 * those that run are asked to end, the third time they are killed. Call with no child processes and with these signals
 * not ignored. 0 with *ret, or negative: -ERR_SYS when the journal cannot be written; cells that run go on then and are
 * taken up by the next call. */
int sched_run(const struct sched_options *o, struct journal_cells *cells, struct sched_end *ret,
	      struct err *err);

#endif

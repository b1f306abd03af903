/* Shared between the files of the scheduler. */
#ifndef STUDY_SCHED_INTERNAL_H
#define STUDY_SCHED_INTERNAL_H

#include "base/map.h"
#include "study/attempt.h"
#include "study/sched.h"

struct sched {
	const struct sched_options *o;
	struct journal_cells *cells;
	struct sched_running *run; /* owned, o->jobs and adopted ones */
	size_t n_run, cap_run;
	struct journal_cell **turn; /* owned: cells in the order of starting */
	struct map keys;            /* hash of a key -> its cell, borrowed */
	struct estimate estimate;
	struct journal_sums sums; /* of attempts that have ended, and their time before this call */
	uint64_t began;           /* clock_mono() of this call */
	uint64_t noted;           /* part of the time that the journal has */
	unsigned asked;           /* how often we were asked to end */
	bool over_budget;
	char waits[256];  /* why nothing more is started, "" = no reason */
	char told[256];   /* the last reason that was told */
	uint64_t told_at; /* clock_mono() */
	struct sched_state state;
};

/* Tell who wants to know. */
void sched_tell(struct sched *s, enum sched_what what, const struct journal_cell *c,
		const char *text);

/* May @c be started now? False with s->waits set; *ret_never is then set when this will not change by itself (a limit of the study). */
bool sched_room(struct sched *s, const struct journal_cell *c, bool *ret_never);

/* Has the study used up one of its limits? *ret_which names it (static). */
bool sched_spent(const struct sched *s, const char **ret_which);

/* Sums with what is under way. */
uint64_t sched_dollars(const struct sched *s);
uint64_t sched_tokens(const struct sched *s); /* see sched_dollars() */
uint64_t sched_work(const struct sched *s);   /* see sched_dollars() */

/* The open attempt of @r, which has ended with @status: read what it left, write it down, say what comes next. 0 or
 * negative. */
int sched_collect(struct sched *s, const struct sched_running *r,
		  const struct engine_status *status, struct err *err);

/* What an earlier call left running: taken in, taken over, or thrown away. 0 or negative. */
int sched_resume(struct sched *s, struct err *err);

/* The cell that @c depends on; NULL = none. */
struct journal_cell *sched_before(const struct sched *s, const struct journal_cell *c);

/* A place among those that run. */
struct sched_running *sched_add(struct sched *s, struct journal_cell *c);

#endif

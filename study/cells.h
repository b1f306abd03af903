/* The cells of a study: every task, agent, condition, position and repeat of its plan with the command that makes it. A
 * cell is known by its key, which is also the name of its directory; what it is made of is its spec, by which a changed
 * plan is found out. */
#ifndef STUDY_CELLS_H
#define STUDY_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "study/studyplan.h"

#define CELL_KEY_MAX 240u /* bytes: it is a file name */

enum cell_kind { CELL_RUN, CELL_FORK };

/* Owns its texts. */
struct cell {
	char *key; /* "TASK,AGENT,CONDITION[,POSITION],rREPEAT" */
	int kind;  /* enum cell_kind */
	char *task, *agent, *condition;
	char *position; /* of a fork, NULL of a run */
	uint64_t repeat;
	char *after;       /* key of the cell that must have its run first, NULL = none */
	char *plan_digest; /* of the run at repeat 1, NULL of a fork: it depends on the record */
	struct strv args;  /* behind "proctor run" or "proctor fork", without --out; relative to the
			    * directory of the study */
	char *spec;        /* job.json ("proctor.cell/1"), one line */
	uint64_t max_micro_dollars, max_tokens; /* bounds of its profile, 0 = none */
};

struct cells {
	struct cell *v; /* owned, in the order of the plan */
	size_t n, cap;
};

/* Work the cells of @p out: find the tasks, and make the plan of each run once, so that whatever is wrong is said before
 * anything is started. 0, -ERR_INPUT, -ERR_USAGE, -ERR_HOST as plan_build(), -ERR_LIMIT for more than
 * STUDYPLAN_CELLS_MAX. Free with cells_done(). */
int cells_make(const struct study_plan *p, struct cells *ret, struct err *err);

/* The order of starting: numbers of cells, all of them, shuffled by the plan's seed, the same on every machine. Caller
 * frees. */
uint32_t *cells_order(const struct study_plan *p, size_t n);

/* Directory of the cell @key below that of the study, and of its finished run. Caller frees. */
char *cells_dir(const char *study, const char *key);
char *cells_run_dir(const char *study, const char *key); /* see cells_dir() */

/* Free; {0} is fine. */
void cells_done(struct cells *c);

/* What a cell's process reads of job.json. Owns its texts; {0} is empty. */
struct cell_job {
	char *key, *task, *agent, *condition, *position, *after, *plan_digest, *grade_profile;
	int kind; /* enum cell_kind */
	uint64_t repeat;
	struct strv args;
	bool grade, judge, label;
};

/* Read job.json called @name. 0 or -ERR_INPUT. Free with cells_job_done(). */
int cells_job(const char *name, const char *text, size_t n, struct cell_job *ret, struct err *err);

/* Free. */
void cells_job_done(struct cell_job *j);

#endif

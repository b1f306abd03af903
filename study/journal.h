/* The journal of a study: an SQLite database, STUDY/journal.db, in which every cell, attempt and decision stands. It is
 * the truth about a study: what it does not say has not happened. One process writes (see journal_lock()), others read
 * while it does (write-ahead log); each transition of a cell is one transaction, on disk before the next thing is done.
 * Tables and columns: docs/formats.md. */
#ifndef STUDY_JOURNAL_H
#define STUDY_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "study/cells.h"
#include "study/engine.h"

#define JOURNAL_FILE "journal.db"

/* Where a cell stands. */
enum cell_state {
	CELL_WAITING,
	CELL_RUNNING,
	CELL_DONE,     /* it has a result */
	CELL_INFRA,    /* a fault of the host; it is tried again */
	CELL_GIVEN_UP, /* tried as often as the plan says, or cannot be made at all */
	CELL_STATES
};

/* How an attempt ended. */
enum attempt_end {
	ATTEMPT_OPEN, /* it has not, as far as the journal knows */
	ATTEMPT_DONE,
	ATTEMPT_INFRA,   /* a fault of the host */
	ATTEMPT_BAD,     /* the inputs are wrong: another attempt would end the same */
	ATTEMPT_LOST,    /* its process died with nobody watching; thrown away */
	ATTEMPT_STOPPED, /* by the user */
	ATTEMPT_BUDGET,  /* by a limit of the study */
	ATTEMPT_ENDS
};

/* Names in their order, ended by NULL. */
extern const char *const journal_states[]; /* "waiting", "running", "done", "infra", "given-up" */
extern const char *const journal_ends[];   /* "open", "done", "infra", "bad", "lost", ... */

/* What an attempt used and came to. Owns its texts; {0} is nothing. */
struct attempt_figures {
	uint64_t steps, tokens, micro_dollars, wall_ns, memory, disk; /* disk: of its directory */
	bool cost_known, has_tokens;
	char *verdict; /* "resolved", ..., "valid", "invalid" of a pair; NULL = none */
	char *result;  /* a line of results.jsonl, NULL = none (a fork, an attempt without) */
};

/* A cell as the journal has it. Owns its texts. */
struct journal_cell {
	int64_t id;
	uint32_t turn; /* order of starting */
	char *key, *task, *agent, *condition, *position, *after, *plan_digest, *spec;
	int kind; /* enum cell_kind */
	uint64_t repeat;
	int state;                      /* enum cell_state */
	char *why;                      /* of infra and given-up; NULL */
	uint64_t attempts, infra;       /* all, and those that ended infra or lost while watched */
	int64_t attempt;                /* id of the open one, 0 = none */
	uint64_t attempt_n;             /* its number, from 1 */
	uint64_t not_before;            /* clock_wall(), of infra: when it may be tried again */
	uint64_t began;                 /* clock_wall() of the open attempt */
	struct engine_handle handle;    /* of the open attempt */
	struct attempt_figures figures; /* of the last attempt that ended */
	uint64_t max_micro_dollars, max_tokens;
};

struct journal_cells {
	struct journal_cell *v; /* owned, in the order of the plan */
	size_t n;
};

/* Sums over all attempts. */
struct journal_sums {
	uint64_t micro_dollars, tokens; /* spent, failed attempts included */
	uint64_t unknown_cost;          /* attempts with tokens and without a price */
	uint64_t attempts[ATTEMPT_ENDS];
	uint64_t started; /* cells that were started at least once */
	uint64_t work_ns; /* time that calls of the study were at work, without the present one */
};

struct journal;

/* Open STUDY/journal.db, and make it when @write and it is not there. 0; -ERR_INPUT when there is none, or it is none
 * of ours or of another version; -ERR_SYS. Free with journal_close(). */
int journal_open(const char *study, bool write, struct journal **ret, struct err *err);

/* Close; NULL is fine. Returns NULL. */
struct journal *journal_close(struct journal *j);

/* Does directory @path hold a study? */
bool journal_is_study(const char *path);

/* Take the lock of the study: held until the descriptor is closed or the process ends, however. Returns the descriptor, -ERR_INPUT when
 * another call has it, -ERR_SYS. flock(2) */
int journal_lock(const char *study, struct err *err);

/* Settings of the plan as studyplan_settings() prints them. NULL when nothing was entered yet. Borrowed. */
const char *journal_settings(const struct journal *j);

/* Hold @settings and @cells against what the journal has. A new journal takes them. Otherwise: every cell must be there with
 * the same spec; more cells and other settings are entered when @extend, and are -ERR_INPUT with the first difference
 * when not. *ret_added is the number of cells that are new. One transaction. */
int journal_enter(struct journal *j, const char *settings, const struct cells *cells,
		  const uint32_t *order, bool extend, size_t *ret_added, struct err *err);

/* All cells, in the order of the plan. 0 or -ERR_SYS. Free with journal_cells_done(). */
int journal_cells(struct journal *j, struct journal_cells *ret, struct err *err);
void journal_cells_done(struct journal_cells *c); /* see journal_cells() */

/* Sums over all attempts. 0 or -ERR_SYS. */
int journal_sums(struct journal *j, struct journal_sums *ret, struct err *err);

/* @c is about to be started: state running, a new attempt of @engine without a handle. 0 or -ERR_SYS, then nothing changed. */
int journal_starting(struct journal *j, struct journal_cell *c, const char *engine,
		     struct err *err);

/* The engine has it: c->handle. As journal_starting(). */
int journal_started(struct journal *j, const struct journal_cell *c, struct err *err);

/* The open attempt of @c ended as @end with @figures (taken over; NULL = none); the cell is @state from here on, and may not be started before
 * c->not_before. @why may be NULL. As journal_starting(). */
int journal_ended(struct journal *j, struct journal_cell *c, enum attempt_end end,
		  enum cell_state state, const char *why, struct attempt_figures *figures,
		  struct err *err);

/* @c, which has no open attempt, gets another state. As journal_starting(). */
int journal_state(struct journal *j, struct journal_cell *c, enum cell_state state, const char *why,
		  struct err *err);

/* Put down that something happened to the study as a whole: "call", "budget", "interrupted", "extended", ... As journal_starting(). */
int journal_event(struct journal *j, const char *what, const char *text, struct err *err);

/* Add @ns to the time that calls of the study were at work. As journal_starting(). */
int journal_worked(struct journal *j, uint64_t ns, struct err *err);

/* Visit events (with @key NULL) or attempts of cell @key, oldest first: time, word and text for people. 0 or -ERR_SYS. */
int journal_history(struct journal *j, const char *key,
		    void (*each)(void *arg, uint64_t at, const char *what, const char *text),
		    void *arg, struct err *err);

/* Free the texts. {0} is fine. */
void attempt_figures_done(struct attempt_figures *f);

#endif

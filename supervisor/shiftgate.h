/* Admission of a SWE-Shift scenario: six rows that must hold before it may be used, each played by a
 * scripted agent, so that no model is needed.
 *
 *  1 initial_root            nothing done, nothing changed: the checks of the first and of the last
 *                            version both fail
 *  2 clean_reference         the reference script alone: all checks of the clean arm hold
 *  3 update_without_repair   the update, and an agent that stops at once: the run is valid, what must be
 *                            kept is there, and the task still fails
 *  4 unadapted               the continuation that does not know of the update: its clean arm succeeds, its
 *                            shifted arm is valid and fails task or preservation
 *  5 repair_by_former_state  the continuation made for the state before the update: valid, and not a strict
 *                            success
 *  6 valid_recovery          valid, every check holds
 *
 * On top, for each mutation that the scenario brings (the recovery broken in one way): exactly the check that
 * it is named after does not hold.
 *
 * The rows are recomputed from outcomes (shiftgate_judge()); who makes the outcomes is shiftgate_run(). */
#ifndef SUPERVISOR_SHIFTGATE_H
#define SUPERVISOR_SHIFTGATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/gate.h"
#include "verifier/grade.h"

struct janitor;

enum shiftgate_row {
	SHIFTGATE_INITIAL,
	SHIFTGATE_REFERENCE,
	SHIFTGATE_NO_REPAIR,
	SHIFTGATE_UNADAPTED,
	SHIFTGATE_STALE,
	SHIFTGATE_RECOVERY,
	SHIFTGATE_MUTATION, /* not of the six */
	SHIFTGATE_ROWS
};

/* The checks of strict.json that a row looks at, as bits. */
enum shiftgate_check {
	SHIFTGATE_TASK = 1 << 0,
	SHIFTGATE_PRESERVATION = 1 << 1,
	SHIFTGATE_PROHIBITED = 1 << 2,
	SHIFTGATE_AUTHORITY = 1 << 3,
	SHIFTGATE_FRESH = 1 << 4,
	SHIFTGATE_ORDER = 1 << 5,
};

/* One arm, or one grading without a run, that a row needs. Owns its texts. */
struct shiftgate_outcome {
	enum shiftgate_row row;
	bool shifted;   /* which arm; in row 1: the last version's checks */
	char *position; /* "0.5", "start"; NULL = no fork */
	char *mutation; /* SHIFTGATE_MUTATION: name of the check to be broken */
	enum verdict_kind verdict;
	char *reason; /* of the verdict */
	bool judged;  /* the five below come from a strict judgement */
	bool valid;   /* protocol-valid */
	bool success;
	unsigned applies, failed; /* checks, enum shiftgate_check */
	char *why;                /* of the first check that failed, or of what made it invalid */
	char *dir;                /* run directory, NULL when it was not kept or there is none */
	struct strv records;      /* numbers of the trace records that its failed checks cite */
	/* set by shiftgate_judge() */
	bool ok;
	char *complaint; /* NULL when ok */
};

struct shiftgate_result {
	struct shiftgate_outcome *out; /* owned */
	size_t n, cap;
	enum gate_verdict verdict; /* valid, invalid or infra */
	char *reason;
};

struct shiftgate_request {
	const struct scenario *scenario;
	const char *scenario_file, *task_file; /* for plans; absolute or below @cwd */
	const struct task *task;
	const struct profile *profile; /* of the grading boxes, NULL = shipped "verify" */
	const char *agent;             /* NULL = "actor" */
	const char *const *positions;  /* NULL-terminated; NULL = 0.5 */
	const char *const *set;        /* --set of the runs, NULL-terminated or NULL */
	const char *out;               /* directory that keeps the runs, made when missing */
	const char *cwd;               /* absolute */
	struct janitor *janitor;
	bool mutations; /* play the mutations, too */
	bool no_cgroup;
	/* Told of each outcome once it is there; may be NULL. */
	void (*progress)(void *arg, const struct shiftgate_outcome *o);
	void *arg;
};

/* Is @sc of a SWE-Shift family (F01 to F12)? */
bool shiftgate_is(const struct scenario *sc);

/* Name of a row as in files ("initial_root", ...). Static. */
const char *shiftgate_row_name(enum shiftgate_row row);

/* What the row expects, in words. Static. */
const char *shiftgate_row_expects(enum shiftgate_row row);

/* The bit of a check's name ("task", "fresh_observation", ...), 0 for none. */
unsigned shiftgate_check_bit(const char *name);

/* Add an empty outcome of @row and return it; it stays where it is until the next one is added. */
struct shiftgate_outcome *shiftgate_add(struct shiftgate_result *r, enum shiftgate_row row);

/* Recompute ok and complaint of every outcome, verdict and reason from what came out. A row without an
 * outcome makes it infra: it was not tried. What is certain comes first: invalid, then infra. */
void shiftgate_judge(struct shiftgate_result *r);

/* Make all outcomes of @req and judge them. 0 with *ret for every verdict; negative for input and our
 * own errors. Free with shiftgate_done(). */
int shiftgate_run(const struct shiftgate_request *req, struct shiftgate_result *ret,
		  struct err *err);

/* gate.json text ("proctor.gate/1", protocol "shift"). */
void shiftgate_json(const struct scenario *sc, const struct shiftgate_result *r, struct buf *out);

/* Free; {0} is fine. */
void shiftgate_done(struct shiftgate_result *r);

#endif

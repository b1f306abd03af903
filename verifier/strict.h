/* Strict success of a run: was the protocol kept, and does every piece of evidence that applies hold? Six checks:
 * the task's tests, preservation, prohibited effects, current authority, a fresh observation between the update and
 * the first change, recovery in the required order. Each cites the records that prove it. */
#ifndef VERIFIER_STRICT_H
#define VERIFIER_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/pred.h"

/* Arm that a run is judged as. */
enum strict_arm {
	STRICT_BY_RUN, /* as run.json or the `fork` record says; a run that is no continuation is shifted when
			* an intervention was applied in it */
	STRICT_CLEAN,
	STRICT_SHIFTED,
};

/* Rows of "valid", in order. */
enum strict_valid {
	STRICT_TRACE,   /* complete, without gaps, ended */
	STRICT_FORK,    /* a continuation has its `fork` record, of this arm */
	STRICT_PREFIX,  /* the prefix came back as it was recorded */
	STRICT_UPDATE,  /* shifted: applied; clean: nothing happened */
	STRICT_END,     /* the agent ended by itself or by a limit */
	STRICT_PATCH,   /* its final patch was captured */
	STRICT_VERDICT, /* graded, and neither infra nor invalid */
	STRICT_VALID_MAX
};

/* Rows of "checks", in order. */
enum strict_check {
	STRICT_TASK,
	STRICT_PRESERVATION,
	STRICT_PROHIBITED,
	STRICT_AUTHORITY,
	STRICT_FRESH,
	STRICT_ORDER,
	STRICT_CHECK_MAX
};

struct strict_request {
	const char *dir;                 /* run directory; verdict.json must be there */
	const struct scenario *scenario; /* NULL: only the protocol and the task are judged */
	const struct task
		*task; /* NULL: files that nobody followed are unknown, and the verifier's digest is
				  * not compared */
	enum strict_arm arm;
};

/* One row. */
struct strict_row {
	const char *name; /* static: "trace", "task", ... */
	bool applies, ok; /* a row that does not apply is ok */
	char *reason;     /* owned */
	struct pred_records records;
	struct pred_finding
		parts; /* what it is made of; of a prohibited effect, ok = it was not found */
};

/* A figure that the scenario asks for; success does not hang on it. */
struct strict_figure {
	char *name; /* owned */
	uint64_t count, of;
	bool rate; /* count / of; otherwise @count alone, and @of says nothing */
	struct pred_finding parts;
};

struct strict_result {
	enum strict_arm arm; /* STRICT_CLEAN or STRICT_SHIFTED */
	char *scenario;      /* owned: its id, NULL = none */
	char *goal,
		*verifier; /* owned: versions in force at the end, "initial" when nothing changed them */
	bool valid;
	struct strict_row rule[STRICT_VALID_MAX];
	struct strict_row check[STRICT_CHECK_MAX];
	bool has_milestones;
	uint64_t matched, of;
	double similarity; /* matched / of; 0 when a prohibited effect was found (a minefield) */
	struct pred_finding milestones;
	struct strict_figure *figure; /* owned */
	size_t n_figures;
	uint64_t fork, update, told, mutation; /* records, 0 = none */
	bool success;                          /* valid, and every check that applies is ok */
};

/* Names as in strict.json. Static. */
const char *strict_valid_name(enum strict_valid v);
const char *strict_check_name(enum strict_check v); /* see strict_valid_name() */
const char *strict_arm_name(enum strict_arm v); /* "clean", "shifted"; see strict_valid_name() */

/* Are the scenario's "checks" well formed? Scenarios without any are. 0, or -ERR_INPUT with file, JSON path and the
 * nearest valid choice. To be called before a run is started. */
int strict_scenario(const struct scenario *s, struct err *err);

/* Which of the six checks does the scenario ask for in @arm (STRICT_CLEAN or STRICT_SHIFTED)? Bit 1 << enum
 * strict_check. 0 or negative as strict_scenario(). */
int strict_applies(const struct scenario *s, enum strict_arm arm, unsigned *ret_mask,
		   struct err *err);

/* Judge the run. 0 with *ret filled for every outcome; -ERR_INPUT when files of the run or the scenario's checks
 * cannot be read, or there is no verdict.json. Free with strict_done(). */
int strict_judge(const struct strict_request *req, struct strict_result *ret, struct err *err);

/* Value of @f; negative = none, because there is nothing to divide by. */
double strict_figure_value(const struct strict_figure *f);

/* Rows of the figures' forms, for the reference page and its test; their number in *ret_n. Caller frees the array. */
struct pred_doc *strict_figure_docs(size_t *ret_n);

/* strict.json (proctor.strict/1) of @r into @out. */
void strict_json(const struct strict_result *r, struct buf *out);

/* Free; {0} is fine. */
void strict_done(struct strict_result *r);

#endif

/* Many predictions graded: one directory each, resumed after a kill, infra apart. */
#ifndef STUDY_BATCH_H
#define STUDY_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "profiles/profile.h"
#include "study/predictions.h"
#include "study/taskset.h"
#include "verifier/grade.h"

/* One prediction's outcome ("proctor.graded/1"), a line of results.jsonl. Without times, so that two
 * gradings of the same inputs compare byte for byte. */
struct graded {
	char *instance_id;
	char *model;  /* "" = none named */
	char *input;  /* SHA-256 over everything that decides the verdict: task, patch, profile */
	int verdict;  /* enum verdict_kind */
	char *reason; /* one line */
	bool patch_exists, patch_applied;
	uint64_t f2p_passed, f2p, p2p_passed, p2p; /* of the lists */
	uint64_t tamper;                           /* rows of verdict.json */
	uint64_t infra_repeats;                    /* gradings that ended infra before this one */
	char *digest;                              /* as in verdict.json */
};

/* Where a batch stands. */
struct batch_state {
	size_t total, done, reused; /* reused: graded by an earlier, broken-off call */
	unsigned running;
	size_t count[VERDICT_INFRA + 1]; /* by verdict */
	uint64_t infra_repeats;
	size_t empty, tampered; /* predictions without a patch, verdicts with tamper rows */
	uint64_t left_ns;       /* estimate until the end; 0 = unknown */
};

struct batch_options {
	const struct predictions *predictions;
	const struct taskset *tasks;
	const struct profile *profile;
	const char *out;        /* directory, made when it is not there */
	unsigned jobs;          /* at once */
	unsigned infra_repeats; /* see grade_repeat() */
	bool no_cgroup;
	/* Called when something changed and about twice a second; @last is the prediction that ended
	 * just now, or NULL. May be NULL. */
	void (*progress)(void *arg, const struct batch_state *st, const struct graded *last);
	void *arg;
};

struct batch_result {
	struct batch_state state;
	struct graded *v; /* owned, in the order of the predictions */
	size_t n;
};

/* Grade all predictions that @o->out does not hold yet. Layout: OUT/INSTANCE/ (OUT/MODEL/INSTANCE/ when the
 * file has several models; "/" of a model's name becomes "__") with verdict.json, report.json,
 * test.log, patch.diff and, written last, graded.json; OUT/results.jsonl and OUT/summary.json at the
 * end. A directory whose graded.json was made from the same task, patch and profile is not graded
 * again; anything else in it is replaced.
 *
 * Before anything runs: -ERR_INPUT names the predictions that no task fits, with the nearest name, two models
 * whose names make one directory, and an OUT that another call is grading into (flock(2)). A task
 * that cannot be loaded makes its predictions invalid, with the reason. A grading process that dies
 * by a fault of ours counts as infra. 0 with *ret filled, or negative. Free with batch_done(). */
int batch_grade(const struct batch_options *o, struct batch_result *ret, struct err *err);

/* Free. {0} is fine. */
void batch_done(struct batch_result *r);

/* One line of results.jsonl with its newline. */
void graded_print(const struct graded *g, struct buf *out);

/* Read one such object called @name in messages. 0 or -ERR_INPUT. Free with graded_done(). */
int graded_parse(const char *name, const char *text, size_t n, struct graded *ret, struct err *err);

/* Free. {0} is fine. */
void graded_done(struct graded *g);

/* Counts of one model of a batch. */
struct batch_model {
	const char *model; /* borrowed from the result; "" = none named */
	size_t total, count[VERDICT_INFRA + 1], empty;
};

/* The models of @r, sorted by name; how many in *ret_n. Caller frees. */
struct batch_model *batch_models(const struct batch_result *r, size_t *ret_n);

/* summary.json ("proctor.graded-summary/1"): counts, ids by verdict, the share resolved of those that
 * have a result (resolved and unresolved; null when there is none), infra and invalid beside it; the same of
 * each model. */
void batch_summary(const struct batch_result *r, const struct taskset *tasks, struct buf *out);

#endif

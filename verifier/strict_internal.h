/* Pieces of the strict judgement. Shared by strict*.c only. */
#ifndef VERIFIER_STRICT_INTERNAL_H
#define VERIFIER_STRICT_INTERNAL_H

#include "base/json.h"
#include "verifier/authority.h"
#include "verifier/pred.h"
#include "verifier/strict.h"
#include "verifier/verdict_read.h"

#define STRICT_PARTS_MAX   256u /* predicates of one check */
#define STRICT_FIGURES_MAX 32u

/* A list of predicates of one check. */
struct strict_list {
	struct pred **v; /* owned array of borrowed */
	size_t n;
};

/* A figure, compiled. */
struct strict_measure {
	char *name; /* owned */
	struct strict_list
		list; /* of a share; or what is counted, and perhaps what that is divided by */
	bool counts;
};

/* A scenario's checks, compiled. Life: strict_checks_read() -> strict_checks_done(). */
struct strict_checks {
	struct pred_set *set;
	struct strict_list list[STRICT_CHECK_MAX]; /* task: "also" */
	struct pred *milestones;                   /* NULL = none */
	struct strict_measure figure[STRICT_FIGURES_MAX];
	size_t n_figures;
	bool trace;             /* something is asked of the trace */
	bool authority;         /* an intervention changes goal or verifier */
	bool message;           /* an intervention has a message */
	struct authority final; /* versions when all interventions have fired */
};

/* A run while it is judged. */
struct strict_work {
	const struct strict_request *req;
	struct strict_checks checks;
	struct json_src run;
	struct pred_run pred_run;
	struct verdict_file verdict;
	bool graded;               /* verdict.json is there */
	struct authority judged;   /* versions that the verdict was made under */
	struct authority in_force; /* at the end of the run; of the clean arm: initial */
	char *digest;              /* of the task of the versions in force, NULL = not known */
	bool workspace;            /* every workspace file was followed */
	struct basetree *base;     /* opened when asked for */
	bool base_failed;
	struct strict_result *ret;
};

/* Read the checks of @s (NULL = none). 0 or -ERR_INPUT. */
int strict_checks_read(const struct scenario *s, struct strict_checks *ret, struct err *err);

/* Free; {0} is fine. */
void strict_checks_done(struct strict_checks *c);

/* Is @p asked in @arm? */
bool strict_part_applies(const struct pred *p, enum strict_arm arm);

/* String or number at a path of run.json ("fork.arm"); NULL or @dflt when it is absent. */
const char *strict_run_str(const struct strict_work *w, const char *path);
double strict_run_num(const struct strict_work *w, const char *path,
		      double dflt); /* see strict_run_str() */

/* Fill the rows of validity. 0 or negative. */
int strict_judge_valid(struct strict_work *w, struct err *err);

/* Fill the rows of the checks and the milestones. 0 or negative. */
int strict_judge_checks(struct strict_work *w, struct err *err);

/* Read "figures" of the checks. 0 or -ERR_INPUT. */
int strict_figures_read(const struct json_src *src, const char *where, const cJSON *item,
			struct strict_checks *c, struct err *err);

/* Free them; {0} is fine. */
void strict_figures_done(struct strict_checks *c);

/* Work the figures out. 0 or negative. */
int strict_judge_figures(struct strict_work *w, struct err *err);

/* Set a row's reason (printf). */
void strict_say(struct strict_row *r, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

/* Shared between the files of the pairs. */
#ifndef STUDY_SHIFT_INTERNAL_H
#define STUDY_SHIFT_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "study/shift.h"

#define SHIFT_BUDGET       1000000u /* of the paper: B */
#define SHIFT_ANY          SIZE_MAX
#define SHIFT_WHO_MAX      500 /* systems and conditions, so that sums over groups end */
#define SHIFT_FAMILY_MAX   100
#define SHIFT_POSITION_MAX 200
#define SHIFT_SCENARIO_MAX 20000
#define SHIFT_CUT          9 /* scenarios or positions named in a note; more are counted */

/* Which pairs: indices into the lists of struct shift, SHIFT_ANY = all. */
struct shift_pick {
	size_t who, family, position, scenario;
};

/* One system under one condition. */
struct shift_who {
	char *system; /* owned: agent, and model when it names one */
	char *ladder; /* owned */
	char *prefix; /* owned */
	uint64_t budget;
	double clean;            /* rate of its system over all conditions, for the order */
	uint64_t valid, success; /* of the clean arm */
	size_t from, to;         /* its items */
	size_t now;              /* while they are numbered: its place in the end */
};

/* A pair in its place. */
struct shift_item {
	const struct shift_pair *p;
	size_t who, family, position, scenario;
};

struct shift {
	const struct shift_pairs *pairs; /* borrowed */
	struct shift_options o;
	struct shift_item *item; /* owned, sorted by who, scenario, position, repeat */
	size_t n;
	struct shift_who *who; /* owned, sorted: systems by clean success, then ladder, budget */
	size_t n_who;
	struct strv family, position, scenario;         /* sorted */
	bool many_ladders, many_budgets, many_prefixes; /* tables need a column for them */
};

/* What a pair counts as under the two ways to look at it. */
enum shift_measure { SHIFT_PSR, SHIFT_CRR };

/* Cells that two conditions or systems both have: valid pairs of the same scenario, position and repeat. */
struct shift_match {
	uint64_t cells, both, first, second, neither; /* paired success in */
	uint64_t tables; /* cells left out because a row of counts stands for several pairs */
	double *diff;    /* owned: first - second, mean of each scenario that both have */
	size_t n;
};

/* Read one pair.json (@src, in directory @dir, NULL = its text alone) into *ret. 0 or -ERR_INPUT. */
int shift_read_pair(const struct json_src *src, const char *dir, struct shift_pair *ret,
		    struct err *err);

/* Read a table of counts, see shift_parse(). */
int shift_read_json(const struct json_src *src, struct shift_pairs *out, struct err *err);
int shift_read_tabs(const char *name, const char *text, struct shift_pairs *out,
		    struct err *err); /* see shift_read_json() */

/* Room for one more pair, zeroed. NULL past the maximum (@err is set). The caller adds one to n. */
struct shift_pair *shift_room(struct shift_pairs *out, const char *name, struct err *err);

/* Free what *p owns. */
void shift_pair_done(struct shift_pair *p);

/* Fill in what was not said: "" for texts, A0. */
void shift_complete(struct shift_pair *p);

/* Names of the states and of the six checks. Static. */
extern const char *const shift_states[];
const char *shift_check_name(size_t check); /* see shift_states */

/* Is the item one of @pick? */
bool shift_picked(const struct shift_item *it, const struct shift_pick *pick);

/* Figures of the picked ones. */
void shift_sum(const struct shift *s, const struct shift_pick *pick, struct shift_figures *ret);

/* Set the pairs of two @who against each other, cell by cell. Free diff. */
void shift_match(const struct shift *s, size_t first, size_t second, struct shift_match *ret);

/* Do the two differ in nothing but the system? */
bool shift_same_condition(const struct shift_who *a, const struct shift_who *b);

/* How tables begin: system, and prefix, ladder and budget when there are several. shift_head() returns the next
 * column; shift_lead() begins a row. */
size_t shift_head(const struct shift *s, struct table *t);
void shift_lead(const struct shift *s, struct table *t, size_t who,
		bool apart); /* see shift_head() */

/* Makers; NULL with *ret_why. */
struct table *shift_main(const struct shift *s, const char **ret_why);
struct table *shift_families(const struct shift *s, const char **ret_why);  /* see shift_main() */
struct table *shift_positions(const struct shift *s, const char **ret_why); /* see shift_main() */
struct table *shift_grid(const struct shift *s, const char **ret_why);      /* see shift_main() */
struct table *shift_cells(const struct shift *s, const char **ret_why);     /* see shift_main() */
struct table *shift_scenarios(const struct shift *s, const char **ret_why); /* see shift_main() */
struct table *shift_checks(const struct shift *s, const char **ret_why);    /* see shift_main() */
struct table *shift_invalid(const struct shift *s, const char **ret_why);   /* see shift_main() */
struct table *shift_after(const struct shift *s, const char **ret_why);     /* see shift_main() */
struct table *shift_ladder(const struct shift *s, const char **ret_why);    /* see shift_main() */
struct table *shift_sweep(const struct shift *s, const char **ret_why);     /* see shift_main() */
struct table *shift_versus(const struct shift *s, const char **ret_why);    /* see shift_main() */
struct table *shift_missing(const struct shift *s, const char **ret_why);   /* see shift_main() */

#endif

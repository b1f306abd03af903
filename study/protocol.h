/* Scores of the protocols that neighbours of SWE-Touch and SWE-Shift define, over many runs: figures of runs
 * (questions asked, corrections by the user, milestones, what a scenario's "figures" say) and what another history of
 * the same specification costs (SpecPath's conditional path violation). */
#ifndef STUDY_PROTOCOL_H
#define STUDY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "study/table.h"

/* A named number of one run. */
struct protocol_figure {
	char *name;
	double value;
};

/* A test of FAIL_TO_PASS in its verdict: a probe of what was asked for. */
struct protocol_probe {
	char *name;
	bool passed;
};

struct protocol_run {
	char *source;   /* run directory, for messages */
	char *system;   /* agent, "/" and model when there is one */
	char *scenario; /* "" = none; the history of a specification */
	char *instance_id;
	char *pair_digest; /* of the plan without its condition: equal = the same task and agent */
	char *verifier_digest; /* of what decides the verdict; "" = not graded */
	uint64_t repeat;
	bool graded, resolved; /* graded: resolved or unresolved */
	struct protocol_probe *probe;
	size_t n_probes, cap_probes;
	struct protocol_figure *figure;
	size_t n_figures, cap_figures;
};

/* Many of them; owns them. */
struct protocol_runs {
	struct protocol_run *v;
	size_t n, cap;
};

/* Add run directory @dir: run.json, and verdict.json and strict.json where they are. 0 or -ERR_INPUT. */
int protocol_add(const char *dir, struct protocol_runs *out, struct err *err);

/* Free; {0} is fine. */
void protocol_done(struct protocol_runs *r);

/* Names of the tables, ended by NULL: "figures", "paths". */
extern const char *const protocol_tables[];

/* Make table @which of @r, which is sorted by this. NULL: nothing for it, with *ret_why (static), or the same run is
 * there twice, which -ERR_INPUT in *ret_rc and @err say. Free with table_free(). */
struct table *protocol_table(struct protocol_runs *r, const char *which, const char **ret_why,
			     int *ret_rc, struct err *err);

#endif

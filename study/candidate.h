/* A candidate user edit ("proctor.candidate/1", the nine fields of SWE-Touch): read, checked in form, and
 * turned into a scenario. Its text stems from a model. */
#ifndef STUDY_CANDIDATE_H
#define STUDY_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/scenario.h"
#include "profiles/task.h"

struct candidate {
	char *instance_id, *candidate_id;
	char *diff;            /* git diff text of the user's edit alone */
	struct region *region; /* owned: target_regions, at least one */
	size_t n_regions;
	char *user_message; /* the user's claim, one or two sentences */
	char *wrong_belief; /* what the user mistakenly holds to be true */
	char *why_it_looks_plausible;
	char *expected_failure_mode;
	char *self_check; /* raw JSON: advisory, only the gate decides */
	char *generator;  /* raw JSON: who made it, with the digest of the prompt; NULL = unknown */
};

#define CANDIDATE_LINES_MAX 200u /* added and removed lines of a user's edit */
#define CANDIDATE_FILES_MAX 5u

/* Read a candidate text of @n bytes that came from @name. 0 or -ERR_INPUT with the place. Free with
 * candidate_done(). */
int candidate_parse(const char *name, const char *text, size_t n, struct candidate *ret,
		    struct err *err);

/* Free; {0} is fine. */
void candidate_done(struct candidate *c);

/* Print it. */
void candidate_print(const struct candidate *c, struct buf *out);

/* Is @path no implementation by its name (mine_noise())? User edits leave such files alone. */
bool candidate_is_noise(const char *path);

/* Form: the diff applies to the base tree's files, changes something, is small, touches no test, metadata,
 * verifier file or path of the task's hidden globs, stays in implementation files. 1 good, 0 not (*ret_reason,
 * one line for the next attempt, owned by the caller), negative on error. */
int candidate_check(const struct candidate *c, const struct task *task, char **ret_reason,
		    struct err *err);

/* The scenario made of it, as proctor.scenario/1 text: critical regions @regions, K rounds, mode. The edit is
 * written into the text itself. @c->diff NULL or @mode message: messages only. K rounds are firings of one
 * intervention: the first at a read or an edit, later ones at edits; a Co-Edit has one. */
void candidate_scenario(const struct candidate *c, const char *id, enum scenario_mode mode,
			uint64_t rounds, const struct region *regions, size_t n_regions,
			struct buf *out);

#endif

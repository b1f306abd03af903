/* User edits made without a model: operators as rows change one place of a file near what the task is about,
 * and say in a user's words what they did. Pure: from bytes to bytes; whether an edit is any good is for the
 * gate to say. */
#ifndef STUDY_MUTATE_H
#define STUDY_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiles/scenario.h"
#include "verifier/basetree.h"

#define MUTATE_SMALL  25u  /* lines that an edit adds; more is tried later */
#define MUTATE_PER_OP 200u /* edits that one operator may propose for one file */
#define MUTATE_CLEAR  3u   /* unchanged lines to the reference: then either can go first */

/* A file of the base tree. All borrowed. */
struct mutate_source {
	const char *path;
	const char *text;
	size_t n;
	const char *after; /* with the reference; NULL = the reference does not touch it */
	size_t n_after;
	const struct basetree_hunk *hunk; /* the reference's changes */
	size_t n_hunks;
	const struct region *region; /* of all files; those of others are passed over */
	size_t n_regions;
};

struct mutant {
	const char *op; /* static: name of the operator */
	char *path;     /* owned, as all below */
	char *after;    /* new contents of the file */
	size_t n_after;
	uint64_t start, end; /* lines of the base that it is about */
	uint64_t line;       /* first base line that it changes, or that it is put in front of */
	uint64_t apart;      /* unchanged lines between it and the nearest change of the reference,
			      * UINT64_MAX when the reference leaves the file alone */
	uint64_t lines;      /* that it adds */
	char *claim;         /* the user's words */
	char *belief, *plausible, *expected;
	unsigned rank; /* of its operator: lower is tried first */
	uint64_t key;  /* order among those of its operator, by the seed */
};

struct mutants {
	struct mutant *v; /* owned */
	size_t n, cap;
};

/* Name and one line of text of operator @i, in the order in which they are tried; NULL behind the last. */
const char *mutate_op_name(size_t i);
const char *mutate_op_doc(size_t i); /* see mutate_op_name() */

/* Add the edits of every operator for one file to *out ({0} at first). Files of a language without a row give
 * none. Same inputs, same edits. Free with mutants_done(). */
void mutate_file(const struct mutate_source *src, uint64_t seed, struct mutants *out);

/* Put them in the order in which they should be tried: clear of the reference first, one of each operator in
 * turn (what adds more than MUTATE_SMALL lines a turn later), by the seed within an operator. */
void mutate_order(struct mutants *m);

/* Free; {0} is fine. */
void mutants_done(struct mutants *m);

#endif

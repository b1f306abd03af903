/* Inside of the mutation operators: what an operator is given, and how it proposes an edit. */
#ifndef STUDY_MUTATE_INTERNAL_H
#define STUDY_MUTATE_INTERNAL_H

#include "base/buf.h"
#include "study/code.h"
#include "study/mutate.h"

#define MUTATE_TEXT_MAX (8u << 20) /* bytes of a changed file */
#define MUTATE_SPLICES  16

/* Bytes [at, at + del) give way to @text. In rising order, apart. */
struct splice {
	size_t at, del;
	const char *text; /* borrowed */
};

/* What a user says: with {fn}, {old}, {new} filled in. */
struct mutate_words {
	const char *claim, *belief, *plausible, *expected;
};

struct mutator;

struct mutate_op {
	const char *name, *doc;
	void (*make)(struct mutator *m);
	struct mutate_words words;
};

/* A condition that the reference adds: how the released state differs from the repaired one. */
struct mutate_guard {
	char *cond;               /* owned: its text */
	char *result;             /* owned: what is returned then, "" when it is something else */
	const struct code_fn *fn; /* of the base, in which it is put */
};

struct mutator {
	const struct mutate_source *src;
	struct code code,
		after; /* owned; after is empty when the reference leaves the file alone */
	bool *scope;   /* owned, by line: near what the task is about */
	struct mutate_guard *guard; /* owned */
	size_t n_guards;
	const struct mutate_op *op;
	const struct code_fn *about; /* function that the proposals are about, NULL = by the line */
	unsigned rank, made;
	uint64_t seed;
	struct mutants *out;
};

/* The rows, ended by a NULL name, in the order in which they are tried. */
extern const struct mutate_op mutate_ops[];

/* Propose an edit: @n splices; @old and @new are filled into the operator's words (NULL: ""). It is passed
 * over when nothing changes, when it overlaps what the reference changes, or when the operator has made
 * enough. */
void mutate_propose(struct mutator *m, const struct splice *s, size_t n, const char *old,
		    const char *new);

/* Is @line near what the task is about? */
bool mutate_near(const struct mutator *m, uint64_t line);

/* Does function @f hold a change of the reference? */
bool mutate_repaired(const struct mutator *m, const struct code_fn *f);

/* Operators on single places (mutate_small.c). */
void mutate_flip(struct mutator *m);
void mutate_bound(struct mutator *m);    /* see mutate_flip() */
void mutate_swap(struct mutator *m);     /* see mutate_flip() */
void mutate_drop(struct mutator *m);     /* see mutate_flip() */
void mutate_constant(struct mutator *m); /* see mutate_flip() */
void mutate_key(struct mutator *m);      /* see mutate_flip() */
void mutate_default(struct mutator *m);  /* see mutate_flip() */

/* Operators that put something in (mutate_guard.c, mutate_copy.c). */
void mutate_early(struct mutator *m);
void mutate_filter(struct mutator *m);   /* see mutate_early() */
void mutate_restore(struct mutator *m);  /* see mutate_early() */
void mutate_redirect(struct mutator *m); /* see mutate_early() */
void mutate_own(struct mutator *m);      /* see mutate_early() */

/* Fill m->guard from what the reference adds; mutate_guards_done() frees. */
void mutate_guards(struct mutator *m);
void mutate_guards_done(struct mutator *m); /* see mutate_guards() */

/* One level of indentation of function @f's language and style. Caller frees. */
char *mutate_unit(const struct mutator *m, const struct code_fn *f);

#endif

/* Making a user edit and proving it: shared by the ways in which one comes about (operators, a model, an
 * agent). A candidate is checked in form, gated in fresh boxes, and written out with everything that led to it. */
#ifndef SUPERVISOR_CRAFT_H
#define SUPERVISOR_CRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"
#include "profiles/task.h"
#include "study/candidate.h"
#include "supervisor/secret.h"
#include "verifier/basetree.h"
#include "verifier/gate.h"
#include "verifier/screen.h"
#include "verifier/syntax.h"

struct janitor;

#define CRAFT_ROUNDS 3u /* K of the scenarios that are written (SWE-Touch's default) */

/* What the command line says. Borrowed. */
struct craft_options {
	const char *task, *regions, *agent, *model, *profile, *out;
	const char *const
		*set; /* profile fields of the generator's runs, NULL-terminated or NULL */
	bool co;      /* a Co-Edit */
	bool mutate;
	uint64_t seed, attempts, want, steps, repeats;
};

/* One attempt, as attempts.jsonl has it. {0} and .by is a fresh one. */
struct craft_attempt {
	uint64_t n;
	const char *by;   /* operator, or the agent's name; borrowed */
	const char *path; /* place of an operator's edit, NULL otherwise; borrowed */
	uint64_t line;
	char *form;       /* owned: what is wrong with its form; NULL: nothing, or not looked at */
	char *syntax_why; /* owned, NULL = not asked */
	enum syntax_verdict syntax;
	const char *stage; /* static: the check that said no before the gate, NULL none */
	bool screened;     /* visible is known */
	enum screen_visible visible;
	const char *gate;      /* static: the gate's verdict, NULL = it did not come to that */
	char *reason;          /* owned: why it was refused, one line; NULL when accepted */
	char diff[DIGEST_HEX]; /* digest of the diff, "" = there is none */
	char *id;              /* owned: of the scenario, NULL = refused */
	char *run; /* owned: run directory of the generator, below the output directory; NULL */
};

/* What is common to all attempts. */
struct craft {
	const struct craft_options *o;
	char *dir;                       /* owned: absolute */
	struct task *task;               /* owned */
	struct profile *verify;          /* owned: policy of the grading boxes */
	struct janitor *janitor;         /* owned */
	struct basetree *base;           /* owned */
	struct basetree_patch reference; /* owned */
	struct region *region;           /* owned: critical regions */
	size_t n_regions;
	char *prompt, *prompt_name; /* owned: the prompt file */
	char prompt_sha256[DIGEST_HEX];
	struct secret key; /* the model's, taken before the first run */
	bool has_key;
	struct screener screener;
	uint64_t attempts, accepted;
	uint64_t overridden,
		unresolved; /* refusals: the reference wins over the edit; it fails alone */
	int log;            /* attempts.jsonl */
	void (*said)(void *arg,
		     const struct craft_attempt *a); /* told of every attempt; may be NULL */
	void *arg;
};

/* Load everything, make the output directory. 0 or negative. Free with craft_done() in either case. */
int craft_begin(struct craft *c, const struct craft_options *o, struct err *err);

/* Free. */
void craft_done(struct craft *c);

/* Check a candidate in form and gate it; write it out when it is accepted; record the attempt. @cand is left
 * as it is but for its ids. The reason of a refusal is added to @reasons (may be NULL). 1 accepted, 0 refused,
 * negative on error. */
int craft_judge(struct craft *c, struct candidate *cand, struct craft_attempt *a,
		struct strv *reasons, struct err *err);

/* Record an attempt that was refused before that, and free what it owns. 0 or negative. */
int craft_record(struct craft *c, struct craft_attempt *a, struct err *err);

/* Write a scenario with messages only, since no edit was accepted. *ret_reason (static) is the reason, in the
 * words of SWE-Touch's release. 0 or negative. */
int craft_fallback(struct craft *c, const char **ret_reason, struct err *err);

/* Attempts by operators until enough are accepted (craft_mutate.c). 0 or negative. */
int craft_by_operators(struct craft *c, struct err *err);

/* Attempts by a model or an agent (craft_ask.c). 0 or negative. */
int craft_by_asking(struct craft *c, struct err *err);

#endif

/* The seven failure types of SWE-Touch by rule, each with its evidence and a confidence; a person's word
 * overrides the rule's, and how far both agree is reported. */
#ifndef STUDY_LABEL_H
#define STUDY_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/task.h"
#include "study/behave.h"
#include "verifier/rundir.h"

enum failure {
	FAILURE_NONE, /* resolved, or no result */
	FAILURE_RETAINED_CONFLICT,
	FAILURE_INCORRECT_REPLACEMENT,
	FAILURE_INCOMPLETE_RECONCILIATION,
	FAILURE_OFF_TARGET,
	FAILURE_INSUFFICIENT_EVIDENCE,
	FAILURE_VERIFICATION_BREAKDOWN,
	FAILURE_OTHER,
	FAILURE_MAX
};

/* "retained_conflict", ...; FAILURE_NONE is "none". Static. */
const char *failure_name(enum failure f);

/* Name to value; FAILURE_MAX when there is none. */
enum failure failure_find(const char *name);

struct label {
	enum failure failure;
	double confidence;           /* 0..1 */
	char *why;                   /* owned: one sentence */
	struct json_array evidence;  /* of uint64_t: trace records that show it */
	enum failure human;          /* FAILURE_MAX = nobody said */
	char *human_by, *human_note; /* owned, NULL = none */
};

/* The rule's label of a run that was graded. @task gives the reference patch. 0 or negative. Free with
 * label_done(). */
int label_of(const struct rundir *rd, const struct behave *b, const struct task *task,
	     struct label *ret, struct err *err);

/* Free; {0} is fine. */
void label_done(struct label *l);

/* behaviour.json ("proctor.behaviour/1") of a run; @l NULL: not graded, label is null. */
void label_json(const struct rundir *rd, const struct behave *b, const struct label *l,
		struct buf *out);

/* Which run a person means: by name, or by what it ran. */
struct label_key {
	char *run; /* name of the run (run.json "id") or of its directory, NULL = by the others */
	char *instance_id; /* task */
	char *model;       /* model, else the agent */
	char *condition;   /* "vanilla", "edit (K=3)", ...; NULL = any */
	uint64_t repeat;   /* 0 = any */
};

/* A person's word on one run: a line of the file. */
struct label_override {
	struct label_key key;
	enum failure label; /* FAILURE_MAX = not filled in */
	char *by, *note;    /* NULL = none */
};

struct label_overrides {
	struct label_override *v; /* owned */
	size_t n, cap;
};

/* Bytes of such a file. */
#define LABEL_FILE_MAX (16u << 20)

/* Read lines of JSON that came from @name. 0 or -ERR_INPUT with file and line; a label that does not exist
 * names the nearest one. Free with label_overrides_done(). */
int label_overrides_parse(const char *name, const char *text, size_t n, struct label_overrides *ret,
			  struct err *err);

/* The same from a file ("-" is standard input). */
int label_overrides_load(const char *path, struct label_overrides *ret, struct err *err);

/* Free; {0} is fine. */
void label_overrides_done(struct label_overrides *o);

/* What the run of @rd is called. Free with label_key_done(). */
void label_key_of(const struct rundir *rd, struct label_key *ret);

/* Free; {0} is fine. */
void label_key_done(struct label_key *k);

/* Put the person's word on run @key into @l: the last line that fits. True when there is one. */
bool label_override(const struct label_overrides *o, const struct label_key *key, struct label *l);

/* A line for a person to fill in (label, by, note are null). */
void label_template(const struct label_key *key, const struct label *l, struct buf *out);

/* How far rule and person agree. */
struct label_agreement {
	uint64_t table[FAILURE_MAX][FAILURE_MAX]; /* [rule][human] */
	uint64_t n, same;
	double kappa; /* Cohen's; NAN when undefined */
};

/* Count @n labels; those without a person's word are left out. */
void label_agree(const struct label *v, size_t n, struct label_agreement *ret);

#endif

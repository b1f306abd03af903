/* Predicates over the trace of a run: what must have happened, must not have, and in which order
 * (docs/predicates.md). Parsed from JSON, decided in one pass over trace.jsonl with memory that does not grow with
 * the records' size: of each match one bit per record is kept. Everything in a run directory may stem from the
 * agent. */
#ifndef VERIFIER_PRED_H
#define VERIFIER_PRED_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* Hard maxima of one set of predicates and of the trace it is asked about. */
#define PRED_RECORDS_MAX (1u << 24) /* later records are not looked at; pred_facts.cut is set */
#define PRED_NODES_MAX   1024u
#define PRED_MATCHES_MAX 256u
#define PRED_STEPS_MAX   64u /* of one order */
#define PRED_DEPTH_MAX   16  /* of all, any, not and of references */
#define PRED_PROOF_MAX   16  /* record numbers that one part cites; the rest is counted */

/* Life: pred_set_new() -> pred_parse() of all -> pred_scan() once -> pred_eval() -> pred_set_free(). */
struct pred_set;

/* One predicate. Owned by its set. */
struct pred;

/* Arm of a pair that a predicate is asked in. */
enum pred_arm { PRED_BOTH, PRED_CLEAN, PRED_SHIFTED };

/* What a JSON value is read as. */
enum pred_as {
	PRED_AS_ANY, /* a predicate: an object with one of the keys of pred_docs("predicate") */
	PRED_AS_OBSERVATION, /* {"any_of": [M...]}: after update, before first_mutation */
	PRED_AS_ORDER, /* {"order": [...]} or the array alone; after update unless it says otherwise */
	PRED_AS_MILESTONES, /* the array of an order, of which as many as possible count */
};

/* Numbers of trace records that show something. */
struct pred_records {
	uint64_t v[PRED_PROOF_MAX];
	size_t n;
	uint64_t total; /* how many there are */
};

/* One part of the answer: the predicate itself (depth 0), then what it is made of. */
struct pred_part {
	unsigned depth;
	char *asked; /* owned: the part's JSON, or its name */
	bool ok;
	char *reason;    /* owned: one sentence, with the records */
	bool windowed;   /* after and before are set */
	uint64_t after;  /* the window lies behind this record (0 = the beginning) ... */
	uint64_t before; /* ... and in front of this one (UINT64_MAX = the end) */
	struct pred_records records; /* that prove it, or (of a prohibited thing) show it */
	struct pred_records outside; /* that match but do not lie in the window */
};

/* Answer to one predicate. */
struct pred_finding {
	struct pred_part *v; /* owned */
	size_t n, cap;
};

/* What the pass over the trace found beside the predicates. Record numbers; 0 = there was none. */
struct pred_facts {
	uint64_t last_n;
	bool ended;     /* the `end` record is there and is the last */
	bool cut;       /* the last line was cut, or there are more than PRED_RECORDS_MAX records */
	bool gap;       /* numbers are not 1, 2, 3, ... */
	uint64_t forks; /* how many `fork` records */
	uint64_t fork;  /* the last of them: what stands before it is the prefix */
	bool fork_arm_ok; /* it names an arm */
	enum pred_arm fork_arm;
	uint64_t fork_call;
	uint64_t update;   /* first applied intervention, behind the fork when there is one */
	uint64_t applied;  /* effects applied behind the fork */
	uint64_t refused;  /* an effect that could not be applied behind it, nor was later */
	char *refused_why; /* owned */
	uint64_t message;  /* an applied message of the update */
	uint64_t told; /* it reached the model (without a model API: it was written to the agent) */
	uint64_t mutation; /* the agent's first change behind the update */
	uint64_t
		mutation_asked; /* the answer that asked for it, or else the command that made it began here */
	uint64_t authority;    /* last `authority` record */
	char *goal, *verifier; /* owned: what it says, NULL = nothing */
};

/* What predicates are asked about. */
struct pred_run {
	const char *dir;     /* run directory: images/ */
	const char *trace;   /* NULL = trace.jsonl in dir */
	const char *workdir; /* of the box, NULL = unknown */
	bool model;          /* the agent has a model API */
	/* Did test @id pass? 1 yes, 0 no, -1 the verdict does not know it. NULL: there is no verdict. */
	int (*test)(void *arg, const char *id);
	/* Contents of workspace file @path in the base: 1 with @out filled, 0 not there, negative on error. NULL:
	 * what the trace does not show is unknown. */
	int (*base)(void *arg, const char *path, struct buf *out, struct err *err);
	void *arg;
};

/* Empty set. Free with pred_set_free(). */
struct pred_set *pred_set_new(void);

/* Free it with all its predicates; NULL is fine. Returns NULL. */
struct pred_set *pred_set_free(struct pred_set *set);

/* Read @item, which stands at JSON path @where of @src, as @as. 0 with *ret (owned by @set) or -ERR_INPUT with the
 * place and the nearest valid choice. Not after pred_scan(). */
int pred_parse(struct pred_set *set, const struct json_src *src, const char *where,
	       const cJSON *item, enum pred_as as, struct pred **ret, struct err *err);

/* Arm it says it is for; PRED_BOTH by default. */
enum pred_arm pred_arm_of(const struct pred *p);

/* Does it speak of the update (a window at fork, update, told or first_mutation, lines of an intervention), so that
 * without one it says nothing? */
bool pred_of_update(const struct pred *p);

/* Its "name", NULL when it has none. Borrowed. */
const char *pred_name(const struct pred *p);

/* Read the trace once for all predicates of @set. A last line that was cut is passed over (pred_facts.cut). 0, or
 * -ERR_INPUT with file and line. What @run points to is borrowed until pred_set_free(). */
int pred_scan(struct pred_set *set, const struct pred_run *run, struct err *err);

/* What the pass found. Borrowed from @set. */
const struct pred_facts *pred_facts(const struct pred_set *set);

/* Decide @p. Parts are appended to @ret, the first of them is the answer. 0, or negative when an image or a base
 * file cannot be read. */
int pred_eval(struct pred_set *set, const struct pred *p, struct pred_finding *ret,
	      struct err *err);

/* ToolSandbox's milestones: how many steps of @p (PRED_AS_MILESTONES) can be matched in an order that respects what
 * each needs, at best. Steps that are left out hold nobody up. As pred_eval(). */
int pred_milestones(struct pred_set *set, const struct pred *p, struct pred_finding *ret,
		    uint64_t *ret_matched, uint64_t *ret_of, struct err *err);

/* Free; {0} is fine. */
void pred_finding_done(struct pred_finding *f);

/* Add a record number. */
void pred_records_add(struct pred_records *r, uint64_t n);

/* One row of the language, for the reference page and its test. */
struct pred_doc {
	const char *key, *doc; /* static */
};

/* Rows of table "predicate", "match", "window", "reference", "step" or "file"; their number in *ret_n. NULL for an
 * unknown table. Caller frees the array. */
struct pred_doc *pred_docs(const char *table, size_t *ret_n);

#endif

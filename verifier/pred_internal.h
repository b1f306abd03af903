/* Pieces of the predicate language. Shared by pred*.c and their tests only. */
#ifndef VERIFIER_PRED_INTERNAL_H
#define VERIFIER_PRED_INTERNAL_H

#include "base/jslice.h"
#include "base/map.h"
#include "base/tracerec.h"
#include "verifier/pred.h"

#define PRED_LIST_MAX       64u   /* entries of a list of texts */
#define PRED_TEXT_MAX       4096u /* bytes of a text, a pattern or a path */
#define PRED_GLOB_MAX       512u  /* bytes of a pattern that has wildcards */
#define PRED_ARGV_MAX       (64u << 10)
#define PRED_STATES_MAX     200000u /* of files that predicates ask for */
#define PRED_CHANGES_MAX    100000u
#define PRED_MILESTONES_MAX 16u
#define PRED_REFUSALS_MAX   1000u

/* A growing set of record numbers, by blocks of which only those in use exist. */
struct pred_bits {
	uint64_t **block; /* owned array of owned blocks */
	size_t n_blocks;
	uint64_t count;
};

/* Add or remove @n (< PRED_RECORDS_MAX). */
void pred_bits_set(struct pred_bits *b, uint64_t n);
void pred_bits_clear(struct pred_bits *b, uint64_t n); /* see pred_bits_set() */

/* The smallest number >= @n; UINT64_MAX when there is none. */
uint64_t pred_bits_next(const struct pred_bits *b, uint64_t n);

/* The greatest number < @n; 0 when there is none (records count from 1). */
uint64_t pred_bits_before(const struct pred_bits *b, uint64_t n);

/* Free; {0} is fine. */
void pred_bits_done(struct pred_bits *b);

/* A pattern of paths and names as str_path_glob() has them, matched in time pattern x path whatever it holds. */
struct pred_glob {
	char *text;     /* owned */
	char *need;     /* owned: the longest piece without wildcards; what lacks it cannot match */
	size_t literal; /* bytes in front of the first wildcard */
	bool wild, tail; /* has wildcards; ends in the only one, "**" behind a slash */
	bool slash;      /* a path, not a plain name */
};

/* Make it of @text (at most PRED_TEXT_MAX bytes, PRED_GLOB_MAX with wildcards). */
void pred_glob_new(struct pred_glob *g, const char *text);

/* Does all of @s match? */
bool pred_glob_match(const struct pred_glob *g, const char *s);

/* Free; {0} is fine. */
void pred_glob_done(struct pred_glob *g);

/* Members of records that anything here looks at. */
enum pred_member {
	PM_N,
	PM_T,
	PM_K,
	PM_PID,
	PM_CMD,
	PM_PATH,
	PM_TO,
	PM_BY,
	PM_CLASS,
	PM_ARGV,
	PM_STATUS,
	PM_SIGNAL,
	PM_TOOL,
	PM_DOES,
	PM_LINES,
	PM_SHOWN,
	PM_SCAN,
	PM_REGION,
	PM_SERVICE,
	PM_EVENT,
	PM_METHOD,
	PM_ROUTE,
	PM_CODE,
	PM_VERSION,
	PM_MUTATING,
	PM_VERDICT,
	PM_HOST,
	PM_PORT,
	PM_HOLDER,
	PM_MESSAGE,
	PM_LOST,
	PM_ENDED,
	PM_CHILD,
	PM_CHILD_CMD,
	PM_ORDER,
	PM_EFFECT,
	PM_APPLIED,
	PM_REASON,
	PM_ARM,
	PM_CALL,
	PM_PRE,
	PM_POST,
	PM_SHA256,
	PM_GOAL,
	PM_VERIFIER,
	PM_WHAT,
	PM_PURPOSE,
	PM_USER,
	PM_RET,
	PM_FLAGS,
	PM_MAX
};

/* A record while it is looked at: its members as slices of the line, texts made when asked for. */
struct pred_rec {
	enum trace_kind kind;
	uint64_t n, pid, cmd;
	uint64_t has; /* bit per member */
	struct jslice v[PM_MAX];
	const char *workdir; /* borrowed */
	/* Made on demand, one line each; owned, reused. */
	struct buf text, path[2], argv;
	bool have_path[2], have_argv;
};

/* Table that finds members by name. */
struct pred_members {
	uint8_t slot[256]; /* member + 1, by hash, open */
};

/* Fill it. */
void pred_members_init(struct pred_members *m);

/* Look at one line of a trace (without its newline): 1 a record of @rec, 0 no record of ours (the header, a later
 * kind), -ERR_INPUT when it is no JSON. Members are only taken when @kinds has the record's kind. Borrows @line until
 * the next call. */
int pred_rec_read(struct pred_rec *rec, const struct pred_members *m, const char *line, size_t n,
		  uint64_t kinds, struct err *err);

/* Whole number of a member, 0 when it is none. */
uint64_t pred_rec_number(const struct pred_rec *rec, enum pred_member m);

/* Text of a member without JSON's and our escapes, "" when it is none. Borrowed until the next call for @rec. */
const char *pred_rec_text(struct pred_rec *rec, enum pred_member m);

/* Path of PM_PATH or PM_TO, relative when it lies in the workspace; "" when there is none. Borrowed until the next
 * record. */
const char *pred_rec_path(struct pred_rec *rec, enum pred_member m);

/* Arguments, each behind a blank; "" when there are none. As pred_rec_path(). */
const char *pred_rec_argv(struct pred_rec *rec);

/* Program: of a command its first argument, of an exec its path. As pred_rec_text(). */
const char *pred_rec_program(struct pred_rec *rec);

/* "lines" (of a read: "shown" when it is there); 0,0 = none said, which stands for all. */
void pred_rec_lines(const struct pred_rec *rec, uint64_t *first, uint64_t *last);

/* SHA-256 of a member into @out, "" when it is none. */
void pred_rec_digest(const struct pred_rec *rec, enum pred_member m, char out[65]);

/* Free what it holds. */
void pred_rec_done(struct pred_rec *rec);

static inline bool pred_rec_has(const struct pred_rec *rec, enum pred_member m)
{
	return rec->has >> m & 1;
}

/* Value of a key of a match. */
struct pred_value {
	struct strv text;
	struct pred_glob *glob; /* owned */
	size_t n_globs;
	uint64_t lo, hi; /* a number (both), lines, or a mask of classes */
	bool flag;
};

struct pred_key_row;

struct pred_key {
	const struct pred_key_row *row; /* static */
	struct pred_value v;
};

/* One object of a match: all keys must hold. */
struct pred_alt {
	uint64_t kinds;       /* bit per enum trace_kind that it can match */
	struct pred_key *key; /* owned */
	size_t n;
	const struct pred_key *status; /* of a command that may end later; in key, NULL = none */
};

/* What is looked for: any of its objects. */
struct pred_match {
	struct pred_alt *alt; /* owned */
	size_t n;
	char *text; /* owned: as written */
	struct pred_bits hits;
};

/* Rows of the keys of a match. As pred_docs(). */
struct pred_doc *pred_match_docs(size_t *ret_n);

/* Answer of a key to a record. */
enum pred_answer { PRED_NO, PRED_YES, PRED_LATER };

/* Read match @item (an object or an array of them) into @m. 0 or -ERR_INPUT. Free with pred_match_done(). */
int pred_match_read(const struct json_src *src, const char *where, const cJSON *item,
		    struct pred_match *m, struct err *err);

/* Does the object match @rec? PRED_LATER: but for the status of the command, which is not known yet; with
 * @status >= 0 (0 ok, anything else failed) it is. */
enum pred_answer pred_alt_test(const struct pred_alt *a, struct pred_rec *rec, int64_t status);

/* Is @status what the object asks for? */
bool pred_alt_status(const struct pred_alt *a, int64_t status);

/* Free; {0} is fine. */
void pred_match_done(struct pred_match *m);

/* Point of a run. */
enum pred_ref_kind {
	REF_START,
	REF_FORK,
	REF_UPDATE,
	REF_TOLD,
	REF_MUTATION,
	REF_END,
	REF_FIRST,
	REF_LAST,
	REF_RECORD,
	REF_MAX
};

struct pred_ref {
	enum pred_ref_kind kind;
	struct pred_match *match;        /* borrowed from the set; first, last */
	struct pred_ref *after, *before; /* owned, NULL = start, end; first, last */
	uint64_t n;                      /* record */
};

struct pred_window {
	struct pred_ref *after, *before; /* owned; NULL = start, end */
	uint32_t at_least, within;       /* ms behind what @after names; 0 = does not matter */
};

/* A step of an order. Steps stand so that each follows what it needs. */
struct pred_step {
	char *id;
	struct pred_match *match; /* borrowed */
	uint64_t needs;           /* bit per step, with what those need */
};

/* The state of a file that is asked for. */
struct pred_file {
	char *path; /* as the workspace has it */
	int exists; /* -1 = does not matter */
	struct strv contains, lacks;
	char *sha256;
	struct pred_ref *at; /* NULL = end */
};

struct pred {
	const struct pred_form *form; /* static */
	char *name, *text;
	enum pred_arm arm;
	bool of_update;
	struct pred **child; /* owned array of borrowed */
	size_t n_children;
	struct pred_match *match; /* borrowed */
	struct pred_window w;
	uint64_t min, max; /* of a count */
	struct pred_step *step;
	size_t n_steps;
	struct pred_file file;
	uint64_t order; /* lines_kept: intervention, */
	char *path;     /* file, NULL = all, */
	double share;   /* and how many of the lines */
	struct strv tests;
	struct strv reached; /* of an observation: texts, one of which the model must have had */
};

/* A form of predicate: one key says which. */
struct pred_form {
	const char *key;
	const char *const *more; /* further keys that go with it, ended by NULL */
	bool window;             /* "after" and "before" go with it */
	int (*read)(struct pred_set *set, const struct json_src *src, const char *where,
		    const cJSON *obj, unsigned depth, struct pred *p, struct err *err);
	/* Decide @p: fill part @at of @f; parts below it are appended. */
	int (*eval)(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err);
	const char *doc;
};

/* What is known of one command of the agent. */
struct pred_cmd {
	uint64_t begin, pid, record; /* record of its spawn; first process; its `command` record */
	uint64_t answer;             /* the model's last answer before it, 0 = none */
	int64_t status;              /* 0 ok, 1..255 exit status, 256 + signal; -1 = not known */
	bool derives;                /* a test or a build */
};

/* A command record that waits for the command's status. */
struct pred_wait {
	uint64_t cmd, n;
	struct pred_match *match;
	const struct pred_alt *alt;
};

/* A state of a file that predicates ask for. */
struct pred_state {
	uint64_t n;
	size_t path;               /* index into set->paths */
	bool first, by_user, says; /* an image; a user's edit; it tells contents */
	char pre[65], post[65];
};

/* The agent changed the workspace, if not as a by-product of a test or build. */
struct pred_change {
	uint64_t n, cmd;
	uint64_t asked; /* answer that asked for it, or the beginning of its command, or @n */
	bool fresh;     /* of a file that the base has not */
};

/* An answer of the model. */
struct pred_call {
	uint64_t n, most; /* record; greatest number of a call that was answered up to there */
};

/* An effect that could not be applied, and has not been since. */
struct pred_refusal {
	uint64_t n, order, effect; /* record; intervention; hash of the effect's kind */
	char *why;                 /* owned */
};

/* An applied effect that may have changed files. */
struct pred_firing {
	uint64_t n, order;
};

struct pred_set {
	struct pred **node; /* owned */
	size_t n_nodes, cap_nodes;
	struct pred_match **match; /* owned */
	size_t n_matches, cap_matches;
	struct pred_match *mutation; /* borrowed: what counts as a change, NULL = the default */
	struct strv paths;           /* whose states are kept */
	bool user_paths;             /* and of those that users edit */
	bool timed;                  /* a window asks for times */
	bool scanned;
	/* of the pass */
	const struct pred_run *run;
	struct pred_members members;
	struct pred_rec rec;
	uint64_t kinds;                      /* of records that are looked into */
	struct pred_match **by_kind[TK_MAX]; /* owned arrays of borrowed */
	size_t n_by_kind[TK_MAX];
	struct map cmd_at; /* command id -> index into cmd + 1 */
	struct pred_cmd *cmd;
	size_t n_cmds, cap_cmds;
	uint64_t answer; /* record of the last answer of the model */
	uint32_t *ms;    /* owned: of each record, never falling; only when timed */
	size_t n_ms, cap_ms;
	struct map begin; /* command record -> its spawn record, as a pointer */
	struct pred_wait *wait;
	size_t n_waits, cap_waits;
	struct pred_state *state;
	size_t n_states, cap_states;
	struct map path_at;  /* hash of a path -> index into paths + 1 */
	struct map new_file; /* hash of a path that the base has not */
	struct map known;    /* hash of a path that was seen followed */
	struct pred_change *change;
	size_t n_changes, cap_changes;
	bool sure; /* the last change is one in any case */
	struct pred_call *call;
	size_t n_calls, cap_calls;
	struct pred_firing *firing;
	size_t n_firings, cap_firings;
	struct pred_refusal *refusal;
	size_t n_refusals, cap_refusals;
	struct pred_facts facts;
};

/* Read a reference. *ret is owned by the caller (pred_ref_free()). */
int pred_ref_read(struct pred_set *set, const struct json_src *src, const char *where,
		  const cJSON *item, unsigned depth, struct pred_ref **ret, struct err *err);

/* Free; NULL is fine. */
void pred_ref_free(struct pred_ref *r);

/* Does it, or what it is made of, speak of the update? */
bool pred_ref_of_update(const struct pred_ref *r);

/* Keys of a window, ended by NULL. */
extern const char *const pred_window_keys[];

/* Read them of @obj. */
int pred_window_read(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *obj, struct pred_window *w, struct err *err);

/* Make a match of @item, owned by the set. 0 or -ERR_INPUT. */
int pred_match_add(struct pred_set *set, const struct json_src *src, const char *where,
		   const cJSON *item, struct pred_match **ret, struct err *err);

/* Read the steps of an order into @p. */
int pred_steps_read(struct pred_set *set, const struct json_src *src, const char *where,
		    const cJSON *item, size_t max, struct pred *p, struct err *err);

/* Keep the states of @path. */
void pred_watch(struct pred_set *set, const char *path);

/* "no key X, did you mean Y?" of the NULL-terminated @choices. Returns -ERR_INPUT. */
int pred_unknown(const struct json_src *src, const char *where, const char *what, const char *key,
		 const char *const *choices, struct err *err);

/* Every form, ended by a NULL key. */
extern const struct pred_form pred_forms[];

/* The form of @as; NULL for PRED_AS_ANY, where a key says which. */
const struct pred_form *pred_form_as(enum pred_as as);

/* Read a predicate at nesting @depth (0 = top). As pred_parse(). */
int pred_node_read(struct pred_set *set, const struct json_src *src, const char *where,
		   const cJSON *item, enum pred_as as, unsigned depth, struct pred **ret,
		   struct err *err);

/* Decide @p and append its parts, the first at @depth. As pred_eval(). */
int pred_node_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f,
		   unsigned depth, struct err *err);

/* Rows of the references. As pred_docs(). */
struct pred_doc *pred_point_docs(size_t *ret_n);

/* Where a window lies in the run. */
struct pred_span {
	uint64_t after, before;
	uint64_t from,
		to;      /* records of the references; times may have narrowed what lies between */
	bool empty;      /* what it is behind of never happened */
	const char *why; /* static: which point is missing, NULL = none */
};

/* Place of @w. */
void pred_span_of(const struct pred_set *set, const struct pred_window *w, struct pred_span *ret);

/* The first record of @m in the window behind record @from; UINT64_MAX = none. A command lies in a window when it
 * began and ended in it. */
uint64_t pred_span_next(const struct pred_set *set, const struct pred_match *m,
			const struct pred_span *s, uint64_t from);

/* Record at which what record @n tells began: a command's spawn, otherwise @n. */
uint64_t pred_begin(const struct pred_set *set, uint64_t n);

/* Digest of @path just before record @n (UINT64_MAX = at the end): "" = not there, NULL = not known. Borrowed. */
const char *pred_state_at(const struct pred_set *set, const char *path, uint64_t n);

/* Evaluators that need contents. As pred_form.eval. */
int pred_file_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err);
int pred_kept_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err); /* see pred_file_eval() */

/* Evaluators of matches. As pred_form.eval. */
int pred_exists_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		     struct err *err);
int pred_absent_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		     struct err *err); /* see pred_exists_eval() */
int pred_count_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err); /* see pred_exists_eval() */
int pred_order_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err); /* see pred_exists_eval() */
int pred_seen_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err); /* see pred_exists_eval() */

/* The last call of the model that was answered up to record @n; 0 = none. */
uint64_t pred_call_at(const struct pred_set *set, uint64_t n);

/* For each of @texts the first call, up to @last, whose request (the client's body in model.jsonl of run directory
 * @dir, docs/formats.md) holds it, whatever layers of JSON strings it stands in: into @first, which has room for them
 * all; UINT64_MAX = none has. 0 or -ERR_INPUT. */
int pred_reached(const char *dir, const struct strv *texts, uint64_t last, uint64_t *first,
		 struct err *err);

/* The same of one @line of the file, which is called @name: lowers @first. */
int pred_reached_line(const struct strv *texts, const char *name, const char *line, size_t n,
		      uint64_t last, uint64_t *first, struct err *err);

/* Add part @asked (copied) below depth @depth. Its index. */
size_t pred_part_add(struct pred_finding *f, unsigned depth, const char *asked);

/* Set the reason of a part (printf). */
void pred_part_say(struct pred_finding *f, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Kinds as a mask from names. */
#define PRED_KIND(k) (1ull << (k))

#endif

/* What the rules ask. Shared by label*.c and its tests only. */
#ifndef STUDY_LABEL_INTERNAL_H
#define STUDY_LABEL_INTERNAL_H

#include "study/label.h"
#include "verifier/difflines.h"

/* Lines within which a change counts as at a place, and as near it. */
enum { LABEL_AT = 3, LABEL_NEAR = 10 };

/* Everything the rules look at, as numbers. */
struct label_facts {
	bool graded;     /* there is a verdict.json */
	bool unresolved; /* and its verdict is "unresolved" */
	char *verdict;   /* owned: its name; NULL when there is none */
	uint64_t f2p, f2p_passed, p2p, p2p_passed;
	uint64_t tampered; /* changes of tests and caches that were undone */
	bool cut;          /* files of the run are cut, or it never came to an end */
	char *limit;       /* owned: why it was ended from outside, NULL = its own end */
	bool landed, known;
	enum response response;
	bool standing; /* lines of a user edit stand in the end (or what it took out is missing) */
	bool mostly_standing;           /* at least half of the final edit */
	uint64_t lines, lines_standing; /* of the final edit, telling ones */
	uint64_t all_standing;          /* of all user edits */
	bool has_reference;
	uint64_t places, places_done, places_touched; /* of the reference */
	uint64_t own, own_near; /* changes of the agent; those near reference or edit */
	bool acted;     /* the agent edited after the final user edit (or at all, without one) */
	uint64_t tests; /* test actions after the agent's last edit */
	int last_test;  /* wait status of the last of them, -1 unknown */
	uint64_t last_edit_n, last_test_n, end_n;
};

/* Gather the facts. 0 or negative. Free with label_facts_done(). */
int label_facts_of(const struct rundir *rd, const struct behave *b, const struct task *task,
		   struct label_facts *ret, struct err *err);

/* Free; {0} is fine. */
void label_facts_done(struct label_facts *f);

/* A rule: the first one that holds gives the type. */
struct label_rule {
	const char *name;
	enum failure failure;
	double confidence;
	bool (*holds)(const struct label_facts *f);
	char *(*why)(const struct label_facts *f); /* one sentence, caller frees */
	unsigned evidence;                         /* bits of enum label_evidence */
	const char *doc;
};

enum label_evidence {
	LABEL_SHOW_EDIT = 1,   /* the final user edit */
	LABEL_SHOW_NOTICE = 2, /* where the agent first saw or changed it */
	LABEL_SHOW_OWN = 4,    /* the agent's last edit */
	LABEL_SHOW_TEST = 8,   /* its last test */
	LABEL_SHOW_END = 16    /* the last record */
};

/* Rows, ended by a NULL name. The last one always holds. */
extern const struct label_rule label_rules[];

#endif

/* What the agent did after the user's edit ("proctor.behaviour/1"), from the trace: SWE-Touch Figure 5, and
 * further. Pure: from a loaded run to a record. */
#ifndef STUDY_BEHAVE_H
#define STUDY_BEHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "verifier/linefate.h"
#include "verifier/rundir.h"

/* What became of the edit in the final tree. */
enum response {
	RESPONSE_NONE,
	RESPONSE_KEPT,
	RESPONSE_REVISED,
	RESPONSE_REVERTED,
	RESPONSE_REPLACED
};

/* "none", "kept", "revised", "reverted", "replaced". Static. */
const char *response_name(enum response r);

/* One edited file of the final user edit. */
struct behave_file {
	char *path;
	struct linefate fate;
	enum response response;
	bool known; /* the images that decide it were kept */
};

/* One user edit (a firing; it may change several files), up to the next one or the end. */
struct behave_round {
	uint64_t n;     /* trace record of its last file */
	uint64_t files; /* files it changed */
	uint64_t reads, searches, edits, tests, others;
	enum response response; /* right before the next user edit; of the last one: in the end */
};

/* A line that a user's edit brought and that stands in the final tree. */
struct behave_line {
	char *path;
	uint64_t at; /* line of the final contents */
	bool bare;
};

/* Where a user's edit was, in lines of the base tree. */
struct behave_place {
	char *path;
	uint64_t first, last;
};

#define BEHAVE_ROUNDS_MAX                                                                          \
	64u /* rounds that are looked at one by one; the last is always among them */

struct behave {
	bool landed;               /* at least one user edit was applied */
	uint64_t first_n, final_n; /* trace records of the first and the final user edit */
	uint64_t rounds;           /* user edits applied */
	uint64_t reads, searches, edits, tests, others; /* actions after the final user edit */
	enum response response;
	bool reopened;     /* the region was read again after the final edit */
	bool reread_first; /* ... and that before the agent's next edit of that file (or the end) */
	bool tested;       /* a test action after the last change of the region */
	uint64_t tests_after_change;
	bool noticed; /* the agent read the edited lines, or edited them, after the edit */
	uint64_t
		notice_steps; /* model calls (actions without a model) from the final edit to that */
	uint64_t notice_ns;
	bool told;                /* the message reached the model */
	bool revised;             /* the agent revised or removed the final edit before the end */
	bool known;               /* the images that decide the response were kept */
	struct behave_file *file; /* owned: files of the final edit */
	size_t n;
	struct behave_round *round; /* owned */
	size_t n_rounds;
	struct behave_line *standing; /* owned: of all user edits, by path and line, each once */
	size_t n_standing;
	struct behave_place *place; /* owned: of all user edits whose images were kept */
	size_t n_places;
	uint64_t standing_telling; /* how many of them are not bare */
	uint64_t noticed_n;        /* trace record where it was noticed, 0 = never */
	uint64_t last_change_n;    /* last change of the region: by the agent, or the final edit */
	uint64_t last_edit_n; /* last edit that the agent made after the final edit, 0 = none */
	int last_test; /* wait status of the last test after the last change, -1 unknown or none */
};

/* Work it out. 0 or negative (an image that cannot be read). Free with behave_done(). */
int behave_of(const struct rundir *rd, struct behave *ret, struct err *err);

/* Free; {0} is fine. */
void behave_done(struct behave *b);

/* Members of behaviour.json for @b, into an object that is open already. */
void behave_json(const struct behave *b, struct json_w *w);

#endif

/* Command by command: what the released rule swe-touch-1.0 reads from a command's text, and what the kernel saw
 * that command do, per region. Made from a run directory alone; the commands' texts are the agent's. */
#ifndef VERIFIER_COMPARE_H
#define VERIFIER_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/scenario.h"
#include "verifier/rundir.h"

/* Why one side saw a touch and the other did not; names and texts in compare.c's rows. */
enum compare_reason {
	COMPARE_AGREE,
	/* only the released rule */
	COMPARE_EDIT_NO_LINES, /* its edits have no lines: the file was changed elsewhere */
	COMPARE_NO_CHANGE,     /* it takes the command for an edit, the contents stayed */
	COMPARE_WHOLE_FILE,    /* its read has no lines, other lines were read */
	COMPARE_NOT_OPENED,    /* the text names the file, nobody opened it */
	COMPARE_BY_OUTPUT,     /* a search: its output counts there, its open is a scan here */
	/* only the kernel */
	COMPARE_NO_DOT, /* a name without a dot is never edited there */
	COMPARE_UNNAMED, /* the text does not name the file: computed, globbed, behind cd or in a script */
	COMPARE_PROGRAM, /* a test, build or version control program did it */
	COMPARE_UNREAD,  /* the text names it in a form that the rule does not read */
	COMPARE_REASON_MAX
};

/* "agree", "edit-without-lines", ... Static. */
const char *compare_reason_name(enum compare_reason r);

/* One sentence for people. Static. */
const char *compare_reason_text(enum compare_reason r);

/* One action and one region that at least one side saw touched. */
struct compare_row {
	const struct rundir_action *action; /* borrowed from the rundir */
	uint64_t region;
	bool released_read, released_edit;
	uint64_t released_first, released_last; /* its lines; 0,0 = it has none */
	bool open, bytes, argv,
		edit; /* what each level of ours says; argv: what counts as a read there */
	bool changed; /* the action changed the file, in the region or elsewhere */
	bool scan;    /* some of it was by a scan, which does not count */
	uint64_t first,
		last; /* lines of the region that the kernel saw touched; 0,0 = all or none */
	enum compare_reason reason;
};

struct compare {
	struct compare_row *v; /* owned, in the order of the actions */
	size_t n, cap;
	struct region *region; /* owned: the scenario's regions as plan.json has them */
	size_t n_regions;
	uint64_t actions; /* of the run */
	/* Cells action x region: both, only released, only kernel, neither. "Kernel" is a counted read at
	 * level argv, or an edit of its lines. */
	uint64_t both, released, kernel, neither;
};

/* Compare the run @rd. 0, or -ERR_INPUT when its plan.json is missing or has no regions. Free with
 * compare_done() before the rundir. */
int compare_run(const struct rundir *rd, struct compare *ret, struct err *err);

/* Free; {0} is fine. */
void compare_done(struct compare *c);

/* Cohen's kappa of both rules over all cells; NAN when undefined. */
double compare_kappa(const struct compare *c);

/* First row at which the released rule (@released) or ours would fire for @event (read, edit or
 * read_or_edit); NULL = never. */
const struct compare_row *compare_first(const struct compare *c, bool released,
					enum when_event event);

#endif

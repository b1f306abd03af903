/* What `proctor study` shows while it works: a block of lines that is written over itself on a terminal, one line for each
 * event elsewhere, or objects for programs. */
#ifndef SUPERVISOR_STUDYSHOW_H
#define SUPERVISOR_STUDYSHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "study/sched.h"

enum studyshow_form { STUDYSHOW_LINES, STUDYSHOW_TERMINAL, STUDYSHOW_JSON, STUDYSHOW_QUIET };

struct studyshow {
	enum studyshow_form form;
	struct study_limits limits;
	unsigned drawn;  /* lines of the block that stand on the terminal */
	uint64_t ticked; /* clock_mono() of the last tick that was told */
};

/* For struct sched_options; @arg is a struct studyshow. */
void studyshow_tell(void *arg, enum sched_what what, const struct journal_cell *cell,
		    const char *text, const struct sched_state *st);

/* Take the block away, so that what comes next stands on a line of its own. */
void studyshow_clear(struct studyshow *s);

#endif

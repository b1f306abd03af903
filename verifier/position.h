/* Positions of a recorded run at which it can be continued: after a fraction of its actions, after an action by its
 * number, or at a named anchor. A continuation begins between two requests to the model, so that a position
 * is the number of answers of the main conversation that are taken from the record. */
#ifndef VERIFIER_POSITION_H
#define VERIFIER_POSITION_H

#include <stdint.h>

#include "base/err.h"
#include "verifier/rundir.h"

struct position {
	char text[32];    /* as given: "0.3", "12", "before-first-edit" */
	double fraction;  /* of the actions; of an action or anchor: what it comes to */
	uint64_t action;  /* the last action of the prefix, from 1; 0 = none */
	uint64_t actions; /* of the whole record */
	uint64_t call;    /* answers of the main conversation in the prefix */
	uint64_t calls;   /* of the whole record */
};

/* Names of the anchors, NULL-terminated. */
extern const char *const position_anchors[];

/* The nine fractions "0.1" ... "0.9", NULL-terminated. */
extern const char *const position_nine[];

/* Where @text is in the run @rd. 0, -ERR_USAGE for a text that is no position (with the nearest
 * anchor), -ERR_INPUT when the run has no such place. */
int position_find(const struct rundir *rd, const char *text, struct position *ret, struct err *err);

#endif

/* The ladder of state access: how much of an update's state the agent is told. Every step says what the one before
 * says and more. What is said is made of the scenario's own effects, so that the same scenario says the same words in
 * every run. Pure: from a scenario and a step to text. */
#ifndef TRIGGERS_LADDER_H
#define TRIGGERS_LADDER_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/scenario.h"

enum ladder_step {
	LADDER_A0, /* nothing beside what the scenario says itself */
	LADDER_A1, /* that something changed */
	LADDER_A2, /* which files, processes, ports, services */
	LADDER_A3, /* the difference, or what it is now */
	LADDER_A4, /* what was seen before is out of date: look and test again before changing anything */
	LADDER_A5, /* what must be kept */
	LADDER_MAX
};

/* "A0" ... "A5", NULL. */
extern const char *const ladder_names[];

/* The step called @name; NULL is A0. 0, or -ERR_USAGE with the names. */
int ladder_find(const char *name, enum ladder_step *ret, struct err *err);

/* Append what the user says at @step when intervention number @i (from 0) of @s is made. Nothing for A0, and for
 * an intervention that changes nothing. At most MESSAGE_MAX bytes: a long difference is cut at a line, and says so. */
void ladder_text(const struct scenario *s, size_t i, enum ladder_step step, struct buf *out);

/* Put the message of @step behind the effects of every intervention of @s, as one more message effect with a fixed
 * text. Call it on a plan's scenario when the condition is set. 0; -ERR_USAGE for a step above A0 without a
 * scenario (@s NULL) or in a mode without messages; -ERR_INPUT when a text would give the experiment away (see
 * message_refused()). */
int ladder_set(struct scenario *s, enum ladder_step step, struct err *err);

#endif

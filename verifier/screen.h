/* A quick look at a user's edit before the gate: does it do what its kind must do, and would anybody see it
 * from the tests that are there? */
#ifndef VERIFIER_SCREEN_H
#define VERIFIER_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/profile.h"
#include "profiles/task.h"

struct janitor;

/* What the tests that the agent can see say of the edit alone. */
enum screen_visible {
	VISIBLE_UNKNOWN, /* there are none that can be told apart */
	VISIBLE_GREEN,   /* all that passed on the base still do */
	VISIBLE_RED,     /* some do not */
	VISIBLE_BROKEN   /* none does: the edit breaks the program, nobody would make it */
};

/* "unknown", "green", "red", "broken". Static. */
const char *screen_visible_name(enum screen_visible v);

/* For many edits of one task. All borrowed. */
struct screener {
	const struct task *task;
	const struct profile *profile;
	struct janitor *janitor; /* may be NULL */
	bool co;                 /* a Co-Edit: edit and reference together must solve the task */
	int base;                /* visible tests of the base: 0 not asked yet, 1 usable, -1 not */
	uint64_t limit; /* ns: wall time of the tests, by what the reference took; 0 = the task's.
			 * An edit may make them go on for ever, and there are many edits */
};

/* Grade the reference alone and set s->limit by it. 1 it solves the task, 0 it does not (*ret_reason, caller
 * frees), negative on error. */
int screen_reference(struct screener *s, char **ret_reason, struct err *err);

struct screen {
	bool fits;         /* the outcomes are those that the gate asks for, once each */
	const char *stage; /* static: the check that said no, "" when it fits */
	char *reason;      /* owned, one line */
	enum screen_visible visible;
};

/* Look at @diff: edit with reference, then the edit alone. 0 with *ret, negative on error. Free with
 * screen_done(). */
int screen_edit(struct screener *s, const char *diff, struct screen *ret, struct err *err);

/* Free; {0} is fine. */
void screen_done(struct screen *s);

#endif

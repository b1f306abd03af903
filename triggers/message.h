/* The words that go with an edit: deterministic templates by stage, and a filter for texts that
 * would give the experiment away. */
#ifndef TRIGGERS_MESSAGE_H
#define TRIGGERS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/scenario.h"

#define MESSAGE_MAX 8192u /* bytes of a message */

/* What a message is about. Strings are borrowed. */
struct message_about {
	uint64_t stage;       /* the round: 1 cooperative, 2 firm, 3 insistent, 4-5 adamant, from 6
			       * on frustrated but polite (SWE-Touch, persona of the user) */
	const char *claim;    /* a sentence of the user's about the edit, NULL = none */
	const char *path;     /* file of the edit or touch, NULL = not known */
	uint64_t first, last; /* its lines, 0,0 = not known */
	const char *budget;   /* what of its limits the agent has used, NULL = not known */
};

/* The text of message effect @e. *ret_source is "text", "template:STAGE" or
 * "template:STAGE (text refused: WORD)". Both are owned by the caller. Never NULL. */
char *message_text(const struct effect *e, const struct message_about *about, char **ret_source);

/* The template that message_text() fills in, for its digest: NULL when it says a fixed text.
 * Borrowed. */
const char *message_template(const struct effect *e, const struct message_about *about);

/* The built-in template of a stage, filled in. Caller frees. */
char *message_by_stage(const struct message_about *about);

/* Check the template name or text of @e: a stage's name, or text with {claim} {region} {path}
 * {first} {last} {round} {budget}. 0 or -ERR_INPUT with the nearest name. */
int message_check(const struct effect *e, struct err *err);

/* Does @text give the experiment away? NULL = no, otherwise what is wrong with it (static). Texts
 * that a person fixed (@fixed) may hold code; generated ones must be plain prose. */
const char *message_refused(const char *text, bool fixed);

#endif

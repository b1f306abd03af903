/* Lines between proctor and a user that reacts: what is told of a turn, what is answered. Pure. */
#ifndef SUPERVISOR_USERLINE_H
#define SUPERVISOR_USERLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

enum {
	USERLINE_OUT_MAX = 768 << 10, /* bytes of a line to the user */
	USERLINE_IN_MAX = 64 << 10,   /* bytes of a line of the user's; longer ones are none */
	USERLINE_TEXT_MAX = 16 << 10, /* bytes of its text */
	USERLINE_NOTE_MAX = 1 << 10,  /* bytes of its note that are kept */
	USERLINE_SAID = 16 << 10,     /* characters of what the agent said */
	USERLINE_COMMAND = 4 << 10,   /* of a command */
	USERLINE_OUTPUT = 8 << 10,    /* of its output */
	USERLINE_PATH = 300,          /* of a path */
	USERLINE_PATHS = 500          /* paths that are told */
};

/* SWE-Together's. */
enum user_action {
	USER_NO_OP,
	USER_QUESTION,
	USER_REDIRECT,
	USER_NEW_REQUIREMENT,
	USER_CHECK_EXTERNAL,
	USER_ACTIONS
};

/* One turn. Borrowed. */
struct userline_turn {
	uint64_t turn, call;                   /* from 1 */
	const char *said;                      /* NULL = nothing */
	const struct strv *commands, *outputs; /* same order */
	uint64_t omitted;                      /* older commands that are not told */
	const struct strv *changed;            /* workspace-relative */
	uint64_t left;                         /* messages that it may still say */
	bool ended; /* the agent has ended its turn: it asks for nothing more */
};

struct userline_answer {
	enum user_action action;
	char *text;        /* owned; NULL = it says nothing */
	char *note;        /* owned; NULL = none */
	const char *wrong; /* static: why it counts as no-op, NULL = it is one, or none */
};

/* Append the line of @t, with its newline, to @out, which has room for USERLINE_OUT_MAX bytes. What does not fit is
 * left out, older commands first. */
void userline_write(const struct userline_turn *t, struct buf *out);

/* Read one line of the user's, @n bytes without the newline; text before and behind the object is passed over when
 * @loose (a model's answer). Never fails: what cannot be understood is a no-op with a reason. Free with
 * userline_done(). */
void userline_read(const char *line, size_t n, bool loose, struct userline_answer *ret);

/* Free; {0} is fine. */
void userline_done(struct userline_answer *a);

/* "no-op", "question", "redirect", "new_requirement", "check_external". Static. */
const char *userline_name(enum user_action action);

#endif

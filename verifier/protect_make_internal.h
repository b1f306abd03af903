/* A Makefile as statements. Between protect_make.c and protect_makeread.c. */
#ifndef VERIFIER_PROTECT_MAKE_INTERNAL_H
#define VERIFIER_PROTECT_MAKE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#define MAKE_STATEMENTS_MAX 5000u

enum make_kind {
	MAKE_BLANK,  /* empty or a comment */
	MAKE_ASSIGN, /* NAME op value */
	MAKE_RULE,   /* targets : prerequisites, and its recipe */
	MAKE_COND,   /* ifdef, else, endif, define, endef, ... */
	MAKE_OTHER,  /* include, export, override, vpath, a call, ... */
};

struct make_piece {
	const char *p;
	size_t n;
};

struct make_statement {
	enum make_kind kind;
	struct make_piece all;    /* every byte, with the line end */
	struct make_piece name;   /* ASSIGN: variable; RULE: targets */
	struct make_piece op;     /* ASSIGN: "=", ":=", ...; RULE: ":", "::", "&:" */
	struct make_piece value;  /* ASSIGN: behind op; RULE: prerequisites, up to the line's end */
	struct make_piece recipe; /* RULE: its lines, each beginning with a TAB */
	const struct make_statement
		*twin; /* the base's statement that this one takes the place of */
	bool taken;    /* it is somebody's twin */
};

struct make_file {
	struct make_statement *v; /* owned */
	size_t n;
};

/* Cut @n bytes (GNU make manual, "What Makefiles Contain"). 0, or -1 when there are too many statements.
 * Release with protect_make_done(). */
int protect_make_read(const char *text, size_t n, struct make_file *ret);

/* Free. {0} is fine. */
void protect_make_done(struct make_file *f);

/* Next word of @p at *@at (blanks, line ends and "\" before a line end separate; what stands between
 * "$(" and its end may hold blanks). False at the end. */
bool protect_make_word(struct make_piece p, size_t *at, struct make_piece *ret);

#endif

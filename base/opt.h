/* Command-line options as rows. Parsing, --help, the man page and shell completion all come from
 * the same rows, so that they cannot disagree. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum opt_kind {
	OPT_FLAG, /* bool, set to true */
	OPT_STR,  /* const char *, borrowed from argv */
	OPT_LIST, /* struct strv, one entry per use */
	OPT_U64,  /* uint64_t */
	OPT_ENUM, /* int, index into choices */
};

struct opt_row {
	char letter;      /* short form, 0 when none */
	const char *name; /* long form without dashes; NULL ends the rows */
	enum opt_kind kind;
	size_t off;                 /* offsetof the field */
	const char *arg;            /* name of the argument in help, NULL for flags */
	const char *help;           /* one sentence without full stop */
	const char *const *choices; /* OPT_ENUM: NULL-terminated */
};

/* One command of the program: everything that its documentation needs. */
struct opt_cmd {
	const char *name;
	const char *summary;  /* one line */
	const char *synopsis; /* behind "proctor NAME" */
	const char *text;     /* paragraphs for --help and the manual */
	const struct opt_row *rows;
	bool rest_is_command; /* everything from the first operand on is left alone */
	int (*run)(const struct opt_cmd *cmd, int argc, char **argv); /* exit status */
};

/* Parse argv[1..] by cmd->rows into @out. Operands go to @rest (borrowed strings are copied).
 * "--" ends options. 0, 1 when --help was asked for, or -ERR_USAGE with the nearest option. */
int opt_parse(const struct opt_cmd *cmd, int argc, char **argv, void *out, struct strv *rest,
	      struct err *err);

/* --help text of one command. */
void opt_help(const struct opt_cmd *cmd, struct buf *out);

/* Man page (man(7)) of one command. */
void opt_man(const struct opt_cmd *cmd, const char *version, struct buf *out);

/* bash completion for the whole program; @cmds ends with a NULL name. */
void opt_completion(const struct opt_cmd *const *cmds, struct buf *out);

#endif

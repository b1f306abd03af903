/* A file as the mutation operators see it: its tokens without blanks, its lines, and its functions, told by
 * their shape. Guesses: an operator that is misled makes a candidate that the checks refuse. */
#ifndef STUDY_CODE_H
#define STUDY_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/lex.h"

#define CODE_FUNCTIONS_MAX 20000u
#define CODE_PARAMS_MAX    16

/* A function. Numbers of tokens are indices into code.sig. */
struct code_fn {
	size_t name; /* token of its name */
	size_t open,
		close;   /* tokens that begin and end the body; with indentation the first and the
			     * last token of it */
	uint64_t head;   /* line where it begins, decorators included */
	uint64_t first;  /* line of the body's first statement */
	uint64_t last;   /* its last line */
	uint64_t indent; /* bytes of blanks in front of its head */
	bool again;  /* a second definition below is legal and wins: def, function, x = function */
	bool method; /* first parameter is self or cls */
	size_t param[CODE_PARAMS_MAX]; /* tokens */
	size_t n_params;
};

struct code {
	struct lex lex; /* owned */
	size_t *sig;    /* owned: indices of tokens that are no blanks, ends of line or comments */
	size_t n_sig;
	size_t *match; /* owned: for a bracket that opens, the one that closes it; n_sig = none */
	uint64_t n_lines;
	size_t *line_at; /* owned: n_lines + 1 offsets */
	size_t *line_sig; /* owned: n_lines + 2: first of sig at or behind the line (index line - 1) */
	size_t *line_fn; /* owned, by line - 1: index of its innermost function, plus 1; 0 none */
	struct code_fn *fn; /* owned, in order of their names */
	size_t n_fn;
};

/* Take @n bytes of @text apart (borrowed while @ret lives). Free with code_done(). */
void code_read(const struct lex_lang *lang, const char *text, size_t n, struct code *ret);

/* Free; {0} is fine. */
void code_done(struct code *c);

/* Token @i of code.sig. */
const struct lex_token *code_tok(const struct code *c, size_t i);

/* Is it the text @s? False behind the end. */
bool code_is(const struct code *c, size_t i, const char *s);

/* Is it of @kind? False behind the end. */
bool code_kind(const struct code *c, size_t i, enum lex_kind kind);

/* Its text, copied. Caller frees. */
char *code_text(const struct code *c, size_t i);

/* Innermost function that holds @line, NULL when there is none. */
const struct code_fn *code_fn_at(const struct code *c, uint64_t line);

/* Offset of the first byte of @line (from 1); the text's length behind the last. */
size_t code_line_at(const struct code *c, uint64_t line);

/* Blanks in front of @line, copied. Caller frees. */
char *code_indent(const struct code *c, uint64_t line);

/* Is @line without any token? */
bool code_blank(const struct code *c, uint64_t line);

/* First token of @line in code.sig; n_sig when there is none behind it. */
size_t code_sig_at(const struct code *c, uint64_t line);

/* Token that closes the bracket @i, n_sig when it is never closed. */
size_t code_close(const struct code *c, size_t i);

#endif

/* Source text cut into tokens, for finding places that can be changed: comments, strings, numbers, names,
 * keywords and operators of several languages by rows. No parser: what it does not know stays what it is, and
 * the tokens together are always the text, byte for byte. Foreign files are hostile input. */
#ifndef STUDY_LEX_H
#define STUDY_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEX_TEXT_MAX   (4u << 20) /* bytes of a file that is cut; a longer one gives no tokens */
#define LEX_TOKENS_MAX 2000000u

enum lex_kind {
	LEX_SPACE,   /* blanks and line continuations */
	LEX_NEWLINE, /* one end of line */
	LEX_COMMENT, /* without the end of its last line */
	LEX_STRING,  /* with its quotes; also characters and regular expressions */
	LEX_NUMBER,
	LEX_NAME,
	LEX_KEYWORD,
	LEX_OP,
	LEX_DIRECTIVE, /* a line of the C preprocessor */
	LEX_OTHER      /* a byte that nothing begins with */
};

struct lex_token {
	enum lex_kind kind;
	size_t at, n;  /* bytes of the text */
	uint64_t line; /* of its first byte, from 1 */
};

/* How blocks are told. */
enum lex_blocks { LEX_BRACES, LEX_INDENT, LEX_END };

/* What a text in quotes looks like. */
struct lex_quote {
	const char *open, *close;
	bool escapes; /* a backslash takes the next byte along */
	bool lines;   /* may go over several lines */
};

#define LEX_QUOTES 8

/* One language. All static. */
struct lex_lang {
	const char *name;
	const char *suffixes; /* ".c .h", blank-separated */
	enum lex_blocks blocks;
	const char *line_comment, *line_comment2; /* NULL = none */
	const char *open_comment, *close_comment; /* NULL = none */
	bool nested_comments;                     /* Rust */
	bool directives;                          /* C */
	bool regex;                               /* /.../ where a value may begin */
	bool prefixes;        /* letters in front of a quote belong to it (Python, Rust, C) */
	const char *in_names; /* bytes of names beside letters, digits and _ */
	struct lex_quote quote[LEX_QUOTES];
	const char *keywords; /* blank-separated, with a blank at both ends */
};

/* Rows, ended by a NULL name. */
extern const struct lex_lang lex_langs[];

/* Language of a file by the end of its name; NULL when there is no row. */
const struct lex_lang *lex_lang_of(const char *path);

struct lex {
	const struct lex_lang *lang;
	const char *text; /* borrowed */
	size_t n_text;
	struct lex_token *v; /* owned: in order, without gaps */
	size_t n, cap;
	bool cut; /* the text is too long: no tokens */
};

/* Cut @n bytes of @text (borrowed while @ret lives). Never fails. Free with lex_done(). */
void lex_run(const struct lex_lang *lang, const char *text, size_t n, struct lex *ret);

/* Free; {0} is fine. */
void lex_done(struct lex *l);

/* Is token @t of @l the text @s? */
bool lex_is(const struct lex *l, const struct lex_token *t, const char *s);

/* Its text, copied. Caller frees. */
char *lex_text(const struct lex *l, const struct lex_token *t);

#endif

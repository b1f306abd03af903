/* Pieces of text and the results of readers that read as SWE-bench's harness does. What that
 * harness reads is text of Python 3: white space and digits are told as there, a name that comes
 * again replaces its status. */
#ifndef VERIFIER_COMPAT_INTERNAL_H
#define VERIFIER_COMPAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "verifier/testlog.h"

#define COMPAT_TEXT_MAX   (160u << 20) /* bytes of a text made from a log */
#define COMPAT_NAME_MAX   (4u * TESTLOG_NAME_MAX)
#define COMPAT_SUITES_MAX 256u /* levels of suites; deeper ones are not kept */

/* Bytes of somebody else. */
struct piece {
	const char *s;
	size_t n;
};

/* A piece of a string literal. */
#define PIECE(text) ((struct piece){ (text), sizeof(text) - 1 })

/* A reader at work. */
struct compat {
	const struct testlog_input *in;
	struct test_results *out;
	struct piece text; /* what is read: the log, or a text made from it */
	struct piece at;   /* the line that results are said to come from */
};

/* Begin. */
struct compat compat_start(const struct testlog_input *in, struct test_results *out);

/* Next line of *rest, without its newline; false at the end. */
bool compat_line(struct piece *rest, struct piece *line);

/* As compat_line() over c->text, with c->at set: walk with a copy of c->text as @rest. */
bool compat_next(struct compat *c, struct piece *rest, struct piece *line);

/* Take the part behind the next @mark off *text, up to the mark after it. false when there is none. */
bool compat_part(struct piece *text, const char *mark, struct piece *part);

/* Set the status of @name; its place in the order is that of its first appearance. A name cut at
 * TESTLOG_NAME_MAX; the root is taken off as testlog_name() does. */
void compat_set(struct compat *c, struct piece name, enum test_status s);

/* As compat_set() of "A SEPARATOR B". */
void compat_set2(struct compat *c, struct piece a, const char *separator, struct piece b,
		 enum test_status s);

/* Bytes of the white space character (str.isspace() of Python) at the start of @p, 0 when there is
 * none. */
size_t compat_space(struct piece p);

/* Bytes of the white space character that @p ends with, 0 when there is none. */
size_t compat_space_end(struct piece p);

/* Without white space on the left, on the right, on both sides. */
struct piece compat_lstrip(struct piece p);
struct piece compat_rstrip(struct piece p); /* see compat_lstrip() */
struct piece compat_strip(struct piece p);  /* see compat_lstrip() */

/* Characters (not bytes) of white space that @line begins with. */
size_t compat_indent(struct piece line);

/* Take the next word off *rest; an empty piece when there is none. */
struct piece compat_word(struct piece *rest);

/* Does @p begin with, end with, hold, equal @what? */
bool compat_starts(struct piece p, const char *what);
bool compat_ends(struct piece p, const char *what);  /* see compat_starts() */
bool compat_has(struct piece p, const char *what);   /* see compat_starts() */
bool compat_equal(struct piece p, const char *what); /* see compat_starts() */

/* Place of the first, the last @what in @p; NULL when there is none. */
const char *compat_find_first(struct piece p, const char *what);
const char *compat_find_last(struct piece p, const char *what); /* see compat_find_first() */

/* What stands before, from @at in @p. */
struct piece compat_before(struct piece p, const char *at);
struct piece compat_from(struct piece p, const char *at); /* see compat_before() */

/* Take @what off the front of *p. false, and *p is as it was, when it does not begin with it. */
bool compat_eat(struct piece *p, const char *what);

/* Take one white space character, at least one digit off the front of *p; false when there is
 * none. */
bool compat_eat_space(struct piece *p);
bool compat_eat_digits(struct piece *p); /* see compat_eat_space() */

/* Take one of the symbols off the front of *p: rows ended by NULL. The index of the row, or -1. */
int compat_eat_symbol(struct piece *p, const char *const *symbols);

/* Does @p end with white space, "(", digits, white space, "ms" or "s", ")", behind at least one
 * byte? Then it is cut off. @space: may white space stand before the unit? */
bool compat_cut_time(struct piece *p, bool space);

/* Bytes of the character at the start of @p if it can be part of a word (\w of Python: letters,
 * digits, underscore; beyond ASCII all but the ranges of signs and punctuation), 0 otherwise. */
size_t compat_word_char(struct piece p);

/* Append @p without escape sequences of terminals (ECMA-48: CSI and two-byte ones). */
void compat_uncolour(struct piece p, struct buf *out);

/* Append @p with each run of white space as one blank, none at its ends. */
void compat_squeeze(struct piece p, struct buf *out);

/* The suites around a test, by indentation. Titles are borrowed. */
struct compat_suites {
	struct piece title[COMPAT_SUITES_MAX];
	size_t indent[COMPAT_SUITES_MAX];
	size_t n;
};

/* A line with a title: suites that are indented as far or farther end. */
void compat_suite(struct compat_suites *s, struct piece line);

/* Append all titles and @test, joined by @separator, to @out: at most what a name can hold, so a
 * maximum of COMPAT_NAME_MAX is enough. */
void compat_join(const struct compat_suites *s, const char *separator, struct piece test,
		 struct buf *out);

/* compat_set() of what compat_join() makes with " - ". */
void compat_set_in_suites(struct compat *c, const struct compat_suites *s, struct piece test,
			  enum test_status status);

/* One function per parser; what each takes for a result stands at its definition. 0, always. */
#define COMPAT_READERS(X)                                                                          \
	X(pytest)                                                                                  \
	X(pytest_options)                                                                          \
	X(pytest_v2)                                                                               \
	X(matplotlib)                                                                              \
	X(seaborn)                                                                                 \
	X(sympy)                                                                                   \
	X(django)                                                                                  \
	X(jest)                                                                                    \
	X(jest_json)                                                                               \
	X(vitest)                                                                                  \
	X(tap)                                                                                     \
	X(gotest)                                                                                  \
	X(cargo)                                                                                   \
	X(ant)                                                                                     \
	X(redis)                                                                                   \
	X(jq)                                                                                      \
	X(micropython)                                                                             \
	X(googletest)                                                                              \
	X(phpunit)                                                                                 \
	X(minitest)                                                                                \
	X(cucumber)                                                                                \
	X(ruby_unit)                                                                               \
	X(rspec)                                                                                   \
	X(maven)                                                                                   \
	X(gradle)                                                                                  \
	X(doctest)                                                                                 \
	X(jekyll)                                                                                  \
	X(immutable_js)                                                                            \
	X(karma)                                                                                   \
	X(calypso)                                                                                 \
	X(highlightjs)                                                                             \
	X(next)                                                                                    \
	X(plotly)                                                                                  \
	X(jest_files)                                                                              \
	X(grommet)                                                                                 \
	X(emotion)                                                                                 \
	X(marked)                                                                                  \
	X(quarto_cli)                                                                              \
	X(lighthouse)                                                                              \
	X(prismjs)                                                                                 \
	X(cypress)                                                                                 \
	X(bpmn_js)                                                                                 \
	X(openlayers)                                                                              \
	X(chart_js)                                                                                \
	X(eslint)                                                                                  \
	X(p5js)

#define COMPAT_PROTOTYPE(name)                                                                     \
	int compat_read_##name(const struct testlog_input *in, struct test_results *out,           \
			       struct err *err);
COMPAT_READERS(COMPAT_PROTOTYPE)
#undef COMPAT_PROTOTYPE

#endif

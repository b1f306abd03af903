/* JSON of other programs without loss: a value stays a slice of its text, so that what is not understood
 * comes back byte for byte, numbers keep their digits and keys their order. For our own files see
 * base/json.h, which is strict about keys and has comments.
 *
 * Text is RFC 8259, with two things that are met in the wild: the literals NaN, Infinity and
 * -Infinity, and strings that hold bytes which are not UTF-8. Such bytes are kept. Where a text
 * must be written for others, each becomes the lone surrogate "\udcNN" ("surrogateescape", Python's PEP
 * 383), and that is read back as the byte. No recursion; linear time. */
#ifndef BASE_JSLICE_H
#define BASE_JSLICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define JSLICE_DEPTH_MAX 128u /* levels of nesting */
#define JSLICE_KEYS_MAX  512u /* keys of an object that is looked at by jslice_get() */

/* A piece of a checked text: a value from its first to its last byte. Borrowed; {0} = none. */
struct jslice {
	const char *s;
	size_t n;
};

/* Members of an object or elements of an array, in order. */
struct jslice_walk {
	const char *p, *end;
	bool object;
};

/* Check the next value of @text behind @*at (white space before it is skipped), which is left behind it:
 * JSON Lines are read by calling this until 0. 1 with *ret, 0 when only white space is left, or
 * -ERR_INPUT with "NAME:LINE:COLUMN: ..." */
int jslice_next(const char *name, const char *text, size_t n, size_t *at, struct jslice *ret,
		struct err *err);

/* The one value that @text holds; anything behind it is an error, as is nothing at all. 0 or -ERR_INPUT. */
int jslice_parse(const char *name, const char *text, size_t n, struct jslice *ret, struct err *err);

/* 1-based line of byte @at. */
size_t jslice_line(const char *text, size_t at);

/* What it is: '{', '[', '"', 't', 'f', 'n' (null), '0' (any number), or 0 for none. */
char jslice_kind(struct jslice v);

/* Begin a walk over a checked object or array; any other value has no members. */
struct jslice_walk jslice_walk(struct jslice v);

/* Next member; @key (with its quotes; none in an array) may be NULL. false at the end. */
bool jslice_member(struct jslice_walk *w, struct jslice *key, struct jslice *value);

/* Is the string @v exactly @s? */
bool jslice_is(struct jslice v, const char *s);

/* Value of the first member called @key of object @v; {0} when there is none. Looks at the first
 * JSLICE_KEYS_MAX members. */
struct jslice jslice_get(struct jslice v, const char *key);

/* A key that object @v has twice among its first JSLICE_KEYS_MAX members, or {0}. */
struct jslice jslice_twice(struct jslice v);

/* The string without quotes and escapes, NUL-terminated; its length (it may hold NUL bytes) in *ret_n, which
 * may be NULL. NULL when @v is no string. Caller frees. */
char *jslice_text(struct jslice v, size_t *ret_n);

/* As jslice_text(), but NULL also for a string that holds NUL bytes. Caller frees. */
char *jslice_cstr(struct jslice v);

/* Append @n bytes as a JSON string with its quotes, as jslice_text() reads it back. As buf_add(). */
int jslice_put(struct buf *out, const char *s, size_t n);

/* Append the raw value in one line: newlines between its parts become blanks. As buf_add(). */
int jslice_raw(struct buf *out, struct jslice v);

#endif

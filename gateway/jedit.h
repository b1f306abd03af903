/* JSON text edited in place: a bounded tokenizer that knows where every value stands, and a list of
 * replacements of byte spans. Bytes that are not touched stay as they are. */
#ifndef GATEWAY_JEDIT_H
#define GATEWAY_JEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	JDOC_DEPTH_MAX = 256,
	JDOC_NODES_MAX = 4 << 20,
};

/* Bytes [start, end) of the text. */
struct jspan {
	uint32_t start, end;
};

enum jkind { J_NONE, J_NULL, J_BOOL, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT };

/* A value. Children follow their parent in document order; @next skips to the value behind. */
struct jnode {
	uint32_t start, end;   /* of the value, quotes and brackets included */
	uint32_t key, key_end; /* of the key's characters without quotes; 0,0 in arrays */
	uint32_t next;         /* index of the next sibling, or of what follows the parent */
	uint32_t n;            /* children */
	uint8_t kind;          /* enum jkind */
};

/* {0} is empty. Borrows the text. */
struct jdoc {
	const char *text;
	size_t n;
	struct jnode *v; /* owned; v[0] is the root */
	uint32_t n_nodes, cap;
};

/* Index of "no such value". */
#define JNONE UINT32_MAX

/* Parse @n bytes (RFC 8259; lone surrogate escapes and \u0000 are fine, duplicate keys: the last
 * one counts, as for most servers). Texts of 4 GiB and more are refused. 0 or -ERR_INPUT with line
 * and column. Free with jdoc_done(). */
int jdoc_parse(struct jdoc *d, const char *text, size_t n, struct err *err);

/* Free; {0} is fine. */
void jdoc_done(struct jdoc *d);

/* Member @key of object @at, JNONE when @at is no object or has none. Escaped keys are compared
 * unescaped. */
uint32_t jdoc_get(const struct jdoc *d, uint32_t at, const char *key);

/* Member by a path of keys "a.b.c". */
uint32_t jdoc_path(const struct jdoc *d, uint32_t at, const char *path);

/* First child of @at, JNONE when empty or not a container; then jdoc_next(). */
uint32_t jdoc_first(const struct jdoc *d, uint32_t at);

/* Sibling behind @child of @parent, JNONE at the end. */
uint32_t jdoc_next(const struct jdoc *d, uint32_t parent, uint32_t child);

#define jdoc_each(c, d, parent)                                                                    \
	for (uint32_t c = jdoc_first(d, parent); c != JNONE; c = jdoc_next(d, parent, c))

/* Kind of the value, J_NONE for JNONE. */
enum jkind jdoc_kind(const struct jdoc *d, uint32_t at);

/* The string at @at unescaped into UTF-8 (lone surrogates and NUL become U+FFFD), appended to @out.
 * 0, or -1 when @at is no string. */
int jdoc_str(const struct jdoc *d, uint32_t at, struct buf *out);

/* Key of member @at unescaped in the same way, appended to @out. 0, or -1 when @at has none (the
 * root, elements of arrays). */
int jdoc_key(const struct jdoc *d, uint32_t at, struct buf *out);

/* The same as a new string (caller frees), NULL when @at is no string. */
char *jdoc_strdup(const struct jdoc *d, uint32_t at);

/* Is @at the string @s? */
bool jdoc_is(const struct jdoc *d, uint32_t at, const char *s);

/* A whole number >= 0 into *ret. 0 or -1. */
int jdoc_u64(const struct jdoc *d, uint32_t at, uint64_t *ret);

/* true only for the literal true. */
bool jdoc_true(const struct jdoc *d, uint32_t at);

/* What a change does. Commas depend on all changes of a container together, so the spans of all but
 * replacements are worked out by jedit_apply(). */
enum jchange_kind { JC_REPLACE, JC_REMOVE, JC_INSERT, JC_MEMBER };

/* One change. */
struct jchange {
	struct jspan span; /* JC_REPLACE: what goes away */
	char *text;        /* owned; NULL of JC_REMOVE */
	uint32_t order;    /* changes at one place keep their order */
	enum jchange_kind kind;
	uint32_t parent; /* container */
	uint32_t child;  /* replaced or removed; behind which to insert, @parent: at the front */
	char *key;       /* owned: JC_MEMBER */
};

/* {0} is empty. */
struct jedit {
	struct jchange *v; /* owned */
	size_t n, cap;
};

/* Replace the value @at by JSON text. Replaced twice: the later text counts. */
void jedit_replace(struct jedit *e, const struct jdoc *d, uint32_t at, const char *json);

/* Remove @child from container @parent with the comma that goes with it. Several removals from
 * one container are fine, also of all it holds, and insertions beside them. */
void jedit_remove(struct jedit *e, const struct jdoc *d, uint32_t parent, uint32_t child);

/* Insert JSON text into array @parent behind its child @after (JNONE: at the front). Nothing happens
 * when @parent is no array. */
void jedit_insert(struct jedit *e, const struct jdoc *d, uint32_t parent, uint32_t after,
		  const char *json);

/* Set member @key of object @parent to JSON text: replaced when there (and other members of the same
 * key removed: servers do not agree on which of them counts), else added at the end. Set twice: the
 * later text counts. Nothing happens when @parent is no object. */
void jedit_set(struct jedit *e, const struct jdoc *d, uint32_t parent, const char *key,
	       const char *json);

/* Write the text with all changes to @out. 0, or -1 when @out is full or two changes overlap. */
int jedit_apply(const struct jedit *e, const struct jdoc *d, struct buf *out);

/* Free; {0} is fine. */
void jedit_done(struct jedit *e);

/* Append @s as a JSON string with quotes: UTF-8 as is, bad bytes as U+FFFD. For model APIs, not for
 * our own files (json_str() is lossless and theirs). */
void jedit_quote(struct buf *out, const char *s, size_t n);

#endif

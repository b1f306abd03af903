/* Between toml.c (tables, keys), toml_value.c (values) and toml_scalar.c (numbers, dates). */
#ifndef BASE_TOML_INTERNAL_H
#define BASE_TOML_INTERNAL_H

#include "base/buf.h"
#include "base/map.h"
#include "base/toml.h"

/* Kept in the upper bits of cJSON's type, which cJSON leaves alone: the kind, and how a table came to be. */
#define TOML_KIND_SHIFT 16
#define TOML_KIND_MASK  (0xf << TOML_KIND_SHIFT)
#define TOML_DEFINED    (1 << 20) /* table: it had its header */
#define TOML_DOTTED     (1 << 21) /* table: made by a dotted key */
#define TOML_CLOSED     (1 << 22) /* inline table, or array written as a value: nothing may be added */

struct toml_entry {
	const cJSON *parent; /* borrowed */
	cJSON *item;         /* borrowed */
};

/* A parse under way. */
struct toml {
	const char *name, *text;
	size_t n, at;
	struct err *err;
	cJSON *root;              /* owned until the end */
	struct toml_entry *entry; /* owned: every key with its table */
	size_t n_entries, cap;
	struct map index; /* (table, key) -> position in entry + 1 */
	uint64_t seed;    /* drawn at the start: no file can aim at the table */
	struct buf tmp;   /* the string or key under way */
};

/* "NAME:LINE:COLUMN: what" for the byte at @at. Returns -ERR_INPUT. */
int toml_fail(struct toml *p, size_t at, const char *what);

/* Member @key of table @t; NULL when there is none. */
cJSON *toml_find(const struct toml *p, const cJSON *t, const char *key);

/* Put new @item under @key (copied) into table @t. */
void toml_put(struct toml *p, cJSON *t, const char *key, cJSON *item);

/* New table or array (@kind) with no members. */
cJSON *toml_new(enum toml_kind kind, int flags);

/* New scalar: string @s of @kind. */
cJSON *toml_new_string(const char *s, enum toml_kind kind);

/* Set the kind of @item. Returns it. */
cJSON *toml_mark(cJSON *item, enum toml_kind kind);

/* Over blanks and tabs. */
void toml_blanks(struct toml *p);

/* Over a comment, if one stands here, up to its line end. 0 or negative: a control character in it. */
int toml_comment(struct toml *p);

/* Over a line end, if one stands here (LF or CRLF). */
bool toml_newline(struct toml *p);

/* Does @word stand here? */
bool toml_here(const struct toml *p, const char *word);

/* A value into *ret (new, caller's). @depth: levels above it. 0 or negative. */
int toml_value(struct toml *p, unsigned depth, cJSON **ret);

/* One simple key, bare or quoted, into p->tmp. 0 or negative. */
int toml_key(struct toml *p);

/* "KEY.KEY = VALUE" into table @t at level @depth. 0 or negative. */
int toml_pair(struct toml *p, cJSON *t, unsigned depth);

/* A string in any of the four forms into p->tmp. 0 or negative. */
int toml_string(struct toml *p);

/* A number, date or time into *ret. 0 or negative. */
int toml_scalar(struct toml *p, cJSON **ret);

#endif

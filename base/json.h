/* JSON files as rows: one row per field says name, kind, place and whether it must be there.
 * Input may hold comments; unknown keys, duplicate keys, wrong types and bytes that are not UTF-8
 * are errors that name the file, the place and the nearest valid choice. Output goes through a
 * small writer that escapes every byte losslessly. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_FILE_MAX  (4u << 20) /* bytes of an input file */
#define JSON_DEPTH_MAX 64         /* levels of nesting of an input file */

enum json_kind {
	JSON_STR,      /* char *            (owned) */
	JSON_BOOL,     /* bool */
	JSON_U64,      /* uint64_t          whole number >= 0 */
	JSON_DOUBLE,   /* double */
	JSON_SIZE,     /* uint64_t bytes    "4G" or a number */
	JSON_DURATION, /* uint64_t ns       "30s" or a number of seconds */
	JSON_MONEY,    /* uint64_t micro-$  "3.00" or a number */
	JSON_STRV,     /* struct strv       array of strings */
	JSON_ENV,      /* struct strv       object of strings, kept as "KEY=value" in file order */
	JSON_ENUM,     /* int               index into choices */
	JSON_OBJECT,   /* struct in place   by rows */
	JSON_ARRAY,    /* struct json_array array of objects by rows */
	JSON_U64V,     /* struct json_array of uint64_t */
	JSON_RAW,      /* char *            (owned) any value, as compact JSON text */
	JSON_CUSTOM,   /* whatever parse() makes of it */
};

/* Growable array of structs or numbers read by JSON_ARRAY and JSON_U64V. */
struct json_array {
	void *v; /* owned */
	size_t n;
};

struct json_src;

struct json_field {
	const char *name;
	enum json_kind kind;
	size_t off; /* offsetof the field in the struct that is filled */
	bool required;
	const struct json_field *rows; /* JSON_OBJECT, JSON_ARRAY: rows, ended by a NULL name */
	size_t size;                   /* JSON_ARRAY: sizeof one element */
	const char *const *choices;    /* JSON_ENUM: NULL-terminated */
	/* JSON_CUSTOM: read @item into @field (at off). 0 or negative with @err set by
	 * json_complain(). */
	int (*parse)(const struct json_src *src, const char *where, const cJSON *item, void *field,
		     struct err *err);
	const char *doc; /* one line, for the manual */
};

/* A parsed file: its name for error texts and the tree. */
struct json_src {
	char *name;  /* owned */
	cJSON *root; /* owned */
};

/* Parse @n bytes of @text that came from @name. Comments allowed. 0, or -ERR_INPUT with file,
 * line and column in @err. Free with json_src_done(). */
int json_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err);

/* Read and parse the file @path ("-" is standard input), at most JSON_FILE_MAX bytes. As
 * json_parse(). */
int json_load(const char *path, struct json_src *ret, struct err *err);

/* Free what json_parse() or json_load() gave; {0} is fine. */
void json_src_done(struct json_src *src);

/* Check "schema": "proctor.<kind>/1" of the root object. 0 or -ERR_INPUT. */
int json_check_schema(const struct json_src *src, const char *kind, struct err *err);

/* Fill @out from object @obj at JSON path @where ("$" for the root) by @rows (ended by a NULL
 * name). Fields that are absent keep what @out holds, so that one file can be read over another.
 * The key "schema" is accepted at "$". Strings already in @out are freed when replaced.
 * 0 or -ERR_INPUT. */
int json_read(const struct json_src *src, const char *where, const cJSON *obj,
	      const struct json_field *rows, void *out, struct err *err);

/* Free everything that json_read() put into @out by @rows and zero it. */
void json_release(const struct json_field *rows, void *out);

/* Set @err to "FILE: WHERE: text". Returns -ERR_INPUT. */
int json_complain(const struct json_src *src, const char *where, struct err *err, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));

/* Writer. Keys are ours and need no escaping; values are escaped. Pretty form when indent. */
struct json_w {
	struct buf *b; /* borrowed */
	bool pretty;
	unsigned depth;
	uint64_t used; /* bit per depth: a value was written there */
};

/* Open an object or array under @key (NULL at the root or inside an array). */
void json_open(struct json_w *w, const char *key, char bracket);

/* Close it again; @bracket is '}' or ']'. */
void json_close(struct json_w *w, char bracket);

/* A string value; NULL becomes null. Bytes that are not UTF-8 become \xNN and a backslash becomes
 * two, both before JSON's own escaping, so that any byte string comes back (docs/formats). */
void json_str(struct json_w *w, const char *key, const char *s);

/* As json_str() for @n bytes. */
void json_strn(struct json_w *w, const char *key, const char *s, size_t n);

/* An unsigned number. */
void json_u64(struct json_w *w, const char *key, uint64_t v);

/* A signed number. */
void json_i64(struct json_w *w, const char *key, int64_t v);

/* true or false. */
void json_bool(struct json_w *w, const char *key, bool v);

/* null. */
void json_null(struct json_w *w, const char *key);

/* A number with fraction, shortest form that reads back. */
void json_dbl(struct json_w *w, const char *key, double v);

/* Text that is JSON already. */
void json_raw(struct json_w *w, const char *key, const char *text);

/* An array of strings. */
void json_strings(struct json_w *w, const char *key, char *const *v, size_t n);

/* Append @n bytes escaped as json_str() does, without quotes: the trace writer's path. */
void json_escape(struct buf *b, const char *s, size_t n);

/* Undo the \xNN and \\ layer of json_str() in place; returns the length. */
size_t json_unescape_bytes(char *s);

#endif

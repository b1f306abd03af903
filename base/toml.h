/* TOML 1.0.0 (toml.io) into a cJSON tree, so that everything that reads JSON by rows reads TOML, too. Bounded in
 * size and depth, linear in the size of the text.
 *
 * Tables are objects, arrays and arrays of tables are arrays, in the order of the file. Dates and times are strings
 * in RFC 3339's form ("T" and "Z" in capitals). What JSON cannot say is kept beside the item, see toml_kind() and
 * toml_integer(). Line ends in multi-line strings become "\n".
 *
 * One thing that TOML allows is refused: the character U+0000 in a string, which no C string can hold. */
#ifndef BASE_TOML_H
#define BASE_TOML_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define TOML_FILE_MAX  (4u << 20) /* bytes of a file */
#define TOML_DEPTH_MAX 64u        /* levels of tables and arrays */

enum toml_kind {
	TOML_TABLE,
	TOML_ARRAY,
	TOML_STRING,
	TOML_BOOL,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_OFFSET_DATE_TIME,
	TOML_LOCAL_DATE_TIME,
	TOML_LOCAL_DATE,
	TOML_LOCAL_TIME
};

/* Parse @n bytes of @text that came from @name. 0, or -ERR_INPUT with "NAME:LINE:COLUMN: what" (columns count
 * bytes). Free with json_src_done(). */
int toml_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err);

/* Read and parse the file @path, at most TOML_FILE_MAX bytes. As toml_parse(). */
int toml_load(const char *path, struct json_src *ret, struct err *err);

/* What @item (of a tree made here) was in the file. */
enum toml_kind toml_kind(const cJSON *item);

/* Name of a kind ("integer", "local-date"). Static. */
const char *toml_kind_name(enum toml_kind kind);

/* Exact value of a TOML_INTEGER: its number holds only 53 bits. False when @item is none. */
bool toml_integer(const cJSON *item, int64_t *ret);

#endif

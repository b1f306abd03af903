/* Shared between the reader's two halves. */
#ifndef BASE_JSON_INTERNAL_H
#define BASE_JSON_INTERNAL_H

#include "base/json.h"

/* Refuse what cJSON would take or hide: bytes that are not UTF-8, nesting beyond JSON_DEPTH_MAX,
 * "\u0000"; blank out comments in place so that positions stay true. 0 or -ERR_INPUT. */
int json_prescan(const char *name, char *text, size_t n, struct err *err);

/* "NAME:LINE:COLUMN: what" for the byte at @at. Returns -ERR_INPUT. */
int json_at(const char *name, const char *text, size_t at, struct err *err, const char *what);

#endif

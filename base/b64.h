/* Base64 (RFC 4648): bytes in places that take text only. */
#ifndef BASE_B64_H
#define BASE_B64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Append @n bytes as base64; @url: the alphabet of file names and URLs, without padding (RFC 4648 section 5). As
 * buf_add(). */
int b64_add(struct buf *b, const void *p, size_t n, bool url);

/* Append the bytes that @n characters of padded base64 stand for. 0, or -1 when they are none, or past b->max. */
int b64_read(struct buf *b, const char *s, size_t n);

#endif

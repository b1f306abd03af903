/* Growable bytes with a hard maximum that is part of the type. Adding never grows without end:
 * past the maximum the buffer is marked full and keeps what it has. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Life: BUF_INIT(max) -> buf_add*() -> buf_done(), or buf_steal() to keep the bytes.
 * Invariant: data is NUL-terminated behind len whenever data is not NULL. */
struct buf {
	char *data; /* owned; NULL while empty and never grown */
	size_t len, cap, max;
	bool full; /* something was refused because of max */
};

#define BUF_INIT(maximum)                                                                          \
	{                                                                                          \
		.data = NULL, .max = (maximum)                                                     \
	}

/* Release the bytes; the buffer is empty and usable again. */
void buf_done(struct buf *b);

/* Forget the contents, keep the memory. */
void buf_clear(struct buf *b);

/* Append @n bytes. 0, or -1 when that would pass max (nothing is added, full is set). */
int buf_add(struct buf *b, const void *p, size_t n);

/* Append a string. As buf_add(). */
int buf_adds(struct buf *b, const char *s);

/* Append one byte. As buf_add(). */
int buf_addc(struct buf *b, char c);

/* Append printf output. As buf_add(). */
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append a decimal number, fast (the trace writer's path). As buf_add(). */
int buf_addu(struct buf *b, uint64_t v);

/* Make room for @n more bytes and return where they go, NULL past max. The caller then adds to
 * len what it filled. */
char *buf_reserve(struct buf *b, size_t n);

/* The contents as a string, "" when empty. Borrowed until the next change. */
const char *buf_str(const struct buf *b);

/* Take the bytes (NUL-terminated, never NULL) and leave the buffer empty. Caller frees. */
char *buf_steal(struct buf *b, size_t *ret_len);

/* For cleanup(buf_done): struct buf b __attribute__((cleanup(buf_done))) = BUF_INIT(n). */
#define auto_buf __attribute__((cleanup(buf_done))) struct buf

#endif

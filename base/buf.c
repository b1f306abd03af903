#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_done(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->full = false;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->full = false;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (n > b->max || b->len > b->max - n) {
		b->full = true;
		return NULL;
	}
	if (b->len + n + 1 > b->cap)
		b->data = mem_grow(b->data, &b->cap, b->len + n + 1, 1);
	return b->data + b->len;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);

	if (!to)
		return -1;
	if (n)
		memcpy(to, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int rc;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	rc = buf_adds(b, s);
	free(s);
	return rc;
}

int buf_addu(struct buf *b, uint64_t v)
{
	char tmp[20];
	size_t i = sizeof(tmp);

	do {
		tmp[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return buf_add(b, tmp + i, sizeof(tmp) - i);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_steal(struct buf *b, size_t *ret_len)
{
	char *p = b->data ? b->data : mem_dup("", 0);

	if (ret_len)
		*ret_len = b->len;
	b->data = NULL;
	b->len = b->cap = 0;
	b->full = false;
	return p;
}

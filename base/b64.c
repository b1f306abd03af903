#include "base/b64.h"

#include <stdint.h>
#include <string.h>

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int b64_add(struct buf *b, const void *p, size_t n, bool url)
{
	const char *letters = url ? for_url : plain;
	const uint8_t *in = p;
	char *out = buf_reserve(b, (n + 2) / 3 * 4);
	size_t len = 0;

	if (!out)
		return -1;
	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t v = (uint32_t)in[i] << 16;

		v |= have > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		v |= have > 2 ? in[i + 2] : 0;
		for (size_t k = 0; k <= have; k++)
			out[len++] = letters[v >> (18 - 6 * k) & 63];
		for (size_t k = have; k < 3 && !url; k++)
			out[len++] = '=';
	}
	b->len += len;
	if (b->data)
		b->data[b->len] = '\0';
	return 0;
}

int b64_read(struct buf *b, const char *s, size_t n)
{
	size_t pad = n && s[n - 1] == '=' ? 1 + (n > 1 && s[n - 2] == '=') : 0;
	uint32_t v = 0;

	if (n % 4)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *at = i >= n - pad ? plain : s[i] ? strchr(plain, s[i]) : NULL;

		if (!at)
			return -1;
		v = v << 6 | (uint32_t)(at - plain);
		if (i % 4 == 3) {
			uint8_t out[3] = { (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

			if (buf_add(b, out, 3 - (i == n - 1 ? pad : 0)) < 0)
				return -1;
			v = 0;
		}
	}
	return 0;
}

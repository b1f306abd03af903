#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static void newline(struct json_w *w)
{
	if (!w->pretty)
		return;
	buf_addc(w->b, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		buf_adds(w->b, "  ");
}

static void start(struct json_w *w, const char *key)
{
	if (w->used & (1ull << w->depth))
		buf_addc(w->b, ',');
	w->used |= 1ull << w->depth;
	if (w->depth)
		newline(w);
	if (key) {
		buf_addc(w->b, '"');
		buf_adds(w->b, key);
		buf_adds(w->b, w->pretty ? "\": " : "\":");
	}
}

void json_open(struct json_w *w, const char *key, char bracket)
{
	start(w, key);
	buf_addc(w->b, bracket);
	w->depth++;
	w->used &= ~(1ull << w->depth);
}

void json_close(struct json_w *w, char bracket)
{
	bool any = w->used & (1ull << w->depth);

	w->depth--;
	if (any)
		newline(w);
	buf_addc(w->b, bracket);
}

static size_t utf8_len(const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];
	size_t len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return len <= n && str_utf8(s, len, NULL) ? len : 0;
}

void json_escape(struct buf *b, const char *s, size_t n)
{
	size_t from = 0, i = 0;

	while (i < n) {
		unsigned char c = (unsigned char)s[i];
		size_t len;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			i++;
			continue;
		}
		len = c >= 0x80 ? utf8_len(s + i, n - i) : 0;
		if (len) {
			i += len;
			continue;
		}
		buf_add(b, s + from, i - from);
		if (c == '"')
			buf_adds(b, "\\\"");
		else if (c == '\\')
			buf_adds(b, "\\\\\\\\");
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c == '\t')
			buf_adds(b, "\\t");
		else if ((c && c < 0x20) || c == 0x7f)
			buf_addf(b, "\\u%04x", (unsigned)c);
		else /* NUL too: a reader in C ends at \u0000 */
			buf_addf(b, "\\\\x%02x", (unsigned)c);
		from = ++i;
	}
	buf_add(b, s + from, i - from);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t json_unescape_bytes(char *s)
{
	char *r = s, *w = s;

	while (*r) {
		if (r[0] == '\\' && r[1] == '\\') {
			*w++ = '\\';
			r += 2;
		} else if (r[0] == '\\' && r[1] == 'x' && hex(r[2]) >= 0 && hex(r[3]) >= 0) {
			*w++ = (char)(hex(r[2]) * 16 + hex(r[3]));
			r += 4;
		} else {
			*w++ = *r++;
		}
	}
	*w = '\0';
	return (size_t)(w - s);
}

void json_strn(struct json_w *w, const char *key, const char *s, size_t n)
{
	start(w, key);
	buf_addc(w->b, '"');
	json_escape(w->b, s, n);
	buf_addc(w->b, '"');
}

void json_str(struct json_w *w, const char *key, const char *s)
{
	if (s)
		json_strn(w, key, s, strlen(s));
	else
		json_null(w, key);
}

void json_u64(struct json_w *w, const char *key, uint64_t v)
{
	start(w, key);
	buf_addu(w->b, v);
}

void json_i64(struct json_w *w, const char *key, int64_t v)
{
	start(w, key);
	buf_addf(w->b, "%lld", (long long)v);
}

void json_bool(struct json_w *w, const char *key, bool v)
{
	start(w, key);
	buf_adds(w->b, v ? "true" : "false");
}

void json_null(struct json_w *w, const char *key)
{
	start(w, key);
	buf_adds(w->b, "null");
}

void json_dbl(struct json_w *w, const char *key, double v)
{
	char tmp[40];

	if (!isfinite(v)) {
		json_null(w, key);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(tmp, sizeof(tmp), "%.*g", digits, v);
		if (fabs(strtod(tmp, NULL) - v) <= 0)
			break;
	}
	start(w, key);
	buf_adds(w->b, tmp);
}

void json_raw(struct json_w *w, const char *key, const char *text)
{
	start(w, key);
	buf_adds(w->b, text);
}

void json_strings(struct json_w *w, const char *key, char *const *v, size_t n)
{
	json_open(w, key, '[');
	for (size_t i = 0; i < n; i++)
		json_str(w, NULL, v[i]);
	json_close(w, ']');
}

/* Which texts stood in what the model was sent, and when first: by model.jsonl of the run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "base/path.h"
#include "verifier/pred_internal.h"

/* A tool's result is a string of the request, often one that holds JSON of its own: that many layers of escapes. */
enum { LAYERS = 3 };

static int hex4(const char *s, const char *end)
{
	int v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *at = s[i] ? strchr(digits, s[i]) : NULL;
		int digit = at ? (int)(at - digits) : -1;

		if (digit < 0)
			return -1;
		v = v * 16 + (digit < 16 ? digit : digit - 6);
	}
	return v;
}

static size_t put_utf8(char *out, unsigned c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* The \uXXXX at @p (behind the u), with the second half of a pair. Bytes taken, 0 = none. Never longer than it was. */
static size_t unescape_u(const char *p, const char *end, char *out, size_t *ret_put)
{
	int c = hex4(p, end), low;

	if (c < 0)
		return 0;
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
		low = hex4(p + 6, end);
		if (low >= 0xdc00 && low < 0xe000) {
			*ret_put = put_utf8(out, 0x10000u + ((unsigned)c - 0xd800u) * 0x400u +
							 ((unsigned)low - 0xdc00u));
			return 10;
		}
	}
	*ret_put = put_utf8(out, (unsigned)c);
	return 4;
}

/* One layer of JSON's escapes off @s, in place. Its new length. */
static size_t unescape(char *s, size_t n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = s, *end = s + n, *at;
	char *out = s;

	while (p < end) {
		size_t taken, put = 0;

		if (*p != '\\' || p + 1 == end) {
			*out++ = *p++;
			continue;
		}
		taken = p[1] == 'u' ? unescape_u(p + 2, end, out, &put) : 0;
		at = p[1] ? strchr(from, p[1]) : NULL;
		if (taken) {
			out += put;
			p += 2 + taken;
		} else if (at) {
			*out++ = to[at - from];
			p += 2;
		} else {
			*out++ = *p++;
		}
	}
	return (size_t)(out - s);
}

static void look_in(const struct strv *texts, char *body, size_t n, uint64_t call, uint64_t *first)
{
	for (int layer = 0; layer < LAYERS; layer++) {
		n = unescape(body, n);
		strv_each (i, texts) {
			if (call < first[i] && memmem(body, n, texts->v[i], strlen(texts->v[i])))
				first[i] = call;
		}
	}
}

int pred_reached_line(const struct strv *texts, const char *name, const char *line, size_t n,
		      uint64_t last, uint64_t *first, struct err *err)
{
	auto_free char *body = NULL;
	struct jslice root, item;
	uint64_t call = 0;
	size_t len;
	int rc = jslice_parse(name, line, n, &root, err);

	if (rc < 0)
		return rc;
	item = jslice_get(root, "call");
	if (jslice_kind(item) != '0' || item.n > 15)
		return 0;
	for (size_t i = 0; i < item.n; i++) {
		if (item.s[i] < '0' || item.s[i] > '9')
			return 0;
		call = call * 10 + (uint64_t)(item.s[i] - '0');
	}
	if (call > last)
		return 0;
	body = jslice_text(jslice_get(root, "request"), &len);
	if (body)
		look_in(texts, body, len, call, first);
	return 0;
}

int pred_reached(const char *dir, const struct strv *texts, uint64_t last, uint64_t *first,
		 struct err *err)
{
	auto_free char *path = path_join(dir, "model.jsonl");
	auto_free char *line = NULL;
	FILE *f = fopen(path, "re");
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	strv_each (i, texts)
		first[i] = UINT64_MAX;
	if (!f)
		return err_set(err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	/* What has no end was cut by a kill, and its answer was never given. */
	while (rc == 0 && (n = getline(&line, &cap, f)) > 0 && line[n - 1] == '\n')
		rc = pred_reached_line(texts, path, line, (size_t)n, last, first, err);
	fclose(f);
	return rc;
}

uint64_t pred_call_at(const struct pred_set *set, uint64_t n)
{
	size_t lo = 0, hi = set->n_calls;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (set->call[mid].n <= n)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? set->call[lo - 1].most : 0;
}

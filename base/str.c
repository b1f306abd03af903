#include "base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void strv_take(struct strv *sv, char *s)
{
	MEM_GROW(sv->v, sv->cap, sv->n + 2);
	sv->v[sv->n++] = s;
	sv->v[sv->n] = NULL;
}

void strv_add(struct strv *sv, const char *s)
{
	strv_take(sv, mem_strdup(s));
}

void strv_done(struct strv *sv)
{
	for (size_t i = 0; i < sv->n; i++)
		free(sv->v[i]);
	free(sv->v);
	sv->v = NULL;
	sv->n = sv->cap = 0;
}

bool strv_has(const struct strv *sv, const char *s)
{
	for (size_t i = 0; i < sv->n; i++) {
		if (str_eq(sv->v[i], s))
			return true;
	}
	return false;
}

void strv_copy(struct strv *to, const struct strv *from)
{
	strv_done(to);
	for (size_t i = 0; i < from->n; i++)
		strv_add(to, from->v[i]);
}

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* Digits at *s into *ret; moves *s behind them. -1 on overflow or no digit. */
static int digits(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -1;
	}
	*s = p;
	*ret = v;
	return 0;
}

int str_u64(const char *s, uint64_t *ret)
{
	uint64_t v;

	if (digits(&s, &v) < 0 || *s)
		return -1;
	*ret = v;
	return 0;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

static int with_unit(const char *s, const struct unit *units, size_t n, uint64_t *ret)
{
	uint64_t v;

	if (digits(&s, &v) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(s, units[i].suffix) == 0)
			return __builtin_mul_overflow(v, units[i].factor, ret) ? -1 : 0;
	}
	return -1;
}

int str_size(const char *s, uint64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1 },           { "B", 1 },          { "K", 1ull << 10 },
		{ "M", 1ull << 20 }, { "G", 1ull << 30 }, { "T", 1ull << 40 },
	};
	uint64_t v;

	if (with_unit(s, units, ARRAY_SIZE(units), &v) < 0)
		return -1;
	*ret = v;
	return 0;
}

int str_duration(const char *s, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{ "", 1000000000ull },   { "ms", 1000000ull },      { "s", 1000000000ull },
		{ "m", 60000000000ull }, { "h", 3600000000000ull }, { "d", 86400000000000ull },
	};
	uint64_t v;

	if (with_unit(s, units, ARRAY_SIZE(units), &v) < 0)
		return -1;
	*ret_ns = v;
	return 0;
}

int str_money(const char *s, uint64_t *ret_micro)
{
	uint64_t whole, frac = 0;

	if (digits(&s, &whole) < 0 || __builtin_mul_overflow(whole, 1000000u, &whole))
		return -1;
	if (*s == '.') {
		size_t n = strspn(++s, "0123456789");

		if (n < 1 || n > 6 || digits(&s, &frac) < 0)
			return -1;
		for (; n < 6; n++)
			frac *= 10;
	}
	if (*s || __builtin_add_overflow(whole, frac, &whole))
		return -1;
	*ret_micro = whole;
	return 0;
}

/* Levenshtein distance of two short strings; large values for long ones. */
static unsigned distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	unsigned row[LONGEST + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > LONGEST || m > LONGEST)
		return UINT_MAX;
	for (unsigned j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diag = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = diag + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = row[j];
			row[j] = best;
		}
	}
	return row[m];
}

const char *str_nearest(const char *s, const char *const *choices)
{
	const char *best = NULL;
	unsigned best_d = UINT_MAX;

	for (; *choices; choices++) {
		unsigned d = distance(s, *choices);

		if (d < best_d) {
			best_d = d;
			best = *choices;
		}
	}
	return best && best_d <= 1 + strlen(best) / 3 ? best : NULL;
}

bool str_path_glob(const char *p, const char *s)
{
	for (; *p; p++, s++) {
		if (p[0] == '*' && p[1] == '*') {
			p += 2;
			if (*p == '/') {
				if (str_path_glob(p + 1, s))
					return true;
			} else if (!*p) {
				return true;
			}
			for (; *s; s++) {
				if (str_path_glob(*p == '/' ? p + 1 : p, s + (*p == '/')) &&
				    (*p != '/' || *s == '/'))
					return true;
			}
			return false;
		}
		if (*p == '*') {
			for (;; s++) {
				if (str_path_glob(p + 1, s))
					return true;
				if (!*s || *s == '/')
					return false;
			}
		}
		if (!*s || (*p == '?' ? *s == '/' : *p != *s))
			return false;
	}
	return !*s;
}

/* Length that the first byte of a sequence promises; 0 when none may begin so. */
static unsigned utf8_promise(unsigned c)
{
	static const struct {
		unsigned below, len;
	} rows[] = { { 0x80, 1 }, { 0xc2, 0 }, { 0xe0, 2 }, { 0xf0, 3 }, { 0xf5, 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (c < rows[i].below)
			return rows[i].len;
	}
	return 0;
}

/* Is the second byte in the range that the first one leaves: no overlong form, no surrogate,
 * nothing beyond U+10FFFF? */
static bool utf8_second(unsigned c, unsigned d)
{
	static const struct {
		unsigned first, low, high;
	} rows[] = { { 0xe0, 0xa0, 0xbf },
		     { 0xed, 0x80, 0x9f },
		     { 0xf0, 0x90, 0xbf },
		     { 0xf4, 0x80, 0x8f } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (c == rows[i].first)
			return d >= rows[i].low && d <= rows[i].high;
	}
	return true;
}

bool str_utf8(const char *str, size_t n, size_t *ret_bad)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t i = 0;

	while (i < n) {
		unsigned len = utf8_promise(s[i]);
		bool ok = len && len <= n - i;

		for (unsigned k = 1; ok && k < len; k++)
			ok = (s[i + k] & 0xc0) == 0x80;
		if (!ok || (len > 2 && !utf8_second(s[i], s[i + 1]))) {
			if (ret_bad)
				*ret_bad = i;
			return false;
		}
		i += len;
	}
	return true;
}

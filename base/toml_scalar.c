#include "base/toml_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define EXACT ((int64_t)1 << 53) /* whole numbers beyond are not all doubles */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* @n digits at @s within [lo, hi]; *ret gets the number. */
static bool field(const char *s, unsigned n, unsigned lo, unsigned hi, unsigned *ret)
{
	unsigned v = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return false;
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	*ret = v;
	return v >= lo && v <= hi;
}

/* "YYYY-MM-DD" with a day that the month has. */
static bool is_date(const char *s, size_t n)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned y, m, d;
	bool leap;

	if (n < 10 || !field(s, 4, 0, 9999, &y) || s[4] != '-' || !field(s + 5, 2, 1, 12, &m) ||
	    s[7] != '-' || !field(s + 8, 2, 1, 31, &d))
		return false;
	leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	return d <= days[m - 1] + (unsigned)(m == 2 && leap);
}

/* "HH:MM:SS[.FRACTION]": its length, 0 when it is none. RFC 3339 allows second 60. */
static size_t time_len(const char *s, size_t n)
{
	unsigned v;
	size_t i = 8;

	if (n < 8 || !field(s, 2, 0, 23, &v) || s[2] != ':' || !field(s + 3, 2, 0, 59, &v) ||
	    s[5] != ':' || !field(s + 6, 2, 0, 60, &v))
		return 0;
	if (n > 8 && s[8] == '.') {
		for (i = 9; i < n && is_digit(s[i]); i++)
			;
		return i > 9 ? i : 0;
	}
	return i;
}

/* "Z" or "+HH:MM" and nothing else. */
static bool is_offset(const char *s, size_t n)
{
	unsigned v;

	if (n == 1)
		return *s == 'Z' || *s == 'z';
	return n == 6 && (*s == '+' || *s == '-') && field(s + 1, 2, 0, 23, &v) && s[3] == ':' &&
	       field(s + 4, 2, 0, 59, &v);
}

/* A date, a time, or both, of @n bytes. False when it is neither. */
static bool moment(const char *s, size_t n, cJSON **ret)
{
	size_t date = is_date(s, n) ? 10 : 0, time;
	enum toml_kind kind = TOML_LOCAL_DATE;
	auto_free char *text = mem_strndup(s, n);

	if (date && n > date) {
		if (!strchr("Tt ", s[date]) || n == ++date)
			return false;
	}
	time = n > date ? time_len(s + date, n - date) : 0;
	if (n > date && !time)
		return false;
	if (time)
		kind = date ? TOML_LOCAL_DATE_TIME : TOML_LOCAL_TIME;
	if (n > date + time) {
		if (!date || !is_offset(s + date + time, n - date - time))
			return false;
		kind = TOML_OFFSET_DATE_TIME;
	}
	if (date > 10)
		text[10] = 'T';
	if (text[n - 1] == 'z')
		text[n - 1] = 'Z';
	*ret = toml_new_string(text, kind);
	return true;
}

/* Digits of @base into @out without the underscores between them; at least one. False when there is something
 * else. */
static bool digits(const char *s, size_t n, int base, struct buf *out)
{
	bool before = false;

	for (size_t i = 0; i < n; i++) {
		bool digit = base == 16 ? strchr("0123456789abcdefABCDEF", s[i]) != NULL
					: s[i] >= '0' && s[i] < '0' + base;

		if (s[i] == '_' && before && i + 1 < n && s[i + 1] != '_') {
			before = false;
			continue;
		}
		if (!digit)
			return false;
		buf_addc(out, s[i]);
		before = true;
	}
	return n > 0 && before;
}

static cJSON *number(double v, enum toml_kind kind)
{
	cJSON *item = cJSON_CreateNumber(v);

	ensure(item, "out of memory");
	return toml_mark(item, kind);
}

/* 1 an integer, 0 none, -1 one that 64 bits do not hold. */
static int integer(const char *s, size_t n, cJSON **ret)
{
	auto_buf b = BUF_INIT(n + 2);
	const char *prefix = n > 2 && s[0] == '0' ? strchr("xob", s[1]) : NULL;
	size_t sign = n && (*s == '+' || *s == '-');
	int base = 10;
	long long v;

	if (prefix && *prefix) {
		base = *prefix == 'x' ? 16 : *prefix == 'o' ? 8 : 2;
		sign = 2;
	} else if (n > sign + 1 && s[sign] == '0') {
		return 0;
	} else if (sign) {
		buf_addc(&b, *s);
	}
	if (!digits(s + sign, n - sign, base, &b))
		return 0;
	errno = 0;
	v = strtoll(buf_str(&b), NULL, base);
	if (errno == ERANGE)
		return -1;
	*ret = number((double)v, TOML_INTEGER);
	if (v > EXACT || v < -EXACT) {
		char text[24];

		snprintf(text, sizeof(text), "%lld", v);
		/* cJSON frees it with the item and looks at it for strings only. */
		(*ret)->valuestring = mem_strdup(text);
	}
	return 1;
}

/* "inf" and "nan" with or without a sign. */
static bool special(const char *s, size_t n, double *ret)
{
	size_t sign = n && (*s == '+' || *s == '-');

	if (n - sign != 3 || (memcmp(s + sign, "inf", 3) != 0 && memcmp(s + sign, "nan", 3) != 0))
		return false;
	*ret = s[sign] == 'n' ? NAN : *s == '-' ? -INFINITY : INFINITY;
	return true;
}

/* The digits at s[*i] without underscores into @out; *i comes behind them. False when there are none. */
static bool digit_run(const char *s, size_t n, size_t *i, struct buf *out)
{
	size_t from = *i;

	while (*i < n && (is_digit(s[*i]) || s[*i] == '_'))
		++*i;
	return digits(s + from, *i - from, 10, out);
}

/* A sign, when one stands at s[*i]. */
static void sign_at(const char *s, size_t n, size_t *i, struct buf *out)
{
	if (*i < n && (s[*i] == '+' || s[*i] == '-'))
		buf_addc(out, s[(*i)++]);
}

static bool real(const char *s, size_t n, cJSON **ret)
{
	auto_buf b = BUF_INIT(n + 8);
	size_t i = 0, whole;
	double v;

	if (special(s, n, &v)) {
		*ret = number(v, TOML_FLOAT);
		return true;
	}
	sign_at(s, n, &i, &b);
	whole = i;
	if (!digit_run(s, n, &i, &b) || (i - whole > 1 && s[whole] == '0'))
		return false;
	if (i < n && s[i] == '.') {
		buf_addc(&b, s[i++]);
		if (!digit_run(s, n, &i, &b))
			return false;
	}
	if (i < n && (s[i] | 0x20) == 'e') {
		buf_addc(&b, s[i++]);
		sign_at(s, n, &i, &b);
		if (!digit_run(s, n, &i, &b))
			return false;
	}
	if (i < n)
		return false;
	*ret = number(strtod(buf_str(&b), NULL), TOML_FLOAT);
	return true;
}

/* Bytes of the token at the place of @p: a date and a time may have one blank between them. */
static size_t token(const struct toml *p)
{
	static const char set[] = "+-_.:";
	const char *s = p->text + p->at;
	size_t max = p->n - p->at, n = 0;

	for (; n < max; n++) {
		bool word = is_digit(s[n]) || ((s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'z') ||
			    (s[n] && strchr(set, s[n]));

		if (!word &&
		    !(s[n] == ' ' && n == 10 && n + 1 < max && is_digit(s[n + 1]) && is_date(s, n)))
			break;
	}
	return n;
}

int toml_scalar(struct toml *p, cJSON **ret)
{
	const char *s = p->text + p->at;
	size_t n = token(p), from = p->at;
	int rc;

	if (!n)
		return toml_fail(p, from, "expected a value");
	p->at += n;
	if (moment(s, n, ret))
		return 0;
	rc = integer(s, n, ret);
	if (rc < 0)
		return toml_fail(p, from, "this number does not fit into 64 bits");
	if (rc > 0 || real(s, n, ret))
		return 0;
	return toml_fail(
		p, from,
		"no value of TOML: a text needs quotes, a number has no leading zeros, a date is "
		"YYYY-MM-DD");
}

#include "base/jslice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define DIGITS "0123456789"

/* Where a check stands. */
struct scan {
	const char *s;
	size_t n, at;
	const char *why; /* static: what is wrong at @at; NULL = nothing so far */
};

static bool fail(struct scan *sc, const char *why)
{
	sc->why = why;
	return false;
}

static void skip_blanks(struct scan *sc)
{
	while (sc->at < sc->n && sc->s[sc->at] && strchr(" \t\r\n", sc->s[sc->at]))
		sc->at++;
}

/* The byte at hand; 0 at the end, which is no byte of JSON outside a string. */
static char look(const struct scan *sc)
{
	return sc->at < sc->n ? sc->s[sc->at] : '\0';
}

static int hex4(const char *s, size_t n)
{
	int v = 0;

	if (n < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;
		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

static bool scan_escape(struct scan *sc)
{
	char c = sc->at + 1 < sc->n ? sc->s[sc->at + 1] : '\0';

	if (c == 'u') {
		if (hex4(sc->s + sc->at + 2, sc->n - sc->at - 2) < 0)
			return fail(sc, "\\u needs four hexadecimal digits");
		sc->at += 6;
		return true;
	}
	if (!c || !strchr("\"\\/bfnrt", c))
		return fail(sc, "an escape that JSON does not have");
	sc->at += 2;
	return true;
}

static bool scan_string(struct scan *sc)
{
	size_t from = sc->at++;

	while (sc->at < sc->n) {
		unsigned char c = (unsigned char)sc->s[sc->at];

		if (c == '"') {
			sc->at++;
			return true;
		}
		if (c < 0x20)
			return fail(sc, "a control byte in a string must be written as an escape");
		if (c != '\\')
			sc->at++;
		else if (!scan_escape(sc))
			return false;
	}
	sc->at = from;
	return fail(sc, "this string does not end: the text is cut off");
}

static size_t digits(struct scan *sc)
{
	size_t from = sc->at;

	while (look(sc) >= '0' && look(sc) <= '9')
		sc->at++;
	return sc->at - from;
}

static bool scan_number(struct scan *sc)
{
	size_t from = sc->at, n;
	bool zero;

	if (look(sc) == '-')
		sc->at++;
	zero = look(sc) == '0';
	n = digits(sc);
	if (!n || (zero && n > 1))
		goto bad;
	if (look(sc) == '.') {
		sc->at++;
		if (!digits(sc))
			goto bad;
	}
	if (look(sc) == 'e' || look(sc) == 'E') {
		sc->at++;
		if (look(sc) == '+' || look(sc) == '-')
			sc->at++;
		if (!digits(sc))
			goto bad;
	}
	return true;
bad:
	sc->at = from;
	return fail(sc, "not a number");
}

/* A value that holds no others. */
static bool scan_plain(struct scan *sc)
{
	static const char *const words[] = {
		"true", "false", "null", "NaN", "Infinity", "-Infinity"
	};
	char c = look(sc);

	if (c == '"')
		return scan_string(sc);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if (sc->n - sc->at >= n && memcmp(sc->s + sc->at, words[i], n) == 0) {
			sc->at += n;
			return true;
		}
	}
	if (c && strchr("-" DIGITS, c))
		return scan_number(sc);
	return fail(sc, sc->at < sc->n ? "not valid JSON from here on"
				       : "the text ends in the middle of a value");
}

/* Key and colon. */
static bool scan_key(struct scan *sc)
{
	skip_blanks(sc);
	if (look(sc) != '"')
		return fail(sc, "expected a key in double quotes");
	if (!scan_string(sc))
		return false;
	skip_blanks(sc);
	if (look(sc) != ':')
		return fail(sc, "expected \":\" behind the key");
	sc->at++;
	return true;
}

/* What stands behind a complete value inside of @open: a comma (and the next key), or the end of what is
 * around it, again and again. *depth 0 = the whole value is complete. */
static bool scan_behind(struct scan *sc, const char *open, unsigned *depth)
{
	while (*depth) {
		bool object = open[*depth - 1] == '{';

		skip_blanks(sc);
		if (look(sc) == ',') {
			sc->at++;
			return !object || scan_key(sc);
		}
		if (look(sc) != (object ? '}' : ']'))
			return fail(sc,
				    object ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
		sc->at++;
		--*depth;
	}
	return true;
}

static bool scan_value(struct scan *sc)
{
	char open[JSLICE_DEPTH_MAX];
	unsigned depth = 0;

	do {
		char c;

		skip_blanks(sc);
		c = look(sc);
		if (c != '{' && c != '[') {
			if (!scan_plain(sc) || !scan_behind(sc, open, &depth))
				return false;
			continue;
		}
		if (depth == JSLICE_DEPTH_MAX)
			return fail(sc, "nested deeper than 128 levels");
		open[depth++] = c;
		sc->at++;
		skip_blanks(sc);
		if (look(sc) == (c == '{' ? '}' : ']')) {
			if (!scan_behind(sc, open, &depth))
				return false;
		} else if (c == '{' && !scan_key(sc)) {
			return false;
		}
	} while (depth);
	return true;
}

size_t jslice_line(const char *text, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

static int complain(const char *name, const struct scan *sc, struct err *err)
{
	size_t col = 1;

	for (size_t i = sc->at; i > 0 && sc->s[i - 1] != '\n'; i--)
		col++;
	return err_set(err, ERR_INPUT, "%s:%zu:%zu: %s", name, jslice_line(sc->s, sc->at), col,
		       sc->why);
}

int jslice_next(const char *name, const char *text, size_t n, size_t *at, struct jslice *ret,
		struct err *err)
{
	struct scan sc = { .s = text, .n = n, .at = *at };
	size_t from;

	if (n - sc.at >= 3 && sc.at == 0 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		sc.at = 3; /* a byte order mark, which some editors put in front */
	skip_blanks(&sc);
	from = sc.at;
	if (from < n && !scan_value(&sc))
		return complain(name, &sc, err);
	*at = sc.at;
	*ret = (struct jslice){ from < n ? text + from : NULL, sc.at - from };
	return from < n;
}

int jslice_parse(const char *name, const char *text, size_t n, struct jslice *ret, struct err *err)
{
	struct scan sc = { .s = text, .n = n };
	int rc = jslice_next(name, text, n, &sc.at, ret, err);

	if (rc < 0)
		return rc;
	skip_blanks(&sc);
	if (rc > 0 && sc.at == n)
		return 0;
	sc.why = rc ? "expected nothing behind the value" : "no JSON value in this text";
	return complain(name, &sc, err);
}

char jslice_kind(struct jslice v)
{
	if (!v.n)
		return '\0';
	if (strchr("-NI" DIGITS, v.s[0]))
		return '0';
	return v.s[0];
}

struct jslice_walk jslice_walk(struct jslice v)
{
	char kind = jslice_kind(v);

	if (kind != '{' && kind != '[')
		return (struct jslice_walk){ .p = NULL };
	return (struct jslice_walk){ .p = v.s + 1, .end = v.s + v.n - 1, .object = kind == '{' };
}

/* Length of the string that begins at @s, in checked text. */
static size_t string_len(const char *s)
{
	const char *p = s + 1;

	while (*p != '"')
		p += *p == '\\' ? 2 : 1;
	return (size_t)(p + 1 - s);
}

/* Behind the value at @p, in checked text. */
static const char *behind_value(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		if (*p == '"') {
			p += string_len(p);
			if (!depth)
				return p;
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && --depth == 0)
			return p + 1;
		else if (!depth && strchr(", \t\r\n", *p))
			return p;
		p++;
	}
	return p;
}

/* Over blanks, commas and colons: in checked text they stand where they must. */
static const char *to_next(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r\n,:", *p))
		p++;
	return p;
}

bool jslice_member(struct jslice_walk *w, struct jslice *key, struct jslice *value)
{
	struct jslice k = { NULL, 0 };

	if (!w->p)
		return false;
	w->p = to_next(w->p, w->end);
	if (w->p >= w->end) {
		w->p = NULL;
		return false;
	}
	if (w->object) {
		k = (struct jslice){ w->p, string_len(w->p) };
		w->p = to_next(w->p + k.n, w->end);
	}
	value->s = w->p;
	w->p = behind_value(w->p, w->end);
	value->n = (size_t)(w->p - value->s);
	if (key)
		*key = k;
	return true;
}

bool jslice_is(struct jslice v, const char *s)
{
	size_t n = strlen(s), got;
	auto_free char *text = NULL;

	if (jslice_kind(v) != '"')
		return false;
	if (!memchr(v.s, '\\', v.n))
		return v.n == n + 2 && memcmp(v.s + 1, s, n) == 0;
	text = jslice_text(v, &got);
	return got == n && memcmp(text, s, n) == 0;
}

struct jslice jslice_get(struct jslice v, const char *key)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice k, value;

	for (unsigned i = 0; i < JSLICE_KEYS_MAX && w.object && jslice_member(&w, &k, &value); i++)
		if (jslice_is(k, key))
			return value;
	return (struct jslice){ NULL, 0 };
}

struct jslice jslice_twice(struct jslice v)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice k, value, ret = { NULL, 0 };
	auto_strv seen = { 0 };

	while (w.object && !ret.n && seen.n < JSLICE_KEYS_MAX && jslice_member(&w, &k, &value)) {
		char *text = jslice_text(k, NULL);

		if (strv_has(&seen, text))
			ret = k;
		strv_take(&seen, text);
	}
	return ret;
}

/* UTF-8 of a code point; surrogates, too, in three bytes. */
static char *put_code(char *w, unsigned c)
{
	if (c < 0x80) {
		*w++ = (char)c;
	} else if (c < 0x800) {
		*w++ = (char)(0xc0 | c >> 6);
		*w++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*w++ = (char)(0xe0 | c >> 12);
		*w++ = (char)(0x80 | (c >> 6 & 63));
		*w++ = (char)(0x80 | (c & 63));
	} else {
		*w++ = (char)(0xf0 | c >> 18);
		*w++ = (char)(0x80 | (c >> 12 & 63));
		*w++ = (char)(0x80 | (c >> 6 & 63));
		*w++ = (char)(0x80 | (c & 63));
	}
	return w;
}

/* "\uXXXX" at *@p, and the second half of a pair. */
static char *put_unicode(char *w, const char **p, const char *end)
{
	unsigned c = (unsigned)hex4(*p + 2, 4);

	*p += 6;
	if (c >= 0xd800 && c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
		unsigned low = (unsigned)hex4(*p + 2, 4);

		if (low >= 0xdc00 && low < 0xe000) {
			*p += 6;
			return put_code(w, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
		}
	}
	if (c >= 0xdc80 && c <= 0xdcff) {
		*w++ = (char)(c - 0xdc00);
		return w;
	}
	return put_code(w, c);
}

char *jslice_text(struct jslice v, size_t *ret_n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p, *end;
	char *out, *w;

	if (jslice_kind(v) != '"')
		return NULL;
	p = v.s + 1;
	end = v.s + v.n - 1;
	out = w = mem_alloc(v.n); /* an escape is never shorter than what it stands for */
	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);

		memcpy(w, p, n);
		w += n;
		p += n;
		if (p == end)
			break;
		if (p[1] == 'u') {
			w = put_unicode(w, &p, end);
			continue;
		}
		*w++ = to[strchr(from, p[1]) - from];
		p += 2;
	}
	*w = '\0';
	if (ret_n)
		*ret_n = (size_t)(w - out);
	return out;
}

char *jslice_cstr(struct jslice v)
{
	size_t n;
	char *s = jslice_text(v, &n);

	if (s && strlen(s) != n) {
		free(s);
		return NULL;
	}
	return s;
}

static int put_byte(struct buf *out, unsigned char c)
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
	const char *at = c ? strchr(from, c) : NULL;

	if (at)
		return buf_addf(out, "\\%c", to[at - from]);
	return buf_addf(out, c < 0x80 ? "\\u%04x" : "\\udc%02x", c);
}

int jslice_put(struct buf *out, const char *s, size_t n)
{
	size_t from = 0, i = 0;

	buf_addc(out, '"');
	while (i < n) {
		unsigned char c = (unsigned char)s[i];
		size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

		if (len == 1 ? c >= 0x20 && c != '"' && c != '\\' && c != 0x7f
			     : len <= n - i && str_utf8(s + i, len, NULL)) {
			i += len;
			continue;
		}
		buf_add(out, s + from, i - from);
		put_byte(out, c);
		from = ++i;
	}
	buf_add(out, s + from, n - from);
	buf_addc(out, '"');
	return out->full ? -1 : 0;
}

int jslice_raw(struct buf *out, struct jslice v)
{
	char *to = buf_reserve(out, v.n);

	if (!to)
		return -1;
	for (size_t i = 0; i < v.n; i++)
		to[i] = v.s[i] == '\n' || v.s[i] == '\r' ? ' ' : v.s[i];
	to[v.n] = '\0';
	out->len += v.n;
	return 0;
}

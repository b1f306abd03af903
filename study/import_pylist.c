/* Lists of strings in Python's spelling: SWE-bench Pro has them in its rows, to be given to eval(). */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jslice.h"
#include "study/import_rows_internal.h"

#define STRING_MAX (1u << 20) /* bytes of one string */

static const char *blanks(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* @n digits in base 16 or 8 (at least @least of them); -1 when they are not there. */
static long digits(const char **s, int base, size_t least, size_t most)
{
	char text[12] = { 0 };
	size_t n = 0;

	while (n < most && (*s)[n] &&
	       strchr(base == 8 ? "01234567" : "0123456789abcdefABCDEF", (*s)[n])) {
		text[n] = (*s)[n];
		n++;
	}
	if (n < least)
		return -1;
	*s += n;
	return strtol(text, NULL, base);
}

static void put_code(struct buf *b, unsigned long c)
{
	auto_buf json = BUF_INIT(64);
	struct jslice v;
	char *text;

	if (c >= 0x10000)
		buf_addf(&json, "\"\\u%04lx\\u%04lx\"", 0xd800 + ((c - 0x10000) >> 10),
			 0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		buf_addf(&json, "\"\\u%04lx\"", c);
	v = (struct jslice){ buf_str(&json), json.len };
	text = jslice_text(v, NULL);
	buf_adds(b, text);
	free(text);
}

/* Behind the backslash. -1 for what no C string or no Python has. */
static int escape(const char **s, struct buf *b)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	static const struct {
		char c;
		size_t n;
	} hex[] = { { 'x', 2 }, { 'u', 4 }, { 'U', 8 } };
	char c = **s;
	const char *at = c ? strchr(from, c) : NULL;
	long v;

	if (!c)
		return -1;
	if (c >= '0' && c <= '7') {
		v = digits(s, 8, 1, 3);
		goto code;
	}
	++*s;
	if (at) {
		buf_addc(b, to[at - from]);
		return 0;
	}
	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++)
		if (hex[i].c == c) {
			v = digits(s, 16, hex[i].n, hex[i].n);
			goto code;
		}
	if (c != '\n') { /* Python keeps the backslash of what is no escape */
		buf_addc(b, '\\');
		buf_addc(b, c);
	}
	return 0;
code:
	if (v <= 0 || v > 0x10ffff)
		return -1;
	put_code(b, (unsigned long)v);
	return 0;
}

/* One string in either kind of quotes. */
static int string(const char **s, struct strv *out)
{
	auto_buf b = BUF_INIT(STRING_MAX);
	char quote = *(*s)++;

	while (**s && **s != quote) {
		if (**s == '\\') {
			++*s;
			if (escape(s, &b) < 0)
				return -1;
		} else {
			buf_addc(&b, *(*s)++);
		}
	}
	if (!**s || b.full)
		return -1;
	++*s;
	strv_add(out, buf_str(&b));
	return 0;
}

int pylist_parse(const char *s, struct strv *out)
{
	char close;

	s = blanks(s);
	if (*s != '[' && *s != '(')
		return -1;
	close = *s == '[' ? ']' : ')';
	s = blanks(s + 1);
	while (*s != close) {
		if ((*s != '\'' && *s != '"') || string(&s, out) < 0)
			return -1;
		s = blanks(s);
		if (*s == ',')
			s = blanks(s + 1);
		else if (*s != close)
			return -1;
	}
	return *blanks(s + 1) ? -1 : 0;
}

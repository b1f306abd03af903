#include "verifier/compat_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/readers/testlog_internal.h"

struct compat compat_start(const struct testlog_input *in, struct test_results *out)
{
	struct piece text = { in->log, in->log_len };

	return (struct compat){ .in = in, .out = out, .text = text, .at = text };
}

bool compat_line(struct piece *rest, struct piece *line)
{
	const char *nl;

	if (!rest->s)
		return false;
	nl = memchr(rest->s, '\n', rest->n);
	line->s = rest->s;
	line->n = nl ? (size_t)(nl - rest->s) : rest->n;
	rest->n -= line->n + (nl != NULL);
	rest->s = nl ? nl + 1 : NULL;
	return true;
}

bool compat_next(struct compat *c, struct piece *rest, struct piece *line)
{
	if (!compat_line(rest, line))
		return false;
	c->at = *line;
	return true;
}

bool compat_part(struct piece *text, const char *mark, struct piece *part)
{
	const char *at = compat_find_first(*text, mark);

	if (!at)
		return false;
	*text = compat_from(*text, at + strlen(mark));
	at = compat_find_first(*text, mark);
	*part = at ? compat_before(*text, at) : *text;
	return true;
}

/* Where results come from: a line of the log, or all of it when the text was made from it. */
static void span(const struct compat *c, uint64_t *from, uint64_t *to)
{
	uintptr_t log = (uintptr_t)c->in->log, at = (uintptr_t)c->at.s;
	bool inside =
		at >= log && at - log <= c->in->log_len && c->at.n <= c->in->log_len - (at - log);

	*from = inside ? at - log : 0;
	*to = inside ? *from + c->at.n : c->in->log_len;
}

void compat_set(struct compat *c, struct piece name, enum test_status s)
{
	auto_free char *id = testlog_name(name.s, name.n, c->in->root);
	struct test_result *old = testlog_get(c->out, id);
	uint64_t from, to;

	span(c, &from, &to);
	if (!old) {
		testlog_add(c->out, id, strlen(id), s, from, to);
		return;
	}
	old->status = s;
	old->from = from;
	old->to = to;
}

void compat_set2(struct compat *c, struct piece a, const char *separator, struct piece b,
		 enum test_status s)
{
	auto_buf name = BUF_INIT(COMPAT_NAME_MAX);
	size_t n = a.n < TESTLOG_NAME_MAX ? a.n : TESTLOG_NAME_MAX;

	buf_add(&name, a.s, n);
	buf_adds(&name, separator);
	buf_add(&name, b.s, b.n < TESTLOG_NAME_MAX ? b.n : TESTLOG_NAME_MAX);
	compat_set(c, (struct piece){ buf_str(&name), name.len }, s);
}

/* White space beyond ASCII: the UTF-8 forms of U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028,
 * U+2029, U+202F, U+205F and U+3000, without the last byte, and its range. */
static size_t wide_space(const unsigned char *s, size_t n)
{
	static const struct {
		unsigned char head[2], first, last;
	} rows[] = {
		{ { 0xe1, 0x9a }, 0x80, 0x80 }, { { 0xe2, 0x80 }, 0x80, 0x8a },
		{ { 0xe2, 0x80 }, 0xa8, 0xa9 }, { { 0xe2, 0x80 }, 0xaf, 0xaf },
		{ { 0xe2, 0x81 }, 0x9f, 0x9f }, { { 0xe3, 0x80 }, 0x80, 0x80 },
	};

	if (n >= 2 && s[0] == 0xc2)
		return s[1] == 0x85 || s[1] == 0xa0 ? 2 : 0;
	for (size_t i = 0; n >= 3 && i < ARRAY_SIZE(rows); i++)
		if (memcmp(s, rows[i].head, 2) == 0 && s[2] >= rows[i].first &&
		    s[2] <= rows[i].last)
			return 3;
	return 0;
}

size_t compat_space(struct piece p)
{
	const unsigned char *s = (const unsigned char *)p.s;

	if (!p.n)
		return 0;
	if (s[0] < 0x80)
		return s[0] == ' ' || (s[0] >= 0x09 && s[0] <= 0x0d) ||
		       (s[0] >= 0x1c && s[0] <= 0x1f);
	return wide_space(s, p.n);
}

size_t compat_space_end(struct piece p)
{
	for (size_t n = 1; n <= 3 && n <= p.n; n++)
		if (compat_space((struct piece){ p.s + p.n - n, n }) == n)
			return n;
	return 0;
}

struct piece compat_lstrip(struct piece p)
{
	for (size_t n; (n = compat_space(p)); p.n -= n)
		p.s += n;
	return p;
}

struct piece compat_rstrip(struct piece p)
{
	for (size_t n; (n = compat_space_end(p));)
		p.n -= n;
	return p;
}

struct piece compat_strip(struct piece p)
{
	return compat_rstrip(compat_lstrip(p));
}

size_t compat_indent(struct piece line)
{
	size_t count = 0;

	for (size_t n; (n = compat_space(line)); line.n -= n, count++)
		line.s += n;
	return count;
}

struct piece compat_word(struct piece *rest)
{
	struct piece p = compat_lstrip(*rest), word = { p.s, 0 };

	while (word.n < p.n && !compat_space((struct piece){ p.s + word.n, p.n - word.n }))
		word.n++;
	*rest = (struct piece){ p.s + word.n, p.n - word.n };
	return word;
}

bool compat_starts(struct piece p, const char *what)
{
	size_t n = strlen(what);

	return p.n >= n && memcmp(p.s, what, n) == 0;
}

bool compat_ends(struct piece p, const char *what)
{
	size_t n = strlen(what);

	return p.n >= n && memcmp(p.s + p.n - n, what, n) == 0;
}

bool compat_has(struct piece p, const char *what)
{
	return compat_find_first(p, what) != NULL;
}

bool compat_equal(struct piece p, const char *what)
{
	return p.n == strlen(what) && memcmp(p.s, what, p.n) == 0;
}

const char *compat_find_first(struct piece p, const char *what)
{
	return p.n ? memmem(p.s, p.n, what, strlen(what)) : NULL;
}

const char *compat_find_last(struct piece p, const char *what)
{
	size_t n = strlen(what);

	for (size_t at = p.n; at >= n; at--)
		if (memcmp(p.s + at - n, what, n) == 0)
			return p.s + at - n;
	return NULL;
}

struct piece compat_before(struct piece p, const char *at)
{
	return (struct piece){ p.s, (size_t)(at - p.s) };
}

struct piece compat_from(struct piece p, const char *at)
{
	return (struct piece){ at, p.n - (size_t)(at - p.s) };
}

bool compat_eat(struct piece *p, const char *what)
{
	if (!compat_starts(*p, what))
		return false;
	*p = compat_from(*p, p->s + strlen(what));
	return true;
}

bool compat_eat_space(struct piece *p)
{
	size_t n = compat_space(*p);

	*p = compat_from(*p, p->s + n);
	return n != 0;
}

bool compat_eat_digits(struct piece *p)
{
	size_t n = 0;

	while (n < p->n && p->s[n] >= '0' && p->s[n] <= '9')
		n++;
	*p = compat_from(*p, p->s + n);
	return n != 0;
}

int compat_eat_symbol(struct piece *p, const char *const *symbols)
{
	for (int i = 0; symbols[i]; i++)
		if (compat_eat(p, symbols[i]))
			return i;
	return -1;
}

bool compat_cut_time(struct piece *p, bool space)
{
	struct piece q = *p;
	size_t digits = 0, blank;

	if (!compat_ends(q, "s)"))
		return false;
	q.n -= 2;
	q.n -= q.n && q.s[q.n - 1] == 'm';
	if (space)
		q = compat_rstrip(q);
	while (q.n && q.s[q.n - 1] >= '0' && q.s[q.n - 1] <= '9') {
		q.n--;
		digits++;
	}
	if (!digits || !compat_ends(q, "("))
		return false;
	q.n--;
	blank = compat_space_end(q);
	if (!blank || q.n == blank)
		return false;
	p->n = q.n - blank;
	return true;
}

/* The code point at the start of @p (not empty) and its width; a byte that is not UTF-8 is
 * itself. */
static uint32_t decode(struct piece p, size_t *width)
{
	const unsigned char *s = (const unsigned char *)p.s;
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 1;
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	*width = 1;
	if (n > p.n)
		return s[0];
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return s[0];
		c = c << 6 | (s[i] & 0x3f);
	}
	*width = n;
	return c;
}

size_t compat_word_char(struct piece p)
{
	/* clang-format off */
	/* Signs, punctuation, arrows, drawings and emoji; numbers among them are not told apart but
	 * for the circled and the negative circled ones. */
	static const struct {
		uint32_t first, last;
	} signs[] = {
		{ 0x00, 0x2f }, { 0x3a, 0x40 }, { 0x5b, 0x5e }, { 0x60, 0x60 }, { 0x7b, 0xa9 },
		{ 0xab, 0xb1 }, { 0xb4, 0xb4 }, { 0xb6, 0xb8 }, { 0xbb, 0xbb }, { 0xbf, 0xbf },
		{ 0xd7, 0xd7 }, { 0xf7, 0xf7 }, { 0x2000, 0x206f }, { 0x20a0, 0x20cf },
		{ 0x2190, 0x245f }, { 0x249c, 0x24e9 }, { 0x2500, 0x2775 }, { 0x2794, 0x2bff },
		{ 0x2e00, 0x2e7f }, { 0x3000, 0x3004 }, { 0x3008, 0x3020 }, { 0xfe00, 0xfe6f },
		{ 0xff01, 0xff0f }, { 0x1f000, 0x1faff },
	};
	/* clang-format on */
	size_t width;
	uint32_t c;

	if (!p.n)
		return 0;
	c = decode(p, &width);
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (c >= signs[i].first && c <= signs[i].last)
			return 0;
	return width;
}

/* Length of the escape sequence at @s (ESC is there), 0 when it is none of those that are taken
 * off. */
static size_t escape(const char *s, size_t n)
{
	size_t i = 2;

	if (n < 2)
		return 0;
	if (s[1] != '[')
		return s[1] >= '@' && s[1] <= '_' ? 2 : 0;
	while (i < n && s[i] >= '0' && s[i] <= '?')
		i++;
	while (i < n && s[i] >= ' ' && s[i] <= '/')
		i++;
	return i < n && s[i] >= '@' && s[i] <= '~' ? i + 1 : 0;
}

void compat_uncolour(struct piece p, struct buf *out)
{
	while (p.n) {
		const char *esc = memchr(p.s, '\033', p.n);
		size_t n = esc ? (size_t)(esc - p.s) : p.n;

		buf_add(out, p.s, n);
		p = compat_from(p, p.s + n);
		if (!p.n)
			break;
		n = escape(p.s, p.n);
		if (!n)
			buf_addc(out, '\033');
		p = compat_from(p, p.s + (n ? n : 1));
	}
}

void compat_squeeze(struct piece p, struct buf *out)
{
	bool first = true;

	for (struct piece word; (word = compat_word(&p)).n; first = false) {
		if (!first)
			buf_addc(out, ' ');
		buf_add(out, word.s, word.n);
	}
}

void compat_suite(struct compat_suites *s, struct piece line)
{
	size_t indent = compat_indent(line);

	while (s->n && s->indent[s->n - 1] >= indent)
		s->n--;
	if (s->n == COMPAT_SUITES_MAX)
		return;
	s->title[s->n] = compat_strip(line);
	s->indent[s->n++] = indent;
}

void compat_join(const struct compat_suites *s, const char *separator, struct piece test,
		 struct buf *out)
{
	for (size_t i = 0; i < s->n && out->len < TESTLOG_NAME_MAX; i++) {
		size_t n = s->title[i].n < TESTLOG_NAME_MAX ? s->title[i].n : TESTLOG_NAME_MAX;

		buf_add(out, s->title[i].s, n);
		buf_adds(out, separator);
	}
	buf_add(out, test.s, test.n < TESTLOG_NAME_MAX ? test.n : TESTLOG_NAME_MAX);
}

void compat_set_in_suites(struct compat *c, const struct compat_suites *s, struct piece test,
			  enum test_status status)
{
	auto_buf name = BUF_INIT(COMPAT_NAME_MAX);

	compat_join(s, " - ", test, &name);
	compat_set(c, (struct piece){ buf_str(&name), name.len }, status);
}

/* The tokenizer half of jedit.h: where every value of a JSON text stands. */
#include "gateway/jedit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct parse {
	const char *s;
	uint32_t n, at;
	struct jdoc *d;
	size_t cap;
	uint32_t open[JDOC_DEPTH_MAX]; /* containers we are in */
	unsigned depth;
	const char *wrong;
};

static bool fail(struct parse *p, const char *what)
{
	p->wrong = what;
	return false;
}

static int peek(const struct parse *p)
{
	return p->at < p->n ? (unsigned char)p->s[p->at] : -1;
}

static void blanks(struct parse *p)
{
	while (p->at < p->n && p->s[p->at] && strchr(" \t\r\n", p->s[p->at]))
		p->at++;
}

static bool is_hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool escape(struct parse *p)
{
	int c = peek(p);

	p->at++;
	if (c != 'u')
		return (c > 0 && strchr("\"\\/bfnrt", c)) || fail(p, "unknown escape");
	for (int i = 0; i < 4; i++, p->at++)
		if (!is_hex(peek(p)))
			return fail(p, "bad \\u escape");
	return true;
}

/* Skip a string whose quote is next. */
static bool string(struct parse *p)
{
	p->at++;
	for (;;) {
		int c;

		/* most bytes of a request are here */
		while (p->at < p->n && (unsigned char)p->s[p->at] >= 0x20 && p->s[p->at] != '"' &&
		       p->s[p->at] != '\\')
			p->at++;
		c = peek(p);
		if (c < 0)
			return fail(p, "string without end");
		if (c < 0x20)
			return fail(p, "control character in a string");
		p->at++;
		if (c == '"')
			return true;
		if (!escape(p))
			return false;
	}
}

static bool digits(struct parse *p)
{
	uint32_t from = p->at;

	while (peek(p) >= '0' && peek(p) <= '9')
		p->at++;
	return p->at > from || fail(p, "digit expected");
}

static bool number(struct parse *p)
{
	if (peek(p) == '-')
		p->at++;
	if (peek(p) == '0')
		p->at++;
	else if (!digits(p))
		return false;
	if (peek(p) == '.') {
		p->at++;
		if (!digits(p))
			return false;
	}
	if (peek(p) != 'e' && peek(p) != 'E')
		return true;
	p->at++;
	if (peek(p) == '+' || peek(p) == '-')
		p->at++;
	return digits(p);
}

static bool word(struct parse *p, const char *w)
{
	size_t n = strlen(w);

	if (p->n - p->at < n || memcmp(p->s + p->at, w, n) != 0)
		return fail(p, "value expected");
	p->at += (uint32_t)n;
	return true;
}

static struct jnode *top(const struct parse *p)
{
	return p->depth ? &p->d->v[p->open[p->depth - 1]] : NULL;
}

/* Key and colon in front of a member. */
static bool parse_key(struct parse *p, struct jnode *v)
{
	v->key = p->at + 1;
	if (peek(p) != '"')
		return fail(p, "key expected");
	if (!string(p))
		return false;
	v->key_end = p->at - 1;
	blanks(p);
	if (peek(p) != ':')
		return fail(p, "':' expected");
	p->at++;
	blanks(p);
	return true;
}

static bool add(struct parse *p, const struct jnode *v)
{
	struct jdoc *d = p->d;

	if (d->n_nodes == JDOC_NODES_MAX)
		return fail(p, "too many values");
	if (p->depth)
		top(p)->n++;
	MEM_GROW(d->v, p->cap, (size_t)d->n_nodes + 1);
	d->v[d->n_nodes++] = *v;
	return true;
}

/* One value begins here, in an object behind its key. *opened: it is a container that is open now. */
static bool value(struct parse *p, bool *opened)
{
	struct jnode v = { 0 };
	int c;
	bool ok = true;

	*opened = false;
	blanks(p);
	if (p->depth && top(p)->kind == J_OBJECT && !parse_key(p, &v))
		return false;
	c = peek(p);
	v.start = p->at;
	if (c == '{' || c == '[') {
		v.kind = c == '{' ? J_OBJECT : J_ARRAY;
		if (p->depth == JDOC_DEPTH_MAX)
			return fail(p, "nested too deep");
		if (!add(p, &v))
			return false;
		p->at++;
		p->open[p->depth++] = p->d->n_nodes - 1;
		*opened = true;
		return true;
	}
	if (c == '"') {
		v.kind = J_STRING;
		ok = string(p);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		v.kind = J_NUMBER;
		ok = number(p);
	} else {
		v.kind = c == 'n' ? J_NULL : J_BOOL;
		ok = word(p, c == 'n' ? "null" : c == 't' ? "true" : "false");
	}
	v.end = p->at;
	v.next = p->d->n_nodes + 1;
	return ok && add(p, &v);
}

static void close_top(struct parse *p)
{
	struct jnode *v = top(p);

	p->at++;
	v->end = p->at;
	v->next = p->d->n_nodes;
	p->depth--;
}

static bool parse_all(struct parse *p)
{
	bool opened;

	do {
		if (!value(p, &opened))
			return false;
		for (;;) {
			blanks(p);
			if (!p->depth)
				return p->at == p->n || fail(p, "text behind the value");
			if (peek(p) == (top(p)->kind == J_OBJECT ? '}' : ']')) {
				close_top(p);
				opened = false;
				continue;
			}
			if (opened)
				break;
			if (peek(p) != ',')
				return fail(p, "',' or the end of the container expected");
			p->at++;
			break;
		}
	} while (true);
}

int jdoc_parse(struct jdoc *d, const char *text, size_t n, struct err *err)
{
	struct parse p = { .s = text, .n = (uint32_t)n, .d = d };
	uint32_t line = 1, column = 1;

	*d = (struct jdoc){ .text = text, .n = n };
	if (n >= UINT32_MAX)
		return err_set(err, ERR_INPUT, "JSON text of %zu bytes is too long", n);
	if (parse_all(&p)) {
		d->cap = (uint32_t)p.cap;
		return 0;
	}
	jdoc_done(d);
	for (uint32_t i = 0; i < p.at && i < n; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return err_set(err, ERR_INPUT, "JSON line %u, column %u: %s", line, column, p.wrong);
}

void jdoc_done(struct jdoc *d)
{
	free(d->v);
	*d = (struct jdoc){ 0 };
}

enum jkind jdoc_kind(const struct jdoc *d, uint32_t at)
{
	return at < d->n_nodes ? (enum jkind)d->v[at].kind : J_NONE;
}

uint32_t jdoc_first(const struct jdoc *d, uint32_t at)
{
	return jdoc_kind(d, at) >= J_ARRAY && d->v[at].n ? at + 1 : JNONE;
}

uint32_t jdoc_next(const struct jdoc *d, uint32_t parent, uint32_t child)
{
	uint32_t next = d->v[child].next;

	return next < d->v[parent].next ? next : JNONE;
}

static unsigned hex4(const char *s)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		unsigned c = (unsigned char)s[i];

		v = v << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return v;
}

static void add_utf8(struct buf *out, unsigned c)
{
	char b[4];
	size_t n = 0;

	if (!c || (c >= 0xd800 && c < 0xe000)) {
		buf_adds(out, REPLACEMENT);
		return;
	}
	if (c < 0x80) {
		b[n++] = (char)c;
	} else if (c < 0x800) {
		b[n++] = (char)(0xc0 | c >> 6);
		b[n++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		b[n++] = (char)(0xe0 | c >> 12);
		b[n++] = (char)(0x80 | (c >> 6 & 63));
		b[n++] = (char)(0x80 | (c & 63));
	} else {
		b[n++] = (char)(0xf0 | c >> 18);
		b[n++] = (char)(0x80 | (c >> 12 & 63));
		b[n++] = (char)(0x80 | (c >> 6 & 63));
		b[n++] = (char)(0x80 | (c & 63));
	}
	buf_add(out, b, n);
}

/* Bytes without escapes; those that are not UTF-8 one by one as U+FFFD. */
static void add_plain(struct buf *out, const char *s, size_t n)
{
	while (n) {
		size_t good = n;

		(void)str_utf8(s, n, &good); /* how far it is good is what counts */
		good = good < n ? good : n;
		buf_add(out, s, good);
		s += good;
		n -= good;
		if (n) {
			buf_adds(out, REPLACEMENT);
			s++;
			n--;
		}
	}
}

/* The escape at @s (behind the backslash, checked by the parser) into @out; returns its length. */
static size_t add_escape(struct buf *out, const char *s, size_t n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned c;

	if (s[0] != 'u') {
		buf_addc(out, to[strchr(from, s[0]) - from]);
		return 1;
	}
	c = hex4(s + 1);
	if (c >= 0xd800 && c < 0xdc00 && n >= 11 && s[5] == '\\' && s[6] == 'u') {
		unsigned low = hex4(s + 7);

		if (low >= 0xdc00 && low < 0xe000) {
			add_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return 11;
		}
	}
	add_utf8(out, c);
	return 5;
}

static void unescape(struct buf *out, const char *s, size_t n)
{
	while (n) {
		const char *slash = memchr(s, '\\', n);
		size_t k = slash ? (size_t)(slash - s) : n;

		add_plain(out, s, k);
		s += k;
		n -= k;
		if (n) {
			k = 1 + add_escape(out, s + 1, n - 1);
			s += k;
			n -= k;
		}
	}
}

static bool key_is(const struct jdoc *d, uint32_t at, const char *key, size_t n)
{
	const struct jnode *v = &d->v[at];
	size_t len = v->key_end - v->key;
	const char *s = d->text + v->key;

	if (!v->key)
		return false;
	if (!memchr(s, '\\', len))
		return len == n && memcmp(s, key, n) == 0;
	if (len > 6 * n)
		return false;
	auto_buf b = BUF_INIT(3 * len + 1);

	unescape(&b, s, len);
	return b.len == n && memcmp(buf_str(&b), key, n) == 0;
}

static uint32_t get(const struct jdoc *d, uint32_t at, const char *key, size_t n)
{
	uint32_t found = JNONE;

	if (jdoc_kind(d, at) != J_OBJECT)
		return JNONE;
	jdoc_each (c, d, at)
		if (key_is(d, c, key, n))
			found = c;
	return found;
}

uint32_t jdoc_get(const struct jdoc *d, uint32_t at, const char *key)
{
	return get(d, at, key, strlen(key));
}

uint32_t jdoc_path(const struct jdoc *d, uint32_t at, const char *path)
{
	for (;;) {
		size_t n = strcspn(path, ".");

		at = get(d, at, path, n);
		if (!path[n] || at == JNONE)
			return at;
		path += n + 1;
	}
}

int jdoc_str(const struct jdoc *d, uint32_t at, struct buf *out)
{
	if (jdoc_kind(d, at) != J_STRING)
		return -1;
	unescape(out, d->text + d->v[at].start + 1, d->v[at].end - d->v[at].start - 2);
	return 0;
}

int jdoc_key(const struct jdoc *d, uint32_t at, struct buf *out)
{
	if (jdoc_kind(d, at) == J_NONE || !d->v[at].key)
		return -1;
	unescape(out, d->text + d->v[at].key, d->v[at].key_end - d->v[at].key);
	return 0;
}

char *jdoc_strdup(const struct jdoc *d, uint32_t at)
{
	struct buf b = BUF_INIT(0);

	if (jdoc_kind(d, at) != J_STRING)
		return NULL;
	/* a bad byte becomes three */
	b.max = 3 * (size_t)(d->v[at].end - d->v[at].start) + 1;
	(void)jdoc_str(d, at, &b); /* it is a string */
	return buf_steal(&b, NULL);
}

bool jdoc_is(const struct jdoc *d, uint32_t at, const char *s)
{
	size_t n = strlen(s), len;

	if (jdoc_kind(d, at) != J_STRING)
		return false;
	len = d->v[at].end - d->v[at].start - 2;
	if (len == n)
		return memcmp(d->text + d->v[at].start + 1, s, n) == 0 && !memchr(s, '\\', n);
	if (len < n || len > 6 * n)
		return false;
	auto_buf b = BUF_INIT(3 * len + 1);

	(void)jdoc_str(d, at, &b); /* it is a string */
	return b.len == n && memcmp(buf_str(&b), s, n) == 0;
}

int jdoc_u64(const struct jdoc *d, uint32_t at, uint64_t *ret)
{
	const char *s;
	size_t n, whole;
	char digit[24];

	if (jdoc_kind(d, at) != J_NUMBER)
		return -1;
	s = d->text + d->v[at].start;
	n = d->v[at].end - d->v[at].start;
	for (whole = 0; whole < n && s[whole] >= '0' && s[whole] <= '9'; whole++)
		;
	if (!whole || whole >= sizeof(digit))
		return -1;
	/* "4096.0" is how some languages write a whole number */
	for (size_t i = whole; i < n; i++)
		if (s[i] != (i == whole ? '.' : '0'))
			return -1;
	memcpy(digit, s, whole);
	digit[whole] = '\0';
	return str_u64(digit, ret);
}

bool jdoc_true(const struct jdoc *d, uint32_t at)
{
	return jdoc_kind(d, at) == J_BOOL && d->text[d->v[at].start] == 't';
}

void jedit_quote(struct buf *out, const char *s, size_t n)
{
	size_t from = 0;

	buf_addc(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		static const char plain[] = "\b\f\n\r\t", letter[] = "bfnrt";
		const char *short_form = c ? strchr(plain, c) : NULL;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		add_plain(out, s + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (short_form)
			buf_addf(out, "\\%c", letter[short_form - plain]);
		else if (c)
			buf_addf(out, "\\u%04x", c);
		else
			buf_adds(out, REPLACEMENT);
	}
	add_plain(out, s + from, n - from);
	buf_addc(out, '"');
}

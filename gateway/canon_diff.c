/* The first difference of two canonical texts, for people. */
#include "gateway/canon.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	SHOWN = 80,  /* bytes of a value that are shown */
	BEFORE = 24, /* bytes in front of the first difference of two long strings */
	PATH_MAX_BYTES = 512,
};

struct pair {
	struct jdoc a, b;
	struct buf path;
	uint32_t at_a, at_b; /* values that differ; JNONE = absent */
};

static bool is_cont(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes [from, from + SHOWN) of @s, cut at whole characters, quoted. */
static void show_text(const char *s, size_t n, size_t from, struct buf *out)
{
	size_t end = n - from > SHOWN ? from + SHOWN : n;

	while (from && from < n && is_cont(s[from]))
		from++;
	while (end < n && end > from && is_cont(s[end]))
		end--;
	if (from)
		buf_adds(out, "...");
	jedit_quote(out, s + from, end - from);
	if (end < n)
		buf_adds(out, "...");
}

static void show(const struct jdoc *d, uint32_t at, size_t from, struct buf *out)
{
	auto_buf b = BUF_INIT(API_BODY_MAX);
	const char *s = d->text;
	size_t n;

	if (jdoc_kind(d, at) == J_NONE) {
		buf_adds(out, "nothing");
		return;
	}
	if (jdoc_str(d, at, &b) == 0) {
		show_text(buf_str(&b), b.len, from < b.len ? from : b.len, out);
		return;
	}
	s += d->v[at].start;
	n = d->v[at].end - d->v[at].start;
	if (n <= SHOWN) {
		buf_add(out, s, n);
		return;
	}
	for (n = SHOWN; n && is_cont(s[n]); n--)
		;
	buf_add(out, s, n);
	buf_adds(out, "...");
}

/* Where two strings begin to differ, less what is shown in front of it. */
static size_t window(const struct pair *p)
{
	auto_buf a = BUF_INIT(API_BODY_MAX), b = BUF_INIT(API_BODY_MAX);
	size_t i = 0;

	if (jdoc_str(&p->a, p->at_a, &a) < 0 || jdoc_str(&p->b, p->at_b, &b) < 0)
		return 0;
	while (i < a.len && i < b.len && a.data[i] == b.data[i])
		i++;
	return i > SHOWN - BEFORE ? i - BEFORE : 0;
}

static bool same_bytes(const struct jdoc *a, uint32_t x, const struct jdoc *b, uint32_t y)
{
	size_t n = a->v[x].end - a->v[x].start;

	return n == b->v[y].end - b->v[y].start &&
	       memcmp(a->text + a->v[x].start, b->text + b->v[y].start, n) == 0;
}

static void differ(struct pair *p, uint32_t x, uint32_t y)
{
	p->at_a = x;
	p->at_b = y;
}

/* Order of the keys of two members. */
static int key_order(const struct pair *p, uint32_t x, uint32_t y)
{
	auto_buf a = BUF_INIT(API_BODY_MAX), b = BUF_INIT(API_BODY_MAX);

	(void)jdoc_key(&p->a, x, &a); /* members have keys */
	(void)jdoc_key(&p->b, y, &b); /* as above */
	return strcmp(buf_str(&a), buf_str(&b));
}

static void name_member(struct pair *p, const struct jdoc *d, uint32_t at)
{
	buf_addc(&p->path, '.');
	(void)jdoc_key(d, at, &p->path); /* members have keys */
}

/* Objects: keys are sorted in both. */
static void objects(struct pair *p, uint32_t *x, uint32_t *y)
{
	uint32_t c = jdoc_first(&p->a, *x), e = jdoc_first(&p->b, *y);

	while (c != JNONE || e != JNONE) {
		int order = c == JNONE ? 1 : e == JNONE ? -1 : key_order(p, c, e);

		if (order == 0 && same_bytes(&p->a, c, &p->b, e)) {
			c = jdoc_next(&p->a, *x, c);
			e = jdoc_next(&p->b, *y, e);
			continue;
		}
		name_member(p, order <= 0 ? &p->a : &p->b, order <= 0 ? c : e);
		*x = order <= 0 ? c : JNONE;
		*y = order >= 0 ? e : JNONE;
		return;
	}
	*x = *y = JNONE; /* they differ in blanks only */
}

static void arrays(struct pair *p, uint32_t *x, uint32_t *y)
{
	uint32_t c = jdoc_first(&p->a, *x), e = jdoc_first(&p->b, *y);
	size_t i = 0;

	while (c != JNONE && e != JNONE && same_bytes(&p->a, c, &p->b, e)) {
		c = jdoc_next(&p->a, *x, c);
		e = jdoc_next(&p->b, *y, e);
		i++;
	}
	buf_addf(&p->path, "[%zu]", i);
	*x = c;
	*y = e;
}

/* Down to the first value that differs. */
static void descend(struct pair *p)
{
	uint32_t x = 0, y = 0;

	for (;;) {
		enum jkind kind = jdoc_kind(&p->a, x);

		differ(p, x, y);
		if (kind != jdoc_kind(&p->b, y) || (kind != J_OBJECT && kind != J_ARRAY))
			return;
		if (kind == J_OBJECT)
			objects(p, &x, &y);
		else
			arrays(p, &x, &y);
		if (x == JNONE && y == JNONE)
			return;
	}
}

static int plain_diff(const char *a, size_t na, const char *b, size_t nb, struct buf *out)
{
	size_t i = 0, from;

	while (i < na && i < nb && a[i] == b[i])
		i++;
	from = i > BEFORE ? i - BEFORE : 0;
	buf_addf(out, "byte %zu: recorded ", i);
	show_text(a, na, from, out);
	buf_adds(out, ", now ");
	show_text(b, nb, from, out);
	return 1;
}

int canon_diff(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out)
{
	struct pair p = { .path = BUF_INIT(PATH_MAX_BYTES) };

	if (nr == nn && memcmp(recorded, now, nr) == 0)
		return 0;
	if (jdoc_parse(&p.a, recorded, nr, NULL) < 0 || jdoc_parse(&p.b, now, nn, NULL) < 0) {
		jdoc_done(&p.a);
		jdoc_done(&p.b);
		return plain_diff(recorded, nr, now, nn, out);
	}
	buf_addc(&p.path, '$');
	descend(&p);
	buf_addf(out, "%s: recorded ", buf_str(&p.path));
	show(&p.a, p.at_a, window(&p), out);
	buf_adds(out, ", now ");
	show(&p.b, p.at_b, window(&p), out);
	jdoc_done(&p.a);
	jdoc_done(&p.b);
	buf_done(&p.path);
	return 1;
}

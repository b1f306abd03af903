/* Does a request go on with the conversation of another? */
#include "gateway/canon.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Where the APIs have the conversation, and the parts of one entry. */
static const char *const conversations[] = { "messages", "input", "contents" };
static const char *const parts_of[] = { "content", "parts" };

/* Entries that say how to work, not what was said: some clients write them anew at each start. */
static const char *const context_roles[] = { "system", "developer" };

/* An entry taken apart, each part as its canonical text without marks for the provider's cache. */
struct entry {
	struct buf head;   /* all members but the parts */
	struct strv parts; /* a text alone counts as its one part */
};

static void entry_done(struct entry *e)
{
	buf_done(&e->head);
	strv_done(&e->parts);
}

static bool key_is(const struct jdoc *d, uint32_t at, const char *name)
{
	size_t n = d->v[at].key_end - d->v[at].key;

	return n == strlen(name) && memcmp(d->text + d->v[at].key, name, n) == 0;
}

static void put_value(const struct jdoc *d, uint32_t at, struct buf *out);

static void put_member(const struct jdoc *d, uint32_t at, struct buf *out)
{
	buf_addc(out, '"');
	buf_add(out, d->text + d->v[at].key, d->v[at].key_end - d->v[at].key);
	buf_adds(out, "\":");
	put_value(d, at, out);
}

/* Recursion is bounded by JDOC_DEPTH_MAX. */
static void put_value(const struct jdoc *d, uint32_t at, struct buf *out)
{
	enum jkind kind = jdoc_kind(d, at);
	bool first = true;

	if (kind != J_OBJECT && kind != J_ARRAY) {
		buf_add(out, d->text + d->v[at].start, d->v[at].end - d->v[at].start);
		return;
	}
	buf_addc(out, kind == J_OBJECT ? '{' : '[');
	jdoc_each (c, d, at) {
		if (kind == J_OBJECT && key_is(d, c, "cache_control"))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		if (kind == J_OBJECT)
			put_member(d, c, out);
		else
			put_value(d, c, out);
	}
	buf_addc(out, kind == J_OBJECT ? '}' : ']');
}

static bool is_parts(const struct jdoc *d, uint32_t at)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts_of); i++) {
		if (key_is(d, at, parts_of[i]))
			return true;
	}
	return false;
}

/* A text alone is what a client may also write as one part. */
static void take_parts(const struct jdoc *d, uint32_t at, struct entry *e)
{
	if (jdoc_kind(d, at) == J_ARRAY) {
		jdoc_each (c, d, at) {
			struct buf b = BUF_INIT(API_BODY_MAX);

			put_value(d, c, &b);
			strv_take(&e->parts, buf_steal(&b, NULL));
		}
	} else if (jdoc_kind(d, at) == J_STRING) {
		strv_take(&e->parts, mem_printf("{\"text\":%.*s,\"type\":\"text\"}",
						(int)(d->v[at].end - d->v[at].start),
						d->text + d->v[at].start));
	}
}

static void take(const struct jdoc *d, uint32_t at, struct entry *e)
{
	*e = (struct entry){ .head = BUF_INIT(API_BODY_MAX) };
	if (jdoc_kind(d, at) != J_OBJECT) {
		put_value(d, at, &e->head);
		return;
	}
	buf_addc(&e->head, '{');
	jdoc_each (c, d, at) {
		if (is_parts(d, c)) {
			take_parts(d, c, e);
			continue;
		}
		if (e->head.len > 1)
			buf_addc(&e->head, ',');
		put_member(d, c, &e->head);
	}
	buf_addc(&e->head, '}');
}

static bool is_context(const struct jdoc *d, uint32_t at)
{
	uint32_t role = jdoc_get(d, at, "role");

	for (size_t i = 0; i < ARRAY_SIZE(context_roles); i++) {
		if (role != JNONE && jdoc_is(d, role, context_roles[i]))
			return true;
	}
	return false;
}

/* The first entry from @at on that was said by somebody. */
static uint32_t spoken(const struct jdoc *d, uint32_t list, uint32_t at)
{
	while (at != JNONE && is_context(d, at))
		at = jdoc_next(d, list, at);
	return at;
}

/* Hold one entry against another; @open: more parts may follow. @where names it. */
static bool differs(const struct jdoc *a, uint32_t x, const struct jdoc *b, uint32_t y, bool open,
		    const char *where, struct buf *out)
{
	struct entry was, now;
	auto_buf diff = BUF_INIT(4096);
	bool bad;

	take(a, x, &was);
	take(b, y, &now);
	bad = canon_diff(buf_str(&was.head), was.head.len, buf_str(&now.head), now.head.len,
			 &diff) == 1;
	if (bad)
		buf_addf(out, "%s: %s", where, buf_str(&diff));
	for (size_t i = 0; !bad && i < was.parts.n; i++) {
		const char *p = was.parts.v[i], *q = i < now.parts.n ? now.parts.v[i] : "null";

		bad = canon_diff(p, strlen(p), q, strlen(q), &diff) == 1;
		if (bad)
			buf_addf(out, "%s, part %zu: %s", where, i + 1, buf_str(&diff));
	}
	if (!bad && !open && now.parts.n > was.parts.n) {
		bad = true;
		buf_addf(out, "%s: recorded %zu parts, now %zu", where, was.parts.n, now.parts.n);
	}
	entry_done(&was);
	entry_done(&now);
	return bad;
}

static uint32_t conversation(const struct jdoc *d, const char **ret_name)
{
	for (size_t i = 0; d->n_nodes && i < ARRAY_SIZE(conversations); i++) {
		uint32_t at = jdoc_get(d, 0, conversations[i]);

		*ret_name = conversations[i];
		if (jdoc_kind(d, at) == J_ARRAY)
			return at;
	}
	return JNONE;
}

static int walk(const struct jdoc *a, const struct jdoc *b, struct buf *out)
{
	const char *name = "", *other = "";
	uint32_t la = conversation(a, &name), lb = conversation(b, &other), x, y;
	size_t i = 0;

	if (la == JNONE || lb == JNONE || !str_eq(name, other)) {
		buf_adds(out, "there is no conversation to compare");
		return 1;
	}
	x = spoken(a, la, jdoc_first(a, la));
	y = spoken(b, lb, jdoc_first(b, lb));
	for (; x != JNONE; i++) {
		auto_free char *where = mem_printf("%s, entry %zu", name, i + 1);
		uint32_t next = spoken(a, la, jdoc_next(a, la, x));

		if (y == JNONE) {
			buf_addf(out, "%s: recorded, now the conversation ends before it", where);
			return 1;
		}
		if (differs(a, x, b, y, next == JNONE, where, out))
			return 1;
		x = next;
		y = spoken(b, lb, jdoc_next(b, lb, y));
	}
	return 0;
}

int canon_continues(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out)
{
	struct jdoc a = { 0 }, b = { 0 };
	int rc = 1;

	if (jdoc_parse(&a, recorded, nr, NULL) < 0 || jdoc_parse(&b, now, nn, NULL) < 0)
		buf_adds(out, "there is no conversation to compare");
	else
		rc = walk(&a, &b, out);
	jdoc_done(&a);
	jdoc_done(&b);
	return rc;
}

/* --- what is not the conversation --------------------------------------------------------------- */

/* The text of @d without the conversation's spoken entries. */
static void context(const struct jdoc *d, struct buf *out)
{
	const char *name = "";
	uint32_t list = conversation(d, &name);

	buf_addc(out, '{');
	jdoc_each (c, d, 0) {
		if (out->len > 1)
			buf_addc(out, ',');
		if (c != list) {
			put_member(d, c, out);
			continue;
		}
		buf_addf(out, "\"%s\":[", name);
		jdoc_each (e, d, list) {
			if (!is_context(d, e))
				continue;
			if (out->data[out->len - 1] != '[')
				buf_addc(out, ',');
			put_value(d, e, out);
		}
		buf_addc(out, ']');
	}
	buf_addc(out, '}');
}

int canon_context(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out)
{
	struct jdoc a = { 0 }, b = { 0 };
	auto_buf x = BUF_INIT(API_BODY_MAX), y = BUF_INIT(API_BODY_MAX);
	int rc;

	if (jdoc_parse(&a, recorded, nr, NULL) == 0 && jdoc_parse(&b, now, nn, NULL) == 0) {
		context(&a, &x);
		context(&b, &y);
		rc = canon_diff(buf_str(&x), x.len, buf_str(&y), y.len, out);
	} else {
		rc = canon_diff(recorded, nr, now, nn, out);
	}
	jdoc_done(&a);
	jdoc_done(&b);
	return rc;
}

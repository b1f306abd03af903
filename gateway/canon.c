#include "gateway/canon.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* CANON_LINK: what the question follows, so part of it, but not the same in two runs. */
enum canon_rule { CANON_KEEP, CANON_DROP, CANON_CALL, CANON_LINK };

/* Members that are not the same in two runs, by their place; "*" is any element or member. */
struct canon_row {
	const char *path;
	enum canon_rule rule;
};

/* clang-format off */
static const struct canon_row volatile_rows[] = {
	/* who and when */
	{ "metadata",                  CANON_DROP },
	{ "client_metadata",           CANON_DROP },
	{ "prompt_cache_key",          CANON_DROP },
	{ "safety_identifier",         CANON_DROP },
	{ "user",                      CANON_DROP },
	{ "session_id",                CANON_DROP },
	{ "sessionId",                 CANON_DROP },
	{ "conversation_id",           CANON_LINK },
	{ "request_id",                CANON_DROP },
	{ "trace_id",                  CANON_DROP },
	{ "created",                   CANON_DROP },
	{ "created_at",                CANON_DROP },
	{ "timestamp",                 CANON_DROP },
	{ "previous_response_id",      CANON_LINK },
	{ "labels",                    CANON_DROP },
	/* entries of the conversation */
	{ "messages.*.id",             CANON_DROP },
	{ "messages.*.created",        CANON_DROP },
	{ "messages.*.created_at",     CANON_DROP },
	{ "messages.*.timestamp",      CANON_DROP },
	{ "input.*.id",                CANON_DROP },
	/* tool calls and results */
	{ "messages.*.tool_calls.*.id",            CANON_CALL },
	{ "messages.*.tool_call_id",               CANON_CALL },
	{ "messages.*.content.*.id",               CANON_CALL },
	{ "messages.*.content.*.tool_use_id",      CANON_CALL },
	{ "input.*.call_id",                       CANON_CALL },
	{ "contents.*.parts.*.functionCall.id",     CANON_CALL },
	{ "contents.*.parts.*.functionResponse.id", CANON_CALL },
};
/* clang-format on */

#define CANON_PATH_MAX 8 /* levels of the longest row, and one more */

struct canon {
	const struct jdoc *d;
	struct buf *out;
	bool exact;                /* as canon_question(): texts and ids as they are */
	char *key[CANON_PATH_MAX]; /* borrowed: where we are; NULL = an element of an array */
	unsigned depth;
	struct map calls; /* hash of a tool call id -> its number */
	uintptr_t n_calls;
};

/* A member while its object is sorted. */
struct member {
	char *key; /* owned */
	uint32_t at;
};

static bool row_matches(const struct canon *c, const char *path)
{
	unsigned i = 0;

	for (;; i++) {
		size_t n = strcspn(path, ".");

		if (i == c->depth)
			return false;
		if (!(n == 1 && path[0] == '*') &&
		    (!c->key[i] || strlen(c->key[i]) != n || memcmp(c->key[i], path, n) != 0))
			return false;
		if (!path[n])
			return i + 1 == c->depth;
		path += n + 1;
	}
}

static enum canon_rule rule_here(const struct canon *c)
{
	if (c->depth >= CANON_PATH_MAX)
		return CANON_KEEP;
	for (size_t i = 0; i < ARRAY_SIZE(volatile_rows); i++) {
		if (!row_matches(c, volatile_rows[i].path))
			continue;
		if (c->exact && volatile_rows[i].rule != CANON_DROP)
			return CANON_KEEP;
		return volatile_rows[i].rule == CANON_LINK ? CANON_DROP : volatile_rows[i].rule;
	}
	return CANON_KEEP;
}

static void put_call(struct canon *c, uint32_t at)
{
	auto_free char *id = jdoc_strdup(c->d, at);
	uint64_t key;
	void *number;

	if (!id) {
		buf_adds(c->out, "null");
		return;
	}
	key = map_hash(id, strlen(id)) | 1;
	number = map_get(&c->calls, key);
	if (!number) {
		number = (void *)++c->n_calls;
		map_put(&c->calls, key, number);
	}
	buf_addf(c->out, "\"<call %lu>\"", (unsigned long)(uintptr_t)number);
}

static void put_string(struct canon *c, uint32_t at)
{
	size_t n = c->d->v[at].end - c->d->v[at].start;
	auto_buf raw = BUF_INIT(3 * n), text = BUF_INIT(6 * n);

	if (c->exact) {
		buf_add(c->out, c->d->text + c->d->v[at].start, n);
		return;
	}
	(void)jdoc_str(c->d, at, &raw); /* it is a string */
	canon_text(buf_str(&raw), raw.len, &text);
	jedit_quote(c->out, buf_str(&text), text.len);
}

static int by_key(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int diff = strcmp(a->key, b->key);

	return diff ? diff : a->at < b->at ? -1 : 1;
}

/* Members of @at sorted; of equal keys the last. Caller frees with free_members(). */
static struct member *sorted(const struct jdoc *d, uint32_t at, size_t *ret_n)
{
	struct member *v = mem_zalloc((size_t)d->v[at].n + 1, sizeof(*v));
	size_t n = 0, kept = 0;

	jdoc_each (m, d, at) {
		struct buf b = BUF_INIT(3 * (size_t)(d->v[m].key_end - d->v[m].key) + 1);

		(void)jdoc_key(d, m, &b); /* members have keys */
		v[n].key = buf_steal(&b, NULL);
		v[n++].at = m;
	}
	qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && str_eq(v[i].key, v[i + 1].key))
			free(v[i].key);
		else
			v[kept++] = v[i];
	}
	*ret_n = kept;
	return v;
}

static void free_members(struct member *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].key);
	free(v);
}

static void put(struct canon *c, uint32_t at);

static void enter(struct canon *c, char *key)
{
	if (c->depth < CANON_PATH_MAX)
		c->key[c->depth] = key;
	c->depth++;
}

static void put_object(struct canon *c, uint32_t at)
{
	size_t n, written = 0;
	struct member *v = sorted(c->d, at, &n);

	buf_addc(c->out, '{');
	for (size_t i = 0; i < n; i++) {
		enum canon_rule rule;

		enter(c, v[i].key);
		rule = rule_here(c);
		if (rule != CANON_DROP) {
			if (written++)
				buf_addc(c->out, ',');
			jedit_quote(c->out, v[i].key, strlen(v[i].key));
			buf_addc(c->out, ':');
			if (rule == CANON_CALL)
				put_call(c, v[i].at);
			else
				put(c, v[i].at);
		}
		c->depth--;
	}
	buf_addc(c->out, '}');
	free_members(v, n);
}

/* Recursion is bounded by JDOC_DEPTH_MAX. */
static void put(struct canon *c, uint32_t at)
{
	bool first = true;

	switch (jdoc_kind(c->d, at)) {
	case J_OBJECT:
		put_object(c, at);
		break;
	case J_ARRAY:
		buf_addc(c->out, '[');
		jdoc_each (e, c->d, at) {
			if (!first)
				buf_addc(c->out, ',');
			first = false;
			enter(c, NULL);
			put(c, e);
			c->depth--;
		}
		buf_addc(c->out, ']');
		break;
	case J_STRING:
		put_string(c, at);
		break;
	default:
		buf_add(c->out, c->d->text + c->d->v[at].start,
			c->d->v[at].end - c->d->v[at].start);
		break;
	}
}

static int canon(const struct api_request *q, bool exact, struct buf *out)
{
	struct canon c = { .d = &q->doc, .out = out, .exact = exact };

	if (!q->doc.n_nodes)
		return 0;
	put(&c, 0);
	map_done(&c.calls);
	return out->full ? -1 : 0;
}

int canon_request(const struct api_request *q, struct buf *out)
{
	return canon(q, false, out);
}

int canon_question(const struct api_request *q, struct buf *out)
{
	return canon(q, true, out);
}

#include "gateway/anchor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/api_internal.h"
#include "gateway/canon.h"

/* Digests of the items of one request, each made when it is asked for. */
struct digests {
	const struct api_request *q;
	char (*v)[DIGEST_HEX]; /* owned; NULL until then */
};

int anchors_add(struct anchors *a, const char *text, size_t n, struct err *err)
{
	if (n > ANCHOR_TEXT_MAX)
		return err_set(err, ERR_LIMIT, "user message of %zu bytes is longer than %d", n,
			       ANCHOR_TEXT_MAX);
	if (a->n == ANCHORS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d user messages in one run",
			       ANCHORS_MAX);
	a->v[a->n] = (struct anchor){ .text = mem_strndup(text, n) };
	a->n++;
	return 0;
}

static void digest_item(const struct item *it, char out[DIGEST_HEX])
{
	const char *text = it->text ? it->text : "";
	auto_buf b = BUF_INIT(API_BODY_MAX);

	buf_addc(&b, (char)('0' + it->kind));
	canon_text(text, strlen(text), &b);
	digest_bytes(buf_str(&b), b.len, out);
}

static const char *digest_of(struct digests *d, size_t i)
{
	if (!d->v)
		d->v = mem_zalloc(d->q->n_items, sizeof(*d->v));
	if (!d->v[i][0])
		digest_item(&d->q->items[i], d->v[i]);
	return d->v[i];
}

/* Is item @i one like that before which anchor @m was set? A tool's result is told by the id of its
 * call, so that a client that shortens old results keeps the place. */
static bool matches(const struct anchor *m, struct digests *d, size_t i)
{
	const struct item *it = &d->q->items[i];

	if (m->id)
		return it->kind == ITEM_RESULT && str_eq(it->id, m->id);
	return !(it->kind == ITEM_RESULT && it->id) && str_eq(digest_of(d, i), m->digest);
}

/* The item of anchor @m, SIZE_MAX when it vanished. */
static size_t find(const struct anchor *m, struct digests *d)
{
	size_t found = SIZE_MAX;
	uint32_t seen = 0;

	for (size_t i = 0; i < d->q->n_items && seen < m->nth; i++) {
		if (!matches(m, d, i))
			continue;
		found = i;
		seen++;
	}
	return found;
}

/* Remember item @at as what stands before @m, or better a tool's result in the same entry: clients
 * put reminders behind results that are gone in the next request. */
static void attach(struct anchor *m, struct digests *d, size_t at)
{
	const struct item *it = &d->q->items[at];

	for (size_t i = at + 1; i-- > 0 && d->q->items[i].entry == it->entry;) {
		if (d->q->items[i].kind != ITEM_RESULT || !d->q->items[i].id)
			continue;
		at = i;
		it = &d->q->items[i];
		break;
	}
	free(m->id);
	m->id = it->kind == ITEM_RESULT ? mem_strdup(it->id) : NULL;
	m->digest[0] = '\0';
	if (!m->id)
		memcpy(m->digest, digest_of(d, at), DIGEST_HEX);
	m->placed = true;
	m->nth = 0;
	for (size_t i = 0; i <= at; i++)
		m->nth += matches(m, d, i);
}

/* Where message @m goes: SIZE_MAX when nowhere. */
static size_t place_of(struct anchors *a, struct anchor *m, struct digests *d, struct placed *p)
{
	size_t at, end = api_request_slot(d->q, SIZE_MAX);

	if (!m->placed) {
		p->first = true;
		attach(m, d, end);
		return end;
	}
	at = find(m, d);
	if (at != SIZE_MAX)
		return at;
	if (a->reattach == REATTACH_ONCE && !m->moved) {
		p->again_elsewhere = true;
		m->moved = true;
		attach(m, d, end);
		return end;
	}
	p->lost_now = true;
	m->lost = true;
	return SIZE_MAX;
}

size_t anchors_place(struct anchors *a, const struct api_request *q, uint64_t call,
		     struct jedit *edits, struct placed *done, size_t *n_done)
{
	struct digests d = { .q = q };
	size_t put = 0;

	*n_done = 0;
	if (!q->n_items)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		struct anchor *m = &a->v[i];
		struct placed p = { .index = i };
		size_t at;

		if (m->lost || (q->stateful && m->placed))
			continue;
		at = place_of(a, m, &d, &p);
		if (at != SIZE_MAX) {
			p.entry = q->items[api_request_slot(q, at)].entry;
			q->api->place(q, at, m->text, edits);
			put++;
		}
		if (p.first)
			m->call = call;
		done[(*n_done)++] = p;
	}
	free(d.v);
	return put;
}

bool anchors_waiting(const struct anchors *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->v[i].placed)
			return true;
	return false;
}

void anchors_done(struct anchors *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].text);
		free(a->v[i].id);
	}
	*a = (struct anchors){ 0 };
}

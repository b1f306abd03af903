#include "gateway/jedit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Where members that are added stand among the changes of their object. */
#define SLOT_END UINT32_MAX

/* A change as bytes: [start, end) becomes a comma perhaps, then text. */
struct cut {
	uint32_t start, end;
	bool comma;
	const char *text; /* borrowed; NULL = nothing */
	size_t seq;
};

/* What jedit_apply() works with. */
struct apply {
	const struct jdoc *d;
	const struct jchange **op; /* changes of containers, sorted by (parent, child, order) */
	size_t n_op;
	struct cut *cut;
	size_t n_cut, cap_cut;
};

static struct jchange *change(struct jedit *e, enum jchange_kind kind, uint32_t parent,
			      uint32_t child, const char *text)
{
	struct jchange *c;

	MEM_GROW(e->v, e->cap, e->n + 1);
	c = &e->v[e->n];
	*c = (struct jchange){ .kind = kind,
			       .parent = parent,
			       .child = child,
			       .order = (uint32_t)e->n,
			       .text = mem_strdup(text) };
	e->n++;
	return c;
}

void jedit_replace(struct jedit *e, const struct jdoc *d, uint32_t at, const char *json)
{
	struct jchange *c = change(e, JC_REPLACE, JNONE, at, json);

	c->span = (struct jspan){ d->v[at].start, d->v[at].end };
}

void jedit_remove(struct jedit *e, const struct jdoc *d, uint32_t parent, uint32_t child)
{
	(void)d;
	change(e, JC_REMOVE, parent, child, NULL);
}

void jedit_insert(struct jedit *e, const struct jdoc *d, uint32_t parent, uint32_t after,
		  const char *json)
{
	if (jdoc_kind(d, parent) == J_ARRAY)
		change(e, JC_INSERT, parent, after == JNONE ? parent : after, json);
}

void jedit_set(struct jedit *e, const struct jdoc *d, uint32_t parent, const char *key,
	       const char *json)
{
	uint32_t last = jdoc_get(d, parent, key);
	auto_buf name = BUF_INIT(d->n * 3 + 1);

	if (jdoc_kind(d, parent) != J_OBJECT)
		return;
	if (last == JNONE) {
		auto_buf text = BUF_INIT(6 * strlen(key) + strlen(json) + 3);

		jedit_quote(&text, key, strlen(key));
		buf_addc(&text, ':');
		buf_adds(&text, json);
		change(e, JC_MEMBER, parent, SLOT_END, buf_str(&text))->key = mem_strdup(key);
		return;
	}
	jdoc_each (c, d, parent) {
		buf_clear(&name);
		if (c != last && jdoc_key(d, c, &name) == 0 && str_eq(buf_str(&name), key))
			jedit_remove(e, d, parent, c);
	}
	jedit_replace(e, d, last, json);
}

void jedit_done(struct jedit *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->v[i].text);
		free(e->v[i].key);
	}
	free(e->v);
	*e = (struct jedit){ 0 };
}

static void cut(struct apply *a, uint32_t start, uint32_t end, bool comma, const char *text)
{
	MEM_GROW(a->cut, a->cap_cut, a->n_cut + 1);
	a->cut[a->n_cut] = (struct cut){ start, end, comma, text, a->n_cut };
	a->n_cut++;
}

/* Where @child begins: its key's quote, or the value itself in an array. */
static uint32_t begin_of(const struct jdoc *d, uint32_t child)
{
	return d->v[child].key ? d->v[child].key - 1 : d->v[child].start;
}

/* Insertions of @op[*i...] that belong behind @slot, at byte @at. *written: the container has
 * something in front of that place. */
static void insertions(struct apply *a, size_t *i, uint32_t parent, uint32_t slot, uint32_t at,
		       bool *written)
{
	for (; *i < a->n_op && a->op[*i]->parent == parent && a->op[*i]->child == slot; (*i)++) {
		const struct jchange *c = a->op[*i];

		if (c->kind == JC_REMOVE)
			continue;
		cut(a, at, at, *written, c->text);
		*written = true;
	}
}

static bool set_again(const struct apply *a, size_t i)
{
	for (size_t k = i + 1; k < a->n_op && a->op[k]->parent == a->op[i]->parent; k++)
		if (str_eq(a->op[k]->key, a->op[i]->key))
			return true;
	return false;
}

/* Is @slot of @parent removed by one of the changes from @i on? */
static bool is_removed(const struct apply *a, size_t i, uint32_t parent, uint32_t slot)
{
	for (; i < a->n_op && a->op[i]->parent == parent && a->op[i]->child == slot; i++)
		if (a->op[i]->kind == JC_REMOVE)
			return true;
	return false;
}

/* All changes of one container, from change @i on; returns the first change of the next one. The
 * gap in front of a child holds its comma: it goes with a child that goes, and with the first child
 * that stays when nothing is left in front of it. */
static size_t container(struct apply *a, size_t i)
{
	const struct jdoc *d = a->d;
	uint32_t parent = a->op[i]->parent, behind = d->v[parent].start + 1;
	bool written = false, first = true;

	insertions(a, &i, parent, parent, behind, &written);
	jdoc_each (c, d, parent) {
		uint32_t from = begin_of(d, c), end = d->v[c].end;

		if (is_removed(a, i, parent, c)) {
			cut(a, behind, end, false, NULL);
		} else {
			if (written && first)
				cut(a, behind, behind, true, NULL);
			else if (!written && !first)
				cut(a, behind, from, false, NULL);
			written = true;
		}
		first = false;
		behind = end;
		insertions(a, &i, parent, c, end, &written);
	}
	for (; i < a->n_op && a->op[i]->parent == parent; i++) {
		if (set_again(a, i))
			continue;
		cut(a, behind, behind, written, a->op[i]->text);
		written = true;
	}
	return i;
}

static int by_place(const void *x, const void *y)
{
	const struct jchange *a = *(const struct jchange *const *)x;
	const struct jchange *b = *(const struct jchange *const *)y;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->child != b->child)
		return a->child < b->child ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* By start; what has no bytes of its own goes first, in the order it was made. */
static int by_start(const void *x, const void *y)
{
	const struct cut *a = x, *b = y;
	bool empty_a = a->start == a->end, empty_b = b->start == b->end;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (empty_a != empty_b)
		return empty_a ? -1 : 1;
	return a->seq < b->seq ? -1 : 1;
}

static int write_cuts(const struct apply *a, struct buf *out)
{
	uint32_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < a->n_cut; i++) {
		const struct cut *c = &a->cut[i];

		if (c->start < at)
			return -1;
		rc |= buf_add(out, a->d->text + at, c->start - at);
		if (c->comma)
			rc |= buf_addc(out, ',');
		if (c->text)
			rc |= buf_adds(out, c->text);
		at = c->end;
	}
	rc |= buf_add(out, a->d->text + at, a->d->n - at);
	return rc ? -1 : 0;
}

int jedit_apply(const struct jedit *e, const struct jdoc *d, struct buf *out)
{
	struct apply a = { .d = d };
	int rc;

	a.op = mem_alloc((e->n + 1) * sizeof(*a.op));
	for (size_t i = 0; i < e->n; i++)
		a.op[i] = &e->v[i];
	a.n_op = e->n;
	/* replacements stand in "container" JNONE: behind all others */
	qsort(a.op, a.n_op, sizeof(*a.op), by_place);
	for (size_t i = 0; i < a.n_op;) {
		if (a.op[i]->kind != JC_REPLACE) {
			i = container(&a, i);
			continue;
		}
		if (i + 1 == a.n_op || a.op[i + 1]->child != a.op[i]->child)
			cut(&a, a.op[i]->span.start, a.op[i]->span.end, false, a.op[i]->text);
		i++;
	}
	if (a.n_cut)
		qsort(a.cut, a.n_cut, sizeof(*a.cut), by_start);
	rc = write_cuts(&a, out);
	free(a.op);
	free(a.cut);
	return rc;
}

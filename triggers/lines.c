/* Line index and ranges that follow edits. The diff itself is lines_diff.c. */
#include "triggers/lines.h"

#include <string.h>

#include "base/mem.h"

void lines_index(struct lines *l, const char *data, size_t len)
{
	size_t n = 0, i = 0;

	for (const char *p = data, *end = data + len; p < end; n++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	*l = (struct lines){ .n = n };
	if (!n)
		return;
	l->at = mem_zalloc(n + 1, sizeof(*l->at));
	for (const char *p = data, *end = data + len; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		l->at[i++] = (uint64_t)(p - data);
		p = nl ? nl + 1 : end;
	}
	l->at[n] = len;
}

void lines_done(struct lines *l)
{
	free(l->at);
	*l = (struct lines){ 0 };
}

/* Line of byte @off, which is inside the image. */
static uint64_t line_of(const struct lines *l, uint64_t off)
{
	size_t lo = 0, hi = l->n; /* at[lo] <= off < at[hi] */

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->at[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo + 1;
}

void lines_of_bytes(const struct lines *l, uint64_t off, uint64_t len, uint64_t *first,
		    uint64_t *last)
{
	uint64_t size = l->n ? l->at[l->n] : 0, end;

	*first = *last = 0;
	if (!len || off >= size)
		return;
	end = len > size - off ? size : off + len;
	*first = line_of(l, off);
	*last = line_of(l, end - 1);
}

void lines_changes_done(struct line_changes *c)
{
	free(c->v);
	*c = (struct line_changes){ 0 };
}

/* Old lines of the range that the change removes or rewrites, or new ones that it puts inside. */
static uint64_t overlap(const struct line_change *c, struct line_range r, uint64_t *first,
			uint64_t *last)
{
	uint64_t end = c->old_first + c->old_n; /* one past */

	if (r.last < r.first) {
		/* a gap: touched by what happens right there */
		if (c->old_first > r.first || end < r.first)
			return 0;
		*first = c->old_first;
		*last = c->old_n ? end - 1 : c->old_first;
		return c->old_n > c->new_n ? c->old_n : c->new_n;
	}
	if (!c->old_n) {
		if (c->old_first <= r.first || c->old_first > r.last)
			return 0;
		*first = c->old_first - 1; /* between these two lines */
		*last = c->old_first;
		return c->new_n;
	}
	if (c->old_first > r.last || end <= r.first)
		return 0;
	*first = c->old_first > r.first ? c->old_first : r.first;
	*last = end - 1 < r.last ? end - 1 : r.last;
	return *last - *first + 1;
}

uint64_t lines_touched(const struct line_changes *c, struct line_range r, uint64_t *first,
		       uint64_t *last)
{
	uint64_t n = 0;

	*first = *last = 0;
	for (size_t i = 0; i < c->n; i++) {
		uint64_t a = 0, b = 0, k = overlap(&c->v[i], r, &a, &b);

		if (!k)
			continue;
		n += k;
		if (!*first || a < *first)
			*first = a;
		if (b > *last)
			*last = b;
	}
	return n;
}

/* New number of an old line that survives, shifted by all changes in front of it. */
static uint64_t shifted(const struct line_changes *c, uint64_t line)
{
	uint64_t r = line;

	for (size_t i = 0; i < c->n && c->v[i].old_first + c->v[i].old_n <= line; i++)
		r = line - (c->v[i].old_first + c->v[i].old_n) + c->v[i].new_first + c->v[i].new_n;
	return r;
}

/* The change that old @line fell into, NULL when it survives. */
static const struct line_change *change_of(const struct line_changes *c, uint64_t line)
{
	for (size_t i = 0; i < c->n; i++)
		if (line >= c->v[i].old_first && line < c->v[i].old_first + c->v[i].old_n)
			return &c->v[i];
	return NULL;
}

static struct line_range follow_gap(const struct line_changes *c, struct line_range r)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct line_change *v = &c->v[i];

		if (v->old_first > r.first || v->old_first + v->old_n < r.first)
			continue;
		/* what stands at the gap now is the region again */
		return (struct line_range){ v->new_first, v->new_first + v->new_n - 1 };
	}
	r.first = shifted(c, r.first);
	r.last = r.first - 1;
	return r;
}

struct line_range lines_follow(const struct line_changes *c, struct line_range r)
{
	const struct line_change *a, *b;
	struct line_range out;

	if (r.last < r.first)
		return follow_gap(c, r);
	a = change_of(c, r.first);
	b = change_of(c, r.last);
	out.first = shifted(c, r.first);
	out.last = shifted(c, r.last);
	/* inside a rewritten place, line k of the old is line k of the new, as far as there is one */
	if (a) {
		uint64_t k = r.first - a->old_first;

		out.first = a->new_first + (k < a->new_n ? k : a->new_n ? a->new_n - 1 : 0);
	}
	if (b) {
		uint64_t k = r.last - b->old_first + 1; /* lines kept up to and with the last one */

		if (k > b->new_n || r.last == b->old_first + b->old_n - 1)
			k = b->new_n;
		out.last = b->new_first + k - 1;
	}
	if (out.last < out.first)
		out.last = out.first - 1;
	return out;
}

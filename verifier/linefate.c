#include "verifier/linefate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "triggers/lines.h"

enum {
	LINES_MAX = 100000, /* lines of an edit that are followed */
	PLACE_MAX = 5000,   /* lines of a place that are searched for a line that came back */
	SLIDE_MAX = 1000    /* lines that a removal may be moved by */
};

/* A state of the file, cut into lines. */
struct state {
	const char *data;
	size_t len;
	struct lines idx;
};

/* Where a line of the edit is, or was. */
struct track {
	bool here;
	uint64_t line;           /* in the present state, when here */
	struct line_range place; /* what stands in its place, when not */
};

/* The lines of one edit on their way. */
struct walk {
	struct linefate *f;
	struct track *track;    /* owned: beside f->v */
	const struct state *at; /* chain[0] */
	unsigned char *mine;    /* owned: line - 1 of the present state is one of ours */
	size_t step;
};

static struct state state_of(const struct linefate_image *im)
{
	struct state s = { .data = im->data ? im->data : "", .len = im->data ? im->len : 0 };

	lines_index(&s.idx, s.data, s.len);
	return s;
}

/* Line @n from 1 without its end. */
static const char *line_at(const struct state *s, uint64_t n, size_t *ret_len)
{
	const char *p = s->data + s->idx.at[n - 1];
	size_t len = s->idx.at[n] - s->idx.at[n - 1];

	while (len && (p[len - 1] == '\n' || p[len - 1] == '\r'))
		len--;
	*ret_len = len;
	return p;
}

static bool same(const struct state *a, uint64_t i, const struct state *b, uint64_t j)
{
	size_t m, n;
	const char *p = line_at(a, i, &m), *q = line_at(b, j, &n);

	return m == n && memcmp(p, q, m) == 0;
}

static bool is_bare(const struct state *s, uint64_t n)
{
	size_t len;
	const char *p = line_at(s, n, &len);

	for (size_t i = 0; i < len; i++)
		if (isalnum((unsigned char)p[i]) || (unsigned char)p[i] >= 0x80)
			return false;
	return true;
}

/* --- one step of the chain -------------------------------------------------------------------- */

/* Move a removal of k lines from @a on by lines that are the same at both of its ends, to where it hits most
 * of our lines: which of two equal braces went is the diff's free choice. */
static void slide(const struct walk *w, const struct state *s, struct line_change *c,
		  uint64_t floor, uint64_t ceiling)
{
	uint64_t k = c->old_n, best = c->old_first, a = c->old_first, hits = 0, most;

	for (uint64_t i = a; i < a + k; i++)
		hits += w->mine[i - 1];
	most = hits;
	for (uint64_t lo = a; lo > floor && a - lo < SLIDE_MAX; lo--) {
		if (!same(s, lo - 1, s, lo + k - 1))
			break;
		hits += w->mine[lo - 2];
		hits -= w->mine[lo + k - 2];
		if (hits > most) {
			most = hits;
			best = lo - 1;
		}
	}
	hits = 0;
	for (uint64_t i = a; i < a + k; i++)
		hits += w->mine[i - 1];
	for (uint64_t lo = a; lo + k < ceiling && lo - a < SLIDE_MAX; lo++) {
		if (!same(s, lo, s, lo + k))
			break;
		hits += w->mine[lo + k - 1];
		hits -= w->mine[lo - 1];
		if (hits > most) {
			most = hits;
			best = lo + 1;
		}
	}
	c->new_first = c->new_first + best - c->old_first;
	c->old_first = best;
}

static void slide_all(const struct walk *w, const struct state *s, struct line_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		uint64_t floor = i ? c->v[i - 1].old_first + c->v[i - 1].old_n + 1 : 1;
		uint64_t ceiling = i + 1 < c->n ? c->v[i + 1].old_first : s->idx.n + 1;

		if (c->v[i].old_n && !c->v[i].new_n)
			slide(w, s, &c->v[i], floor, ceiling);
	}
}

/* The last change that begins at or before old @line, NULL when there is none. */
static const struct line_change *change_before(const struct line_changes *c, uint64_t line)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->v[mid].old_first <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &c->v[lo - 1] : NULL;
}

/* Line @i of the edit again in lines @r of @to, which is not one of ours already? */
static uint64_t find(const struct walk *w, size_t i, struct line_range r, const struct state *to,
		     const unsigned char *mine)
{
	for (uint64_t l = r.first; l <= r.last && l - r.first < PLACE_MAX; l++)
		if (l >= 1 && l <= to->idx.n && !mine[l - 1] && same(w->at, w->f->v[i].line, to, l))
			return l;
	return 0;
}

/* Lines that the step leaves alone move with it; the others are lost until they come back. */
static void carry(struct walk *w, const struct line_changes *c, unsigned char *mine)
{
	for (size_t i = 0; i < w->f->n; i++) {
		struct track *t = &w->track[i];
		const struct line_change *ch = t->here ? change_before(c, t->line) : NULL;
		uint64_t in;

		if (!t->here) {
			t->place = lines_follow(c, t->place);
			continue;
		}
		if (ch && t->line < ch->old_first + ch->old_n) {
			in = t->line - ch->old_first;
			t->here = false;
			t->place =
				(struct line_range){ ch->new_first, ch->new_first + ch->new_n - 1 };
			w->f->v[i].fate = in < ch->new_n ? FATE_CHANGED : FATE_REMOVED;
			w->f->v[i].step = w->step;
			continue;
		}
		if (ch)
			t->line = t->line - (ch->old_first + ch->old_n) + ch->new_first + ch->new_n;
		mine[t->line - 1] = 1;
	}
}

/* A line that stands in its place again, moved within the change or put back later, was not lost. */
static void bring_back(struct walk *w, const struct state *to, unsigned char *mine)
{
	for (size_t i = 0; i < w->f->n; i++) {
		struct track *t = &w->track[i];
		uint64_t l = t->here ? 0 : find(w, i, t->place, to, mine);

		if (!l)
			continue;
		t->here = true;
		t->line = l;
		mine[l - 1] = 1;
	}
}

static void step(struct walk *w, const struct state *from, const struct state *to)
{
	unsigned char *mine = mem_zalloc(to->idx.n + 1, 1);
	struct line_changes c;

	w->step++;
	lines_diff(from->data, from->len, to->data, to->len, &c);
	slide_all(w, from, &c);
	carry(w, &c, mine);
	if (c.n)
		bring_back(w, to, mine);
	lines_changes_done(&c);
	free(w->mine);
	w->mine = mine;
}

/* --- the whole ------------------------------------------------------------------------------- */

static void begin(struct walk *w, const struct state *s, const struct line_changes *edit)
{
	uint64_t n = 0;

	for (size_t i = 0; i < edit->n; i++)
		n += edit->v[i].new_n;
	n = n < LINES_MAX ? n : LINES_MAX;
	w->f->v = mem_zalloc(n + 1, sizeof(*w->f->v));
	w->track = mem_zalloc(n + 1, sizeof(*w->track));
	w->mine = mem_zalloc(s->idx.n + 1, 1);
	w->at = s;
	for (size_t i = 0; i < edit->n; i++) {
		for (uint64_t k = 0; k < edit->v[i].new_n && w->f->n < n; k++) {
			uint64_t line = edit->v[i].new_first + k;
			size_t at = w->f->n++;

			w->f->v[at] =
				(struct linefate_line){ .line = line, .bare = is_bare(s, line) };
			w->track[at] = (struct track){ .here = true, .line = line };
			w->mine[line - 1] = 1;
		}
	}
}

/* Does change @c between the state before the edit and the last one lie at the place of edit change @e? A
 * place without old lines is a gap: only lines put there count, not a neighbour that was rewritten. */
static bool touches(const struct line_change *c, const struct line_change *e)
{
	uint64_t end = c->old_first + c->old_n;

	if (e->old_n && !c->old_n)
		return c->old_first > e->old_first && c->old_first < e->old_first + e->old_n;
	if (e->old_n)
		return c->old_first < e->old_first + e->old_n && e->old_first < end;
	if (!c->old_n)
		return c->old_first == e->old_first;
	if (c->old_first < e->old_first && e->old_first < end)
		return true;
	return (c->old_first == e->old_first || end == e->old_first) && c->new_n > c->old_n;
}

static void restored(struct linefate *f, const struct state *before, const struct line_change *e,
		     const struct line_changes *all)
{
	for (uint64_t k = 0; k < e->old_n; k++) {
		uint64_t line = e->old_first + k;
		const struct line_change *c = change_before(all, line);
		bool back = !c || line >= c->old_first + c->old_n, bare = is_bare(before, line);

		f->deleted++;
		f->restored += back;
		f->telling_deleted += !bare;
		f->telling_restored += back && !bare;
	}
}

/* The places of the edit, before it and in the end. @all: from the state before the edit to the last one. */
static void places(struct walk *w, const struct state *before, const struct line_changes *edit,
		   const struct line_changes *all)
{
	auto_free bool *foreign = mem_zalloc(all->n + 1, sizeof(*foreign));
	struct linefate *f = w->f;
	bool touched = false, ours = false;

	for (size_t k = 0; k < all->n; k++) {
		uint64_t first = all->v[k].new_first;

		for (uint64_t l = first; l < first + all->v[k].new_n; l++) {
			foreign[k] |= !w->mine[l - 1];
			ours |= w->mine[l - 1];
		}
	}
	for (size_t i = 0; i < edit->n; i++) {
		restored(f, before, &edit->v[i], all);
		for (size_t k = 0; k < all->n; k++) {
			if (!touches(&all->v[k], &edit->v[i]))
				continue;
			touched = true;
			f->replaced |= foreign[k];
		}
	}
	/* A brace of the edit that is not new against the state before it is the neighbour's. */
	f->reverted = edit->n && !touched && !ours;
	for (size_t i = 0; i < f->n && f->reverted; i++) {
		if (w->track[i].here)
			f->v[i].step = w->step;
		w->track[i].here = false;
	}
}

static void conclude(struct walk *w)
{
	struct linefate *f = w->f;

	for (size_t i = 0; i < f->n; i++) {
		struct linefate_line *l = &f->v[i];

		if (w->track[i].here) {
			l->fate = FATE_KEPT;
			l->at = w->track[i].line;
			l->step = 0;
		} else if (l->fate == FATE_KEPT) {
			l->fate = FATE_REMOVED;
		}
		f->kept += l->fate == FATE_KEPT;
		f->changed += l->fate == FATE_CHANGED;
		f->removed += l->fate == FATE_REMOVED;
		f->telling += !l->bare;
		f->telling_kept += !l->bare && l->fate == FATE_KEPT;
	}
}

void linefate_of(const struct linefate_image *before, const struct linefate_image *chain, size_t n,
		 struct linefate *ret)
{
	struct linefate f = { 0 };
	struct walk w = { .f = &f };
	struct state b = state_of(before), s = state_of(&chain[0]), first = s, next;
	struct line_changes edit, all;

	lines_diff(b.data, b.len, s.data, s.len, &edit);
	begin(&w, &first, &edit);
	for (size_t i = 1; i < n; i++) {
		next = state_of(&chain[i]);
		step(&w, &s, &next);
		if (s.idx.at != first.idx.at)
			lines_done(&s.idx);
		s = next;
	}
	lines_diff(b.data, b.len, s.data, s.len, &all);
	places(&w, &b, &edit, &all);
	conclude(&w);
	lines_changes_done(&all);
	lines_changes_done(&edit);
	lines_done(&b.idx);
	if (s.idx.at != first.idx.at)
		lines_done(&s.idx);
	lines_done(&first.idx);
	free(w.track);
	free(w.mine);
	*ret = f;
}

bool linefate_follow(const struct linefate_image *from, const struct linefate_image *to,
		     uint64_t first, uint64_t last, uint64_t *ret_first, uint64_t *ret_last)
{
	struct state a = state_of(from), b = state_of(to);
	struct line_changes c;
	struct line_range r;
	size_t lines = b.idx.n;

	lines_diff(a.data, a.len, b.data, b.len, &c);
	r = lines_follow(&c, (struct line_range){ first, last });
	lines_changes_done(&c);
	lines_done(&a.idx);
	lines_done(&b.idx);
	if (!lines)
		return false;
	if (r.last < r.first)
		r.last = r.first;
	*ret_first = r.first < lines ? r.first : lines;
	*ret_last = r.last < lines ? r.last : lines;
	return true;
}

void linefate_done(struct linefate *f)
{
	free(f->v);
	*f = (struct linefate){ 0 };
}

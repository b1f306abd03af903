/* The last step of the ladder (SWE-Touch's fallback, method of the released runner): the hunk's own
 * lines are gone, so it goes between what is left of its surroundings. Never a guess between two
 * equally good places, never without a line that anchors it. */
#include "triggers/apply_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define SPAN_REACH   80  /* lines around the stated place that are looked at first */
#define SPAN_STRETCH 30  /* lines that the agent may have added between the anchors */
#define LINE_REACH   120 /* how far a single replaced line may have moved */

/* Does the line say anything (a brace or a blank line anchors nothing)? */
static bool telling(const struct text_line *l)
{
	for (uint32_t i = 0; i < l->len; i++)
		if (isalnum((unsigned char)l->p[i]) || (l->p[i] & 0x80))
			return true;
	return false;
}

static bool any_telling(const struct text_line *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (telling(&l[i]))
			return true;
	return false;
}

static enum line_match how_of(const struct apply_job *j)
{
	return j->loose ? LINES_LOOSE : LINES_STRICT;
}

/* Do @n lines of a hunk stand at file line @pos, untouched by other hunks? */
static bool block_at(struct apply_job *j, const struct text_line *l, size_t n, size_t pos)
{
	if (pos > j->text->n || n > j->text->n - pos)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!apply_work(j, 0))
			return false;
		if (j->taken[pos + i] || !apply_line_eq(&l[i], &j->text->line[pos + i], how_of(j)))
			return false;
	}
	return true;
}

/* What lies between the anchors of a hunk. */
struct span_search {
	const struct text_line *lead, *trail; /* innermost anchor lines */
	size_t lead_n, trail_n;
	size_t room;           /* longest span in lines */
	bool at_start, at_end; /* an empty side is the file's edge */
};

/* Does a span begin at line @a? Its end goes to *b: the nearest one. */
static bool span_from(struct apply_job *j, const struct span_search *s, size_t a, size_t *b)
{
	size_t n = j->text->n, end = a + s->room < n ? a + s->room : n;

	if (s->lead_n ? a < s->lead_n || !block_at(j, s->lead, s->lead_n, a - s->lead_n) : a != 0)
		return false;
	if (!s->trail_n) {
		*b = n;
		return n - a <= s->room;
	}
	for (*b = a; *b <= end; ++*b) {
		if (block_at(j, s->trail, s->trail_n, *b))
			return true;
		if (*b < n && j->taken[*b])
			return false;
	}
	return false;
}

/* Nearest span within @reach of @want: 1, 0, or -1 when two are equally near. */
static int span_find(struct apply_job *j, const struct span_search *s, size_t want, size_t reach,
		     size_t *a, size_t *b)
{
	for (size_t d = 0; d <= reach && *j->work; d++) {
		size_t ub = 0, db = 0;
		bool up = d <= want && want - d <= j->text->n && span_from(j, s, want - d, &ub);
		bool down = d && want + d <= j->text->n && span_from(j, s, want + d, &db);

		if (up && down)
			return -1;
		if (up || down) {
			*a = up ? want - d : want + d;
			*b = up ? ub : db;
			return 1;
		}
	}
	return 0;
}

/* Between leading and trailing context: all of it first, then its innermost two lines, then one. */
static int try_span(struct apply_job *j, const struct patch_hunk *h, size_t want, size_t order)
{
	size_t lead, trail, inner, a, b;

	apply_hunk_context(h, &lead, &trail);
	inner = apply_hunk_side(h, '+') - lead - trail;
	if ((!lead && h->old_start > 1) || (!lead && !trail))
		return 0;
	for (size_t k = 3; k >= 1; k--) {
		struct span_search s = { .room = inner + SPAN_STRETCH };
		int r;

		s.lead_n = k == 3 || lead < k ? lead : k;
		s.trail_n = k == 3 || trail < k ? trail : k;
		s.lead = h->line + lead - s.lead_n;
		s.trail = h->line + h->n - trail;
		if ((lead && !any_telling(s.lead, s.lead_n)) ||
		    (trail && !any_telling(s.trail, s.trail_n)))
			continue;
		r = span_find(j, &s, want + lead, SPAN_REACH, &a, &b);
		if (r == 0)
			r = span_find(j, &s, want + lead, j->text->n + want, &a, &b);
		if (r < 0)
			return apply_say_no(j,
					    "%s: hunk %zu: two places have the same surroundings",
					    j->file->path, order + 1);
		if (r == 0)
			continue;
		apply_hunk_replace(j, h, lead, h->n - trail, a, b - a, order);
		return 1;
	}
	return 0;
}

/* The removed lines without any context, when they stand in one place only. */
static int try_core(struct apply_job *j, const struct patch_hunk *h, size_t order)
{
	size_t lead, trail, found = 0, at = 0;

	apply_hunk_context(h, &lead, &trail);
	if (!any_telling(h->line + lead, h->n - lead - trail) ||
	    apply_hunk_side(h, '+') == lead + trail)
		return 0;
	for (size_t i = 0; i < j->text->n && found < 2 && *j->work; i++)
		if (apply_hunk_at(j, h, '+', lead, trail, (int64_t)i, how_of(j))) {
			at = i;
			found++;
		}
	if (found != 1)
		return 0;
	apply_hunk_put(j, h, lead, trail, at, order, APPLY_CONTEXT);
	return 1;
}

static size_t indent_of(const struct text_line *l)
{
	size_t i = 0;

	while (i < l->len && (l->p[i] == ' ' || l->p[i] == '\t'))
		i++;
	return i;
}

static bool same_but_indent(const struct text_line *a, const struct text_line *b)
{
	struct text_line x, y;
	size_t i = indent_of(a), k = indent_of(b);

	patch_line_set(&x, a->p + i, a->len - i, 0);
	patch_line_set(&y, b->p + k, b->len - k, 0);
	return apply_line_eq(&x, &y, LINES_LOOSE);
}

/* Nearest line that is @old, bytes or (@loose) but for indentation. -1 none, -2 a tie. */
static int64_t line_near(struct apply_job *j, const struct text_line *old, size_t want, bool loose)
{
	for (size_t d = 0; d <= LINE_REACH; d++) {
		int64_t hit = -1;

		for (int side = 0; side < 2; side++) {
			size_t at = side ? want + d : want - d;

			if (!apply_work(j, loose ? old->len : 0))
				return -1;
			if ((!side && d > want) || (side && !d) || at >= j->text->n || j->taken[at])
				continue;
			if (loose ? !same_but_indent(old, &j->text->line[at])
				  : !apply_line_eq(old, &j->text->line[at], how_of(j)))
				continue;
			if (hit >= 0)
				return -2;
			hit = (int64_t)at;
		}
		if (hit >= 0)
			return hit;
	}
	return -1;
}

/* The added line with the indentation that the file has now. Caller frees. */
static char *reindent(const struct text_line *old, const struct text_line *new,
		      const struct text_line *at, size_t *len)
{
	size_t io = indent_of(old), in = indent_of(new), ia = indent_of(at);
	size_t skip = in >= io && memcmp(old->p, new->p, io) == 0 ? io : in;
	auto_buf b = BUF_INIT(APPLY_DIFF_MAX);

	buf_add(&b, at->p, ia);
	buf_add(&b, new->p + skip, new->len - skip);
	return buf_steal(&b, len);
}

/* One line replaced by one: where that line is now. */
static int try_line(struct apply_job *j, const struct patch_hunk *h, size_t want, size_t order)
{
	size_t minus = 0, plus = 0, i, k, before = 0, len;
	struct patch_hunk one = { .n = 1 };
	struct text_line repl;
	auto_free char *text = NULL;
	int64_t at;

	for (i = 0; i < h->n; i++) {
		minus += h->line[i].kind == '-';
		plus += h->line[i].kind == '+';
	}
	if (minus != 1 || plus != 1)
		return 0;
	for (i = 0; h->line[i].kind != '-'; i++)
		before += h->line[i].kind == ' ';
	for (k = 0; h->line[k].kind != '+'; k++)
		;
	if (!telling(&h->line[i]))
		return 0;
	at = line_near(j, &h->line[i], want + before, false);
	if (at == -1)
		at = line_near(j, &h->line[i], want + before, true);
	if (at == -2)
		return apply_say_no(j, "%s: hunk %zu: its line stands in two places equally near",
				    j->file->path, order + 1);
	if (at < 0)
		return 0;
	text = reindent(&h->line[i], &h->line[k], &j->text->line[at], &len);
	patch_line_set(&repl, text, len, '+');
	one.line = &repl;
	apply_hunk_replace(j, &one, 0, 1, (size_t)at, 1, order);
	return 1;
}

/* The stated window of lines, as long as one telling context line of the hunk is still in it. */
static int try_window(struct apply_job *j, const struct patch_hunk *h, size_t want, size_t order)
{
	size_t n = apply_hunk_side(h, '+'), end = want + n;
	bool anchored = false;

	if (want >= j->text->n)
		return 0;
	if (end > j->text->n)
		end = j->text->n;
	for (size_t at = want; at < end; at++) {
		if (j->taken[at])
			return 0;
		for (size_t i = 0; i < h->n && !anchored && apply_work(j, 0); i++) {
			anchored = h->line[i].kind == ' ' && telling(&h->line[i]) &&
				   apply_line_eq(&h->line[i], &j->text->line[at], how_of(j));
		}
	}
	if (!anchored)
		return 0;
	apply_hunk_replace(j, h, 0, h->n, want, end - want, order);
	return 1;
}

int apply_context_place(struct apply_job *j, const struct patch_hunk *h, size_t order)
{
	int64_t w = (int64_t)h->old_start - (h->old_n ? 1 : 0) + j->drift;
	size_t want = w < 0 ? 0 : (size_t)w < j->text->n ? (size_t)w : j->text->n;
	int r;

	r = try_span(j, h, want, order);
	if (!r && !j->reason)
		r = try_core(j, h, order);
	if (!r && !j->reason)
		r = try_line(j, h, want, order);
	if (!r && !j->reason)
		r = try_window(j, h, want, order);
	if (r)
		return 1;
	return apply_say_no(
		j, "%s: hunk %zu (line %llu): neither its lines nor its surroundings are there",
		j->file->path, order + 1, (unsigned long long)h->old_start);
}

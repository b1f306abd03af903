/* Where a hunk goes: exact, already there, with offset, with fuzz. What is left of a hunk whose
 * surroundings changed is apply_context.c's business. */
#include "triggers/apply_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* Outer context lines that may be dropped on each side: as the released ladder's "patch --fuzz=5", so for
 * the usual three lines all of them. A removed line is always needed. */
#define FUZZ_MAX 5

#define NOWHERE   (-1)
#define AMBIGUOUS (-2)

int apply_text_split(struct text *t, const char *data, size_t n)
{
	size_t lines = 0;

	for (const char *p = data, *end = data + n; p < end; lines++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	*t = (struct text){ 0 };
	if (lines > APPLY_LINES_MAX)
		return -1;
	t->line = mem_zalloc(lines + 1, sizeof(*t->line));
	for (const char *p = data, *end = data + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl + 1 - p) : (size_t)(end - p);
		struct text_line *l = &t->line[t->n++];

		patch_line_set(l, p, len, 0);
		t->lf += l->end == END_LF;
		t->crlf += l->end == END_CRLF;
		p += len;
	}
	return 0;
}

void apply_text_done(struct text *t)
{
	free(t->line);
	*t = (struct text){ 0 };
}

static size_t core_len(const struct text_line *l)
{
	return l->len - (l->end == END_CRLF ? 2u : l->end == END_LF ? 1u : 0u);
}

static bool eq_but_blanks(const struct text_line *a, const struct text_line *b)
{
	const char *p = a->p, *q = b->p, *pe = p + a->len, *qe = q + b->len;

	for (;;) {
		while (p < pe && isspace((unsigned char)*p))
			p++;
		while (q < qe && isspace((unsigned char)*q))
			q++;
		if (p == pe || q == qe)
			return p == pe && q == qe;
		if (*p++ != *q++)
			return false;
	}
}

bool apply_line_eq(const struct text_line *a, const struct text_line *b, enum line_match how)
{
	if (how == LINES_BLANKS)
		return eq_but_blanks(a, b);
	if (a->hash != b->hash || core_len(a) != core_len(b))
		return false;
	if (how == LINES_STRICT && a->end != b->end)
		return false;
	return memcmp(a->p, b->p, core_len(a)) == 0;
}

bool apply_work(struct apply_job *j, uint64_t bytes)
{
	uint64_t cost = 1 + bytes / 16;

	*j->work = *j->work > cost ? *j->work - cost : 0;
	return *j->work > 0;
}

bool apply_hunk_at(struct apply_job *j, const struct patch_hunk *h, char skip, size_t lead,
		   size_t trail, int64_t pos, enum line_match how)
{
	size_t at = (size_t)pos;

	if (pos < 0 || at > j->text->n)
		return false;
	for (size_t i = lead; i + trail < h->n; i++) {
		if (h->line[i].kind == skip)
			continue;
		if (!apply_work(j, how == LINES_BLANKS ? h->line[i].len : 0))
			return false;
		if (at >= j->text->n || j->taken[at] ||
		    !apply_line_eq(&h->line[i], &j->text->line[at], how))
			return false;
		at++;
	}
	return true;
}

size_t apply_hunk_side(const struct patch_hunk *h, char skip)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->line[i].kind != skip;
	return n;
}

void apply_hunk_context(const struct patch_hunk *h, size_t *lead, size_t *trail)
{
	size_t a = 0, b = 0;

	while (a < h->n && h->line[a].kind == ' ')
		a++;
	while (b < h->n - a && h->line[h->n - 1 - b].kind == ' ')
		b++;
	*lead = a;
	*trail = b;
}

int apply_say_no(struct apply_job *j, const char *fmt, ...)
{
	va_list ap;

	if (j->reason)
		return 0;
	va_start(ap, fmt);
	j->reason = mem_vprintf(fmt, ap);
	va_end(ap);
	return 0;
}

/* The end that added lines get: their own, unless the file's style differs from the patch's. */
static const char *end_for(const struct apply_job *j, const struct text_line *l, size_t pos)
{
	const struct text *t = j->text;
	enum line_end style = t->crlf > t->lf ? END_CRLF : END_LF;

	if (l->end == END_NONE)
		return "";
	if (!j->loose)
		return l->end == END_CRLF ? "\r\n" : "\n";
	/* a file of mixed ends: as the neighbours */
	if (pos < t->n && t->line[pos].end != END_NONE)
		style = (enum line_end)t->line[pos].end;
	else if (pos > 0 && t->line[pos - 1].end != END_NONE)
		style = (enum line_end)t->line[pos - 1].end;
	return style == END_CRLF ? "\r\n" : "\n";
}

static void edit_add(struct apply_job *j, size_t pos, size_t old_n, struct buf *b, size_t order)
{
	struct apply_edit *e = &j->edit[j->n_edits++];

	memset(j->taken + pos, 1, old_n);
	*e = (struct apply_edit){ .pos = pos, .old_n = old_n, .order = order };
	e->bytes = buf_steal(b, &e->len);
}

/* Lines that must not be glued together: the file's last line without newline in front of what is
 * added, and an added one without newline in front of the rest of the file. */
static void glue_front(const struct apply_job *j, struct buf *b, size_t pos)
{
	const char *nl = j->text->crlf > j->text->lf ? "\r\n" : "\n";

	if (b->len ? b->data[b->len - 1] != '\n'
		   : pos > 0 && pos == j->text->n && j->text->line[pos - 1].end == END_NONE)
		buf_adds(b, nl);
}

static void glue_back(const struct apply_job *j, struct buf *b, size_t next)
{
	if (next < j->text->n && b->len && b->data[b->len - 1] != '\n')
		buf_adds(b, j->text->crlf > j->text->lf ? "\r\n" : "\n");
}

void apply_hunk_put(struct apply_job *j, const struct patch_hunk *h, size_t lead, size_t trail,
		    size_t pos, size_t order, enum apply_method method)
{
	size_t first, last, at = pos;
	auto_buf b = BUF_INIT(2u * APPLY_DIFF_MAX);

	apply_hunk_context(h, &first, &last);
	j->drift = (int64_t)pos - (int64_t)lead - (int64_t)h->old_start + (h->old_n ? 1 : 0);
	if (method > j->method)
		j->method = method;
	at += first - (first < lead ? first : lead);
	pos = at;
	(void)trail; /* context behind the last change is never written */
	for (size_t i = first; i + last < h->n; i++) {
		const struct text_line *l = &h->line[i];

		if (l->kind == '+') {
			glue_front(j, &b, pos);
			buf_add(&b, l->p, core_len(l));
			buf_adds(&b, end_for(j, l, at));
			continue;
		}
		if (l->kind == ' ')
			buf_add(&b, j->text->line[at].p, j->text->line[at].len);
		at++;
	}
	glue_back(j, &b, at);
	edit_add(j, pos, at - pos, &b, order);
}

void apply_hunk_replace(struct apply_job *j, const struct patch_hunk *h, size_t from, size_t to,
			size_t pos, size_t old_n, size_t order)
{
	auto_buf b = BUF_INIT(2u * APPLY_DIFF_MAX);

	for (size_t i = from; i < to; i++) {
		if (h->line[i].kind == '-')
			continue;
		glue_front(j, &b, pos);
		buf_add(&b, h->line[i].p, core_len(&h->line[i]));
		buf_adds(&b, end_for(j, &h->line[i], pos));
	}
	glue_back(j, &b, pos + old_n);
	j->method = APPLY_CONTEXT;
	edit_add(j, pos, old_n, &b, order);
}

/* Nearest place to @want where a side of the hunk stands; NOWHERE, or AMBIGUOUS when two are
 * equally near. */
static int64_t nearest(struct apply_job *j, const struct patch_hunk *h, char skip, size_t lead,
		       size_t trail, int64_t want, enum line_match how)
{
	int64_t n = (int64_t)j->text->n, reach;

	want = want < 0 ? 0 : want > n ? n : want;
	reach = want > n - want ? want : n - want;
	if (apply_hunk_at(j, h, skip, lead, trail, want, how))
		return want;
	for (int64_t d = 1; d <= reach && *j->work; d++) {
		bool up = apply_hunk_at(j, h, skip, lead, trail, want - d, how);
		bool down = apply_hunk_at(j, h, skip, lead, trail, want + d, how);

		if (up && down)
			return AMBIGUOUS;
		if (up || down)
			return up ? want - d : want + d;
	}
	return NOWHERE;
}

/* The new lines stand at @pos already: nothing to write. */
static int put_nothing(struct apply_job *j, const struct patch_hunk *h, int64_t pos)
{
	int64_t new_n = (int64_t)apply_hunk_side(h, '-'), old_n = (int64_t)apply_hunk_side(h, '+');

	j->drift = pos + new_n - ((int64_t)h->old_start - (h->old_n ? 1 : 0) + old_n);
	return 1;
}

static bool has_kind(const struct patch_hunk *h, char kind)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->line[i].kind == kind)
			return true;
	return false;
}

/* Insertion without any context: only the stated place counts. */
static int place_bare(struct apply_job *j, const struct patch_hunk *h, int64_t want, size_t order)
{
	if (apply_hunk_at(j, h, '-', 0, 0, want, j->loose ? LINES_LOOSE : LINES_STRICT))
		return put_nothing(j, h, want);
	if (want < 0 || (size_t)want > j->text->n)
		return apply_say_no(j, "%s: there is no line %llu to insert behind", j->file->path,
				    (unsigned long long)h->old_start);
	apply_hunk_put(j, h, 0, 0, (size_t)want, order, j->drift ? APPLY_OFFSET : APPLY_EXACT);
	return 1;
}

/* Drop outer context, then white space. 1, 0, or AMBIGUOUS. */
static int place_fuzz(struct apply_job *j, const struct patch_hunk *h, int64_t want, size_t order)
{
	enum line_match how = j->loose ? LINES_LOOSE : LINES_STRICT;
	size_t lead, trail, old_n = apply_hunk_side(h, '+');
	int64_t pos;

	apply_hunk_context(h, &lead, &trail);
	for (size_t f = 1; f <= FUZZ_MAX; f++) {
		size_t l = f < lead ? f : lead, t = f < trail ? f : trail;

		if (l + t >= old_n || l + t == 0)
			break;
		pos = nearest(j, h, '+', l, t, want + (int64_t)l, how);
		if (pos == AMBIGUOUS)
			return AMBIGUOUS;
		if (pos >= 0) {
			apply_hunk_put(j, h, l, t, (size_t)pos, order, APPLY_FUZZ);
			return 1;
		}
	}
	pos = nearest(j, h, '+', 0, 0, want, LINES_BLANKS);
	if (pos < 0)
		return pos == AMBIGUOUS ? AMBIGUOUS : 0;
	apply_hunk_put(j, h, 0, 0, (size_t)pos, order, APPLY_FUZZ);
	return 1;
}

static int ambiguous(struct apply_job *j, size_t i)
{
	return apply_say_no(j, "%s: hunk %zu fits equally well in two places", j->file->path,
			    i + 1);
}

/* Do the new lines stand nearer to @want than @old, where the old ones fit? An edit that put a copy of something in
 * must not be made again beside its first copy. */
static bool stands_nearer(struct apply_job *j, const struct patch_hunk *h, int64_t want,
			  int64_t old, int64_t *ret)
{
	if (!has_kind(h, '+'))
		return false;
	*ret = nearest(j, h, '-', 0, 0, want, j->loose ? LINES_LOOSE : LINES_STRICT);
	return *ret >= 0 && llabs(*ret - want) < llabs(old - want);
}

int apply_hunk_place(struct apply_job *j, size_t i)
{
	const struct patch_hunk *h = &j->file->hunk[i];
	enum line_match how = j->loose ? LINES_LOOSE : LINES_STRICT;
	int64_t want = (int64_t)h->old_start - (h->old_n ? 1 : 0) + j->drift, pos, there;
	int r;

	if (apply_hunk_side(h, '+') == 0)
		return place_bare(j, h, want, i);
	if (apply_hunk_at(j, h, '+', 0, 0, want, how)) {
		apply_hunk_put(j, h, 0, 0, (size_t)want, i, j->drift ? APPLY_OFFSET : APPLY_EXACT);
		return 1;
	}
	if (apply_hunk_side(h, '-') && apply_hunk_at(j, h, '-', 0, 0, want, how))
		return put_nothing(j, h, want);
	if (j->most >= APPLY_OFFSET) {
		pos = nearest(j, h, '+', 0, 0, want, how);
		if (pos == AMBIGUOUS)
			return ambiguous(j, i);
		if (pos >= 0) {
			if (stands_nearer(j, h, want, pos, &there))
				return put_nothing(j, h, there);
			apply_hunk_put(j, h, 0, 0, (size_t)pos, i, APPLY_OFFSET);
			return 1;
		}
	}
	if (has_kind(h, '+')) {
		pos = nearest(j, h, '-', 0, 0, want, how);
		if (pos >= 0)
			return put_nothing(j, h, pos);
	}
	if (j->most >= APPLY_FUZZ) {
		r = place_fuzz(j, h, want, i);
		if (r == AMBIGUOUS)
			return ambiguous(j, i);
		if (r == 1)
			return 1;
	}
	if (j->most >= APPLY_CONTEXT && *j->work)
		return apply_context_place(j, h, i);
	return apply_say_no(j,
			    *j->work ? "%s: hunk %zu (line %llu) does not fit"
				     : "%s: hunk %zu (line %llu): the search takes too long",
			    j->file->path, i + 1, (unsigned long long)h->old_start);
}

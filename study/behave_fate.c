/* From images to what became of the user's edits. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/behave_internal.h"

/* Hard maxima: a trace may name any number of states of any size. */
enum { STATES_MAX = 2000 };
#define BYTES_MAX (512ull << 20)
#define IMAGE_MAX (64u << 20)

/* Contents of @sha256, kept for the next time. *ret NULL: not there. 0 or negative. */
static int image_of(struct behave_work *w, const char *sha256, const struct behave_image **ret,
		    struct err *err)
{
	auto_buf b = BUF_INIT(IMAGE_MAX);
	struct behave_image *im;
	int rc = 0;

	for (size_t i = 0; i < w->n_images; i++)
		if (strcmp(w->image[i]->sha256, sha256) == 0) {
			*ret = w->image[i];
			return 0;
		}
	if (w->bytes < BYTES_MAX)
		rc = rundir_image(w->rd, sha256, &b, err);
	if (rc < 0)
		return rc;
	im = mem_zalloc(1, sizeof(*im));
	memcpy(im->sha256, sha256, strlen(sha256) + 1);
	w->bytes += b.len;
	if (rc == 1)
		im->data = buf_steal(&b, &im->len);
	MEM_GROW(w->image, w->cap_images, w->n_images + 1);
	w->image[w->n_images++] = im;
	*ret = im;
	return 0;
}

/* State with digest @sha256 ("" = no file). *ret_known is cleared when it was not kept. */
static int state_of(struct behave_work *w, const char *sha256, struct linefate_image *ret,
		    bool *ret_known, struct err *err)
{
	const struct behave_image *im = NULL;
	int rc = 0;

	*ret = (struct linefate_image){ 0 };
	if (!sha256[0])
		return 0;
	rc = image_of(w, sha256, &im, err);
	if (rc < 0)
		return rc;
	if (!im->data)
		*ret_known = false;
	else
		*ret = (struct linefate_image){ im->data, im->len };
	return 0;
}

static int add_state(struct behave_work *w, struct behave_chain *c, const char *sha256, uint64_t n,
		     struct err *err)
{
	struct linefate_image im;
	int rc = state_of(w, sha256, &im, &c->known, err);

	if (rc < 0)
		return rc;
	/* Past the maximum the middle is left out: the last state counts most. */
	if (c->n == STATES_MAX)
		c->n--;
	if (c->n == c->cap) {
		size_t cap = c->cap;

		MEM_GROW(c->v, cap, c->n + 1);
		c->n_of = mem_realloc(c->n_of, cap, sizeof(*c->n_of));
		c->cap = cap;
	}
	c->v[c->n] = im;
	c->n_of[c->n++] = n;
	return 0;
}

int behave_chain_of(struct behave_work *w, size_t at, uint64_t until, struct behave_chain *ret,
		    struct err *err)
{
	const struct rundir *rd = w->rd;
	const struct rundir_edit *e = &rd->edit[at];
	struct behave_chain c = { .known = e->pre[0] || e->post[0] };
	const char *last = e->post;
	int rc = state_of(w, e->pre, &c.before, &c.known, err);

	if (rc == 0)
		rc = add_state(w, &c, e->post, e->n, err);
	for (size_t i = at + 1; i < rd->n_edits && rd->edit[i].n < until && rc == 0; i++) {
		const struct rundir_edit *x = &rd->edit[i];

		if (strcmp(x->path, e->path) != 0)
			continue;
		c.known &= x->pre[0] || x->post[0];
		/* a change that nobody saw made */
		if (strcmp(x->pre, last) != 0)
			rc = add_state(w, &c, x->pre, x->n, err);
		if (rc == 0)
			rc = add_state(w, &c, x->post, x->n, err);
		last = x->post;
	}
	if (rc < 0)
		behave_chain_done(&c);
	else
		*ret = c;
	return rc;
}

void behave_chain_done(struct behave_chain *c)
{
	free(c->v);
	free(c->n_of);
	*c = (struct behave_chain){ 0 };
}

/* An edit of braces and empty lines alone is told by these; any other by the lines that say something. */
enum response behave_response(const struct linefate *f)
{
	bool some = f->telling + f->telling_deleted > 0;
	uint64_t added = some ? f->telling : f->n, kept = some ? f->telling_kept : f->kept;
	uint64_t deleted = some ? f->telling_deleted : f->deleted;
	uint64_t back = some ? f->telling_restored : f->restored;

	if (!added && !deleted)
		return RESPONSE_NONE;
	if (f->reverted)
		return RESPONSE_REVERTED;
	if (added && kept == added)
		return back ? RESPONSE_REVISED : RESPONSE_KEPT;
	if (added)
		return kept ? RESPONSE_REVISED : RESPONSE_REPLACED;
	/* An edit that only takes out: */
	if (back)
		return RESPONSE_REVISED;
	return f->replaced ? RESPONSE_REPLACED : RESPONSE_KEPT;
}

/* The worse half of a whole: files of one edit that came out differently. */
static enum response combine(const enum response *v, size_t n)
{
	size_t count[RESPONSE_REPLACED + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		count[v[i]]++;
	n -= count[RESPONSE_NONE];
	if (!n)
		return RESPONSE_NONE;
	if (count[RESPONSE_KEPT] == n)
		return RESPONSE_KEPT;
	if (count[RESPONSE_KEPT] || count[RESPONSE_REVISED])
		return RESPONSE_REVISED;
	return count[RESPONSE_REVERTED] == n ? RESPONSE_REVERTED : RESPONSE_REPLACED;
}

/* Lines of @f that stand in the end. */
static void add_standing(struct behave *b, const char *path, const struct linefate *f)
{
	size_t cap = b->n_standing;

	if (f->kept)
		b->standing = mem_realloc(b->standing, cap + f->kept, sizeof(*b->standing));
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].fate == FATE_KEPT)
			b->standing[b->n_standing++] =
				(struct behave_line){ mem_strdup(path), f->v[i].at, f->v[i].bare };
}

static int by_place(const void *a, const void *b)
{
	const struct behave_line *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	return r ? r : x->at < y->at ? -1 : x->at > y->at;
}

/* Two rounds may have brought the same line. */
static void once(struct behave *b)
{
	size_t n = 0;

	if (b->n_standing)
		qsort(b->standing, b->n_standing, sizeof(*b->standing), by_place);
	for (size_t i = 0; i < b->n_standing; i++) {
		if (n && by_place(&b->standing[n - 1], &b->standing[i]) == 0)
			free(b->standing[i].path);
		else
			b->standing[n++] = b->standing[i];
	}
	b->n_standing = n;
	for (size_t i = 0; i < n; i++)
		b->standing_telling += !b->standing[i].bare;
}

/* Fate of edit record @at until record @until. */
static int fate_of(struct behave_work *w, size_t at, uint64_t until, struct linefate *ret,
		   bool *ret_known, struct err *err)
{
	struct behave_chain c = { 0 };
	int rc = behave_chain_of(w, at, until, &c, err);

	*ret = (struct linefate){ 0 };
	if (rc == 0) {
		*ret_known = c.known;
		if (c.known)
			linefate_of(&c.before, c.v, c.n, ret);
	}
	behave_chain_done(&c);
	return rc;
}

/* The place of edit record @at in the base tree. */
static int place_of(struct behave_work *w, size_t at, struct err *err)
{
	const struct rundir_edit *e = &w->rd->edit[at];
	const char *base = rundir_digest_at(w->rd, e->path, 0);
	struct linefate_image then, first;
	struct behave_place p = { 0 };
	bool known = base != NULL;
	int rc = base ? state_of(w, base, &first, &known, err) : 0;

	if (rc == 0)
		rc = state_of(w, e->post[0] ? e->post : e->pre, &then, &known, err);
	if (rc < 0 || !known || !then.data)
		return rc;
	if (!linefate_follow(&then, &first, e->first ? e->first : 1, e->last ? e->last : 1,
			     &p.first, &p.last))
		return 0;
	p.path = mem_strdup(e->path);
	w->ret->place = mem_realloc(w->ret->place, w->ret->n_places + 1, sizeof(*w->ret->place));
	w->ret->place[w->ret->n_places++] = p;
	return 0;
}

static int one_round(struct behave_work *w, size_t r, struct err *err)
{
	const struct behave_firing *g = &w->round[r];
	bool last = r + 1 == w->n_rounds;
	uint64_t until = last ? UINT64_MAX : w->rd->edit[w->round[r + 1].first].n;
	size_t n = g->last - g->first + 1;
	auto_free enum response *each = mem_zalloc(n, sizeof(*each));
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *path = w->rd->edit[g->first + i].path;
		struct linefate f;
		bool known = false;

		rc = fate_of(w, g->first + i, UINT64_MAX, &f, &known, err);
		if (rc == 0)
			rc = place_of(w, g->first + i, err);
		if (rc < 0)
			return rc;
		add_standing(w->ret, path, &f);
		if (last) {
			w->ret->known &= known;
			each[i] = known ? behave_response(&f) : RESPONSE_NONE;
			w->ret->file[i] =
				(struct behave_file){ mem_strdup(path), f, each[i], known };
			w->ret->n++;
			continue;
		}
		linefate_done(&f);
		rc = fate_of(w, g->first + i, until, &f, &known, err);
		each[i] = rc == 0 && known ? behave_response(&f) : RESPONSE_NONE;
		linefate_done(&f);
	}
	if (rc == 0 && w->ret->n_rounds)
		w->ret->round[w->ret->n_rounds - (w->n_rounds - r)].response = combine(each, n);
	if (rc == 0 && last)
		w->ret->response = w->ret->known ? combine(each, n) : RESPONSE_NONE;
	return rc;
}

int behave_fates(struct behave_work *w, struct err *err)
{
	const struct behave_firing *last = &w->round[w->n_rounds - 1];
	int rc = 0;

	w->ret->known = true;
	w->ret->file = mem_zalloc(last->last - last->first + 1, sizeof(*w->ret->file));
	for (size_t r = w->n_rounds - w->ret->n_rounds; r < w->n_rounds && rc == 0; r++)
		rc = one_round(w, r, err);
	once(w->ret);
	w->ret->revised = w->ret->response > RESPONSE_KEPT;
	return rc;
}

void behave_work_done(struct behave_work *w)
{
	for (size_t i = 0; i < w->n_images; i++) {
		free(w->image[i]->data);
		free(w->image[i]);
	}
	free(w->image);
	free(w->round);
}

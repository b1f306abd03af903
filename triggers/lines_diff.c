/* Which lines differ between two images. Bounded in time and memory: the images come from the
 * agent, and the world may be held still meanwhile. */
#include "triggers/lines.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

/* A part of both files that is still to be compared. */
struct part {
	size_t a0, a1, b0, b1;
};

struct diff {
	uint64_t *a, *b;        /* owned: hash of each line; two lines are the same when it is */
	unsigned char *da, *db; /* owned: line is changed */
	size_t na, nb;
	int64_t *fwd, *bwd; /* owned: furthest point per diagonal, forwards and backwards */
	struct part *todo;  /* owned stack */
	size_t n_todo, cap_todo;
	uint64_t work;
};

/* FNV-1a of 64 bits: a collision of two lines costs one missed change, never memory safety. */
static uint64_t *hashes(const char *data, size_t len, size_t *ret_n)
{
	struct lines l;
	uint64_t *h;

	lines_index(&l, data, len);
	h = mem_zalloc(l.n + 1, sizeof(*h));
	for (size_t i = 0; i < l.n; i++)
		h[i] = map_hash(data + l.at[i], (size_t)(l.at[i + 1] - l.at[i]));
	*ret_n = l.n;
	lines_done(&l);
	return h;
}

static void mark(struct diff *d, const struct part *p)
{
	memset(d->da + p->a0, 1, p->a1 - p->a0);
	memset(d->db + p->b0, 1, p->b1 - p->b0);
}

static void push(struct diff *d, struct part p)
{
	MEM_GROW(d->todo, d->cap_todo, d->n_todo + 1);
	d->todo[d->n_todo++] = p;
}

/* One point where an optimal path crosses. */
struct split {
	size_t x, y;
};

/* One step forwards on all diagonals; true with *s when it met the way back. */
static bool step_fwd(struct diff *d, const struct part *p, int64_t k, int64_t delta,
		     struct split *s)
{
	int64_t n = (int64_t)(p->a1 - p->a0), m = (int64_t)(p->b1 - p->b0);
	int64_t off = (int64_t)d->nb + 1;

	for (int64_t i = -k; i <= k; i += 2) {
		int64_t x, y;

		if (i < -m || i > n)
			continue;
		if (i == -k || (i != k && d->fwd[off + i - 1] < d->fwd[off + i + 1]))
			x = d->fwd[off + i + 1];
		else
			x = d->fwd[off + i - 1] + 1;
		y = x - i;
		while (x >= 0 && y >= 0 && x < n && y < m &&
		       d->a[p->a0 + (size_t)x] == d->b[p->b0 + (size_t)y]) {
			x++;
			y++;
			d->work++;
		}
		d->fwd[off + i] = x;
		d->work++;
		if ((delta & 1) && i >= delta - (k - 1) && i <= delta + (k - 1) && x <= n &&
		    y <= m && x >= 0 && y >= 0 && x + d->bwd[off + i] >= n) {
			*s = (struct split){ p->a0 + (size_t)x, p->b0 + (size_t)y };
			return true;
		}
	}
	return false;
}

/* The same backwards. bwd[] counts from the end and is indexed by the forward diagonal. */
static bool step_bwd(struct diff *d, const struct part *p, int64_t k, int64_t delta,
		     struct split *s)
{
	int64_t n = (int64_t)(p->a1 - p->a0), m = (int64_t)(p->b1 - p->b0);
	int64_t off = (int64_t)d->nb + 1;

	for (int64_t i = -k; i <= k; i += 2) {
		int64_t diag = delta - i, x, y; /* reversed diagonal i */

		if (i < -m || i > n)
			continue;
		if (i == -k ||
		    (i != k && d->bwd[off + delta - (i - 1)] < d->bwd[off + delta - (i + 1)]))
			x = d->bwd[off + delta - (i + 1)];
		else
			x = d->bwd[off + delta - (i - 1)] + 1;
		y = x - i;
		while (x >= 0 && y >= 0 && x < n && y < m &&
		       d->a[p->a1 - 1 - (size_t)x] == d->b[p->b1 - 1 - (size_t)y]) {
			x++;
			y++;
			d->work++;
		}
		d->bwd[off + diag] = x;
		d->work++;
		if (!(delta & 1) && diag >= -k && diag <= k && x <= n && y <= m && x >= 0 &&
		    y >= 0 && x + d->fwd[off + diag] >= n) {
			*s = (struct split){ p->a1 - (size_t)x, p->b1 - (size_t)y };
			return true;
		}
	}
	return false;
}

/* Middle of an optimal path through @p. False when that costs too much. */
static bool middle(struct diff *d, const struct part *p, struct split *s)
{
	int64_t n = (int64_t)(p->a1 - p->a0), m = (int64_t)(p->b1 - p->b0);
	int64_t delta = n - m, off = (int64_t)d->nb + 1, most = (n + m + 1) / 2;

	if (most > LINES_DIFF_MAX / 2)
		most = LINES_DIFF_MAX / 2;
	for (int64_t i = -m - 1; i <= n + 1; i++)
		d->fwd[off + i] = d->bwd[off + i] = -1;
	d->work += (uint64_t)(n + m);
	d->fwd[off + 1] = 0;
	d->bwd[off + delta - 1] = 0;
	for (int64_t k = 0; k <= most && d->work < LINES_WORK_MAX; k++)
		if (step_fwd(d, p, k, delta, s) || step_bwd(d, p, k, delta, s))
			return true;
	return false;
}

static void compare(struct diff *d, struct part p)
{
	struct split s;

	while (p.a0 < p.a1 && p.b0 < p.b1 && d->a[p.a0] == d->b[p.b0]) {
		p.a0++;
		p.b0++;
	}
	while (p.a0 < p.a1 && p.b0 < p.b1 && d->a[p.a1 - 1] == d->b[p.b1 - 1]) {
		p.a1--;
		p.b1--;
	}
	if (p.a0 == p.a1 || p.b0 == p.b1) {
		mark(d, &p);
		return;
	}
	/* a split at a corner would give the same part again */
	if (!middle(d, &p, &s) || (s.x == p.a0 && s.y == p.b0) || (s.x == p.a1 && s.y == p.b1)) {
		mark(d, &p);
		return;
	}
	push(d, (struct part){ p.a0, s.x, p.b0, s.y });
	push(d, (struct part){ s.x, p.a1, s.y, p.b1 });
}

/* Runs of changed lines as changes. */
static void collect(const struct diff *d, struct line_changes *out)
{
	size_t i = 0, j = 0;

	while (i < d->na || j < d->nb) {
		size_t i0 = i, j0 = j;

		while (i < d->na && d->da[i])
			i++;
		while (j < d->nb && d->db[j])
			j++;
		if (i > i0 || j > j0) {
			MEM_GROW(out->v, out->cap, out->n + 1);
			out->v[out->n++] = (struct line_change){ i0 + 1, i - i0, j0 + 1, j - j0 };
			continue;
		}
		i++;
		j++;
	}
}

void lines_diff(const char *a, size_t a_len, const char *b, size_t b_len, struct line_changes *out)
{
	struct diff d = { 0 };

	*out = (struct line_changes){ 0 };
	d.a = hashes(a, a_len, &d.na);
	d.b = hashes(b, b_len, &d.nb);
	d.da = mem_zalloc(d.na + 1, 1);
	d.db = mem_zalloc(d.nb + 1, 1);
	d.fwd = mem_zalloc(d.na + d.nb + 4, sizeof(*d.fwd));
	d.bwd = mem_zalloc(d.na + d.nb + 4, sizeof(*d.bwd));
	push(&d, (struct part){ 0, d.na, 0, d.nb });
	while (d.n_todo)
		compare(&d, d.todo[--d.n_todo]);
	collect(&d, out);
	free(d.a);
	free(d.b);
	free(d.da);
	free(d.db);
	free(d.fwd);
	free(d.bwd);
	free(d.todo);
}

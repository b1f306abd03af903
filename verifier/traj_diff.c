#include "verifier/traj_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/difflines.h"

#define FILES_MAX  50000u
#define NAME_BYTES 4096u
#define LINE_LIMIT 1000000000u /* line numbers beyond are not believed */

/* One line of the text, without its end. */
struct line {
	const char *p;
	size_t n;
};

/* The reader's place: which file, and the hunk under way. */
struct reader {
	struct traj_diff *out;
	const char *p, *end;
	char *old_name, *new_name; /* owned: of the file under way, NULL = /dev/null or unknown */
	bool from_nothing, to_nothing;
	bool open; /* out->file's last one is the file under way */
};

static bool next_line(struct reader *r, struct line *l)
{
	const char *nl;

	if (r->p >= r->end)
		return false;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	l->p = r->p;
	l->n = (size_t)((nl ? nl : r->end) - r->p);
	r->p = nl ? nl + 1 : r->end;
	while (l->n && l->p[l->n - 1] == '\r')
		l->n--;
	return true;
}

static bool begins(const struct line *l, const char *what)
{
	size_t n = strlen(what);

	return l->n >= n && memcmp(l->p, what, n) == 0;
}

/* A name in git's C-like quotes. Caller frees. */
static char *unquote(const char *p, size_t n)
{
	char *out = mem_alloc(n + 1);
	size_t k = 0;

	for (size_t i = 1; i < n && p[i] != '"'; i++) {
		unsigned v = 0, digits = 0;

		if (p[i] != '\\' || i + 1 >= n) {
			out[k++] = p[i];
			continue;
		}
		i++;
		while (digits < 3 && i + digits < n && p[i + digits] >= '0' && p[i + digits] <= '7')
			v = v * 8 + (unsigned)(p[i + digits++] - '0');
		if (digits == 3) {
			out[k++] = (char)v;
			i += 2;
		} else {
			out[k++] = p[i] == 'n' ? '\n' : p[i] == 't' ? '\t' : p[i];
		}
	}
	out[k] = '\0';
	return out;
}

/* The name behind "--- " or "+++ ": without a/ or b/, quotes and time stamp. NULL for /dev/null. Caller
 * frees. */
static char *name_of(const char *p, size_t n, bool *ret_nothing)
{
	const char *tab = memchr(p, '\t', n);
	char *name, *plain;

	n = n > NAME_BYTES ? NAME_BYTES : n;
	if (n && p[0] == '"')
		name = unquote(p, n);
	else
		name = mem_strndup(p, tab && (size_t)(tab - p) < n ? (size_t)(tab - p) : n);
	*ret_nothing = str_eq(name, "/dev/null");
	if (*ret_nothing || !*name) {
		free(name);
		return NULL;
	}
	if ((name[0] == 'a' || name[0] == 'b' || name[0] == 'i' || name[0] == 'w' ||
	     name[0] == 'c' || name[0] == 'o') &&
	    name[1] == '/') {
		plain = mem_strdup(name + 2);
		free(name);
		return plain;
	}
	return name;
}

static void forget(struct reader *r)
{
	free(r->old_name);
	free(r->new_name);
	r->old_name = r->new_name = NULL;
	r->from_nothing = r->to_nothing = r->open = false;
}

/* The file under way gets its entry with its first hunk. False when there is no name, or no room. */
static bool open_file(struct reader *r)
{
	struct traj_diff *d = r->out;
	const char *name = r->new_name ? r->new_name : r->old_name;

	if (r->open)
		return true;
	if (!name || d->n_files >= FILES_MAX)
		return false;
	MEM_GROW(d->file, d->cap_files, d->n_files + 1);
	d->file[d->n_files++] = (struct traj_diff_file){
		.path = mem_strdup(name),
		.born = r->from_nothing,
		.gone = r->to_nothing,
		.first = d->n,
	};
	if (!map_get(&d->by_path, map_hash(name, strlen(name))))
		map_put(&d->by_path, map_hash(name, strlen(name)), (void *)(uintptr_t)d->n_files);
	r->open = true;
	return true;
}

/* "@@ -a,b +c,d @@" */
static bool hunk_head(const struct line *l, uint64_t v[4])
{
	struct difflines_place at;

	if (!begins(l, "@@ -") || !difflines_hunk(l->p, l->n, &at) || at.old_first > LINE_LIMIT ||
	    at.old_n > LINE_LIMIT || at.new_first > LINE_LIMIT || at.new_n > LINE_LIMIT)
		return false;
	v[0] = at.old_first;
	v[1] = at.old_n;
	v[2] = at.new_first;
	v[3] = at.new_n;
	return true;
}

static void add(struct traj_diff *d, const struct traj_diff_change *c)
{
	if ((!c->old_n && !c->new_n) || d->n >= TRAJ_DIFF_MAX)
		return;
	MEM_GROW(d->v, d->cap, d->n + 1);
	d->v[d->n++] = *c;
	d->file[c->file].n++;
}

/* The lines of a hunk behind its header. */
static void hunk(struct reader *r, const uint64_t v[4])
{
	struct traj_diff_change c = {
		.file = r->out->n_files - 1,
		.hunk_first = v[3] ? v[2] : 0,
		.hunk_last = v[3] ? v[2] + v[3] - 1 : 0,
		.old_first = v[0],
		.new_first = v[2],
	};
	uint64_t old_left = v[1], new_left = v[3];
	bool seen = false; /* an old line of this hunk has passed */
	struct line l;

	while (old_left || new_left) {
		const char *at = r->p;
		char kind;

		if (!next_line(r, &l))
			break;
		kind = l.n ? l.p[0]
			   : ' '; /* mailers and editors strip the blank of an empty line */
		if (kind == '-' && old_left) {
			c.old_n++;
			old_left--;
		} else if (kind == '+' && new_left) {
			c.new_n++;
			new_left--;
		} else if (kind == ' ' && old_left && new_left) {
			c.after = true;
			add(r->out, &c);
			c.old_first += c.old_n + 1;
			c.new_first += c.new_n + 1;
			c.old_n = c.new_n = 0;
			c.after = false;
			seen = true;
			old_left--;
			new_left--;
		} else if (kind != '\\') {
			r->p = at; /* cut: this line is something else */
			break;
		}
		c.before = seen;
	}
	add(r->out, &c);
}

static void take_name(char **name, const struct line *l, bool *nothing)
{
	free(*name);
	*name = name_of(l->p + 4, l->n - 4, nothing);
}

void traj_diff_read(struct traj_diff *out, const char *text, size_t n)
{
	struct reader r = { .out = out, .p = text, .end = text + n };
	struct line l;
	uint64_t v[4];

	while (next_line(&r, &l)) {
		if (begins(&l, "diff --git ") || begins(&l, "Index: ")) {
			forget(&r);
		} else if (begins(&l, "--- ")) {
			forget(&r);
			take_name(&r.old_name, &l, &r.from_nothing);
		} else if (begins(&l, "+++ ")) {
			take_name(&r.new_name, &l, &r.to_nothing);
		} else if (hunk_head(&l, v) && open_file(&r)) {
			hunk(&r, v);
		}
	}
	forget(&r);
}

void traj_diff_done(struct traj_diff *d)
{
	for (size_t i = 0; i < d->n_files; i++)
		free(d->file[i].path);
	free(d->file);
	free(d->v);
	map_done(&d->by_path);
	*d = (struct traj_diff){ 0 };
}

/* Lines [first, first + n), or what stands around the place in front of @first. */
static void lines_or_gap(uint64_t first, uint64_t n, const struct traj_diff_change *c,
			 uint64_t *ret_first, uint64_t *ret_last)
{
	if (n) {
		*ret_first = first;
		*ret_last = first + n - 1;
		return;
	}
	/* at an end of the file there is one neighbour only */
	*ret_first = first > 1 && (c->before || !c->after) ? first - 1 : first;
	*ret_last = c->after || first <= 1 ? first : first - 1;
}

void traj_diff_old(const struct traj_diff *d, const struct traj_diff_change *c, uint64_t *first,
		   uint64_t *last)
{
	*first = *last = 0;
	if (!d->file[c->file].born)
		lines_or_gap(c->old_first, c->old_n, c, first, last);
}

void traj_diff_new(const struct traj_diff *d, const struct traj_diff_change *c, uint64_t *first,
		   uint64_t *last)
{
	*first = *last = 0;
	if (!d->file[c->file].gone)
		lines_or_gap(c->new_first, c->new_n, c, first, last);
}

static const struct traj_diff_file *find(const struct traj_diff *d, const char *path)
{
	uintptr_t i = (uintptr_t)map_get(&d->by_path, map_hash(path, strlen(path)));

	return i && str_eq(d->file[i - 1].path, path) ? &d->file[i - 1] : NULL;
}

/* Old number of new @line; of a line that came in, the first (or last, @end) old line of its change. */
static uint64_t back_one(const struct traj_diff *d, const struct traj_diff_file *f, uint64_t line,
			 bool end)
{
	const struct traj_diff_change *c;
	size_t lo = 0, hi = f->n; /* changes before lo begin at or before the line */
	uint64_t first, last;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->v[f->first + mid].new_first <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return line;
	c = &d->v[f->first + lo - 1];
	if (line < c->new_first + c->new_n) {
		traj_diff_old(d, c, &first, &last);
		return end ? last : first;
	}
	return line - (c->new_first + c->new_n) + c->old_first + c->old_n;
}

bool traj_diff_back(const struct traj_diff *d, const char *path, uint64_t *first, uint64_t *last)
{
	const struct traj_diff_file *f = find(d, path);
	uint64_t a, b;

	if (f && f->born)
		return false;
	if (!f || !*first)
		return true;
	a = back_one(d, f, *first, false);
	b = back_one(d, f, *last, true);
	*first = a < b ? a : b;
	*last = a < b ? b : a;
	return true;
}

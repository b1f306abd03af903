#include "verifier/difflines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Life of one reading. */
struct reader {
	struct difflines *d;
	const char *p, *end;
	bool in_file; /* the last file header's file takes hunks */
};

/* The line at r->p without its end, and move behind it. False at the end. */
static bool next(struct reader *r, struct diffline *ret)
{
	const char *nl;
	size_t n;

	if (r->p >= r->end)
		return false;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	n = (size_t)((nl ? nl : r->end) - r->p);
	*ret = (struct diffline){ r->p, n };
	if (n && r->p[n - 1] == '\r')
		ret->n--;
	r->p = nl ? nl + 1 : r->end;
	return true;
}

static bool starts(const struct diffline *l, const char *with)
{
	size_t n = strlen(with);

	return l->n >= n && memcmp(l->p, with, n) == 0;
}

/* Undo git's quoting (quote.c of git: C escapes and three octal digits) in place. */
static void unquote(char *s)
{
	static const char from[] = "abtnvfr", to[] = "\a\b\t\n\v\f\r";
	char *out = s;

	for (; *s; s++) {
		const char *c;

		if (*s != '\\' || !s[1]) {
			*out++ = *s;
			continue;
		}
		s++;
		c = strchr(from, *s);
		if (s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
		    s[2] <= '7') {
			*out++ = (char)((s[0] - '0') * 64 + (s[1] - '0') * 8 + (s[2] - '0'));
			s += 2;
		} else {
			*out++ = c ? to[c - from] : *s;
		}
	}
	*out = '\0';
}

/* The name in "--- a/x", "+++ b/x"; NULL for /dev/null. Caller frees. */
static char *name_of(const char *p, size_t n)
{
	const char *tab = memchr(p, '\t', n);
	char *s;

	if (n > 1 && p[0] == '"') {
		const char *quote = memrchr(p, '"', n);

		s = mem_strndup(p + 1, quote > p ? (size_t)(quote - p - 1) : n - 1);
		unquote(s);
	} else {
		s = mem_strndup(p, tab ? (size_t)(tab - p) : n);
	}
	if (strcmp(s, "/dev/null") == 0) {
		free(s);
		return NULL;
	}
	if ((s[0] == 'a' || s[0] == 'b') && s[1] == '/')
		memmove(s, s + 2, strlen(s + 2) + 1);
	return s;
}

static struct diffline_file *add_file(struct reader *r, char *path)
{
	struct difflines *d = r->d;

	MEM_GROW(d->file, d->cap_files, d->n_files + 1);
	d->file[d->n_files] = (struct diffline_file){ .path = path };
	r->in_file = true;
	return &d->file[d->n_files++];
}

/* "--- " and the "+++ " behind it. */
static void header(struct reader *r, const struct diffline *minus)
{
	struct reader ahead = *r;
	struct diffline plus;
	char *from, *to;

	if (!next(&ahead, &plus) || !starts(&plus, "+++ "))
		return;
	from = name_of(minus->p + 4, minus->n - 4);
	to = name_of(plus.p + 4, plus.n - 4);
	r->p = ahead.p;
	if (from || to) {
		struct diffline_file *f = add_file(r, to ? to : from);

		f->born = !from;
		f->gone = !to;
		if (to)
			free(from);
	}
}

/* "Binary files a/x and b/y differ": the name is taken from the git header in front of it. */
static void binary(struct reader *r, const struct diffline *git)
{
	static const char lead[] = "diff --git ";
	const char *p;
	size_t rest;
	char *name;

	if (git->n < sizeof(lead))
		return; /* no such header */
	p = git->p + sizeof(lead) - 1;
	rest = git->n - (sizeof(lead) - 1);
	if (p[0] == '"') {
		const char *end = memchr(p + 1, '"', rest - 1);

		name = end ? name_of(p, (size_t)(end - p) + 1) : NULL;
	} else {
		name = name_of(p, (rest - 1) / 2); /* both names are the same */
	}
	if (name)
		add_file(r, name)->binary = true;
	r->in_file = false;
}

static bool number(const char **p, const char *end, uint64_t *ret)
{
	uint64_t v = 0;
	const char *s = *p;

	for (; s < end && isdigit((unsigned char)*s) && v < 1ull << 40; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (s == *p)
		return false;
	*p = s;
	*ret = v;
	return true;
}

/* ",N" or nothing, which is 1. */
static bool range(const char **p, const char *end, char sign, uint64_t *first, uint64_t *n)
{
	while (*p < end && **p == ' ')
		(*p)++;
	if (*p >= end || **p != sign)
		return false;
	(*p)++;
	*n = 1;
	if (!number(p, end, first))
		return false;
	if (*p < end && **p == ',') {
		(*p)++;
		return number(p, end, n);
	}
	return true;
}

/* Where the next change would begin, and how much of the hunk is left. */
struct hunk {
	uint64_t old, new, old_left, new_left;
	struct diffline_change *c; /* the change that is open; borrowed */
	bool added;                /* it has added lines already */
};

static void take(struct reader *r, struct hunk *h, const struct diffline *l, bool removed)
{
	struct difflines *d = r->d;

	if (d->n_lines >= DIFFLINES_MAX)
		return;
	if (!h->c || (removed && h->added)) {
		MEM_GROW(d->v, d->cap, d->n + 1);
		h->c = &d->v[d->n++];
		*h->c = (struct diffline_change){ .file = d->n_files - 1,
						  .old_first = h->old,
						  .new_first = h->new,
						  .lines = d->n_lines };
	}
	MEM_GROW(d->line, d->cap_lines, d->n_lines + 1);
	d->line[d->n_lines++] = (struct diffline){ l->p + 1, l->n - 1 };
	h->added = !removed;
	if (removed)
		h->c->old_n++;
	else
		h->c->new_n++;
}

bool difflines_hunk(const char *line, size_t n, struct difflines_place *ret)
{
	const char *p = line + 2, *end = line + n;

	if (n < 2 || line[0] != '@' || line[1] != '@' ||
	    !range(&p, end, '-', &ret->old_first, &ret->old_n) ||
	    !range(&p, end, '+', &ret->new_first, &ret->new_n))
		return false;
	/* A side without lines names the line in front of the place. */
	ret->old_first += ret->old_n == 0;
	ret->new_first += ret->new_n == 0;
	return true;
}

static void hunk(struct reader *r, const struct diffline *head)
{
	struct difflines_place at;
	struct hunk h = { 0 };
	struct diffline l;

	if (!difflines_hunk(head->p, head->n, &at))
		return;
	h.old = at.old_first;
	h.old_left = at.old_n;
	h.new = at.new_first;
	h.new_left = at.new_n;
	while ((h.old_left || h.new_left) && next(r, &l)) {
		char kind = l.n ? l.p[0] : ' ';

		if (kind == '\\')
			continue;
		if (kind == '-' && h.old_left) {
			take(r, &h, &l, true);
			h.old++;
			h.old_left--;
		} else if (kind == '+' && h.new_left) {
			take(r, &h, &l, false);
			h.new ++;
			h.new_left--;
		} else if (kind == ' ' && h.old_left && h.new_left) {
			h.c = NULL;
			h.added = false;
			h.old++;
			h.new ++;
			h.old_left--;
			h.new_left--;
		} else {
			r->p = l.p; /* cut: what stands here is no line of the hunk */
			return;
		}
	}
}

void difflines_read(const char *text, size_t n, struct difflines *ret)
{
	struct difflines d = { 0 };
	struct reader r = { .d = &d, .p = text, .end = text + n };
	struct diffline l, git = { 0 };

	while (next(&r, &l)) {
		if (starts(&l, "diff --git "))
			git = l;
		else if (starts(&l, "--- "))
			header(&r, &l);
		else if (starts(&l, "Binary files ") || starts(&l, "GIT binary patch"))
			binary(&r, &git);
		else if (starts(&l, "@@ ") && r.in_file)
			hunk(&r, &l);
	}
	*ret = d;
}

void difflines_done(struct difflines *d)
{
	for (size_t i = 0; i < d->n_files; i++)
		free(d->file[i].path);
	free(d->file);
	free(d->v);
	free(d->line);
	*d = (struct difflines){ 0 };
}

const struct diffline *difflines_removed(const struct difflines *d, const struct diffline_change *c,
					 uint64_t i)
{
	return &d->line[c->lines + i];
}

const struct diffline *difflines_added(const struct difflines *d, const struct diffline_change *c,
				       uint64_t i)
{
	return &d->line[c->lines + c->old_n + i];
}

bool diffline_telling(const struct diffline *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (isalnum((unsigned char)l->p[i]) || (unsigned char)l->p[i] >= 0x80)
			return true;
	return false;
}

static size_t blanks(const struct diffline *l, size_t i)
{
	while (i < l->n && isspace((unsigned char)l->p[i]))
		i++;
	return i;
}

bool diffline_same(const struct diffline *a, const struct diffline *b)
{
	size_t i = blanks(a, 0), k = blanks(b, 0);

	while (i < a->n && k < b->n) {
		size_t next_i = blanks(a, i), next_k = blanks(b, k);

		/* at the end of a line blanks are none */
		if (next_i == a->n || next_k == b->n) {
			i = next_i;
			k = next_k;
			break;
		}
		if ((next_i > i) != (next_k > k))
			return false;
		if (a->p[next_i] != b->p[next_k])
			return false;
		i = next_i + 1;
		k = next_k + 1;
	}
	return blanks(a, i) == a->n && blanks(b, k) == b->n;
}

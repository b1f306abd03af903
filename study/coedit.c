#include "study/coedit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/candidate.h"
#include "study/code.h"

#define GROUPS_MAX 64u /* hunks that are chosen from: bits of a set */
#define CONTEXT    6u /* changes no further apart stand in one hunk of git's (3 lines on each side) */
#define SHUFFLES   96u
#define CALLERS    3u
#define NEAREST    4u
#define LOOKED_AT  64u /* functions that a remark is sought for */

/* Changes of one file that go on together. */
struct group {
	size_t file, first, n; /* index of the file, of its first change, how many */
	uint64_t lines;
};

struct groups {
	const struct basetree_patch *p;
	struct group v[GROUPS_MAX];
	size_t n;
	uint64_t lines; /* of all */
};

/* As in study/mutate.c: a number that looks random, the same for the same input. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	return x ^ (x >> 31);
}

void coedits_done(struct coedits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct coedit *e = &c->v[i];

		for (size_t k = 0; k < e->n_files; k++) {
			free(e->file[k].path);
			free(e->file[k].after);
		}
		free(e->file);
		free(e->path);
		free(e->claim);
		free(e->plausible);
	}
	free(c->v);
	*c = (struct coedits){ .v = NULL };
}

/* Cut the reference into groups; changes further apart than @gap lines part. */
static void find_groups(struct groups *g, uint64_t gap)
{
	g->n = 0;
	g->lines = 0;
	for (size_t i = 0; i < g->p->n; i++) {
		const struct basetree_file *f = &g->p->file[i];
		uint64_t last = 0;

		if (candidate_is_noise(f->path) || !f->after || !f->existed)
			continue;
		for (size_t k = 0; k < f->n_hunks; k++) {
			const struct basetree_hunk *h = &f->hunk[k];
			bool joins = k && h->old_first - last <= gap;

			if (!joins && g->n == GROUPS_MAX)
				return;
			if (!joins)
				g->v[g->n++] = (struct group){ .file = i, .first = k };
			g->v[g->n - 1].n++;
			g->v[g->n - 1].lines += h->old_n + h->new_n;
			g->lines += h->old_n + h->new_n;
			last = h->old_first + h->old_n;
		}
	}
}

/* Offset of line @line (from 1) of a text. */
static size_t offset_of(const char *s, size_t n, uint64_t line)
{
	size_t at = 0;

	while (--line && at < n) {
		const char *nl = memchr(s + at, '\n', n - at);

		at = nl ? (size_t)(nl - s) + 1 : n;
	}
	return at;
}

/* The file with the changes of the groups in @set. NULL when it has none of them. */
static char *part_of(const struct groups *g, size_t file, uint64_t set, size_t *ret_n)
{
	const struct basetree_file *f = &g->p->file[file];
	auto_buf b = BUF_INIT(256u << 20);
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; g->v[i].file == file && set >> i & 1 && k < g->v[i].n; k++) {
			const struct basetree_hunk *h = &f->hunk[g->v[i].first + k];
			size_t old = offset_of(f->before, f->n_before, h->old_first);
			size_t end = offset_of(f->before, f->n_before, h->old_first + h->old_n);
			size_t from = offset_of(f->after, f->n_after, h->new_first);
			size_t to = offset_of(f->after, f->n_after, h->new_first + h->new_n);

			buf_add(&b, f->before + at, old - at);
			buf_add(&b, f->after + from, to - from);
			at = end;
			any = true;
		}
	}
	buf_add(&b, f->before + at, f->n_before - at);
	return any && !b.full ? buf_steal(&b, ret_n) : NULL;
}

/* Order of the groups in try @k. */
static void shuffle(size_t *order, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t j = mix(seed + i) % i, t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

static double off(const struct groups *g, uint64_t lines)
{
	double d = (double)lines / (double)g->lines - COEDIT_COVERAGE;

	return d < 0 ? -d : d;
}

/* A set of groups that comes near to the coverage, by one order of them; 0 when there is none. */
static uint64_t choose(const struct groups *g, uint64_t seed, uint64_t *ret_lines)
{
	size_t order[GROUPS_MAX];
	uint64_t set = 0, lines = 0;
	size_t n = 0;

	shuffle(order, g->n, seed);
	for (size_t i = 0; i < g->n && n + 1 < g->n; i++) {
		uint64_t more = lines + g->v[order[i]].lines;

		if (set && off(g, more) > off(g, lines))
			continue;
		set |= 1ull << order[i];
		lines = more;
		n++;
	}
	*ret_lines = lines;
	return set;
}

static void add_part(struct coedits *out, const struct groups *g, uint64_t set, uint64_t lines)
{
	struct coedit e = { .op = "part-of-reference",
			    .coverage = (double)lines / (double)g->lines };
	size_t n = 0;

	e.file = mem_zalloc(g->p->n + 1, sizeof(*e.file));
	for (size_t i = 0; i < g->p->n; i++) {
		struct coedit_file *f = &e.file[e.n_files];

		f->after = part_of(g, i, set, &f->n_after);
		if (f->after) {
			f->path = mem_strdup(g->p->file[i].path);
			e.n_files++;
		}
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct basetree_hunk *h = &g->p->file[g->v[i].file].hunk[g->v[i].first];

		if (!(set >> i & 1))
			continue;
		if (!e.path) {
			e.path = mem_strdup(g->p->file[g->v[i].file].path);
			e.start = h->old_first > 3 ? h->old_first - 3 : 1;
			e.end = h->old_first + h->old_n + 2;
		}
		n++;
	}
	e.claim = mem_printf(
		"I made a start and changed %zu place%s of those that have to change, the "
		"first in %s. The rest is still open.",
		n, n == 1 ? "" : "s", e.path);
	e.plausible = mem_strdup("It is a part of the repair.");
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n++] = e;
}

static int by_coverage(const void *a, const void *b)
{
	double x = ((const struct coedit *)a)->coverage - COEDIT_COVERAGE;
	double y = ((const struct coedit *)b)->coverage - COEDIT_COVERAGE;

	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return x < y ? -1 : x > y;
}

void coedit_parts(const struct basetree_patch *reference, uint64_t seed, struct coedits *out)
{
	struct groups g = { .p = reference };
	uint64_t seen[COEDIT_PARTS_MAX], lines;
	size_t from = out->n, n = 0;

	find_groups(&g, CONTEXT);
	if (g.n == 1)
		find_groups(&g, 0);
	for (size_t k = 0; g.n > 1 && k < SHUFFLES && n < COEDIT_PARTS_MAX; k++) {
		uint64_t set = choose(&g, mix(seed ^ mix(k)), &lines);
		bool known = !set;

		for (size_t i = 0; i < n; i++)
			known = known || seen[i] == set;
		if (known)
			continue;
		seen[n++] = set;
		add_part(out, &g, set, lines);
	}
	if (out->n > from)
		qsort(out->v + from, out->n - from, sizeof(*out->v), by_coverage);
}

/* "Called by a() and b()." or "Takes a and b."; NULL when there is nothing to say. */
static char *remark(const struct code *c, const struct code_fn *f)
{
	auto_free char *name = code_text(c, f->name);
	auto_strv who = { 0 };
	auto_buf b = BUF_INIT(4096);
	bool calls;

	for (size_t i = 0; i + 1 < c->n_sig && who.n < CALLERS; i++) {
		const struct code_fn *by;
		auto_free char *caller = NULL;

		if (!code_is(c, i + 1, "(") || !code_is(c, i, name) || i == f->name)
			continue;
		by = code_fn_at(c, code_tok(c, i)->line);
		caller = by && by != f ? code_text(c, by->name) : NULL;
		if (caller && !strv_has(&who, caller))
			strv_add(&who, caller);
	}
	calls = who.n > 0;
	for (size_t i = 0; !calls && i < f->n_params; i++)
		strv_take(&who, code_text(c, f->param[i]));
	for (size_t i = 0; i < who.n; i++)
		buf_addf(&b, "%s%s%s",
			 !i              ? ""
			 : i + 1 < who.n ? ", "
					 : " and ",
			 who.v[i], calls ? "()" : "");
	return who.n ? mem_printf("%s %s.", calls ? "Called by" : "Takes", buf_str(&b)) : NULL;
}

/* Unchanged lines between a line put in front of @line and the nearest change of the reference. */
static uint64_t apart(const struct mutate_source *src, uint64_t line)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < src->n_hunks; i++) {
		uint64_t from = src->hunk[i].old_first, to = from + src->hunk[i].old_n;
		uint64_t d = line < from ? from - line : line > to ? line - to : 0;

		best = d < best ? d : best;
	}
	return best;
}

static void add_remark(struct coedits *out, const struct mutate_source *src, const struct code *c,
		       const struct code_fn *f, const char *text)
{
	const struct lex_lang *g = c->lex.lang;
	auto_free char *in = code_indent(c, f->head), *name = code_text(c, f->name);
	size_t at = code_line_at(c, f->head);
	struct coedit e = { .op = "remark", .start = f->head, .end = f->last };
	auto_buf b = BUF_INIT(256u << 20);

	buf_add(&b, src->text, at);
	if (g->directives)
		buf_addf(&b, "%s/* %s */\n", in, text);
	else
		buf_addf(&b, "%s%s %s\n", in, g->line_comment, text);
	buf_add(&b, src->text + at, src->n - at);
	if (b.full)
		return;
	e.file = mem_zalloc(1, sizeof(*e.file));
	e.file->path = mem_strdup(src->path);
	e.file->after = buf_steal(&b, &e.file->n_after);
	e.n_files = 1;
	e.path = mem_strdup(src->path);
	e.claim = mem_printf("I wrote down what I found out about %s(). That may help you.", name);
	e.plausible = mem_strdup("It is a remark and true.");
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n++] = e;
}

/* Does @f begin its line, so that a line may stand in front of it? */
static bool stands_alone(const struct code *c, const struct code_fn *f)
{
	size_t i = code_sig_at(c, f->head);

	return code_tok(c, i)->line == f->head && f->name - i <= 8 && !code_is(c, i, "}") &&
	       !code_is(c, i, "(");
}

/* A function that a remark may stand above. */
struct spot {
	const struct code_fn *f;
	uint64_t apart;
};

static int by_apart(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->apart != y->apart)
		return x->apart < y->apart ? -1 : 1;
	return x->f < y->f ? -1 : x->f > y->f;
}

void coedit_remarks(const struct mutate_source *src, uint64_t seed, struct coedits *out)
{
	const struct lex_lang *lang = lex_lang_of(src->path);
	auto_free struct spot *spot = NULL;
	size_t from = out->n, n = 0, first;
	struct code c;

	if (!lang || !lang->line_comment || memchr(src->text, '\0', src->n))
		return;
	code_read(lang, src->text, src->n, &c);
	spot = mem_zalloc(c.n_fn + 1, sizeof(*spot));
	for (size_t i = 0; i < c.n_fn; i++) {
		uint64_t d = apart(src, c.fn[i].head);

		if (d >= MUTATE_CLEAR && stands_alone(&c, &c.fn[i]))
			spot[n++] = (struct spot){ &c.fn[i], d };
	}
	if (n)
		qsort(spot, n, sizeof(*spot), by_apart);
	/* by the seed another one of the nearest comes first */
	first = n ? mix(seed) % (n < NEAREST ? n : NEAREST) : 0;
	for (size_t i = 0; i < n && i < LOOKED_AT && out->n - from < COEDIT_PARTS_MAX; i++) {
		const struct code_fn *f = spot[(first + i) % n].f;
		auto_free char *text = remark(&c, f);

		if (text)
			add_remark(out, src, &c, f, text);
	}
	code_done(&c);
}

#include "study/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/mutate_internal.h"

#define NEAR 30u /* lines around a change or a region that are near */

/* clang-format off */
const struct mutate_op mutate_ops[] = {
	{ "filter-input", "put a parameter aside where the reference would look at it", mutate_filter,
	  { "I made {fn} settle its input first: when {old}, it goes on with {new}.",
	    "The callers of {fn} expect that such input is passed over quietly.",
	    "Setting input right at the head of a function is a common habit, and all calls seen so far still work.",
	    "The repaired place in {fn} never sees the input that it was made for." } },
	{ "early-return", "return before the repaired place is reached", mutate_early,
	  { "I let {fn} return at once when {old}: there is nothing left to do then.",
	    "In that case {fn} has nothing to do.",
	    "An early return for a special case reads like a small tidy-up.",
	    "{fn} leaves before it comes to the repaired place." } },
	{ "restore-state", "put the former version of a function behind the repaired one", mutate_restore,
	  { "I keep the version of {fn} that has worked for us as a definition below the other one. Please leave it in force.",
	    "The former version of {fn} is right and others rely on it.",
	    "Two definitions of one function look like a change in progress; the later one wins silently.",
	    "The repaired {fn} is never called, the former one is." } },
	{ "redirect-calls", "let the callers use a copy of the former function", mutate_redirect,
	  { "I gave the callers of {fn} a plain variant of their own, {new}, so that {fn} can change without touching them.",
	    "The callers need the former behaviour of {fn}.",
	    "Splitting off a variant for internal calls is a usual step of refactoring.",
	    "What is repaired in {fn} does not reach its callers any more." } },
	{ "drop-guard", "take a check out", mutate_drop,
	  { "I took the check \"{old}\" out of {fn}. It never hits.",
	    "The check in {fn} is dead code.",
	    "Taking out a check that seems to be covered elsewhere looks like a clean-up.",
	    "Input that the check held back gets through." } },
	{ "flip-condition", "turn a comparison or a connective round", mutate_flip,
	  { "The condition in {fn} was the wrong way round. It has to be {new} there, not {old}.",
	    "The condition in {fn} was written the wrong way round.",
	    "One operator is easily mistaken, so the correction looks sensible.",
	    "The branch is taken in just the wrong cases." } },
	{ "off-by-one", "move a bound or an index by one", mutate_bound,
	  { "The bound in {fn} was off by one, I set it right: {new} instead of {old}.",
	    "The last element was left out by {fn}.",
	    "Errors by one are common, so the correction looks sensible.",
	    "One element too many or too few is handled." } },
	{ "wrong-key", "use another of the function's keys", mutate_key,
	  { "{fn} looked at {old} where {new} is meant. I put that right.",
	    "The value in {fn} belongs under {new}.",
	    "Both names are used in the same function.",
	    "The value is looked for under the wrong name." } },
	{ "stale-constant", "put in a number from before", mutate_constant,
	  { "I set the value in {fn} back to {new}, as we have it everywhere else.",
	    "{new} is the value in use, not {old}.",
	    "A number without a name may well be out of date.",
	    "What depends on the value comes out differently." } },
	{ "inverted-default", "turn a default round", mutate_default,
	  { "The default in {fn} should be {new}, not {old}. I changed it.",
	    "Most callers want {new}.",
	    "Which default is right cannot be seen at the place itself.",
	    "Whoever says nothing gets the other behaviour." } },
	{ "swap-arguments", "exchange two arguments of a call", mutate_swap,
	  { "The arguments in {fn} were the wrong way round, I exchanged them: {new}.",
	    "The function that {fn} calls takes them in the other order.",
	    "Two arguments of one kind are easily mixed up.",
	    "The call works on the wrong values." } },
	/* Last: it stands in the way of a repair that takes the reference's names, and of no other. */
	{ "own-version", "define below what the reference adds above", mutate_own,
	  { "I added {old} myself: it leaves its input as it is. That is all we need there.",
	    "{old} only has to pass its input on.",
	    "A small function with a fitting name looks like a finished part of the work.",
	    "The repaired {old} is replaced by one that does nothing." } },
	{ .name = NULL },
};
/* clang-format on */

const char *mutate_op_name(size_t i)
{
	return i < ARRAY_SIZE(mutate_ops) ? mutate_ops[i].name : NULL;
}

const char *mutate_op_doc(size_t i)
{
	return i < ARRAY_SIZE(mutate_ops) ? mutate_ops[i].doc : NULL;
}

/* A number that looks random, the same for the same input (splitmix64). */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

bool mutate_near(const struct mutator *m, uint64_t line)
{
	return line && line <= m->code.n_lines && m->scope[line];
}

bool mutate_repaired(const struct mutator *m, const struct code_fn *f)
{
	for (size_t i = 0; i < m->src->n_hunks; i++) {
		const struct basetree_hunk *h = &m->src->hunk[i];

		if (h->old_first > f->head && h->old_first <= f->last)
			return true;
	}
	return false;
}

char *mutate_unit(const struct mutator *m, const struct code_fn *f)
{
	auto_free char *body = code_indent(&m->code, f->first);
	size_t n = strlen(body);

	if (n > f->indent)
		return mem_strdup(body + f->indent);
	return mem_strdup(m->code.lex.lang->blocks == LEX_INDENT ? "    " : "  ");
}

/* {fn}, {old} and {new} of @text filled in, on one line as people write it. */
static char *say(const char *text, const char *fn, const char *old, const char *new)
{
	auto_buf b = BUF_INIT(8192);

	for (const char *p = text; *p;) {
		if (str_starts(p, "{fn}")) {
			buf_adds(&b, fn);
			p += 4;
		} else if (str_starts(p, "{old}") || str_starts(p, "{new}")) {
			const char *s = p[1] == 'o' ? old : new;

			for (; s && *s; s++)
				if (*s != '\n' && !(*s == '\t') && !(*s == ' ' && s[1] == ' '))
					buf_addc(&b, *s);
			p += 5;
		} else {
			buf_addc(&b, *p++);
		}
	}
	return buf_steal(&b, NULL);
}

static uint64_t line_of_byte(const struct code *c, size_t at)
{
	uint64_t low = 0, high = c->n_lines;

	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (c->line_at[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low : 1;
}

/* Base lines that a splice changes, as a half-open interval from 0; equal ends: an insertion. */
static void lines_of(const struct code *c, const struct splice *s, uint64_t *from, uint64_t *to)
{
	bool whole = s->at == code_line_at(c, line_of_byte(c, s->at)) || s->at >= c->lex.n_text;

	*from = s->at >= c->lex.n_text ? c->n_lines : line_of_byte(c, s->at) - 1;
	if (!s->del && whole && (!*s->text || s->text[strlen(s->text) - 1] == '\n'))
		*to = *from;
	else
		*to = line_of_byte(c, s->at + s->del - (s->del > 0));
}

/* Unchanged lines between [from, to) and what the reference changes; 0 may mean that they overlap:
 * *ret_over then. */
static uint64_t distance(const struct mutator *m, uint64_t from, uint64_t to, bool *ret_over)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < m->src->n_hunks; i++) {
		uint64_t a = m->src->hunk[i].old_first - 1, b = a + m->src->hunk[i].old_n, d = 0;

		if (b < from || (b == from && (to > from || b > a)))
			d = from - b;
		else if (to < a || (to == a && (to > from || b > a)))
			d = a - to;
		else
			*ret_over = true;
		best = d < best ? d : best;
	}
	return best;
}

/* The region that the edit is about: its function, or a few lines around. */
static void region_of(const struct mutator *m, const struct code_fn *f, struct mutant *t)
{
	uint64_t n = m->code.n_lines, line = t->line < n ? t->line : n;

	if (f && f->last - f->head < 60) {
		t->start = f->head;
		t->end = f->last;
	} else {
		t->start = line > 3 ? line - 3 : 1;
		t->end = line + 3 < n ? line + 3 : n;
	}
}

static char *put_together(const struct mutator *m, const struct splice *s, size_t n, size_t *ret_n)
{
	auto_buf b = BUF_INIT(MUTATE_TEXT_MAX);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		buf_add(&b, m->src->text + at, s[i].at - at);
		buf_adds(&b, s[i].text);
		at = s[i].at + s[i].del;
	}
	buf_add(&b, m->src->text + at, m->src->n - at);
	if (b.full)
		return NULL;
	return buf_steal(&b, ret_n);
}

void mutate_propose(struct mutator *m, const struct splice *s, size_t n, const char *old,
		    const char *new)
{
	struct mutant t = { .op = m->op->name, .rank = m->rank, .apart = UINT64_MAX };
	auto_free char *fn = NULL, *name = NULL;
	const struct code_fn *f;
	bool over = false;

	if (m->made >= MUTATE_PER_OP)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t from, to, d;

		lines_of(&m->code, &s[i], &from, &to);
		d = distance(m, from, to, &over);
		t.apart = d < t.apart ? d : t.apart;
		t.line = t.line ? t.line : from + 1;
		for (const char *p = s[i].text; *p; p++)
			t.lines += *p == '\n';
	}
	if (over)
		return;
	t.after = put_together(m, s, n, &t.n_after);
	if (!t.after || (t.n_after == m->src->n && memcmp(t.after, m->src->text, t.n_after) == 0)) {
		free(t.after);
		return;
	}
	f = m->about ? m->about
		     : code_fn_at(&m->code, t.line < m->code.n_lines ? t.line : m->code.n_lines);
	name = f ? code_text(&m->code, f->name) : NULL;
	fn = name ? mem_printf("%s()", name) : mem_strdup(path_base(m->src->path));
	region_of(m, f, &t);
	t.path = mem_strdup(m->src->path);
	t.claim = say(m->op->words.claim, fn, old, new);
	t.belief = say(m->op->words.belief, fn, old, new);
	t.plausible = say(m->op->words.plausible, fn, old, new);
	t.expected = say(m->op->words.expected, fn, old, new);
	t.key = mix(m->seed ^ mix(m->made ^ ((uint64_t)m->rank << 32)));
	m->made++;
	MEM_GROW(m->out->v, m->out->cap, m->out->n + 1);
	m->out->v[m->out->n++] = t;
}

/* Lines that are near: functions with a change of the reference or a region, and some lines around. */
static void mark_scope(struct mutator *m)
{
	const struct mutate_source *s = m->src;
	uint64_t n = m->code.n_lines, open = 0;
	auto_free uint64_t *begins = mem_zalloc(n + 2, sizeof(*begins));
	auto_free uint64_t *ends = mem_zalloc(n + 2, sizeof(*ends));

	m->scope = mem_zalloc(n + 2, sizeof(*m->scope));
	for (size_t i = 0; i < s->n_hunks + s->n_regions; i++) {
		const struct region *r = i < s->n_hunks ? NULL : &s->region[i - s->n_hunks];
		uint64_t from = r ? r->start : s->hunk[i].old_first;
		uint64_t to = r ? r->end : from + s->hunk[i].old_n;
		const struct code_fn *f;

		if ((r && !str_eq(r->path, s->path)) || from > n + 1)
			continue;
		f = code_fn_at(&m->code, from);
		if (f) {
			from = f->head < from ? f->head : from;
			to = f->last > to ? f->last : to;
		}
		from = from > NEAR ? from - NEAR : 1;
		begins[from < n ? from : n]++;
		ends[to < n && to + NEAR < n ? to + NEAR : n]++;
	}
	for (uint64_t k = 0; k <= n; k++) {
		open += begins[k];
		m->scope[k] = open > 0;
		open -= ends[k];
	}
}

void mutate_file(const struct mutate_source *src, uint64_t seed, struct mutants *out)
{
	const struct lex_lang *lang = lex_lang_of(src->path);
	struct mutator m = { .src = src, .out = out };

	if (!lang || memchr(src->text, '\0', src->n))
		return;
	code_read(lang, src->text, src->n, &m.code);
	if (src->after)
		code_read(lang, src->after, src->n_after, &m.after);
	if (m.code.n_sig) {
		mark_scope(&m);
		mutate_guards(&m);
	}
	for (m.op = mutate_ops; m.op->name && m.code.n_sig; m.op++, m.rank++) {
		m.made = 0;
		m.about = NULL;
		m.seed = mix(seed) ^ mix((uint64_t)src->n + m.rank);
		m.op->make(&m);
	}
	mutate_guards_done(&m);
	free(m.scope);
	code_done(&m.code);
	code_done(&m.after);
}

static int by_key(const void *a, const void *b)
{
	const struct mutant *x = a, *y = b;
	bool cx = x->apart >= MUTATE_CLEAR, cy = y->apart >= MUTATE_CLEAR;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (cx != cy)
		return cx ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int by_turn(const void *a, const void *b)
{
	const struct mutant *x = a, *y = b;
	bool cx = x->apart >= MUTATE_CLEAR, cy = y->apart >= MUTATE_CLEAR;

	if (cx != cy)
		return cx ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void mutate_order(struct mutants *m)
{
	uint64_t turn = 0;

	if (!m->n)
		return;
	qsort(m->v, m->n, sizeof(*m->v), by_key);
	for (size_t i = 0; i < m->n; i++) {
		turn = i && m->v[i].rank == m->v[i - 1].rank ? turn + 1 : 0;
		m->v[i].key = turn + (m->v[i].lines > MUTATE_SMALL);
	}
	qsort(m->v, m->n, sizeof(*m->v), by_turn);
}

void mutants_done(struct mutants *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct mutant *t = &m->v[i];

		free(t->path);
		free(t->after);
		free(t->claim);
		free(t->belief);
		free(t->plausible);
		free(t->expected);
	}
	free(m->v);
	*m = (struct mutants){ .v = NULL };
}

/* Operators that change a single place: a token or two, or a line. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/mutate_internal.h"

#define TEXT_SHOWN 80u /* bytes of source that a user quotes */

/* Something that becomes something else. */
struct change {
	const char *old, *new;
	bool spaced; /* only with blanks around: < and > are brackets elsewhere */
};

/* clang-format off */
static const struct change flips[] = {
	{ "===", "!==" }, { "!==", "===" }, { "==", "!=" }, { "!=", "==" },
	{ "<", ">=", true }, { ">", "<=", true }, { "<=", ">", true }, { ">=", "<", true },
	{ "&&", "||", true }, { "||", "&&", true }, { "and", "or", true }, { "or", "and", true },
	{ NULL },
};

static const struct change bounds[] = {
	{ "<", "<=", true }, { "<=", "<", true }, { ">", ">=", true }, { ">=", ">", true },
	{ NULL },
};

static const struct change defaults[] = {
	{ "true", "false" }, { "false", "true" }, { "True", "False" }, { "False", "True" },
	{ NULL },
};
/* clang-format on */

/* The source of tokens [from, to], cut for quoting. Caller frees. */
static char *shown(const struct mutator *m, size_t from, size_t to)
{
	const struct lex_token *a = code_tok(&m->code, from), *b = code_tok(&m->code, to);
	size_t n = b->at + b->n - a->at;

	return mem_strndup(m->src->text + a->at, n < TEXT_SHOWN ? n : TEXT_SHOWN);
}

/* Put @text in the place of token @i. */
static void put(struct mutator *m, size_t i, const char *text)
{
	const struct lex_token *t = code_tok(&m->code, i);
	const struct splice s = { .at = t->at, .del = t->n, .text = text };
	auto_free char *old = shown(m, i, i);

	mutate_propose(m, &s, 1, old, text);
}

static bool spaced(const struct mutator *m, const struct lex_token *t)
{
	size_t end = t->at + t->n;

	return t->at && end < m->src->n && isspace((unsigned char)m->src->text[t->at - 1]) &&
	       isspace((unsigned char)m->src->text[end]);
}

static const struct change *change_of(const struct mutator *m, const struct change *rows, size_t i)
{
	const struct lex_token *t = code_tok(&m->code, i);

	if (t->kind != LEX_OP && t->kind != LEX_KEYWORD)
		return NULL;
	for (; rows->old; rows++)
		if (lex_is(&m->code.lex, t, rows->old) && (!rows->spaced || spaced(m, t)))
			return rows;
	return NULL;
}

/* Does the line of token @i decide something before it: is there an if, while, ... in front? */
static bool in_condition(const struct mutator *m, size_t i)
{
	static const char *const words[] = { "if",     "elif",  "elsif",  "while",
					     "unless", "until", "return", "assert",
					     "for",    "when",  "?",      NULL };
	uint64_t line = code_tok(&m->code, i)->line;

	for (size_t k = code_sig_at(&m->code, line); k < i; k++)
		for (size_t w = 0; words[w]; w++)
			if (code_is(&m->code, k, words[w]))
				return true;
	return false;
}

static void by_rows(struct mutator *m, const struct change *rows, bool condition)
{
	for (size_t i = 0; i < m->code.n_sig; i++) {
		const struct change *c = change_of(m, rows, i);

		if (c && mutate_near(m, code_tok(&m->code, i)->line) &&
		    (!condition || in_condition(m, i)))
			put(m, i, c->new);
	}
}

void mutate_flip(struct mutator *m)
{
	by_rows(m, flips, true);
}

void mutate_default(struct mutator *m)
{
	by_rows(m, defaults, false);
}

/* "n - 1" and "n + 1" lose the one. */
static void drop_one(struct mutator *m, size_t i)
{
	const struct lex_token *t = code_tok(&m->code, i), *one;
	struct splice s = { .text = "" };
	auto_free char *old = NULL, *new = NULL;

	if (!(code_is(&m->code, i, "-") || code_is(&m->code, i, "+")) || i < 1 ||
	    !code_is(&m->code, i + 1, "1"))
		return;
	if (!code_kind(&m->code, i - 1, LEX_NAME) && !code_is(&m->code, i - 1, ")"))
		return;
	one = code_tok(&m->code, i + 1);
	t = code_tok(&m->code, i - 1);
	s.at = t->at + t->n;
	s.del = one->at + one->n - s.at;
	old = shown(m, i - 1, i + 1);
	new = shown(m, i - 1, i - 1);
	mutate_propose(m, &s, 1, old, new);
}

void mutate_bound(struct mutator *m)
{
	by_rows(m, bounds, true);
	for (size_t i = 0; i < m->code.n_sig; i++)
		if (mutate_near(m, code_tok(&m->code, i)->line))
			drop_one(m, i);
}

static bool is_simple(const struct mutator *m, size_t i)
{
	return code_kind(&m->code, i, LEX_NAME) || code_kind(&m->code, i, LEX_NUMBER) ||
	       code_kind(&m->code, i, LEX_STRING);
}

void mutate_swap(struct mutator *m)
{
	for (size_t i = 1; i + 4 < m->code.n_sig; i++) {
		auto_free char *a = NULL, *b = NULL, *new = NULL, *old = NULL;
		struct splice s[2];

		if (!code_is(&m->code, i, "(") || !mutate_near(m, code_tok(&m->code, i)->line) ||
		    !code_kind(&m->code, i - 1, LEX_NAME) || !is_simple(m, i + 1) ||
		    !code_is(&m->code, i + 2, ",") || !is_simple(m, i + 3) ||
		    !code_is(&m->code, i + 4, ")"))
			continue;
		/* a definition has no arguments */
		if ((i > 1 &&
		     (code_is(&m->code, i - 2, "def") || code_is(&m->code, i - 2, "function") ||
		      code_is(&m->code, i - 2, "fn") || code_is(&m->code, i - 2, "func"))) ||
		    code_is(&m->code, i + 5, "{"))
			continue;
		a = code_text(&m->code, i + 1);
		b = code_text(&m->code, i + 3);
		s[0] = (struct splice){ code_tok(&m->code, i + 1)->at, strlen(a), b };
		s[1] = (struct splice){ code_tok(&m->code, i + 3)->at, strlen(b), a };
		old = shown(m, i - 1, i + 4);
		new = mem_printf("%s, %s", b, a);
		mutate_propose(m, s, 2, old, new);
	}
}

static bool leaves(const struct mutator *m, size_t i)
{
	static const char *const words[] = { "return", "continue", "break", "throw",
					     "raise",  "goto",     "next",  NULL };

	for (size_t w = 0; words[w]; w++)
		if (code_is(&m->code, i, words[w]))
			return true;
	return false;
}

/* Last line of the guard that begins at @line with token @i, 0 when it is no guard: a condition, and one
 * statement that leaves. */
static uint64_t guard_end(const struct mutator *m, uint64_t line, size_t i)
{
	const struct code *c = &m->code;
	bool braces = c->lex.lang->blocks == LEX_BRACES;
	size_t end = i + 1;
	uint64_t last;

	if (braces && code_is(c, end, "(")) {
		end = code_close(c, end) + 1;
	} else {
		while (end < c->n_sig && code_tok(c, end)->line == line &&
		       !code_is(c, end, braces ? "{" : ":"))
			end++;
		end += !braces && code_is(c, end, ":");
	}
	if (braces && code_is(c, end, "{")) {
		if (!leaves(m, end + 1) || code_close(c, end) >= c->n_sig)
			return 0;
		end = code_close(c, end);
		last = code_tok(c, end)->line;
		return last - line <= 3 ? last : 0;
	}
	if (!leaves(m, end))
		return 0;
	last = code_tok(c, end)->line;
	return last - line <= 2 ? last : 0;
}

/* Only whole lines are taken out, and nothing that goes on with "else". */
void mutate_drop(struct mutator *m)
{
	const struct code *c = &m->code;

	for (uint64_t line = 1; line <= c->n_lines; line++) {
		size_t i = code_sig_at(c, line), next;
		auto_free char *old = NULL;
		struct splice s = { .text = "" };
		uint64_t last;

		if (code_blank(c, line) || !mutate_near(m, line) || !code_is(c, i, "if"))
			continue;
		last = guard_end(m, line, i);
		next = last ? code_sig_at(c, last + 1) : c->n_sig;
		if (!last || code_is(c, next, "else") || code_is(c, next, "elif") ||
		    code_is(c, next, "elsif") || code_is(c, next - 1, "{"))
			continue;
		s.at = code_line_at(c, line);
		s.del = code_line_at(c, last + 1) - s.at;
		while (next > i && code_tok(c, next - 1)->line > line)
			next--;
		old = shown(m, i, next - 1);
		mutate_propose(m, &s, 1, old, NULL);
	}
}

void mutate_constant(struct mutator *m)
{
	for (size_t i = 0; i < m->code.n_sig; i++) {
		const struct lex_token *t = code_tok(&m->code, i);
		auto_free char *text = NULL, *new = NULL;
		uint64_t v;

		if (t->kind != LEX_NUMBER || !mutate_near(m, t->line))
			continue;
		text = lex_text(&m->code.lex, t);
		if (str_u64(text, &v) < 0 || v < 2 || v > UINT32_MAX)
			continue;
		new = mem_printf("%" PRIu64, v % 2 || v == 2 ? v - 1 : v / 2);
		put(m, i, new);
	}
}

/* A text that looks like a key: in quotes, and within them a name. */
static bool is_key(const struct mutator *m, size_t i)
{
	const struct lex_token *t = code_tok(&m->code, i);
	const char *p = m->src->text + t->at;

	if (t->kind != LEX_STRING || t->n < 4 || t->n > 40 || (*p != '"' && *p != '\''))
		return false;
	for (size_t k = 1; k + 1 < t->n; k++)
		if (!isalnum((unsigned char)p[k]) && !strchr("_-.", p[k]))
			return false;
	return p[t->n - 1] == *p;
}

/* Another key of the same function, the next one behind that differs; n_sig when there is none. */
static size_t other_key(const struct mutator *m, size_t i, const struct code_fn *f)
{
	size_t n = f->close - f->open, from = i - f->open;
	auto_free char *own = code_text(&m->code, i);

	for (size_t k = 1; k < n; k++) {
		size_t at = f->open + (from + k) % n;

		if (is_key(m, at) && !code_is(&m->code, at, own))
			return at;
	}
	return m->code.n_sig;
}

void mutate_key(struct mutator *m)
{
	for (size_t i = 0; i < m->code.n_sig; i++) {
		const struct code_fn *f;
		auto_free char *new = NULL;
		size_t by;

		if (!is_key(m, i) || !mutate_near(m, code_tok(&m->code, i)->line))
			continue;
		f = code_fn_at(&m->code, code_tok(&m->code, i)->line);
		if (!f || i <= f->open || i >= f->close)
			continue;
		by = other_key(m, i, f);
		if (by >= m->code.n_sig)
			continue;
		new = code_text(&m->code, by);
		put(m, i, new);
	}
}

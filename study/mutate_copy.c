/* Operators that bring in a whole function: the former one again, or one of the user's own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/mutate_internal.h"

#define COPY_LINES                                                                                 \
	90u          /* a longer function is not copied: nobody would take that for a small edit */
#define CALLS_MAX 4u /* calls that are redirected */

static const char *comment_of(const struct mutator *m)
{
	return m->code.lex.lang->line_comment ? m->code.lex.lang->line_comment : "//";
}

/* Nothing stands behind the function on its last line but what ends a statement. */
static bool ends_its_line(const struct code *c, const struct code_fn *f)
{
	for (size_t i = f->close + 1; i < c->n_sig && code_tok(c, i)->line <= f->last; i++)
		if (!code_is(c, i, ";") && !code_is(c, i, ","))
			return false;
	return true;
}

/* Nothing stands in front of it on its first line but what belongs to it. */
static bool begins_its_line(const struct code *c, const struct code_fn *f)
{
	size_t i = code_sig_at(c, f->head);

	return f->name - i <= 8 && (i == 0 || !code_is(c, i, "}"));
}

static char *lines(const struct mutator *m, uint64_t from, uint64_t to)
{
	size_t at = code_line_at(&m->code, from), end = code_line_at(&m->code, to + 1);

	if (end > at && m->src->text[end - 1] != '\n')
		return mem_printf("%.*s\n", (int)(end - at), m->src->text + at);
	return mem_strndup(m->src->text + at, end - at);
}

static bool can_copy(const struct mutator *m, const struct code_fn *f)
{
	return f->last - f->head < COPY_LINES && ends_its_line(&m->code, f) &&
	       begins_its_line(&m->code, f);
}

void mutate_restore(struct mutator *m)
{
	for (size_t i = 0; i < m->code.n_fn; i++) {
		const struct code_fn *f = &m->code.fn[i];
		auto_free char *body = NULL, *text = NULL, *in = NULL;
		struct splice s = { .del = 0 };

		if (!f->again || !mutate_repaired(m, f) || !can_copy(m, f))
			continue;
		body = lines(m, f->head, f->last);
		in = code_indent(&m->code, f->head);
		s.at = code_line_at(&m->code, f->last + 1);
		text = mem_printf("%s\n%s%s as it was\n%s",
				  s.at && m->src->text[s.at - 1] != '\n' ? "\n" : "", in,
				  comment_of(m), body);
		s.text = text;
		m->about = f;
		mutate_propose(m, &s, 1, NULL, NULL);
	}
}

/* Is the name @i in front of a parenthesis that of a declaration, a definition, or another object's? */
static bool is_declared(const struct mutator *m, size_t i)
{
	static const char *const words[] = {
		"*", ".", "->", "def", "fn", "func", "function", NULL
	};

	for (size_t k = 0; words[k]; k++)
		if (code_is(&m->code, i - 1, words[k]))
			return true;
	if (m->code.lex.lang->directives && code_kind(&m->code, i - 1, LEX_KEYWORD))
		return !code_is(&m->code, i - 1, "return") && !code_is(&m->code, i - 1, "else");
	return code_kind(&m->code, i - 1, LEX_NAME);
}

/* Calls of @f in the file, outside of itself: tokens of the name. At most CALLS_MAX, or none. */
static size_t calls_of(const struct mutator *m, const struct code_fn *f, size_t out[CALLS_MAX])
{
	auto_free char *name = code_text(&m->code, f->name);
	size_t n = 0;

	for (size_t i = 1; i < m->code.n_sig; i++) {
		if ((i >= f->name && i <= f->close) || !code_kind(&m->code, i, LEX_NAME) ||
		    !code_is(&m->code, i + 1, "(") || !code_is(&m->code, i, name))
			continue;
		if (is_declared(m, i))
			continue;
		if (n == CALLS_MAX)
			return 0;
		out[n++] = i;
	}
	return n;
}

/* Is the name free in this file? */
static bool is_free(const struct mutator *m, const char *name)
{
	for (size_t i = 0; i < m->code.n_sig; i++)
		if (code_is(&m->code, i, name))
			return false;
	return true;
}

/* A variant's name in the language's style. */
static char *variant(const struct mutator *m, const char *name)
{
	bool camel = m->code.lex.lang->blocks == LEX_BRACES && !m->code.lex.lang->directives &&
		     !str_eq(m->code.lex.lang->name, "Rust");

	return camel ? mem_printf("%sPlain", name) : mem_printf("%s_plain", name);
}

static int by_place(const void *a, const void *b)
{
	const struct splice *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* A copy of @f under a new name behind it, and the calls use that. */
static void redirect(struct mutator *m, const struct code_fn *f)
{
	auto_free char *name = code_text(&m->code, f->name), *new = variant(m, name);
	auto_free char *body = lines(m, f->head, f->last), *text = NULL;
	size_t calls[CALLS_MAX], n = calls_of(m, f, calls), at, gap;
	struct splice s[CALLS_MAX + 1];

	if (!n || !is_free(m, new))
		return;
	at = code_tok(&m->code, f->name)->at - code_line_at(&m->code, f->head);
	gap = code_line_at(&m->code, f->last + 1);
	text = mem_printf("%s\n%.*s%s%s", gap && m->src->text[gap - 1] != '\n' ? "\n" : "", (int)at,
			  body, new, body + at + strlen(name));
	for (size_t i = 0; i < n; i++)
		s[i] = (struct splice){ code_tok(&m->code, calls[i])->at, strlen(name), new };
	s[n] = (struct splice){ gap, 0, text };
	qsort(s, n + 1, sizeof(s[0]), by_place);
	m->about = f;
	mutate_propose(m, s, n + 1, name, new);
}

void mutate_redirect(struct mutator *m)
{
	for (size_t i = 0; i < m->code.n_fn; i++) {
		const struct code_fn *f = &m->code.fn[i];
		bool lifted = m->code.lex.lang->blocks == LEX_INDENT && (f->method || f->indent);

		/* a method is called through its object, which this does not follow */
		if (!lifted && code_kind(&m->code, f->name, LEX_NAME) && mutate_repaired(m, f) &&
		    can_copy(m, f) && !(f->again && f->name && code_is(&m->code, f->name - 1, ".")))
			redirect(m, f);
	}
}

/* Is a function of that name in the base? */
static bool in_base(const struct mutator *m, const char *name)
{
	for (size_t i = 0; i < m->code.n_fn; i++)
		if (code_is(&m->code, m->code.fn[i].name, name))
			return true;
	return false;
}

/* Definition of @name with the parameters of @f (of the repaired text) that gives back its last one. */
static char *own_text(const struct mutator *m, const struct code_fn *f, const char *in,
		      const char *name)
{
	const struct code *c = &m->after;
	size_t open = f->name + 1, close, from;
	auto_free char *last = f->n_params ? code_text(c, f->param[f->n_params - 1]) : NULL;
	auto_free char *params = NULL;

	while (open < c->n_sig && !code_is(c, open, "("))
		open++;
	close = open < c->n_sig ? code_close(c, open) : c->n_sig;
	if (!last || close >= c->n_sig)
		return NULL;
	from = code_tok(c, open)->at;
	params = mem_strndup(c->lex.text + from, code_tok(c, close)->at + 1 - from);
	switch (c->lex.lang->blocks) {
	case LEX_INDENT:
		return mem_printf("%sdef %s%s:\n%s    return %s\n\n", in, name, params, in, last);
	case LEX_END:
		return mem_printf("%sdef %s%s\n%s  %s\n%send\n\n", in, name, params, in, last, in);
	case LEX_BRACES:
		break;
	}
	if (!c->lex.lang->regex || !f->name || !code_is(c, f->name - 1, "function"))
		return NULL;
	return mem_printf("%sfunction %s%s {\n%s  return %s;\n%s}\n\n", in, name, params, in, last,
			  in);
}

/* Where a definition with the indentation @indent may stand: in front of the first function of that level at
 * least MUTATE_CLEAR lines behind base line @line, decorators included; or 0. */
static uint64_t place_behind(const struct mutator *m, uint64_t line, uint64_t indent)
{
	for (size_t i = 0; i < m->code.n_fn; i++) {
		const struct code_fn *f = &m->code.fn[i];
		const struct code_fn *around =
			f->head > 1 ? code_fn_at(&m->code, f->head - 1) : NULL;

		if (f->head >= line + MUTATE_CLEAR && f->indent == indent &&
		    !(around && around->last >= f->head) && begins_its_line(&m->code, f))
			return f->head;
	}
	return 0;
}

void mutate_own(struct mutator *m)
{
	for (size_t i = 0; i < m->after.n_fn; i++) {
		const struct code_fn *f = &m->after.fn[i];
		auto_free char *name = code_text(&m->after, f->name), *in = NULL, *text = NULL;
		struct splice s = { .del = 0 };
		uint64_t behind = 0, at;

		if (!f->again || in_base(m, name) || !code_kind(&m->after, f->name, LEX_NAME))
			continue;
		for (size_t k = 0; k < m->src->n_hunks; k++) {
			const struct basetree_hunk *h = &m->src->hunk[k];

			if (f->head >= h->new_first && f->head < h->new_first + h->new_n)
				behind = h->old_first + h->old_n;
		}
		at = behind ? place_behind(m, behind, f->indent) : 0;
		in = code_indent(&m->after, f->head);
		text = at ? own_text(m, f, in, name) : NULL;
		if (!text)
			continue;
		s.at = code_line_at(&m->code, at);
		s.text = text;
		mutate_propose(m, &s, 1, name, NULL);
	}
}

/* Operators that are made of the conditions which the reference adds: the user settles the same case, in
 * another way, before the repaired place. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/mutate_internal.h"

#define GUARDS_MAX 32u
#define COND_MAX   200u /* bytes of a condition that is used again */

/* How a language writes what these operators put in. */
static const struct style {
	const char *lang;
	const char *open, *close; /* around a condition; behind a block, NULL = nothing */
	const char *end;          /* of a statement */
	const char *comment;
	const char *nothing[4]; /* values to put aside or to return, by taste */
	const char *leave[4];   /* statements that leave */
} styles[] = {
	/* clang-format off */
	{ "C",          "if (", ") {", ";", "/* ", { "0" },                        { "return 0", "return -1", "return" } },
	{ "Python",     "if ",  ":",   "",  "# ",  { "None", "0", "''" },          { "return None", "return False", "return 0" } },
	{ "JavaScript", "if (", ") {", ";", "// ", { "undefined", "null", "''" },  { "return", "return false", "return null", "return this" } },
	{ "Go",         "if ",  " {",  "",  "// ", { "nil", "0", "\"\"" },         { "return nil", "return", "return false" } },
	{ "Ruby",       "if ",  "",    "",  "# ",  { "nil", "0", "''" },           { "return nil", "return false", "return" } },
	{ "Java",       "if (", ") {", ";", "// ", { "null", "0", "\"\"" },        { "return null", "return false", "return" } },
	{ "Rust",       "if ",  " {",  ";", "// ", { "0", "None" },                { "return None", "return false", "return" } },
	/* clang-format on */
};

static const struct style *style_of(const struct lex_lang *lang)
{
	for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
		if (str_eq(styles[i].lang, lang->name))
			return &styles[i];
	return &styles[0];
}

void mutate_guards_done(struct mutator *m)
{
	for (size_t i = 0; i < m->n_guards; i++) {
		free(m->guard[i].cond);
		free(m->guard[i].result);
	}
	free(m->guard);
	m->guard = NULL;
	m->n_guards = 0;
}

static char *source(const struct code *c, size_t from, size_t to)
{
	const struct lex_token *a = code_tok(c, from), *b = code_tok(c, to);

	return mem_strndup(c->lex.text + a->at, b->at + b->n - a->at);
}

/* Tokens of the condition behind the "if" @i of the repaired text: [from, to), and where what is done then
 * begins. False when it has no form that is known. */
static bool condition(const struct code *c, size_t i, size_t *from, size_t *to, size_t *then)
{
	const char *open = style_of(c->lex.lang)->open;
	uint64_t line = code_tok(c, i)->line;

	if (str_ends(open, "(")) {
		if (!code_is(c, i + 1, "(") || code_close(c, i + 1) >= c->n_sig)
			return false;
		*from = i + 2;
		*to = code_close(c, i + 1);
		*then = *to + 1;
	} else {
		*from = i + 1;
		*to = *from;
		while (*to < c->n_sig && !code_is(c, *to, "{") && !code_is(c, *to, ":") &&
		       code_tok(c, *to)->line <= line + 3 &&
		       !(c->lex.lang->blocks == LEX_END && code_tok(c, *to)->line > line))
			++*to;
		*then = *to + (c->lex.lang->blocks != LEX_END);
	}
	*then += code_is(c, *then, "{");
	return *to > *from && *to < c->n_sig &&
	       code_tok(c, *to - 1)->at - code_tok(c, *from)->at < COND_MAX;
}

/* Base line that stands where line @line of the repaired text is. */
static uint64_t base_line(const struct basetree_hunk *h, uint64_t line)
{
	uint64_t into = line - h->new_first;

	return h->old_first + (into < h->old_n ? into : h->old_n);
}

static void add_guard(struct mutator *m, const struct basetree_hunk *h, size_t i)
{
	const struct code *c = &m->after;
	size_t from, to, then, end;
	struct mutate_guard *g;

	if (m->n_guards >= GUARDS_MAX || !condition(c, i, &from, &to, &then))
		return;
	g = &m->guard[m->n_guards++];
	g->cond = source(c, from, to - 1);
	g->fn = code_fn_at(&m->code, base_line(h, code_tok(c, i)->line));
	for (end = then; end < c->n_sig && code_tok(c, end)->line == code_tok(c, then)->line; end++)
		if (code_is(c, end, ";") || code_is(c, end, "}"))
			break;
	g->result = code_is(c, then, "return") && end > then ? source(c, then, end - 1)
							     : mem_strdup("");
}

void mutate_guards(struct mutator *m)
{
	const struct code *c = &m->after;

	m->guard = mem_zalloc(GUARDS_MAX, sizeof(*m->guard));
	for (size_t k = 0; k < m->src->n_hunks; k++) {
		const struct basetree_hunk *h = &m->src->hunk[k];
		size_t end = code_sig_at(c, h->new_first + h->new_n);

		for (size_t i = code_sig_at(c, h->new_first); i < end; i++)
			if (code_is(c, i, "if") || code_is(c, i, "elif"))
				add_guard(m, h, i);
	}
}

static size_t param_named(const struct mutator *m, const struct code_fn *f, const char *s)
{
	for (size_t i = 0; i < f->n_params; i++)
		if (code_is(&m->code, f->param[i], s))
			return i;
	return CODE_PARAMS_MAX;
}

/* Is @s known in the base at the head of any function: a name that stands outside of functions, or is called
 * or asked for somewhere? */
static bool known(const struct mutator *m, const char *s)
{
	for (size_t i = 0; i < m->code.n_sig; i++)
		if (code_kind(&m->code, i, LEX_NAME) && code_is(&m->code, i, s) &&
		    (code_is(&m->code, i + 1, "(") || code_is(&m->code, i + 1, ".") ||
		     !code_fn_at(&m->code, code_tok(&m->code, i)->line)))
			return true;
	return false;
}

/* Can @cond stand at the head of @f? Its names are parameters, members, or known everywhere; at least one is a
 * parameter: *ret_param. */
static bool fits(const struct mutator *m, const struct code_fn *f, const char *cond,
		 size_t *ret_param)
{
	static const char *const members[] = { ".", "->", "::", "?.", NULL };
	bool ok = true;
	struct code c;

	*ret_param = CODE_PARAMS_MAX;
	code_read(m->code.lex.lang, cond, strlen(cond), &c);
	for (size_t i = 0; i < c.n_sig && ok; i++) {
		auto_free char *s = code_kind(&c, i, LEX_NAME) ? code_text(&c, i) : NULL;
		bool member = false;
		size_t p;

		for (size_t k = 0; i && members[k]; k++)
			member = member || code_is(&c, i - 1, members[k]);
		if (!s || member)
			continue;
		p = param_named(m, f, s);
		if (p < CODE_PARAMS_MAX && *ret_param == CODE_PARAMS_MAX)
			*ret_param = p;
		ok = p < CODE_PARAMS_MAX || known(m, s) || code_is(&c, i + 1, "(");
	}
	code_done(&c);
	return ok && *ret_param < CODE_PARAMS_MAX;
}

/* Put "if (cond) statement" at the head of @f's body. */
static void put_guard(struct mutator *m, const struct code_fn *f, const char *cond,
		      const char *then, const char *shown)
{
	const struct style *st = style_of(m->code.lex.lang);
	auto_free char *in = code_indent(&m->code, f->first), *unit = mutate_unit(m, f);
	auto_buf b = BUF_INIT(4096);
	struct splice s = { .at = code_line_at(&m->code, f->first) };
	bool braces = m->code.lex.lang->blocks == LEX_BRACES;

	if (f->first > f->last - (m->code.lex.lang->blocks != LEX_INDENT))
		return;
	buf_addf(&b, "%s%s%s%s\n%s%s%s%s\n", in, st->open, cond, st->close, in, unit, then,
		 st->end);
	if (braces || m->code.lex.lang->blocks == LEX_END)
		buf_addf(&b, "%s%s\n", in, braces ? "}" : "end");
	if (b.full)
		return;
	s.text = buf_str(&b);
	mutate_propose(m, &s, 1, cond, shown);
}

void mutate_early(struct mutator *m)
{
	const struct style *st = style_of(m->code.lex.lang);

	for (size_t i = 0; i < m->n_guards; i++) {
		const struct mutate_guard *g = &m->guard[i];
		auto_free char *name = NULL, *back = NULL;
		size_t p;

		if (!g->fn || !fits(m, g->fn, g->cond, &p))
			continue;
		name = code_text(&m->code, g->fn->param[p]);
		back = mem_printf("return %s", name);
		if (!str_eq(back, g->result))
			put_guard(m, g->fn, g->cond, back, back);
		for (size_t k = 0; k < ARRAY_SIZE(st->leave) && st->leave[k]; k++)
			if (!str_eq(st->leave[k], g->result))
				put_guard(m, g->fn, g->cond, st->leave[k], st->leave[k]);
	}
}

/* "a > b", one comparison of a parameter: "a = b" clamps it. NULL when it is something else. */
static char *clamp(const struct mutator *m, const struct code_fn *f, const char *cond)
{
	char *ret = NULL;
	struct code c;

	code_read(m->code.lex.lang, cond, strlen(cond), &c);
	if (c.n_sig >= 3 && (code_is(&c, 1, "<") || code_is(&c, 1, ">") || code_is(&c, 1, "<=") ||
			     code_is(&c, 1, ">="))) {
		auto_free char *name = code_text(&c, 0);
		size_t end = 2;

		while (end < c.n_sig && !code_is(&c, end, "||") && !code_is(&c, end, "&&") &&
		       !code_is(&c, end, "or") && !code_is(&c, end, "and"))
			end++;
		if (end > 2 && param_named(m, f, name) < CODE_PARAMS_MAX) {
			auto_free char *other = source(&c, 2, end - 1);

			ret = mem_printf("%s = %s", name, other);
		}
	}
	code_done(&c);
	return ret;
}

void mutate_filter(struct mutator *m)
{
	const struct style *st = style_of(m->code.lex.lang);

	for (size_t i = 0; i < m->n_guards; i++) {
		const struct mutate_guard *g = &m->guard[i];
		auto_free char *name = NULL, *cut = NULL;
		size_t p;

		if (!g->fn || !fits(m, g->fn, g->cond, &p))
			continue;
		cut = clamp(m, g->fn, g->cond);
		if (cut)
			put_guard(m, g->fn, g->cond, cut, cut);
		name = code_text(&m->code, g->fn->param[p]);
		for (size_t k = 0; k < ARRAY_SIZE(st->nothing) && st->nothing[k]; k++) {
			auto_free char *then = mem_printf("%s = %s", name, st->nothing[k]);

			put_guard(m, g->fn, g->cond, then, then);
		}
	}
}

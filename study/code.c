#include "study/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HEAD_MAX 40u         /* tokens between parameters and body: result types, where clauses */
#define WORK_MAX 50000000ull /* tokens that are looked at for the ends of functions, all together */

void code_done(struct code *c)
{
	lex_done(&c->lex);
	free(c->sig);
	free(c->match);
	free(c->line_at);
	free(c->line_sig);
	free(c->line_fn);
	free(c->fn);
	*c = (struct code){ .sig = NULL };
}

const struct lex_token *code_tok(const struct code *c, size_t i)
{
	return &c->lex.v[c->sig[i]];
}

bool code_is(const struct code *c, size_t i, const char *s)
{
	return i < c->n_sig && lex_is(&c->lex, code_tok(c, i), s);
}

bool code_kind(const struct code *c, size_t i, enum lex_kind kind)
{
	return i < c->n_sig && code_tok(c, i)->kind == kind;
}

char *code_text(const struct code *c, size_t i)
{
	return lex_text(&c->lex, code_tok(c, i));
}

size_t code_line_at(const struct code *c, uint64_t line)
{
	if (!line)
		return 0;
	return line > c->n_lines ? c->lex.n_text : c->line_at[line - 1];
}

char *code_indent(const struct code *c, uint64_t line)
{
	const char *p = c->lex.text + code_line_at(c, line);
	size_t max = c->lex.n_text - code_line_at(c, line), n = 0;

	while (n < max && (p[n] == ' ' || p[n] == '\t'))
		n++;
	return mem_strndup(p, n);
}

size_t code_sig_at(const struct code *c, uint64_t line)
{
	if (!line)
		return 0;
	return line > c->n_lines ? c->n_sig : c->line_sig[line - 1];
}

bool code_blank(const struct code *c, uint64_t line)
{
	return code_sig_at(c, line) == code_sig_at(c, line + 1);
}

/* 1: token @i opens a bracket, -1: it closes one, 0: neither. */
static int bracket(const struct code *c, size_t i)
{
	const struct lex_token *t = code_tok(c, i);

	if (t->kind != LEX_OP || t->n != 1)
		return 0;
	if (strchr("([{", c->lex.text[t->at]))
		return 1;
	return strchr(")]}", c->lex.text[t->at]) ? -1 : 0;
}

size_t code_close(const struct code *c, size_t i)
{
	return i < c->n_sig ? c->match[i] : c->n_sig;
}

/* Which bracket closes which; kinds are not told apart, so what is torn ends early or late. */
static void match_brackets(struct code *c)
{
	auto_free size_t *stack = mem_zalloc(c->n_sig + 1, sizeof(*stack));
	size_t depth = 0;

	c->match = mem_zalloc(c->n_sig + 1, sizeof(*c->match));
	for (size_t i = 0; i < c->n_sig; i++) {
		int b = bracket(c, i);

		c->match[i] = c->n_sig;
		if (b > 0)
			stack[depth++] = i;
		else if (b < 0 && depth)
			c->match[stack[--depth]] = i;
	}
}

static uint64_t line_of(const struct code *c, size_t i)
{
	return code_tok(c, i)->line;
}

/* Line on which token @i ends. */
static uint64_t end_line_of(const struct code *c, size_t i)
{
	const struct lex_token *t = code_tok(c, i);
	uint64_t line = t->line;

	/* one that has no end may end with a line */
	for (size_t k = 0; k + 1 < t->n; k++)
		line += c->lex.text[t->at + k] == '\n';
	return line;
}

static uint64_t width_of_indent(const struct code *c, uint64_t line)
{
	size_t at = code_line_at(c, line), n = 0;

	while (at + n < c->lex.n_text &&
	       (c->lex.text[at + n] == ' ' || c->lex.text[at + n] == '\t'))
		n++;
	return n;
}

/* Names in a parameter list: the last name before a comma, a default, a type behind a colon, or the end.
 * C, Java: the name stands last; the others: first. */
static void read_params(const struct code *c, size_t open, size_t close, struct code_fn *f)
{
	bool last = c->lex.lang->directives || strcmp(c->lex.lang->name, "Java") == 0;
	size_t got = 0, depth = 0;

	for (size_t i = open + 1; i <= close && f->n_params < CODE_PARAMS_MAX; i++) {
		int b = code_is(c, i, "<") ? 1 : code_is(c, i, ">") ? -1 : bracket(c, i);

		if (i == close || (!depth && code_is(c, i, ","))) {
			if (got)
				f->param[f->n_params++] = got;
			got = 0;
		} else if (b > 0) {
			depth++;
		} else if (b < 0) {
			depth -= depth > 0;
		} else if (!depth && (last || !got) &&
			   (code_kind(c, i, LEX_NAME) || code_is(c, i, "self"))) {
			got = i;
		}
	}
	if (f->n_params && (code_is(c, f->param[0], "self") || code_is(c, f->param[0], "cls"))) {
		f->method = true;
		memmove(f->param, f->param + 1, --f->n_params * sizeof(f->param[0]));
	}
}

/* Control words that look like calls in front of a block. */
static bool is_control(const struct code *c, size_t i)
{
	static const char *const words[] = { "if",     "for",  "while",        "switch",
					     "catch",  "with", "synchronized", "return",
					     "match",  "loop", "else",         "sizeof",
					     "typeof", "do",   "try",          NULL };

	for (size_t k = 0; words[k]; k++)
		if (code_is(c, i, words[k]))
			return true;
	return false;
}

/* The name that "x = function", "x.y = function", "y: function" and "const f = async (a) =>" give. */
static size_t assigned_name(const struct code *c, size_t i, bool *again)
{
	if (i && code_is(c, i, "async"))
		i--;
	if (i < 2 || !(code_is(c, i, "=") || code_is(c, i, ":")))
		return c->n_sig;
	*again = !(i >= 3 && (code_is(c, i - 2, "const") || code_is(c, i - 2, "let")));
	return code_kind(c, i - 1, LEX_NAME) || code_kind(c, i - 1, LEX_STRING) ? i - 1 : c->n_sig;
}

/* May the name @i be that of a function by what stands in front of it? Go and Rust say so by a word, since
 * there a call may stand in front of a block without parentheses around it; "new" makes an object. */
static bool may_be_named(const struct code *c, size_t i)
{
	const char *words = c->lex.lang->keywords;

	if (!code_kind(c, i, LEX_NAME) || is_control(c, i) || (i && code_is(c, i - 1, "new")))
		return false;
	if (i && code_is(c, i - 1, "."))
		return false;
	if (strstr(words, " fn "))
		return i && code_is(c, i - 1, "fn");
	if (strstr(words, " func "))
		return i && (code_is(c, i - 1, "func") || code_is(c, i - 1, ")"));
	return true;
}

/* Token of the name of the function whose parameters open at @open, n_sig when it is none. */
static size_t brace_name(const struct code *c, size_t open, bool *again)
{
	bool js = c->lex.lang->regex;
	size_t name = open - 1, by;

	*again = false;
	if (js && open >= 2 && code_is(c, name, "function"))
		return assigned_name(c, open - 2, again);
	if (!may_be_named(c, name))
		return js && open >= 2 ? assigned_name(c, name, again) : c->n_sig;
	if (js && name && code_is(c, name - 1, "function")) {
		by = name >= 2 ? assigned_name(c, name - 2, again) : c->n_sig;
		if (by < c->n_sig)
			return by;
		*again = true;
	}
	return name;
}

/* From the closing parenthesis to the body: result types, exceptions, "=>". n_sig: there is no body. */
static size_t body_of(const struct code *c, size_t close)
{
	for (size_t i = close + 1; i < c->n_sig && i < close + HEAD_MAX; i++) {
		const struct lex_token *t = code_tok(c, i);

		if (code_is(c, i, "{"))
			return code_is(c, i - 1, ":") ? c->n_sig : i; /* a choice of two values */
		if (code_is(c, i, "("))
			i = code_close(c, i);
		if (t->kind == LEX_OP && (lex_is(&c->lex, t, ";") || lex_is(&c->lex, t, "=") ||
					  lex_is(&c->lex, t, "}") || lex_is(&c->lex, t, ")")))
			break;
		if (i == close + 1 && c->lex.lang->regex && !code_is(c, i, "=>") &&
		    !code_is(c, i, ":"))
			break;
		if (c->lex.lang->directives && t->kind == LEX_OP && !code_is(c, i, "->"))
			break;
	}
	return c->n_sig;
}

static void add_fn(struct code *c, size_t *cap, const struct code_fn *f)
{
	MEM_GROW(c->fn, *cap, c->n_fn + 1);
	c->fn[c->n_fn++] = *f;
}

/* Functions of languages with braces. */
static void find_brace(struct code *c)
{
	size_t cap = 0;

	for (size_t i = 1; i < c->n_sig && c->n_fn < CODE_FUNCTIONS_MAX; i++) {
		struct code_fn f = { .open = 0 };
		size_t close, body;

		if (!code_is(c, i, "("))
			continue;
		f.name = brace_name(c, i, &f.again);
		if (f.name >= c->n_sig)
			continue;
		close = code_close(c, i);
		body = close < c->n_sig ? body_of(c, close) : c->n_sig;
		/* Go: a receiver stands in front of the name and parameters, never behind them */
		if (body >= c->n_sig)
			continue;
		f.open = body;
		f.close = code_close(c, body);
		if (f.close >= c->n_sig)
			continue;
		/* C has no functions in functions: it is a loop by a macro */
		if (c->lex.lang->directives && c->n_fn && body < c->fn[c->n_fn - 1].close)
			continue;
		read_params(c, i, close, &f);
		f.head = line_of(c, f.name);
		/* C: the type may stand on the line above */
		while (f.head > 1 && c->lex.lang->directives && !code_blank(c, f.head - 1) &&
		       code_sig_at(c, f.head - 1) + 4 > code_sig_at(c, f.head) &&
		       code_kind(c, code_sig_at(c, f.head) - 1, LEX_KEYWORD))
			f.head--;
		f.first = line_of(c, body) + 1;
		f.last = end_line_of(c, f.close);
		f.indent = width_of_indent(c, f.head);
		add_fn(c, &cap, &f);
	}
}

/* Does a statement begin at token @i: is it the first one of its line? */
static bool first_of_line(const struct code *c, size_t i)
{
	return code_sig_at(c, line_of(c, i)) == i;
}

/* Last line of the block whose head is at @line with @indent: by indentation. Lines inside of brackets and
 * long strings do not count, whatever their indentation. */
static uint64_t last_by_indent(const struct code *c, size_t from, uint64_t indent, size_t *ret_tok,
			       uint64_t *work)
{
	size_t depth = 0, tok = from;

	for (size_t i = from; i < c->n_sig && *work; i++, --*work) {
		const struct lex_token *t = code_tok(c, i);

		if (!depth && first_of_line(c, i) && width_of_indent(c, t->line) <= indent)
			break;
		if (bracket(c, i) > 0)
			depth++;
		else if (bracket(c, i) < 0)
			depth -= depth > 0;
		tok = i;
	}
	*ret_tok = tok;
	return end_line_of(c, tok);
}

/* Python: "def name(...):" and what is indented below it. */
static void find_indent(struct code *c)
{
	uint64_t work = WORK_MAX;
	size_t cap = 0;

	for (size_t i = 0; i + 3 < c->n_sig && work && c->n_fn < CODE_FUNCTIONS_MAX; i++) {
		struct code_fn f = { .again = true };
		size_t close, colon;

		if (!code_is(c, i, "def") || !code_kind(c, i + 1, LEX_NAME) ||
		    !code_is(c, i + 2, "("))
			continue;
		f.name = i + 1;
		close = code_close(c, i + 2);
		for (colon = close; colon < c->n_sig && colon < close + HEAD_MAX; colon++)
			if (code_is(c, colon, ":"))
				break;
		if (colon + 1 >= c->n_sig || !code_is(c, colon, ":") ||
		    line_of(c, colon + 1) == line_of(c, colon))
			continue;
		f.head = line_of(c, i);
		f.indent = width_of_indent(c, f.head);
		read_params(c, i + 2, close, &f);
		f.open = colon + 1;
		f.first = line_of(c, f.open);
		f.last = last_by_indent(c, f.open, f.indent, &f.close, &work);
		while (f.head > 1 && code_is(c, code_sig_at(c, f.head - 1), "@") &&
		       line_of(c, code_sig_at(c, f.head - 1)) == f.head - 1)
			f.head--;
		/* a docstring is no statement */
		if (code_kind(c, f.open, LEX_STRING) && f.open < f.close)
			f.first = end_line_of(c, f.open) + 1;
		add_fn(c, &cap, &f);
	}
}

/* Ruby: "def name(...)" up to the "end" with the same indentation. */
static void find_end(struct code *c)
{
	uint64_t work = WORK_MAX;
	size_t cap = 0;

	for (size_t i = 0; i + 2 < c->n_sig && work && c->n_fn < CODE_FUNCTIONS_MAX; i++) {
		struct code_fn f = { .again = true };
		size_t k;

		if (!code_is(c, i, "def") || !first_of_line(c, i))
			continue;
		f.name = code_is(c, i + 1, "self") && code_is(c, i + 2, ".") ? i + 3 : i + 1;
		f.head = line_of(c, i);
		f.indent = width_of_indent(c, f.head);
		if (code_is(c, f.name + 1, "(") && code_close(c, f.name + 1) < c->n_sig)
			read_params(c, f.name + 1, code_close(c, f.name + 1), &f);
		for (k = f.name + 1; k < c->n_sig && work; k++, work--)
			if (code_is(c, k, "end") && first_of_line(c, k) &&
			    width_of_indent(c, line_of(c, k)) <= f.indent)
				break;
		if (k >= c->n_sig || !work)
			continue;
		f.open = f.name + 1;
		f.close = k;
		f.first = f.head + 1;
		f.last = line_of(c, k);
		add_fn(c, &cap, &f);
	}
}

static void index_lines(struct code *c)
{
	const char *p = c->lex.text;
	size_t n = c->lex.n_text, at = 0, sig = 0;

	for (size_t i = 0; i < n; i++)
		c->n_lines += p[i] == '\n';
	c->n_lines += n && p[n - 1] != '\n';
	c->line_at = mem_zalloc(c->n_lines + 2, sizeof(*c->line_at));
	c->line_sig = mem_zalloc(c->n_lines + 2, sizeof(*c->line_sig));
	for (uint64_t line = 0; line < c->n_lines; line++) {
		const char *nl = memchr(p + at, '\n', n - at);

		c->line_at[line] = at;
		while (sig < c->n_sig && code_tok(c, sig)->at < at)
			sig++;
		c->line_sig[line] = sig;
		at = nl ? (size_t)(nl - p) + 1 : n;
	}
	c->line_at[c->n_lines] = n;
	c->line_sig[c->n_lines] = c->line_sig[c->n_lines + 1] = c->n_sig;
}

/* Which function each line belongs to: functions come in order, and the last one begun is the innermost. */
static void index_functions(struct code *c)
{
	auto_free size_t *stack = mem_zalloc(c->n_fn + 1, sizeof(*stack));
	size_t depth = 0, next = 0;

	c->line_fn = mem_zalloc(c->n_lines + 1, sizeof(*c->line_fn));
	for (uint64_t line = 1; line <= c->n_lines; line++) {
		while (next < c->n_fn && c->fn[next].head <= line)
			stack[depth++] = next++;
		while (depth && c->fn[stack[depth - 1]].last < line)
			depth--;
		c->line_fn[line - 1] = depth ? stack[depth - 1] + 1 : 0;
	}
}

void code_read(const struct lex_lang *lang, const char *text, size_t n, struct code *ret)
{
	static void (*const find[])(struct code * c) = {
		[LEX_BRACES] = find_brace, [LEX_INDENT] = find_indent, [LEX_END] = find_end
	};
	size_t cap = 0;

	*ret = (struct code){ .sig = NULL };
	lex_run(lang, text, n, &ret->lex);
	for (size_t i = 0; i < ret->lex.n; i++) {
		enum lex_kind k = ret->lex.v[i].kind;

		if (k == LEX_SPACE || k == LEX_NEWLINE || k == LEX_COMMENT)
			continue;
		MEM_GROW(ret->sig, cap, ret->n_sig + 1);
		ret->sig[ret->n_sig++] = i;
	}
	match_brackets(ret);
	index_lines(ret);
	find[lang->blocks](ret);
	index_functions(ret);
}

const struct code_fn *code_fn_at(const struct code *c, uint64_t line)
{
	size_t i = line && line <= c->n_lines ? c->line_fn[line - 1] : 0;

	return i ? &c->fn[i - 1] : NULL;
}

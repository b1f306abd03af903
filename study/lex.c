#include "study/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TEMPLATE_DEPTH 32   /* template literals within template literals */
#define RAW_HASHES     64   /* r###"..."### */
#define REGEX_MAX      2000 /* bytes of a regular expression */

struct cutter {
	struct lex *l;
	const char *p;
	size_t n, at;
	uint64_t line;
	size_t last_i; /* of the last token that is not blank, plus 1; 0 none */
};

static bool word_byte(const struct lex_lang *g, unsigned char c)
{
	return isalnum(c) || c == '_' || c >= 0x80 || (c && g->in_names && strchr(g->in_names, c));
}

static bool at(const struct cutter *c, size_t pos, const char *s)
{
	size_t n = strlen(s);

	return n && c->n - pos >= n && memcmp(c->p + pos, s, n) == 0;
}

/* The next @n bytes are a token. */
static void take(struct cutter *c, enum lex_kind kind, size_t n)
{
	struct lex *l = c->l;

	MEM_GROW(l->v, l->cap, l->n + 1);
	l->v[l->n] = (struct lex_token){ .kind = kind, .at = c->at, .n = n, .line = c->line };
	if (kind != LEX_SPACE && kind != LEX_NEWLINE && kind != LEX_COMMENT)
		c->last_i = l->n + 1;
	l->n++;
	for (size_t i = 0; i < n; i++)
		c->line += c->p[c->at + i] == '\n';
	c->at += n;
}

/* To the end of the line, without it; a backslash before it goes on when @more. */
static size_t rest_of_line(const struct cutter *c, size_t pos, bool more)
{
	size_t i = pos;

	while (i < c->n && c->p[i] != '\n') {
		if (more && c->p[i] == '\\' && i + 1 < c->n) {
			i += 2;
			if (c->p[i - 1] == '\r' && i < c->n && c->p[i] == '\n')
				i++;
		} else {
			i++;
		}
	}
	if (i > pos && i < c->n && c->p[i - 1] == '\r' && (i < 2 || c->p[i - 2] != '\\'))
		i--;
	return i - pos;
}

/* A block comment that begins at the present place. */
static size_t block_comment(const struct cutter *c, const char *open, const char *close)
{
	const struct lex_lang *g = c->l->lang;
	size_t i = c->at + strlen(open), depth = 1;

	while (i < c->n) {
		if (at(c, i, close)) {
			i += strlen(close);
			if (--depth == 0)
				break;
		} else if (g->nested_comments && at(c, i, open)) {
			i += strlen(open);
			depth++;
		} else {
			i++;
		}
	}
	return i - c->at;
}

/* Ruby's comment of lines: from "=begin" to the end of the line "=end". The row's texts begin with the end
 * of the line before. */
static size_t line_block(const struct cutter *c, const struct lex_lang *g)
{
	const char *close = g->close_comment;
	size_t i = c->at;

	if ((c->at && c->p[c->at - 1] != '\n') || !at(c, c->at, g->open_comment + 1))
		return 0;
	while (i < c->n && !at(c, i, close))
		i++;
	if (i < c->n)
		i += strlen(close);
	return i - c->at + rest_of_line(c, i, false);
}

static size_t comment(const struct cutter *c)
{
	const struct lex_lang *g = c->l->lang;

	if ((g->line_comment && at(c, c->at, g->line_comment)) ||
	    (g->line_comment2 && at(c, c->at, g->line_comment2)))
		return rest_of_line(c, c->at, g->directives);
	if (!g->open_comment)
		return 0;
	if (*g->open_comment == '\n')
		return line_block(c, g);
	return at(c, c->at, g->open_comment) ? block_comment(c, g->open_comment, g->close_comment)
					     : 0;
}

/* A template literal with its ${...}, which may hold others. Braces in strings inside are not told apart;
 * what is found then ends early or late, and is still a token. */
static size_t template_literal(const struct cutter *c, size_t pos)
{
	unsigned depth[TEMPLATE_DEPTH], n = 1;
	size_t i = pos + 1;

	depth[0] = 0; /* 0: in text; otherwise open braces of the ${...} */
	while (i < c->n && n) {
		char b = c->p[i];

		if (b == '\\' && i + 1 < c->n) {
			i += 2;
			continue;
		}
		if (b == '`' && !depth[n - 1]) {
			n--;
		} else if (b == '`' && n < TEMPLATE_DEPTH) {
			depth[n++] = 0;
		} else if (!depth[n - 1] && b == '$' && i + 1 < c->n && c->p[i + 1] == '{') {
			depth[n - 1] = 1;
			i++;
		} else if (depth[n - 1]) {
			depth[n - 1] += (b == '{') - (b == '}');
		}
		i++;
	}
	return i - pos;
}

/* A quoted text by its row; one that does not end on its line ends there. */
static size_t quoted(const struct cutter *c, size_t pos, const struct lex_quote *q)
{
	size_t i = pos + strlen(q->open);

	if (*q->open == '`' && q->escapes && c->l->lang->regex && c->l->lang->blocks == LEX_BRACES)
		return template_literal(c, pos);
	while (i < c->n) {
		if (q->escapes && c->p[i] == '\\' && i + 1 < c->n) {
			i += 2;
			continue;
		}
		if (at(c, i, q->close))
			return i + strlen(q->close) - pos;
		if (c->p[i] == '\n' && !q->lines)
			break;
		i++;
	}
	return i - pos;
}

static const struct lex_quote *quote_at(const struct cutter *c, size_t pos)
{
	const struct lex_quote *q = c->l->lang->quote;

	for (; q < c->l->lang->quote + LEX_QUOTES && q->open; q++)
		if (at(c, pos, q->open))
			return q;
	return NULL;
}

/* r"..." and r#"..."# of Rust; 0 when it is something else. */
static size_t raw_string(const struct cutter *c, size_t pos)
{
	size_t i = pos, hashes = 0;

	while (i < c->n && c->p[i] == '#' && hashes < RAW_HASHES) {
		i++;
		hashes++;
	}
	if (i >= c->n || c->p[i] != '"')
		return 0;
	for (i++; i < c->n; i++) {
		size_t k = 0;

		if (c->p[i] != '"')
			continue;
		while (k < hashes && i + 1 + k < c->n && c->p[i + 1 + k] == '#')
			k++;
		if (k == hashes)
			return i + 1 + hashes - pos;
	}
	return c->n - pos;
}

/* Letters in front of a quote: how many bytes prefix and text have; 0 when it is no such thing. */
static size_t prefixed(const struct cutter *c)
{
	size_t k = 0, n;
	const struct lex_quote *q;

	while (k < 3 && c->at + k < c->n && strchr("rRbBfFuULc8", c->p[c->at + k]) &&
	       c->p[c->at + k])
		k++;
	for (; k; k--) {
		bool raw = memchr(c->p + c->at, 'r', k) != NULL;

		n = raw && !c->l->lang->directives && c->l->lang->blocks == LEX_BRACES
			    ? raw_string(c, c->at + k)
			    : 0;
		if (n)
			return k + n;
		q = c->at + k < c->n ? quote_at(c, c->at + k) : NULL;
		if (q)
			return k + quoted(c, c->at + k, q);
	}
	return 0;
}

/* May a value begin here, so that a slash begins a regular expression? */
static bool value_may_begin(const struct cutter *c)
{
	const struct lex_token *t = c->last_i ? &c->l->v[c->last_i - 1] : NULL;

	if (!t)
		return true;
	if (t->kind == LEX_OP)
		return !(t->n == 1 && strchr(")]}", c->p[t->at]));
	return t->kind == LEX_KEYWORD && !lex_is(c->l, t, "this") && !lex_is(c->l, t, "super") &&
	       !lex_is(c->l, t, "null") && !lex_is(c->l, t, "true") && !lex_is(c->l, t, "false") &&
	       !lex_is(c->l, t, "self") && !lex_is(c->l, t, "end") && !lex_is(c->l, t, "undefined");
}

static size_t regex(const struct cutter *c)
{
	bool set = false;
	size_t i = c->at + 1;

	if (c->p[c->at] != '/' || !c->l->lang->regex || !value_may_begin(c))
		return 0;
	for (; i < c->n && c->p[i] != '\n' && i - c->at < REGEX_MAX; i++) {
		if (c->p[i] == '\\' && i + 1 < c->n) {
			i++;
		} else if (c->p[i] == '[') {
			set = true;
		} else if (c->p[i] == ']') {
			set = false;
		} else if (c->p[i] == '/' && !set) {
			i++;
			while (i < c->n && isalpha((unsigned char)c->p[i]))
				i++;
			return i - c->at;
		}
	}
	return 0; /* no end on its line: a division */
}

/* A lifetime or label of Rust ('a) is no character. */
static bool is_lifetime(const struct cutter *c)
{
	size_t i = c->at + 1;

	if (c->l->lang->directives || !c->l->lang->nested_comments || c->p[c->at] != '\'')
		return false;
	while (i < c->n && word_byte(c->l->lang, (unsigned char)c->p[i]))
		i++;
	return i > c->at + 1 && (i >= c->n || c->p[i] != '\'');
}

static bool keyword(const struct lex_lang *g, const char *s, size_t n)
{
	char word[32];

	if (n + 3 > sizeof(word))
		return false;
	word[0] = ' ';
	memcpy(word + 1, s, n);
	word[n + 1] = ' ';
	word[n + 2] = '\0';
	return strstr(g->keywords, word) != NULL;
}

static size_t number(const struct cutter *c)
{
	size_t i = c->at;

	while (i < c->n) {
		unsigned char b = (unsigned char)c->p[i];

		if (isalnum(b) || b == '_' ||
		    (b == '.' && i + 1 < c->n && isdigit((unsigned char)c->p[i + 1])))
			i++;
		else if ((b == '+' || b == '-') && i > c->at && strchr("eEpP", c->p[i - 1]) &&
			 !(c->n - c->at > 1 && strchr("xX", c->p[c->at + 1])))
			i++;
		else
			break;
	}
	return i - c->at;
}

/* Longest first. */
static size_t operator_at(const struct cutter *c)
{
	static const char *const ops[] = { ">>>=", "...", "===",  "!==", ">>=", "<<=", "**=", "<=>",
					   "&&=",  "||=", "?\?=", ">>>", "..=", "->",  "=>",  "==",
					   "!=",   "<=",  ">=",   "&&",  "||",  "?\?", "?.",  "++",
					   "--",   "+=",  "-=",   "*=",  "/=",  "%=",  "&=",  "|=",
					   "^=",   "<<",  ">>",   "**",  "//",  ":=",  "::",  "<-",
					   "..",   "=~",  NULL };

	for (size_t i = 0; ops[i]; i++)
		if (at(c, c->at, ops[i]))
			return strlen(ops[i]);
	return 1;
}

static size_t blanks(const struct cutter *c)
{
	size_t i = c->at;

	for (; i < c->n; i++) {
		if (c->p[i] == '\\' && i + 1 < c->n && c->p[i + 1] == '\n')
			i++;
		else if (c->p[i] == '\r' ? i + 1 < c->n && c->p[i + 1] == '\n'
					 : !strchr(" \t\f\v", c->p[i]) || !c->p[i])
			break;
	}
	return i - c->at;
}

/* First thing of its line? */
static bool begins_line(const struct lex *l)
{
	for (size_t i = l->n; i--;) {
		if (l->v[i].kind == LEX_NEWLINE)
			return true;
		if (l->v[i].kind != LEX_SPACE && l->v[i].kind != LEX_COMMENT)
			return false;
	}
	return true;
}

/* Names, keywords, numbers and operators. */
static void take_plain(struct cutter *c)
{
	const struct lex_lang *g = c->l->lang;
	unsigned char b = (unsigned char)c->p[c->at];
	size_t n = 0;

	if (isdigit(b)) {
		take(c, LEX_NUMBER, number(c));
		return;
	}
	while (c->at + n < c->n && word_byte(g, (unsigned char)c->p[c->at + n]))
		n++;
	if (n && (isalpha(b) || b == '_' || b >= 0x80 || n > 1))
		take(c, keyword(g, c->p + c->at, n) ? LEX_KEYWORD : LEX_NAME, n);
	else if (ispunct(b))
		take(c, LEX_OP, operator_at(c));
	else
		take(c, LEX_OTHER, 1);
}

static void take_one(struct cutter *c)
{
	const struct lex_lang *g = c->l->lang;
	const struct lex_quote *q;
	size_t n;

	if (c->p[c->at] == '\n' || at(c, c->at, "\r\n")) {
		take(c, LEX_NEWLINE, c->p[c->at] == '\n' ? 1 : 2);
		return;
	}
	n = blanks(c);
	if (n) {
		take(c, LEX_SPACE, n);
		return;
	}
	n = comment(c);
	if (n) {
		take(c, LEX_COMMENT, n);
		return;
	}
	if (g->directives && c->p[c->at] == '#' && begins_line(c->l)) {
		take(c, LEX_DIRECTIVE, rest_of_line(c, c->at, true));
		return;
	}
	n = g->prefixes ? prefixed(c) : 0;
	if (!n)
		n = regex(c);
	q = n || is_lifetime(c) ? NULL : quote_at(c, c->at);
	if (q)
		n = quoted(c, c->at, q);
	if (n)
		take(c, LEX_STRING, n);
	else
		take_plain(c);
}

void lex_run(const struct lex_lang *lang, const char *text, size_t n, struct lex *ret)
{
	struct cutter c = { .l = ret, .p = text, .n = n, .line = 1 };

	*ret = (struct lex){ .lang = lang, .text = text, .n_text = n };
	if (n > LEX_TEXT_MAX) {
		ret->cut = true;
		return;
	}
	while (c.at < c.n && ret->n < LEX_TOKENS_MAX - 1)
		take_one(&c);
	if (c.at < c.n)
		take(&c, LEX_OTHER, c.n - c.at);
}

void lex_done(struct lex *l)
{
	free(l->v);
	*l = (struct lex){ .v = NULL };
}

bool lex_is(const struct lex *l, const struct lex_token *t, const char *s)
{
	return strlen(s) == t->n && memcmp(l->text + t->at, s, t->n) == 0;
}

char *lex_text(const struct lex *l, const struct lex_token *t)
{
	return mem_strndup(l->text + t->at, t->n);
}

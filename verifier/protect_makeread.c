#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/protect_internal.h"
#include "verifier/protect_make_internal.h"

static const char conds[] = "ifdef|ifndef|ifeq|ifneq|else|endif|define|endef";
static const char others[] = "include|-include|sinclude|export|unexport|override|private|vpath|"
			     "undefine|load|-load";

void protect_make_done(struct make_file *f)
{
	free(f->v);
	*f = (struct make_file){ 0 };
}

/* Length of the line at @p with its end, and with the lines that a backslash joins to it. */
static size_t logical(const char *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		const char *nl = memchr(p + at, '\n', n - at);
		size_t end = nl ? (size_t)(nl - p) : n, slashes = 0;

		while (slashes < end && p[end - 1 - slashes] == '\\')
			slashes++;
		at = nl ? end + 1 : n;
		if (slashes % 2 == 0)
			break;
	}
	return at;
}

/* Length of the variable reference at p[i] == '$', to the end of the piece when it is not closed. */
static size_t reference(const char *p, size_t i, size_t n)
{
	char open = i + 1 < n ? p[i + 1] : 0, close = open == '(' ? ')' : '}';
	size_t from = i, depth = 0;

	if (open != '(' && open != '{')
		return i + 1 < n ? 2 : 1;
	for (i++; i < n; i++) {
		depth += p[i] == open;
		if (p[i] == close && --depth == 0)
			return i + 1 - from;
	}
	return n - from;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

bool protect_make_word(struct make_piece p, size_t *at, struct make_piece *ret)
{
	size_t i = *at, from;

	while (i < p.n &&
	       (is_blank(p.p[i]) || (p.p[i] == '\\' && i + 1 < p.n && p.p[i + 1] == '\n')))
		i++;
	from = i;
	while (i < p.n && !is_blank(p.p[i]) &&
	       !(p.p[i] == '\\' && i + 1 < p.n && p.p[i + 1] == '\n'))
		i += p.p[i] == '$' ? reference(p.p, i, p.n) : 1;
	*at = i;
	*ret = (struct make_piece){ p.p + from, i - from };
	return i > from;
}

static struct make_piece trim(struct make_piece s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Length of the assignment operator at p[i], 0 when there is none. */
static size_t operator(const char *p, size_t i, size_t n)
{
	static const char *const ops[] = { ":::=", "::=", ":=", "?=", "+=", "!=", "=" };

	for (size_t k = 0; k < ARRAY_SIZE(ops); k++) {
		size_t len = strlen(ops[k]);

		if (len <= n - i && memcmp(p + i, ops[k], len) == 0)
			return len;
	}
	return 0;
}

/* A variable's name is one word. A rule with "=", ";" or a second colon behind the first one sets a variable for one
 * target only, has its recipe on the same line, or is static. */
static bool is_simple(const struct make_statement *s)
{
	const struct make_piece *p = s->kind == MAKE_ASSIGN ? &s->name : &s->value;
	const char *odd = s->kind == MAKE_ASSIGN ? " \t\n$" : "=;:";

	for (size_t k = 0; k < p->n; k++)
		if (p->p[k] && strchr(odd, p->p[k]))
			return false;
	return s->name.n > 0;
}

/* Find what makes the line an assignment or a rule: the first operator or colon outside references. A comment sign
 * before it makes it neither. */
static void classify(struct make_statement *s, size_t line)
{
	const char *p = s->all.p;
	size_t i = 0, len;

	s->kind = MAKE_OTHER;
	while (i < line && p[i] != '#') {
		len = operator(p, i, line);
		if (len || p[i] == ':')
			break;
		i += p[i] == '$' ? reference(p, i, line) : 1;
	}
	if (i >= line || p[i] == '#')
		return;
	s->name = trim((struct make_piece){ p, i });
	s->kind = len ? MAKE_ASSIGN : MAKE_RULE;
	if (!len)
		len = i + 1 < line && p[i + 1] == ':' ? 2 : 1;
	s->op = (struct make_piece){ p + i, len };
	s->value = trim((struct make_piece){ p + i + len, line - i - len });
	if (!is_simple(s))
		s->kind = MAKE_OTHER;
}

static void read_line(struct make_statement *s)
{
	struct make_piece word;
	size_t at = 0;

	if (!protect_make_word(s->all, &at, &word) || *word.p == '#')
		s->kind = MAKE_BLANK;
	else if (protect_listed(conds, word.p, word.n))
		s->kind = MAKE_COND;
	else if (protect_listed(others, word.p, word.n))
		s->kind = MAKE_OTHER;
	else
		classify(s, s->all.n);
}

/* A line with a TAB goes to the last rule, over empty lines and comments between. */
static bool attach(struct make_file *f, const char *p, size_t n)
{
	size_t i = f->n;
	struct make_statement *rule;

	while (i && f->v[i - 1].kind == MAKE_BLANK)
		i--;
	if (!i || f->v[i - 1].kind != MAKE_RULE)
		return false;
	rule = &f->v[i - 1];
	if (!rule->recipe.p)
		rule->recipe.p = rule->all.p + rule->all.n;
	rule->all.n = (size_t)(p + n - rule->all.p);
	rule->recipe.n = (size_t)(p + n - rule->recipe.p);
	f->n = i;
	return true;
}

int protect_make_read(const char *text, size_t n, struct make_file *ret)
{
	size_t cap = 0;

	for (size_t at = 0; at < n;) {
		const char *p = text + at;
		size_t len = logical(p, n - at);
		struct make_statement *s;

		at += len;
		if (*p == '\t' && attach(ret, p, len))
			continue;
		if (ret->n == MAKE_STATEMENTS_MAX)
			return -1;
		MEM_GROW(ret->v, cap, ret->n + 1);
		s = &ret->v[ret->n++];
		*s = (struct make_statement){ .all = { p, len }, .kind = MAKE_OTHER };
		if (*p != '\t')
			read_line(s);
	}
	return 0;
}

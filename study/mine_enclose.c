/* The function around a line, without a parser: by indentation where that is the language's way, otherwise by
 * braces outside of strings and comments. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/mine_internal.h"

#define DEPTH_MAX 256 /* blocks inside each other that are followed */
#define HEAD_MAX  512 /* bytes in front of a brace that are looked at */

/* A text cut into lines: line i begins at at[i]. */
struct cut {
	const char *text;
	size_t *at; /* owned; n + 1 entries */
	size_t n;
};

static void cut_up(struct cut *c, const char *text, size_t n)
{
	size_t cap = 0;

	*c = (struct cut){ .text = text };
	for (size_t i = 0; i < n;) {
		const char *nl = memchr(text + i, '\n', n - i);

		MEM_GROW(c->at, cap, c->n + 2);
		c->at[c->n++] = i;
		i = nl ? (size_t)(nl - text) + 1 : n;
	}
	if (c->n)
		c->at[c->n] = n;
}

/* Blanks in front of line index @i; -1 for an empty line. */
static int indent(const struct cut *c, size_t i)
{
	int n = 0;

	for (size_t k = c->at[i]; k < c->at[i + 1]; k++) {
		if (c->text[k] == ' ')
			n++;
		else if (c->text[k] == '\t')
			n += 8 - n % 8;
		else
			return c->text[k] == '\n' || c->text[k] == '\r' ? -1 : n;
	}
	return -1;
}

static bool line_starts(const struct cut *c, size_t i, const char *what)
{
	size_t k = c->at[i];

	while (k < c->at[i + 1] && (c->text[k] == ' ' || c->text[k] == '\t'))
		k++;
	return c->at[i + 1] - k >= strlen(what) && memcmp(c->text + k, what, strlen(what)) == 0;
}

static bool is_def(const struct cut *c, size_t i)
{
	return line_starts(c, i, "def ") || line_starts(c, i, "async def ");
}

/* Line index of the def around line index @i; c->n when there is none. */
static size_t def_above(const struct cut *c, size_t i)
{
	int in;

	while (i + 1 < c->n && (line_starts(c, i, "@") || indent(c, i) < 0))
		i++; /* a decorator, an empty line: of what follows */
	if (is_def(c, i))
		return i;
	in = indent(c, i);
	while (i-- > 0) {
		int k = indent(c, i);

		/* the end of a signature over several lines is no step outwards */
		if (k < 0 || k >= in || line_starts(c, i, ")"))
			continue;
		if (is_def(c, i))
			return i;
		in = k;
	}
	return c->n;
}

static bool by_indent(const struct cut *c, uint64_t *first, uint64_t *last)
{
	size_t def = def_above(c, (size_t)*first - 1), end, start;
	int in;

	if (def == c->n)
		return false;
	in = indent(c, def);
	start = def;
	while (start > 0 && line_starts(c, start - 1, "@") && indent(c, start - 1) == in)
		start--;
	/* a signature over several lines ends with its closing bracket at the same depth */
	for (end = def + 1; end < c->n; end++) {
		int k = indent(c, end);

		if (k >= 0 && k <= in && !line_starts(c, end, ")") && !line_starts(c, end, "#"))
			break;
	}
	while (end > def + 1 && indent(c, end - 1) < 0)
		end--;
	if (start + 1 > *first || end < *last)
		return false; /* the line stands between functions */
	*first = start + 1;
	*last = end;
	return true;
}

/* Behind a string or a comment that begins at @i; @i itself when none does. */
static size_t skip(const char *t, size_t n, size_t i)
{
	char quote = t[i];

	if (i + 1 < n && t[i] == '/' && t[i + 1] == '/') {
		const char *nl = memchr(t + i, '\n', n - i);

		return nl ? (size_t)(nl - t) : n;
	}
	if (i + 1 < n && t[i] == '/' && t[i + 1] == '*') {
		const char *end = memmem(t + i + 2, n - i - 2, "*/", 2);

		return end ? (size_t)(end - t) + 2 : n;
	}
	if (quote != '"' && quote != '\'' && quote != '`')
		return i;
	for (size_t k = i + 1; k < n; k++) {
		if (t[k] == '\\')
			k++;
		else if (t[k] == quote)
			return k + 1;
		else if (t[k] == '\n' && quote != '`')
			break; /* an apostrophe or a lifetime, no string */
	}
	return i + 1;
}

/* Does the text in front of a brace begin a function: brackets, and no word of another block? */
static bool is_head(const char *p, size_t n)
{
	static const char *const others[] = { "if",        "for",    "while",  "switch",
					      "catch",     "else",   "do",     "try",
					      "class",     "struct", "enum",   "interface",
					      "namespace", "union",  "impl",   "extern",
					      "match",     "with",   "select", "return" };
	size_t word = 0;

	while (n && isspace((unsigned char)*p)) {
		p++;
		n--;
	}
	while (word < n && (isalnum((unsigned char)p[word]) || p[word] == '_'))
		word++;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strlen(others[i]) == word && memcmp(p, others[i], word) == 0)
			return false;
	return n && memchr(p, '(', n);
}

/* An open brace: where its head begins, and whether it is a function's. */
struct brace {
	size_t head;
	bool function;
};

/* Innermost function whose bytes hold @from to @to. */
static bool by_brace(const char *t, size_t n, size_t from, size_t to, size_t *ret_a, size_t *ret_b)
{
	struct brace open[DEPTH_MAX];
	size_t depth = 0, head = 0;

	for (size_t i = 0; i < n;) {
		size_t next = skip(t, n, i);

		if (next > i) {
			head += head == i && (t[i] == '/') ? next - i
							   : 0; /* comments are no head */
			i = next;
			continue;
		}
		if (t[i] == '{') {
			size_t start = i - head > HEAD_MAX ? i - HEAD_MAX : head;

			if (depth >= DEPTH_MAX)
				return false;
			open[depth++] = (struct brace){ start, is_head(t + start, i - start) };
		} else if (t[i] == '}' && depth) {
			struct brace b = open[--depth];

			if (b.function && b.head <= from && i >= to) {
				*ret_a = b.head;
				*ret_b = i;
				return true;
			}
		}
		if (t[i] == '{' || t[i] == '}' || t[i] == ';' ||
		    (head == i && isspace((unsigned char)t[i])))
			head = i + 1;
		i++;
	}
	return false;
}

static bool braces(const struct cut *c, uint64_t *first, uint64_t *last)
{
	size_t from = c->at[*first - 1], to = c->at[*last] - 1, a, b;

	/* the line's own text counts, not its indentation */
	while (from < to && isspace((unsigned char)c->text[from]))
		from++;
	while (to > from && isspace((unsigned char)c->text[to]))
		to--;
	if (!by_brace(c->text, c->at[c->n], from, to, &a, &b))
		return false;
	for (size_t i = 0; i < c->n; i++) {
		if (c->at[i] <= a && a < c->at[i + 1])
			*first = i + 1;
		if (c->at[i] <= b && b < c->at[i + 1])
			*last = i + 1;
	}
	return true;
}

bool mine_enclosing(const char *path, const char *text, size_t n, uint64_t *first, uint64_t *last)
{
	uint64_t a = *first, b = *last;
	struct cut c;
	bool found;

	cut_up(&c, text, n);
	if (!a || b < a || b > c.n) {
		free(c.at);
		return false;
	}
	found = str_ends(path, ".py") || str_ends(path, ".pyi") ? by_indent(&c, &a, &b)
								: braces(&c, &a, &b);
	free(c.at);
	if (!found || b - a + 1 > ENCLOSING_MAX)
		return false;
	*first = a;
	*last = b;
	return true;
}

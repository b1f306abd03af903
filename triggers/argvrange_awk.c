/* The lines that an awk program prints, when its patterns compare NR (or FNR) with numbers. */
#include "triggers/argvrange_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

struct prog {
	const char *p;
	uint64_t lines;
	uint64_t quit; /* last line that is read */
	struct argvrange shown;
};

/* An interval of line numbers. */
struct span {
	uint64_t first, last;
};

static void blanks(struct prog *a)
{
	a->p += strspn(a->p, " \t");
}

static bool take(struct prog *a, const char *word)
{
	blanks(a);
	if (!str_starts(a->p, word))
		return false;
	a->p += strlen(word);
	return true;
}

/* Comparisons of NR with a number. The order matters: a longer one before what it begins with. */
static const struct {
	const char *text;
	bool first, last; /* it sets this end of the interval */
	int off;          /* which is so far from the number */
	size_t mirror;    /* row of "number OP NR" */
} ops[] = {
	{ "==", true, true, 0, 0 }, { ">=", true, false, 0, 2 }, { "<=", false, true, 0, 1 },
	{ ">", true, false, 1, 4 }, { "<", false, true, -1, 3 },
};

static bool take_nr(struct prog *a)
{
	return take(a, "NR") || take(a, "FNR");
}

static bool take_number(struct prog *a, uint64_t *v)
{
	char *end;

	blanks(a);
	if (!isdigit((unsigned char)*a->p))
		return false;
	*v = strtoull(a->p, &end, 10);
	*v = *v < UINT32_MAX ? *v : UINT32_MAX;
	a->p = end;
	return true;
}

/* "NR >= 5", also "5 <= NR". Narrows *s. */
static bool comparison(struct prog *a, struct span *s)
{
	uint64_t v = 0;
	bool turned = take_number(a, &v);
	size_t op = 0;

	if (!turned && !take_nr(a))
		return false;
	while (op < ARRAY_SIZE(ops) && !take(a, ops[op].text))
		op++;
	if (op == ARRAY_SIZE(ops) || (turned ? !take_nr(a) : !take_number(a, &v)))
		return false;
	if (turned)
		op = ops[op].mirror;
	v = v || ops[op].off >= 0 ? v + (uint64_t)(int64_t)ops[op].off : 0;
	if (ops[op].first && v > s->first)
		s->first = v;
	if (ops[op].last && v < s->last)
		s->last = v;
	return true;
}

/* "NR>=5 && NR<=9". */
static bool conjunction(struct prog *a, struct span *s)
{
	bool paren = take(a, "(");

	*s = (struct span){ 1, a->lines };
	do {
		if (!comparison(a, s))
			return false;
	} while (take(a, "&&"));
	return !paren || take(a, ")");
}

/* A pattern: alternatives by ||, or a range "NR==5,NR==9". */
static bool pattern(struct prog *a, struct argvrange *out)
{
	struct span s, t;

	if (!conjunction(a, &s))
		return false;
	blanks(a);
	if (*a->p == ',') {
		a->p++;
		if (!conjunction(a, &t))
			return false;
		/* from the first line of one to the first of the other at or behind it */
		argvrange_add(out, s.first, t.first > s.first ? t.first : s.first, a->lines);
		return true;
	}
	argvrange_add(out, s.first, s.last, a->lines);
	while (take(a, "||")) {
		if (!conjunction(a, &s))
			return false;
		argvrange_add(out, s.first, s.last, a->lines);
	}
	return true;
}

enum action { ACTION_PRINT, ACTION_EXIT, ACTION_BOTH, ACTION_UNKNOWN };

/* "{ print ... }", "{ exit }", "{ print; exit }". */
static enum action action(struct prog *a)
{
	bool prints = false, exits = false;
	char quote = 0;

	if (*a->p != '{')
		return ACTION_PRINT;
	a->p++;
	for (;;) {
		a->p += strspn(a->p, " \t;\n");
		if (*a->p == '}') {
			a->p++;
			return prints  ? exits ? ACTION_BOTH : ACTION_PRINT
			       : exits ? ACTION_EXIT
				       : ACTION_UNKNOWN;
		}
		if (str_starts(a->p, "print"))
			prints = true;
		else if (str_starts(a->p, "exit"))
			exits = true;
		else
			return ACTION_UNKNOWN;
		for (; *a->p && (quote || !strchr(";\n}", *a->p)); a->p++) {
			if (*a->p == '\\' && quote && a->p[1])
				a->p++;
			else if (*a->p == '"')
				quote = quote ? 0 : '"';
		}
		if (!*a->p)
			return ACTION_UNKNOWN;
	}
}

/* One rule. */
static bool rule(struct prog *a)
{
	struct argvrange hit = { .n = 0 };
	enum action act;
	bool any = *a->p == '{';

	if (any)
		argvrange_all(&hit, a->lines);
	else if (*a->p == '1' && (!a->p[1] || strchr(" \t;\n{", a->p[1])) && take(a, "1"))
		argvrange_all(&hit, a->lines);
	else if (!pattern(a, &hit))
		return false;
	blanks(a);
	act = action(a);
	if (act == ACTION_UNKNOWN)
		return false;
	/* a rule behind an exit does not see the line that ended the program; those before did */
	for (size_t i = 0; act != ACTION_EXIT && i < hit.n; i++)
		argvrange_add(&a->shown, hit.v[i].first,
			      hit.v[i].last < a->quit ? hit.v[i].last : a->quit - 1, a->lines);
	if (act != ACTION_PRINT && hit.n && hit.v[0].first < a->quit)
		a->quit = hit.v[0].first;
	return true;
}

int argvrange_awk(const struct range_args *a, struct argvrange *out)
{
	struct prog p = { .lines = a->lines, .quit = UINT64_MAX };
	size_t i = 0, files = 0;

	for (; a->v[i] && a->v[i][0] == '-' && a->v[i][1]; i++) {
		if (str_eq(a->v[i], "-F") && a->v[i + 1])
			i++;
		else if (!str_starts(a->v[i], "-F"))
			return 0; /* -v and -f: values that are not in the program's text */
	}
	if (!a->v[i])
		return 0;
	p.p = a->v[i++];
	for (; a->v[i]; i++)
		files++;
	if (files > 1)
		return 0;
	for (;;) {
		p.p += strspn(p.p, " \t;\n");
		if (!*p.p)
			break;
		if (!rule(&p))
			return 0;
	}
	for (size_t k = 0; k < p.shown.n; k++)
		argvrange_add(out, p.shown.v[k].first,
			      p.shown.v[k].last < p.quit ? p.shown.v[k].last : p.quit, a->lines);
	return 1;
}

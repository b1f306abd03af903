/* The lines that a sed script prints, when its addresses are numbers. Anything else is unknown:
 * then the whole read counts. */
#include "triggers/argvrange_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct address {
	uint64_t first, last;
};

struct script {
	const char *p;
	uint64_t lines;
	bool quiet;
	struct argvrange printed, deleted;
	uint64_t quit;    /* last line that is read; UINT64_MAX = all */
	bool quit_silent; /* Q: that line is not printed */
};

static bool number(const char **p, uint64_t lines, uint64_t *v)
{
	char *end;

	if (**p == '$') {
		*v = lines;
		++*p;
		return true;
	}
	if (!isdigit((unsigned char)**p))
		return false;
	*v = strtoull(*p, &end, 10);
	*p = end;
	return true;
}

/* "5", "5,9", "5,+3", "5,~4", "$", "5,$". 1 there, 0 none, -1 not a number (regular expression,
 * step, negation). */
static int address(struct script *s, struct address *a)
{
	s->p += strspn(s->p, " \t;\n");
	if (!number(&s->p, s->lines, &a->first))
		return *s->p == '/' || *s->p == '\\' ? -1 : 0;
	a->last = a->first;
	if (*s->p == '~')
		return -1;
	if (*s->p == ',') {
		uint64_t v = 0;
		char how = 0;

		s->p++;
		s->p += strspn(s->p, " \t");
		if (*s->p == '+' || *s->p == '~')
			how = *s->p++;
		if (!number(&s->p, s->lines, &v))
			return -1;
		if (v > UINT32_MAX)
			v = UINT32_MAX;
		if (how == '+')
			v += a->first;
		else if (how == '~')
			v = v ? (a->first + v - 1) / v * v : a->first;
		/* sed: a second address before the first means one line */
		a->last = v > a->first ? v : a->first;
	}
	s->p += strspn(s->p, " \t");
	return *s->p == '!' ? -1 : 1;
}

/* One command letter with its address. False when it is not one of ours. */
static bool command(struct script *s, const struct address *a)
{
	char c = *s->p++;

	switch (c) {
	case 'p':
	case 'l':
		argvrange_add(&s->printed, a->first, a->last, s->lines);
		break;
	case 'd':
		if (s->quiet)
			return false;
		argvrange_add(&s->deleted, a->first, a->last, s->lines);
		break;
	case 'q':
	case 'Q':
		if (a->first < s->quit) {
			s->quit = a->first;
			s->quit_silent = c == 'Q';
		}
		break;
	case '=':
		break; /* the number of a line shows nothing of it */
	default:
		return false;
	}
	s->p += strspn(s->p, " \t");
	return *s->p == '\0' || strchr(";\n}", *s->p);
}

/* "{...}" with no addresses inside. */
static bool block(struct script *s, const struct address *a)
{
	s->p++;
	for (;;) {
		s->p += strspn(s->p, " \t;\n");
		if (*s->p == '}') {
			s->p++;
			return true;
		}
		if (!*s->p || isdigit((unsigned char)*s->p) || !command(s, a))
			return false;
	}
}

static bool run(struct script *s)
{
	for (;;) {
		struct address a = { 1, s->lines };
		int r = address(s, &a);

		if (r < 0)
			return false;
		if (!*s->p)
			return r == 0;
		if (*s->p == '#' && r == 0) {
			s->p += strcspn(s->p, "\n");
			continue;
		}
		if (*s->p == '{' ? !block(s, &a) : !command(s, &a))
			return false;
		s->p += strspn(s->p, " \t");
		if (*s->p && !strchr(";\n", *s->p))
			return false;
	}
}

/* Lines of @from that are not in @without and not behind @quit. */
static void subtract(const struct argvrange *from, const struct argvrange *without, uint64_t quit,
		     uint64_t lines, struct argvrange *out)
{
	for (size_t i = 0; i < from->n; i++) {
		uint64_t at = from->v[i].first, end = from->v[i].last;

		end = end < quit ? end : quit;
		for (size_t k = 0; k < without->n && at <= end; k++) {
			if (without->v[k].last < at || without->v[k].first > end)
				continue;
			if (without->v[k].first > at)
				argvrange_add(out, at, without->v[k].first - 1, lines);
			at = without->v[k].last + 1;
		}
		if (at <= end)
			argvrange_add(out, at, end, lines);
	}
}

struct sed_words {
	struct buf script;
	bool given, quiet;
	bool in_place; /* prints into the file: nothing is shown */
	size_t files;
};

/* "-i", "-ni", "-i.bak", "--in-place=.bak". */
static bool in_place(const char *s)
{
	if (str_starts(s, "--in-place"))
		return true;
	return s[0] == '-' && s[1 + strspn(s + 1, "nEruz")] == 'i';
}

/* Options and operands. False for script files and what we do not know. */
static bool sed_words(const struct range_args *a, struct sed_words *w)
{
	for (size_t i = 0; a->v[i]; i++) {
		const char *s = a->v[i];

		if (in_place(s)) {
			w->in_place = true;
		} else if (str_eq(s, "--quiet") || str_eq(s, "--silent")) {
			w->quiet = true;
		} else if (str_starts(s, "--expression=")) {
			buf_addf(&w->script, "%s\n", s + strlen("--expression="));
			w->given = true;
		} else if (str_eq(s, "--regexp-extended") || str_eq(s, "--unbuffered")) {
			continue;
		} else if (s[0] == '-' && s[1]) {
			if (s[1] == '-' || strspn(s + 1, "nEruze") != strlen(s + 1))
				return false;
			w->quiet |= strchr(s, 'n') != NULL;
			if (s[strlen(s) - 1] != 'e') {
				if (strchr(s, 'e'))
					return false;
				continue;
			}
			if (!a->v[i + 1])
				return false;
			buf_addf(&w->script, "%s\n", a->v[++i]);
			w->given = true;
		} else if (!w->given && !w->script.len) {
			buf_addf(&w->script, "%s\n", s);
		} else
			w->files++;
	}
	/* several files are one stream of lines: which lines of which is unknown here */
	return w->script.len && w->files <= 1;
}

int argvrange_sed(const struct range_args *a, struct argvrange *out)
{
	struct sed_words w = { .script = BUF_INIT(64u << 10) };
	struct script s = { .lines = a->lines, .quit = UINT64_MAX };
	struct argvrange all = { .n = 0 };
	bool ok = sed_words(a, &w);

	if (w.in_place) {
		buf_done(&w.script);
		return 1;
	}
	s.p = buf_str(&w.script);
	s.quiet = w.quiet;
	ok = ok && run(&s);
	if (ok) {
		if (s.quiet)
			all = s.printed;
		else
			argvrange_all(&all, a->lines);
		subtract(&all, &s.deleted, s.quit - (s.quit_silent && s.quit), a->lines, out);
	}
	buf_done(&w.script);
	return ok;
}

/* Makefiles. All statements of the base stay; the patch may extend lists of source files (in variables,
 * prerequisites and command lines) and add what cannot reach the tests. An honest patch that lists a new file
 * is so built as its author meant it, and a replaced "test:" is the base's again. What make itself does with
 * a file cannot be told by reading (references are expanded late), so only plain words are let through. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "verifier/protect_internal.h"
#include "verifier/protect_make_internal.h"

#define TEXT_MAX (256u << 10) /* looking for names takes time by statements times bytes */

static const char plain_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_./+-";

/* Suffixes of what compilers read and of what they make. A script's would be a command. */
static const char source_suffixes[] =
	"c|cc|cpp|cxx|C|h|hh|hpp|hxx|o|lo|obj|S|s|asm|f|f90|f95|for|m|mm|java|go|rs|vala|y|l|yy|ll|"
	"d|ml|mli|hs|pas|adb|ads|cu|proto|tex|md";

/* Variables and targets that change what every command means. */
static const char special_names[] =
	"SHELL|.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|MAKE|MAKEFILES|MAKELEVEL|MAKEOVERRIDES|"
	"MAKECMDGOALS|CURDIR|VPATH|.DEFAULT_GOAL|.RECIPEPREFIX|.VARIABLES|.FEATURES|.LIBPATTERNS|"
	"PATH|LD_PRELOAD|LD_LIBRARY_PATH|BASH_ENV|ENV|CC|CXX|CPP|LD|AR|AS|FC|M2C|PC|LEX|YACC|RM|"
	"LINT|TEX|CO|GET|TANGLE|CTANGLE|WEAVE|CWEAVE|MAKEINFO|TEXI2DVI|CFLAGS|CXXFLAGS|CPPFLAGS|"
	"LDFLAGS|LDLIBS|LOADLIBES|ARFLAGS|ASFLAGS|FFLAGS|TARGET_ARCH|OUTPUT_OPTION|COMPILE.c|LINK.c|"
	"LINK.o|COMPILE.cc|COMPILE.cpp|LINK.cc|LINK.cpp";

/* Calls that run something or make statements while the file is read. */
static const char *const active[] = { "shell", "eval",    "file",   "guile", "call",
				      "value", "foreach", "origin", "`" };

static bool plain(struct make_piece w)
{
	for (size_t i = 0; i < w.n; i++)
		if (!w.p[i] || !strchr(plain_chars, w.p[i]))
			return false;
	return w.n && w.p[0] != '-' && w.p[0] != '+';
}

static bool is_source(struct make_piece w)
{
	const char *dot = w.n ? memrchr(w.p, '.', w.n) : NULL;
	size_t n = dot ? (size_t)(w.p + w.n - dot - 1) : 0;

	return n && plain(w) && protect_listed(source_suffixes, dot + 1, n);
}

static bool same(struct make_piece a, struct make_piece b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

static bool piece_is(struct make_piece p, const char *s)
{
	return p.n == strlen(s) && memcmp(p.p, s, p.n) == 0;
}

/* Would it swallow the line that is put behind it? Only the last line of a file can end so. */
static bool joins_next(struct make_piece p)
{
	size_t slashes = 0;

	p.n -= p.n && p.p[p.n - 1] == '\n';
	while (slashes < p.n && p.p[p.n - 1 - slashes] == '\\')
		slashes++;
	return slashes % 2;
}

static bool has(struct make_piece text, const char *what)
{
	return text.n && memmem(text.p, text.n, what, strlen(what));
}

static bool is_active(struct make_piece text)
{
	for (size_t i = 0; i < ARRAY_SIZE(active); i++)
		if (has(text, active[i]))
			return true;
	return false;
}

/* Are the words of @old in @new in this order, and all others of @new such as @more takes? */
static bool extends(struct make_piece old, struct make_piece new, bool (*more)(struct make_piece),
		    bool *ret_listed)
{
	size_t i = 0, k = 0;
	struct make_piece a, b;
	bool left = protect_make_word(old, &i, &a), listed = false;

	while (protect_make_word(new, &k, &b)) {
		if (left && same(a, b)) {
			listed |= is_source(a);
			left = protect_make_word(old, &i, &a);
		} else if (!more(b)) {
			return false;
		}
	}
	if (ret_listed)
		*ret_listed = listed;
	return !left;
}

/* A list of files may grow, a command may not become another one: the list must hold a file already. */
static bool extends_list(struct make_piece old, struct make_piece new)
{
	bool listed;

	return extends(old, new, is_source, &listed) && listed;
}

static struct make_piece line_of(struct make_piece *rest)
{
	const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct make_piece line = { rest->p, nl ? (size_t)(nl - rest->p) : rest->n };
	size_t used = nl ? line.n + 1 : line.n;

	rest->p += used;
	rest->n -= used;
	return line;
}

static bool extends_recipe(struct make_piece old, struct make_piece new)
{
	while (old.n && new.n) {
		struct make_piece a = line_of(&old), b = line_of(&new);

		if (!same(a, b) && !extends_list(a, b))
			return false;
	}
	return !old.n && !new.n;
}

/* May @new stand where the base has @old? */
static bool may_replace(const struct make_statement *old, const struct make_statement *new)
{
	if (same(old->all, new->all))
		return true;
	if (old->kind != new->kind || !same(old->name, new->name) || !same(old->op, new->op) ||
	    joins_next(new->all))
		return false;
	if (old->kind == MAKE_ASSIGN)
		return same(old->value, new->value) || extends_list(old->value, new->value);
	if (old->kind != MAKE_RULE || !extends_recipe(old->recipe, new->recipe))
		return false;
	if (piece_is(old->name, ".PHONY"))
		return extends(old->value, new->value, plain, NULL);
	return extends(old->value, new->value, is_source, NULL);
}

/* Is @name a word of @text, in whatever role? */
static bool mentioned(struct make_piece text, struct make_piece name)
{
	for (size_t at = 0; at + name.n <= text.n;) {
		const char *hit = memmem(text.p + at, text.n - at, name.p, name.n);
		size_t from, to;

		if (!hit)
			return false;
		from = (size_t)(hit - text.p);
		to = from + name.n;
		if ((!from || !strchr(plain_chars, text.p[from - 1])) &&
		    (to == text.n || !strchr(plain_chars, text.p[to])))
			return true;
		at = from + 1;
	}
	return false;
}

struct merging {
	struct make_piece base; /* text */
	struct make_file old, now;
	bool computed; /* the base makes names of targets that are not in its text */
	bool apart;    /* the base has command lines apart from their rule */
};

static const struct make_statement *variable(const struct merging *m, struct make_piece name)
{
	for (size_t i = 0; i < m->old.n; i++)
		if (m->old.v[i].kind == MAKE_ASSIGN && same(m->old.v[i].name, name))
			return &m->old.v[i];
	return NULL;
}

static bool may_assign(const struct merging *m, const struct make_statement *s)
{
	const struct make_statement *old = variable(m, s->name);
	bool listed;

	if (protect_listed(special_names, s->name.p, s->name.n) || is_active(s->value) ||
	    s->op.p[0] == '!')
		return false;
	if (!old)
		return plain(s->name) && !mentioned(m->base, s->name);
	/* "SRC += new.c" where the base has "SRC = a.c": a list, which grows. */
	return s->op.p[0] == '+' && extends(old->value, old->value, is_source, &listed) && listed &&
	       extends((struct make_piece){ 0 }, s->value, is_source, NULL);
}

/* "$(CC) $(CFLAGS) -c -o $@ $<": a compiler and words that are no shell's. */
static bool is_compile(struct make_piece line)
{
	static const char compilers[] = "$(CC)|$(CXX)|${CC}|${CXX}|cc|gcc|clang|c++|g++|clang++";
	static const char *const tricks[] = { "-include", "-imacros", "-specs", "-wrapper",
					      "-fplugin", "-B",       "-T",     "-Wl",
					      "-Wa",      "-Xlinker", "-x",     "@./" };
	static const char more[] = "$()@<^*={} \t";
	struct make_piece word;
	size_t at = 0;

	if (line.n && line.p[0] == '\t') {
		line.p++;
		line.n--;
	}
	if (line.n && line.p[0] == '@') {
		line.p++;
		line.n--;
	}
	if (!protect_make_word(line, &at, &word) || !protect_listed(compilers, word.p, word.n))
		return false;
	for (size_t i = 0; i < line.n; i++)
		if (!line.p[i] || (!strchr(plain_chars, line.p[i]) && !strchr(more, line.p[i])))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(tricks); i++)
		if (has(line, tricks[i]))
			return false;
	return !is_active(line);
}

static bool recipe_compiles(struct make_piece recipe)
{
	while (recipe.n)
		if (!is_compile(line_of(&recipe)))
			return false;
	return true;
}

/* Can no test reach the target @t by its name? */
static bool out_of_reach(const struct merging *m, struct make_piece t)
{
	return !m->computed && plain(t) && !memchr(t.p, '.', t.n) && !memchr(t.p, '/', t.n) &&
	       !str_starts(t.p, "test") && !str_starts(t.p, "check") && !mentioned(m->base, t);
}

static bool may_rule(const struct merging *m, const struct make_statement *s)
{
	struct make_piece target;
	size_t at = 0;

	if (piece_is(s->name, ".PHONY"))
		return !s->recipe.n && extends((struct make_piece){ 0 }, s->value, plain, NULL);
	/* Dependencies alone: what is built first, not how. */
	if (!s->recipe.n)
		return extends((struct make_piece){ 0 }, s->name, is_source, NULL) &&
		       extends((struct make_piece){ 0 }, s->value, is_source, NULL);
	while (protect_make_word(s->name, &at, &target)) {
		if (out_of_reach(m, target))
			continue;
		if (!is_source(target) || mentioned(m->base, target) || !recipe_compiles(s->recipe))
			return false;
	}
	return !is_active(s->value);
}

static bool may_insert(const struct merging *m, const struct make_statement *s)
{
	if (joins_next(s->all))
		return false;
	switch (s->kind) {
	case MAKE_BLANK:
		return true;
	case MAKE_ASSIGN:
		return may_assign(m, s);
	case MAKE_RULE:
		return may_rule(m, s);
	default:
		return false;
	}
}

/* What must be equal for a statement to take another's place. */
static uint64_t key_of(const struct make_statement *s)
{
	bool named = s->kind == MAKE_ASSIGN || s->kind == MAKE_RULE;
	struct make_piece p = named ? s->name : s->all;

	return (map_hash(p.p, p.n) ^ map_hash(s->op.p, s->op.n) * 31) * 8 + (uint64_t)s->kind;
}

/* Give each statement of the patch its twin: the next one of the base that has the same key. */
static void pair(struct merging *m)
{
	struct map first = { 0 };
	auto_free size_t *next =
		mem_zalloc(m->old.n + 1, sizeof(*next)); /* same key, behind; 0 = none */

	for (size_t i = m->old.n; i-- > 0;) {
		struct make_statement *s = &m->old.v[i], *later = map_get(&first, key_of(s));

		next[i] = later ? (size_t)(later - m->old.v) : 0;
		if (s->kind != MAKE_BLANK)
			map_put(&first, key_of(s), s);
	}
	for (size_t i = 0; i < m->now.n; i++) {
		struct make_statement *s = &m->now.v[i], *twin = map_get(&first, key_of(s));
		size_t at = twin ? (size_t)(twin - m->old.v) : 0;

		if (s->kind == MAKE_BLANK || !twin)
			continue;
		s->twin = twin;
		twin->taken = true;
		if (next[at])
			map_put(&first, key_of(s), &m->old.v[next[at]]);
		else
			map_del(&first, key_of(s));
	}
	map_done(&first);
}

static void put(const struct make_piece *p, struct buf *out)
{
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	buf_add(out, p->p, p->n);
}

/* All of the base in its order, each statement followed by what the patch has behind it. */
static void join(struct merging *m, struct buf *out)
{
	const struct make_statement **mine = mem_zalloc(m->old.n + 1, sizeof(*mine));
	auto_buf late = BUF_INIT(PROTECT_MERGE_MAX);
	size_t *start =
		mem_zalloc(m->old.n + 2, sizeof(*start)); /* 1 + index in now, behind twin */
	bool ruled = false;

	start[0] = 1;
	for (size_t i = 0; i < m->now.n; i++) {
		const struct make_statement *s = &m->now.v[i];

		if (!s->twin)
			continue;
		mine[s->twin - m->old.v] = s;
		start[s->twin - m->old.v + 1] = i + 2;
	}
	for (size_t i = 0; i <= m->old.n; i++) {
		const struct make_statement *s = i ? &m->old.v[i - 1] : NULL;

		if (s && s->kind != MAKE_BLANK) {
			const struct make_statement *own = mine[i - 1];

			put(own && may_replace(s, own) ? &own->all : &s->all, out);
			ruled |= s->kind == MAKE_RULE;
		}
		for (size_t k = start[i]; k && k <= m->now.n && !m->now.v[k - 1].twin; k++) {
			const struct make_statement *n = &m->now.v[k - 1];

			/* In front of the base's first rule it would be the default goal, and between
			 * a condition and the command lines in it the end of their rule. */
			if (may_insert(m, n))
				put(&n->all,
				    n->kind != MAKE_BLANK &&
						    (m->apart || (n->kind == MAKE_RULE && !ruled))
					    ? &late
					    : out);
		}
	}
	if (late.len)
		put(&(struct make_piece){ late.data, late.len }, out);
	free(mine);
	free(start);
}

/* Conditions and definitions must stand as they stood: moved or multiplied they would change what the
 * rest means. */
static bool same_frame(const struct make_file *a, const struct make_file *b)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a->n && a->v[i].kind != MAKE_COND)
			i++;
		while (k < b->n && b->v[k].kind != MAKE_COND)
			k++;
		if (i == a->n || k == b->n)
			return i == a->n && k == b->n;
		if (!same(a->v[i++].all, b->v[k++].all))
			return false;
	}
}

static int merge(const struct protect_file *f, struct merging *m, struct buf *out)
{
	const struct make_piece now = { f->after, f->after_len };

	if (f->before_len > TEXT_MAX || f->after_len > TEXT_MAX)
		return 0;
	if (protect_make_read(f->before, f->before_len, &m->old) < 0 ||
	    protect_make_read(f->after, f->after_len, &m->now) < 0)
		return 0;
	m->base = (struct make_piece){ f->before, f->before_len };
	m->computed = has(m->base, "wildcard") || has(m->base, "basename") ||
		      has(m->base, "patsubst") || is_active(m->base);
	if (!same_frame(&m->old, &m->now) || has(m->base, "define ") || has(now, "define ") ||
	    has(m->base, ".RECIPEPREFIX"))
		return 0;
	for (size_t i = 0; i < m->old.n; i++)
		m->apart |= m->old.v[i].kind == MAKE_OTHER && *m->old.v[i].all.p == '\t';
	pair(m);
	join(m, out);
	return 1;
}

int protect_merge_make(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	struct merging m = { 0 };
	int rc;

	(void)arg;
	/* A new one in a directory of its own is found by nobody; others may come before the base's. */
	if (!all ||
	    (!f->before && strchr(f->path, '/') && str_eq(path_base(f->path), "Makefile"))) {
		buf_add(out, f->after, f->after_len);
		return 1;
	}
	if (!f->before || memchr(f->after, '\0', f->after_len))
		return 0;
	rc = merge(f, &m, out);
	protect_make_done(&m.old);
	protect_make_done(&m.now);
	return rc;
}

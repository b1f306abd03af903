/* Diff text into the one form that libgit2 reads. Only headers are rewritten; what a hunk says is
 * left to the parser. */
#include "triggers/apply_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define COUNT_MAX 10000000000ul /* larger numbers of a hunk header are cut to this */

struct span {
	const char *p;
	size_t n;
};

/* Reading position: one line at a time. */
struct cursor {
	const char *p, *end;
	size_t line; /* number of the line at p, from 1 */
};

/* What stands in front of the hunks of one file. */
struct head {
	bool git; /* began with "diff --git" */
	bool added, deleted, no_prefix;
	bool pair;         /* has "---" and "+++" */
	bool binary;       /* a binary change follows */
	const char *moved; /* "rename" or "copy", NULL = neither */
	struct buf index;  /* the index line, empty = none */
	unsigned seen;     /* bit per row of ext_rows */
	char *old, *new;   /* owned: names without prefix, NULL = unknown or /dev/null */
	struct buf ext;    /* lines about modes, as they are */
};

static struct span line_at(const struct cursor *c)
{
	const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
	size_t n = nl ? (size_t)(nl - c->p) : (size_t)(c->end - c->p);

	return (struct span){ c->p, n };
}

static void line_next(struct cursor *c)
{
	struct span s = line_at(c);

	c->p += s.n;
	if (c->p < c->end)
		c->p++;
	c->line++;
}

static bool span_starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static struct span span_chomp(struct span s)
{
	while (s.n && (s.p[s.n - 1] == '\r' || s.p[s.n - 1] == ' '))
		s.n--;
	return s;
}

/* A C-quoted name as git writes it. NULL when it is malformed or holds a NUL; *used counts the
 * bytes with quotes. Caller frees. */
static char *unquote(struct span s, size_t *used)
{
	static const char from[] = "abtnvfr\"\\", to[] = "\a\b\t\n\v\f\r\"\\";
	auto_free char *out = mem_zalloc(s.n + 1, 1);
	size_t o = 0, i = 1;

	for (; i < s.n && s.p[i] != '"'; i++) {
		const char *e;
		unsigned v = 0;

		if (s.p[i] != '\\') {
			out[o++] = s.p[i];
			continue;
		}
		if (++i >= s.n)
			return NULL;
		e = strchr(from, s.p[i]);
		if (e && *e) {
			out[o++] = to[e - from];
			continue;
		}
		for (int k = 0; k < 3; k++, i++) {
			if (i >= s.n || s.p[i] < '0' || s.p[i] > '7')
				return NULL;
			v = v * 8 + (unsigned)(s.p[i] - '0');
		}
		i--;
		if (v == 0 || v > 255)
			return NULL;
		out[o++] = (char)v;
	}
	if (i >= s.n)
		return NULL;
	*used = i + 1;
	return take_ptr(&out);
}

/* The name on a "--- " or "+++ " line: quoted, or up to a TAB (timestamps, git's mark of
 * blanks). */
static char *name_of(struct span s)
{
	const char *tab;
	size_t used;

	if (s.n && s.p[0] == '"')
		return unquote(s, &used);
	tab = memchr(s.p, '\t', s.n);
	if (tab)
		s.n = (size_t)(tab - s.p);
	else
		s = span_chomp(s);
	if (memchr(s.p, '\0', s.n))
		return NULL;
	return mem_strndup(s.p, s.n);
}

/* Strip "a/" and the like (one component). */
static char *without_prefix(char *name, bool no_prefix)
{
	const char *slash = no_prefix ? NULL : strchr(name, '/');
	char *r = slash && slash[1] ? mem_strdup(slash + 1) : mem_strdup(name);

	free(name);
	return r;
}

/* Both names of "diff --git X Y"; they are unquoted and may hold blanks, so the only safe split of
 * unquoted ones is into equal halves. Leaves NULL where it cannot tell. */
static void git_names(struct span s, struct head *h)
{
	char *x = NULL, *y = NULL;
	size_t used = 0;

	if (s.n && s.p[0] == '"') {
		x = unquote(s, &used);
		if (x && used + 1 < s.n)
			y = name_of((struct span){ s.p + used + 1, s.n - used - 1 });
	} else if (s.n >= 2 && s.p[s.n - 1] == '"') {
		const char *q = memchr(s.p, '"', s.n - 1);

		if (q && q > s.p + 1) {
			x = mem_strndup(s.p, (size_t)(q - s.p - 1));
			y = unquote((struct span){ q, s.n - (size_t)(q - s.p) }, &used);
		}
	} else if (s.n % 2 == 1 && s.p[s.n / 2] == ' ') {
		x = mem_strndup(s.p, s.n / 2);
		y = mem_strndup(s.p + s.n / 2 + 1, s.n / 2);
	}
	if (!x || !y) {
		const char *sp = memchr(s.p, ' ', s.n);

		free(x);
		free(y);
		x = y = NULL;
		if (sp && !memchr(sp + 1, ' ', s.n - (size_t)(sp + 1 - s.p)) && s.p[0] != '"') {
			x = mem_strndup(s.p, (size_t)(sp - s.p));
			y = mem_strndup(sp + 1, s.n - (size_t)(sp + 1 - s.p));
		}
	}
	if (!x || !y) {
		free(x);
		free(y);
		return;
	}
	/* "git diff --no-prefix" names the file twice in the same way */
	h->no_prefix = strcmp(x, y) == 0;
	h->old = without_prefix(x, h->no_prefix);
	h->new = without_prefix(y, h->no_prefix);
}

static void set_name(char **where, char *name)
{
	free(*where);
	*where = name;
}

/* "old/src/x.c" and "new/src/x.c", as "diff -r old new" writes them: the first component is no part of the name. */
static bool other_prefix(const char *old, const char *new)
{
	const char *a = strchr(old, '/'), *b = strchr(new, '/');

	return a && b && a[1] && strcmp(a, b) == 0 && strcmp(old, new) != 0;
}

/* "--- old" and "+++ new" with @c at the first. 0, or -1 for malformed names. */
static int pair_names(struct cursor *c, struct head *h)
{
	struct span s = line_at(c);
	auto_free char *old = name_of((struct span){ s.p + 4, s.n - 4 });
	auto_free char *new = NULL;
	bool epoch = memmem(s.p, s.n, "\t1970-01-01 ", 12) != NULL;
	bool prefixed;

	line_next(c);
	s = line_at(c);
	new = name_of((struct span){ s.p + 4, s.n - 4 });
	if (!old || !new)
		return -1;
	line_next(c);
	h->pair = true;
	if (!h->git) {
		prefixed = (str_starts(old, "a/") || str_eq(old, "/dev/null")) &&
			   (str_starts(new, "b/") || str_eq(new, "/dev/null"));
		h->no_prefix = !prefixed && !other_prefix(old, new);
		h->added = str_eq(old, "/dev/null") || epoch;
		h->deleted = str_eq(new, "/dev/null");
	}
	if (!str_eq(old, "/dev/null"))
		set_name(&h->old, without_prefix(take_ptr(&old), h->no_prefix));
	if (!str_eq(new, "/dev/null"))
		set_name(&h->new, without_prefix(take_ptr(&new), h->no_prefix));
	/* plain diffs name two versions of one file: the new name is the one to change */
	if (!h->git && h->old && h->new)
		set_name(&h->old, mem_strdup(h->new));
	return 0;
}

static void quote(struct buf *out, const char *prefix, const char *name)
{
	buf_addc(out, '"');
	buf_adds(out, prefix);
	for (const char *p = name; *p; p++) {
		unsigned char ch = (unsigned char)*p;

		if (ch == '"' || ch == '\\')
			buf_addf(out, "\\%c", ch);
		else if (ch < 0x20 || ch >= 0x7f)
			buf_addf(out, "\\%03o", ch);
		else
			buf_addc(out, (char)ch);
	}
	buf_addc(out, '"');
}

/* "index 1234567..89abcde 100644": libgit2 wants at least four digits and an end, people
 * write less. */
static void put_index(struct head *h, struct span s)
{
	const char *dots = memmem(s.p, s.n, "..", 2), *mode = memrchr(s.p, ' ', s.n);
	const char *end = mode && mode > s.p + 6 ? mode : s.p + s.n;
	bool good = dots && dots - (s.p + 6) >= 4 && end - (dots + 2) >= 4;

	for (const char *p = s.p + 6; good && p < end; p++)
		good = isxdigit((unsigned char)*p) || p == dots || p == dots + 1;
	if (good)
		buf_add(&h->index, s.p, s.n);
	else
		buf_addf(&h->index, "index 0000000..0000000%.*s", (int)(s.p + s.n - end), end);
	buf_addc(&h->index, '\n');
}

static void put_as_is(struct head *h, struct span s)
{
	buf_add(&h->ext, s.p, s.n);
	buf_addc(&h->ext, '\n');
}

static void put_added(struct head *h, struct span s)
{
	h->added = true;
	put_as_is(h, s);
}

static void put_deleted(struct head *h, struct span s)
{
	h->deleted = true;
	put_as_is(h, s);
}

/* "rename from NAME" and its like. An empty or malformed name leaves what the first line said. */
static void put_moved(struct head *h, struct span s)
{
	const char *at = memchr(s.p + 7, ' ', s.n - 7); /* behind "from" or "to" */
	size_t n = at ? (size_t)(at + 1 - s.p) : s.n;
	char *name = name_of((struct span){ s.p + n, s.n - n });
	bool to = memmem(s.p, n, " to ", 4) != NULL;

	if (!name || !*name) {
		free(name);
		return;
	}
	h->moved = s.p[0] == 'r' ? "rename" : "copy";
	set_name(to ? &h->new : &h->old, name);
}

static void put_nothing(struct head *h, struct span s)
{
	(void)h; /* how similar two names' contents are is told by the hunks */
	(void)s;
}

/* Extended header lines of a git diff. */
static const struct {
	const char *word;
	void (*put)(struct head *h, struct span s);
} ext_rows[] = {
	{ "old mode ", put_as_is },
	{ "new mode ", put_as_is },
	{ "new file mode ", put_added },
	{ "deleted file mode ", put_deleted },
	{ "similarity index ", put_nothing },
	{ "dissimilarity index ", put_nothing },
	{ "rename from ", put_moved },
	{ "rename to ", put_moved },
	{ "copy from ", put_moved },
	{ "copy to ", put_moved },
	{ "index ", put_index },
};

/* One extended header line; false when it is none. Said twice, the first counts: libgit2 1.5 loses
 * memory on a second one. */
static bool ext_line(struct head *h, struct span s)
{
	s = span_chomp(s);
	for (size_t i = 0; i < ARRAY_SIZE(ext_rows); i++) {
		if (!span_starts(s, ext_rows[i].word))
			continue;
		if (!(h->seen & (1u << i)))
			ext_rows[i].put(h, s);
		h->seen |= 1u << i;
		return true;
	}
	return false;
}

static bool at_pair(const struct cursor *c)
{
	struct cursor n = *c;

	if (!span_starts(line_at(c), "--- "))
		return false;
	line_next(&n);
	return n.p < n.end && span_starts(line_at(&n), "+++ ");
}

static void put_head(const struct head *h, struct buf *out)
{
	const char *old = h->old ? h->old : h->new, *new = h->new ? h->new : h->old;

	buf_adds(out, "diff --git ");
	quote(out, "a/", old);
	buf_addc(out, ' ');
	quote(out, "b/", new);
	buf_addc(out, '\n');
	if (!h->git && h->added)
		buf_adds(out, "new file mode 100644\n");
	else if (!h->git && h->deleted)
		buf_adds(out, "deleted file mode 100644\n");
	buf_add(out, buf_str(&h->ext), h->ext.len);
	if (h->moved && h->old && h->new) {
		buf_addf(out, "similarity index 100%%\n%s from ", h->moved);
		quote(out, "", old);
		buf_addf(out, "\n%s to ", h->moved);
		quote(out, "", new);
		buf_addc(out, '\n');
	}
	buf_add(out, buf_str(&h->index), h->index.len);
	/* an empty file that comes or goes has no such lines, and then libgit2 1.5 takes no other file
	 * behind it */
	if (!h->pair && (h->binary || (!h->added && !h->deleted)))
		return;
	/* libgit2 takes "---" behind a mode or a rename only with an index line between */
	if (!h->index.len)
		buf_adds(out, "index 0000000..0000000\n");
	buf_adds(out, "--- ");
	if (h->added)
		buf_adds(out, "/dev/null");
	else
		quote(out, "a/", old);
	buf_adds(out, "\n+++ ");
	if (h->deleted)
		buf_adds(out, "/dev/null");
	else
		quote(out, "b/", new);
	buf_addc(out, '\n');
}

static void head_done(struct head *h)
{
	free(h->old);
	free(h->new);
	buf_done(&h->ext);
	buf_done(&h->index);
}

/* Read the header at @c and write its canonical form. 0 or -ERR_INPUT. */
static int do_head(struct cursor *c, struct buf *out, struct err *err)
{
	__attribute__((cleanup(head_done))) struct head h = { .ext = BUF_INIT(64u << 10),
							      .index = BUF_INIT(64u << 10) };
	struct span s = line_at(c);
	size_t at = c->line;

	if (span_starts(s, "diff --git ")) {
		h.git = true;
		git_names(span_chomp((struct span){ s.p + 11, s.n - 11 }), &h);
		line_next(c);
		while (c->p < c->end && ext_line(&h, line_at(c)))
			line_next(c);
	}
	if (c->p < c->end && at_pair(c) && pair_names(c, &h) < 0)
		return err_set(err, ERR_INPUT, "diff: malformed file name at line %zu", c->line);
	h.binary = c->p < c->end && (span_starts(line_at(c), "GIT binary patch") ||
				     span_starts(line_at(c), "Binary files "));
	if (!h.old && !h.new)
		return err_set(err, ERR_INPUT, "diff: no file name can be read at line %zu", at);
	if ((h.old && !path_is_tame(h.old)) || (h.new && !path_is_tame(h.new)))
		return err_set(err, ERR_INPUT,
			       "diff: line %zu: \"%s\" is not a plain path below the repository",
			       at, h.old && !path_is_tame(h.old) ? h.old : h.new);
	put_head(&h, out);
	return 0;
}

static void origin_add(struct patch_origins *o, size_t out, size_t src)
{
	MEM_GROW(o->v, o->cap, o->n + 1);
	o->v[o->n++] = (struct patch_origin){ out, src };
}

size_t patch_text_origin(const struct patch_origins *origins, size_t out)
{
	size_t r = out;

	for (size_t i = 0; i < origins->n && origins->v[i].out <= out; i++)
		r = out - origins->v[i].out + origins->v[i].src;
	return r;
}

/* Counts of a hunk header "@@ -a,b +c,d @@"; false when it is none. */
static bool hunk_counts(struct span s, uint64_t *old_n, uint64_t *new_n)
{
	unsigned long v[4] = { 0, 1, 0, 1 };
	const char *p = s.p + 4, *end = s.p + s.n;

	if (!span_starts(s, "@@ -"))
		return false;
	for (int side = 0; side < 2; side++) {
		for (int k = 0; k < 2; k++) {
			unsigned long x = 0;
			const char *from = p;

			for (; p < end && isdigit((unsigned char)*p); p++)
				x = x < COUNT_MAX ? x * 10 + (unsigned long)(*p - '0') : COUNT_MAX;
			if (p == from)
				return false;
			v[side * 2 + k] = x;
			if (k == 0 && !(p < end && *p == ','))
				break;
			p += k == 0;
		}
		if (side == 0) {
			if (end - p < 2 || p[0] != ' ' || p[1] != '+')
				return false;
			p += 2;
		}
	}
	*old_n = v[1];
	*new_n = v[3];
	return true;
}

/* One line of a hunk's body; counts it down. */
static void hunk_line(struct span s, struct buf *out, uint64_t *old_n, uint64_t *new_n)
{
	char kind = s.n ? s.p[0] : ' ';

	/* an empty context line whose blank an editor or a mailer ate, with CRLF ends */
	if (s.n == 1 && kind == '\r') {
		kind = ' ';
		buf_addc(out, ' ');
	}
	if (kind == ' ' || kind == '-')
		*old_n -= *old_n > 0;
	if (kind == ' ' || kind == '+')
		*new_n -= *new_n > 0;
	if (kind != ' ' && kind != '-' && kind != '+' && kind != '\\')
		*old_n = *new_n = 0; /* the parser will complain, with the line */
	buf_add(out, s.p, s.n);
	buf_addc(out, '\n');
}

/* Where the rewriting is. */
struct normal {
	struct cursor c;
	struct buf *out;
	struct patch_origins *origins;
	uint64_t old_n, new_n; /* lines that the present hunk still has */
	size_t at;             /* number of the line that is written next */
	bool after_hunk;       /* the line before this one was a hunk's last */
	bool binary;           /* inside the data of a binary change */
};

/* All headers that begin here. */
static int do_heads(struct normal *m, struct err *err)
{
	while (m->c.p < m->c.end &&
	       (span_starts(line_at(&m->c), "diff --git ") || at_pair(&m->c))) {
		size_t from = m->out->len;

		if (do_head(&m->c, m->out, err) < 0)
			return -ERR_INPUT;
		for (size_t i = from; i < m->out->len; i++)
			m->at += m->out->data[i] == '\n';
		origin_add(m->origins, m->at, m->c.line);
		m->after_hunk = m->binary = false;
	}
	return 0;
}

/* A line between hunks. What means nothing there (mail text, "Only in ...") is left out: libgit2
 * would take some of it for headers. */
static int do_between(struct normal *m, struct span s, struct err *err)
{
	bool hunk = hunk_counts(s, &m->old_n, &m->new_n);

	if (m->after_hunk && s.n && strchr("+- ", s.p[0]) && !span_starts(s, "-- ") &&
	    !(s.n == 2 && s.p[0] == '-' && s.p[1] == '-'))
		return err_set(err, ERR_INPUT,
			       "diff: line %zu: the hunk has more lines than its header says",
			       m->c.line);
	if (span_starts(s, "diff --cc ") || span_starts(s, "diff --combined ") ||
	    span_starts(s, "@@@ "))
		return err_set(
			err, ERR_INPUT,
			"diff: line %zu: a combined diff of a merge; give a diff between two trees",
			m->c.line);
	m->binary |= span_starts(s, "GIT binary patch");
	m->after_hunk = m->after_hunk && s.n && s.p[0] == '\\';
	if (hunk || m->binary || m->after_hunk || span_starts(s, "Binary files ") ||
	    span_starts(s, "@@ ")) {
		buf_add(m->out, s.p, s.n);
		buf_addc(m->out, '\n');
		m->at++;
	} else
		origin_add(m->origins, m->at, m->c.line + 1);
	return 0;
}

int patch_text_normal(const char *text, size_t n, struct buf *out, struct patch_origins *origins,
		      struct err *err)
{
	struct normal m = { .c = { text, text + n, 1 }, .out = out, .origins = origins, .at = 1 };

	while (m.c.p < m.c.end) {
		if (m.c.line > PATCH_LINES_MAX)
			return err_set(err, ERR_INPUT, "diff: more than %u lines", PATCH_LINES_MAX);
		if (m.old_n || m.new_n) {
			hunk_line(line_at(&m.c), out, &m.old_n, &m.new_n);
			m.at++;
			m.after_hunk = !m.old_n && !m.new_n;
		} else {
			if (do_heads(&m, err) < 0)
				return -ERR_INPUT;
			if (m.c.p >= m.c.end)
				break;
			if (do_between(&m, line_at(&m.c), err) < 0)
				return -ERR_INPUT;
		}
		line_next(&m.c);
	}
	if (out->full)
		return err_set(err, ERR_INPUT, "diff: larger than %u bytes", APPLY_DIFF_MAX);
	return 0;
}

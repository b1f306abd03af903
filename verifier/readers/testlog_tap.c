/* TAP 12, 13 and 14 (testanything.org), as Test::More, prove -v, tape, node-tap and node --test
 * print it.
 *
 * Ids: the description with its escapes undone; "test N" when there is none. Subtests are joined
 * by " > ", and the parent has a result of its own. With tape, a "# title" line is put in front:
 * "title: description"; only for lines in tape's form "ok 1 text", never for "ok 1 - text", so
 * that diagnostics of other producers stay out of ids. With prove -v the test file goes in front:
 * "t/a.t: description".
 *
 * Complete means that every document and every subtest announced a plan and kept it, tests that have
 * numbers have them in order, and nobody bailed out. A line that a test printed by itself breaks the
 * count or the order, so forging shows. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

#define TAP_DEPTH_MAX 16
#define TAP_INDENT    4 /* blanks per level of subtests */
#define TAP_NONE      SIZE_MAX

/* One result before its parents are known: they come after their children. */
struct entry {
	char *name; /* owned */
	enum test_status status;
	unsigned depth;
	size_t parent; /* entry, TAP_NONE at the root */
	uint64_t from, to;
};

/* What is known of the open document of one level. */
struct level {
	uint64_t count, plan;
	bool planned, trailing; /* trailing: the plan came behind results and closed the document */
	size_t buffered;        /* entry that ended with "{", until its "}"; TAP_NONE */
};

struct tap {
	const struct testlog_input *in;
	struct test_results *out;
	bool titles;
	bool part;       /* of a log that another reader divides: no headers of prove */
	struct entry *v; /* owned */
	size_t n, cap, bytes;
	struct level level[TAP_DEPTH_MAX + 1];
	char *title; /* owned: tape's last comment */
	char *file;  /* owned: prove's header */
	bool yaml;   /* inside a block behind a result */
	unsigned yaml_indent, last_depth;
};

/* A result line taken apart; strings point into the line. */
struct result_line {
	bool ok, dashed, brace;
	uint64_t number; /* 0 = none */
	const char *text;
	size_t len;
	enum test_status status;
};

/* Is there a directive at the "#" of @s? Then the status it makes of @ok. */
static bool directive(const char *s, bool ok, enum test_status *status)
{
	while (*s == '#' || *s == ' ' || *s == '\t')
		s++;
	if (strncasecmp(s, "skip", 4) == 0) {
		*status = TEST_SKIPPED;
		return true;
	}
	if (strncasecmp(s, "todo", 4) == 0 && !isalnum((unsigned char)s[4])) {
		*status = ok ? TEST_XPASS : TEST_XFAIL;
		return true;
	}
	return strncmp(s, "time=", 5) == 0; /* node-tap's duration is no part of the name */
}

/* Cut the description at its directive: the first unescaped "#" that is one. */
static void cut_directive(struct result_line *r)
{
	for (size_t i = 0; i < r->len; i++) {
		if (r->text[i] == '\\' && i + 1 < r->len) {
			i++;
		} else if (r->text[i] == '#' &&
			   (i == 0 || r->text[i - 1] == ' ' || r->text[i - 1] == '\t') &&
			   directive(r->text + i, r->ok, &r->status)) {
			r->len = i;
			break;
		}
	}
	while (r->len && (r->text[r->len - 1] == ' ' || r->text[r->len - 1] == '\t'))
		r->len--;
}

/* "ok" or "not ok", number, description, directive. */
static bool parse_result(const char *s, struct result_line *ret)
{
	struct result_line r = { .ok = strncmp(s, "not ", 4) != 0 };

	if (!r.ok)
		for (s += 4; *s == ' ';)
			s++;
	if (strncmp(s, "ok", 2) != 0 || (s[2] && s[2] != ' ' && s[2] != '\t'))
		return false;
	s += 2;
	while (*s == ' ' || *s == '\t')
		s++;
	s += testlog_digits(s, &r.number);
	while (*s == ' ' || *s == '\t')
		s++;
	if (s[0] == '-' && (!s[1] || s[1] == ' ')) {
		r.dashed = true;
		for (s++; *s == ' ';)
			s++;
	}
	r.text = s;
	r.len = strlen(s);
	r.status = r.ok ? TEST_PASSED : TEST_FAILED;
	/* A buffered subtest opens here, or it is the end of a name: "}" will tell. */
	r.brace = r.len >= 2 && strcmp(s + r.len - 2, " {") == 0;
	cut_directive(&r);
	*ret = r;
	return true;
}

/* Description with "\#" and "\\" undone, or "test N". */
static char *describe(const struct tap *t, const struct result_line *r, unsigned d,
		      uint64_t ordinal)
{
	auto_buf b = BUF_INIT(2 * TESTLOG_LINE_MAX + 2 * TESTLOG_NAME_MAX);

	if (t->file && d == 0)
		buf_addf(&b, "%s: ", t->file);
	if (t->titles && t->title && d == 0 && !r->dashed && r->len)
		buf_addf(&b, "%s: ", t->title);
	if (!r->len)
		buf_addf(&b, "test %llu", (unsigned long long)ordinal);
	for (size_t i = 0; i < r->len; i++) {
		if (r->text[i] == '\\' && i + 1 < r->len &&
		    (r->text[i + 1] == '#' || r->text[i + 1] == '\\'))
			i++;
		buf_addc(&b, r->text[i]);
	}
	return buf_steal(&b, NULL);
}

/* The document of level @d is over: was its plan kept? Deeper levels end with it. */
static void close_level(struct tap *t, unsigned d)
{
	for (unsigned i = TAP_DEPTH_MAX; i + 1 > d; i--) {
		struct level *l = &t->level[i];

		if (l->count && !l->planned)
			testlog_incomplete(t->out, "no plan (1..N) for %llu results%s",
					   (unsigned long long)l->count, i ? " of a subtest" : "");
		else if (l->planned && l->count != l->plan)
			testlog_incomplete(t->out, "plan not met: %llu planned, %llu seen%s",
					   (unsigned long long)l->plan,
					   (unsigned long long)l->count, i ? " in a subtest" : "");
		*l = (struct level){ .buffered = TAP_NONE };
	}
}

/* All results behind @from deeper than @d that have no parent yet belong to entry @parent. */
static void adopt(struct tap *t, size_t from, size_t parent, unsigned d)
{
	for (size_t i = from; i < t->n; i++)
		if (i != parent && t->v[i].depth > d && t->v[i].parent == TAP_NONE)
			t->v[i].parent = parent;
}

/* Start of the run of results at the end of the list that are deeper than @d. */
static size_t deeper(const struct tap *t, unsigned d)
{
	size_t i = t->n;

	while (i && t->v[i - 1].depth > d)
		i--;
	return i;
}

static void on_result(struct tap *t, const struct result_line *r, unsigned d,
		      const struct testlog_line *line)
{
	struct level *l = &t->level[d];
	size_t first = deeper(t, d);

	if (l->trailing)
		close_level(t, d);
	if (d < TAP_DEPTH_MAX)
		close_level(t, d + 1);
	l->count++;
	if (r->number && r->number != l->count)
		testlog_incomplete(t->out, "test %llu stands where test %llu should%s",
				   (unsigned long long)r->number, (unsigned long long)l->count,
				   d ? " in a subtest" : "");
	if (t->n >= TESTLOG_RESULTS_MAX || t->bytes >= TESTLOG_NAMES_MAX) {
		testlog_incomplete(t->out, "more than %u results or %u bytes of names",
				   TESTLOG_RESULTS_MAX, TESTLOG_NAMES_MAX);
		return;
	}
	MEM_GROW(t->v, t->cap, t->n + 1);
	t->v[t->n++] = (struct entry){ .name = describe(t, r, d, l->count),
				       .status = r->status,
				       .depth = d,
				       .parent = TAP_NONE,
				       .from = line->from,
				       .to = line->to };
	t->bytes += strlen(t->v[t->n - 1].name) + 1;
	adopt(t, first, t->n - 1, d);
	l->buffered = r->brace ? t->n - 1 : TAP_NONE;
	t->last_depth = d;
}

/* "1..N": in front of results, or behind them and then the document is over. */
static bool on_plan(struct tap *t, const char *s, unsigned d)
{
	struct level *l = &t->level[d];
	uint64_t n;
	size_t len;

	if (strncmp(s, "1..", 3) != 0)
		return false;
	len = testlog_digits(s + 3, &n);
	if (!len || (s[3 + len] && s[3 + len] != ' ' && s[3 + len] != '\t'))
		return false;
	if (l->planned)
		close_level(t, d);
	l->planned = true;
	l->plan = n;
	l->trailing = l->count > 0;
	return true;
}

/* tape prints "# title" before the assertions of a test and "# tests 3", "# pass  3", "# fail  1",
 * "# ok" at the end. */
static void on_comment(struct tap *t, const char *s)
{
	static const char *const ends[] = { "tests ", "pass ", "fail ", "skip ", "todo " };

	if (!t->titles || s[1] != ' ' || !s[2] || s[2] == ' ')
		return;
	s += 2;
	if (strcmp(s, "ok") == 0 || strcmp(s, "skip") == 0 || strncmp(s, "Subtest: ", 9) == 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (strncmp(s, ends[i], n) == 0 && strspn(s + n, " 0123456789") == strlen(s + n))
			return;
	}
	free(t->title);
	t->title = mem_strndup(s, TESTLOG_NAME_MAX);
}

/* prove -v announces a file by "t/a.t .. " and says "ok" when it is done. */
static bool on_prove(struct tap *t, const char *s)
{
	size_t n = strcspn(s, " "), dots = strspn(s + n + (s[n] == ' '), ".");
	const char *rest = s + n + 1 + dots;

	if (strcmp(s, "ok") == 0 && t->file && t->level[0].planned &&
	    t->level[0].count == t->level[0].plan) {
		close_level(t, 0);
		return true;
	}
	if (!n || s[n] != ' ' || dots < 2 || strspn(rest, " ") != strlen(rest) ||
	    !(memchr(s, '.', n) || memchr(s, '/', n)))
		return false;
	close_level(t, 0);
	free(t->file);
	t->file = mem_strndup(s, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX);
	return true;
}

/* Inside, or at the edge of, the YAML block behind a result (two blanks deeper)? */
static bool in_yaml(struct tap *t, const char *s, unsigned indent)
{
	if (t->yaml) {
		if (indent == t->yaml_indent && strncmp(s, "...", 3) == 0)
			t->yaml = false;
		/* Less indented: the producer died inside the block. */
		else if (*s && indent < t->yaml_indent)
			t->yaml = false;
		else
			return true;
		return indent >= t->yaml_indent;
	}
	if (t->n && indent == t->last_depth * TAP_INDENT + 2 && strncmp(s, "---", 3) == 0 &&
	    strspn(s + 3, " ") == strlen(s + 3)) {
		t->yaml = true;
		t->yaml_indent = indent;
		return true;
	}
	return false;
}

static void on_brace(struct tap *t, unsigned d)
{
	size_t parent = t->level[d].buffered, len;

	if (parent == TAP_NONE)
		return;
	len = strlen(t->v[parent].name);
	if (len > 2 && strcmp(t->v[parent].name + len - 2, " {") == 0)
		t->v[parent].name[len - 2] = '\0';
	if (d < TAP_DEPTH_MAX)
		close_level(t, d + 1);
	t->level[d].buffered = TAP_NONE;
	adopt(t, parent, parent, d);
}

/* A result behind output that did not end its line, "partialok 2 - x": it is lost, and one that was
 * printed before may stand in its place. */
static void on_glued(struct tap *t, const char *s)
{
	uint64_t count = t->level[0].count, number;

	for (const char *at = s; (at = strstr(at, "ok ")); at++) {
		size_t digits = testlog_digits(at + 3, &number);

		if (at > s && digits && (number == count || number == count + 1) && number &&
		    (!at[3 + digits] || str_starts(at + 3 + digits, " - ")))
			testlog_incomplete(t->out, "output stands in front of a result: %.200s", s);
	}
}

static void on_line(struct tap *t, const struct testlog_line *line)
{
	unsigned indent = (unsigned)strspn(line->s, " "), d = indent / TAP_INDENT;
	const char *s = line->s + indent;
	struct result_line r;

	if (in_yaml(t, s, indent))
		return;
	if (indent % TAP_INDENT || d > TAP_DEPTH_MAX)
		return;
	if (strncmp(s, "Bail out!", 9) == 0) {
		testlog_incomplete(t->out, "bailed out:%.200s", s + 9);
	} else if (d == 0 && strncmp(s, "TAP version ", 12) == 0) {
		close_level(t, 0);
	} else if (*s == '#') {
		on_comment(t, s);
	} else if (strcmp(s, "}") == 0) {
		on_brace(t, d);
	} else if (!on_plan(t, s, d) && !(d == 0 && !t->part && on_prove(t, s))) {
		if (parse_result(s, &r))
			on_result(t, &r, d, line);
		else if (d == 0)
			on_glued(t, s);
	}
}

/* Names with their parents in front, in order of appearance. */
static void emit(struct tap *t)
{
	for (size_t i = 0; i < t->n && !testlog_full(t->out); i++) {
		const char *parts[TAP_DEPTH_MAX + 1];
		auto_buf id = BUF_INIT(2 * TESTLOG_NAME_MAX);
		struct testlog_line span = { .from = t->v[i].from, .to = t->v[i].to };
		size_t n = 0;

		for (size_t at = i; at != TAP_NONE && n <= TAP_DEPTH_MAX; at = t->v[at].parent)
			parts[n++] = t->v[at].name;
		while (n--) {
			size_t room = id.max - id.len, len = strlen(parts[n]);

			buf_add(&id, parts[n], len < room ? len : room);
			if (n)
				buf_adds(&id, " > ");
		}
		testlog_put(t->in, t->out, buf_str(&id), id.len, t->v[i].status, &span);
	}
}

/* Read [@it->at, @it->len), then put everything into t->out and free @t. Returns how many results
 * were no subtests'. */
static uint64_t parse(struct tap *t, struct testlog_lines *it)
{
	struct testlog_line line;
	uint64_t top = 0;

	it->returns = true;
	for (size_t i = 0; i < ARRAY_SIZE(t->level); i++)
		t->level[i].buffered = TAP_NONE;
	while (testlog_next(it, &line))
		on_line(t, &line);
	if (!t->n && !t->level[0].planned)
		testlog_incomplete(t->out, "no TAP in the output");
	close_level(t, 0);
	emit(t);
	for (size_t i = 0; i < t->n; i++) {
		top += t->v[i].depth == 0;
		free(t->v[i].name);
	}
	free(t->v);
	free(t->title);
	free(t->file);
	buf_done(&it->text);
	return top;
}

void testlog_tap_parse(const struct testlog_input *in, bool titles, struct test_results *out)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct tap t = { .in = in, .out = out, .titles = titles };

	parse(&t, &it);
}

uint64_t testlog_tap_range(const struct testlog_input *in, size_t from, size_t to, const char *file,
			   struct test_results *out)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, to);
	struct tap t = { .in = in, .out = out, .part = true, .file = mem_strdup(file) };

	it.at = from;
	return parse(&t, &it);
}

int testlog_read_tap(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	(void)err; /* anything is a log; what is wrong with it is in the note */
	testlog_tap_parse(in, true, out);
	return 0;
}

/* The parsers of SWE-bench's harness for which one line is one result: a mark or a word, then the
 * name. Most look at the line without white space at its ends. Whatever prints such a line makes a
 * result. */
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

/* What a line says: takes the name and the status from @line. */
typedef bool line_fn(struct piece line, struct piece *name, enum test_status *s);

static int each_line(const struct testlog_input *in, struct test_results *out, line_fn *fn)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, name;
	enum test_status s;

	while (compat_next(&c, &rest, &line))
		if (fn(compat_strip(line), &name, &s))
			compat_set(&c, name, s);
	return 0;
}

/* A mark (the text of a row) at the front of *p: taken off, its status in *s. */
static bool eat_mark(struct piece *p, const struct testlog_word *rows, size_t n,
		     enum test_status *s)
{
	for (size_t i = 0; i < n; i++)
		if (compat_eat(p, rows[i].text)) {
			*s = rows[i].status;
			return true;
		}
	return false;
}

/* "MARK name": white space between them. */
static bool mark_line(struct piece p, const struct testlog_word *rows, size_t n, struct piece *name,
		      enum test_status *s)
{
	if (!eat_mark(&p, rows, n, s) || !compat_eat_space(&p) || !p.n)
		return false;
	*name = p;
	return true;
}

/* "✓ name (5 ms)" */
static bool jest(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "\u2713", TEST_PASSED },
						     { "\u2715", TEST_FAILED },
						     { "\u25cb", TEST_SKIPPED } };

	if (!mark_line(p, marks, ARRAY_SIZE(marks), name, s))
		return false;
	compat_cut_time(name, true);
	*name = compat_strip(*name);
	return true;
}

/* "[PASSED] name" */
static bool jest_json(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "[PASSED]", TEST_PASSED },
						     { "[FAILED]", TEST_FAILED } };

	return mark_line(p, marks, ARRAY_SIZE(marks), name, s);
}

/* " 5ms", " 5 m", " 5", " [skipped]" at the end of a name that goes on in front of it. */
static void cut_bare_time(struct piece *name)
{
	struct piece p = *name;
	size_t digits = 0, blank;

	if (compat_ends(p, "[skipped]")) {
		p.n -= strlen("[skipped]");
	} else {
		p.n -= compat_ends(p, "s");
		p.n -= compat_ends(p, "m");
		p = compat_rstrip(p);
		for (; p.n && p.s[p.n - 1] >= '0' && p.s[p.n - 1] <= '9'; p.n--)
			digits++;
		if (!digits)
			return;
	}
	blank = compat_space_end(p);
	if (blank && p.n > blank)
		name->n = p.n - blank;
}

/* "✓ name 5ms" */
static bool vitest(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "\u2713", TEST_PASSED },
						     { "\u00d7", TEST_FAILED },
						     { "\u2193", TEST_SKIPPED } };

	if (!mark_line(p, marks, ARRAY_SIZE(marks), name, s))
		return false;
	cut_bare_time(name);
	return true;
}

/* "ok 3 name", all of the line: directives and "- " are part of the name, depth is not looked
 * at. */
static bool tap(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "ok ", TEST_PASSED },
						     { "not ok ", TEST_FAILED } };

	if (!eat_mark(&p, marks, ARRAY_SIZE(marks), s) || !compat_eat_digits(&p) ||
	    !compat_eat(&p, " "))
		return false;
	*name = p;
	return p.n != 0;
}

/* "--- PASS: name (0.00s)", at any depth */
static bool gotest(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "--- PASS: ", TEST_PASSED },
						     { "--- FAIL: ", TEST_FAILED },
						     { "--- SKIP: ", TEST_SKIPPED } };
	const char *open;

	if (!eat_mark(&p, marks, ARRAY_SIZE(marks), s) || !compat_ends(p, ")"))
		return false;
	/* Something must stand between the brackets. */
	open = compat_find_last((struct piece){ p.s, p.n - (p.n > 1 ? 2 : 1) }, " (");
	if (!open || open == p.s)
		return false;
	*name = compat_before(p, open);
	return true;
}

/* "test name ... ok": four words, so that a name with a blank is none. */
static bool cargo(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word ends[] = { { "ok", TEST_PASSED },
						    { "FAILED", TEST_FAILED } };
	struct piece first = compat_word(&p), dots, last;

	*name = compat_word(&p);
	dots = compat_word(&p);
	last = compat_word(&p);
	return compat_equal(first, "test") && name->n && compat_equal(dots, "...") &&
	       !compat_word(&p).n && testlog_word(ends, ARRAY_SIZE(ends), last.s, last.n, s);
}

/* "[junit] [PASS] name" */
static bool ant(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "[PASS]", TEST_PASSED },
						     { "[FAIL]", TEST_FAILED },
						     { "[ERR]", TEST_FAILED } };

	if (!compat_eat(&p, "[junit]") || !compat_space(p))
		return false;
	p = compat_lstrip(p);
	if (!mark_line(p, marks, ARRAY_SIZE(marks), name, s))
		return false;
	*name = compat_lstrip(*name);
	return true;
}

/* " in tests/x.tcl" at the end */
static void cut_place(struct piece *name)
{
	struct piece p = *name;
	size_t n = p.n;

	while (n && !compat_space_end((struct piece){ p.s, n }))
		n--;
	if (n == p.n)
		return;
	p = compat_rstrip((struct piece){ p.s, n });
	if (!compat_ends(p, "in"))
		return;
	p.n -= 2;
	if (compat_space_end(p))
		*name = compat_rstrip(p);
}

/* "[ok]: name (5 ms)", "[err]: name in tests/x.tcl" */
static bool redis(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "[ok]:", TEST_PASSED },
						     { "[err]:", TEST_FAILED },
						     { "[skip]:", TEST_SKIPPED },
						     { "[ignore]:", TEST_SKIPPED } };

	if (!mark_line(p, marks, ARRAY_SIZE(marks), name, s))
		return false;
	compat_cut_time(name, true);
	if (*s == TEST_FAILED)
		cut_place(name);
	return true;
}

/* "PASS: name" of automake */
static bool jq(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "PASS:", TEST_PASSED },
						     { "FAIL:", TEST_FAILED } };

	return mark_line(p, marks, ARRAY_SIZE(marks), name, s);
}

/* "pass  name" */
static bool micropython(struct piece p, struct piece *name, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "pass", TEST_PASSED },
						     { "FAIL", TEST_FAILED },
						     { "skip", TEST_SKIPPED } };

	if (!mark_line(p, marks, ARRAY_SIZE(marks), name, s))
		return false;
	*name = compat_lstrip(*name);
	return true;
}

/* Is "[  OK ]", with white space behind it, at the start of *p? Then it is taken off. */
static bool google_mark(struct piece *p, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "OK", TEST_PASSED },
						     { "FAILED", TEST_FAILED } };
	struct piece q = *p;

	if (!compat_eat(&q, "["))
		return false;
	q = compat_lstrip(q);
	if (!eat_mark(&q, marks, ARRAY_SIZE(marks), s))
		return false;
	q = compat_lstrip(q);
	if (!compat_eat(&q, "]") || !compat_eat_space(&q))
		return false;
	*p = q;
	return true;
}

/* Place of the last white space in front of "(" in @p, its width in *n; NULL when there is none. */
static const char *last_open(struct piece p, size_t *n)
{
	for (const char *at; (at = p.n ? memrchr(p.s, '(', p.n) : NULL);) {
		p = compat_before(p, at);
		*n = compat_space_end(p);
		if (*n)
			return at - *n;
	}
	return NULL;
}

/* "[       OK ] suite.name (0 ms)": the last such mark of the line, up to its last bracket. */
static bool googletest(struct piece p, struct piece *name, enum test_status *s)
{
	size_t n;
	const char *open = compat_ends(p, ")") ? last_open(p, &n) : NULL, *at;
	struct piece front = p;

	if (!open)
		return false;
	while ((at = front.n ? memrchr(front.s, '[', front.n) : NULL)) {
		struct piece q = compat_from(p, at);

		if (google_mark(&q, s) && q.s <= open) {
			*name = compat_before(q, open);
			return true;
		}
		front = compat_before(front, at);
	}
	return false;
}

/* "TestA#test_x. = 0.00 s = .": the name ends at the last ". " in front of "=", the result is the
 * last of ".", "F" and "E" of the line. */
static bool minitest(struct piece p, struct piece *name, enum test_status *s)
{
	size_t end = p.n;
	const char *equal, *dot;

	while (end && !memchr(".FE", p.s[end - 1], 3))
		end--;
	if (!end)
		return false;
	*s = p.s[end - 1] == '.' ? TEST_PASSED : TEST_FAILED;
	equal = memrchr(p.s, '=', end - 1);
	dot = equal ? compat_find_last(compat_before(p, equal), ". ") : NULL;
	if (!dot || dot == p.s)
		return false;
	*name = compat_before(p, dot);
	return true;
}

/* "name ..." and "name ..F" of cucumber's progress form */
static bool cucumber(struct piece p, struct piece *name, enum test_status *s)
{
	struct piece front = p;

	for (const char *at; (at = front.n ? memrchr(front.s, ' ', front.n) : NULL);
	     front = compat_before(front, at)) {
		struct piece q = compat_from(p, at + 1);
		size_t dots = 0;

		for (; compat_eat(&q, "."); dots++)
			;
		if (dots < 1 || (dots < 2 && !compat_starts(q, "F")))
			continue;
		*s = compat_starts(q, "F") ? TEST_FAILED : TEST_PASSED;
		*name = compat_before(p, at);
		return true;
	}
	return false;
}

/* Does a result of test-unit stand at @p: "." or a letter at the end of a word? */
static bool unit_mark(struct piece p, enum test_status *s)
{
	static const struct testlog_word marks[] = { { "E", TEST_FAILED },
						     { "F", TEST_FAILED },
						     { "O", TEST_SKIPPED } };

	if (compat_starts(p, ".")) {
		*s = TEST_PASSED;
		return true;
	}
	return eat_mark(&p, marks, ARRAY_SIZE(marks), s) && !compat_word_char(p);
}

static bool unit_name(struct piece p, struct piece *name, enum test_status *s)
{
	struct piece front = p;

	for (const char *at; (at = front.n ? memrchr(front.s, ':', front.n) : NULL);
	     front = compat_before(front, at)) {
		struct piece q = compat_from(p, at + 1);

		if (at == p.s || !compat_space(q) || !unit_mark(compat_lstrip(q), s))
			continue;
		*name = compat_before(p, at);
		return true;
	}
	return false;
}

/* "test: name:  ." of test-unit, verbose */
static bool ruby_unit(struct piece p, struct piece *name, enum test_status *s)
{
	struct piece q = p;

	return (compat_eat(&q, "test: ") && unit_name(q, name, s)) || unit_name(p, name, s);
}

/* "name - passed" */
static bool rspec(struct piece p, struct piece *name, enum test_status *s)
{
	const char *passed = compat_find_last(p, " - passed");
	const char *failed = compat_find_last(p, " - failed");
	const char *at = !failed || (passed && passed > failed) ? passed : failed;

	if (!at || at == p.s)
		return false;
	*s = at == passed ? TEST_PASSED : TEST_FAILED;
	*name = compat_before(p, at);
	return true;
}

#define READER(name)                                                                               \
	int compat_read_##name(const struct testlog_input *in, struct test_results *out,           \
			       struct err *err)                                                    \
	{                                                                                          \
		(void)err;                                                                         \
		return each_line(in, out, name);                                                   \
	}

READER(jest)
READER(jest_json)
READER(vitest)
READER(tap)
READER(gotest)
READER(cargo)
READER(ant)
READER(redis)
READER(jq)
READER(micropython)
READER(googletest)
READER(minitest)
READER(cucumber)
READER(ruby_unit)
READER(rspec)

/* Rows of a repository whose tasks have different runners. */
struct by_task {
	const char *number; /* behind the last "-" of the instance id */
	line_fn *fn;
};

/* Read as the task is known to report, or, when it is not known, in the first way that finds
 * something. */
static int by_task(const struct testlog_input *in, struct test_results *out,
		   const struct by_task *rows, size_t n)
{
	const char *dash = in->instance_id ? strrchr(in->instance_id, '-') : NULL;

	for (size_t i = 0; i < n && dash; i++)
		if (strcmp(rows[i].number, dash + 1) == 0)
			return each_line(in, out, rows[i].fn);
	for (size_t i = 0; i < n && !out->n; i++)
		each_line(in, out, rows[i].fn);
	return 0;
}

int compat_read_jekyll(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const struct by_task rows[] = { { "9141", minitest },
					       { "8761", cucumber },
					       { "8047", minitest },
					       { "8167", minitest },
					       { "8771", cucumber } };

	(void)err;
	return by_task(in, out, rows, ARRAY_SIZE(rows));
}

int compat_read_immutable_js(const struct testlog_input *in, struct test_results *out,
			     struct err *err)
{
	static const struct by_task rows[] = { { "2006", jest }, { "2005", jest_json } };

	(void)err;
	return by_task(in, out, rows, ARRAY_SIZE(rows));
}

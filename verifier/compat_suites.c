/* The parsers of SWE-bench's harness for reporters of JavaScript that show suites by indentation,
 * and for those that show one line per file. Titles of suites go on from one part of a log to the
 * next where that harness lets them. */
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

#define TICK  "\u2713" /* check mark */
#define HEAVY "\u2714" /* heavy check mark */

/* Place of "(12ms)" in @p, its end in *end; NULL when there is none. */
static const char *find_ms(struct piece p, const char **end)
{
	for (const char *at; (at = compat_find_first(p, "("));) {
		struct piece q = compat_from(p, at + 1);

		p = q;
		if (!compat_eat_digits(&q) || !compat_eat(&q, "ms)"))
			continue;
		*end = q.s;
		return at;
	}
	return NULL;
}

/* Is there "(12ms)" in the line? Then it must be its end, and the line is cut there. */
static bool cut_ms(struct piece *line)
{
	const char *end = NULL, *at, *last = NULL, *line_end = line->s + line->n;

	for (struct piece p = *line; (at = find_ms(p, &end)); p = compat_from(p, end))
		last = at;
	if (!last)
		return true;
	if (end != line_end)
		return false;
	line->n = (size_t)(last - line->s);
	return true;
}

/* Titles and test, without white space at the ends; a test outside all suites is "- test". */
static void calypso_set(struct compat *c, const struct compat_suites *suites, struct piece test,
			enum test_status s)
{
	auto_buf b = BUF_INIT(COMPAT_NAME_MAX);

	if (!suites->n)
		buf_adds(&b, " - ");
	compat_join(suites, " - ", test, &b);
	compat_set(c, compat_strip((struct piece){ buf_str(&b), b.len }), s);
}

/* "    ✓ name (5ms)" behind a call of jest; each call ends at its first failure text or at its
 * summary. */
int compat_read_calypso(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char *const marks[] = { TICK, "\u2715", NULL };
	struct compat c = compat_start(in, out);
	struct piece text = c.text, part, line;
	struct compat_suites suites;

	(void)err;
	suites.n = 0;
	while (compat_part(&text, " ./node_modules/.bin/jest ", &part)) {
		while (compat_next(&c, &part, &line)) {
			struct piece p = compat_lstrip(line);
			int mark = compat_eat_symbol(&p, marks);

			if (compat_starts(line, "Test Suites") || compat_starts(line, "  \u25cf "))
				break;
			if (mark < 0) {
				if (compat_space(line))
					compat_suite(&suites, line);
				continue;
			}
			if (!compat_space(line) || !compat_eat_space(&p) || !cut_ms(&p))
				continue;
			calypso_set(&c, &suites, p, mark ? TEST_FAILED : TEST_PASSED);
		}
	}
	return 0;
}

/* Append @p without each "(12ms)". */
static void without_ms(struct piece p, struct buf *out)
{
	const char *end;

	for (const char *at; (at = find_ms(p, &end)); p = compat_from(p, end))
		buf_add(out, p.s, (size_t)(at - p.s));
	buf_add(out, p.s, p.n);
}

/* Text in front of a line that mocha's counts begin ("  12 passing"). */
static struct piece before_counts(struct piece text)
{
	struct piece p = text;

	for (const char *nl; (nl = compat_find_first(p, "\n"));) {
		struct piece q = compat_from(p, nl + 1);

		p = q;
		while (compat_eat(&q, " ") || compat_eat(&q, "\t"))
			;
		if (compat_eat_digits(&q) && compat_starts(q, " passing"))
			return compat_before(text, nl);
	}
	return text;
}

/* mocha's spec reporter: the name is "suite.test", of the innermost suite alone. */
int compat_read_highlightjs(const struct testlog_input *in, struct test_results *out,
			    struct err *err)
{
	static const char *const marks[] = { TICK, HEAVY, NULL };
	struct compat c = compat_start(in, out);
	struct piece rest = before_counts(c.text), line, suite = { NULL, 0 };

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);
		struct piece p = compat_lstrip(line), test;
		enum test_status s = TEST_PASSED;

		if (compat_eat_symbol(&p, marks) < 0) {
			s = TEST_FAILED;
			if (!compat_eat_digits(&p) || !compat_eat(&p, ")")) {
				if (compat_starts(line, "  "))
					suite = compat_strip(line);
				continue;
			}
		}
		without_ms(p, &b);
		test = compat_strip((struct piece){ buf_str(&b), b.len });
		if (suite.s)
			compat_set2(&c, suite, ".", test, s);
		else
			compat_set(&c, test, s);
	}
	return 0;
}

/* karma-spec-reporter: "  ✔ name" below "Starting browser", until "SUMMARY:". */
int compat_read_karma(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char *const marks[] = { HEAVY, "\u2716", NULL };
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;
	struct compat_suites suites;
	size_t deepest = 0; /* indentation of the last title + 1 */
	bool started = false;

	(void)err;
	suites.n = 0;
	while (compat_next(&c, &rest, &line) && !compat_starts(line, "SUMMARY:")) {
		struct piece p = compat_lstrip(line);
		size_t indent = compat_indent(line);
		int mark = compat_eat_symbol(&p, marks);

		if (compat_has(line, "Starting browser")) {
			started = true;
			continue;
		}
		if (!started)
			continue;
		if (mark >= 0 && compat_eat_space(&p)) {
			auto_buf name = BUF_INIT(COMPAT_NAME_MAX);

			compat_join(&suites, " > ", p, &name);
			compat_set(&c, (struct piece){ buf_str(&name), name.len },
				   mark ? TEST_FAILED : TEST_PASSED);
		} else if (indent > 1 && indent > deepest) {
			/* One blank belongs to the text of the line. */
			deepest = indent;
			if (suites.n < COMPAT_SUITES_MAX)
				suites.title[suites.n++] = compat_lstrip(line);
		} else if (indent > 1 && indent < deepest) {
			deepest = indent;
			suites.n -= suites.n > 0;
		}
	}
	return 0;
}

/* Append the text without escape sequences and without what assertions printed, up to an empty
 * line. */
static void next_text(struct piece text, struct buf *out)
{
	auto_buf plain = BUF_INIT(COMPAT_TEXT_MAX);
	struct piece p, rest;

	compat_uncolour(text, &plain);
	p = rest = (struct piece){ buf_str(&plain), plain.len };
	for (const char *at; (at = compat_find_first(rest, "AssertionError:"));) {
		struct piece q = compat_from(rest, at + strlen("AssertionError:"));
		const char *end;

		bool blank = compat_space(q) != 0;

		rest = q;
		q = compat_lstrip(q);
		if (!blank || !compat_eat(&q, "#"))
			continue;
		end = compat_find_first(q, "\n\n");
		if (!end)
			break;
		buf_add(out, p.s, (size_t)(at - p.s));
		p = rest = compat_from(q, end + 2);
	}
	buf_add(out, p.s, p.n);
}

/* Lines that are no title of a suite. */
static bool next_noise(struct piece p)
{
	static const char *const words[] = { "ERROR", "LOG", "WARN", "Check", "in" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (compat_starts(p, words[i]))
			return true;
	return false;
}

static void next_line(struct compat *c, struct compat_suites *suites, struct piece line)
{
	static const struct testlog_word marks[] = { { "\u2717", TEST_FAILED },
						     { TICK, TEST_PASSED } };

	if (next_noise(compat_lstrip(line)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = compat_find_first(line, marks[i].text);

		if (!at)
			continue;
		compat_set_in_suites(c, suites,
				     compat_lstrip(compat_from(line, at + strlen(marks[i].text))),
				     marks[i].status);
		return;
	}
	if (compat_space(line))
		compat_suite(suites, line);
}

/* Behind each " xvfb-run ", from the last "Starting browser Chrome" to "TOTAL". */
static void next_v1(struct compat *c)
{
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);
	struct compat_suites suites;
	struct piece text, part, line;

	next_text(c->text, &b);
	text = (struct piece){ buf_str(&b), b.len };
	suites.n = 0;
	while (compat_part(&text, " xvfb-run ", &part)) {
		const char *at = compat_find_last(part, "Starting browser Chrome");

		if (at)
			part = compat_from(part, at + strlen("Starting browser Chrome"));
		while (compat_next(c, &part, &line) && !compat_starts(line, "TOTAL"))
			next_line(c, &suites, line);
	}
}

/* "Running: ...)", two empty lines, "  title": taken off *p; false when it does not stand there. */
static bool next_title(struct piece *p, struct piece *title)
{
	struct piece rest = *p, line;

	if (!compat_line(&rest, &line) || !rest.s)
		return false;
	/* The bracket is the last byte of the line: an end of a line follows. */
	if (!compat_ends(line, ")") || !compat_eat(&rest, "\n\n") || !compat_eat_space(&rest) ||
	    !compat_eat_space(&rest))
		return false;
	if (!compat_line(&rest, title) || !rest.s)
		return false;
	*p = rest;
	return true;
}

/* A result of four white space characters, a number or a check mark, and the test; @text is at the
 * start of a line, white space may be ends of lines. */
static bool next_result(struct piece text, bool passed, struct piece *test)
{
	struct piece rest;
	const char *open;

	for (int i = 0; i < 4; i++)
		if (!compat_eat_space(&text))
			return false;
	if (passed ? !compat_eat(&text, TICK)
		   : !compat_eat_digits(&text) || !compat_eat(&text, ")"))
		return false;
	if (!compat_eat_space(&text))
		return false;
	rest = text;
	if (!compat_line(&rest, test))
		return false;
	if (passed) {
		open = compat_find_last(*test, "(");
		if (!open)
			return false;
		*test = compat_before(*test, open);
	}
	*test = compat_strip(*test);
	return true;
}

static void next_results(struct compat *c, struct piece part, struct piece title, bool passed)
{
	struct piece rest = part, line, test;

	for (struct piece at = part; compat_line(&rest, &line); at = rest) {
		if (!next_result(at, passed, &test))
			continue;
		c->at = test;
		compat_set2(c, title, ": ", test, passed ? TEST_PASSED : TEST_FAILED);
		/* What the result took is not looked at again. */
		rest = compat_from(part, test.s + test.n);
		if (!compat_line(&rest, &line))
			return;
	}
}

/* The next title in *text, which goes on behind it; where it begins in *start. */
static bool find_title(struct piece *text, const char **start, struct piece *title)
{
	for (const char *at; (at = compat_find_first(*text, "Running:"));) {
		struct piece line;

		*text = compat_from(*text, at);
		*start = at;
		if (next_title(text, title))
			return true;
		/* What fails is the end of the line: no other place on it does better. */
		if (!compat_line(text, &line) || !text->s)
			break;
	}
	return false;
}

static void next_v2(struct compat *c)
{
	struct piece text = c->text, title, following;
	const char *start;
	bool more = find_title(&text, &start, &title);

	while (more) {
		struct piece part = text;

		more = find_title(&text, &start, &following);
		if (more)
			part = compat_before(part, start);
		next_results(c, part, title, false);
		next_results(c, part, title, true);
		title = following;
	}
}

/* Version 1.27 runs cypress, all others karma. */
int compat_read_next(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);

	(void)err;
	if (in->version && strcmp(in->version, "1.27") == 0)
		next_v2(&c);
	else
		next_v1(&c);
	return 0;
}

/* "  - title :" and "  * test : ok" of tape's pretty form: the name in *name, what follows in
 * *rest. */
static bool plotly_line(struct piece p, const char *mark, struct piece *name, struct piece *rest)
{
	if (!compat_space(p))
		return false;
	p = compat_lstrip(p);
	if (!compat_eat(&p, mark) || !compat_eat_space(&p))
		return false;
	*rest = p;
	for (const char *at; (at = compat_find_first(*rest, ":"));) {
		*rest = compat_from(*rest, at + 1);
		*name = compat_before(p, at);
		if (compat_space_end(*name)) {
			*name = compat_strip(*name);
			return true;
		}
	}
	return false;
}

/* Does @p hold @word in any case? */
static bool has_nocase(struct piece p, const char *word)
{
	size_t n = strlen(word);

	for (; p.n >= n; p = compat_from(p, p.s + 1))
		if (strncasecmp(p.s, word, n) == 0)
			return true;
	return false;
}

/* tape's tree: a title that is not deeper than the last one ends all of them. */
int compat_read_plotly(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, name, verdict;
	struct compat_suites suites;
	size_t depth = 0;

	(void)err;
	suites.n = 0;
	while (compat_next(&c, &rest, &line)) {
		auto_buf b = BUF_INIT(COMPAT_NAME_MAX);
		bool title = plotly_line(line, "-", &name, &verdict);
		bool ok;

		if (!title && !plotly_line(line, "*", &name, &verdict))
			continue;
		if (compat_indent(line) <= depth)
			suites.n = 0;
		if (title) {
			depth = compat_indent(line);
			if (suites.n < COMPAT_SUITES_MAX)
				suites.title[suites.n++] = name;
			continue;
		}
		compat_join(&suites, ".", name, &b);
		ok = has_nocase(verdict, "ok") && !has_nocase(verdict, "failed");
		compat_set(&c, (struct piece){ buf_str(&b), b.len },
			   ok ? TEST_PASSED : TEST_FAILED);
	}
	return 0;
}

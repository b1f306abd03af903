/* The parsers of SWE-bench's harness that know failures only: what the runner of a browser (karma,
 * mocha in a browser, jasmine) prints for a test that failed. Such tasks are graded by "fail_only":
 * what is not in the log counts as passed. */
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

/* The front of a line in front of the name of a test. In @shape a blank is one white space
 * character, "#" are digits and dots, "@" is the rest of a word up to its closing bracket; all else
 * is itself. Ends of lines are white space like any other. */
struct shape {
	const char *head;  /* literal that it begins with */
	const char *shape; /* behind the head */
	const char *tail;  /* that the line ends with, behind the name */
	bool newline;      /* must the line have an end? */
	bool squeeze;      /* white space of the name to single blanks */
	bool blank; /* must white space, perhaps the end of a line, stand in front of the tail? */
};

static bool digits_and_dots(struct piece *p)
{
	size_t n = 0;

	while (n < p->n && ((p->s[n] >= '0' && p->s[n] <= '9') || p->s[n] == '.'))
		n++;
	*p = compat_from(*p, p->s + n);
	return n != 0;
}

/* "x86_64)": more than the bracket. */
static bool closed_word(struct piece *p)
{
	struct piece rest = *p, word;

	if (!p->n || compat_space(*p))
		return false;
	word = compat_word(&rest);
	*p = rest;
	return word.n > 1 && word.s[word.n - 1] == ')';
}

/* Take the shape off the front of *p. */
static bool eat_shape(struct piece *p, const char *shape)
{
	for (; *shape; shape++) {
		char one[2] = { *shape, '\0' };
		bool ok;

		if (*shape == ' ')
			ok = compat_eat_space(p);
		else if (*shape == '#')
			ok = digits_and_dots(p);
		else if (*shape == '@')
			ok = closed_word(p);
		else
			ok = compat_eat(p, one);
		if (!ok)
			return false;
	}
	return true;
}

/* A walk over a text from one failure to the next. */
struct walk {
	struct piece text; /* what is left */
	const char *end;   /* of the failure */
	const char *dead;  /* no name that begins before it, on a line that is known, has a tail */
};

static const char *end_of_line(struct piece p)
{
	struct piece line = p;

	compat_line(&p, &line);
	return line.s + line.n;
}

/* What is left of the line at @p without its tail; where that ends in *end. false when it does not
 * end so. */
static bool take_name(struct piece p, const struct shape *row, struct piece *name, const char **end)
{
	struct piece rest = p, tail;

	if (!compat_line(&rest, name) || (row->newline && !rest.s))
		return false;
	*end = name->s + name->n;
	if (compat_ends(*name, row->tail)) {
		name->n -= strlen(row->tail);
		if (!row->blank || compat_space_end(*name))
			return true;
		name->n += strlen(row->tail);
	}
	if (!row->blank || !compat_line(&rest, &tail) || !rest.s || !compat_equal(tail, row->tail))
		return false;
	*end = tail.s + tail.n;
	return true;
}

/* The next name that stands between head, shape and tail of @row. Lines that are found to have no
 * tail are not looked through again. */
static bool next_name(struct walk *w, const struct shape *row, struct piece *name)
{
	for (const char *at; (at = compat_find_first(w->text, row->head));) {
		struct piece p = compat_from(w->text, at + strlen(row->head));

		w->text = compat_from(w->text, at + 1);
		if (!eat_shape(&p, row->shape) || (w->dead && p.s <= w->dead))
			continue;
		if (take_name(p, row, name, &w->end))
			return true;
		w->dead = end_of_line(p);
	}
	return false;
}

static void set_failed(struct compat *c, struct piece name, bool squeeze)
{
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);

	c->at = name;
	if (!squeeze) {
		compat_set(c, name, TEST_FAILED);
		return;
	}
	compat_squeeze(name, &b);
	compat_set(c, (struct piece){ buf_str(&b), b.len }, TEST_FAILED);
}

static void each_shape(struct compat *c, const struct shape *row)
{
	struct walk w = { .text = c->text };
	struct piece name;

	while (next_name(&w, row, &name)) {
		set_failed(c, name, row->squeeze);
		w.text = compat_from(w.text, w.end);
	}
}

/* "Chrome Headless VERSION (Linux x86_64) name FAILED": the version is any text of the line, the
 * last "(Linux x86_64)" of it counts. */
static void chrome_headless(struct compat *c)
{
	static const struct shape row = { "Chrome", " Headless ", "FAILED", true, false };
	struct walk w = { .text = c->text };
	struct piece name;

	while (next_name(&w, &row, &name)) {
		struct piece front = name;
		const char *system;

		while ((system = compat_find_last(front, "(Linux"))) {
			struct piece q = compat_from(name, system);

			front = compat_before(front, system);
			if (!compat_space_end(front) || !eat_shape(&q, "(Linux x86_64) "))
				continue;
			set_failed(c, q, false);
			w.text = compat_from(w.text, w.end);
			break;
		}
		if (!system)
			w.dead = w.end;
	}
}

int compat_read_bpmn_js(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const struct shape rows[] = {
		{ "2KPhantomJS", " # (Linux #) ", "FAILED", true, false },
		{ "2KPhantomJS", " # (Linux x86_64) ", "FAILED", true, false },
		{ "HeadlessChrome", " # (Linux #) ", "FAILED", true, false },
	};
	struct compat c = compat_start(in, out);

	(void)err;
	each_shape(&c, &rows[0]);
	each_shape(&c, &rows[1]);
	chrome_headless(&c);
	each_shape(&c, &rows[2]);
	return 0;
}

/* "(any system) name": what stands behind the first bracket that closes with a blank behind it, of
 * a line that ends with "FAILED". */
static bool chart_name(struct piece p, struct piece *name)
{
	struct piece rest, line;
	const char *at;

	/* The blank is of this line. */
	if (compat_starts(p, "\n") || !compat_eat_space(&p) || !compat_eat(&p, "("))
		return false;
	rest = p;
	if (!compat_line(&rest, &line) || !compat_ends(line, "FAILED"))
		return false;
	line.n -= strlen("FAILED");
	/* Something stands between the brackets. */
	p = line.n ? compat_from(line, line.s + 1) : line;
	while ((at = compat_find_first(p, ")"))) {
		p = compat_from(p, at + 1);
		if (compat_eat_space(&p)) {
			*name = p;
			return true;
		}
	}
	return false;
}

/* "Chrome 99.0 (any system) name FAILED", in text without colours. */
int compat_read_chart_js(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	auto_buf plain = BUF_INIT(COMPAT_TEXT_MAX);
	struct compat c = compat_start(in, out);
	struct piece text, name;
	const char *dead = NULL;

	(void)err;
	compat_uncolour(c.text, &plain);
	text = (struct piece){ buf_str(&plain), plain.len };
	for (const char *at; (at = compat_find_first(text, "Chrome"));) {
		struct piece p = compat_from(text, at + strlen("Chrome")), front;

		text = compat_from(text, at + 1);
		if (!eat_shape(&p, " #") || (dead && p.s <= dead))
			continue;
		front = p;
		if (chart_name(p, &name)) {
			c.at = c.text;
			compat_set(&c, name, TEST_FAILED);
			text = compat_from(text, name.s + name.n + strlen("FAILED"));
		} else if (compat_eat_space(&front) && compat_starts(front, "(")) {
			/* No later bracket of this line does, either. */
			dead = end_of_line(p);
		}
	}
	return 0;
}

/* At the start of a line: two white space characters, a number, a bracket; all up to "Error:" is
 * the name. */
static void numbered(struct compat *c)
{
	struct piece text = c->text, rest = c->text, line;

	while (text.s) {
		struct piece p = text;
		const char *end;

		rest = text;
		compat_line(&rest, &line);
		text = rest;
		if (!compat_eat_space(&p) || !compat_eat_space(&p) || !compat_eat_digits(&p) ||
		    !compat_eat(&p, ")"))
			continue;
		end = compat_find_first(p, "Error:");
		if (!end)
			return;
		set_failed(c, compat_before(p, end), true);
		/* On with the first line that begins behind it. */
		text = compat_from(p, end);
		compat_line(&text, &line);
	}
}

/* "case name: mismatch" of the rendering tests: the last such colon of the line. */
static void mismatches(struct compat *c)
{
	struct piece rest = c->text, line;

	while (compat_next(c, &rest, &line)) {
		const char *colon;

		if (!compat_eat(&line, "case") || !compat_eat_space(&line))
			continue;
		while ((colon = compat_find_last(line, ":"))) {
			struct piece q = compat_from(c->at, colon + 1);

			line = compat_before(line, colon);
			if (compat_eat_space(&q) && compat_starts(q, "mismatch")) {
				set_failed(c, line, true);
				break;
			}
		}
	}
}

int compat_read_openlayers(const struct testlog_input *in, struct test_results *out,
			   struct err *err)
{
	static const struct shape rows[] = {
		{ "Chrome", " Headless # (Linux @ ", "FAILED", true, true, true },
		{ "Chrome", " # (Linux @ ", "FAILED", true, true },
	};
	struct compat c = compat_start(in, out);

	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		each_shape(&c, &rows[i]);
	numbered(&c);
	mismatches(&c);
	return 0;
}

/* First white space at or behind @from in @line; NULL when there is none. */
static const char *first_space(struct piece line)
{
	while (line.n && !compat_space(line))
		line = compat_from(line, line.s + 1);
	return line.n ? line.s : NULL;
}

/* The text behind a number ends in front of white space that is followed, on one line, by "Error":
 * its end, and the end of "Error" in *behind. NULL when there is none in all of @text. */
static const char *error_end(struct piece text, const char **behind)
{
	struct piece rest = text, line;
	const char *error, *blank;

	compat_line(&rest, &line);
	blank = first_space(line);
	error = compat_find_last(line, "Error");
	if (blank && error > blank) {
		*behind = error + strlen("Error");
		return blank;
	}
	error = rest.s ? compat_find_first(rest, "Error") : NULL;
	if (!error)
		return NULL;
	/* The line that it stands on, and the last one there. */
	blank = memrchr(text.s, '\n', (size_t)(error - text.s));
	rest = compat_from(text, blank + 1);
	compat_line(&rest, &line);
	*behind = compat_find_last(line, "Error") + strlen("Error");
	text = compat_rstrip(compat_before(text, blank));
	return text.s + text.n;
}

/* mocha's failures: "  1) text", up to the line with the error. */
int compat_read_eslint(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece text = c.text;

	(void)err;
	while (text.n) {
		struct piece p = text;
		const char *end, *behind;

		if (!compat_eat_space(&p) || !compat_eat_space(&p) || !compat_eat_digits(&p) ||
		    !compat_eat(&p, ")")) {
			text = compat_from(text, text.s + 1);
			continue;
		}
		end = error_end(p, &behind);
		if (!end)
			break;
		set_failed(&c, compat_before(p, end), true);
		text = compat_from(p, behind);
	}
	return 0;
}

/* jasmine's list of failures: "1) name" at the left margin. */
int compat_read_marked(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line))
		if (compat_eat_digits(&line) && compat_eat(&line, ")") && compat_eat_space(&line))
			compat_set(&c, compat_strip(line), TEST_FAILED);
	return 0;
}

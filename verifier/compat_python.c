/* The parsers for Python runners, under the names that SWE-bench's harness gives them.
 *
 * pytest: a line that begins with PASSED, FAILED, SKIPPED, ERROR or XFAIL; the name is the word
 * behind that word, so an id is cut at its first blank. matplotlib: the same, with the two names of
 * mouse buttons replaced by their numbers. pytest_options: the same, and "[/a/b]" in a name becomes
 * "[/b]". pytest_v2: the name is the rest of the line with single blanks, in front of " - " for
 * FAILED only; lines that end with the status count, too. seaborn: PASSED and FAILED only, in
 * either order. sympy: "test_x ok", "F" or "E", and the headings "____ file.py:test_x ____".
 *
 * Lines of captured output count like any other, and the last one wins. */
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

static const struct testlog_word words[] = {
	{ "PASSED", TEST_PASSED }, { "FAILED", TEST_FAILED }, { "SKIPPED", TEST_SKIPPED },
	{ "ERROR", TEST_ERROR },   { "XFAIL", TEST_XFAIL },
};

/* The status that a word means. A longer word ("ERRORS", "FAILED:") is kept there as it is, and a
 * test under it is neither passed nor failed. */
static enum test_status status_of(struct piece word)
{
	enum test_status s = TEST_MISSING;

	testlog_word(words, ARRAY_SIZE(words), word.s, word.n, &s);
	return s;
}

static bool starts_with_status(struct piece line)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (compat_starts(line, words[i].text))
			return true;
	return false;
}

static bool ends_with_status(struct piece line)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (compat_ends(line, words[i].text))
			return true;
	return false;
}

/* "SKIPPED [3]" is a count of skipped tests, not a name. */
static bool is_count(struct piece status, struct piece name)
{
	if (!compat_equal(status, "SKIPPED") || !compat_eat(&name, "[") ||
	    !compat_eat_digits(&name))
		return false;
	return compat_equal(name, "]");
}

/* Append @p with each @what replaced by @by, from left to right. */
static void replace(struct piece p, const char *what, const char *by, struct buf *out)
{
	for (const char *at; (at = compat_find_first(p, what));) {
		buf_add(out, p.s, (size_t)(at - p.s));
		buf_adds(out, by);
		p = compat_from(p, at + strlen(what));
	}
	buf_add(out, p.s, p.n);
}

/* "[/a/b]" to "[/b]"; what stands behind the last bracket is dropped. */
static void set_option(struct compat *c, struct piece name, enum test_status s)
{
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);
	const char *open = compat_find_first(name, "["), *close = compat_find_last(name, "]");
	struct piece option;

	if (!open || !close || close < open) {
		compat_set(c, name, s);
		return;
	}
	option = (struct piece){ open + 1, (size_t)(close - open - 1) };
	buf_add(&b, name.s, (size_t)(open + 1 - name.s));
	if (compat_starts(option, "/") && !compat_starts(option, "//") && !compat_has(option, "*"))
		option = compat_from(option, compat_find_last(option, "/"));
	buf_add(&b, option.s, option.n);
	buf_addc(&b, ']');
	compat_set(c, (struct piece){ buf_str(&b), b.len }, s);
}

typedef void set_fn(struct compat *c, struct piece name, enum test_status s);

/* "STATUS name ..." */
static void on_status(struct compat *c, struct piece line, set_fn *set)
{
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);
	struct piece word, name;

	if (!starts_with_status(line))
		return;
	if (compat_starts(line, "FAILED")) {
		replace(line, " - ", " ", &b);
		line = (struct piece){ buf_str(&b), b.len };
	}
	word = compat_word(&line);
	name = compat_word(&line);
	if (name.n && !is_count(word, name))
		set(c, name, status_of(word));
}

int compat_read_pytest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line))
		on_status(&c, line, compat_set);
	return 0;
}

int compat_read_pytest_options(const struct testlog_input *in, struct test_results *out,
			       struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line))
		on_status(&c, line, set_option);
	return 0;
}

int compat_read_matplotlib(const struct testlog_input *in, struct test_results *out,
			   struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		auto_buf left = BUF_INIT(COMPAT_TEXT_MAX), both = BUF_INIT(COMPAT_TEXT_MAX);

		if (!starts_with_status(line))
			continue;
		replace(line, "MouseButton.LEFT", "1", &left);
		replace((struct piece){ buf_str(&left), left.len }, "MouseButton.RIGHT", "3",
			&both);
		on_status(&c, (struct piece){ buf_str(&both), both.len }, compat_set);
	}
	return 0;
}

/* Append @line without "[31m" and without control bytes. */
static void clean(struct piece line, struct buf *out)
{
	while (line.n) {
		struct piece colour = line;

		if (compat_eat(&colour, "[") && compat_eat_digits(&colour) &&
		    compat_eat(&colour, "m")) {
			line = colour;
			continue;
		}
		if ((unsigned char)*line.s >= 32 || !*line.s)
			buf_addc(out, *line.s);
		line = compat_from(line, line.s + 1);
	}
}

/* Words of @p but the last, joined by one blank; the last one in *last. */
static void all_but_last(struct piece p, struct buf *out, struct piece *last)
{
	struct piece word;

	*last = compat_word(&p);
	while ((word = compat_word(&p)).n) {
		if (out->len)
			buf_addc(out, ' ');
		buf_add(out, last->s, last->n);
		*last = word;
	}
}

static void on_v2(struct compat *c, struct piece line)
{
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);
	struct piece word;

	if (starts_with_status(line)) {
		const char *dash = compat_find_first(line, " - ");
		struct piece peek;

		if (compat_starts(line, "FAILED") && dash)
			line = compat_before(line, dash);
		word = compat_word(&line);
		peek = line;
		if (is_count(word, compat_word(&peek)))
			return;
		compat_squeeze(line, &b);
	} else if (ends_with_status(line)) {
		all_but_last(line, &b, &word);
	}
	if (b.len)
		compat_set(c, (struct piece){ buf_str(&b), b.len }, status_of(word));
}

int compat_read_pytest_v2(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;
	auto_buf b = BUF_INIT(COMPAT_TEXT_MAX);

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		buf_clear(&b);
		clean(line, &b);
		on_v2(&c, (struct piece){ buf_str(&b), b.len });
	}
	return 0;
}

int compat_read_seaborn(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		struct piece words_left = line, first = compat_word(&words_left);
		struct piece second = compat_word(&words_left);

		if (!second.n)
			continue;
		if (compat_starts(line, "FAILED"))
			compat_set(&c, second, TEST_FAILED);
		else if (compat_has(line, " PASSED ")) {
			if (compat_equal(second, "PASSED"))
				compat_set(&c, first, TEST_PASSED);
		} else if (compat_starts(line, "PASSED"))
			compat_set(&c, second, TEST_PASSED);
	}
	return 0;
}

/* "___ file.py:test_x ___": the last ".py:" with a blank behind it, between the first and the last
 * blank. */
static void sympy_heading(struct compat *c, struct piece line)
{
	const char *first = memchr(line.s, ' ', line.n), *last = compat_find_last(line, " ");
	const char *colon;
	struct piece file, test;

	if (!first || last == first)
		return;
	file = (struct piece){ first + 1, (size_t)(last - first - 1) };
	colon = compat_find_last(file, ".py:");
	if (!colon)
		return;
	test = compat_from(file, colon + 4);
	compat_set2(c, compat_before(file, colon), ".py:", test, TEST_FAILED);
}

int compat_read_sympy(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const struct testlog_word ends[] = {
		{ " E", TEST_ERROR },
		{ " F", TEST_FAILED },
		{ " ok", TEST_PASSED },
	};
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line))
		sympy_heading(&c, line);
	rest = c.text;
	while (compat_next(&c, &rest, &line)) {
		struct piece p = compat_strip(line), words_left = p;

		if (!compat_starts(p, "test_"))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
			if (compat_ends(p, ends[i].text))
				compat_set(&c, compat_word(&words_left), ends[i].status);
	}
	return 0;
}

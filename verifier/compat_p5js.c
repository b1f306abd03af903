/* The parser of SWE-bench's harness for p5.js: mocha's failures ("  1) suite", each further line
 * indented deeper, up to the first colon) in a log from which colours, dumps of JSON and pairs of
 * XML tags have been taken out. */
#include <string.h>

#include "base/map.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_numbered_internal.h"

#define NAME_CHARACTERS 1000u /* between the bracket and the colon */

/* Append @text without lines that are JSON: from one that ends with "{" or "[" to the bracket that
 * closes it, and what is an object or an array on one line. */
static void without_json(struct piece text, struct buf *out)
{
	bool object = false, array = false, first = true;
	struct piece line;

	while (compat_line(&text, &line)) {
		struct piece p = compat_rstrip(line);

		if (compat_ends(p, "{")) {
			object = true;
		} else if (compat_ends(p, "[")) {
			array = true;
		} else if (object && compat_equal(p, "}")) {
			object = false;
		} else if (array && compat_equal(p, "]")) {
			array = false;
		} else if (!object && !array && !(compat_starts(p, "{") && compat_ends(p, "}")) &&
			   !(compat_starts(p, "[") && compat_ends(p, "]"))) {
			if (!first)
				buf_addc(out, '\n');
			buf_add(out, line.s, line.n);
			first = false;
		}
	}
}

/* Is it a tag "<word>" or "</word>" at the start of @p? Its name in *name; the length, 0 when it is
 * none. */
static size_t tag(struct piece p, bool closing, struct piece *name)
{
	struct piece q = p;

	if (!compat_eat(&q, closing ? "</" : "<"))
		return 0;
	name->s = q.s;
	for (size_t n; (n = compat_word_char(q));)
		q = compat_from(q, q.s + n);
	name->n = (size_t)(q.s - name->s);
	return name->n && compat_eat(&q, ">") ? (size_t)(q.s - p.s) : 0;
}

/* Tags that are closed somewhere, by name. */
struct closings {
	struct map at; /* key of a name -> place + 1 */
	uint64_t seed; /* so that no log can aim at the table */
};

static uint64_t tag_key(struct closings *c, struct piece name)
{
	return testlog_numbered_key(&c->seed, map_hash(name.s, name.n));
}

/* Where each tag is closed for the last time, its place + 1 so that 0 is none. */
static void last_closings(struct piece text, struct closings *c)
{
	struct piece name, p = text;

	for (const char *open; (open = compat_find_first(p, "</"));) {
		p = compat_from(p, open);
		if (tag(p, true, &name))
			map_put(&c->at, tag_key(c, name),
				(void *)(uintptr_t)(open - text.s + 1)); // NOLINT
		p = compat_from(p, open + 2);
	}
}

static bool same(struct piece a, struct piece b)
{
	return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

/* Behind the tag that closes the one at the start of @p, with those of its name in between; @last
 * is where the last such tag stands. How many stay open in *left. */
static struct piece behind_closing(struct piece p, struct piece name, const char *last,
				   size_t *left)
{
	size_t depth = 0;
	struct piece other;

	for (const char *at; (at = compat_find_first(p, "<")) && at <= last;) {
		p = compat_from(p, at);
		if (tag(p, false, &other) && same(other, name)) {
			depth++;
		} else if (tag(p, true, &other) && same(other, name)) {
			depth--;
			if (!depth || at == last) {
				*left = depth;
				return compat_from(p, at + tag(p, true, &other));
			}
		}
		p = compat_from(p, at + 1);
	}
	*left = depth;
	return p;
}

/* Append @text without what stands between tags that are closed again. */
static void without_xml(struct piece text, struct buf *out)
{
	struct piece p = text, name;
	struct closings c = { .seed = 0 };

	last_closings(text, &c);
	for (const char *at; (at = compat_find_first(p, "<"));) {
		uintptr_t last;
		size_t left;

		buf_add(out, p.s, (size_t)(at - p.s));
		p = compat_from(p, at);
		last = tag(p, false, &name) ? (uintptr_t)map_get(&c.at, tag_key(&c, name)) : 0;
		if (!last || last <= (uintptr_t)(at - text.s)) {
			buf_addc(out, '<');
			p = compat_from(p, at + 1);
			continue;
		}
		p = behind_closing(p, name, text.s + last - 1, &left);
		for (; left; left--) {
			buf_addc(out, '<');
			buf_add(out, name.s, name.n);
			buf_addc(out, '>');
		}
	}
	buf_add(out, p.s, p.n);
	map_done(&c.at);
}

/* Up to the first colon within the characters that a name may have. */
static bool up_to_colon(struct piece p, struct piece *ret)
{
	unsigned characters = 0;

	for (size_t i = 0; i < p.n; i++) {
		if (p.s[i] == ':') {
			*ret = (struct piece){ p.s, i };
			return true;
		}
		characters += ((unsigned char)p.s[i] & 0xc0) != 0x80;
		if (characters > NAME_CHARACTERS)
			break;
	}
	return false;
}

/* Titles of suites and the test, each line deeper than the one before it, joined by colons. */
static void on_failure(struct compat *c, struct piece lines)
{
	auto_buf b = BUF_INIT(COMPAT_NAME_MAX);
	struct piece line;
	size_t last = 0;

	while (compat_line(&lines, &line)) {
		size_t indent = compat_indent(line);
		struct piece p = compat_strip(line);

		if (indent <= last)
			return;
		if (last)
			buf_addc(&b, ':');
		last = indent;
		buf_add(&b, p.s, p.n);
	}
	compat_set(c, (struct piece){ buf_str(&b), b.len }, TEST_FAILED);
}

int compat_read_p5js(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	auto_buf plain = BUF_INIT(COMPAT_TEXT_MAX), no_json = BUF_INIT(COMPAT_TEXT_MAX),
		 left = BUF_INIT(COMPAT_TEXT_MAX);
	struct compat c = compat_start(in, out);
	struct piece text, line;

	(void)err;
	compat_uncolour(c.text, &plain);
	without_json((struct piece){ buf_str(&plain), plain.len }, &no_json);
	without_xml((struct piece){ buf_str(&no_json), no_json.len }, &left);
	text = (struct piece){ buf_str(&left), left.len };
	while (text.s) {
		struct piece p = compat_lstrip(text), lines;

		if (compat_eat_digits(&p) && compat_eat(&p, ")") && up_to_colon(p, &lines)) {
			on_failure(&c, lines);
			text = compat_from(p, lines.s + lines.n + 1);
		} else if (compat_lstrip(text).s > text.s) {
			/* Empty lines in front of it lead to the same number. */
			text = compat_lstrip(text);
		}
		if (!compat_line(&text, &line))
			break;
	}
	return 0;
}

/* The parsers of SWE-bench's harness that read one line per file of jest ("PASS a.test.js (5.1
 * s)"), and those of Quarto and of Lighthouse. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_numbered_internal.h"

static const struct testlog_word file_words[] = { { "PASS", TEST_PASSED },
						  { "FAIL", TEST_FAILED } };

/* Where the last " (5.1s)" begins whose unit is @unit, perhaps with white space before it; NULL
 * when there is none. */
static const char *last_time(struct piece p, const char *unit, bool space)
{
	for (const char *at; (at = compat_find_last(p, "("));) {
		struct piece q = compat_from(p, at + 1), front = compat_before(p, at);
		size_t n = 0, blank = compat_space_end(front);

		while (n < q.n && ((q.s[n] >= '0' && q.s[n] <= '9') || q.s[n] == '.'))
			n++;
		q = compat_from(q, q.s + n);
		if (n && blank && (!space || compat_eat_space(&q)) && compat_eat(&q, unit) &&
		    compat_starts(q, ")"))
			return at - blank;
		p = front;
	}
	return NULL;
}

/* The name in front of a time: milliseconds are looked for first, then the two forms of seconds. */
static struct piece file_name(struct piece p)
{
	static const struct {
		const char *unit;
		bool space;
	} units[] = { { "ms", false }, { "s", true }, { "s", false } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const char *at = last_time(p, units[i].unit, units[i].space);

		if (at)
			return compat_before(p, at);
	}
	return p;
}

int compat_read_jest_files(const struct testlog_input *in, struct test_results *out,
			   struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;

	(void)err;
	while (compat_next(&c, &rest, &line))
		for (size_t i = 0; i < ARRAY_SIZE(file_words); i++) {
			struct piece p = line;

			if (compat_eat(&p, file_words[i].text) && compat_eat_space(&p))
				compat_set(&c, file_name(p), file_words[i].status);
		}
	return 0;
}

/* " (5.1 ms)" at the end */
static struct piece cut_file_time(struct piece p)
{
	struct piece q = p;
	size_t blank;

	if (!compat_ends(p, "s)"))
		return p;
	q.n -= 2;
	q.n -= compat_ends(q, "m");
	q.n -= compat_space_end(q);
	for (blank = q.n;
	     q.n && ((q.s[q.n - 1] >= '0' && q.s[q.n - 1] <= '9') || q.s[q.n - 1] == '.');)
		q.n--;
	if (q.n == blank || !compat_ends(q, "("))
		return p;
	q.n--;
	blank = compat_space_end(q);
	return blank ? (struct piece){ q.s, q.n - blank } : p;
}

/* Lines of one word, failures first: a file that is there twice has passed. The white space behind
 * the word may be the end of its line. */
static void files_of(struct compat *c, const char *word, enum test_status s, bool times)
{
	struct piece text = c->text, line;

	while (text.s) {
		struct piece p = text, name;

		if (compat_eat(&p, word) && compat_eat_space(&p)) {
			compat_line(&p, &line);
			c->at = line;
			name = compat_strip(line);
			compat_set(c, times ? cut_file_time(name) : name, s);
			text = p;
		} else {
			compat_line(&text, &line);
		}
	}
}

int compat_read_grommet(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);

	(void)err;
	files_of(&c, "FAIL", TEST_FAILED, true);
	files_of(&c, "PASS", TEST_PASSED, true);
	return 0;
}

int compat_read_emotion(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);

	(void)err;
	files_of(&c, "FAIL", TEST_FAILED, false);
	files_of(&c, "PASS", TEST_PASSED, false);
	return 0;
}

/* Names of files in /tmp, numbered in the order in which they were met. */
struct quarto {
	struct map numbers; /* key of a path -> its number + 1 */
	uint64_t seed;
	uintptr_t n;
};

/* Length of "/tmp/word" + @tail at the start of @p, 0 when it is none. */
static size_t temporary(struct piece p, const char *tail)
{
	struct piece q = p;
	const char *word;

	if (!compat_eat(&q, "/tmp/"))
		return 0;
	word = q.s;
	for (size_t n; (n = compat_word_char(q));)
		q = compat_from(q, q.s + n);
	return q.s > word && compat_starts(q, tail) ? (size_t)(q.s - p.s) + strlen(tail) : 0;
}

/* Append @p with every temporary path replaced by the number of the first of them. */
static void number_paths(struct quarto *k, struct piece p, const char *tail, struct buf *out)
{
	uintptr_t number = 0;

	for (const char *at; (at = compat_find_first(p, "/tmp/"));) {
		struct piece q = compat_from(p, at);
		size_t n = temporary(q, tail);

		buf_add(out, p.s, (size_t)(at - p.s));
		p = compat_from(p, at + (n ? n : 1));
		if (!n) {
			buf_addc(out, '/');
			continue;
		}
		if (!number) {
			uint64_t key = testlog_numbered_key(&k->seed, map_hash(at, n));

			number = (uintptr_t)map_get(&k->numbers, key);
			if (!number) {
				number = ++k->n;
				map_put(&k->numbers, key, (void *)number); // NOLINT: a number
			}
		}
		buf_addf(out, "/tmp/%zu", (size_t)number - 1);
	}
	buf_add(out, p.s, p.n);
}

static void quarto_line(struct compat *c, struct quarto *k, struct piece line)
{
	auto_buf one = BUF_INIT(COMPAT_TEXT_MAX), two = BUF_INIT(COMPAT_TEXT_MAX);
	const char *dots;
	bool ignored;

	number_paths(k, line, ".qmd", &one);
	number_paths(k, (struct piece){ buf_str(&one), one.len }, "/", &two);
	line = (struct piece){ buf_str(&two), two.len };
	ignored = compat_starts(line, "test result:") || compat_has(line, "34mINFO") ||
		  (compat_has(line, "passed") && compat_has(line, "failed") &&
		   compat_has(line, "steps"));
	dots = compat_find_first(line, "...");
	if (ignored)
		return;
	/* A test without any status has failed, unless it is known already. */
	if (compat_has(line, "32mok")) {
		compat_set(c, compat_strip(dots ? compat_before(line, dots) : line), TEST_PASSED);
	} else {
		struct piece name = compat_strip(dots ? compat_before(line, dots) : line);
		auto_free char *id = testlog_name(name.s, name.n, c->in->root);

		if (compat_has(line, "31mFAILED") || !testlog_get(c->out, id))
			compat_set(c, name, TEST_FAILED);
	}
}

int compat_read_quarto_cli(const struct testlog_input *in, struct test_results *out,
			   struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line;
	struct quarto k = { .n = 0 };

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		if (compat_has(line, "ERRORS") || compat_has(line, "failures:"))
			break;
		if (compat_has(line, "[smoke]") || compat_has(line, "[unit]"))
			quarto_line(&c, &k, line);
	}
	map_done(&k.numbers);
	return 0;
}

/* Python's unittest with -v, and Django's tests/runtests.py with --verbosity 2.
 *
 * A test is announced as "name (module.Class) ... " and its result follows on that line, or on a line
 * of its own when the test printed something in between. A test with a docstring announces itself on
 * two lines, "name (module.Class)" and "first line of the docstring ... ".
 *
 * Ids. Python 3.11 began to write "name (module.Class.name)". Lists of tests are bound to one of the
 * two forms, or (SWE-bench's lists) to the docstring's line; so each result is given under both forms
 * and under that line. Where two tests share a docstring the worse result stands there.
 *
 * Subtests: a failing or skipped one decides for its test. Before 3.11 the test then ends without a
 * result of its own, and only the section behind "======" tells that it failed.
 *
 * Those sections ("FAIL: name (module.Class)") are read as well, and the worse result stays: an "ok"
 * that the code under test printed does not hide a failure.
 *
 * Complete means: each run ended with "Ran N tests in ..." and OK, FAILED or NO TESTS RAN, and no more
 * tests were announced or results named than tests ran, and each test that was announced has a result
 * somewhere. Fewer may be named: output of a test can swallow its line. A carriage return in the output
 * of a test hides nothing here. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

#define SEP " ... "

/* How a result is written (unittest/runner.py); "skipped" has a reason behind it. */
static const struct testlog_word words[] = {
	/* clang-format off */
	{ "ok",                 TEST_PASSED },
	{ "FAIL",               TEST_FAILED },
	{ "ERROR",              TEST_ERROR },
	{ "expected failure",   TEST_XFAIL },
	{ "unexpected success", TEST_XPASS },
	/* clang-format on */
};

/* Headings of the sections at the end of a run. */
static const struct {
	const char *text;
	enum test_status status;
} headings[] = {
	/* clang-format off */
	{ "FAIL: ",               TEST_FAILED },
	{ "ERROR: ",              TEST_ERROR },
	{ "UNEXPECTED SUCCESS: ", TEST_XPASS },
	/* clang-format on */
};

/* A test that was announced. */
struct started {
	char *id;   /* owned; NULL = none */
	char *doc;  /* owned; NULL = no docstring */
	bool maybe; /* its output ended like a result, without a line of its own */
	enum test_status status;
	struct testlog_line line;
};

enum place { PLACE_BODY, PLACE_RULE, PLACE_SECTION, PLACE_HEADING, PLACE_RAN };

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct started now; /* waits for its result */
	struct test_results announced;
	struct started outer; /* announced on the same line before it, without a result so far */
	char *alone;          /* owned: an id that filled the line before this one */
	bool section;         /* the heading had an id; its status: */
	enum test_status section_status;
	enum place place, rule_in;           /* where we are; where the rule stood */
	uint64_t named, ran, ends, failures; /* failures: ends with FAILED */
	bool open;                           /* tests were announced since the last end of a run */
};

static void started_done(struct started *t)
{
	free(t->id);
	free(t->doc);
	*t = (struct started){ .id = NULL };
}

/* Length of "name (module.Class)" at the start of @s, 0 when there is none. */
static size_t id_len(const char *s, size_t n)
{
	size_t i = 0, open;

	while (i < n && s[i] != ' ' && s[i] != '(' && s[i] != ')')
		i++;
	if (i == 0 || i + 3 >= n || s[i] != ' ' || s[i + 1] != '(')
		return 0;
	open = i += 2;
	while (i < n && s[i] != ' ' && s[i] != '(' && s[i] != ')')
		i++;
	return i > open && i < n && s[i] == ')' ? i + 1 : 0;
}

/* The whole of [@s, @n) as a result. */
static bool whole_word(const char *s, size_t n, enum test_status *ret)
{
	static const char skipped[] = "skipped ";
	size_t k = sizeof(skipped) - 1;

	if (testlog_word(words, ARRAY_SIZE(words), s, n, ret))
		return true;
	if (n < k + 2 || memcmp(s, skipped, k) != 0 || (s[k] != '\'' && s[k] != '"') ||
	    s[n - 1] != s[k])
		return false;
	*ret = TEST_SKIPPED;
	return true;
}

/* A result that output without a newline stands in front of. */
static bool glued_word(const char *s, size_t n, enum test_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t k = strlen(words[i].text);

		if (n > k && memcmp(s + n - k, words[i].text, k) == 0) {
			*ret = words[i].status;
			return true;
		}
	}
	return false;
}

/* Does " ... " stand at @i? */
static bool sep_at(const char *s, size_t n, size_t i)
{
	return n - i >= strlen(SEP) && memcmp(s + i, SEP, strlen(SEP)) == 0;
}

/* Where " ... " begins in [@s, @n), @n when it does not. */
static size_t find_sep(const char *s, size_t n, size_t from)
{
	for (size_t i = from; i < n; i++)
		if (sep_at(s, n, i))
			return i;
	return n;
}

/* Fixtures of a class or module are no tests. */
static bool is_fixture(const char *id)
{
	return str_starts(id, "setUp") || str_starts(id, "tearDown");
}

/* The other of the two forms of an id. NULL when it has none (setUpClass and its like). */
static char *other_form(const char *id)
{
	const char *open = strchr(id, '('), *end = id + strlen(id) - 1;
	size_t name = (size_t)(open - id) - 1, in = (size_t)(end - open) - 1;

	if (is_fixture(id))
		return NULL;
	if (in > name + 1 && end[-(ptrdiff_t)name - 1] == '.' && memcmp(end - name, id, name) == 0)
		return mem_printf("%.*s)", (int)(end - name - 1 - id), id);
	return mem_printf("%.*s.%.*s)", (int)(end - id), id, (int)name, id);
}

static void put(const struct reader *r, const char *id, const char *doc, enum test_status s,
		const struct testlog_line *line)
{
	auto_free char *other = id ? other_form(id) : NULL;

	if (id)
		testlog_merge(r->in, r->out, id, strlen(id), s, line);
	if (other)
		testlog_merge(r->in, r->out, other, strlen(other), s, line);
	if (doc)
		testlog_merge(r->in, r->out, doc, strlen(doc), s, line);
}

static void settle(struct reader *r, struct started *t, enum test_status s,
		   const struct testlog_line *line)
{
	struct testlog_line span = t->line;

	span.to = line->to;
	put(r, t->id, t->doc, s, &span);
	if (t->id && !is_fixture(t->id))
		r->named++;
	started_done(t);
}

/* Something else begins: what still waits gets the result that its output ended with, if any. */
static void leave(struct reader *r)
{
	if (r->now.id && r->now.maybe)
		settle(r, &r->now, r->now.status, &r->now.line);
	started_done(&r->now);
	started_done(&r->outer);
}

static void announce(struct reader *r)
{
	if (!is_fixture(r->now.id))
		testlog_merge(r->in, &r->announced, r->now.id, strlen(r->now.id), TEST_MISSING,
			      &r->now.line);
}

/* The first test that began and of which no result was to be seen; NULL when there is none. */
static const char *lost(const struct reader *r)
{
	for (size_t i = 0; i < r->announced.n; i++)
		if (!testlog_get(r->out, r->announced.v[i].name))
			return r->announced.v[i].name;
	return NULL;
}

/* Text behind "... " of the test that waits. */
static void on_rest(struct reader *r, const char *s, size_t n, const struct testlog_line *line)
{
	enum test_status status;

	r->now.maybe = false;
	if (whole_word(s, n, &status)) {
		settle(r, &r->now, status, line);
	} else if (glued_word(s, n, &status)) {
		r->now.maybe = true;
		r->now.status = status;
	}
}

/* "id ... rest": the test waits, and a further one may begin in the rest. Returns false when the
 * line is no such thing. */
static bool on_start(struct reader *r, const char *s, size_t n, const struct testlog_line *line)
{
	size_t id = id_len(s, n), k = strlen(SEP);
	bool nested = false;

	if (!id || !sep_at(s, n, id))
		return false;
	leave(r);
	r->open = true;
	for (;;) {
		if (nested) {
			started_done(&r->outer);
			r->outer = r->now;
		}
		r->now = (struct started){ .id = mem_strndup(s, id), .line = *line };
		announce(r);
		s += id + k;
		n -= id + k;
		id = id_len(s, n);
		if (!id || !sep_at(s, n, id))
			break;
		nested = true;
	}
	on_rest(r, s, n, line);
	return true;
}

/* "  name (module.Class) [message] (i=1) ... FAIL": a subtest (3.11 and later). */
static bool on_subtest(const struct reader *r, const struct testlog_line *line)
{
	size_t id = line->n > 2 ? id_len(line->s + 2, line->n - 2) : 0, sep;
	auto_free char *name = NULL;
	enum test_status s;

	if (!id || strncmp(line->s, "  ", 2) != 0)
		return false;
	for (sep = find_sep(line->s, line->n, id + 2); sep < line->n;
	     sep = find_sep(line->s, line->n, sep + 1)) {
		size_t at = sep + strlen(SEP);

		if (!whole_word(line->s + at, line->n - at, &s))
			continue;
		name = mem_strndup(line->s + 2, id);
		put(r, name, NULL, s, line);
		return true;
	}
	return false;
}

/* "docstring ... rest", behind a line that was an id. Where the rest is a result the docstring may
 * hold " ... " itself. */
static bool on_doc(struct reader *r, char *id, const struct testlog_line *line)
{
	size_t k = strlen(SEP), sep = find_sep(line->s, line->n, 0), at = sep;
	enum test_status s;

	if (sep == line->n || sep == 0) {
		free(id);
		return false;
	}
	while (at < line->n && !whole_word(line->s + at + k, line->n - at - k, &s))
		at = find_sep(line->s, line->n, at + 1);
	if (at < line->n)
		sep = at;
	leave(r);
	r->open = true;
	r->now = (struct started){ .id = id, .doc = mem_strndup(line->s, sep), .line = *line };
	announce(r);
	on_rest(r, line->s + sep + k, line->n - sep - k, line);
	return true;
}

/* A test that describes itself in its own way: "text ... ok". */
static void on_other(const struct reader *r, const struct testlog_line *line)
{
	size_t k = strlen(SEP);
	enum test_status s;

	for (size_t sep = find_sep(line->s, line->n, 0); sep < line->n;
	     sep = find_sep(line->s, line->n, sep + 1))
		if (sep && whole_word(line->s + sep + k, line->n - sep - k, &s)) {
			testlog_merge(r->in, r->out, line->s, sep, s, line);
			return;
		}
}

/* The 70 signs that unittest rules off with. */
static bool is_rule(const struct testlog_line *line, char c)
{
	size_t i = 0;

	while (i < line->n && line->s[i] == c)
		i++;
	return i == line->n && i == 70;
}

static void on_body(struct reader *r, const struct testlog_line *line)
{
	char *alone = take_ptr(&r->alone);
	enum test_status s;

	/* also the rules around the end of a run */
	if (!line->n || is_rule(line, '-')) {
		free(alone);
		return;
	}
	if (alone && on_doc(r, alone, line))
		return;
	if (on_start(r, line->s, line->n, line) || on_subtest(r, line))
		return;
	if (line->n && id_len(line->s, line->n) == line->n) {
		r->alone = mem_strndup(line->s, line->n);
		return;
	}
	if (whole_word(line->s, line->n, &s)) {
		if (r->now.id)
			settle(r, &r->now, s, line);
		else if (r->outer.id && s == TEST_PASSED)
			settle(r, &r->outer, s, line);
		return;
	}
	if (r->now.id)
		on_rest(r, line->s, line->n, line);
	else
		on_other(r, line);
}

/* "Ran 23 tests in 0.001s". */
static bool is_ran(const struct testlog_line *line, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 4;

	if (!testlog_starts(line, "Ran ") || !isdigit((unsigned char)line->s[4]))
		return false;
	for (; isdigit((unsigned char)line->s[i]) && i < 14; i++)
		v = v * 10 + (uint64_t)(line->s[i] - '0');
	if (strncmp(line->s + i, " test", 5) != 0)
		return false;
	i += line->s[i + 5] == 's' ? 6 : 5;
	*ret = v;
	return strncmp(line->s + i, " in ", 4) == 0;
}

static bool is_end(const struct testlog_line *line)
{
	return str_eq(line->s, "OK") || testlog_starts(line, "OK (") ||
	       testlog_starts(line, "FAILED (") || str_eq(line->s, "NO TESTS RAN") ||
	       testlog_starts(line, "NO TESTS RAN (");
}

/* The line behind a rule: does a section begin? */
static bool on_heading(struct reader *r, const struct testlog_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++) {
		size_t k = strlen(headings[i].text), id;
		auto_free char *name = NULL;

		if (!testlog_starts(line, headings[i].text))
			continue;
		leave(r);
		id = id_len(line->s + k, line->n - k);
		name = id ? mem_strndup(line->s + k, id) : NULL;
		r->section = name != NULL;
		r->section_status = headings[i].status;
		put(r, name, NULL, r->section_status, line);
		r->place = PLACE_HEADING;
		return true;
	}
	return false;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	uint64_t ran;

	if (is_ran(line, &ran)) {
		leave(r);
		r->ran += ran;
		r->place = PLACE_RAN;
		return;
	}
	if (r->place == PLACE_RAN) {
		if (!line->n)
			return;
		r->place = PLACE_BODY;
		if (is_end(line)) {
			r->ends++;
			r->failures += testlog_starts(line, "FAILED");
			r->open = false;
			return;
		}
	}
	if (r->place == PLACE_RULE) {
		if (on_heading(r, line))
			return;
		r->place = r->rule_in;
	}
	if (r->place == PLACE_HEADING) {
		/* the docstring's line, when it is not the rule already */
		if (r->section && line->n && !is_rule(line, '-'))
			put(r, NULL, line->s, r->section_status, line);
		r->place = PLACE_SECTION;
	} else if (is_rule(line, '=')) {
		r->rule_in = r->place;
		r->place = PLACE_RULE;
	} else if (r->place == PLACE_BODY) {
		on_body(r, line);
	}
}

int testlog_read_unittest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err;
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	leave(&r);
	if (!r.ends)
		testlog_incomplete(out, "no \"Ran N tests in\" with OK or FAILED behind it");
	else if (r.open)
		testlog_incomplete(out, "a run began and did not end");
	else if (r.named > r.ran)
		testlog_incomplete(out, "%llu results are named, but %llu tests ran",
				   (unsigned long long)r.named, (unsigned long long)r.ran);
	else if (r.announced.n > r.ran)
		testlog_incomplete(out, "%zu tests began, but %llu ran", r.announced.n,
				   (unsigned long long)r.ran);
	else if (lost(&r))
		testlog_incomplete(out, "%.200s began, but has no result", lost(&r));
	else if (r.ran && !r.named && !out->n)
		testlog_incomplete(out, "no test is named: run with -v (Django: --verbosity 2)");
	if (in->exit_status && !r.failures)
		testlog_incomplete(out, "exit status %d, but no run FAILED", in->exit_status);
	testlog_done(&r.announced);
	free(r.alone);
	buf_done(&it.text);
	return 0;
}

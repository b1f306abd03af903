/* sympy's bin/test with --verbose (sympy/testing/runtests.py; sympy/utilities/runtests.py before 1.6).
 *
 * "path/test_x.py[34] " heads the tests of a file, then "test_name ok" or F (failed), E (error), f (fails
 * as expected), X (passes though it should fail), s (skipped, its reason in front of it). What a test
 * prints stands between its name and its result. The file's own result, "[OK]" or "[FAIL]", is aligned to
 * the right behind its last test.
 *
 * Ids: "path/test_x.py::test_name", and "test_name" alone as SWE-bench's lists have it; names repeat over
 * files, so the worse result stands there.
 *
 * Behind a line of underscores stand the tracebacks, headed by "____ path/test_x.py:test_name ____": such
 * a test has failed, whatever was printed before. Complete means: the line "tests finished:" is there, and
 * no more passes were named than it counts. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

#define RULE_LEN 80

/* clang-format off */
static const struct testlog_word words[] = {
	{ "ok", TEST_PASSED },
	{ "F",  TEST_FAILED },
	{ "E",  TEST_ERROR },
	{ "f",  TEST_XFAIL },
	{ "X",  TEST_XPASS },
	{ "s",  TEST_SKIPPED },
};
/* clang-format on */

/* A test whose name was printed. */
struct started {
	char *name; /* owned; NULL = none */
	bool maybe; /* its output ended like "ok", without a line of its own */
	struct testlog_line line;
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	char *file;           /* owned: path of the last heading; NULL = none yet */
	struct started now;   /* waits for its result */
	struct started outer; /* the one before it that got none: its output looked like a test */
	bool tracebacks;
	bool open;    /* a file was headed since the last end */
	bool refused; /* "DO *NOT* COMMIT!": what the runner says when something failed */
	uint64_t passes, counted, ends;
};

static void started_done(struct started *t)
{
	free(t->name);
	*t = (struct started){ .name = NULL };
}

static void settle(struct reader *r, struct started *t, enum test_status s,
		   const struct testlog_line *line)
{
	struct testlog_line span = t->line;
	auto_free char *id = mem_printf("%s::%s", r->file, t->name);

	span.to = line->to;
	testlog_merge(r->in, r->out, id, strlen(id), s, &span);
	testlog_merge(r->in, r->out, t->name, strlen(t->name), s, &span);
	r->passes += s == TEST_PASSED;
	started_done(t);
}

/* Another test, another file or the end: what waits gets the "ok" that its output ended with. */
static void leave(struct reader *r)
{
	if (r->now.name && r->now.maybe)
		settle(r, &r->now, TEST_PASSED, &r->now.line);
	started_done(&r->outer);
	r->outer = r->now;
	r->now = (struct started){ .name = NULL };
}

/* Length without the file's result at the right margin. */
static size_t body_len(const struct testlog_line *line)
{
	static const char *const marks[] = { "[OK]", "[FAIL]" };
	size_t n = line->n;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (str_ends(line->s, marks[i]))
			n -= strlen(marks[i]);
	while (n && line->s[n - 1] == ' ')
		n--;
	return n;
}

/* Text behind the name of the test that waits. */
static void on_rest(struct reader *r, const char *s, size_t n, const struct testlog_line *line)
{
	enum test_status status;

	r->now.maybe = false;
	if (testlog_word(words, ARRAY_SIZE(words), s, n, &status))
		settle(r, &r->now, status, line);
	else if (n > 2 && memcmp(s + n - 2, " s", 2) == 0)
		settle(r, &r->now, TEST_SKIPPED, line);
	else if (n > 2 && memcmp(s + n - 2, "ok", 2) == 0)
		r->now.maybe = true;
}

/* Length of a test's name at the start of the line; generators print "<lambda>". */
static size_t name_len(const char *s, size_t n)
{
	size_t i = 0;

	if (n >= 8 && memcmp(s, "<lambda>", 8) == 0)
		return 8;
	if (n < 4 || memcmp(s, "test", 4) != 0)
		return 0;
	while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '_' || (s[i] & 0x80)))
		i++;
	return i;
}

/* "path/test_x.py[34]". */
static bool on_file(struct reader *r, const struct testlog_line *line)
{
	size_t n = body_len(line), at = n;

	if (at < 6 || line->s[--at] != ']')
		return false;
	while (at && (isdigit((unsigned char)line->s[at - 1]) || line->s[at - 1] == '?'))
		at--;
	if (at < 4 || at == n - 1 || line->s[at - 1] != '[' ||
	    memcmp(line->s + at - 4, ".py", 3) != 0 || memchr(line->s, ' ', at))
		return false;
	leave(r);
	started_done(&r->outer);
	free(r->file);
	r->file = mem_strndup(line->s, at - 1);
	r->open = true;
	return true;
}

static void on_body(struct reader *r, const struct testlog_line *line)
{
	size_t n = body_len(line), name;
	enum test_status s;

	if (!n || on_file(r, line) || !r->file)
		return;
	name = name_len(line->s, n);
	if (name && (name == n || line->s[name] == ' ')) {
		leave(r);
		r->now = (struct started){ .name = mem_strndup(line->s, name), .line = *line };
		name += name < n;
		on_rest(r, line->s + name, n - name, line);
	} else if (r->now.name) {
		on_rest(r, line->s, n, line);
	} else if (r->outer.name && testlog_word(words, ARRAY_SIZE(words), line->s, n, &s)) {
		settle(r, &r->outer, s, line);
	}
}

/* "____ path/test_x.py:test_name ____"; the rule above it is a line of nothing but underscores. */
static void on_traceback(const struct reader *r, const struct testlog_line *line)
{
	size_t from = 0, to = line->n;
	auto_free char *id = NULL;
	char *colon;

	while (from < to && line->s[from] == '_')
		from++;
	while (to > from && line->s[to - 1] == '_')
		to--;
	if (from < 1 || to == line->n || to - from < 3 || line->s[from] != ' ' ||
	    line->s[to - 1] != ' ')
		return;
	id = mem_strndup(line->s + from + 1, to - from - 2);
	colon = strrchr(id, ':');
	if (!colon || colon - id < 4 || memcmp(colon - 3, ".py", 3) != 0)
		return;
	testlog_merge(r->in, r->out, colon + 1, strlen(colon + 1), TEST_FAILED, line);
	*colon = '\0';
	colon = mem_printf("%s::%s", id, colon + 1);
	testlog_merge(r->in, r->out, colon, strlen(colon), TEST_FAILED, line);
	free(colon);
}

static bool is_rule(const struct testlog_line *line)
{
	return line->n == RULE_LEN && strspn(line->s, "_") == RULE_LEN;
}

/* "tests finished: 32 passed, ...", with "=" around it where it fits into one line. */
static bool on_end(struct reader *r, const struct testlog_line *line)
{
	static const char head[] = "tests finished: ", tail[] = " passed";
	const char *s = line->s + strspn(line->s, "= ");
	uint64_t v = 0;

	if (!str_starts(s, head))
		return false;
	s += strlen(head);
	for (size_t i = 0; isdigit((unsigned char)*s) && i < 10; s++, i++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (!str_starts(s, tail))
		return false;
	leave(r);
	started_done(&r->outer);
	r->counted += v;
	r->ends++;
	r->open = r->tracebacks = false;
	free(r->file);
	r->file = NULL;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	if (on_end(r, line))
		return;
	r->refused |= str_eq(line->s, "DO *NOT* COMMIT!");
	if (is_rule(line) || testlog_starts(line, "________________________________ xpassed")) {
		if (!r->tracebacks)
			leave(r);
		r->tracebacks = true;
	} else if (r->tracebacks) {
		on_traceback(r, line);
	} else {
		on_body(r, line);
	}
}

int testlog_read_sympy(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err;
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	leave(&r);
	started_done(&r.outer);
	if (!r.ends)
		testlog_incomplete(out, "no line \"tests finished:\"");
	else if (r.open)
		testlog_incomplete(out, "a run began and did not end");
	else if (r.passes > r.counted)
		testlog_incomplete(out, "%llu passes are named, but %llu counted",
				   (unsigned long long)r.passes, (unsigned long long)r.counted);
	else if (r.counted && !out->n)
		testlog_incomplete(out, "no test is named: run bin/test with --verbose");
	if (in->exit_status && !r.refused)
		testlog_incomplete(out, "exit status %d, but no failure is reported",
				   in->exit_status);
	free(r.file);
	buf_done(&it.text);
	return 0;
}

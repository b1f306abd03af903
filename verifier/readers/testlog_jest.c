/* jest with --verbose on the console, or with --json.
 *
 * Ids: file + " > " + titles of suites and test joined by blanks, which is what --json calls
 * "fullName". The file is part of it because jest runs files in no fixed order. Two tests of a file
 * may have one name; then they get numbers. A file that could not be run is a result, too: its name,
 * with status error. "todo" is skipped; a test marked "failing" has jest's own verdict.
 *
 * --json: from the report file, or the documents on the output. Complete means that it lists as many
 * tests and failures as it counts, was not interrupted, and that the "Tests:" line of the console,
 * should there be one, says the same.
 *
 * Console: the tree of a file stands in one piece behind "PASS file" or "FAIL file", up to an empty
 * line. Times at the end of titles are cut, because jest adds them to slow tests. Complete means that
 * the "Tests:" line counts what was named. jest prints no tree for a file whose hooks threw outside of
 * its tests: then only its failures are known.
 *
 * What cannot be told from the text: output of code that ends the process before jest writes its own. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_jest_internal.h"

#define JEST_DEPTH_MAX 32
#define JEST_LINES_MAX 16 /* lines of one title */

struct console {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_run run;
	struct testlog_sums sums;
	char *file;                  /* owned: the block that we are in */
	char *suite[JEST_DEPTH_MAX]; /* owned */
	unsigned depth;
	bool in_tree, had_tree, failed_file, summing;
	uint64_t unnamed; /* skipped tests that are only counted */
	bool partly;      /* not all files ran */

	/* A result whose title may go on in the next line. */
	struct buf title;
	enum test_status status;
	struct testlog_line line;
	unsigned lines; /* 0 = none */
};

static const struct {
	const char *text;
	enum test_status status;
	const char *word; /* stands in front of the title */
} marks[] = {
	{ "\xe2\x9c\x93 ", TEST_PASSED, "" },          /* U+2713 */
	{ "\xe2\x88\x9a ", TEST_PASSED, "" },          /* U+221A */
	{ "\xe2\x9c\x95 ", TEST_FAILED, "" },          /* U+2715 */
	{ "\xc3\x97 ", TEST_FAILED, "" },              /* U+00D7 */
	{ "\xe2\x97\x8b ", TEST_SKIPPED, "skipped " }, /* U+25CB */
	{ "\xe2\x9c\x8e ", TEST_SKIPPED, "todo " },    /* U+270E */
};

#define BULLET "\xe2\x97\x8f "  /* U+25CF */
#define ANGLE  " \xe2\x80\xba " /* U+203A between titles of a failure */

static void pop_to(struct console *c, unsigned depth)
{
	while (c->depth > depth) {
		free(c->suite[--c->depth]);
		c->suite[c->depth] = NULL;
	}
}

/* The result whose title was open is complete. */
static void flush(struct console *c)
{
	auto_buf id = BUF_INIT(2 * TESTLOG_LINE_MAX + 3 * TESTLOG_NAME_MAX);

	if (!c->lines)
		return;
	c->lines = 0;
	if (testlog_full(&c->run.r))
		return;
	buf_addf(&id, "%s > ", c->file);
	for (unsigned i = 0; i < c->depth && id.len < TESTLOG_NAME_MAX; i++)
		buf_addf(&id, "%s ", c->suite[i]);
	buf_add(&id, buf_str(&c->title),
		testlog_run_cut_times(buf_str(&c->title), c->title.len, true));
	testlog_run_put(c->in, &c->run, buf_str(&id), id.len, c->status, &c->line);
}

/* "3 tests": what jest before 25 writes in place of the names of skipped tests. */
static bool only_number(const char *s, uint64_t *ret)
{
	size_t n = testlog_digits(s, ret);

	return n && (strcmp(s + n, " tests") == 0 || strcmp(s + n, " test") == 0);
}

/* A line of the tree; false when the tree is over. */
static bool on_tree(struct console *c, const struct testlog_line *line)
{
	size_t indent = strspn(line->s, " ");
	const char *s = line->s + indent;
	unsigned depth = (unsigned)(indent / 2);
	uint64_t n;

	if (indent < 2 || indent % 2 || !*s) {
		if (!line->n || !c->lines || c->lines == JEST_LINES_MAX)
			return false;
		c->lines++;
		c->line.to = line->to;
		buf_addf(&c->title, "\n%s", line->s);
		return true;
	}
	if (str_starts(s, BULLET) || depth > c->depth + 1)
		return false;
	flush(c);
	c->had_tree = true;
	pop_to(c, depth - 1);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!str_starts(s, marks[i].text))
			continue;
		s += strlen(marks[i].text);
		if (!str_starts(s, marks[i].word))
			return true;
		s += strlen(marks[i].word);
		if (marks[i].status == TEST_SKIPPED && only_number(s, &n)) {
			c->unnamed += n;
			return true;
		}
		buf_clear(&c->title);
		buf_adds(&c->title, s);
		c->status = marks[i].status;
		c->line = *line;
		c->lines = 1;
		return true;
	}
	if (c->depth < JEST_DEPTH_MAX)
		c->suite[c->depth++] = mem_strndup(s, TESTLOG_NAME_MAX);
	return true;
}

/* The file of "PASS file (2.5 s)" at @s, its length; 0 when it is none. */
static size_t header_len(const char *s, const char **ret_file)
{
	size_t n;

	s += 4;
	n = strspn(s, " ");
	if (n < 1 || n > 2)
		return 0;
	s += n;
	if (str_starts(s, "./"))
		s += 2;
	n = strlen(s);
	/* " (2.5 s, 40 MB heap size)" */
	if (str_ends(s, " heap size)"))
		while (n && !str_starts(s + n, " ("))
			n--;
	n = testlog_run_cut_times(s, n, true);
	*ret_file = s;
	return memchr(s, '.', n) ? n : 0;
}

/* "PASS file" or "FAIL file", perhaps behind output without a newline. */
static bool on_header(struct console *c, const struct testlog_line *line)
{
	static const char *const words[] = { "PASS ", "FAIL " };
	const char *s = NULL, *file;
	bool failed = false;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		/* The last one: what comes before it is output. */
		for (const char *at = line->s; (at = strstr(at, words[i])); at++) {
			if (s && at < s)
				continue;
			s = at;
			failed = i == 1;
		}
	}
	if (!s || !(n = header_len(s, &file)))
		return false;
	free(c->file);
	c->file = mem_strndup(file, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX);
	c->failed_file = failed;
	c->in_tree = true;
	c->had_tree = false;
	pop_to(c, 0);
	return true;
}

/* "  ● suite › test" below "FAIL file". */
static void on_bullet(struct console *c, const char *s, const struct testlog_line *line)
{
	auto_buf name = BUF_INIT(2 * TESTLOG_LINE_MAX);
	bool suite = strcmp(s, "Test suite failed to run") == 0;
	struct test_result *t;
	char *id;

	buf_adds(&name, c->file);
	if (!suite)
		buf_adds(&name, " > ");
	while (!suite && *s) {
		const char *angle = strstr(s, ANGLE);

		buf_add(&name, s, angle ? (size_t)(angle - s) : strlen(s));
		s = angle ? angle + strlen(ANGLE) : "";
		if (angle)
			buf_addc(&name, ' ');
	}
	id = testlog_name(buf_str(&name), testlog_run_cut_times(buf_str(&name), name.len, true),
			  c->in->root);
	t = testlog_get(&c->run.r, id);
	if (t && t->status != TEST_ERROR && !t->again)
		t->status = TEST_FAILED;
	else if (!t && !c->summing && (suite || !c->had_tree))
		testlog_add(&c->run.r, id, strlen(id), suite ? TEST_ERROR : TEST_FAILED, line->from,
			    line->to);
	free(id);
}

/* "Tests:       1 failed, 2 passed, 3 total": the number in front of @word, 0 when it is absent. */
static uint64_t part(const char *s, const char *word)
{
	uint64_t v;

	for (; *s; s += strcspn(s, ","), s += strspn(s, ", ")) {
		size_t n = testlog_digits(s, &v), w = strlen(word);

		if (n && s[n] == ' ' && strncmp(s + n + 1, word, w) == 0 &&
		    (!s[n + 1 + w] || s[n + 1 + w] == ','))
			return v;
	}
	return 0;
}

static void on_summary(struct console *c, const char *s)
{
	uint64_t total, failed, passed, named;

	s += strspn(s, " ");
	total = part(s, "total");
	failed = part(s, "failed");
	passed = part(s, "passed");
	named = c->run.n[TEST_PASSED] + c->run.n[TEST_FAILED] + c->run.n[TEST_SKIPPED] + c->unnamed;
	if (failed != c->run.n[TEST_FAILED] || passed != c->run.n[TEST_PASSED] || total != named)
		testlog_incomplete(
			c->out,
			"%llu tests are counted (%llu passed, %llu failed), %llu named (%llu, %llu)%s",
			(unsigned long long)total, (unsigned long long)passed,
			(unsigned long long)failed, (unsigned long long)named,
			(unsigned long long)c->run.n[TEST_PASSED],
			(unsigned long long)c->run.n[TEST_FAILED],
			named ? "" : ": run with --verbose");
	if (c->partly)
		testlog_incomplete(c->out, "not all test files ran");
	c->sums.summaries++;
	c->sums.total += total;
	c->sums.failed += failed;
	testlog_run_end(&c->run, c->out);
	c->unnamed = 0;
	c->partly = c->summing = c->failed_file = false;
}

static void on_line(struct console *c, const struct testlog_line *line)
{
	if (c->in_tree && on_tree(c, line))
		return;
	flush(c);
	c->in_tree = false;
	if (str_starts(line->s, "Tests:  "))
		on_summary(c, line->s + strlen("Tests:"));
	else if (str_starts(line->s, "Test Suites: "))
		c->partly = strstr(line->s, " of ") != NULL;
	else if (str_starts(line->s, "Summary of all failing tests"))
		c->summing = true;
	else if (c->failed_file && str_starts(line->s, "  " BULLET))
		on_bullet(c, line->s + strlen("  " BULLET), line);
	else
		on_header(c, line);
}

static void read_console(const struct testlog_input *in, struct test_results *out,
			 struct testlog_sums *ret)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct console c = { .in = in, .out = out, .title = BUF_INIT(2 * TESTLOG_LINE_MAX) };
	struct testlog_line line;

	while (testlog_next(&it, &line))
		on_line(&c, &line);
	flush(&c);
	if (c.run.r.n || !c.sums.summaries)
		testlog_incomplete(out,
				   "jest did not finish: no \"Tests:\" line behind the results");
	testlog_run_end(&c.run, out);
	*ret = c.sums;
	pop_to(&c, 0);
	free(c.file);
	buf_done(&c.title);
	buf_done(&it.text);
}

int testlog_read_jest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct testlog_sums console = { 0 }, docs = { 0 };
	struct test_results shown = { 0 };
	bool any;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	read_console(in, &shown, &console);
	any = testlog_jest_docs(in, " ", out, &docs);
	testlog_run_finish(in, any, &console, &docs, &shown, out);
	return 0;
}

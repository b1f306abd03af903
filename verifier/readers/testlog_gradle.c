/* Gradle's test task: the XML reports when test.report names them (build/test-results/test/TEST-*.xml),
 * otherwise the console.
 *
 * Ids: "package.Class.test". The console writes "Class > test PASSED"; the first " > " becomes the
 * point, so that with JUnit 4 both have the same ids. With JUnit 5 the console shows display names
 * ("RowsTest > rows(String) > [1] a b"), and XML the full name of the class.
 *
 * XML names every test and is to be preferred. Complete means what the reader junit-xml asks for, and
 * that "N tests completed, M failed" of the console, when it is there, says the same.
 *
 * The console names tests only with testLogging { events 'passed', 'failed', 'skipped' }. What tests
 * print is shown with four blanks in front, or not at all. A name with newlines is joined again.
 * Complete means that the build said how it ended, that tests were named, and, for each "N tests
 * completed", that so many were. A task that is UP-TO-DATE names none.
 *
 * What cannot be told from the text: output that code of the build itself prints. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_jvm_internal.h"

#define GRADLE_LINES_MAX 16 /* lines of one name */

struct console {
	const struct testlog_input *in;
	struct test_results *out;
	uint64_t named, failed; /* since the last "N tests completed" */
	struct testlog_sums sums;
	bool ended;
	struct buf name; /* of a test whose line is not complete */
	struct testlog_line first;
	unsigned lines; /* of name, 0 = none */
	bool blank;     /* the line before was empty */
};

static const struct testlog_word words[] = {
	{ "PASSED", TEST_PASSED },
	{ "FAILED", TEST_FAILED },
	{ "SKIPPED", TEST_SKIPPED },
};

/* "13 tests completed, 3 failed, 2 skipped", the last two only when there are some. */
static bool on_completed(struct console *c, const char *s)
{
	uint64_t total, failed = 0;
	size_t n = testlog_digits(s, &total), d;
	const char *rest = s + n;

	if (!n || (!str_starts(rest, " tests completed") && !str_starts(rest, " test completed")))
		return false;
	rest = strstr(rest, ", ");
	if (rest && (d = testlog_digits(rest + 2, &failed)) && !str_starts(rest + 2 + d, " failed"))
		failed = 0;
	if (total != c->named || failed != c->failed)
		testlog_incomplete(
			c->out, "%llu tests with %llu failures are counted, %llu with %llu named",
			(unsigned long long)total, (unsigned long long)failed,
			(unsigned long long)c->named, (unsigned long long)c->failed);
	c->sums.summaries++;
	c->sums.total += total;
	c->sums.failed += failed;
	c->named = c->failed = 0;
	return true;
}

/* The name is complete: "Class > test PASSED". False when it is not. */
static bool finish(struct console *c, const struct testlog_line *line)
{
	const char *s = buf_str(&c->name), *sep = strstr(s, " > "), *blank = strrchr(s, ' ');
	auto_buf id = BUF_INIT(2 * GRADLE_LINES_MAX * TESTLOG_LINE_MAX);
	struct testlog_line span = { .from = c->first.from, .to = line->to };
	enum test_status status;

	if (!sep || !blank || blank <= sep + 2 ||
	    !testlog_word(words, ARRAY_SIZE(words), blank + 1, strlen(blank + 1), &status))
		return false;
	buf_add(&id, s, (size_t)(sep - s));
	buf_addc(&id, '.');
	buf_add(&id, sep + 3, (size_t)(blank - sep - 3));
	testlog_put(c->in, c->out, buf_str(&id), id.len, status, &span);
	c->named++;
	c->failed += status == TEST_FAILED;
	return true;
}

/* Events of a test that are no result. */
static bool other_event(const char *s)
{
	return str_ends(s, " STANDARD_OUT") || str_ends(s, " STANDARD_ERROR") ||
	       str_ends(s, " STARTED");
}

static void on_line(struct console *c, const struct testlog_line *line)
{
	const char *s = line->s;

	if (str_starts(s, "BUILD SUCCESSFUL") || str_starts(s, "BUILD FAILED")) {
		c->ended = true;
	} else if (on_completed(c, s)) {
		c->lines = 0;
	} else if (c->lines && *s && c->lines < GRADLE_LINES_MAX) {
		c->lines++;
		buf_addf(&c->name, "\n%s", s);
		if (finish(c, line) || other_event(s))
			c->lines = 0;
	} else if (*s && *s != ' ' && *s != ':' && *s != '>' && strstr(s, " > ")) {
		buf_clear(&c->name);
		buf_adds(&c->name, s);
		c->first = *line;
		/* Only behind an empty line can a name begin whose line ends before its status. */
		c->lines = !finish(c, line) && c->blank && !other_event(s);
	} else {
		c->lines = 0;
	}
	c->blank = !line->n;
}

static void read_console(const struct testlog_input *in, struct test_results *out,
			 struct testlog_sums *ret)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct console c = { .in = in,
			     .out = out,
			     .name = BUF_INIT(2 * GRADLE_LINES_MAX * TESTLOG_LINE_MAX) };
	struct testlog_line line;

	while (testlog_next(&it, &line))
		on_line(&c, &line);
	if (!c.ended)
		testlog_incomplete(out, "gradle did not finish: no BUILD SUCCESSFUL or FAILED");
	else if (!out->n)
		testlog_incomplete(out, "no test is named: testLogging { events 'passed', "
					"'failed', 'skipped' }, and run with --rerun-tasks");
	/* Only failures make gradle count. */
	if (c.failed)
		testlog_incomplete(out, "a test failed, but no \"tests completed\" counts it");
	*ret = c.sums;
	buf_done(&c.name);
	buf_done(&it.text);
}

int testlog_read_gradle(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct testlog_sums console = { 0 }, xml = { 0 };
	struct test_results shown = { 0 };
	int rc;

	if (!in->report) {
		read_console(in, out, &console);
		testlog_run_exit(in, out);
		return 0;
	}
	read_console(in, &shown, &console);
	testlog_done(&shown);
	rc = testlog_jvm_xml(in, out, &xml, err);
	testlog_sums_check(&console, &xml, out);
	testlog_run_exit(in, out);
	return rc;
}

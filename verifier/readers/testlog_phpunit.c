/* PHPUnit 8 to 12: --testdox, or --debug together with -v.
 *
 * testdox. A line at the margin behind an empty one names a class, and below it " <sign> text" is a
 * test. Ids: "class line > text". The signs are in the rows below; a warning is a failure up to
 * PHPUnit 9 and passes later, a risky test is an error, as in PHPUnit's own JUnit file. Behind "Time:"
 * tests that did not pass are named once more: a failure there stays one.
 *
 * debug. "Test 'Class::method with data set "x" ('y')' started" names a test, and the numbered lists
 * behind "There were 3 failures:" say which ones did not pass (skipped and incomplete ones only with
 * -v). Ids: what stands between the quotes.
 *
 * Complete means: each "PHPUnit ... by Sebastian Bergmann" was followed by "OK (N tests, ..." or
 * "Tests: N, ...", as many tests were named as it counts and no fewer that did not pass, and the
 * exit status fits. With several runs in a log the worse status of a test stays. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

/* What is counted and listed apart. */
enum kind {
	KIND_NONE,
	KIND_ERROR,
	KIND_FAILURE,
	KIND_WARNING,
	KIND_SKIPPED,
	KIND_INCOMPLETE,
	KIND_RISKY,
	KINDS
};

/* Signs of testdox. */
static const struct sign {
	const char *text;
	enum test_status status;
} signs[] = {
	/* clang-format off */
	{ "\xe2\x9c\x94", TEST_PASSED },  /* check mark */
	{ "\xe2\x9c\x98", TEST_FAILED },  /* ballot x: failure or error */
	{ "\xe2\x86\xa9", TEST_SKIPPED }, /* arrow back */
	{ "\xe2\x88\x85", TEST_SKIPPED }, /* empty set: incomplete */
	{ "\xe2\x98\xa2", TEST_ERROR },   /* radioactive: risky */
	{ "\xe2\x9a\xa0", TEST_XPASS },   /* warning sign: see warned() */
	/* clang-format on */
};

/* Words of "There was 1 failure:" and of the last line's counts. */
static const struct {
	const char *one, *many, *count;
	enum kind kind;
	enum test_status status;
} lists[] = {
	/* clang-format off */
	{ "error",           "errors",           "Errors",     KIND_ERROR,      TEST_ERROR },
	{ "failure",         "failures",         "Failures",   KIND_FAILURE,    TEST_FAILED },
	{ "warning",         "warnings",         "Warnings",   KIND_WARNING,    TEST_FAILED },
	{ "skipped test",    "skipped tests",    "Skipped",    KIND_SKIPPED,    TEST_SKIPPED },
	{ "incomplete test", "incomplete tests", "Incomplete", KIND_INCOMPLETE, TEST_SKIPPED },
	{ "risky test",      "risky tests",      "Risky",      KIND_RISKY,      TEST_ERROR },
	/* clang-format on */
};

enum place { PLACE_OUTSIDE, PLACE_BODY, PLACE_AFTER };

struct reader {
	const struct testlog_input *in;
	struct test_results *out, run; /* run: tests of the present one */
	enum place place;
	bool old_warnings; /* up to PHPUnit 9 */
	bool blank;        /* the line before was empty */
	char *class;       /* owned: testdox heading */
	char *half;        /* owned: first line of a name with a newline */
	bool started;      /* --debug: a test that began is the last one of the run */
	size_t row;        /* of the present list, ARRAY_SIZE(lists) outside */
	size_t not_passed; /* tests that testdox marks, or lists hold */
	unsigned ends;
	bool bad; /* something is counted that explains status 1 or 2 */
};

static enum test_status warned(const struct reader *r)
{
	return r->old_warnings ? TEST_FAILED : TEST_PASSED;
}

/* " <sign> text" */
static bool on_sign(struct reader *r, const struct testlog_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		size_t k = strlen(signs[i].text), n = line->n;
		enum test_status s = signs[i].status;
		auto_free char *id = NULL, *name = NULL;
		const char *text = line->s + 1 + k + 1;

		if (line->s[0] != ' ' || n < k + 3 || memcmp(line->s + 1, signs[i].text, k) != 0 ||
		    line->s[1 + k] != ' ' || !r->class)
			continue;
		text += strspn(text, " "); /* a wide sign has two */
		n -= (size_t)(text - line->s);
		/* -v adds the time: " [1.37 ms]" */
		if (n > 6 && memcmp(text + n - 4, " ms]", 4) == 0) {
			size_t at = n - 4;

			while (at && (isdigit((unsigned char)text[at - 1]) || text[at - 1] == '.'))
				at--;
			if (at > 1 && text[at - 1] == '[' && text[at - 2] == ' ')
				n = at - 2;
		}
		s = s == TEST_XPASS ? warned(r) : s;
		id = mem_printf("%s > %.*s", r->class, (int)n, text);
		name = testlog_name(id, strlen(id), r->in->root);
		if (r->place == PLACE_BODY)
			testlog_put(r->in, &r->run, id, strlen(id), s, line);
		else if (testlog_get(&r->run, name))
			testlog_merge(r->in, &r->run, id, strlen(id), s, line);
		r->not_passed += r->place == PLACE_BODY && s != TEST_PASSED;
		return true;
	}
	return false;
}

/* Does a result stand behind output that did not end its line? */
static bool glued(const struct testlog_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		const char *at = strstr(line->s, signs[i].text);

		if (at && at > line->s && at[-1] == ' ' && at[strlen(signs[i].text)] == ' ')
			return true;
	}
	return false;
}

/* "Test 'Demo::testPasses' started"; a data set's name may hold a newline. */
static bool on_started(struct reader *r, const struct testlog_line *line)
{
	static const char head[] = "Test '", tail[] = "' started";
	auto_free char *text =
		r->half ? mem_printf("%s\n%s", r->half, line->s) : mem_strndup(line->s, line->n);
	bool first = r->half == NULL;
	size_t n = strlen(text);

	free(take_ptr(&r->half));
	if (!str_starts(text, head))
		return false;
	if (str_ends(text, tail)) {
		testlog_put(r->in, &r->run, text + strlen(head), n - strlen(head) - strlen(tail),
			    TEST_PASSED, line);
		r->started = true;
	} else if (!str_ends(text, "' ended") && first) {
		r->half = take_ptr(&text);
	}
	return true;
}

/* "There were 3 failures:" */
static bool on_list(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s;
	uint64_t n;
	size_t digits;

	if (!str_starts(s, "There was ") && !str_starts(s, "There were "))
		return false;
	s = strchr(s + 6, ' ') + 1;
	digits = testlog_digits(s, &n);
	for (size_t i = 0; digits && s[digits] == ' ' && i < ARRAY_SIZE(lists); i++) {
		const char *word = n == 1 ? lists[i].one : lists[i].many;

		if (str_starts(s + digits + 1, word) &&
		    str_eq(s + digits + 1 + strlen(word), ":")) {
			r->row = i;
			return true;
		}
	}
	return false;
}

/* "3) Demo::testData with data set "two", "lines" ('x')": as many lines as the name has. */
static void on_entry(struct reader *r, const struct testlog_line *line)
{
	uint64_t number;
	size_t digits = testlog_digits(line->s, &number);
	bool second = r->half != NULL;
	auto_free char *id = NULL, *name = NULL;
	enum test_status s;

	if (r->row == ARRAY_SIZE(lists) ||
	    (!second && (!digits || !r->blank || strncmp(line->s + digits, ") ", 2) != 0)))
		return;
	id = second ? mem_printf("%s\n%s", r->half, line->s) : mem_strdup(line->s + digits + 2);
	free(take_ptr(&r->half));
	name = testlog_name(id, strlen(id), r->in->root);
	if (!testlog_get(&r->run, name)) {
		if (!second)
			r->half = take_ptr(&id);
		return;
	}
	s = lists[r->row].kind == KIND_WARNING ? warned(r) : lists[r->row].status;
	testlog_merge(r->in, &r->run, id, strlen(id), s, line);
	r->not_passed++;
}

/* The results of the present run join the others. */
static void close_run(struct reader *r)
{
	/* The process ended inside the test that began last. */
	if (r->place == PLACE_BODY && r->started && r->run.n)
		r->run.v[r->run.n - 1].status = TEST_ERROR;
	r->started = false;
	testlog_join(&r->run, r->out);
	testlog_done(&r->run);
	free(take_ptr(&r->class));
	free(take_ptr(&r->half));
	r->row = ARRAY_SIZE(lists);
	r->not_passed = 0;
	r->place = PLACE_OUTSIDE;
}

/* "OK (2 tests, 2 assertions)" or "Tests: 28, Assertions: 22, Errors: 3, Failures: 6.": the end. */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	uint64_t tests = UINT64_MAX, n[KINDS] = { 0 }, sum = 0;
	struct testlog_count rows[ARRAY_SIZE(lists) + 3] = { { "Tests", &tests },
							     { "tests", &tests },
							     { "test", &tests } };
	auto_free char *text = NULL;
	bool ok = testlog_starts(line, "OK (") && line->s[line->n - 1] == ')';

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		rows[i + 3] =
			(struct testlog_count){ .word = lists[i].count, .to = &n[lists[i].kind] };
	text = ok ? mem_strndup(line->s + 4, line->n - 5) : mem_strndup(line->s, line->n);
	if (!testlog_counts(text, !ok, rows, ARRAY_SIZE(rows)) || tests == UINT64_MAX)
		return false;
	for (size_t i = 0; i < KINDS; i++)
		sum += i == KIND_WARNING && !r->old_warnings ? 0 : n[i];
	if (r->place == PLACE_OUTSIDE)
		testlog_incomplete(r->out, "counts without a run in front of them");
	else if (tests && !r->run.n)
		testlog_incomplete(r->out, "no test is named: run with --testdox");
	else if (tests != r->run.n)
		testlog_incomplete(r->out, "%zu tests are named, but %llu ran", r->run.n,
				   (unsigned long long)tests);
	else if (r->not_passed < sum)
		testlog_incomplete(r->out,
				   "%zu tests that did not pass are named, but %llu are "
				   "counted (--debug needs -v)",
				   r->not_passed, (unsigned long long)sum);
	r->bad |= !ok;
	r->ends++;
	close_run(r);
	return true;
}

/* "PHPUnit 9.6.7 by Sebastian Bergmann and contributors." */
static bool on_head(struct reader *r, const struct testlog_line *line)
{
	uint64_t major;

	if (!testlog_starts(line, "PHPUnit ") || !strstr(line->s, " by Sebastian Bergmann"))
		return false;
	if (r->place != PLACE_OUTSIDE)
		testlog_incomplete(r->out, "a run began before another one had ended");
	close_run(r);
	r->old_warnings = testlog_digits(line->s + strlen("PHPUnit "), &major) && major < 10;
	r->place = PLACE_BODY;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	if (on_head(r, line) || on_counts(r, line) || r->place == PLACE_OUTSIDE) {
		/* said */
	} else if (str_eq(line->s, "No tests executed!")) {
		r->ends++;
		close_run(r);
	} else if (r->place == PLACE_BODY && testlog_starts(line, "Time: ")) {
		r->place = PLACE_AFTER;
		free(take_ptr(&r->class));
		free(take_ptr(&r->half));
	} else if (r->place == PLACE_BODY && on_started(r, line)) {
		/* said */
	} else if (r->place == PLACE_AFTER && on_list(r, line)) {
		/* said */
	} else if (!on_sign(r, line)) {
		if (r->place == PLACE_AFTER)
			on_entry(r, line);
		else if (glued(line))
			testlog_incomplete(r->out, "output stands in front of a result: %.200s",
					   line->s);
		if (r->blank && line->n && line->s[0] != ' ') {
			free(r->class);
			r->class = mem_strndup(line->s, line->n);
		}
	}
	r->blank = !line->n;
}

int testlog_read_phpunit(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out, .row = ARRAY_SIZE(lists) };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	it.returns = true;
	while (testlog_next(&it, &line) && !testlog_full(&r.run))
		on_line(&r, &line);
	if (r.place != PLACE_OUTSIDE)
		testlog_incomplete(out, "a run began and did not end");
	close_run(&r);
	if (!r.ends)
		testlog_incomplete(out, "no line \"OK (N tests, ...\" or \"Tests: N, ...\"");
	testlog_check_exit(in, "phpunit", 2, r.bad, out);
	buf_done(&it.text);
	return 0;
}

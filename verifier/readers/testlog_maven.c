/* Maven's surefire and failsafe plug-ins, 2.x and 3.x: the XML reports when test.report names them
 * (target/surefire-reports/TEST-*.xml), otherwise the console.
 *
 * Ids: "package.Class.test", with brackets and all that the provider writes behind the name. An error
 * in what surrounds the tests of a class has the id "package.Class".
 *
 * XML names every test and is to be preferred. Complete means what the reader junit-xml asks for, and
 * that the "Tests run:" totals of the console, when it shows them, say the same: a report that is
 * missing or was not written by surefire is noticed.
 *
 * The console names classes and, by default, only the tests that failed. So each class is a result:
 * failed or error, skipped when all of its tests were, otherwise passed. Passed tests are
 * named with -Dsurefire.reportFormat=plain -Dsurefire.useFile=false. A name without its class (2.22 with
 * JUnit 5) belongs to the class above it; with -T lines of two modules may stand between each other,
 * and then the names do not fit the numbers of the class. Complete means that the classes add up to
 * the totals, that each class names as many failures as it counts, and all tests when it names one
 * that passed. In both a process of tests that crashed or ran out of time makes it incomplete.
 *
 * What cannot be told from the text: a class that never ran but whose line and total were printed by
 * the code under test. With XML nothing that is printed makes a test pass. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_jvm_internal.h"

/* "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0" */
struct counts {
	uint64_t run, failures, errors, skipped;
};

struct console {
	const struct testlog_input *in;
	struct test_results *out;
	struct counts classes, totals; /* sums */
	bool any_total;
	char *running; /* owned: the class of the last "Running" line */
	char *class;   /* owned: the class whose tests are being named, NULL = none */
	struct counts now;
	uint64_t failed, passed; /* tests that it named */
	char *held;              /* owned: a line that may be the start of a name */
	bool levels;             /* lines begin with "[INFO] " */
	bool crashed;            /* surefire lost the process that ran tests */
};

/* Length of "[INFO] " and its like at @s. */
static size_t level_len(const char *s)
{
	static const char *const levels[] = { "[INFO] ", "[ERROR] ", "[WARNING] " };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (str_starts(s, levels[i]))
			return strlen(levels[i]);
	return 0;
}

/* The counts at @s; what stands behind them. NULL when there are none. */
static const char *parse_counts(const char *s, struct counts *ret)
{
	struct {
		const char *word;
		uint64_t *to;
	} words[] = { { "Tests run: ", &ret->run },
		      { ", Failures: ", &ret->failures },
		      { ", Errors: ", &ret->errors },
		      { ", Skipped: ", &ret->skipped } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word), d;

		if (!str_starts(s, words[i].word) || !(d = testlog_digits(s + n, words[i].to)))
			return NULL;
		s += n + d;
	}
	return s;
}

/* The class that was named last is complete: do the names fit its numbers? */
static void end_class(struct console *c)
{
	if (!c->class)
		return;
	if (c->failed < c->now.failures + c->now.errors ||
	    (c->passed && c->passed + c->failed < c->now.run))
		testlog_incomplete(
			c->out, "%s counts %llu tests with %llu failures and names %llu failures%s",
			c->class, (unsigned long long)c->now.run,
			(unsigned long long)(c->now.failures + c->now.errors),
			(unsigned long long)c->failed, c->passed ? " and too few others" : "");
	free(take_ptr(&c->class));
}

/* "Tests run: ..., Time elapsed: 0.1 s <<< FAILURE! - in package.Class" */
static void on_class(struct console *c, const char *s, const struct counts *n,
		     const struct testlog_line *line)
{
	static const char *const ins[] = { " -- in ", " - in " };
	const char *name = c->running;
	enum test_status status = TEST_PASSED;

	end_class(c);
	for (size_t i = 0; i < ARRAY_SIZE(ins); i++) {
		const char *at = strstr(s, ins[i]);

		if (at) {
			name = at + strlen(ins[i]);
			break;
		}
	}
	if (!name || !*name)
		return;
	if (n->errors)
		status = TEST_ERROR;
	else if (n->failures)
		status = TEST_FAILED;
	else if (n->run == n->skipped)
		status = TEST_SKIPPED;
	testlog_merge(c->in, c->out, name, strlen(name), status, line);
	c->class = mem_strndup(name, TESTLOG_NAME_MAX);
	c->now = *n;
	c->failed = c->passed = 0;
	c->classes.run += n->run;
	c->classes.failures += n->failures;
	c->classes.errors += n->errors;
}

/* Counts anywhere in the line: output without a newline may stand in front. */
static bool on_counts(struct console *c, const struct testlog_line *line)
{
	struct counts n = { 0 };
	const char *s = strstr(line->s, "Tests run: "), *rest = s ? parse_counts(s, &n) : NULL;

	if (!rest)
		return false;
	if (str_starts(rest, ", Time elapsed: ")) {
		on_class(c, rest, &n, line);
		return true;
	}
	if (*rest && !str_starts(rest, ", Flakes: "))
		return false;
	end_class(c);
	c->any_total = true;
	c->totals.run += n.run;
	c->totals.failures += n.failures;
	c->totals.errors += n.errors;
	return true;
}

/* "name  Time elapsed: 0.1 s  <<< ERROR!", "name -- Time elapsed: 0.1 s <<< FAILURE!", "name skipped".
 * The length of the name, 0 when the line is none. */
static size_t parse_test(const char *s, enum test_status *ret)
{
	const char *at = strstr(s, "Time elapsed: ");
	size_t n = at ? (size_t)(at - s) : strlen(s);

	if (!at) {
		*ret = TEST_SKIPPED;
		return n > 9 && str_ends(s, " skipped") && s[n - 9] != ' ' ? n - 8 : 0;
	}
	if (n > 4 && memcmp(at - 4, " -- ", 4) == 0)
		n -= 4;
	else if (n > 2 && memcmp(at - 2, "  ", 2) == 0)
		n -= 2;
	else
		return 0;
	*ret = strstr(at, "<<< ERROR!")     ? TEST_ERROR
	       : strstr(at, "<<< FAILURE!") ? TEST_FAILED
					    : TEST_PASSED;
	return n;
}

/* "test(package.Class)", "package.Class.test", "test" of the class above, "package.Class" itself. */
static char *test_id(const struct console *c, const char *name)
{
	size_t n = strlen(name), class_n = strlen(c->class);
	const char *open = strrchr(name, '(');

	if (n > class_n + 2 && name[n - 1] == ')' && open &&
	    strncmp(open + 1, c->class, class_n) == 0 && open[1 + class_n] == ')')
		return mem_printf("%s.%.*s", c->class, (int)(open - name), name);
	if (strncmp(name, c->class, class_n) == 0 && (!name[class_n] || name[class_n] == '.'))
		return mem_strdup(name);
	/* A test of another class, inherited or nested. */
	if (n > 3 && name[n - 1] == ')' && open && open > name &&
	    memchr(open, '.', n - (size_t)(open - name)) && !strpbrk(open, " ,"))
		return mem_printf("%.*s.%.*s", (int)(name + n - 2 - open), open + 1,
				  (int)(open - name), name);
	return mem_printf("%s.%s", c->class, name);
}

/* A test below its class. */
static bool on_test(struct console *c, const struct testlog_line *line)
{
	size_t level = level_len(line->s), n;
	auto_free char *name = NULL, *id = NULL;
	enum test_status status;

	if (!c->class || !(n = parse_test(line->s + level, &status)) ||
	    (status == TEST_SKIPPED && c->levels && !level))
		return false;
	if (!level && c->levels && c->held)
		name = mem_printf("%s\n%.*s", c->held, (int)n, line->s);
	else
		name = mem_strndup(line->s + level, n);
	id = test_id(c, name);
	c->failed += status == TEST_FAILED || status == TEST_ERROR;
	c->passed += status == TEST_PASSED || status == TEST_SKIPPED;
	if (strcmp(id, c->class) == 0)
		testlog_merge(c->in, c->out, id, strlen(id), status, line);
	else
		testlog_put(c->in, c->out, id, strlen(id), status, line);
	return true;
}

static void on_line(struct console *c, const struct testlog_line *line)
{
	size_t level = level_len(line->s);
	const char *s = line->s + level;

	c->levels |= level > 0;
	if (on_counts(c, line) || on_test(c, line)) {
		free(take_ptr(&c->held));
		return;
	}
	free(take_ptr(&c->held));
	if (level && (str_starts(s, "Crashed tests:") ||
		      strstr(s, "There was a timeout or other error in the fork"))) {
		c->crashed = true;
	} else if (str_starts(s, "Running ")) {
		free(c->running);
		c->running = mem_strndup(s + strlen("Running "), TESTLOG_NAME_MAX);
	} else if (level && c->class) {
		c->held = mem_strndup(s, TESTLOG_NAME_MAX);
	}
}

/* Classes and totals go to @out and *ret. Returns whether surefire lost a process that ran tests. */
static bool read_console(const struct testlog_input *in, struct test_results *out,
			 struct testlog_sums *ret)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct console c = { .in = in, .out = out };
	struct testlog_line line;

	while (testlog_next(&it, &line))
		on_line(&c, &line);
	end_class(&c);
	if (!c.any_total)
		testlog_incomplete(out, "no \"Tests run:\" total on the output");
	else if (c.classes.run != c.totals.run ||
		 c.classes.failures + c.classes.errors != c.totals.failures + c.totals.errors)
		testlog_incomplete(
			out,
			"the classes have %llu tests with %llu failures, the totals %llu with %llu",
			(unsigned long long)c.classes.run,
			(unsigned long long)(c.classes.failures + c.classes.errors),
			(unsigned long long)c.totals.run,
			(unsigned long long)(c.totals.failures + c.totals.errors));
	else if (!c.totals.run)
		testlog_incomplete(out, "no test ran");
	ret->summaries = c.any_total;
	ret->total = c.totals.run;
	ret->failed = c.totals.failures + c.totals.errors;
	free(c.running);
	free(c.class);
	free(c.held);
	buf_done(&it.text);
	return c.crashed;
}

int testlog_read_maven(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct testlog_sums console = { 0 }, xml = { 0 };
	struct test_results shown = { 0 };
	int rc;

	if (read_console(in, in->report ? &shown : out, &console))
		testlog_incomplete(out, "a process that ran tests crashed or timed out");
	testlog_done(&shown);
	if (!in->report) {
		testlog_run_exit(in, out);
		return 0;
	}
	rc = testlog_jvm_xml(in, out, &xml, err);
	testlog_sums_check(&console, &xml, out);
	testlog_run_exit(in, out);
	return rc;
}

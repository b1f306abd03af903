/* go test -v, as text.
 *
 * Ids: "package.Test/sub", with the names as the testing package rewrites them (blanks become "_",
 * repetitions "#01"). The package is known only when it ends ("ok", "FAIL"): tests of a log that was
 * cut stand there without it. A package that could not be built, or that failed without a test of its
 * own, is itself a result, "package".
 *
 * What counts. A result line counts when "=== RUN" announced its test, also behind output without a
 * newline; the worse result stays. So a forged "--- PASS" neither hides a failure nor makes a test that
 * never ran. A test that was announced and did not end (a panic, os.Exit, a time limit, a parallel
 * test left paused) is an error.
 *
 * Complete means: each package has its last line; the testing package said its own last word ("PASS",
 * "FAIL") in front of it; "ok" stands over no failed test and "FAIL" over one at least; the command's
 * status is 0 unless something failed. What remains: code under test that prints a whole run, the last
 * word included, and then ends the process with the status that fits. */
#include "verifier/readers/testlog_go_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct testlog_word words[] = {
	/* clang-format off */
	{ "PASS: ", TEST_PASSED },
	{ "FAIL: ", TEST_FAILED },
	{ "SKIP: ", TEST_SKIPPED },
	/* clang-format on */
};

/* Length of the " (0.00s)" that ends [@s, @n), 0 when it does not. */
static size_t elapsed(const char *s, size_t n)
{
	size_t i = n;

	if (n < 6 || s[n - 1] != ')' || s[n - 2] != 's')
		return 0;
	for (i = n - 2; i > 0 && (isdigit((unsigned char)s[i - 1]) || s[i - 1] == '.'); i--)
		;
	if (i == n - 2 || i < 2 || s[i - 1] != '(' || s[i - 2] != ' ')
		return 0;
	return n - i + 2;
}

bool testlog_go_line(const char *s, size_t n, struct testlog_go_line *ret)
{
	size_t tail = elapsed(s, n), end = n - tail, blanks = 0;

	if (!tail)
		return false;
	while (blanks < end && s[blanks] == ' ')
		blanks++;
	/* A name has no blanks, so the last mark in the line is the one that belongs to it. */
	ret->n = 0;
	for (size_t i = end; i-- > 0 && s[i] != ' ';)
		ret->n = end - i;
	if (!ret->n || ret->n + 10 > end)
		return false;
	ret->name = s + end - ret->n;
	s = ret->name - 10;
	if (memcmp(s, "--- ", 4) != 0 ||
	    !testlog_word(words, ARRAY_SIZE(words), s + 4, 6, &ret->status))
		return false;
	ret->glued = (size_t)(s - (ret->name + ret->n - end)) != blanks || blanks % 4;
	return true;
}

bool testlog_go_announced(const char *s, size_t n, const char **name, size_t *name_n)
{
	size_t k = strlen(TESTLOG_GO_RUN);
	const char *at = memmem(s, n, TESTLOG_GO_RUN, k);

	if (!at)
		return false;
	*name = at + k;
	*name_n = n - (size_t)(*name - s);
	return *name_n && !memchr(*name, ' ', *name_n);
}

bool testlog_go_bare(const char *s, size_t n)
{
	return n >= 4 && (memcmp(s + n - 4, "PASS", 4) == 0 || memcmp(s + n - 4, "FAIL", 4) == 0);
}

void testlog_go_run(struct testlog_go *g, const char *name, size_t n,
		    const struct testlog_line *line)
{
	auto_free char *id = testlog_name(name, n, NULL);
	struct test_result *t;

	g->announced = true;
	if (!*id)
		return;
	t = testlog_get(&g->t, id);
	if (!t) {
		testlog_add(&g->t, id, strlen(id), TEST_MISSING, line->from, line->to);
		t = testlog_get(&g->t, id);
	}
	if (t)
		t->again++;
}

/* SKIP hides a pass, a failure hides both. */
static bool worse(enum test_status now, enum test_status then)
{
	return then == TEST_MISSING || now == TEST_FAILED ||
	       (now == TEST_SKIPPED && then == TEST_PASSED);
}

void testlog_go_result(struct testlog_go *g, const struct testlog_go_line *result,
		       const struct testlog_line *line)
{
	auto_free char *id = testlog_name(result->name, result->n, NULL);
	struct test_result *t = testlog_get(&g->t, id);

	/* Without -v only failures are named, and nothing is announced. */
	if (!t && !g->announced && result->status == TEST_FAILED && !result->glued)
		testlog_add(&g->t, id, strlen(id), TEST_FAILED, line->from, line->to);
	/* A failure always counts: a forged pass may have come before it. */
	if (!t || (result->glued && !t->again && result->status != TEST_FAILED))
		return;
	if (t->again)
		t->again--;
	if (worse(result->status, t->status)) {
		t->status = result->status;
		t->to = line->to;
	}
}

/* The results of a package under their full names. Returns how many failed; an announced test
 * without an end is an error. */
static size_t put_all(const struct testlog_input *in, struct test_results *out,
		      const struct testlog_go *g, const char *pkg, size_t n)
{
	size_t failed = 0;

	for (size_t i = 0; i < g->t.n && !testlog_full(out); i++) {
		const struct test_result *t = &g->t.v[i];
		enum test_status s = t->again || t->status == TEST_MISSING ? TEST_ERROR : t->status;
		struct testlog_line span = { .from = t->from, .to = t->to };
		auto_free char *id = mem_printf("%.*s%s%s", (int)n, pkg, n ? "." : "", t->name);

		if (span.to < span.from)
			span.to = span.from;
		testlog_merge(in, out, id, strlen(id), s, &span);
		failed += s == TEST_FAILED;
	}
	return failed;
}

/* Do the last line of a package and its tests agree? */
static void agree(const struct testlog_go *g, struct test_results *out, const char *pkg, size_t n,
		  enum testlog_go_end end, size_t failed)
{
	int len = n && n < 200 ? (int)n : 200;

	if (end == TESTLOG_GO_CUT)
		testlog_incomplete(out, "the log ends while %.*s runs", len, n ? pkg : "a package");
	else if (end == TESTLOG_GO_OK && failed)
		testlog_incomplete(out, "%.*s is ok, but a test of it failed", len, pkg);
	else if (end == TESTLOG_GO_OK && !g->bare)
		testlog_incomplete(
			out,
			g->announced
				? "%.*s ended with status 0 before the tests were done"
				: "%.*s names no test: run with -v (or the tests were never run)",
			len, pkg);
	else if (end == TESTLOG_GO_FAIL && !g->bare)
		testlog_incomplete(out, "%.*s ended before its tests were done", len, pkg);
	else if (end == TESTLOG_GO_FAIL && !failed)
		testlog_incomplete(out, "%.*s failed, but no test of it did", len, pkg);
	else if (end == TESTLOG_GO_FAIL && !g->announced)
		testlog_incomplete(out, "%.*s names no test that passed: run with -v", len, pkg);
	if (g->t.incomplete)
		testlog_incomplete(out, "%s", g->t.note);
}

void testlog_go_done(const struct testlog_input *in, struct test_results *out, struct testlog_go *g,
		     const char *pkg, size_t n, enum testlog_go_end end,
		     const struct testlog_line *line)
{
	size_t limit = TESTLOG_NAME_MAX / 2;
	size_t failed = put_all(in, out, g, pkg, n < limit ? n : limit);

	if (end == TESTLOG_GO_BUILD)
		testlog_merge(in, out, pkg, n, TEST_ERROR, line);
	else if (end == TESTLOG_GO_FAIL && (!failed || !g->bare))
		testlog_merge(in, out, pkg, n, TEST_FAILED, line);
	agree(g, out, pkg, n, end, failed);
	testlog_done(&g->t);
	*g = (struct testlog_go){ 0 };
}

/* What stands in front of a package's name in its last line. */
static const struct {
	const char *text;
	enum testlog_go_end end;
} package_words[] = {
	/* clang-format off */
	{ "ok  \t", TESTLOG_GO_OK },
	{ "FAIL\t", TESTLOG_GO_FAIL },
	{ "?   \t", TESTLOG_GO_EMPTY },
	/* clang-format on */
};

/* Is [@s, @n) what follows the name: a time, "(cached)" or a reason in brackets? */
static bool package_rest(const char *s, size_t n, enum testlog_go_end *end)
{
	static const char build[] = " [build failed]", setup[] = " [setup failed]";

	if ((n == sizeof(build) - 1 && memcmp(s, build, n) == 0) ||
	    (n == sizeof(setup) - 1 && memcmp(s, setup, n) == 0)) {
		*end = TESTLOG_GO_BUILD;
		return true;
	}
	return n > 1 && s[0] == '\t' &&
	       (isdigit((unsigned char)s[1]) || s[1] == '(' || s[1] == '[');
}

bool testlog_go_package(const char *s, size_t n, const char **pkg, size_t *pkg_n,
			enum testlog_go_end *end)
{
	/* Output without a newline may stand in front; a tab behind four letters is what to look for. */
	for (size_t i = 0; i + 6 < n; i++) {
		size_t k = i + 5, from = k;

		if (s[i + 4] != '\t')
			continue;
		for (size_t w = 0; w < ARRAY_SIZE(package_words); w++) {
			if (memcmp(s + i, package_words[w].text, 5) != 0)
				continue;
			while (k < n && s[k] != '\t' && s[k] != ' ')
				k++;
			*end = package_words[w].end;
			*pkg = s + from;
			*pkg_n = k - from;
			if (k > from && package_rest(s + k, n - k, end))
				return true;
			k = from;
		}
	}
	return false;
}

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_go g;
	size_t packages;
};

static void on_line(struct reader *r, struct testlog_line *line)
{
	struct testlog_go_line result = { 0 };
	const char *pkg, *run;
	enum testlog_go_end end;
	size_t n;

	/* The mark of -test.v=test2json (Go 1.20), where a test binary is run by hand. */
	if (line->s[0] == 0x16) {
		line->s++;
		line->n--;
	}
	if (testlog_go_package(line->s, line->n, &pkg, &n, &end)) {
		r->packages++;
		if (end != TESTLOG_GO_EMPTY)
			testlog_go_done(r->in, r->out, &r->g, pkg, n, end, line);
		return;
	}
	if (testlog_go_line(line->s, line->n, &result)) {
		testlog_go_result(&r->g, &result, line);
		return;
	}
	if (testlog_go_announced(line->s, line->n, &run, &n))
		testlog_go_run(&r->g, run, n, line);
	else if (testlog_go_bare(line->s, line->n))
		r->g.bare = true;
}

int testlog_read_gotest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	if (r.g.t.n) {
		line = (struct testlog_line){ .s = "", .from = in->log_len, .to = in->log_len };
		testlog_go_done(in, out, &r.g, "", 0, TESTLOG_GO_CUT, &line);
	}
	if (!r.packages)
		testlog_incomplete(out, "no package ended: there is neither \"ok\" nor \"FAIL\"");
	testlog_run_exit(in, out);
	testlog_done(&r.g.t);
	buf_done(&it.text);
	return 0;
}

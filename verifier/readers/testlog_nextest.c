/* cargo nextest on the console (stderr). For its JSON see testlog_libtest_json.c, for JUnit "junit-xml".
 *
 *     "        PASS [   0.004s] (1/3) sample::bin/it module::test"
 *
 * Ids: binary id and test as they stand there, "sample::it module::test". The last result of a test
 * counts, since TRY lines come in front of it; "FLAKY 2/3" passed in the end, "FLKY-FL" and every word
 * that is not known failed. A test without SLOW's end is not reported at all.
 *
 * Complete means for each run: one "Summary" line, and as many passed, failed, exec failed and timed out
 * as it says (skipped tests are named only on request). nextest shows the output of failed tests, older
 * versions at the left margin: a line forged there makes the counts differ. Each run has one summary, so
 * a second one that a test printed shows too. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

enum { N_PASSED, N_FAILED, N_SKIPPED, N_COUNTS };

static const struct testlog_word words[] = {
	/* clang-format off */
	{ "PASS",         TEST_PASSED },
	{ "LEAK",         TEST_PASSED },
	{ "SLOW",         TEST_PASSED },
	{ "SLOW + LEAK",  TEST_PASSED },
	{ "TIMEOUT-PASS", TEST_PASSED },
	{ "SLOW+TMPASS",  TEST_PASSED },
	{ "SKIP",         TEST_SKIPPED },
	{ "TIMEOUT",      TEST_ERROR },
	{ "TMT",          TEST_ERROR },
	{ "XFAIL",        TEST_ERROR }, /* could not be executed */
	{ "ABORT",        TEST_ERROR },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct test_results t; /* of the run */
	uint64_t told[N_COUNTS];
	bool told_any;
	size_t runs;
};

/* Skip "TRY 2 " in front of a word. False when the word then says that the test still runs. */
static bool skip_try(const char **s, size_t *n)
{
	size_t digits;
	uint64_t v;

	if (*n < 6 || memcmp(*s, "TRY ", 4) != 0)
		return true;
	digits = testlog_digits(*s + 4, &v);
	if (!digits || digits + 5 > *n || (*s)[4 + digits] != ' ')
		return true;
	*s += digits + 5;
	*n -= digits + 5;
	return *n != 4 || memcmp(*s, "SLOW", 4) != 0;
}

static bool begins(const char *s, size_t n, const char *word)
{
	return n >= strlen(word) && memcmp(s, word, strlen(word)) == 0;
}

/* What [@s, @n) in front of the bracket says. False for words that are no result. */
static bool status_of(const char *s, size_t n, enum test_status *ret)
{
	static const char *const others[] = { "START", "RETRY", "DELAY", "SETUP", "KILL" };

	if (!skip_try(&s, &n))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (begins(s, n, others[i]))
			return false;
	*ret = TEST_PASSED;
	if (begins(s, n, "FLAKY ") || testlog_word(words, ARRAY_SIZE(words), s, n, ret))
		return true;
	/* FAIL, FAIL + LEAK, LEAK-FAIL, FLKY-FL 2/2, SIGSEGV, SIG 35, ... */
	if (!n || !isupper((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (islower((unsigned char)s[i]))
			return false;
	*ret = begins(s, n, "SIG") ? TEST_ERROR : TEST_FAILED;
	return true;
}

/* "[   0.004s] (1/3) id": where the id begins, NULL when this is no such bracket. A time behind ">"
 * belongs to a test that still runs. */
static const char *id_of(const char *s)
{
	s += strspn(s + 1, " ") + 1;
	if (isdigit((unsigned char)*s)) {
		s += strspn(s, "0123456789.");
		if (*s++ != 's')
			return NULL;
	}
	if (strncmp(s, "] ", 2) != 0)
		return NULL;
	s += 2;
	s += strspn(s, " ");
	/* the number of the test, of the run in a stress test; "(─────)" where it has none */
	while (*s == '(' || *s == '[') {
		const char *end = strchr(s, *s == '(' ? ')' : ']');

		if (!end || end[1] != ' ')
			return s;
		s = end + 1 + strspn(end + 1, " ");
	}
	return s;
}

/* The run is over: do results and summary agree? */
static void leave(struct reader *r)
{
	uint64_t seen[N_COUNTS] = { 0 };

	if (!r->told_any && !r->t.n)
		return;
	for (size_t i = 0; i < r->t.n && !testlog_full(r->out); i++) {
		const struct test_result *t = &r->t.v[i];

		seen[t->status == TEST_PASSED    ? N_PASSED
		     : t->status == TEST_SKIPPED ? N_SKIPPED
						 : N_FAILED]++;
		testlog_add_worse(r->out, t->name, strlen(t->name), t->status, t->from, t->to);
	}
	if (!r->told_any)
		testlog_incomplete(r->out, "no line \"Summary\" at the end");
	else if (seen[N_PASSED] != r->told[N_PASSED] || seen[N_FAILED] != r->told[N_FAILED])
		testlog_incomplete(
			r->out, "the summary says %llu passed, %llu failed; the lines %llu, %llu",
			(unsigned long long)r->told[N_PASSED],
			(unsigned long long)r->told[N_FAILED], (unsigned long long)seen[N_PASSED],
			(unsigned long long)seen[N_FAILED]);
	testlog_done(&r->t);
	r->told_any = false;
	memset(r->told, 0, sizeof(r->told));
}

/* "Summary [ 15.750s] 8/10 tests run: 5 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 2 skipped" */
static bool summary(struct reader *r, const char *s)
{
	static const struct {
		const char *text;
		unsigned count;
	} rows[] = {
		{ " passed", N_PASSED },    { " failed", N_FAILED },   { " exec failed", N_FAILED },
		{ " timed out", N_FAILED }, { " skipped", N_SKIPPED },
	};
	uint64_t told[N_COUNTS] = { 0 }, v;

	if (!str_starts(s, "Summary ["))
		return false;
	s = strstr(s, " run: ");
	if (!s)
		return false;
	for (s += strlen(" run: "); *s;) {
		size_t n = testlog_digits(s, &v);

		for (size_t i = 0; n && i < ARRAY_SIZE(rows); i++)
			if (str_starts(s + n, rows[i].text))
				told[rows[i].count] += v;
		/* what stands in parentheses is counted already */
		s += strcspn(s, ",(");
		if (*s == '(')
			s += strcspn(s, ")");
		s += strcspn(s, ",");
		s += strspn(s, ", ");
	}
	if (r->told_any)
		testlog_incomplete(r->out, "one run has two summaries");
	memcpy(r->told, told, sizeof(told));
	r->told_any = true;
	r->runs++;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " "), *bracket = strstr(s, " ["), *id;
	auto_free char *name = NULL;
	enum test_status status;
	struct test_result *t;

	/* "    Starting 3 tests across 2 binaries" */
	if (line->s[0] == ' ' && str_starts(s, "Starting ") && strstr(s, " across ")) {
		leave(r);
		return;
	}
	if (line->s[0] == ' ' && summary(r, s))
		return;
	/* The words are set flush right, 12 wide: the bracket stands in one column, but for words
	 * that are longer. */
	if (!bracket || bracket - line->s < 12 || (bracket - line->s > 12 && s != line->s) ||
	    !status_of(s, (size_t)(bracket - s), &status))
		return;
	id = id_of(bracket + 1);
	if (!id || !strchr(id, ' '))
		return;
	name = testlog_name(id, strlen(id), r->in->root);
	t = testlog_get(&r->t, name);
	if (!t) {
		testlog_add(&r->t, name, strlen(name), status, line->from, line->to);
		return;
	}
	/* Behind the summary failures are shown again, some under another word. */
	if (!r->told_any || status == TEST_FAILED || status == TEST_ERROR)
		t->status = status;
	t->to = line->to;
}

int testlog_read_nextest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	leave(&r);
	if (!r.runs)
		testlog_incomplete(out, "no run of nextest: there is no line \"Summary\"");
	testlog_run_exit(in, out);
	buf_done(&it.text);
	return 0;
}

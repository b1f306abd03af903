/* vitest with the reporters verbose and json.
 *
 * Ids: file, suites and test joined by " > ", as the reporter verbose prints them. A file or suite
 * that failed outside of its tests is a result, too, with status error. "todo" is skipped; a test
 * marked "fails" has vitest's own verdict.
 *
 * json: from the report file, or the documents on the output. Complete means that it lists as many
 * tests and failures as it counts, and that the "Tests" line of the console, should there be one,
 * says the same.
 *
 * verbose: of a title with newlines the first line is the id; times and "(retry x1)" behind it are
 * cut. vitest 1 does not name tests that are skipped in the source. Complete means that the numbers
 * of the "Tests" line add up to its total (they do not when a test never ran), that as many passes and
 * failures were named, and that there was no error outside of the tests.
 *
 * What cannot be told from the text: output of code that ends the process before vitest writes its
 * own. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_jest_internal.h"

#define VITEST_MARKS_MAX 16 /* marks on one line that are looked at */

struct verbose {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_run run;
	struct testlog_sums sums;
};

static const struct {
	const char *text;
	enum test_status status;
} marks[] = {
	/* clang-format off */
	{ " \xe2\x9c\x93 ", TEST_PASSED },  /* U+2713 */
	{ " \xe2\x88\x9a ", TEST_PASSED },  /* U+221A */
	{ " \xc3\x97 ",     TEST_FAILED },  /* U+00D7 */
	{ " \xe2\x86\x93 ", TEST_SKIPPED }, /* U+2193 */
	{ " \xe2\x96\xa1 ", TEST_SKIPPED }, /* U+25A1, todo */
	/* clang-format on */
};

/* Length of a name without what the reporter puts behind it. */
static size_t cut_suffixes(const char *s, size_t n)
{
	static const char *const words[] = { " (retry x", " (repeat x" };
	size_t before;

	do {
		before = n;
		n = testlog_run_cut_times(s, n, false);
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			size_t w = strlen(words[i]), at = n;

			if (!n || s[n - 1] != ')')
				continue;
			for (at--; at && s[at - 1] >= '0' && s[at - 1] <= '9';)
				at--;
			if (at >= w && at < n - 1 && memcmp(s + at - w, words[i], w) == 0)
				n = at - w;
		}
	} while (n != before);
	return n;
}

/* Does a name of a test begin at @s: "file > ..."? */
static bool names_test(const char *s)
{
	const char *sep = strstr(s, " > ");

	return *s != ' ' && sep && memchr(s, '.', (size_t)(sep - s));
}

/* A result, perhaps behind output without a newline. */
static bool on_result(struct verbose *v, const struct testlog_line *line)
{
	unsigned tries = VITEST_MARKS_MAX;

	for (const char *s = line->s; tries && (s = strchr(s, ' ')); s++)
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
			size_t n = strlen(marks[i].text);

			if (!str_starts(s, marks[i].text))
				continue;
			if (!names_test(s + n)) {
				tries--;
				break;
			}
			s += n;
			testlog_run_put(v->in, &v->run, s, cut_suffixes(s, strlen(s)),
					marks[i].status, line);
			return true;
		}
	return false;
}

/* " FAIL  file > suite > test", " FAIL  file [ file ]": the list of failures names one. */
static void on_fail(struct verbose *v, const char *s, const struct testlog_line *line)
{
	const char *bracket = strstr(s, " [ ");
	size_t n = bracket && str_ends(s, " ]") ? (size_t)(bracket - s) : strlen(s);
	auto_free char *id = testlog_name(s, cut_suffixes(s, n), v->in->root);
	struct test_result *t = testlog_get(&v->run.r, id);

	if (!t)
		testlog_add(&v->run.r, id, strlen(id), TEST_ERROR, line->from, line->to);
	else if (t->status != TEST_ERROR && !t->again)
		t->status = TEST_FAILED;
}

/* "      Tests  1 failed | 2 passed (3)": the parts and the total. */
static bool parse_summary(const char *s, uint64_t *failed, uint64_t *passed, uint64_t *skipped,
			  uint64_t *total)
{
	struct {
		const char *word;
		uint64_t *to;
	} words[] = { { "failed", failed },
		      { "passed", passed },
		      { "expected fail", passed },
		      { "skipped", skipped },
		      { "todo", skipped } };

	s += strspn(s, " ");
	if (!str_starts(s, "Tests  "))
		return false;
	s += strlen("Tests");
	s += strspn(s, " ");
	if (str_starts(s, "no tests"))
		return true;
	for (;;) {
		uint64_t v;
		size_t n = testlog_digits(s, &v), i = 0, w;

		if (!n || s[n] != ' ')
			return false;
		s += n + 1;
		w = strcspn(s, "|(");
		while (w && s[w - 1] == ' ')
			w--;
		while (i < ARRAY_SIZE(words) &&
		       (strlen(words[i].word) != w || strncmp(s, words[i].word, w) != 0))
			i++;
		if (i == ARRAY_SIZE(words))
			return false;
		*words[i].to += v;
		s += strcspn(s, "|(");
		if (*s != '|')
			break;
		s += 1 + strspn(s + 1, " ");
	}
	return *s == '(' && testlog_digits(s + 1, total);
}

static bool on_summary(struct verbose *v, const struct testlog_line *line)
{
	uint64_t failed = 0, passed = 0, skipped = 0, total = 0;

	if (!parse_summary(line->s, &failed, &passed, &skipped, &total))
		return false;
	if (failed + passed + skipped != total)
		testlog_incomplete(v->out, "%llu of %llu tests did not end",
				   (unsigned long long)(total - failed - passed - skipped),
				   (unsigned long long)total);
	if (v->run.n[TEST_PASSED] != passed || v->run.n[TEST_FAILED] != failed ||
	    v->run.n[TEST_SKIPPED] > skipped)
		testlog_incomplete(
			v->out,
			"%llu passed and %llu failed are counted, %llu and %llu named (reporter verbose?)",
			(unsigned long long)passed, (unsigned long long)failed,
			(unsigned long long)v->run.n[TEST_PASSED],
			(unsigned long long)v->run.n[TEST_FAILED]);
	v->sums.summaries++;
	v->sums.failed += failed;
	v->sums.total += total;
	testlog_run_end(&v->run, v->out);
	return true;
}

/* "     Errors  1 error" below the summary. */
static bool on_errors(struct verbose *v, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " ");
	uint64_t n;

	if (!v->sums.summaries || !str_starts(s, "Errors  "))
		return false;
	s += strlen("Errors");
	s += strspn(s, " ");
	if (!testlog_digits(s, &n) || !n)
		return false;
	testlog_incomplete(v->out, "vitest counts %llu errors outside of the tests",
			   (unsigned long long)n);
	return true;
}

static void read_verbose(const struct testlog_input *in, struct test_results *out,
			 struct testlog_sums *ret)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct verbose v = { .in = in, .out = out };
	struct testlog_line line;

	while (testlog_next(&it, &line)) {
		if (on_summary(&v, &line) || on_errors(&v, &line))
			continue;
		if (testlog_starts(&line, " FAIL  "))
			on_fail(&v, line.s + strlen(" FAIL  "), &line);
		else
			on_result(&v, &line);
	}
	if (v.run.r.n || !v.sums.summaries)
		testlog_incomplete(out,
				   "vitest did not finish: no \"Tests\" line behind the results");
	testlog_run_end(&v.run, out);
	*ret = v.sums;
	buf_done(&it.text);
}

int testlog_read_vitest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct testlog_sums console = { 0 }, docs = { 0 };
	struct test_results shown = { 0 };
	bool any;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	read_verbose(in, &shown, &console);
	any = testlog_jest_docs(in, " > ", out, &docs);
	testlog_run_finish(in, any, &console, &docs, &shown, out);
	return 0;
}

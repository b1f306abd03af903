/* meson test: its console, or meson-logs/testlog.json as the report.
 *
 *     " 2/21 sample:suite / name    FAIL    0.09s   exit status 1"
 *
 * Ids: "project:suite / name", as meson writes it in both. What a test says in TAP is not looked at: the
 * test as a whole has one result. UNEXPECTEDPASS is failed, as meson's own status has it; ERROR (status
 * 99), TIMEOUT and INTERRUPT are errors. Of testlog.json only names and results are read: it holds the
 * whole environment of every test.
 *
 * Complete means for each run: the counts at its end agree with the results, and status 0 unless one
 * failed. A line that a test printed shows by its number, which the runner gives once, or by the counts;
 * the worse result of a number stays. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_numbered_internal.h"

/* Lines of the summary. */
enum { N_OK, N_XFAIL, N_FAIL, N_XPASS, N_SKIP, N_TIMEOUT, N_COUNTS };

static const char *const counts[N_COUNTS] = {
	"Ok:", "Expected Fail:", "Fail:", "Unexpected Pass:", "Skipped:", "Timeout:"
};

static const struct {
	const char *text;
	enum test_status status;
	unsigned count;
} words[] = {
	/* clang-format off */
	{ "OK",             TEST_PASSED,  N_OK },
	{ "FAIL",           TEST_FAILED,  N_FAIL },
	{ "SKIP",           TEST_SKIPPED, N_SKIP },
	{ "ERROR",          TEST_ERROR,   N_FAIL },
	{ "EXPECTEDFAIL",   TEST_XFAIL,   N_XFAIL },
	{ "UNEXPECTEDPASS", TEST_FAILED,  N_XPASS },
	{ "TIMEOUT",        TEST_ERROR,   N_TIMEOUT },
	{ "INTERRUPT",      TEST_ERROR,   N_FAIL },
	/* clang-format on */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_numbered t;
	uint64_t total; /* of all tests, as the numbers say; 0 before the first */
	uint64_t seen[N_COUNTS], told[N_COUNTS];
	bool ok_told, fail_told; /* those two are in every summary */
	bool written;            /* "Full log written to": the run is over */
	size_t runs;
};

static int word_of(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && memcmp(words[i].text, s, n) == 0)
			return (int)i;
	return -1;
}

/* Do results and summary agree? */
static void agree(struct reader *r)
{
	if (!r->ok_told || !r->fail_told) {
		testlog_incomplete(r->out, "no summary (\"Ok:\", \"Fail:\") at the end");
		return;
	}
	for (size_t i = 0; i < N_COUNTS; i++) {
		if (r->seen[i] == r->told[i])
			continue;
		testlog_incomplete(r->out, "%s %llu in the summary, %llu in the results%s",
				   counts[i], (unsigned long long)r->told[i],
				   (unsigned long long)r->seen[i],
				   i == N_OK ? " (run without --quiet)" : "");
		return;
	}
}

static void reset(struct reader *r)
{
	memset(r->seen, 0, sizeof(r->seen));
	memset(r->told, 0, sizeof(r->told));
	r->ok_told = r->fail_told = r->written = false;
	r->total = 0;
}

static void leave(struct reader *r)
{
	if (r->t.n || r->ok_told)
		agree(r);
	testlog_numbered_done(&r->t, r->in, r->out);
	reset(r);
}

/* "Ok:                 3   " */
static bool summary(struct reader *r, const struct testlog_line *line)
{
	for (size_t i = 0; i < N_COUNTS; i++) {
		size_t k = strlen(counts[i]);
		const char *s = line->s + k;
		uint64_t v;

		if (!testlog_starts(line, counts[i]))
			continue;
		s += strspn(s, " ");
		if (!testlog_digits(s, &v))
			return false;
		r->told[i] = v;
		r->ok_told |= i == N_OK;
		r->fail_told |= i == N_FAIL;
		return true;
	}
	return false;
}

/* Does "0.09s" stand at @s, with nothing or three blanks behind it? */
static bool is_time(const char *s)
{
	size_t n = strspn(s, "0123456789.");

	return n && s[n] == 's' && (!s[n + 1] || str_starts(s + n + 1, "   "));
}

/* "name   WORD   0.09s ...": length of the name, 0 when it is none; the last such word decides, a
 * name may hold another. */
static size_t result_of(const char *s, size_t n, int *ret)
{
	size_t end = n;

	while (end > 0) {
		size_t word = end, blanks;
		int found;

		while (word > 0 && s[word - 1] != ' ')
			word--;
		blanks = end + strspn(s + end, " ");
		found = word_of(s + word, end - word);
		if (found >= 0 && word > 1 && blanks > end && is_time(s + blanks)) {
			*ret = found;
			while (word > 0 && s[word - 1] == ' ')
				word--;
			return word;
		}
		end = word;
		while (end > 0 && s[end - 1] == ' ')
			end--;
	}
	return 0;
}

static void on_result(struct reader *r, uint64_t number, const char *s, size_t n, int word,
		      const struct testlog_line *line)
{
	struct testlog_numbered_row *row = testlog_numbered_at(&r->t, number, s, n, line);

	if (!row) {
		testlog_incomplete(r->out, "too many tests");
		return;
	}
	if (strlen(row->name) != n || memcmp(row->name, s, n) != 0) {
		testlog_incomplete(r->out, "test %llu has two names: %.100s",
				   (unsigned long long)number, row->name);
		return;
	}
	if (row->decided) {
		/* "Summary of Failures" shows lines again. */
		if (testlog_worse(words[word].status, row->status))
			row->status = words[word].status;
		return;
	}
	row->decided = true;
	row->status = words[word].status;
	row->to = line->to;
	r->seen[words[word].count]++;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " ");
	uint64_t number, total;
	size_t k = testlog_digits(s, &number), n;
	int word = -1;

	if (testlog_starts(line, "Full log written to ")) {
		r->written = true;
		return;
	}
	if (!k || k > 9 || s[k] != '/') {
		summary(r, line);
		return;
	}
	s += k + 1;
	k = testlog_digits(s, &total);
	if (!k || s[k] != ' ')
		return;
	s += k + 1;
	n = result_of(s, line->n - (size_t)(s - line->s), &word);
	if (!n && !strstr(s, " RUNNING "))
		return;
	if (r->written)
		leave(r);
	if (!r->total) {
		r->total = total;
		r->runs++;
	}
	if (n && total == r->total)
		on_result(r, number, s, n, word, line);
}

/* One line of testlog.json. */
static bool on_record(struct reader *r, struct jslice record, size_t number)
{
	struct jslice result = jslice_get(record, "result");
	struct testlog_line span = { .from = (uint64_t)(record.s - r->in->report) };
	size_t n = 0;
	auto_free char *name = jslice_text(jslice_get(record, "name"), &n);
	int word = jslice_kind(result) == '"' ? word_of(result.s + 1, result.n - 2) : -1;

	if (!name || !n || memchr(name, '\0', n) || word < 0)
		return false;
	span.to = span.from + record.n;
	on_result(r, number, name, n, word, &span);
	return true;
}

static void read_json(struct reader *r)
{
	struct err bad = { 0 };
	struct jslice record;
	size_t at = 0, n = 0;
	int rc;

	while ((rc = jslice_next("testlog.json", r->in->report, r->in->report_len, &at, &record,
				 &bad)) > 0 &&
	       !testlog_full(r->out)) {
		if (!on_record(r, record, n++))
			testlog_incomplete(r->out, "a line of testlog.json has no name or result");
	}
	if (rc < 0)
		testlog_incomplete(r->out, "%s", bad.text);
}

int testlog_read_meson(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	if (in->report) {
		read_json(&r);
		r.runs += r.t.n > 0;
	}
	while (testlog_next(&it, &line) && !testlog_full(out)) {
		if (in->report)
			summary(&r, &line);
		else
			on_line(&r, &line);
	}
	leave(&r);
	if (!r.runs)
		testlog_incomplete(out, "meson ran no test");
	testlog_run_exit(in, out);
	buf_done(&it.text);
	return 0;
}

#include "verifier/readers/testlog_run_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

void testlog_run_put(const struct testlog_input *in, struct testlog_run *run, const char *name,
		     size_t n, enum test_status s, const struct testlog_line *line)
{
	if (testlog_full(&run->r))
		return;
	testlog_put(in, &run->r, name, n, s, line);
	if ((size_t)s < ARRAY_SIZE(run->n))
		run->n[s]++;
}

void testlog_run_end(struct testlog_run *run, struct test_results *out)
{
	testlog_join(&run->r, out);
	testlog_done(&run->r);
	*run = (struct testlog_run){ .n = { 0 } };
}

void testlog_sums_check(const struct testlog_sums *console, const struct testlog_sums *docs,
			struct test_results *out)
{
	if (console->summaries &&
	    (console->failed != docs->failed || console->total != docs->total))
		testlog_incomplete(
			out,
			"the report has %llu tests with %llu failures, the console %llu with %llu",
			(unsigned long long)docs->total, (unsigned long long)docs->failed,
			(unsigned long long)console->total, (unsigned long long)console->failed);
}

void testlog_run_finish(const struct testlog_input *in, bool any,
			const struct testlog_sums *console, const struct testlog_sums *docs,
			struct test_results *shown, struct test_results *out)
{
	if (any) {
		testlog_sums_check(console, docs, out);
		testlog_done(shown);
	} else {
		testlog_done(out);
		*out = *shown;
		*shown = (struct test_results){ 0 };
	}
	testlog_run_exit(in, out);
}

static size_t blanks(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n'))
		i++;
	return i;
}

/* The next place behind @from where "{" and one of the keys and ":" stand; SIZE_MAX when there is
 * none. */
static size_t find_doc(const struct testlog_docs *d, size_t from)
{
	const char *log = d->in->log;
	size_t n = d->in->log_len, best = SIZE_MAX;

	for (size_t k = 0; d->first[k]; k++) {
		size_t len = strlen(d->first[k]);
		const char *at = log + from;

		while ((at = memmem(at, n - (size_t)(at - log), d->first[k], len))) {
			size_t open = (size_t)(at - log), end = open + len;

			at += len;
			while (open > from && blanks(log + open - 1, 1))
				open--;
			end += blanks(log + end, n - end);
			if (open > from && log[open - 1] == '{' && end < n && log[end] == ':') {
				best = open - 1 < best ? open - 1 : best;
				break;
			}
		}
	}
	return best;
}

/* The report file as one document. */
static bool report_doc(struct testlog_docs *d, struct test_results *out, struct jslice *ret)
{
	struct err err = { 0 };

	d->end = true;
	if (jslice_parse("report", d->in->report, d->in->report_len, ret, &err) == 0 &&
	    jslice_kind(*ret) == '{')
		return true;
	testlog_incomplete(out, "the report file is no whole JSON object: %s",
			   *err.text ? err.text : "another value");
	return false;
}

bool testlog_docs_next(struct testlog_docs *d, struct test_results *out, struct jslice *ret)
{
	if (!d->end && d->in->report)
		return report_doc(d, out, ret);
	while (!d->end) {
		struct err err = { 0 };
		size_t at = find_doc(d, d->at);

		if (at == SIZE_MAX) {
			d->end = true;
		} else if (d->tried++ == TESTLOG_DOCS_MAX || d->broken == TESTLOG_BROKEN_MAX) {
			testlog_incomplete(out, "more than %d JSON documents on the output",
					   TESTLOG_DOCS_MAX);
			d->end = true;
		} else if (jslice_next("output", d->in->log, d->in->log_len, &at, ret, &err) == 1) {
			d->at = at;
			return true;
		} else {
			testlog_incomplete(out, "a JSON document on the output is broken: %s",
					   err.text);
			d->at = at + 1;
			d->broken++;
		}
	}
	return false;
}

bool testlog_docs_u64(struct jslice obj, const char *key, uint64_t *ret)
{
	struct jslice v = jslice_get(obj, key);

	/* Something that is no digit follows it: a number stands in an object here. */
	return jslice_kind(v) == '0' && testlog_digits(v.s, ret) == v.n;
}

/* Where the number begins that ends at @s[@n], with a point in it when @point. */
static size_t number_start(const char *s, size_t n, bool point)
{
	while (n && (isdigit((unsigned char)s[n - 1]) || (point && s[n - 1] == '.')))
		n--;
	return n;
}

/* Length of " 12ms" at the end of [@s, @n), 0 when there is none. */
static size_t plain_time(const char *s, size_t n)
{
	size_t i;

	if (n < 4 || memcmp(s + n - 2, "ms", 2) != 0)
		return 0;
	i = number_start(s, n - 2, false);
	return i < n - 2 && i && s[i - 1] == ' ' ? n - i + 1 : 0;
}

/* Length of " (12ms)", " (12 ms)" or " (1.2 s)" at the end of [@s, @n), 0 when there is none. */
static size_t bracketed_time(const char *s, size_t n)
{
	size_t end, i;

	if (n < 5 || memcmp(s + n - 2, "s)", 2) != 0)
		return 0;
	end = n - 2;
	end -= s[end - 1] == 'm';
	end -= s[end - 1] == ' ';
	i = number_start(s, end, true);
	return i < end && isdigit((unsigned char)s[end - 1]) && i > 1 && s[i - 1] == '(' &&
			       s[i - 2] == ' '
		       ? n - i + 2
		       : 0;
}

size_t testlog_run_cut_times(const char *s, size_t n, bool brackets)
{
	size_t len;

	while ((len = brackets ? bracketed_time(s, n) : plain_time(s, n)))
		n -= len;
	return n;
}

/* pytest 3 to 9 with -rA, with -v, or both.
 *
 * Two places name tests: the lines "PASSED id", "FAILED id - why" of the section "short test summary
 * info" (complete only with -rA), and the progress lines "id PASSED  [ 42%]" of -v in front of the
 * first heading. Of several summary sections the last one counts, and body lines never do: what a
 * test printed is repeated under "Captured stdout" at the left margin. When the section names as
 * many passes as the last line counts, it is used alone; otherwise the -v lines come first and the
 * section adds to them. A test that is named twice (passed, then an error in teardown) keeps the
 * worse status.
 *
 * Ids hold blanks, brackets and " - ": see cut_message(). "SKIPPED [2] file:line: why" has no id;
 * it is kept as "file:line".
 *
 * Complete means: the last line with the counts is there, as many passes were named as it counts,
 * and the exit status fits it (0 without, 1 with failures; 2 to 5 and signals never). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/readers/testlog_internal.h"

/* Words of the summary section and of -v lines. */
static const struct word {
	const char *text;
	enum test_status status;
} words[] = {
	{ "PASSED", TEST_PASSED },   { "FAILED", TEST_FAILED },    { "ERROR", TEST_ERROR },
	{ "SKIPPED", TEST_SKIPPED }, { "XFAIL", TEST_XFAIL },      { "XPASS", TEST_XPASS },
	{ "SUBFAIL", TEST_FAILED },  { "SUBFAILED", TEST_FAILED },
};

/* What the last line counts. */
struct counts {
	bool seen;
	uint64_t passed, failed, errors;
};

/* Where things are in the log. */
struct layout {
	uint64_t heading; /* offset of the first heading behind the progress lines */
	uint64_t section; /* offset behind the last summary header */
	bool has_section;
	uint64_t end; /* offset of the last line with counts */
	struct counts counts;
	uint64_t section_passed; /* PASSED lines of the section */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct layout at;
	struct test_results known; /* ids of -v lines */
};

/* The text of a heading "==== text ====", NULL when the line is none. */
static const char *heading(const struct testlog_line *line, size_t *ret_n)
{
	const char *s = line->s, *e = line->s + line->n;

	while (s < e && *s == '=')
		s++;
	while (e > s && e[-1] == '=')
		e--;
	if (s == line->s || e - s < 3 || s[0] != ' ' || e[-1] != ' ')
		return NULL;
	*ret_n = (size_t)(e - s) - 2;
	return s + 1;
}

/* The headings that end the progress lines; a test run with -s may print others. */
static const char *const headings[] = {
	"ERRORS",
	"FAILURES",
	"PASSES",
	"XPASSES",
	"XFAILURES",
	"warnings summary",
	"short test summary info",
};

static bool heading_is(const struct testlog_line *line, const char *text)
{
	size_t n;
	const char *s = heading(line, &n);

	return s && n == strlen(text) && memcmp(s, text, n) == 0;
}

/* One "13 passed" or "3 subtests passed" of the last line; moves *s behind it. */
static bool parse_count(const char **s, const char *e, struct counts *c)
{
	const char *p = *s, *w;
	uint64_t v = 0;
	size_t n;

	for (; p < e && isdigit((unsigned char)*p) && p - *s < 10; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == *s || p == e || *p != ' ')
		return false;
	for (w = ++p; p < e && *p != ',' && !(e - p > 4 && memcmp(p, " in ", 4) == 0);)
		p++;
	n = (size_t)(p - w);
	*s = p;
	if (n == 6 && memcmp(w, "passed", n) == 0)
		c->passed = v;
	else if (n == 6 && memcmp(w, "failed", n) == 0)
		c->failed = v;
	else if (n >= 5 && memcmp(w, "error", 5) == 0)
		c->errors = v;
	return n && n <= 40;
}

/* "2 failed, 13 passed, 1 warning in 0.08s", perhaps between "=" and with " (0:01:02)". */
static bool parse_counts(const struct testlog_line *line, struct counts *ret)
{
	struct counts c = { .seen = true };
	size_t n = line->n;
	const char *s = heading(line, &n), *e;

	s = s ? s : line->s;
	e = s + n;
	if (n > 17 && memcmp(s, "no tests ran in ", 16) == 0) {
		*ret = c;
		return true;
	}
	while (parse_count(&s, e, &c)) {
		if (e - s > 2 && memcmp(s, ", ", 2) == 0) {
			s += 2;
			continue;
		}
		/* " in 0.08s", or " in 0.08 seconds" before pytest 5 */
		if (e - s < 6 || memcmp(s, " in ", 4) != 0 || !isdigit((unsigned char)s[4]))
			return false;
		*ret = c;
		return true;
	}
	return false;
}

static const struct word *find_word(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && memcmp(words[i].text, s, n) == 0)
			return &words[i];
	return NULL;
}

/* The word at the start of a summary line, and what follows its blank. */
static const struct word *leading_word(const struct testlog_line *line, const char **ret_rest)
{
	size_t n = strcspn(line->s, " [(");
	const struct word *w = find_word(line->s, n);

	if (!w)
		return NULL;
	/* "SUBFAILED[message] (i=1) id" of pytest 9: the id begins at the blank before its "::" */
	if (strncmp(w->text, "SUB", 3) == 0) {
		const char *colon = strstr(line->s + n, "::");

		while (colon && colon > line->s + n && *colon != ' ')
			colon--;
		if (colon)
			n = (size_t)(colon - line->s);
	}
	if (line->s[n] != ' ')
		return NULL;
	*ret_rest = line->s + n + 1;
	return w;
}

/* First walk: headings and counts. */
static void survey(struct reader *r)
{
	struct testlog_lines it = TESTLOG_LINES(r->in->log, r->in->log_len);
	struct layout *at = &r->at;
	struct testlog_line line;
	const char *rest;

	at->heading = UINT64_MAX;
	while (testlog_next(&it, &line)) {
		const struct word *w;

		if (heading_is(&line, "short test summary info")) {
			at->has_section = true;
			at->section = line.to;
			at->section_passed = 0;
			at->counts.seen = false;
		} else if (parse_counts(&line, &at->counts)) {
			at->end = line.from;
		} else if (at->has_section && !at->counts.seen &&
			   (w = leading_word(&line, &rest))) {
			at->section_passed += w->status == TEST_PASSED;
		}
		for (size_t i = 0; at->heading == UINT64_MAX && i < ARRAY_SIZE(headings); i++)
			if (heading_is(&line, headings[i]))
				at->heading = line.from;
	}
	buf_done(&it.text);
}

/* Position of the bracket that opens the parameters, NULL when there are none. Directories may hold
 * brackets, so it is looked for behind "::". */
static const char *parameters(const char *id)
{
	const char *colon = strstr(id, "::");

	return colon ? strchr(colon, '[') : NULL;
}

/* Is what stands in front of @n the end of an id that -v lines know? */
static bool known_id(const struct reader *r, const char *s, size_t n)
{
	auto_free char *id = testlog_name(s, n, r->in->root);

	return testlog_get(&r->known, id) != NULL;
}

/* Length of the id in "id - message". An id with parameters may hold " - " itself, so: the longest
 * prefix that a -v line named; otherwise the first " - " that follows a "]", or any when no
 * parameters were opened before it. */
static size_t cut_message(const struct reader *r, const char *s)
{
	const char *open = parameters(s), *at = s;
	size_t len = strlen(s), best = 0;

	for (unsigned tries = 0; r->known.n && at && tries < 64; tries++) {
		size_t n;

		at = strstr(at, " - ");
		n = at ? (size_t)(at - s) : len;
		if (known_id(r, s, n))
			best = n;
		at = at ? at + 3 : NULL;
	}
	if (best)
		return best;
	for (at = s; (at = strstr(at, " - ")); at += 3)
		if (!open || at < open || at[-1] == ']')
			return (size_t)(at - s);
	return len;
}

/* "XPASS id reason" (pytest 8 and later: "id - reason"): without parameters the id has no blank. */
static size_t cut_reason(const struct reader *r, const char *s)
{
	size_t n = cut_message(r, s);
	const char *open = parameters(s), *at;

	if (s[n])
		return n;
	if (!open) {
		at = strstr(s, "::");
		at = at ? strchr(at, ' ') : NULL;
		return at ? (size_t)(at - s) : n;
	}
	for (at = open; (at = strchr(at, ']')); at++)
		if (!at[1] || at[1] == ' ')
			return (size_t)(at + 1 - s);
	return n;
}

/* "SKIPPED [2] file:line: why" to "file:line". */
static bool skipped_place(const char **s, size_t *n)
{
	const char *p = *s + 1, *colon;

	if (**s != '[')
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	if (strncmp(p, "] ", 2) != 0)
		return false;
	p += 2;
	colon = strstr(p, ": ");
	*s = p;
	*n = colon ? (size_t)(colon - p) : strlen(p);
	return true;
}

static void on_summary_line(struct reader *r, const struct testlog_line *line)
{
	const char *rest;
	const struct word *w = leading_word(line, &rest);
	size_t n;

	if (!w || !*rest || *rest == ' ')
		return;
	if (w->status != TEST_SKIPPED || !skipped_place(&rest, &n))
		n = w->status == TEST_XPASS ? cut_reason(r, rest) : cut_message(r, rest);
	/* A passed test has no message, so the line is the id to its end. */
	if (w->status == TEST_PASSED)
		n = strlen(rest);
	while (n && rest[n - 1] == ' ')
		n--;
	testlog_merge(r->in, r->out, rest, n, w->status, line);
}

/* Drop "[ 42%]" or "[ 3/22]" and blanks from the end of a -v line of @n bytes. */
static size_t trim_progress(const char *s, size_t n)
{
	size_t i;

	while (n && s[n - 1] == ' ')
		n--;
	if (!n || s[n - 1] != ']')
		return n;
	for (i = n - 1; i && (isdigit((unsigned char)s[i - 1]) || strchr(" %/.:smh", s[i - 1]));)
		i--;
	if (!i || s[i - 1] != '[')
		return n;
	for (i--; i && s[i - 1] == ' ';)
		i--;
	return i;
}

/* "[gw0] [ 42%] PASSED id": pytest-xdist. */
static bool xdist_line(const char *s, size_t n, const struct word **ret_w, const char **ret_id,
		       size_t *ret_n)
{
	const char *p;
	size_t len;

	if (n < 4 || memcmp(s, "[gw", 3) != 0 || !(p = strstr(s, "] ")))
		return false;
	p += 2;
	if (*p == '[' && (p = strstr(p, "] ")))
		p += 2;
	if (!p)
		return false;
	len = strcspn(p, " ");
	*ret_w = find_word(p, len);
	if (!*ret_w || p[len] != ' ')
		return false;
	*ret_id = p + len + 1;
	*ret_n = (size_t)(s + n - *ret_id);
	return true;
}

/* "id STATUS" or "id STATUS (reason)". The status is the last word, or the first one that stands in
 * front of a bracketed reason. */
static const struct word *status_of(const char *s, size_t n, size_t *ret_n)
{
	size_t from = n;

	while (from && s[from - 1] != ' ')
		from--;
	if (from && find_word(s + from, n - from)) {
		*ret_n = from - 1;
		return find_word(s + from, n - from);
	}
	if (!n || s[n - 1] != ')')
		return NULL;
	for (size_t i = 0; i + 1 < n; i++) {
		size_t len;
		const struct word *w;

		if (s[i] != ' ')
			continue;
		len = strcspn(s + i + 1, " ");
		w = find_word(s + i + 1, len);
		if (w && w->status >= TEST_SKIPPED && strncmp(s + i + 1 + len, " (", 2) == 0) {
			*ret_n = i;
			return w;
		}
	}
	return NULL;
}

static void on_verbose_line(struct reader *r, const struct testlog_line *line)
{
	size_t n = line->n, id_n = 0;
	const char *id = line->s;
	const struct word *w = NULL;

	if (!memmem(line->s, n, "::", 2))
		return;
	if (!xdist_line(line->s, trim_progress(line->s, n), &w, &id, &id_n)) {
		id = line->s;
		w = status_of(line->s, trim_progress(line->s, n), &id_n);
	}
	/* "id <- file STATUS": the test is defined elsewhere */
	for (size_t i = id_n; i-- > 0 && id[i] != ']';)
		if (id_n - i > 4 && memcmp(id + i, " <- ", 4) == 0)
			id_n = i;
	if (w && id_n && *id != ' ')
		testlog_merge(r->in, &r->known, id, id_n, w->status, line);
}

/* Walk over the lines of [from, to). */
static void walk(struct reader *r, uint64_t from, uint64_t to,
		 void (*fn)(struct reader *r, const struct testlog_line *line))
{
	struct testlog_lines it = TESTLOG_LINES(r->in->log, r->in->log_len);
	struct testlog_line line;

	it.at = from;
	while (testlog_next(&it, &line) && line.from < to)
		fn(r, &line);
	buf_done(&it.text);
}

static uint64_t count(const struct test_results *r, enum test_status s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].status == s;
	return n;
}

/* Does what was named fit the counts and the exit status? */
static void judge(struct reader *r)
{
	const struct counts *c = &r->at.counts;
	uint64_t passed = count(r->out, TEST_PASSED), errors = count(r->out, TEST_ERROR);
	int status = r->in->exit_status;

	if (!c->seen)
		testlog_incomplete(
			r->out, "pytest did not finish: the last line with the counts is missing");
	else if (!r->out->n)
		testlog_incomplete(r->out,
				   "%llu passed and %llu failed tests counted, none named: "
				   "run pytest with -rA",
				   (unsigned long long)c->passed, (unsigned long long)c->failed);
	/* A test that passed and then failed in teardown is counted twice and is an error here. */
	else if (passed > c->passed || passed + errors < c->passed)
		testlog_incomplete(r->out, "%llu passed tests named, %llu counted",
				   (unsigned long long)passed, (unsigned long long)c->passed);
	if (status > 1)
		testlog_incomplete(r->out, "pytest ended with status %d", status);
	else if (status == 1 && c->seen && !c->failed && !c->errors)
		testlog_incomplete(r->out, "exit status 1, but no failure is counted");
}

int testlog_read_pytest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	uint64_t progress_end;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	survey(&r);
	progress_end = r.at.counts.seen && r.at.end < r.at.heading ? r.at.end : r.at.heading;
	walk(&r, 0, progress_end, on_verbose_line);
	if (!r.at.has_section || !r.at.counts.seen || r.at.section_passed < r.at.counts.passed) {
		for (size_t i = 0; i < r.known.n; i++) {
			const struct test_result *t = &r.known.v[i];

			testlog_add(out, t->name, strlen(t->name), t->status, t->from, t->to);
		}
	}
	if (r.at.has_section)
		walk(&r, r.at.section, r.at.counts.seen ? r.at.end : in->log_len, on_summary_line);
	judge(&r);
	testlog_done(&r.known);
	return 0;
}

/* pytest 3 to 9 with -rA, with -v, or both; pytest-xdist and subtests too.
 *
 * Two places name tests: the lines "PASSED id", "FAILED id - why" of the section "short test summary
 * info" (complete only with -rA), and the progress lines "id PASSED  [ 42%]" of -v in front of the
 * first heading. Of several summary sections in a session the last one counts, and body lines never
 * do: what a test printed is repeated under "Captured stdout" at the left margin, and a test may have
 * run pytest itself. When the section names as many passes as the last line counts, it is used alone;
 * otherwise the -v lines come first and the section adds to them. A test that is named twice (passed,
 * then an error in teardown, or with a failed subtest) keeps the worse status, also over several
 * sessions. An earlier section can take a pass away from the last one, but not add any.
 *
 * Ids hold blanks, brackets and " - ": see cut_message(). "SKIPPED [2] file:line: why" has no id;
 * it is kept as "file:line".
 *
 * Complete means of each session: the last line with the counts is there, as many passes were named
 * as it counts, no fewer failures, no more unexpected passes, and the exit status fits (0 without,
 * 1 with failures; 2 to 5 and signals never). Status 0 with failures is no contradiction: commands
 * may end in a pipe, and a failure is a failure.
 *
 * What cannot be told from the text: code that writes a whole session of its own to the terminal and
 * ends the process before pytest says a word. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/readers/testlog_pytest_internal.h"

/* Words of the summary section and of -v lines. */
static const struct word {
	const char *text;
	enum test_status status;
} words[] = {
	{ "PASSED", TEST_PASSED },   { "FAILED", TEST_FAILED },    { "ERROR", TEST_ERROR },
	{ "SKIPPED", TEST_SKIPPED }, { "XFAIL", TEST_XFAIL },      { "XPASS", TEST_XPASS },
	{ "SUBFAIL", TEST_FAILED },  { "SUBFAILED", TEST_FAILED },
};

/* What one place (the section, or -v lines) named. */
struct named {
	uint64_t failures;          /* lines */
	struct test_results passed; /* ids that a line called PASSED, whatever became of them */
	struct test_results xpassed;
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_pytest_session *at;
	struct test_results known; /* ids of -v lines */
	struct test_results
		begun; /* lines that are an id alone: xdist's, when it hands out a test */
	struct named section, verbose;
	bool within; /* in an earlier summary section */
};

static const struct word *find_word(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && memcmp(words[i].text, s, n) == 0)
			return &words[i];
	return NULL;
}

static bool is_subtest(const struct word *w)
{
	return strncmp(w->text, "SUB", 3) == 0;
}

/* The word at the start of a summary line, and what follows it: for subtests their description
 * comes first, "SUBFAILED[message] (i=1) id" (pytest 9). */
static const struct word *leading_word(const struct testlog_line *line, const char **ret_rest)
{
	size_t n = strcspn(line->s, " [(");
	const struct word *w = find_word(line->s, n);

	if (!w || (!is_subtest(w) && line->s[n] != ' ') || !line->s[n])
		return NULL;
	*ret_rest = line->s + n + !is_subtest(w);
	return w;
}

static void named_add(struct reader *r, struct named *to, const char *id, size_t n,
		      enum test_status s, const struct testlog_line *line)
{
	to->failures += s == TEST_FAILED;
	if (s == TEST_PASSED)
		testlog_merge(r->in, &to->passed, id, n, s, line);
	if (s == TEST_XPASS)
		testlog_merge(r->in, &to->xpassed, id, n, s, line);
}

static void named_done(struct named *n)
{
	testlog_done(&n->passed);
	testlog_done(&n->xpassed);
}

/* Position of the bracket that opens the parameters, NULL when there are none. Directories may hold
 * brackets, so it is looked for behind "::". */
static const char *parameters(const char *id)
{
	const char *colon = strstr(id, "::");

	return colon ? strchr(colon, '[') : NULL;
}

/* Is [@s, @n) an id that -v lines know? */
static bool known_id(const struct reader *r, const char *s, size_t n)
{
	auto_free char *id = testlog_name(s, n, r->in->root);

	return testlog_get(&r->known, id) != NULL;
}

/* Length of the longest id that -v lines know and that ends in front of @sep or at the end of @s;
 * 0 when there is none. */
static size_t known_prefix(const struct reader *r, const char *s, const char *sep)
{
	const char *at = s;
	size_t best = 0;

	for (unsigned tries = 0; r->known.n && at && tries < 64; tries++) {
		size_t n;

		at = strstr(at, sep);
		n = at ? (size_t)(at - s) : strlen(s);
		if (known_id(r, s, n))
			best = n;
		at = at ? at + 1 : NULL;
	}
	return best;
}

/* Where to look for the end of an id: a file name may hold " - ", too. A file alone (what could not
 * be collected) ends with ".py". */
static const char *behind_file(const char *s)
{
	const char *dash = strstr(s, " - "), *colon = strstr(s, "::");

	return colon && (!dash || dash > colon || dash - s < 3 || memcmp(dash - 3, ".py", 3) != 0)
		       ? colon
		       : s;
}

/* Length of the id in "id - message". An id with parameters may hold " - " itself, so: the longest
 * prefix that a -v line named; otherwise the first " - " that follows a "]", or any when no
 * parameters were opened before it. */
static size_t cut_message(const struct reader *r, const char *s)
{
	const char *open = parameters(s);
	size_t best = known_prefix(r, s, " - ");

	if (best)
		return best;
	for (const char *at = behind_file(s); (at = strstr(at, " - ")); at += 3)
		if (!open || at < open || at[-1] == ']')
			return (size_t)(at - s);
	return strlen(s);
}

/* "XPASS id reason" (pytest 8 and later: "id - reason"): without parameters an id has no blank behind
 * its file; with them it ends at the first "]" in front of one. */
static size_t cut_reason(const struct reader *r, const char *s)
{
	size_t best = known_prefix(r, s, " ");
	const char *at = parameters(s);

	if (best)
		return best;
	if (!at) {
		at = strchr(behind_file(s), ' ');
		return at ? (size_t)(at - s) : strlen(s);
	}
	for (; (at = strchr(at, ']')); at++)
		if (!at[1] || at[1] == ' ')
			return (size_t)(at + 1 - s);
	return strlen(s);
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

/* Length of the id at the start of @rest, which follows @w. */
static size_t id_len(const struct reader *r, const struct word *w, const char **rest)
{
	size_t n;

	/* A passed test has no message, so the line is the id to its end. */
	if (w->status == TEST_PASSED)
		n = strlen(*rest);
	else if (w->status == TEST_XPASS)
		n = cut_reason(r, *rest);
	else if (w->status != TEST_SKIPPED || !skipped_place(rest, &n))
		n = cut_message(r, *rest);
	while (n && (*rest)[n - 1] == ' ')
		n--;
	return n;
}

/* "[message] (i=1) id - why" behind SUBFAILED: message and values may hold anything, so every rest
 * behind a blank that begins with the id of a test named before is taken, and the rest that holds the
 * first "::" when none does. */
static void on_subtest(struct reader *r, const struct word *w, const char *rest,
		       const struct testlog_line *line)
{
	const char *colon = strstr(rest, "::"), *at = rest;
	bool found = false;

	for (unsigned tries = 0; tries < 16 && (at = strchr(at, ' ')); tries++) {
		size_t n = cut_message(r, ++at);
		auto_free char *id = testlog_name(at, n, r->in->root);

		if (!testlog_get(r->out, id))
			continue;
		testlog_merge(r->in, r->out, at, n, w->status, line);
		found = true;
	}
	while (!found && colon && colon > rest && colon[-1] != ' ')
		colon--;
	if (!found && colon && *colon != ':')
		testlog_merge(r->in, r->out, colon, cut_message(r, colon), w->status, line);
	r->section.failures++;
}

static void on_summary_line(struct reader *r, const struct testlog_line *line)
{
	const char *rest;
	const struct word *w = leading_word(line, &rest);
	size_t n;

	if (!w || !*rest)
		return;
	if (is_subtest(w)) {
		on_subtest(r, w, rest, line);
		return;
	}
	/* a captured log line, or "PASSED [100%]" of -v behind a test's output */
	if (*rest == ' ' || (*rest == '[' && w->status != TEST_SKIPPED))
		return;
	n = id_len(r, w, &rest);
	if (!n)
		return;
	named_add(r, &r->section, rest, n, w->status, line);
	testlog_merge(r->in, r->out, rest, n, w->status, line);
}

/* A failure that an earlier section of the session names stays one, whatever the last section says:
 * that may have been printed at the end of the process. */
static void on_earlier_line(struct reader *r, const struct testlog_line *line)
{
	struct testlog_pytest_counts c;
	const struct word *w;
	const char *rest;
	auto_free char *id = NULL;
	struct test_result *t;

	if (testlog_pytest_heading(line) == TESTLOG_PYTEST_SECTION)
		r->within = true;
	else if (testlog_pytest_count(line, &c))
		r->within = false;
	w = r->within ? leading_word(line, &rest) : NULL;
	if (!w || is_subtest(w) || (w->status != TEST_FAILED && w->status != TEST_ERROR))
		return;
	id = testlog_name(rest, id_len(r, w, &rest), r->in->root);
	t = testlog_get(r->out, id);
	if (t && (t->status == TEST_PASSED || t->status == TEST_XPASS))
		testlog_merge(r->in, r->out, rest, id_len(r, w, &rest), w->status, line);
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

/* "id SUBFAILED[message] (i=1)": where the id ends, 0 when there is no such word. */
static size_t subtest_at(const char *s, size_t n)
{
	static const char *const forms[] = { " SUBFAILED[", " SUBFAILED (", " SUBFAIL[" };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *at = memmem(s, n, forms[i], strlen(forms[i]));

		if (at)
			return (size_t)(at - s);
	}
	return 0;
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
	*ret_n = subtest_at(s, n);
	if (*ret_n)
		return find_word("SUBFAILED", strlen("SUBFAILED"));
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

/* Length of the longest id in front of a blank of [@id, @n) that xdist handed out; @n when there is
 * none. What a worker that dies writes stands behind an id without a newline. */
static size_t cut_begun(const struct reader *r, const char *id, size_t n)
{
	size_t len = n;

	for (unsigned tries = 0; len && tries < 64; tries++) {
		auto_free char *name = testlog_name(id, len, r->in->root);
		const char *blank;

		if (testlog_get(&r->begun, name))
			return len;
		blank = memrchr(id, ' ', len);
		len = blank ? (size_t)(blank - id) : 0;
	}
	return n;
}

static void on_verbose_line(struct reader *r, const struct testlog_line *line)
{
	size_t n = line->n, id_n = 0;
	const char *id = line->s;
	const struct word *w = NULL;

	if (!memmem(line->s, n, "::", 2))
		return;
	while (n && line->s[n - 1] == ' ')
		n--;
	if (xdist_line(line->s, n, &w, &id, &id_n)) {
		id_n = cut_begun(r, id, id_n);
	} else {
		id = line->s;
		w = status_of(line->s, trim_progress(line->s, n), &id_n);
		if (!w)
			testlog_merge(r->in, &r->begun, line->s, n, TEST_MISSING, line);
	}
	/* "id <- file STATUS": the test is defined elsewhere */
	for (size_t i = id_n; i-- > 0 && id[i] != ']';)
		if (id_n - i > 4 && memcmp(id + i, " <- ", 4) == 0)
			id_n = i;
	if (!w || !id_n || *id == ' ')
		return;
	named_add(r, &r->verbose, id, id_n, w->status, line);
	testlog_merge(r->in, &r->known, id, id_n, w->status, line);
}

/* Walk over the lines of [from, to). */
static void walk(struct reader *r, uint64_t from, uint64_t to,
		 void (*fn)(struct reader *r, const struct testlog_line *line))
{
	struct testlog_lines it = TESTLOG_LINES(r->in->log, r->in->log_len);
	struct testlog_line line;

	it.at = from;
	it.returns = true;
	while (testlog_next(&it, &line) && line.from < to)
		fn(r, &line);
	buf_done(&it.text);
}

/* Does what was named fit the counts? */
static void judge(struct reader *r, const struct named *by)
{
	const struct testlog_pytest_counts *c = &r->at->counts;
	uint64_t failures = r->section.failures > r->verbose.failures ? r->section.failures
								      : r->verbose.failures;

	if (!c->seen)
		testlog_incomplete(
			r->out, "pytest did not finish: the last line with the counts is missing");
	else if (!r->out->n)
		testlog_incomplete(r->out,
				   "%llu passed and %llu failed tests counted, none named: "
				   "run pytest with -rA",
				   (unsigned long long)c->passed, (unsigned long long)c->failed);
	else if (by->passed.n != c->passed)
		testlog_incomplete(r->out, "%zu passed tests named, %llu counted", by->passed.n,
				   (unsigned long long)c->passed);
	else if (by->xpassed.n > c->xpassed)
		testlog_incomplete(r->out, "%zu unexpected passes named, %llu counted",
				   by->xpassed.n, (unsigned long long)c->xpassed);
	else if (failures < c->failed)
		testlog_incomplete(r->out, "%llu failures named, %llu counted",
				   (unsigned long long)failures, (unsigned long long)c->failed);
}

/* One session, into r->out. */
static void read_session(struct reader *r)
{
	struct testlog_pytest_session *at = r->at;
	bool counted = at->counts.seen;
	uint64_t progress_end = counted && at->end < at->heading ? at->end : at->heading;
	uint64_t end = counted ? at->end : at->to;
	struct test_results *out = r->out, alone = { 0 };
	bool use_alone;

	walk(r, at->from, progress_end < at->to ? progress_end : at->to, on_verbose_line);
	if (at->has_section) {
		r->out = &alone;
		walk(r, at->section, end, on_summary_line);
		r->out = out;
	}
	use_alone = at->has_section && counted && r->section.passed.n >= at->counts.passed;
	if (use_alone) {
		*out = alone;
	} else {
		testlog_done(&alone);
		named_done(&r->section);
		r->section = (struct named){ .failures = 0 };
		testlog_join(&r->known, out);
		if (at->has_section)
			walk(r, at->section, end, on_summary_line);
	}
	if (at->has_section)
		walk(r, at->from, at->section, on_earlier_line);
	judge(r,
	      use_alone || r->section.passed.n > r->verbose.passed.n ? &r->section : &r->verbose);
}

int testlog_read_pytest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct testlog_pytest_session sessions[TESTLOG_PYTEST_SESSIONS];
	size_t n = testlog_pytest_survey(in, sessions);
	bool failures = false, counted = true;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	for (size_t i = 0; i < n; i++) {
		struct test_results one = { 0 };
		struct reader r = { .in = in, .out = &one, .at = &sessions[i] };

		read_session(&r);
		if (n == 1) {
			*out = one;
		} else {
			testlog_join(&one, out);
			testlog_done(&one);
		}
		failures |= sessions[i].counts.failed || sessions[i].counts.errors;
		counted &= sessions[i].counts.seen;
		testlog_done(&r.known);
		testlog_done(&r.begun);
		named_done(&r.section);
		named_done(&r.verbose);
	}
	testlog_check_exit(in, "pytest", 1, failures || !counted, out);
	return 0;
}

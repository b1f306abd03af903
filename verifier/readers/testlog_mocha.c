/* mocha with the reporters spec (its default) and json.
 *
 * Ids: the titles of the suites and the test joined by blanks, which is what json calls "fullTitle".
 * Files are not named: mocha runs them one after the other in a fixed order, so a repeated id keeps
 * its number. Hooks that fail are results of their own ('"before each" hook for ...'), with status
 * error; tests that did not run because of them are absent. Pending tests are skipped.
 *
 * json: from the report file, or the documents on the output, in front of which tests may have
 * printed what they like. Complete means that the three lists are as long as "stats" says, and that
 * a summary of the spec reporter, should there be one as well, says the same.
 *
 * spec: a suite is known only by its indentation. Its heading looks like any line that a test prints;
 * one at the outermost level counts only behind a blank line. A result may stand behind output
 * without a newline. Of a title with newlines the first line is the id, and times such as " (12ms)"
 * at the end of a title are cut, because the reporter adds one to slow tests. Complete means that as
 * many tests passed and failed as the summary counts, and that each failure it then lists by name is
 * among them (it becomes a failure if its line said otherwise).
 *
 * What cannot be told from the text: output of code that ends the process before the reporter writes
 * its own, and a printed line that looks like the heading of a nested suite (use json). */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_run_internal.h"

#define MOCHA_DEPTH_MAX 32

enum place { PLACE_BODY, PLACE_SUMMARY, PLACE_DETAILS };

struct spec {
	const struct testlog_input *in;
	struct test_results *out;
	struct testlog_run run;
	struct testlog_sums sums;
	struct strv suite;     /* those that are open */
	bool blank, any_suite; /* the line before was empty; a suite was seen in this run */
	enum place place;
	uint64_t passing, failing; /* of the summary at hand */
	uint64_t listed;           /* failures that it has listed so far */
	struct buf path;           /* names of a listed failure */
	unsigned path_parts;
};

static const char *const pass_marks[] = { "\xe2\x9c\x93 ", "\xe2\x9c\x94 ", "\xe2\x88\x9a " };

/* Length of a mark of success at @s, 0 when there is none. */
static size_t pass_mark(const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(pass_marks); i++)
		if (str_starts(s, pass_marks[i]))
			return strlen(pass_marks[i]);
	return 0;
}

/* Length of "K) " at @s, 0 when there is none. */
static size_t fail_mark(const char *s, uint64_t k)
{
	uint64_t v;
	size_t n = testlog_digits(s, &v);

	return n && v == k && str_starts(s + n, ") ") ? n + 2 : 0;
}

static bool is_hook(const char *title)
{
	static const char *const hooks[] = { "\"before all\" hook", "\"before each\" hook",
					     "\"after each\" hook", "\"after all\" hook" };

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (str_starts(title, hooks[i]))
			return true;
	return false;
}

static void pop_to(struct spec *sp, unsigned depth)
{
	while (sp->suite.n > depth)
		free(take_ptr(&sp->suite.v[--sp->suite.n]));
}

/* A result in the innermost of @depth suites. */
static void on_test(struct spec *sp, unsigned depth, const char *title, enum test_status s,
		    const struct testlog_line *line)
{
	auto_buf id = BUF_INIT(TESTLOG_LINE_MAX + 2 * TESTLOG_NAME_MAX + 2);

	pop_to(sp, depth);
	if (testlog_full(&sp->run.r))
		return;
	for (unsigned i = 0; i < depth && id.len < TESTLOG_NAME_MAX; i++)
		buf_addf(&id, "%s ", sp->suite.v[i]);
	buf_add(&id, title, testlog_run_cut_times(title, strlen(title), true));
	testlog_run_put(sp->in, &sp->run, buf_str(&id), id.len, s, line);
}

/* Is there a mark at @s, which @indent blanks stand in front of? Then it is a result. */
static bool on_mark(struct spec *sp, size_t indent, const char *s, const struct testlog_line *line)
{
	uint64_t k = sp->run.n[TEST_FAILED] + sp->run.n[TEST_ERROR] + 1;
	size_t pass = pass_mark(s), fail = fail_mark(s, k), inner;
	unsigned depth = (unsigned)(indent / 2) - 1;

	if (indent < 2 || indent % 2 || depth > sp->suite.n)
		return false;
	/* "<mark>    3) title": a test printed a mark and failed */
	inner = pass ? strspn(s + pass, " ") : 0;
	if (inner >= 2 && inner % 2 == 0 && inner / 2 - 1 <= sp->suite.n &&
	    (fail = fail_mark(s + pass + inner, k))) {
		s += pass + inner;
		depth = (unsigned)(inner / 2) - 1;
		pass = 0;
	}
	if (pass)
		on_test(sp, depth, s + pass, TEST_PASSED, line);
	else if (fail)
		on_test(sp, depth, s + fail, is_hook(s + fail) ? TEST_ERROR : TEST_FAILED, line);
	else if (str_starts(s, "- "))
		on_test(sp, depth, s + 2, TEST_SKIPPED, line);
	return pass || fail || str_starts(s, "- ");
}

/* A result behind output that ended without a newline. */
static bool on_glued(struct spec *sp, const struct testlog_line *line)
{
	size_t i = strspn(line->s, " ");

	while (line->s[i]) {
		size_t n;

		i += strcspn(line->s + i, " ");
		n = strspn(line->s + i, " ");
		/* Of passes only those at the place of the next one: marks are often printed. */
		if (n >= 2 && line->s[i + n] != '-' &&
		    (n / 2 == sp->suite.n + 1 || !pass_mark(line->s + i + n)) &&
		    on_mark(sp, n, line->s + i + n, line))
			return true;
		i += n;
	}
	return false;
}

/* A line that may be the heading of a suite. */
static void on_heading(struct spec *sp, size_t indent, const struct testlog_line *line)
{
	unsigned depth = (unsigned)(indent / 2);
	size_t n = line->n - indent;

	if (indent < 2 || indent % 2 || !n || depth > sp->suite.n + 1 || depth >= MOCHA_DEPTH_MAX ||
	    (depth == 1 && !sp->blank && sp->any_suite))
		return;
	pop_to(sp, depth - 1);
	strv_take(&sp->suite,
		  mem_strndup(line->s + indent, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX));
	sp->any_suite = true;
}

/* "  12 passing (30ms)", "  3 failing" */
static bool count_line(const char *s, const char *word, bool timed, uint64_t *ret)
{
	size_t n = strspn(s, " "), d = testlog_digits(s + n, ret), w = strlen(word);

	if (n != 2 || !d || s[n + d] != ' ' || strncmp(s + n + d + 1, word, w) != 0)
		return false;
	s += n + d + 1 + w;
	return timed ? str_starts(s, " (") && str_ends(s, ")") : !*s;
}

/* The counts of a summary are known: do they fit what was seen? */
static void on_counts(struct spec *sp)
{
	uint64_t failed = sp->run.n[TEST_FAILED] + sp->run.n[TEST_ERROR];

	if (sp->run.n[TEST_PASSED] != sp->passing || failed != sp->failing)
		testlog_incomplete(sp->out,
				   "%llu passing and %llu failing are counted, %llu and %llu seen",
				   (unsigned long long)sp->passing, (unsigned long long)sp->failing,
				   (unsigned long long)sp->run.n[TEST_PASSED],
				   (unsigned long long)failed);
	sp->sums.summaries++;
	sp->sums.failed += sp->failing;
	sp->sums.total += sp->failing + sp->passing;
	sp->listed = 0;
}

/* The name of a listed failure is complete. */
static void end_path(struct spec *sp)
{
	const char *path = buf_str(&sp->path);
	size_t n = sp->path.len;
	struct test_result *t;
	char *id;

	if (!sp->path_parts)
		return;
	n = testlog_run_cut_times(path, n - (n && path[n - 1] == ':'), true);
	id = testlog_name(path, n, sp->in->root);
	t = testlog_get(&sp->run.r, id);
	if (!t)
		testlog_incomplete(sp->out, "the summary lists a failure that was not seen: %.200s",
				   id);
	else if (t->status != TEST_ERROR && !t->again)
		t->status = TEST_FAILED;
	free(id);
	buf_clear(&sp->path);
	sp->path_parts = 0;
}

/* "  3) outer", "       inner:" below the summary. */
static void on_detail(struct spec *sp, const struct testlog_line *line)
{
	size_t indent = strspn(line->s, " "), mark;
	const char *s = line->s + indent;

	mark = indent == 2 ? fail_mark(s, sp->listed + 1) : 0;
	if (mark) {
		end_path(sp);
		sp->listed++;
		sp->path_parts = 1;
		buf_adds(&sp->path, s + mark);
	} else if (sp->path_parts && sp->path_parts < MOCHA_DEPTH_MAX &&
		   indent == 5 + 2 * (size_t)sp->path_parts) {
		sp->path_parts++;
		buf_addf(&sp->path, " %s", s);
	} else {
		end_path(sp);
	}
}

static void end_run(struct spec *sp)
{
	end_path(sp);
	if (sp->place != PLACE_BODY && sp->listed != sp->failing)
		testlog_incomplete(sp->out, "%llu of %llu failures are listed by name",
				   (unsigned long long)sp->listed, (unsigned long long)sp->failing);
	if (sp->place == PLACE_BODY && (sp->run.r.n || !sp->sums.summaries))
		testlog_incomplete(sp->out,
				   "mocha did not finish: no \"N passing\" behind the results");
	testlog_run_end(&sp->run, sp->out);
	sp->place = PLACE_BODY;
}

/* Does the line belong to a new run? Only a result or a summary says so; headings look like anything
 * and are kept until then. */
static bool begins_run(const struct spec *sp, const struct testlog_line *line)
{
	size_t indent = strspn(line->s, " ");
	uint64_t n;

	if (sp->listed < sp->failing || indent < 2)
		return false;
	return (indent % 2 == 0 &&
		(pass_mark(line->s + indent) || (indent > 2 && fail_mark(line->s + indent, 1)))) ||
	       count_line(line->s, "passing", true, &n);
}

static void on_body(struct spec *sp, const struct testlog_line *line)
{
	size_t indent = strspn(line->s, " ");
	uint64_t n;

	if (count_line(line->s, "passing", true, &n)) {
		sp->passing = n;
		sp->failing = 0;
		sp->place = PLACE_SUMMARY;
	} else if (!on_mark(sp, indent, line->s + indent, line) && !on_glued(sp, line)) {
		on_heading(sp, indent, line);
	}
}

static void on_line(struct spec *sp, const struct testlog_line *line)
{
	uint64_t n;

	if (sp->place == PLACE_SUMMARY) {
		if (count_line(line->s, "pending", false, &n))
			return;
		if (count_line(line->s, "failing", false, &n)) {
			sp->failing = n;
			return;
		}
		on_counts(sp);
		pop_to(sp, 0);
		sp->any_suite = false;
		sp->place = PLACE_DETAILS;
	}
	if (sp->place == PLACE_DETAILS && begins_run(sp, line))
		end_run(sp);
	if (sp->place == PLACE_DETAILS) {
		on_detail(sp, line);
		if (sp->listed == sp->failing && !sp->path_parts)
			on_heading(sp, strspn(line->s, " "), line);
	} else {
		on_body(sp, line);
	}
}

static void read_spec(const struct testlog_input *in, struct test_results *out,
		      struct testlog_sums *ret)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct spec sp = { .in = in,
			   .out = out,
			   .blank = true,
			   .path = BUF_INIT(MOCHA_DEPTH_MAX * (TESTLOG_LINE_MAX + 1)) };
	struct testlog_line line;

	while (testlog_next(&it, &line)) {
		on_line(&sp, &line);
		sp.blank = !line.n;
	}
	if (sp.place == PLACE_SUMMARY)
		on_counts(&sp);
	end_run(&sp);
	*ret = sp.sums;
	strv_done(&sp.suite);
	buf_done(&sp.path);
	buf_done(&it.text);
}

/* One of the lists of a document; its length, and whether "stats" counts as many. */
static uint64_t read_list(const struct testlog_input *in, struct testlog_run *run,
			  struct jslice doc, const char *list, enum test_status s)
{
	const char *base = in->report ? in->report : in->log;
	struct jslice_walk w = jslice_walk(jslice_get(doc, list));
	uint64_t n = 0, want;
	struct jslice v;

	while (jslice_member(&w, NULL, &v)) {
		auto_free char *title = jslice_text(jslice_get(v, "title"), NULL);
		struct testlog_line span = { .from = (uint64_t)(v.s - base),
					     .to = (uint64_t)(v.s - base) + v.n };
		size_t len = 0;
		auto_free char *id = jslice_text(jslice_get(v, "fullTitle"), &len);

		n++;
		if (!id) {
			testlog_incomplete(&run->r, "an entry of \"%s\" has no fullTitle", list);
			continue;
		}
		testlog_run_put(in, run, id, len,
				s == TEST_FAILED && title && is_hook(title) ? TEST_ERROR : s,
				&span);
	}
	if (!testlog_docs_u64(jslice_get(doc, "stats"), list, &want) || want != n)
		testlog_incomplete(&run->r, "\"stats\" does not count the %llu entries of \"%s\"",
				   (unsigned long long)n, list);
	return n;
}

int testlog_read_mocha(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char *const first[] = { "\"stats\"", NULL };
	struct testlog_docs docs = { .in = in, .first = first };
	struct testlog_sums sums = { 0 }, console = { 0 };
	struct testlog_run run = { .n = { 0 } };
	struct test_results shown = { 0 };
	struct jslice doc;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	read_spec(in, &shown, &console);
	while (testlog_docs_next(&docs, out, &doc)) {
		uint64_t failed, passed;

		read_list(in, &run, doc, "pending", TEST_SKIPPED);
		failed = read_list(in, &run, doc, "failures", TEST_FAILED);
		passed = read_list(in, &run, doc, "passes", TEST_PASSED);
		testlog_run_end(&run, out);
		sums.summaries++;
		sums.failed += failed;
		sums.total += failed + passed;
	}
	testlog_run_finish(in, in->report || docs.tried, &console, &sums, &shown, out);
	return 0;
}

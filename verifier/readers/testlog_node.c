/* node --test with the spec reporter (the default on a terminal since node 20, and everywhere since
 * 23) or the tap reporter.
 *
 * Ids: names joined by " > ". Every line with a status gives a result: leaves, tests with subtests,
 * and suites, because the spec reporter does not tell a suite from a test. A newline in a name is
 * written "\n", as the tap reporter does. "skip" is skipped; "todo" is xfail or xpass.
 *
 * spec: results stand in front of the last line "ℹ tests N" at the left margin; complete means that
 * tests and suites together are as many as results, so a line that a test printed itself shows. When
 * results are missing they are looked for behind output that ended without a newline, too.
 * tap: see testlog_tap.c.
 *
 * In both the exit status has to be 0 when no test failed. A test that ran out of time is failed, and one
 * that was cancelled with its parent as well. A file that ends its process (process.exit(), a
 * signal) is one result; its tests are absent. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_run_internal.h"

#define NODE_DEPTH_MAX 16
#define NODE_LINES_MAX 16 /* lines of one name */

/* The marks of the spec reporter (lib/internal/test_runner/reporter/spec.js). */
enum mark { MARK_PASS, MARK_FAIL, MARK_SKIP, MARK_OPEN };

static const struct {
	const char *utf8;
	enum mark mark;
} marks[] = {
	{ "\xe2\x9c\x94 ", MARK_PASS }, /* U+2714 */
	{ "\xe2\x9c\x96 ", MARK_FAIL }, /* U+2716 */
	{ "\xef\xb9\xa3 ", MARK_SKIP }, /* U+FE63 */
	{ "\xe2\x96\xb6 ", MARK_OPEN }, /* U+25B6 */
};

#define INFO "\xe2\x84\xb9 " /* U+2139 */

struct spec {
	const struct testlog_input *in;
	struct test_results *out;
	char *open[NODE_DEPTH_MAX];  /* owned: names of the parents whose children are being read */
	bool failed[NODE_DEPTH_MAX]; /* a child of that parent failed */
	unsigned depth;
	uint64_t results;
	bool glued; /* look for results in the middle of lines */
};

/* "ℹ tests 24": the number behind @what. */
static bool info(const struct testlog_line *line, const char *what, uint64_t *ret)
{
	size_t n = strlen(INFO), w = strlen(what);
	uint64_t v = 0;
	const char *s;

	if (!testlog_starts(line, INFO) || strncmp(line->s + n, what, w) != 0)
		return false;
	s = line->s + n + w;
	if (!isdigit((unsigned char)*s) || strlen(s) > 10)
		return false;
	for (; isdigit((unsigned char)*s); s++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (*s)
		return false;
	*ret = v;
	return true;
}

static bool find_mark(const char *s, enum mark *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strncmp(s, marks[i].utf8, strlen(marks[i].utf8)) == 0) {
			*ret = marks[i].mark;
			return true;
		}
	return false;
}

/* Does " (1.25ms)" begin at @s? Then its length. */
static size_t duration_len(const char *s)
{
	size_t i = 2;

	if (s[0] != ' ' || s[1] != '(' || !isdigit((unsigned char)s[2]))
		return 0;
	while (isdigit((unsigned char)s[i]) || s[i] == '.' || s[i] == 'e' || s[i] == '-')
		i++;
	return strncmp(s + i, "ms)", 3) == 0 ? i + 3 : 0;
}

/* The name ends at its duration: at the end of the line, or in front of " # reason". Returns false
 * when there is none. */
static bool cut_duration(const char *s, size_t n, size_t *ret_n, const char **ret_reason)
{
	for (size_t i = n; i-- > 0;) {
		size_t len = duration_len(s + i);

		if (len && i + len == n) {
			*ret_n = i;
			*ret_reason = NULL;
			return true;
		}
		if (len && strncmp(s + i + len, " # ", 3) == 0) {
			*ret_n = i;
			*ret_reason = s + i + len + 3;
			return true;
		}
	}
	return false;
}

static void pop_to(struct spec *sp, unsigned depth)
{
	while (sp->depth > depth) {
		free(sp->open[--sp->depth]);
		sp->open[sp->depth] = NULL;
	}
}

static void put(struct spec *sp, unsigned depth, const char *name, size_t n, enum test_status s,
		const struct testlog_line *line)
{
	auto_buf id = BUF_INIT(TESTLOG_LINE_MAX * 4);

	for (unsigned i = 0; i < depth; i++) {
		buf_adds(&id, sp->open[i]);
		buf_adds(&id, " > ");
	}
	buf_add(&id, name, n);
	testlog_put(sp->in, sp->out, buf_str(&id), id.len, s, line);
	sp->results++;
	if (depth && (s == TEST_FAILED))
		sp->failed[depth - 1] = true;
}

/* A complete name (lines joined) with its mark at nesting @depth. */
static void on_named(struct spec *sp, unsigned depth, enum mark mark, const char *text, size_t len,
		     const struct testlog_line *line)
{
	const char *reason;
	enum test_status s;
	size_t n;
	bool timed = cut_duration(text, len, &n, &reason);

	if (depth > sp->depth || depth >= NODE_DEPTH_MAX)
		return; /* its parent was never opened: somebody else's print */
	if (mark == MARK_OPEN && !timed) {
		pop_to(sp, depth);
		sp->open[depth] =
			mem_strndup(text, len < TESTLOG_NAME_MAX ? len : TESTLOG_NAME_MAX);
		sp->failed[depth] = false;
		sp->depth = depth + 1;
		return;
	}
	if (!timed)
		return;
	/* node 18 closes a parent with the mark that opened it */
	if (mark == MARK_OPEN)
		s = sp->depth > depth && sp->failed[depth] ? TEST_FAILED : TEST_PASSED;
	else if (mark == MARK_SKIP)
		s = TEST_SKIPPED;
	else if (reason)
		s = mark == MARK_PASS ? TEST_XPASS : TEST_XFAIL;
	else
		s = mark == MARK_PASS ? TEST_PASSED : TEST_FAILED;
	pop_to(sp, depth);
	put(sp, depth, text, n, s, line);
}

/* Is the line at hand what the reporter says below a test that was cancelled? Such a test has no
 * duration. */
static bool says_cancelled(struct testlog_lines *it, struct testlog_line *line)
{
	size_t at = it->at;
	bool ret = testlog_next(it, line) &&
		   str_starts(line->s + strspn(line->s, " "),
			      "'test did not finish before its parent and was cancelled'");

	it->at = at;
	return ret;
}

/* The last mark of a line that does not begin with one, behind the blanks of its depth. */
static const char *glued_mark(const char *s, unsigned *ret_indent)
{
	const char *last = NULL;
	enum mark mark;

	for (const char *at = s; (at = strpbrk(at, "\xe2\xef")); at++)
		if (find_mark(at, &mark) && mark != MARK_OPEN)
			last = at;
	if (!last)
		return s;
	for (*ret_indent = 0; last - *ret_indent > s && last[-1 - (ptrdiff_t)*ret_indent] == ' ';)
		++*ret_indent;
	*ret_indent -= *ret_indent % 2; /* the output may have ended with a blank */
	return last;
}

/* A marked line; a name with newlines goes on over the next lines until its duration. */
static void on_marked(struct spec *sp, struct testlog_lines *it, struct testlog_line *line,
		      uint64_t end)
{
	unsigned indent = (unsigned)strspn(line->s, " ");
	const char *s = line->s + indent, *reason;
	struct testlog_line span = *line;
	auto_buf name = BUF_INIT(TESTLOG_LINE_MAX * 2);
	enum mark mark, other;
	size_t n, at = it->at;

	if (sp->glued && !find_mark(s, &mark))
		s = glued_mark(line->s, &indent);
	if (indent % 2 || !find_mark(s, &mark))
		return;
	buf_adds(&name, strchr(s, ' ') + 1);
	if (mark == MARK_FAIL && !cut_duration(buf_str(&name), name.len, &n, &reason) &&
	    says_cancelled(it, line)) {
		if (indent / 2 <= sp->depth && indent / 2 < NODE_DEPTH_MAX) {
			pop_to(sp, indent / 2);
			put(sp, indent / 2, buf_str(&name), name.len, TEST_FAILED, &span);
		}
		return;
	}
	if (mark != MARK_OPEN) {
		for (unsigned more = 0; !cut_duration(buf_str(&name), name.len, &n, &reason);
		     more++) {
			if (more == NODE_LINES_MAX || !testlog_next(it, line) ||
			    line->from >= end ||
			    find_mark(line->s + strspn(line->s, " "), &other) ||
			    buf_adds(&name, "\\n") || buf_adds(&name, line->s)) {
				it->at = at; /* not node's: read on behind the marked line */
				return;
			}
			span.to = line->to;
		}
	}
	on_named(sp, indent / 2, mark, buf_str(&name), name.len, &span);
}

/* Offset and counts of the last summary; false when there is none. */
static bool find_summary(const struct testlog_input *in, uint64_t *ret_at, uint64_t *ret_total)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;
	bool found = false;
	uint64_t n;

	while (testlog_next(&it, &line)) {
		if (info(&line, "tests ", &n)) {
			found = true;
			*ret_at = line.from;
			*ret_total = n;
		} else if (found && info(&line, "suites ", &n)) {
			*ret_total += n;
		}
	}
	buf_done(&it.text);
	return found;
}

/* One walk over the results; how many there are. */
static uint64_t walk_spec(const struct testlog_input *in, struct test_results *out, uint64_t end,
			  bool glued)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct spec sp = { .in = in, .out = out, .glued = glued };
	struct testlog_line line;

	while (testlog_next(&it, &line) && line.from < end && !testlog_full(out))
		on_marked(&sp, &it, &line, end);
	pop_to(&sp, 0);
	buf_done(&it.text);
	return sp.results;
}

static void read_spec(const struct testlog_input *in, struct test_results *out, uint64_t end,
		      uint64_t total)
{
	uint64_t results = walk_spec(in, out, end, false);

	if (results < total) {
		struct test_results again = { 0 };
		uint64_t n = walk_spec(in, &again, end, true);

		if (n == total) {
			testlog_done(out);
			*out = again;
			results = n;
		} else {
			testlog_done(&again);
		}
	}
	if (results != total)
		testlog_incomplete(out, "%llu tests and suites counted, %llu seen",
				   (unsigned long long)total, (unsigned long long)results);
}

int testlog_read_node(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	uint64_t end, total;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	if (find_summary(in, &end, &total)) {
		read_spec(in, out, end, total);
	} else {
		testlog_tap_parse(in, false, out);
		if (!out->n && out->incomplete) {
			free(out->note);
			out->note =
				mem_strdup("node --test did not finish: no summary in the output");
		}
	}
	testlog_run_exit(in, out);
	return 0;
}

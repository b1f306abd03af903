/* RSpec 3: --format documentation on the output, or --format json in the report file or on the output.
 *
 * Ids: the full description, which is the texts of the groups and of the example joined by blanks,
 * with runs of white space made one blank (documentation drops some of them).
 *
 * In documentation an example is told from a group by what follows: a group has deeper lines behind
 * it. How examples came out that did not pass is read from their marks, "(FAILED - 3)" and
 * "(PENDING: why)", and once more from the numbered list behind "Failures:", which wins. Pending counts
 * as skipped, except that one that "failed" as expected cannot be told from the others.
 *
 * Complete means: each run ended with "N examples, N failures" (no errors outside of examples), as
 * many examples, failures and pendings were named as it counts, and the exit status fits. A text that
 * a test printed in the form of an example makes one too many; one that glues to an example's line
 * makes one too few. With several runs in a log the worse status of an example stays. What cannot be
 * told from documentation: a line at the margin behind an empty one, printed by a test, is a group to
 * those who read it. Where that matters, take the JSON. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_run_internal.h"

#define DEPTH_MAX 64

/* A line of the tree: a group or an example, told by the next one. */
struct node {
	char *text; /* owned; NULL = none */
	enum test_status status;
	bool marked; /* so it is an example */
	struct testlog_line line;
};

enum place { PLACE_TREE, PLACE_LIST, PLACE_FAILURES };

struct reader {
	const struct testlog_input *in;
	struct test_results *out, run, failed; /* run: present one; failed: of its "Failures:" */
	enum place place;
	char *groups[DEPTH_MAX]; /* owned: texts down to the present group */
	unsigned depth;          /* of them */
	struct node last;
	unsigned last_depth;
	bool blank; /* the line before was empty */
	uint64_t marks_failed, marks_pending;
	unsigned ends;
	bool failures;
};

/* White space runs become one blank, none at the ends. */
static char *squeeze(const char *s)
{
	auto_buf b = BUF_INIT(TESTLOG_LINE_MAX * 2);

	for (; *s; s++)
		if (!isspace((unsigned char)*s))
			buf_addc(&b, *s);
		else if (b.len && buf_str(&b)[b.len - 1] != ' ')
			buf_addc(&b, ' ');
	while (b.len && buf_str(&b)[b.len - 1] == ' ')
		b.data[--b.len] = '\0';
	return buf_steal(&b, NULL);
}

static void forget(struct reader *r, unsigned from)
{
	while (r->depth > from) {
		r->depth--;
		free(take_ptr(&r->groups[r->depth]));
	}
}

/* The line that waits was an example. */
static void settle(struct reader *r)
{
	auto_buf id = BUF_INIT(2 * TESTLOG_NAME_MAX);
	auto_free char *name = NULL;

	/* Examples stand in groups: a line at the margin is no example. */
	if (!r->last_depth)
		free(take_ptr(&r->last.text));
	if (!r->last.text)
		return;
	for (unsigned i = 0; i < r->depth; i++)
		buf_addf(&id, "%s ", r->groups[i]);
	buf_adds(&id, r->last.text);
	name = squeeze(buf_str(&id));
	testlog_put(r->in, &r->run, name, strlen(name), r->last.status, &r->last.line);
	free(take_ptr(&r->last.text));
}

/* Cut "(FAILED - 3)" or "(PENDING: why)" off the text and set its status. */
static void read_mark(struct reader *r, struct node *n)
{
	char *failed = strstr(n->text, " (FAILED - "), *pending = strstr(n->text, " (PENDING: ");
	size_t len = strlen(n->text);

	if (failed && failed[11 + strspn(failed + 11, "0123456789")] == ')' &&
	    !failed[12 + strspn(failed + 11, "0123456789")]) {
		*failed = '\0';
		n->status = TEST_FAILED;
		r->marks_failed++;
	} else if (pending && n->text[len - 1] == ')') {
		*pending = '\0';
		n->status = TEST_SKIPPED;
		r->marks_pending++;
	} else {
		return;
	}
	n->marked = true;
}

/* A line of the tree. */
static void on_tree(struct reader *r, const struct testlog_line *line)
{
	unsigned indent = (unsigned)strspn(line->s, " "), depth = indent / 2;

	/* Only what stands behind an empty line can begin a group at the margin, and lines go deeper
	 * by one step at a time: the rest is output. */
	if (indent % 2 || depth >= DEPTH_MAX || (depth == 0 && !r->blank) ||
	    depth > (r->last.text ? r->last_depth + 1 : r->depth))
		return;
	if (r->last.text && !r->last.marked && depth == r->last_depth + 1) {
		forget(r, r->last_depth);
		r->groups[r->depth++] = take_ptr(&r->last.text);
	} else {
		settle(r);
		forget(r, depth);
	}
	r->last = (struct node){ .text = mem_strndup(line->s + indent, line->n - indent),
				 .line = *line };
	r->last_depth = depth;
	read_mark(r, &r->last);
}

/* "  3) full description", perhaps with " FIXED" behind it. */
static void on_failure(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s + strspn(line->s, " ");
	auto_free char *name = NULL;
	uint64_t number;
	size_t digits = testlog_digits(s, &number), n;

	if (s == line->s || !digits || strncmp(s + digits, ") ", 2) != 0)
		return;
	name = squeeze(s + digits + 2);
	n = strlen(name);
	if (str_ends(name, " FIXED"))
		n -= strlen(" FIXED");
	testlog_put(r->in, &r->failed, name, n, TEST_FAILED, line);
}

/* How many results of the name of @t in the present run are failures. */
static uint32_t failing(const struct reader *r, const struct test_result *t)
{
	uint32_t n = t->status == TEST_FAILED;

	for (uint32_t i = 0; i < t->again; i++) {
		auto_free char *name = mem_printf("%s #%u", t->name, i + 2);
		const struct test_result *other = testlog_get(&r->run, name);

		n += other && other->status == TEST_FAILED;
	}
	return n;
}

/* @t is in the list of failures: so it failed, whatever stood in the tree. */
static void on_listed(struct reader *r, const struct test_result *t)
{
	struct testlog_line span = { .from = t->from, .to = t->to };
	const struct test_result *in_tree = testlog_get(&r->run, t->name);

	if (!in_tree)
		testlog_incomplete(r->out, "%.200s failed, but nothing named it before", t->name);
	else if (failing(r, in_tree) < t->again + 1)
		testlog_merge(r->in, &r->run, t->name, strlen(t->name), TEST_FAILED, &span);
}

/* Join the present run to the others. */
static void close_run(struct reader *r)
{
	settle(r);
	forget(r, 0);
	for (size_t i = 0; i < r->failed.n; i++)
		on_listed(r, &r->failed.v[i]);
	testlog_join(&r->run, r->out);
	testlog_done(&r->run);
	testlog_done(&r->failed);
	r->marks_failed = r->marks_pending = 0;
	r->place = PLACE_TREE;
}

/* "35 examples, 11 failures, 4 pending": the end of a run. */
static bool on_counts(struct reader *r, const struct testlog_line *line)
{
	uint64_t tests = UINT64_MAX, failures = UINT64_MAX, pending = 0, outside = 0;
	const struct testlog_count rows[] = {
		{ "examples", &tests },
		{ "example", &tests },
		{ "failures", &failures },
		{ "failure", &failures },
		{ "pending", &pending },
		{ "error occurred outside of examples", &outside },
		{ "errors occurred outside of examples", &outside },
	};

	if (!testlog_counts(line->s, false, rows, ARRAY_SIZE(rows)) || tests == UINT64_MAX ||
	    failures == UINT64_MAX)
		return false;
	settle(r);
	if (outside)
		testlog_incomplete(r->out, "%llu errors occurred outside of examples",
				   (unsigned long long)outside);
	else if (tests && !r->run.n)
		testlog_incomplete(r->out, "no example is named: run with --format documentation");
	else if (tests != r->run.n)
		testlog_incomplete(r->out, "%zu examples are named, but %llu ran", r->run.n,
				   (unsigned long long)tests);
	else if (failures != r->marks_failed || failures != r->failed.n ||
		 pending != r->marks_pending)
		testlog_incomplete(r->out,
				   "%llu failures and %llu pending are named, but %llu and "
				   "%llu counted",
				   (unsigned long long)r->marks_failed,
				   (unsigned long long)r->marks_pending,
				   (unsigned long long)failures, (unsigned long long)pending);
	r->failures |= failures != 0;
	close_run(r);
	r->ends++;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	bool blank = !line->n;

	if (on_counts(r, line)) {
	} else if (str_eq(line->s, "Failures:")) {
		r->place = PLACE_FAILURES;
	} else if (testlog_starts(line, "Pending: (") || testlog_starts(line, "Finished in ")) {
		r->place = PLACE_LIST;
	} else if (!blank && r->place == PLACE_FAILURES) {
		on_failure(r, line);
	} else if (!blank && r->place == PLACE_TREE) {
		on_tree(r, line);
	}
	r->blank = blank;
}

static void read_tree(struct reader *r)
{
	struct testlog_lines it = TESTLOG_LINES(r->in->log, r->in->log_len);
	struct testlog_line line;

	it.returns = true;
	r->blank = true;
	while (testlog_next(&it, &line) && !testlog_full(&r->run))
		on_line(r, &line);
	buf_done(&it.text);
	settle(r);
	if (r->run.n || r->failed.n || r->place != PLACE_TREE)
		testlog_incomplete(r->out, "a run began and did not end");
	close_run(r);
}

/* Status of an example in JSON. */
static const struct testlog_word states[] = {
	/* clang-format off */
	{ "passed",  TEST_PASSED },
	{ "failed",  TEST_FAILED },
	{ "pending", TEST_SKIPPED },
	/* clang-format on */
};

/* One of "examples". Returns what status it has. */
static enum test_status on_example(struct reader *r, struct jslice example, uint64_t from)
{
	struct jslice name = jslice_get(example, "full_description"),
		      state = jslice_get(example, "status");
	auto_free char *text = jslice_text(name, NULL);
	auto_free char *id = text ? squeeze(text) : NULL;
	enum test_status status = TEST_ERROR;
	struct testlog_line span = { .from = from, .to = from + example.n };

	if (state.n >= 2)
		testlog_word(states, ARRAY_SIZE(states), state.s + 1, state.n - 2, &status);
	if (id)
		testlog_put(r->in, r->out, id, strlen(id), status, &span);
	return status;
}

/* {"examples": [{"full_description", "status"}], "summary": {...}} at [@s, @n), which is @base bytes
 * into the log. */
static void read_json(struct reader *r, const char *s, size_t n, uint64_t base)
{
	struct jslice root = { 0 }, example, sum;
	uint64_t seen = 0, counts[TEST_MISSING] = { 0 }, want[4] = { 0 };
	static const char *const keys[] = { "example_count", "failure_count", "pending_count",
					    "errors_outside_of_examples_count" };
	struct jslice_walk w;
	size_t at = 0;
	bool good = jslice_next("report", s, n, &at, &root, NULL) > 0;

	sum = jslice_get(root, "summary");
	w = jslice_walk(jslice_get(root, "examples"));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		good &= testlog_docs_u64(sum, keys[i], &want[i]);
	for (; jslice_member(&w, NULL, &example) && !testlog_full(r->out); seen++)
		counts[on_example(r, example, base + (uint64_t)(example.s - s))]++;
	if (!good)
		testlog_incomplete(r->out, "the JSON report is broken or not RSpec's");
	else if (want[3])
		testlog_incomplete(r->out, "%llu errors occurred outside of examples",
				   (unsigned long long)want[3]);
	else if (want[0] != seen || seen != r->out->n || want[1] != counts[TEST_FAILED] ||
		 want[2] != counts[TEST_SKIPPED] || counts[TEST_ERROR])
		testlog_incomplete(r->out, "the summary does not fit the examples");
	r->failures |= want[1] != 0;
	r->ends++;
}

/* The last line of the log that begins as RSpec's JSON does, NULL when there is none. */
static const char *find_json(const struct testlog_input *in)
{
	static const char head[] = "{\"version\":\"";
	const char *last = NULL, *at = in->log, *end = in->log + in->log_len;

	while ((at = memmem(at, (size_t)(end - at), head, sizeof(head) - 1))) {
		last = at;
		at += sizeof(head) - 1;
	}
	return last;
}

int testlog_read_rspec(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	const char *json = in->report ? in->report : find_json(in);

	(void)err; /* anything is a log; what is wrong with it is in the note */
	if (in->report)
		read_json(&r, in->report, in->report_len, 0);
	else if (json)
		read_json(&r, json, in->log_len - (size_t)(json - in->log),
			  (uint64_t)(json - in->log));
	else
		read_tree(&r);
	if (!r.ends)
		testlog_incomplete(out, "no line \"N examples, N failures\"");
	testlog_check_exit(in, "rspec", 1, r.failures, out);
	return 0;
}

#include "verifier/readers/testlog_jest_internal.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* "status" of an entry of assertionResults. */
static const struct testlog_word words[] = {
	/* clang-format off */
	{ "passed",   TEST_PASSED },
	{ "failed",   TEST_FAILED },
	{ "pending",  TEST_SKIPPED },
	{ "skipped",  TEST_SKIPPED },
	{ "disabled", TEST_SKIPPED },
	{ "todo",     TEST_SKIPPED },
	/* clang-format on */
};

/* What the documents are read into. */
struct reader {
	const struct testlog_input *in;
	const char *sep;
	struct testlog_run run;
	uint64_t total, failed;
};

static struct testlog_line span(const struct reader *r, struct jslice v)
{
	const char *base = r->in->report ? r->in->report : r->in->log;

	return (struct testlog_line){ .from = (uint64_t)(v.s - base),
				      .to = (uint64_t)(v.s - base) + v.n };
}

/* Append the string @v with @sep behind it; an empty one (vitest 1 and 2 put one first) is left out. */
static void add_part(struct buf *id, struct jslice v, const char *sep)
{
	size_t n = 0;
	auto_free char *text = jslice_text(v, &n);

	if (!n)
		return;
	buf_add(id, text, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX);
	buf_adds(id, sep);
}

/* One test of @file. */
static void on_assertion(struct reader *r, const char *file, size_t file_n, struct jslice v)
{
	auto_buf id = BUF_INIT(64u * TESTLOG_NAME_MAX);
	auto_free char *word = jslice_cstr(jslice_get(v, "status"));
	struct jslice_walk w = jslice_walk(jslice_get(v, "ancestorTitles"));
	struct testlog_line line = span(r, v);
	size_t title_n = 0;
	auto_free char *title = jslice_text(jslice_get(v, "title"), &title_n);
	enum test_status s = TEST_ERROR;
	struct jslice part;

	r->total++;
	if (!title || !word || !testlog_word(words, ARRAY_SIZE(words), word, strlen(word), &s)) {
		testlog_incomplete(&r->run.r, "a test has no title or the unknown status \"%.40s\"",
				   word ? word : "");
		return;
	}
	r->failed += s == TEST_FAILED;
	buf_add(&id, file, file_n < TESTLOG_NAME_MAX ? file_n : TESTLOG_NAME_MAX);
	buf_adds(&id, " > ");
	while (jslice_member(&w, NULL, &part))
		add_part(&id, part, r->sep);
	buf_add(&id, title, title_n < TESTLOG_NAME_MAX ? title_n : TESTLOG_NAME_MAX);
	testlog_run_put(r->in, &r->run, buf_str(&id), id.len, s, &line);
}

/* One test file; when it failed without a failing test (it could not be loaded, a hook around all its
 * tests threw) that is a result of its own. */
static void on_file(struct reader *r, struct jslice v)
{
	struct jslice_walk w = jslice_walk(jslice_get(v, "assertionResults"));
	size_t n = 0;
	auto_free char *file = jslice_text(jslice_get(v, "name"), &n);
	uint64_t failed = r->failed;
	struct jslice one;

	if (!file) {
		testlog_incomplete(&r->run.r, "an entry of testResults has no name");
		return;
	}
	while (jslice_member(&w, NULL, &one))
		on_assertion(r, file, n, one);
	if (failed == r->failed && jslice_is(jslice_get(v, "status"), "failed")) {
		struct testlog_line line = span(r, v);

		testlog_run_put(r->in, &r->run, file, n, TEST_ERROR, &line);
	}
}

/* Does the document count what it lists? */
static void check(struct reader *r, struct jslice doc)
{
	uint64_t total, failed;
	struct test_results *to = &r->run.r;

	if (!testlog_docs_u64(doc, "numTotalTests", &total) ||
	    !testlog_docs_u64(doc, "numFailedTests", &failed))
		testlog_incomplete(to, "the report has no numTotalTests or numFailedTests");
	else if (total != r->total || failed != r->failed)
		testlog_incomplete(to,
				   "the report counts %llu tests with %llu failures and lists "
				   "%llu with %llu",
				   (unsigned long long)total, (unsigned long long)failed,
				   (unsigned long long)r->total, (unsigned long long)r->failed);
	if (jslice_kind(jslice_get(doc, "wasInterrupted")) == 't')
		testlog_incomplete(to, "the run was interrupted");
	if (jslice_kind(jslice_get(doc, "success")) == 'f' && !r->run.n[TEST_FAILED] &&
	    !r->run.n[TEST_ERROR])
		testlog_incomplete(to, "no test failed, but the report calls the run no success");
}

bool testlog_jest_docs(const struct testlog_input *in, const char *sep, struct test_results *out,
		       struct testlog_sums *ret)
{
	static const char *const first[] = { "\"numFailedTestSuites\"", "\"numTotalTestSuites\"",
					     NULL };
	struct testlog_docs docs = { .in = in, .first = first };
	struct reader r = { .in = in, .sep = sep };
	struct jslice doc, one;

	while (testlog_docs_next(&docs, out, &doc)) {
		struct jslice_walk w = jslice_walk(jslice_get(doc, "testResults"));

		r.total = r.failed = 0;
		while (jslice_member(&w, NULL, &one))
			on_file(&r, one);
		check(&r, doc);
		testlog_run_end(&r.run, out);
		ret->summaries++;
		ret->total += r.total;
		ret->failed += r.failed;
	}
	return in->report || docs.tried;
}

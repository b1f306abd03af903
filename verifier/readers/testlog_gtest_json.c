/* GoogleTest: the report of --gtest_output=json or xml when there is one, its console otherwise.
 *
 * Ids are "Suite.Name" from all of them but XML, where they are those of "junit-xml". A disabled test is
 * skipped in the report and absent from the console. Complete means for a report: well formed, as many
 * tests and failures as its head says, and status 0 unless one failed. Several reports may follow one
 * another. */
#include <string.h>

#include "base/mem.h"
#include "verifier/readers/testlog_gtest_internal.h"
#include "verifier/readers/testlog_run_internal.h"

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	uint64_t tests, failed; /* of the present document */
};

static void on_test(struct reader *r, struct jslice suite, struct jslice test)
{
	struct jslice failures = jslice_get(test, "failures"), none;
	struct jslice_walk walk = jslice_walk(failures);
	enum test_status s = TEST_PASSED;
	size_t class_n = 0, name_n = 0;
	auto_free char *class = jslice_text(suite, &class_n),
		       *name = jslice_text(jslice_get(test, "name"), &name_n);
	auto_buf id = BUF_INIT(4 * TESTLOG_NAME_MAX);
	struct testlog_line span = { .from = (uint64_t)(test.s - r->in->report) };

	if (!class || !name)
		return;
	if (jslice_member(&walk, NULL, &none))
		s = TEST_FAILED;
	else if (jslice_is(jslice_get(test, "result"), "SKIPPED") ||
		 jslice_is(jslice_get(test, "status"), "NOTRUN"))
		s = TEST_SKIPPED;
	buf_add(&id, class, class_n);
	buf_addc(&id, '.');
	buf_add(&id, name, name_n);
	span.to = span.from + test.n;
	testlog_merge(r->in, r->out, buf_str(&id), id.len, s, &span);
	r->tests++;
	r->failed += s == TEST_FAILED;
}

static void on_document(struct reader *r, struct jslice doc)
{
	struct jslice_walk suites = jslice_walk(jslice_get(doc, "testsuites"));
	struct jslice suite, test;
	uint64_t tests = 0, failures = 0;

	r->tests = r->failed = 0;
	while (jslice_member(&suites, NULL, &suite)) {
		struct jslice_walk all = jslice_walk(jslice_get(suite, "testsuite"));

		while (jslice_member(&all, NULL, &test) && !testlog_full(r->out))
			on_test(r, jslice_get(suite, "name"), test);
	}
	if (!testlog_docs_u64(doc, "tests", &tests) ||
	    !testlog_docs_u64(doc, "failures", &failures))
		testlog_incomplete(r->out, "the report has no counts: is it GoogleTest's JSON?");
	else if (tests != r->tests || failures != r->failed)
		testlog_incomplete(r->out,
				   "the report says %llu tests, %llu failed; it holds %llu, %llu",
				   (unsigned long long)tests, (unsigned long long)failures,
				   (unsigned long long)r->tests, (unsigned long long)r->failed);
}

int testlog_read_googletest(const struct testlog_input *in, struct test_results *out,
			    struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct err bad = { 0 };
	struct jslice doc;
	size_t at = 0, documents = 0;
	int rc;

	if (!in->report) {
		testlog_gtest_console(in, out);
		return 0;
	}
	while (at < in->report_len && strchr(" \t\r\n", in->report[at]) && in->report[at])
		at++;
	if (at < in->report_len && in->report[at] == '<')
		return testlog_read_junit(in, out, err);
	while ((rc = jslice_next("report", in->report, in->report_len, &at, &doc, &bad)) > 0) {
		on_document(&r, doc);
		documents++;
	}
	if (rc < 0)
		testlog_incomplete(out, "%s", bad.text);
	else if (!documents)
		testlog_incomplete(out, "the report is empty");
	testlog_run_exit(in, out);
	return 0;
}

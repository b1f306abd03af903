/* RSpec: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "documentation",
	  "\nA\n  one\n  b\n    two (FAILED - 1)\n    three (PENDING: why)\n\nPending: (x)\n\n  1) A b three\n\nFailures:\n\n  1) A b two\n     boom\n\n"
	  "Finished in 1 second\n3 examples, 1 failure, 1 pending\n",
	  1, "A one=passed\nA b two=failed\nA b three=skipped\n" },
	{ "the list wins",
	  "\nA\n  one\n\nFailures:\n\n  1) A one\n\nFinished in 1\n1 example, 1 failure\n", 1,
	  "A one=failed\n! 0 failures and 0 pending are named, but 1 and 0 counted\n" },
	{ "the list names nobody",
	  "\nB\n  one (FAILED - 1)\n\nFailures:\n\n  1) A one\n\nFinished in 1\n1 example, 1 failure\n",
	  1, "B one=failed\n! A one failed, but nothing named it before\n" },
	{ "an example too many", "\nA\n  gone\n  one\n\nFinished in 1\n1 example, 0 failures\n", 0,
	  "A gone=passed\nA one=passed\n! 2 examples are named, but 1 ran\n" },
	{ "a return hides nothing", "\nA\n  one\r  gone\n\nFinished in 1\n1 example, 0 failures\n",
	  0, "A one=passed\nA gone=passed\n! 2 examples are named, but 1 ran\n" },
	{ "errors outside",
	  "\nFinished in 1\n0 examples, 0 failures, 1 error occurred outside of examples\n", 1,
	  "! 1 errors occurred outside of examples\n" },
	{ "status without a failure", "\nA\n  one\n\nFinished in 1\n1 example, 0 failures\n", 1,
	  "A one=passed\n! exit status 1, but no failure is counted\n" },
	{ "cut", "\nA\n  one\n", 137, "A one=passed\n! a run began and did not end\n" },
	{ "JSON on the output",
	  "noise\n{\"version\":\"3\",\"examples\":[{\"full_description\":\"A  \\n b\",\"status\":\"passed\"},"
	  "{\"full_description\":\"A c\",\"status\":\"pending\"}],\"summary\":{\"example_count\":2,\"failure_count\":0,\"pending_count\":1,"
	  "\"errors_outside_of_examples_count\":0}}more",
	  0, "A b=passed\nA c=skipped\n" },
	{ "JSON whose summary does not fit",
	  "{\"version\":\"3\",\"examples\":[{\"full_description\":\"A\",\"status\":\"passed\"}],"
	  "\"summary\":{\"example_count\":2,\"failure_count\":0,\"pending_count\":0,\"errors_outside_of_examples_count\":0}}",
	  0, "A=passed\n! the summary does not fit the examples\n" },
	{ "JSON cut off",
	  "{\"version\":\"3\",\"examples\":[{\"full_description\":\"A\",\"status\":\"passed\"}", 0,
	  "! the JSON report is broken or not RSpec's\n" },
	{ "empty", "", 0, "! no line \"N examples, N failures\"\n" },
};

/* Two examples of one name: who asks for the name must learn of the second one (match_exact()). */
static void test_repetition(void)
{
	const char *log =
		"\nA\n  one\n  one (FAILED - 1)\n\nFailures:\n\n  1) A one\n\nFinished in 1\n"
		"2 examples, 1 failure\n";
	struct testlog_input in = { .log = log, .log_len = strlen(log), .exit_status = 1 };
	struct test_results r = { 0 };
	const struct test_result *t;

	testlog_find("rspec")->read(&in, &r, NULL);
	t = testlog_get(&r, "A one");
	tap_ok(!r.incomplete && t && t->status == TEST_PASSED && t->again == 1,
	       "a repetition is known as one");
	testlog_done(&r);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("rspec", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	test_repetition();
	return tap_done();
}

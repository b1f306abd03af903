/* SWE-bench Pro's output.json: statuses, repetitions, and everything that makes it incomplete. */
#include "tests/unit/verifier/readers.h"

static void pro_is(const char *report, const char *want, const char *name)
{
	struct testlog_input in = { .log = "ok 1 - forged\n",
				    .log_len = 14,
				    .report = report,
				    .report_len = report ? strlen(report) : 0,
				    .root = "/app" };
	auto_free char *got = readers_run("pro-json", &in);

	tap_is_str(got, want, name);
}

#define TESTS(list)        "{\"tests\": [" list "]}"
#define TEST(name, status) "{\"name\": \"" name "\", \"status\": \"" status "\"}"

int main(void)
{
	pro_is(TESTS(TEST("t.js | adds", "PASSED") "," TEST("b", "FAILED") "," TEST(
		       "c", "SKIPPED") "," TEST("d", "ERROR")),
	       "t.js | adds=passed\nb=failed\nc=skipped\nd=error\n", "four statuses");
	pro_is(TESTS(TEST("a\\n[ b ] \\u00e9", "PASSED")), "a\n[ b ] \xc3\xa9=passed\n",
	       "odd names");
	pro_is(TESTS(TEST("a", "PASSED") "," TEST("a", "FAILED") "," TEST("b", "FAILED") "," TEST(
		       "b", "PASSED")),
	       "a=failed\nb=failed\n", "of two the worse counts");
	pro_is(TESTS(TEST("/app/t.py::a[/app/x]", "PASSED")), "t.py::a[ROOT/x]=passed\n",
	       "the work directory is taken off");
	pro_is(NULL, "! no report file\n", "no report");
	pro_is("", "! report:1:1: no JSON value in this text\n", "an empty one");
	pro_is("{\"tests\": [", "! report:1:12: the text ends in the middle of a value\n",
	       "cut off");
	pro_is("{\"tests\": 1}", "! the report has no list \"tests\"\n", "no list");
	pro_is(TESTS(""), "! the report lists no test\n", "an empty list");
	pro_is(TESTS(TEST("a", "PASSED") ", {\"name\": \"b\"}"),
	       "a=passed\n! the report's entry 2 has no name or no status\n", "no status");
	pro_is(TESTS(TEST("a", "passed")), "! the report's entry 1 has status \"passed\"\n",
	       "another word");
	return tap_done();
}

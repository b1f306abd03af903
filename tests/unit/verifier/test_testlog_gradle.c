/* Gradle: what the fixtures of tests/readers/gradle (Gradle 4.4, JUnit 4) do not show: the forms of
 * later versions and of JUnit 5, written by hand after their known form, and logs that contradict themselves. */
#include "tests/unit/verifier/readers.h"

#define DONE "\nBUILD SUCCESSFUL in 1s\n3 actionable tasks: 3 executed\n"
#define BAD  "\nBUILD FAILED in 1s\n"

/* clang-format off */
static const struct {
	const char *name, *log;
	int status;
	const char *want;
} rows[] = {
	{ "JUnit 5: display names and levels",
	  "> Task :test\n\nRowsTest > rows(String) > [1] a > b PASSED\n\nOuter > Inner > inside() SKIPPED\n" DONE, 0,
	  "RowsTest.rows(String) > [1] a > b=passed\nOuter.Inner > inside()=skipped\n" },
	{ "two modules", "a.T > x FAILED\n    E at T.java:1\n\n2 tests completed, 1 failed, 1 skipped\n\nb.T > y PASSED\n" BAD, 1,
	  "a.T.x=failed\nb.T.y=passed\n! 2 tests with 1 failures are counted, 1 with 1 named\n" },
	{ "each module is counted by itself",
	  "a.T > x FAILED\n\n1 test completed, 1 failed\n\nb.T > y FAILED\nb.T > z PASSED\n\n2 tests completed, 1 failed\n" BAD, 1,
	  "a.T.x=failed\nb.T.y=failed\nb.T.z=passed\n" },
	{ "a failure that is not counted", "a.T > x FAILED\n" BAD, 1, "a.T.x=failed\n! a test failed, but no \"tests completed\" counts it\n" },
	{ "a count that ends early", "a.T > x FAILED\n\n1 tests completed,\n" BAD, 1,
	  "a.T.x=failed\n! 1 tests with 0 failures are counted, 1 with 1 named\n" },
	{ "tasks are no tests", "> Task :compileJava FAILED\n:test FAILED\n> a > b FAILED\n" BAD, 1,
	  "! no test is named: testLogging { events 'passed', 'failed', 'skipped' }, and run with --rerun-tasks\n" },
	{ "what tests print is indented", "a.T > x STANDARD_OUT\n    a.T > y PASSED\n\na.T > x PASSED\n" DONE, 0, "a.T.x=passed\n" },
	{ "a name over two lines, an event that has none",
	  "\na.T > x[a\nb] PASSED\n\na.T > y STARTED\n\na.T > y PASSED\n\nnote a > b\n\nmore PASSED\n" DONE, 0,
	  "a.T.x[a\nb]=passed\na.T.y=passed\n" },
	{ "cut", "\na.T > x PASSED\n", 0, "a.T.x=passed\n! gradle did not finish: no BUILD SUCCESSFUL or FAILED\n" },
	{ "all passed, but the build failed", "\na.T > x PASSED\n" BAD, 1, "a.T.x=passed\n! no test failed, but the command ended with status 1\n" },
};
/* clang-format on */

int main(void)
{
	const char *report = "<testsuite name=\"a.T\"><testcase classname=\"a.T\" name=\"x()\"/>"
			     "</testsuite>";
	const char *log = "\n1 tests completed, 1 failed\n";
	struct testlog_input in = { .log = log,
				    .log_len = strlen(log),
				    .report = report,
				    .report_len = strlen(report),
				    .root = "/workspace" };
	auto_free char *got = readers_run("gradle", &in);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("gradle", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	tap_is_str(
		got,
		"a.T.x()=passed\n! the report has 1 tests with 0 failures, the console 1 with 1\n",
		"XML that the console contradicts");
	return tap_done();
}

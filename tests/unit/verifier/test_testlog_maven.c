/* Maven surefire: what the fixtures of tests/readers/maven (surefire 2.22) do not show: the console
 * forms of surefire 2.12 and 3.x, written by hand after their known form; lines between lines;
 * reports that the console contradicts. */
#include "tests/unit/verifier/readers.h"

#define END(n, f, e)                                                                               \
	"\nResults :\n\nTests run: " #n ", Failures: " #f ", Errors: " #e ", Skipped: 0\n"
#define SUITE(c, t) "<testsuite name=\"" c "\">" t "</testsuite>"
#define CASE(c, n)  "<testcase classname=\"" c "\" name=\"" n "\"/>"
#define BAD(c, n)   "<testcase classname=\"" c "\" name=\"" n "\"><failure/></testcase>"

/* clang-format off */
static const struct {
	const char *name, *log;
	int status;
	const char *want;
} rows[] = {
	{ "surefire 2.12: no level in front, no class behind",
	  "Running a.FooTest\nTests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec <<< FAILURE!\n"
	  "bar(a.FooTest)  Time elapsed: 0.01 sec  <<< FAILURE!\njunit.framework.AssertionFailedError\n\n"
	  "Running a.BazTest\nTests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 sec\n" END(3, 1, 0), 1,
	  "a.FooTest=failed\na.FooTest.bar=failed\na.BazTest=passed\n" },
	{ "surefire 3: full names",
	  "[INFO] Running a.FooTest\n[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.251 s <<< FAILURE! -- in a.FooTest\n"
	  "[ERROR] a.FooTest.bar -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] a.FooTest.baz(int)[1] -- Time elapsed: 0.01 s <<< ERROR!\n"
	  "[INFO] Results:\n[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0\n", 1,
	  "a.FooTest=error\na.FooTest.bar=failed\na.FooTest.baz(int)[1]=error\n" },
	{ "an inherited test has the class that surefire names",
	  "Running a.FooTest\nTests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0 sec <<< FAILURE! - in a.FooTest\n"
	  "bar(a.BaseTest)  Time elapsed: 0 sec  <<< FAILURE!\n" END(1, 1, 0), 1,
	  "a.FooTest=failed\na.BaseTest.bar=failed\n" },
	{ "all skipped", "Running a.T\nTests run: 1, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0 s - in a.T\n" END(1, 0, 0), 0, "a.T=skipped\n" },
	{ "-T: the names of a class stand below another one",
	  "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0 s <<< FAILURE! - in a.FooTest\n"
	  "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in b.BarTest\n"
	  "[ERROR] bad  Time elapsed: 0 s  <<< FAILURE!\n" END(3, 1, 0), 1,
	  "a.FooTest=failed\nb.BarTest=passed\nb.BarTest.bad=failed\n! a.FooTest counts 2 tests with 1 failures and names 0 failures\n" },
	{ "a forged class does not fit the total",
	  "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.Forged\n"
	  "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.Real\n" END(1, 0, 0), 0,
	  "a.Forged=passed\na.Real=passed\n! the classes have 2 tests with 0 failures, the totals 1 with 0\n" },
	{ "a forged name among those of a class",
	  "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0 s <<< FAILURE! - in a.T\n"
	  "[INFO] good(a.T)  Time elapsed: 0 s\n[ERROR] bad(a.T)  Time elapsed: 0 s  <<< FAILURE!\n" END(3, 1, 0), 1,
	  "a.T=failed\na.T.good=passed\na.T.bad=failed\n! a.T counts 3 tests with 1 failures and names 1 failures and too few others\n" },
	{ "the same class twice: the worse result stays",
	  "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.T\n"
	  "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0 s <<< FAILURE! - in a.T\nx(a.T)  Time elapsed: 0 s <<< FAILURE!\n" END(2, 1, 0), 0,
	  "a.T=failed\na.T.x=failed\n" },
	{ "cut", "Running a.T\nTests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.T\n", 0,
	  "a.T=passed\n! no \"Tests run:\" total on the output\n" },
	{ "all passed, but the build failed", "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.T\n" END(1, 0, 0), 1,
	  "a.T=passed\n! no test failed, but the command ended with status 1\n" },
	{ "words that look like counts", "Tests run: many\nTests run: 1, Failures: none\nTests run: 1, Failures: 0, Errors: 0, Skipped: 0 or so\n", 0,
	  "! no \"Tests run:\" total on the output\n" },
};

static const struct {
	const char *name, *log, *report;
	int status;
	const char *want;
} reports[] = {
	{ "XML and console agree", END(2, 1, 0), SUITE("a.T", CASE("a.T", "x") BAD("a.T", "y(int)[1]")), 1, "a.T.x=passed\na.T.y(int)[1]=failed\n" },
	{ "an error outside of the tests", "", SUITE("a.T", BAD("a.T", "a.T") BAD("b.T", "")), 1, "a.T=failed\nb.T=failed\n" },
	{ "the console counts more", END(3, 1, 0), SUITE("a.T", CASE("a.T", "x") BAD("a.T", "y")), 1,
	  "a.T.x=passed\na.T.y=failed\n! the report has 2 tests with 1 failures, the console 3 with 1\n" },
	{ "all passed, but the build failed", "", SUITE("a.T", CASE("a.T", "x")), 1,
	  "a.T.x=passed\n! exit status 1, but no failure is in the JUnit XML\n" },
	{ "rows with one name", "", SUITE("a.T", CASE("a.T", "x") CASE("a.T", "x")), 0, "a.T.x=passed\na.T.x #2=passed\n" },
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("maven", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		struct testlog_input in = { .log = reports[i].log,
					    .log_len = strlen(reports[i].log),
					    .report = reports[i].report,
					    .report_len = strlen(reports[i].report),
					    .exit_status = reports[i].status,
					    .root = "/workspace" };
		auto_free char *got = readers_run("maven", &in);

		tap_is_str(got, reports[i].want, reports[i].name);
	}
	return tap_done();
}

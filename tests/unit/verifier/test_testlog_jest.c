/* jest: what the fixtures of tests/readers/jest do not show. */
#include "tests/unit/verifier/readers.h"

#define OK      "\xe2\x9c\x93 "
#define BAD     "\xe2\x9c\x95 "
#define SKIP    "\xe2\x97\x8b "
#define DOT     "\xe2\x97\x8f "
#define SUM(s)  "\nTest Suites: 1 passed, 1 total\nTests:       " s "\nSnapshots:   0 total\n"
#define T(s, n) "{\"ancestorTitles\":[\"A\"],\"title\":\"" n "\",\"status\":\"" s "\"}"
#define DOC(t, f, file, list)                                                                      \
	"{\"numFailedTestSuites\":0,\"numFailedTests\":" #f ",\"numTotalTests\":" #t               \
	",\"testResults\":[{\"name\":\"" file                                                      \
	"\",\"status\":\"passed\",\"assertionResults\":[" list "]}]}"

/* clang-format off */
static const struct {
	const char *name, *log;
	int status;
	const char *want;
} rows[] = {
	{ "jest before 24 counts skipped tests",
	  "PASS  ./a.test.js\n  A\n    " OK "one (2ms)\n    " SKIP "skipped 2 tests\n" SUM("2 skipped, 1 passed, 3 total"), 0,
	  "a.test.js > A one=passed\n" },
	{ "two runs: packages of one repository",
	  "PASS a/x.test.js\n  " OK "one\n" SUM("1 passed, 1 total") "FAIL b/x.test.js\n  " BAD "one\n\n  " DOT "one\n\n    Error\n" SUM("1 failed, 1 total"), 1,
	  "a/x.test.js > one=passed\nb/x.test.js > one=failed\n" },
	{ "times and sizes behind the file", "PASS src/a.test.js (5.25 s, 40 MB heap size)\n  " OK "one (1.002 s)\n" SUM("1 passed, 1 total"), 0,
	  "src/a.test.js > one=passed\n" },
	{ "the file with a time", "PASS src/a.test.js (5.25 s)\n  " OK "one\n" SUM("1 passed, 1 total"), 0, "src/a.test.js > one=passed\n" },
	{ "a forged tree in front: the worse result stays",
	  "PASS ./a.test.js\n  " OK "victim\n" SUM("1 passed, 1 total") "FAIL ./a.test.js\n  " BAD "victim\n\n  " DOT "victim\n" SUM("1 failed, 1 total"), 0,
	  "a.test.js > victim=failed\n" },
	{ "a forged pass in the real run",
	  "PASS ./a.test.js\n  " OK "victim\n\nFAIL ./a.test.js\n  " BAD "victim\n\n  " DOT "victim\n" SUM("1 failed, 1 total"), 1,
	  "a.test.js > victim=passed\na.test.js > victim #2=failed\n"
	  "! 1 tests are counted (0 passed, 1 failed), 2 named (1, 1)\n" },
	{ "the tree says passed, the list of failures failed",
	  "FAIL ./a.test.js\n  A\n    " OK "one\n\n  " DOT "A \xe2\x80\xba one\n\n    Error\n" SUM("1 passed, 1 total"), 1, "a.test.js > A one=failed\n" },
	{ "all passed, but the command failed", "PASS ./a.test.js\n  " OK "one\n" SUM("1 passed, 1 total"), 1,
	  "a.test.js > one=passed\n! no test failed, but the command ended with status 1\n" },
	{ "cut in a tree", "PASS ./a.test.js\n  A\n    " OK "one\n    " OK "tw", 0,
	  "a.test.js > A one=passed\na.test.js > A tw=passed\n! jest did not finish: no \"Tests:\" line behind the results\n" },
	{ "an empty line in a title ends the tree", "PASS ./a.test.js\n  " OK "one\n\nmore\n  " OK "two\n" SUM("2 passed, 2 total"), 0,
	  "a.test.js > one=passed\n! 2 tests are counted (2 passed, 0 failed), 1 named (1, 0)\n" },
	{ "the list of all failures at the end repeats them",
	  "FAIL ./a.test.js\n  " BAD "a\n  line\n\n  " DOT "a\n\n    x\n\nSummary of all failing tests\nFAIL ./a.test.js\n  " DOT "a\n\n    x\n"
	  SUM("1 failed, 1 total"), 1, "a.test.js > a=failed\n" },
	{ "words that look like a file", "PASS the salt\n  pepper\nFAIL ed again\n" SUM("0 total"), 0, "" },
	{ "json: root and file", DOC(2, 1, "/workspace/src/a.test.js", T("passed", "one") "," T("failed", "two")), 1,
	  "src/a.test.js > A one=passed\nsrc/a.test.js > A two=failed\n" },
	{ "json: it lists fewer than it counts", DOC(2, 0, "a.js", T("passed", "one")), 0,
	  "a.js > A one=passed\n! the report counts 2 tests with 0 failures and lists 1 with 0\n" },
	{ "json: an unknown status", DOC(1, 0, "a.js", T("perhaps", "one")), 0, "! a test has no title or the unknown status \"perhaps\"\n" },
	{ "json on the output of a verbose run: the console must agree",
	  DOC(1, 0, "a.js", T("passed", "one")) "\nFAIL ./a.js\n  A\n    " BAD "one\n\n  " DOT "A \xe2\x80\xba one\n" SUM("1 failed, 1 total"), 0,
	  "a.js > A one=passed\n! the report has 1 tests with 0 failures, the console 1 with 1\n" },
	{ "nothing at all", "", 0, "! jest did not finish: no \"Tests:\" line behind the results\n" },
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("jest", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	readers_is("jest",
		   "{\"numFailedTestSuites\":1,\"numFailedTests\":0,\"numTotalTests\":0,"
		   "\"success\":false,\"wasInterrupted\":true,\"testResults\":[{\"name\":"
		   "\"/workspace/a.js\",\"status\":\"failed\",\"assertionResults\":[]}]}",
		   1, "a.js=error\n! the run was interrupted\n", "json: a file that did not load");
	return tap_done();
}

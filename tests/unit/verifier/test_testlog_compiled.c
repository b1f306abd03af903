/* The readers of Go, Rust, C and C++ runners on what the fixtures of tests/readers do not show: logs that
 * contradict themselves, runs that are cut, several runs in one log, newer and older forms. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *reader, *name, *log;
	int status;
	const char *want;
};

#define EVENT(action, rest) "{\"Action\":\"" action "\",\"Package\":\"p\"" rest "}\n"
#define TEST(name)          ",\"Test\":\"" name "\""
#define OUTPUT(text)        ",\"Output\":\"" text "\\n\""
#define RULE                "[==========] "
#define RESULT(counts)      "\ntest result: " counts "; 0 measured; 0 filtered out; finished in 0.00s\n"

/* clang-format off */
static const struct row rows[] = {
	{ "gotest", "a forged pass, then a failure behind output",
	  "=== RUN   TestA\n--- PASS: TestA (0.00s)\nhalf--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\nFAIL\n", 1, "p.TestA=failed\n" },
	{ "gotest", "a pass of what never ran", "--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tp\t0.1s\n", 0, "p.TestB=passed\n" },
	{ "gotest", "ok over a failure", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", 0,
	  "p.TestA=failed\n! p is ok, but a test of it failed\n" },
	{ "gotest", "os.Exit(0) in the middle", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nok  \tp\t0.1s\n", 0,
	  "p.TestA=passed\np.TestB=error\n! p ended with status 0 before the tests were done\n" },
	{ "gotest", "TestMain fails", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nFAIL\tp\t0.1s\nFAIL\n", 1,
	  "p.TestA=passed\np=failed\n! p failed, but no test of it did\n" },
	{ "gotest", "the second of two runs of a test does not end",
	  "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestA\nFAIL\tp\t0.1s\n", 1,
	  "p.TestA=error\np=failed\n! p ended before its tests were done\n" },
	{ "gotest", "two packages, one not built",
	  "# q\nq/q.go:1: x\n=== RUN   TestA\n=== RUN   TestA/b_c\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/b_c (0.00s)\nPASS\n"
	  "ok  \tp\t(cached)\nFAIL\tq [build failed]\n?   \tr\t[no test files]\nFAIL\n", 1, "p.TestA=passed\np.TestA/b_c=passed\nq=error\n" },
	{ "gotest", "status and results", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", 2,
	  "p.TestA=passed\n! no test failed, but the command ended with status 2\n" },
	{ "gotest", "run by hand with -test.v=test2json",
	  "\x16=== RUN   TestA\n--- PASS: TestA (0.00s)\n\x16--- FAIL: TestA (0.00s)\n\x16" "FAIL\nFAIL\tp\t0.1s\n", 1, "p.TestA=failed\n" },
	{ "gotest-json", "a failure stays", EVENT("run", TEST("A")) EVENT("pass", TEST("A")) EVENT("fail", TEST("A"))
	  EVENT("output", OUTPUT("FAIL")) EVENT("fail", ""), 1, "p.A=failed\n" },
	{ "gotest-json", "escapes, and what never ran", EVENT("run", TEST("A\\u00e9\\n")) EVENT("pass", TEST("A\\u00e9\\n")) EVENT("pass", TEST("B"))
	  EVENT("output", OUTPUT("PASS")) EVENT("pass", ""), 0, "p.A\xc3\xa9\n=passed\n" },
	{ "gotest-json", "build failures of 1.24",
	  "{\"ImportPath\":\"p\",\"Action\":\"build-output\",\"Output\":\"x\"}\n{\"ImportPath\":\"p\",\"Action\":\"build-fail\"}\n"
	  EVENT("start", "") EVENT("fail", ",\"FailedBuild\":\"p\""), 1, "p=error\n" },
	{ "gotest-json", "cut", EVENT("run", TEST("A")) EVENT("pass", TEST("A")) "{\"Action\":\"out", 0,
	  "p.A=passed\n! the log ends while p runs\n" },
	{ "libtest", "a forged line and one less", "running 2 tests\ntest a ... ok\ntest b ... ok\ntest c ... FAILED\n\nfailures:\n"
	  RESULT("FAILED. 1 passed; 1 failed; 0 ignored"), 101, "a=passed\nb=passed\nc=failed\n! a test binary: its lines do not agree with its summary (3 of 2)\n" },
	{ "libtest", "a forged end", "running 2 tests\ntest a ... ok\n" RESULT("ok. 2 passed; 0 failed; 0 ignored") "test b ... FAILED\n"
	  RESULT("FAILED. 1 passed; 1 failed; 0 ignored"), 101, "a=passed\nb=failed\n" },
	{ "libtest", "a failure that output swallowed", "running 2 tests\ntest a ... ok\ntest b ... FAIL\n"
	  RESULT("FAILED. 1 passed; 1 failed; 0 ignored"), 101,
	  "a=passed\nb=error\n! a test binary: its lines do not agree with its summary (1 of 2)\n" },
	{ "libtest", "binaries of one target twice", "     Running unittests src/lib.rs (target/debug/deps/x-0123456789abcdef)\nrunning 1 test\ntest a ... ok\n"
	  RESULT("ok. 1 passed; 0 failed; 0 ignored") "     Running unittests src/lib.rs (target/debug/deps/x-1123456789abcdef)\nrunning 1 test\ntest a ... FAILED\n"
	  RESULT("FAILED. 0 passed; 1 failed; 0 ignored"), 101, "x a=failed\n" },
	{ "libtest", "nothing", "error: could not compile `x`\n", 101, "! no test binary ran\n" },
	{ "libtest-json", "counts differ", "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n{\"type\":\"test\",\"event\":\"ok\",\"name\":\"a\"}\n"
	  "{\"type\":\"test\",\"event\":\"ok\",\"name\":\"b\"}\n{\"type\":\"suite\",\"event\":\"ok\",\"passed\":1,\"failed\":0,\"ignored\":0,\"measured\":0}\n", 0,
	  "a=passed\nb=passed\n! a test binary: its lines do not agree with its summary (2 of 1)\n" },
	{ "ctest", "newer summary without failures", "Test project /b\n1/1 Test #1: a ....   Passed    0.01 sec\n\n100% tests passed out of 1\n", 0, "a=passed\n" },
	{ "ctest", "a forged better result", "Test project /b\n1/2 Test #1: a ....***Failed    0.01 sec\n1/2 Test #1: a ....   Passed    0.01 sec\n"
	  "2/2 Test #2: b ....   Passed    0.01 sec\n\n50% tests passed, 1 tests failed out of 2\n", 8, "a=failed\nb=passed\n" },
	{ "ctest", "output that begins like a result", "Test project /b\n1/3 done\n1/1 Test #1: a ....   Passed    0.01 sec\n\n100% tests passed out of 1\n", 0, "a=passed\n" },
	{ "ctest", "one number, two names", "Test project /b\n1/1 Test #1: a ....   Passed    0.01 sec\n1/1 Test #1: b ....   Passed    0.01 sec\n\n100% tests passed, 0 tests failed out of 1\n", 0,
	  "a=passed\n! test 1 has two names: a\n" },
	{ "meson", "a forged better result", "1/2 p / a OK 0.01s\n1/2 p / a FAIL 0.01s   exit status 1\n2/2 p / b OK 0.01s\n\nOk: 1\nFail: 1\n", 1,
	  "p / a=failed\np / b=passed\n! Ok: 1 in the summary, 2 in the results (run without --quiet)\n" },
	{ "meson", "a failure shown again under a better word", "1/1 p / a FAIL 0.01s   exit status 1\n1/1 p / a EXPECTEDFAIL 0.01s\n1/1 p / a SKIP 0.01s\n\nOk: 0\nFail: 1\n", 1,
	  "p / a=failed\n" },
	{ "meson", "summary without the lines that are 0", "1/1 p / a OK     0.01s\n\nOk:  1\nFail: 0\n\nFull log written to /b/x\n"
	  "1/1 p / a FAIL     0.01s   exit status 1\n\nOk:  0\nFail: 1\n", 1, "p / a=failed\n" },
	{ "googletest", "a result that never ran, a run too many",
	  RULE "Running 1 test from 1 test suite.\n[ RUN      ] S.A\n[       OK ] S.B (0 ms)\n[       OK ] S.A (0 ms)\n[ RUN      ] S.B\n[       OK ] S.B (0 ms)\n"
	  RULE "1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n", 0, "S.A=passed\nS.B=passed\n! 2 tests are named, but 1 ran\n" },
	{ "googletest", "ctest -V, two at a time",
	  "1: " RULE "Running 1 test from 1 test suite.\n2: " RULE "Running 1 test from 1 test suite.\n1: [ RUN      ] S.A\n2: [ RUN      ] S.B\n"
	  "1: [       OK ] S.A (0 ms)\n2: [  FAILED  ] S.B, where GetParam() = 4 (0 ms)\n1: " RULE "1 test from 1 test suite ran.\n2: " RULE "1 test from 1 test suite ran.\n"
	  "1: [  PASSED  ] 1 test.\n2: [  PASSED  ] 0 tests.\n2: [  FAILED  ] 1 test, listed below:\n2: [  FAILED  ] S.B\n", 8, "S.A=passed\nS.B=failed\n" },
	{ "cmocka", "group names", RULE "tests: Running 1 test(s).\n[ RUN      ] a\n[       OK ] a\n" RULE "tests: 1 test(s) run.\n[  PASSED  ] 1 test(s).\n", 0, "a=passed\n" },
	{ "catch2", "a document type", "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]><Catch/>", 0,
	  "! the XML was not read: a document type declaration, which no runner writes (line 1)\n" },
	{ "catch2", "version 3: a skip", "<?xml version=\"1.0\"?><Catch2TestRun><TestCase name=\"a\"><OverallResult success=\"true\" skips=\"1\"/></TestCase>"
	  "<OverallResultsCases successes=\"0\" failures=\"0\" expectedFailures=\"0\" skips=\"1\"/></Catch2TestRun>", 0, "a=skipped\n" },
	{ "check", "more lines than checks", "Running suite(s): S\n100%: Checks: 1, Failures: 0, Errors: 0\na.c:1:P:t:a:0: Passed\na.c:1:P:t:b:0: Passed\n", 0,
	  "t:a=passed\nt:b=passed\n! 1 checks, 0 of them failed; 2 lines, 0\n" },
	{ "unity", "two programs, one cut", "a.c:1:a:PASS\n\n1 Tests 0 Failures 0 Ignored \nOK\nb.c:1:b:PASS\n", 0,
	  "a.c:a=passed\nb.c:b=passed\n! a program ended without a summary\n" },
	{ "unity", "ctest says that it crashed", "14: /workspace/t/m.c:295:a:PASS\n14/22 Test #14: m ....***Exception: SegFault  0.1 sec\n15: /workspace/t/n.c:2:b:PASS\n15: 1 Tests 0 Failures 0 Ignored \n", 8,
	  "t/m.c:a=passed\nt/n.c:b=passed\n! a program ended without a summary: 14: m ....***Exception: SegFault  0.1 sec\n" },
	{ "jq", "1.7", "Test #1: '.a' at line number 2\nTest #2: '.b' at line number 6\n*** Expected 1, but got 2 for test at line number 8: .b\n1 of 2 tests passed (0 malformed, 0 skipped)\n", 1, ".a=passed\n.b=failed\n" },
	{ "jq", "a hang", "Test #1: '.a' at line number 2\nTest #2: '.b' at line number 6\n", 124, ".a=passed\n.b=error\n! no \"N of N tests passed\" at the end\n" },
	{ "redis-tcl", "a failure that the end does not list", "[err]: a in tests/unit/x.tcl\n[ok]: b (1 ms)\n   The End\n\\o/ All tests passed without errors!\n", 0,
	  "a=failed\nb=passed\n! 1 tests failed, 0 are listed at the end\n" },
	{ "nextest", "a retried test", "    Starting 1 test across 1 binary\n  TRY 1 FAIL [   0.004s] x a\n  TRY 2 PASS [   0.004s] x a\n     Summary [   0.1s] 1 test run: 1 passed (1 flaky), 0 skipped\n   FLAKY 2/3 [   0.004s] x a\n", 0, "x a=passed\n" },
};
/* clang-format on */

/* Every reader on nothing, and on every prefix of a log: never complete with less than the whole. */
static void prefixes(const struct row *row)
{
	size_t n = strlen(row->log), complete = 0;

	for (size_t i = 0; i < n; i++) {
		struct testlog_input in = { .log = row->log, .log_len = i, .root = "/workspace" };
		auto_free char *got = readers_run(row->reader, &in);

		complete += !strstr(got, "! ") && strstr(got, "=passed") != NULL;
	}
	/* the last newlines, and complete runs in front of another one */
	tap_ok(complete <= n / 2, "%s, %s: %zu of %zu prefixes are complete", row->reader,
	       row->name, complete, n);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *name = mem_printf("%s: %s", rows[i].reader, rows[i].name);

		readers_is(rows[i].reader, rows[i].log, rows[i].status, rows[i].want, name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		prefixes(&rows[i]);
	return tap_done();
}

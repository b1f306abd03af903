/* What the log parsers of SWE-bench's harness take for results (verifier/compat.h): small logs of
 * ours in the forms of the runners, traps included; and the rules about a log as a whole. That they
 * agree with the parsers of that harness on published logs is measured elsewhere
 * (docs/compat-swe-bench.md). */
#include "verifier/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/verifier/readers.h"

#define TICK "\u2713"

/* clang-format off */
static const struct {
	const char *parser, *log, *want;
} logs[] = {
	{ "pytest",
	  "PASSED a.py::t[x y]\nFAILED a.py::u - assert 1\nERROR a.py::v - E\nXFAIL a.py::w\nXPASS a.py::x\n"
	  "SKIPPED [1] a.py:3: why\nPASSED\nERRORS of it\n PASSED a.py::no\nPASSED a.py::t[x z]\nFAILED - a.py::y\n",
	  "a.py::t[x=passed\na.py::u=failed\na.py::v=error\na.py::w=xfail\nof=missing\na.py::y=failed\n" },
	{ "pytest_options",
	  "PASSED t[/a/b/c.py]\nPASSED t[//a/b]\nPASSED t[/a/*]\nPASSED t[x]tail\nFAILED u - m [/x/y]\n",
	  "t[/c.py]=passed\nt[//a/b]=passed\nt[/a/*]=passed\nt[x]=passed\nu=failed\n" },
	{ "pytest_v2",
	  "PASSED t[a  b]\nFAILED u[x - y] - why\nERROR v - why\nw[a b] PASSED\n\033[32mPASSED\033[0m z\nSKIPPED [2] x\n",
	  "t[a b]=passed\nu[x=failed\nv - why=error\nw[a b]=passed\nz=passed\n" },
	{ "matplotlib", "PASSED t[MouseButton.LEFT-MouseButton.RIGHT]\n", "t[1-3]=passed\n" },
	{ "seaborn", "t PASSED [ 1%]\nPASSED u\nFAILED v - x\nERROR w\nx PASSED\n", "t=passed\nu=passed\nv=failed\n" },
	{ "sympy",
	  "test_a ok\ntest_b F\ntest_c E  [FAIL]\ntest_d f\n____ sympy/x/test_y.py:test_b ____\n  test_e   E\n",
	  "sympy/x/test_y.py:test_b=failed\ntest_a=passed\ntest_b=failed\ntest_e=error\n" },
	{ "django",
	  "test_a (m.C) ... ok\nThe docstring. ... ok\ntest_b (m.C) ... FAIL\ntest_c (m.C) ... skipped 'x'\n"
	  "  Applying a.0001_initial... OK\n  Applying b.0001 ...  OK\ntest_d (m.C) ... noise\nok\nFAIL: test_b (m.C)\n",
	  "test_a (m.C)=passed\nThe docstring.=passed\ntest_b (m.C)=failed\ntest_c (m.C)=skipped\nApplying b.0001=passed\n"
	  "test_d (m.C)=passed\ntest_b=failed\n" },
	{ "django",
	  "test_a (m.C) ... Testing against Django installed in '/x' with up to 2 processes\nmore silenced).\nok\n"
	  "test_b (m.C) ... Internal Server Error: /a/b/\nok\ntest_c (m.C) ... System check identified no issues (0 silenced)\nok\n"
	  "test_d (m.C) ... Internal Server Error: /a/b\nnot\n",
	  "test_a (m.C)=passed\ntest_b (m.C)=passed\ntest_c (m.C)=passed\n" },
	{ "django", "Applying sites.0002_alter_domain_unique...test_no_migrations (m.C) ... ok\n--version is equivalent to version\n",
	  "test_no_migrations (m.C)=passed\n--version is equivalent to version=passed\n" },
	{ "jest", "  " TICK " adds (5 ms)\n    \u2715 takes\n\u25cb later\n" TICK "none\n", "adds=passed\ntakes=failed\nlater=skipped\n" },
	{ "jest_json", "[PASSED] a b\n [FAILED] c\n[SKIPPED] d\n", "a b=passed\nc=failed\n" },
	{ "vitest", TICK " a > b 5ms\n\u00d7 c 12\n\u2193 d [skipped]\n" TICK " e 1 m\n", "a > b=passed\nc=failed\nd=skipped\ne=passed\n" },
	{ "tap", "ok 1 - a # SKIP x\nnot ok 2 b # TODO\n    ok 3 c\nok 4\n", "- a # SKIP x=passed\nb # TODO=failed\nc=passed\n" },
	{ "gotest", "--- PASS: T (0.00s)\n    --- FAIL: T/a (b) (0.01s)\nx--- PASS: U (0s)\n--- SKIP: V (0s)\n--- PASS: W ()\n",
	  "T=passed\nT/a (b)=failed\nV=skipped\n" },
	{ "cargo", "test a::b ... ok\ntest c ... FAILED\ntest d - should panic ... ok\ntest e ... ignored\ntest f ... ignored, why\n",
	  "a::b=passed\nc=failed\n" },
	{ "ant", " [junit] [PASS] a b\n[junit] [ERR]  c\n[junit][PASS] d\n", "a b=passed\nc=failed\n" },
	{ "maven", "+ mvn test -Dtest=A#a -x\n[INFO] BUILD SUCCESS\n+ mvn -Dtest=B\n+ mvn -Dtest=C\n[INFO] BUILD FAILURE\n",
	  "A#a=passed\nB=failed\n" },
	{ "maven", "BUILD SUCCESS\nmvn -Dtest=A\n", "A=passed\n" },
	{ "gradle_custom", "a.B > c PASSED\n> x FAILED\na.B > d\nnoise\nFAILED\na.B > e  FAILED\n", "a.B > c=passed\na.B > d=failed\na.B > e =failed\n" },
	{ "phpunit", " \u2714 Before\nTitle (A\\B)\n \u2714 Adds\n \u2718 Takes\n \u21a9 Later\n",
	  "None > Before=passed\nTitle > Adds=passed\nTitle > Takes=failed\nTitle > Later=skipped\n" },
	{ "minitest", "A#test_a. = 0.00 s = .\nA#test_b. x. = 0.00 s = F\nA#test_c = 0.00 s = .\n", "A#test_a=passed\nA#test_b. x=failed\n" },
	{ "cucumber", "Given a thing ....\nWhen it fails ..F\nThen .\nAnd .F\n", "Given a thing=passed\nWhen it fails=failed\nAnd=failed\n" },
	{ "ruby_unit", "test: adds:\t.: (0.001)\n  takes:  F\nlater: O\nx: Only\n", "adds=passed\ntakes=failed\nlater=skipped\n" },
	{ "rspec_transformed_json", "a - b - passed\nc - failed\nd - pending\n", "a - b=passed\nc=failed\n" },
	{ "jekyll", "A#a. = 0.1 s = .\n", "A#a=passed\n" },
	{ "jekyll", "Given a thing ..F\n", "Given a thing=failed\n" },
	{ "googletest", "[       OK ] a.b (0 ms)\n3: [  FAILED  ] c.d, where x (1 ms)\n[  FAILED  ] c.d\n", "a.b=passed\nc.d, where x=failed\n" },
	{ "doctest",
	  "x<doctest><TestCase name=\"a\"><SubCase name=\"b\"><Expression success=\"true\"/></SubCase><SubCase name=\"c\">"
	  "<SubCase name=\"d\"><Expression success=\"false\"/></SubCase></SubCase></TestCase></doctest>y",
	  "a > b=passed\na > c=failed\na > d=failed\n" },
	{ "doctest", "<!DOCTYPE x><doctest><TestCase></doctest>", "! the XML is not well formed\n" },
	{ "redis", "[ok]: a (12 ms)\n[err]: b in tests/x.tcl\n[ignore]: c\n[exception]: d\n", "a=passed\nb=failed\nc=skipped\n" },
	{ "jq", "PASS: tests/a\nFAIL: tests/b\nXFAIL: tests/c\n", "tests/a=passed\ntests/b=failed\n" },
	{ "micropython", "pass  a.py\nFAIL  b.py\nskip  c.py\n", "a.py=passed\nb.py=failed\nc.py=skipped\n" },
	{ "calypso", "$ ./node_modules/.bin/jest x\n  suite\n    " TICK " a (5ms)\n    \u2715 b\n  \u25cf why\n    " TICK " c\n", "suite - a=passed\nsuite - b=failed\n" },
	{ "highlightjs", "  suite\n    " TICK " a (5ms)\n    1) b\n  3 passing\n    " TICK " c\n", "suite.a=passed\nsuite.b=failed\n" },
	{ "karma", "  \u2714 early\nStarting browser\n  suite\n    inner\n      \u2714 a\n    \u2716 b\nSUMMARY:\n  \u2714 c\n",
	  "suite > inner > a=passed\nsuite > inner > b=failed\n" },
	{ "next", "$ x xvfb-run y\nStarting browser Chrome\n  suite\n    " TICK " a\n    LOG " TICK " b\n    \u2717 c\nTOTAL 3\n  " TICK " d\n",
	  "suite - a=passed\nsuite - c=failed\n" },
	{ "plotly_js", "  - a :\n    * b : ok\n    * c : Failed ok\n  - d :\n    * e : ok\n", "a.b=passed\na.c=failed\nd.e=passed\n" },
	{ "carbon", "PASS a.js (5.1 s)\nFAIL b.js (12ms) x\nPASS c.js\n", "a.js=passed\nb.js=failed\nc.js=passed\n" },
	{ "prettier", "PASS a.js\n", "a.js=passed\n" },
	{ "grommet", "PASS a.js (5.1 s)\nFAIL b.js\nFAIL a.js\n", "b.js=failed\na.js=passed\n" },
	{ "emotion", "PASS a.js (5.1 s)\n", "a.js (5.1 s)=passed\n" },
	{ "quarto_cli", "[smoke] > a /tmp/q1/ ... \033[32mok\n[unit] > b /tmp/q2/ ... \033[31mFAILED\n[unit] > c\n[smoke] d ... \033[34mINFO\nfailures:\n[unit] e\n",
	  "[smoke] > a /tmp/0=passed\n[unit] > b /tmp/1=failed\n[unit] > c=failed\n" },
	{ "lighthouse", "PASS a.js\n", "a.js=passed\n" },
	{ "prismjs", "$ ./node_modules/.bin/mocha tests/run.js --reporter json\nx{\"passes\":[{\"fullTitle\":\"a \\u00e9\"}],\"failures\":[{\"fullTitle\":\"b\"}]}",
	  "b=failed\na \u00e9=passed\n" },
	{ "prismjs", "./node_modules/.bin/mocha tests/run.js --reporter json\n{nothing}", "! a result of mocha is no JSON\n" },
	{ "cypress", "  \"passes\": [\n\"fullTitle\": \"a\",\n  }\n  ],\n  \"failures\": [\n\"fullTitle\": \"b\",\n  ],\n../..\"fullTitle\": \"c\",\n", "a=passed\nb=failed\n" },
	{ "immutable_js", TICK " a\n", "a=passed\n" },
	{ "bpmn_js", "\033[2KPhantomJS 2.1 (Linux 0.0.0) a b FAILED\nHeadlessChrome 9.0 (Linux 0.0.0) c FAILED\nPhantomJS 2.1 (Linux 0.0.0) d FAILED\n", "a b =failed\nc =failed\n" },
	{ "openlayers", "Chrome Headless 9.0 (Linux x86_64) a   b FAILED\n  1) c\n   d\nError: x\ncase e/f: mismatch by 1\n", "a b=failed\nc d=failed\ne/f=failed\n" },
	{ "chart_js", "\033[1mChrome 9.0 (any (x) y) a b FAILED\n", "y) a b =failed\n" },
	{ "eslint", "\n  1) suite\n       test:\n\n     AssertionError: x\n  2) b\n  TypeError\n  3) c: Error\n", "suite test:=failed\nb=failed\n=failed\n" },
	{ "marked", "1) a b\n 2) c\n", "a b=failed\n" },
	{ "p5js", "  1) suite\n       inner\n         test:\n<a>\n 2) x:\n</a>\n{ 3) y: }\n  4) flat\n same:\n", "suite:inner:test=failed\n" },
};
/* clang-format on */

static void parsers(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		auto_free char *name = mem_printf(COMPAT_PREFIX "%s", logs[i].parser);
		auto_free char *title = mem_printf("%s, log %zu", logs[i].parser, i);

		readers_is(name, logs[i].log, 0, logs[i].want, title);
	}
}

/* Parsers whose form depends on the task. */
static void by_task(void)
{
	/* clang-format off */
	static const struct {
		const char *parser, *instance, *version, *log, *want;
	} tasks[] = {
		{ "swebench/jekyll", "jekyll__jekyll-8761", NULL, "A#a. = 0.1 s = .\nGiven a ..F\n", "Given a=failed\n" },
		{ "swebench/jekyll", "jekyll__jekyll-9141", NULL, "A#a. = 0.1 s = .\nGiven a ..F\n", "A#a=passed\n" },
		{ "swebench/immutable_js", "x__x-2005", NULL, TICK " a\n[PASSED] b\n", "b=passed\n" },
		{ "swebench/next", NULL, "1.27", "Running: a.js (1 of 2)\n\n\n  title\n    1) a\n    " TICK " b (3ms)\n", "title: a=failed\ntitle: b=passed\n" },
		{ "swebench/lighthouse", NULL, "9.5", "running 2 test files\n  lost\n    \u2714 a (3ms)\n  suite\n    1) b\n  3 passing\n", "a=passed\nsuite - b=failed\n" },
		{ "swebench/lighthouse", NULL, "2.1", "./node_modules/.bin/mocha --reporter json\n\"failures\": [\n\"fullTitle\": \"b\",\n],\n\"passes\": [\n\"fullTitle\": \"a\",\n]\n", "a=passed\nb=failed\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct testlog_input in = { .log = tasks[i].log,
					    .log_len = strlen(tasks[i].log),
					    .instance_id = tasks[i].instance,
					    .version = tasks[i].version };
		auto_free char *got = readers_run(tasks[i].parser, &in);

		tap_is_str(got, tasks[i].want, tasks[i].parser);
	}
}

#define START ">>>>> Start Test Output\n"
#define END   ">>>>> End Test Output\n"

/* clang-format off */
static const struct {
	const char *name, *log;
	int exit_status;
	const char *reason, *want; /* NULL reason: found */
} wholes[] = {
	{ "no markers", "PASSED a\n", 0, NULL, "a=passed\n" },
	{ "between the markers", "PASSED x\n" START "PASSED a\n" END "PASSED y\n", 0, NULL, "a=passed\n" },
	{ "a trace of the shell", "+ : '>>>>> Start Test Output'\nPASSED a\n+ : '>>>>> End Test Output'\nPASSED y\n", 0, NULL, "a=passed\n" },
	{ "the first occurrence counts", START "PASSED a\n" END "x\n" START "FAILED a\n" END, 0, NULL, "a=passed\n" },
	{ "up to a second start", START "PASSED a\n" START "FAILED a\n" END, 0, NULL, "a=passed\n" },
	{ "the end stands in front of the start", END "PASSED x\n" START "PASSED a\n", 0, NULL, "a=passed\n" },
	{ "nothing between: the whole log", "PASSED a\n" START "x\n" END, 0, NULL, "a=passed\n" },
	{ "the start alone", "PASSED a\n" START, 0, "the log has one of the two markers of the test output, but not the other", "" },
	{ "the end alone", "PASSED a\n" END, 0, "the log has one of the two markers of the test output, but not the other", "" },
	{ "a log of version 1", ">>>>> Applied Patch (pred_try)\nPASSED x\n>>>>> Applied Patch (pred)\nPASSED a\n", 0, NULL, "a=passed\n" },
	{ "the patch did not apply", ">>>>> Patch Apply Failed:\nPASSED a\n", 0, "the log says that the patch does not apply", "" },
	{ "time ran out", START "PASSED a\n" END ">>>>> Tests Timed Out", 0, "the log says that the tests ran out of time", "" },
	{ "a test prints that time ran out", START "PASSED a\n>>>>> Tests Timed Out\n" END, 0, "the log says that the tests ran out of time", "" },
	{ "an exit status without a failure", START "PASSED a\n" END ">>>>> Test Exit Code: 1\n", 0, "the tests ended with another status than 0, but none of them failed", "a=passed\n" },
	{ "an exit status with a failure", START "PASSED a\nFAILED b\n" END ">>>>> Test Exit Code: 1\n", 0, NULL, "a=passed\nb=failed\n" },
	{ "the first exit status counts", START "PASSED a\n>>>>> Test Exit Code: 0\n" END ">>>>> Test Exit Code: 1\n", 0, NULL, "a=passed\n" },
	{ "the marker counts, not what the box says", START "PASSED a\n" END ">>>>> Test Exit Code: 0\n", 1, NULL, "a=passed\n" },
	{ "what the box says, without a marker", "PASSED a\n", 1, "the tests ended with another status than 0, but none of them failed", "a=passed\n" },
	{ "nothing ran", START "x\nExecuted 0 of 0\n0 passing\n# tests 0\nTests: 0 total\n" END, 0, "there are no results, and no runner says that it ran any test", "" },
	{ "karma ran", START "Executed 3 of 10\n" END, 0, NULL, "" },
	{ "karma's total", START "TOTAL: 3 SUCCESS\n" END, 0, NULL, "" },
	{ "mocha ran", START "  10 passing (5ms)\n" END, 0, NULL, "" },
	{ "jest ran", START "Test Suites: 1 skipped, 10 total\n" END, 0, NULL, "" },
	{ "jest ran none", START "Test Suites: 0 total\n" END, 0, "there are no results, and no runner says that it ran any test", "" },
	{ "node ran", START "# tests 3\n" END, 0, NULL, "" },
	{ "jasmine ran", START "12 specs, 0 failures\n" END, 0, NULL, "" },
	{ "rendering ran", START "info 'a': ok\n" END, 0, NULL, "" },
	{ "returns are ends of lines", START "x\rPASSED a\r\nPASSED b\r\n" END, 0, NULL, "a=passed\nb=passed\n" },
};
/* clang-format on */

static void whole_logs(void)
{
	const struct testlog_reader *row = compat_find("pytest");

	for (size_t i = 0; i < ARRAY_SIZE(wholes); i++) {
		struct testlog_input in = { .log = wholes[i].log,
					    .log_len = strlen(wholes[i].log),
					    .exit_status = wholes[i].exit_status };
		struct test_results r = { 0 };
		struct compat_log log;
		struct err err = { 0 };

		compat_markers(&in, &log);
		if (log.found && compat_read(row, &in, &log, &r, &err) < 0)
			abort();
		compat_judge(&in, &r, &log);
		{
			auto_free char *got = readers_dump(&r);

			tap_is_str(got, wholes[i].want, wholes[i].name);
			tap_is_str(log.reason ? log.reason : "",
				   wholes[i].reason ? wholes[i].reason : "", wholes[i].name);
			tap_ok(log.found == !wholes[i].reason, "%s: found", wholes[i].name);
		}
		/* A span is where the line stands in the log that was given. */
		for (size_t t = 0; t < r.n; t++)
			tap_ok(strncmp(wholes[i].log + r.v[t].from,
				       r.v[t].status == TEST_PASSED ? "PASSED " : "FAILED ",
				       7) == 0 &&
				       wholes[i].log[r.v[t].to - 1] == r.v[t].name[0],
			       "%s: span of %s", wholes[i].name, r.v[t].name);
		testlog_done(&r);
	}
}

static void names(void)
{
	size_t n = 0;

	for (const struct testlog_reader *r = compat_readers; r->name; r++, n++) {
		const char *exact = compat_exact(r);

		tap_ok(compat_find(r->name) == r && testlog_find(r->name) == r && r->doc[0] &&
			       str_starts(r->name, COMPAT_PREFIX),
		       "row %s", r->name);
		if (exact)
			tap_is_str(compat_plain(r->name), exact, r->name);
	}
	tap_ok(n > 40, "%zu rows", n);
	tap_ok(compat_find("parse_log_pytest") == compat_find("swebench/pytest"),
	       "the name of a task's log_parser");
	tap_ok(compat_find("parse_log_astropy") == compat_find("pytest_v2"), "another name for it");
	tap_ok(!compat_find("pytest_v3") && !compat_find(NULL) && !testlog_find("swebench/nope"),
	       "unknown names");
	tap_ok(compat_of_repo("Django/django") == compat_find("django"), "by repository");
	tap_ok(!compat_of_repo("a/b") && !compat_of_repo(NULL), "unknown repositories");
	tap_is_str(compat_plain("tap"), "tap", "a reader that is none of these stays");
	tap_is_str(compat_plain("swebench/marked"), "swebench/marked", "one without another stays");
	tap_ok(!compat_plain(NULL), "no reader");
}

int main(void)
{
	parsers();
	by_task();
	whole_logs();
	names();
	return tap_done();
}

/* pytest: what -rA, -v and both print, ids with every awkward character, forged lines, crashes. */
#include "tests/unit/verifier/readers.h"

#define START "============================= test session starts ==============================\n"
#define INFO  "=========================== short test summary info ============================\n"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {
	{ "-rA",
	  START
	  "collected 6 items\n\nt.py .F.EsxX [100%]\n\n"
	  "=================================== FAILURES ===================================\n"
	  "____ test_f ____\nPASSED t.py::forged\n"
	  "----------------------------- Captured stdout call -----------------------------\n"
	  "PASSED t.py::forged2\n" INFO "PASSED t.py::forged3\n======= 1 passed in 0.01s =======\n"
	  "==================================== PASSES ====================================\n" INFO
	  "PASSED t.py::p[a b]\nPASSED t.py::p[file - 'str' object]\nPASSED t.py::p[x]y]\n"
	  "PASSED t.py::p[n\\nl]\nPASSED t.py::p[  lead]\nPASSED t.py::td\n"
	  "SKIPPED [2] t.py:17: no - no\nXFAIL t.py::xf - bug - 1\nXPASS t.py::xp bug 2\n"
	  "ERROR t.py::td - AssertionError: teardown\nFAILED t.py::f[a - b] - assert 0 - [1]\n"
	  "FAILED t.py::f[x]y - z] - boom - a\nFAILED t.py::f[[open - q] - boom\n"
	  "FAILED t.py::f - assert [1] - [2]\nFAILED t.py::xps\n"
	  "==== 5 failed, 6 passed, 2 skipped, 1 xfailed, 1 xpassed, 1 error in 0.03s ====\n",
	  1,
	  "t.py::p[a b]=passed\nt.py::p[file - 'str' object]=passed\nt.py::p[x]y]=passed\n"
	  "t.py::p[n\\nl]=passed\nt.py::p[  lead]=passed\nt.py::td=error\nt.py:17=skipped\n"
	  "t.py::xf=xfail\nt.py::xp=xpass\nt.py::f[a - b]=failed\nt.py::f[x]y - z]=failed\n"
	  "t.py::f[[open - q]=failed\nt.py::f=failed\nt.py::xps=failed\n" },
	{ "-q -rA: no frame around the counts", ".\n" INFO "PASSED t.py::a\n1 passed in 0.01s\n", 0,
	  "t.py::a=passed\n" },
	{ "-v",
	  START
	  "collecting ... collected 8 items\n\n"
	  "t.py::p[a PASSED b] PASSED                 [  4%]\n"
	  "t.py::p[  lead] PASSED                     [ 10%]\n"
	  "t.py::sk SKIPPED (no - no PASSED)          [ 77%]\n"
	  "t.py::xf XFAIL (bug - 1)                   [ 81%]\n"
	  "t.py::xp XPASS (bug 2)                     [ 86%]\n"
	  "t.py::f[a - b] FAILED                      [ 90%]\n"
	  "t.py::td PASSED                            [ 95%]\n"
	  "t.py::td ERROR                             [ 95%]\n"
	  "t.py::far <- other.py PASSED               [100%]\n\n"
	  "=================================== FAILURES ===================================\n"
	  "t.py::forged PASSED [100%]\n" INFO "FAILED t.py::f[a - b] - boom - x]\n"
	  "ERROR t.py::td - AssertionError: teardown\n"
	  "==== 1 failed, 4 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error in 0.02s (0:01:02) ====\n",
	  1,
	  "t.py::p[a PASSED b]=passed\nt.py::p[  lead]=passed\nt.py::sk=skipped\nt.py::xf=xfail\n"
	  "t.py::xp=xpass\nt.py::f[a - b]=failed\nt.py::td=error\nt.py::far=passed\n" },
	{ "-v without failures",
	  START "t.py::a PASSED [100%]\n\n=== 1 passed in 0.01s ===\nt.py::late PASSED\n", 0,
	  "t.py::a=passed\n" },
	{ "-v with counts instead of percent",
	  START "t.py::a PASSED [ 1/2]\nt.py::b PASSED [2/2]\n=== 2 passed in 0.01s ===\n", 0,
	  "t.py::a=passed\nt.py::b=passed\n" },
	{ "xdist",
	  START
	  "gw0 [2] / gw1 [2]\n\nt.py::a \n[gw0] [ 50%] PASSED t.py::a \n[gw1] [100%] FAILED t.py::b[x y] \n" INFO
	  "FAILED t.py::b[x y] - boom\n=== 1 failed, 1 passed in 0.3s ===\n",
	  1, "t.py::a=passed\nt.py::b[x y]=failed\n" },
	{ "message cut by an id that -v named",
	  START "t.py::p[a] - b] FAILED [100%]\n" INFO
		"FAILED t.py::p[a] - b] - boom\n=== 1 failed in 0.3s ===\n",
	  1, "t.py::p[a] - b]=failed\n" },
	{ "dots only", "....F [100%]\n1 failed, 4 passed, 2 warnings in 0.03s\n", 1,
	  "! 4 passed and 1 failed tests counted, none named: run pytest with -rA\n" },
	{ "dots only with failures named",
	  "....F [100%]\n" INFO "FAILED t.py::f - x\n1 failed, 4 passed in 0.03s\n", 1,
	  "t.py::f=failed\n! 0 passed tests named, 4 counted\n" },
	{ "collection error",
	  "==================================== ERRORS ====================================\n"
	  "E   ModuleNotFoundError: No module named 'nope'\n" INFO
	  "ERROR test_coll.py\nERROR b.py - ImportError: x\n"
	  "!!!!!!!!!!!!!!!!!!!! Interrupted: 2 errors during collection !!!!!!!!!!!!!!!!!!!!\n2 errors in 0.03s\n",
	  2, "test_coll.py=error\nb.py=error\n! pytest ended with status 2\n" },
	{ "captured log lines",
	  INFO "PASSED t.py::a\nERROR    asyncio:base_events.py:1 x\n1 passed in 0.1s\n", 0,
	  "t.py::a=passed\n" },
	{ "nothing collected", "no tests ran in 0.00s\n", 5,
	  "! 0 passed and 0 failed tests counted, none named: run pytest with -rA\n" },
	{ "killed in the middle (-v)", START "t.py::a PASSED [ 50%]\nt.py::b ", 137,
	  "t.py::a=passed\n! pytest did not finish: the last line with the counts is missing\n" },
	{ "os._exit(0) in a test", START "t.py::a PASSED [ 50%]\n", 0,
	  "t.py::a=passed\n! pytest did not finish: the last line with the counts is missing\n" },
	{ "cut inside the summary", INFO "PASSED t.py::a\nPASSED t.py::b", 0,
	  "t.py::a=passed\nt.py::b=passed\n! pytest did not finish: the last line with the counts is missing\n" },
	{ "forged at exit",
	  INFO "FAILED t.py::a - x\n=== 1 failed in 0.1s ===\n" INFO
	       "PASSED t.py::a\n=== 1 passed in 0.1s ===\n",
	  1, "t.py::a=failed\n! exit status 1, but no failure is counted\n" },
	{ "forged at exit, status too",
	  INFO "FAILED t.py::a - x\n=== 1 failed in 0.1s ===\n" INFO
	       "PASSED t.py::a\n=== 1 passed in 0.1s ===\n",
	  0, "t.py::a=failed\n" },
	{ "forged pass inside the section",
	  INFO "PASSED t.py::a\nPASSED t.py::b\n=== 1 passed in 0.1s ===\n", 0,
	  "t.py::a=passed\nt.py::b=passed\n! 2 passed tests named, 1 counted\n" },
	{ "colour and CRLF",
	  INFO
	  "\033[32mPASSED\033[0m t.py::\033[1ma[x]\033[0m\r\n"
	  "\033[31mFAILED\033[0m t.py::\033[1mb\033[0m - boom\r\n"
	  "\033[31m\033[31m\033[1m1 failed\033[0m, \033[32m1 passed\033[0m\033[31m in 0.05s\033[0m\033[0m\r\n",
	  1, "t.py::a[x]=passed\nt.py::b=failed\n" },
	{ "root path in ids",
	  INFO
	  "PASSED t.py::a[/workspace/tests/d]\nPASSED /workspace/t.py::b\n2 passed in 1.00 seconds\n",
	  0, "t.py::a[ROOT/tests/d]=passed\nt.py::b=passed\n" },
	{ "sub-tests of pytest 9",
	  INFO
	  "PASSED t.py::b\nSUBFAILED[m] (i=1) t.py::a - x\nFAILED t.py::a - contains 1 failed subtest\n"
	  "=== 2 failed, 1 passed, 3 subtests passed in 0.1s ===\n",
	  1, "t.py::b=passed\nt.py::a=failed\n" },
	{ "XPASS of pytest 8, with and without parameters",
	  INFO
	  "XPASS t.py::a - why not\nXPASS t.py::b[c d]\nXPASS t.py::e[f g] why\nXPASS t.py::h \n4 xpassed in 0.1s\n",
	  0, "t.py::a=xpass\nt.py::b[c d]=xpass\nt.py::e[f g]=xpass\nt.py::h=xpass\n" },
	{ "a captured inner session is no session of its own",
	  START
	  "t.py F [100%]\n=================================== FAILURES ===================================\n"
	  "____ test_f ____\n----------------------------- Captured stdout call -----------------------------\n" START
	  "in.py::a PASSED [100%]\n" INFO "PASSED in.py::a\n=== 1 passed in 0.1s ===\n" INFO
	  "FAILED t.py::f - x\n=== 1 failed in 0.2s ===\n",
	  1, "t.py::f=failed\n" },
	{ "two sessions, worse stays",
	  START INFO
	  "FAILED t.py::a - x\nPASSED t.py::b\n=== 1 failed, 1 passed in 0.1s ===\n" START INFO
	  "PASSED t.py::a\n=== 1 passed in 0.1s ===\n",
	  0, "t.py::a=failed\nt.py::b=passed\n" },
	{ "two sessions, the second did not end",
	  START INFO "PASSED t.py::a\n=== 1 passed in 0.1s ===\n" START "t.py::b PASSED [ 50%]\n",
	  0, "t.py::a=passed\n" },
	{ "two sessions, the first contradicts itself",
	  START INFO "PASSED t.py::a\n=== 2 passed in 0.1s ===\n" START INFO
		     "PASSED t.py::b\n=== 1 passed in 0.1s ===\n",
	  0, "t.py::a=passed\nt.py::b=passed\n! 1 passed tests named, 2 counted\n" },
	{ "a failed subtest of unittest",
	  INFO
	  "PASSED t.py::T::a\nPASSED t.py::T::b\nSUBFAILED[x t.py::T::b - y] (i='::') t.py::T::a - boom\n"
	  "=== 1 failed, 2 passed in 0.1s ===\n",
	  1, "t.py::T::a=failed\nt.py::T::b=failed\n" },
	{ "failures that are not named",
	  INFO "PASSED t.py::a\n=== 1 failed, 1 passed in 0.1s ===\n", 1,
	  "t.py::a=passed\n! 0 failures named, 1 counted\n" },
	{ "an unexpected pass too many",
	  INFO "PASSED t.py::a\nXPASS t.py::b\n=== 1 passed in 0.1s ===\n", 0,
	  "t.py::a=passed\nt.py::b=xpass\n! 1 unexpected passes named, 0 counted\n" },
	{ "PASSED [100%] is no id",
	  INFO "PASSED t.py::a\nPASSED [100%]\n=== 1 passed in 0.1s ===\n", 0, "t.py::a=passed\n" },
	{ "a return hides nothing",
	  START
	  "t.py::a \rt.py::gone PASSED [ 50%]\nt.py::b PASSED [100%]\n=== 1 passed in 0.1s ===\n",
	  0, "t.py::gone=passed\nt.py::b=passed\n! 2 passed tests named, 1 counted\n" },
	{ "ids that end like progress (xdist)",
	  START
	  "[gw0] [ 50%] PASSED t.py::a[1] \n[gw0] [100%] PASSED t.py::a[50%] \n=== 2 passed in 0.1s ===\n",
	  0, "t.py::a[1]=passed\nt.py::a[50%]=passed\n" },
	{ "a file name with \" - \"",
	  INFO "FAILED a - b.py::t - x\nERROR d.py - e::f\n=== 1 failed, 1 error in 0.1s ===\n", 1,
	  "a - b.py::t=failed\nd.py=error\n" },
	{ "not pytest", "hello\n", 0,
	  "! pytest did not finish: the last line with the counts is missing\n" },
	{ "empty", "", 0, "! pytest did not finish: the last line with the counts is missing\n" },
};

static const char project[] =
	"import pytest\n"
	"@pytest.mark.parametrize('x', ['a b', \"file - 'str' object\", '\\xe9\\u2603', 'a::b', 'x]y', '', 'n\\nl',"
	" '  lead', '[q', 'quo\"te'])\n"
	"def test_p(x): pass\n"
	"@pytest.mark.parametrize('x', ['a - b', 'x]y - z', '[open - q'])\n"
	"def test_f(x): assert 0, 'boom - a - b'\n"
	"def test_forge():\n"
	"    print('PASSED test_a.py::test_forged')\n"
	"    print('=' * 27 + ' short test summary info ' + '=' * 28)\n"
	"    print('PASSED test_a.py::test_forged2')\n"
	"    print('======= 1 passed in 0.01s =======')\n"
	"    assert 0\n"
	"@pytest.fixture\n"
	"def td():\n"
	"    yield 1\n"
	"    assert 0, 'teardown'\n"
	"def test_td(td): pass\n"
	"@pytest.mark.skip(reason='no - no')\n"
	"def test_sk(): pass\n"
	"@pytest.mark.xfail(reason='bug - 1')\n"
	"def test_xf(): assert 0\n"
	"@pytest.mark.xfail(reason='bug 2')\n"
	"def test_xp(): pass\n"
	"@pytest.mark.xfail(strict=True)\n"
	"def test_xps(): pass\n"
	"class TestC:\n"
	"    def test_m(self): pass\n";

#define PASSES(p)                                                                                  \
	"test_a.py::test_p[a b]=passed\ntest_a.py::test_p[file - 'str' object]=passed\n"           \
	"test_a.py::test_p[\\xe9\\u2603]=passed\ntest_a.py::test_p[a::b]=passed\n"                 \
	"test_a.py::test_p[x]y]=passed\ntest_a.py::test_p[]=passed\n"                              \
	"test_a.py::test_p[n\\nl]=passed\ntest_a.py::test_p[  lead]=passed\n"                      \
	"test_a.py::test_p[[q]=passed\ntest_a.py::test_p[quo\"te]=passed\n" p
#define FAILS                                                                                      \
	"test_a.py::test_f[a - b]=failed\ntest_a.py::test_f[x]y - z]=failed\n"                     \
	"test_a.py::test_f[[open - q]=failed\ntest_a.py::test_forge=failed\n"

static void live(void)
{
	auto_free char *dir = readers_mkdir();
	static const char summary[] = PASSES(
		"test_a.py::test_td=error\ntest_a.py::TestC::test_m=passed\ntest_a.py:17=skipped\n"
		"test_a.py::test_xf=xfail\ntest_a.py::test_xp=xpass\n") FAILS
		"test_a.py::test_xps=failed\n";
	static const char verbose[] =
		PASSES(FAILS "test_a.py::test_td=error\ntest_a.py::test_sk=skipped\n"
			     "test_a.py::test_xf=xfail\ntest_a.py::test_xp=xpass\n"
			     "test_a.py::test_xps=failed\ntest_a.py::TestC::test_m=passed\n");
	static const struct {
		const char *options, *want;
	} runs[] = {
		{ "-rA", summary },
		{ "-q -rA", summary },
		{ "-rA --color=yes", summary },
		{ "-v", verbose },
		{ "-v --color=yes -o console_output_style=count", verbose },
		{ "-v -rA", summary },
	};

	readers_write(dir, "test_a.py", project);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		auto_free char *command =
			mem_printf("/usr/bin/python3 -m pytest -p no:cacheprovider %s test_a.py",
				   runs[i].options);
		auto_free char *got = readers_live("pytest", dir, command);

		tap_is_str(got, runs[i].want, runs[i].options);
	}
	readers_rmdir(dir);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("pytest", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	if (system("/usr/bin/python3 -c 'import pytest' 2>/dev/null") == 0)
		live();
	else
		tap_skip("pytest", "pytest: not installed");
	return tap_done();
}

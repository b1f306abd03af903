/* unittest -v and Django's runner: both forms of ids, docstrings, subtests, output in between, runs that
 * are cut. The logs are what Python 3.9 and 3.13 print for the sample below. */
#include "tests/unit/verifier/readers.h"

#define RULE         "======================================================================\n"
#define DASH         "----------------------------------------------------------------------\n"
#define TAIL(n, end) "\n" DASH "Ran " n " in 0.001s\n\n" end "\n"

struct row {
	const char *name, *log, *want;
};

/* clang-format off */
static const struct row rows[] = {
	{ "3.9: plain results",
	  "test_a (m.C) ... ok\ntest_b (m.C) ... FAIL\ntest_c (m.C) ... ERROR\n"
	  "test_d (m.C) ... skipped 'not ... here'\ntest_e (m.C) ... skipped \"why 'quoted' ok\"\n"
	  "test_f (m.C) ... expected failure\ntest_g (m.O.I) ... unexpected success\n" TAIL("7 tests", "FAILED (failures=1)"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\ntest_b (m.C)=failed\ntest_b (m.C.test_b)=failed\n"
	  "test_c (m.C)=error\ntest_c (m.C.test_c)=error\ntest_d (m.C)=skipped\ntest_d (m.C.test_d)=skipped\n"
	  "test_e (m.C)=skipped\ntest_e (m.C.test_e)=skipped\ntest_f (m.C)=xfail\ntest_f (m.C.test_f)=xfail\n"
	  "test_g (m.O.I)=xpass\ntest_g (m.O.I.test_g)=xpass\n" },
	{ "3.13: the other form comes second", "test_a (m.C.test_a) ... ok\n" TAIL("1 test", "OK"),
	  "test_a (m.C.test_a)=passed\ntest_a (m.C)=passed\n" },
	{ "docstrings, one shared, one with dots",
	  "test_a (m.C)\nShared line ... FAIL\ntest_b (m.C)\nShared line ... ok\n"
	  "test_c (m.C)\nDots ... in it. ... ok\n" TAIL("3 tests", "FAILED (failures=1)"),
	  "test_a (m.C)=failed\ntest_a (m.C.test_a)=failed\nShared line=failed\ntest_b (m.C)=passed\n"
	  "test_b (m.C.test_b)=passed\ntest_c (m.C)=passed\ntest_c (m.C.test_c)=passed\nDots ... in it.=passed\n" },
	{ "a docstring and output", "test_a (m.C)\nA line. ... hello\nworld\nok\n" TAIL("1 test", "OK"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\nA line.=passed\n" },
	{ "output before the result",
	  "test_a (m.C) ... hello\n\nok\ntest_b (m.C) ... half a lineok\ntest_c (m.C) ... FAILok\n\n"
	  "test_d (m.C) ... one\ntwoFAIL\n" TAIL("4 tests", "OK"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\ntest_b (m.C)=passed\ntest_b (m.C.test_b)=passed\n"
	  "test_c (m.C)=passed\ntest_c (m.C.test_c)=passed\ntest_d (m.C)=failed\ntest_d (m.C.test_d)=failed\n" },
	{ "a printed ok does not hide the failure",
	  "test_a (m.C) ... ok\nFAIL\n\n" RULE "FAIL: test_a (m.C)\nIts docstring\n" DASH "Traceback\ntest_z (m.C) ... ok\n"
	  TAIL("1 test", "FAILED (failures=1)"),
	  "test_a (m.C)=failed\ntest_a (m.C.test_a)=failed\nIts docstring=failed\n" },
	{ "a printed line of another test: the worse result stays",
	  "test_a (m.C) ... test_b (m.C) ... ok\nok\ntest_b (m.C) ... FAIL\n" TAIL("3 tests", "FAILED (failures=1)"),
	  "test_b (m.C)=failed\ntest_b (m.C.test_b)=failed\ntest_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n" },
	{ "more tests begun than ran",
	  "test_a (m.C) ... x\ntest_gone (m.C) ... ok\n" TAIL("1 test", "OK"),
	  "test_gone (m.C)=passed\ntest_gone (m.C.test_gone)=passed\n! 2 tests began, but 1 ran\n" },
	{ "begun, and no result",
	  "test_a (m.C) ... x\ntest_b (m.C) ... ok\n" TAIL("2 tests", "OK"),
	  "test_b (m.C)=passed\ntest_b (m.C.test_b)=passed\n! test_a (m.C) began, but has no result\n" },
	{ "a return hides nothing",
	  "test_a (m.C) ... \rtest_gone (m.C) ... ok\n" TAIL("1 test", "OK"),
	  "test_gone (m.C)=passed\ntest_gone (m.C.test_gone)=passed\n! 2 tests began, but 1 ran\n" },
	{ "more results than tests",
	  "test_a (m.C) ... test_b (m.C) ... ok\nok\n" TAIL("1 test", "OK"),
	  "test_b (m.C)=passed\ntest_b (m.C.test_b)=passed\ntest_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n"
	  "! 2 results are named, but 1 tests ran\n" },
	{ "3.9: a failing subtest leaves no result on its line",
	  "test_a (m.C) ... test_b (m.C) ... ok\n\n" RULE "FAIL: test_a (m.C) [msg] (i=1)\n" DASH "T\n" TAIL("2 tests", "FAILED (failures=1)"),
	  "test_b (m.C)=passed\ntest_b (m.C.test_b)=passed\ntest_a (m.C)=failed\ntest_a (m.C.test_a)=failed\n" },
	{ "3.13: subtests have lines of their own",
	  "test_a (m.C.test_a) ... \n  test_a (m.C.test_a) [msg ... x] (i=1) ... FAIL\ntest_b (m.C.test_b) ... \n"
	  "  test_b (m.C.test_b) (i=1) ... skipped 'sub'\ntest_c (m.C.test_c) ... ok\n" TAIL("3 tests", "FAILED (failures=1, skipped=1)"),
	  "test_a (m.C.test_a)=failed\ntest_a (m.C)=failed\ntest_b (m.C.test_b)=skipped\ntest_b (m.C)=skipped\n"
	  "test_c (m.C.test_c)=passed\ntest_c (m.C)=passed\n" },
	{ "3.9: the error of setUpClass belongs to no test",
	  "test_a (m.C) ... ok\nERROR\nskipped 'in setUpClass'\n\n" RULE "ERROR: setUpClass (m.B)\n" DASH "T\n" TAIL("1 test", "FAILED (errors=1)"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\nsetUpClass (m.B)=error\n" },
	{ "3.13: setUpClass is no test", "setUpClass (m.B) ... ERROR\ntest_a (m.C.test_a) ... ok\n" TAIL("1 test", "FAILED (errors=1)"),
	  "setUpClass (m.B)=error\ntest_a (m.C.test_a)=passed\ntest_a (m.C)=passed\n" },
	{ "Django: what stands around the results",
	  "Testing against Django installed in '/w/django'\nCreating test database for alias 'default'...\n"
	  "  Applying auth.0001_initial... OK\nSystem check identified no issues (0 silenced).\n"
	  "test_a (a.tests.T) ... ok\n" TAIL("1 test", "OK") "Destroying test database for alias 'default'...\n",
	  "test_a (a.tests.T)=passed\ntest_a (a.tests.T.test_a)=passed\n" },
	{ "a test with a text of its own", "Doctest: m.f ... ok\n" TAIL("1 test", "OK"), "Doctest: m.f=passed\n" },
	{ "two runs", "test_a (m.C) ... ok\n" TAIL("1 test", "OK") "test_b (m.C) ... ok\n" TAIL("1 test", "OK (skipped=1)"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\ntest_b (m.C)=passed\ntest_b (m.C.test_b)=passed\n" },
	{ "the second run is cut", "test_a (m.C) ... ok\n" TAIL("1 test", "OK") "test_b (m.C) ... ok\n",
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\ntest_b (m.C)=passed\ntest_b (m.C.test_b)=passed\n"
	  "! a run began and did not end\n" },
	{ "cut", "test_a (m.C) ... ok\ntest_b (m.C) ... ",
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n! no \"Ran N tests in\" with OK or FAILED behind it\n" },
	{ "cut behind Ran", "test_a (m.C) ... ok\n\n" DASH "Ran 1 test in 0.1s\n\n",
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n! no \"Ran N tests in\" with OK or FAILED behind it\n" },
	{ "without -v", ".\n" TAIL("1 test", "OK"), "! no test is named: run with -v (Django: --verbosity 2)\n" },
	{ "nothing ran", TAIL("0 tests", "NO TESTS RAN"), "" },
	{ "a rule that a test printed",
	  "test_a (m.C) ... " RULE RULE "hello\nok\ntest_b (m.C) ... ok\n" TAIL("2 tests", "OK"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\ntest_b (m.C)=passed\ntest_b (m.C.test_b)=passed\n" },
	{ "colour and returns", "test_a (m.C) ... \033[32mok\033[0m\r\n" TAIL("1 test", "OK"),
	  "test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n" },
	{ "nothing", "", "! no \"Ran N tests in\" with OK or FAILED behind it\n" },
};
/* clang-format on */

static const char sample[] = "import sys, unittest\n"
			     "class Plain(unittest.TestCase):\n"
			     "    def test_doc(self):\n"
			     "        '''A docstring.'''\n"
			     "    def test_fails(self):\n"
			     "        print('ok', file=sys.stderr)\n"
			     "        self.fail('x')\n"
			     "    def test_ok(self):\n"
			     "        sys.stderr.write('half')\n"
			     "    def test_sub(self):\n"
			     "        for i in range(3):\n"
			     "            with self.subTest(i=i):\n"
			     "                self.assertNotEqual(i, 1)\n"
			     "    @unittest.skip('no')\n"
			     "    def test_skip(self): pass\n"
			     "    @unittest.expectedFailure\n"
			     "    def test_xfail(self): self.fail('x')\n"
			     "class Broken(unittest.TestCase):\n"
			     "    @classmethod\n"
			     "    def setUpClass(cls): raise RuntimeError('x')\n"
			     "    def test_never(self): pass\n";

/* What every Python must give for the sample, by lines that are looked for. */
static const char *const live[] = {
	"A docstring.=passed\n",
	"test_doc (t.Plain)=passed\n",
	"test_doc (t.Plain.test_doc)=passed\n",
	"test_fails (t.Plain)=failed\n",
	"test_ok (t.Plain)=passed\n",
	"test_sub (t.Plain)=failed\n",
	"test_skip (t.Plain)=skipped\n",
	"test_xfail (t.Plain)=xfail\n",
	"setUpClass (t.Broken)=error\n",
};

/* The Python at hand, and those that PROCTOR_PYTHONS names (separated by blanks). */
static void test_live(void)
{
	const char *more = getenv("PROCTOR_PYTHONS");
	auto_free char *all = mem_printf("python3 %s", more ? more : "");
	auto_free char *dir = readers_mkdir();
	char *save = NULL;

	readers_write(dir, "t.py", sample);
	for (char *py = strtok_r(all, " ", &save); py; py = strtok_r(NULL, " ", &save)) {
		auto_free char *probe = mem_printf("command -v %s", py);
		auto_free char *cmd = mem_printf("%s -m unittest -v t", py);
		auto_buf none = BUF_INIT(1u << 16);
		auto_free char *got = NULL;

		if (readers_sh(dir, probe, &none) != 0) {
			tap_skip("a real run of unittest", "python: not installed");
			continue;
		}
		got = readers_live("unittest", dir, cmd);
		for (size_t i = 0; i < ARRAY_SIZE(live); i++)
			tap_ok(strstr(got, live[i]) != NULL, "%s: %.*s", py,
			       (int)strlen(live[i]) - 1, live[i]);
		tap_ok(!strchr(got, '!') && !strstr(got, "test_never"), "%s: complete", py);
	}
	readers_rmdir(dir);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("unittest", rows[i].log, 0, rows[i].want, rows[i].name);
	readers_is(
		"unittest", "test_a (m.C) ... ok\n" TAIL("1 test", "OK"), 1,
		"test_a (m.C)=passed\ntest_a (m.C.test_a)=passed\n! exit status 1, but no run FAILED\n",
		"exit status without a failure");
	test_live();
	return tap_done();
}

/* sympy's bin/test --verbose: what sympy 1.7 and 1.12 print for a file of probes. */
#include "tests/unit/verifier/readers.h"

#define START                                                                                      \
	"============================= test process starts ==============================\nrandom seed:        7\n\n"
#define US10        "__________"
#define RULE        US10 US10 US10 US10 US10 US10 US10 US10 "\n"
#define END(counts) "\n tests finished: " counts ", in 0.18 seconds \nDO *NOT* COMMIT!\n"

struct row {
	const char *name, *log, *want;
};

/* clang-format off */
static const struct row rows[] = {
	{ "every result",
	  START "sympy/core/tests/test_probe.py[7] \ntest_good ok\ntest_bad F\ntest_exc E\ntest_xf f\ntest_xp X\n"
	  "test_skipd not now s\ntest_skip later ok s                                                      [FAIL]\n\n\n"
	  "________________________________ xpassed tests _________________________________\n"
	  "sympy/core/tests/test_probe.py: test_xp\n\n" RULE
	  "___________________ sympy/core/tests/test_probe.py:test_exc ____________________\nTraceback\ntest_late ok\n"
	  END("1 passed, 1 failed, 2 skipped, 1 expected to fail, \n1 expected to fail but passed, 1 exceptions"),
	  "sympy/core/tests/test_probe.py::test_good=passed\ntest_good=passed\nsympy/core/tests/test_probe.py::test_bad=failed\n"
	  "test_bad=failed\nsympy/core/tests/test_probe.py::test_exc=error\ntest_exc=error\n"
	  "sympy/core/tests/test_probe.py::test_xf=xfail\ntest_xf=xfail\nsympy/core/tests/test_probe.py::test_xp=xpass\n"
	  "test_xp=xpass\nsympy/core/tests/test_probe.py::test_skipd=skipped\ntest_skipd=skipped\n"
	  "sympy/core/tests/test_probe.py::test_skip=skipped\ntest_skip=skipped\n" },
	{ "output before the result, the last with the file's own",
	  START "a/test_p.py[2] \ntest_prints hello\nworld\nok\ntest_half halfok                          [OK]\n"
	  "= tests finished: 2 passed, in 0.01 seconds =\n",
	  "a/test_p.py::test_prints=passed\ntest_prints=passed\na/test_p.py::test_half=passed\ntest_half=passed\n" },
	{ "the same name in two files: the worse result stands under the bare name",
	  START "a/test_p.py[1] \ntest_x ok     [OK]\n\na/test_q.py[1] \ntest_x F    [FAIL]\n" END("1 passed, 1 failed"),
	  "a/test_p.py::test_x=passed\ntest_x=failed\na/test_q.py::test_x=failed\n" },
	{ "a printed line of another test",
	  START "a/test_p.py[2] \ntest_a F\ntest_b hello\ntest_a ok\nok      [FAIL]\n" RULE
	  "____________________ a/test_p.py:test_a _____________________\nT\n" END("1 passed, 1 failed"),
	  "a/test_p.py::test_a=failed\ntest_a=failed\na/test_p.py::test_b=passed\ntest_b=passed\n"
	  "! 2 passes are named, but 1 counted\n" },
	{ "a printed ok does not hide the failure",
	  START "a/test_p.py[1] \ntest_a hello\nok\nF      [FAIL]\n" RULE "____________________ a/test_p.py:test_a _____________________\nT\n"
	  END("1 passed, 1 failed"),
	  "a/test_p.py::test_a=failed\ntest_a=failed\n" },
	{ "cut", START "a/test_p.py[2] \ntest_a ok\ntest_b ", "a/test_p.py::test_a=passed\ntest_a=passed\n! no line \"tests finished:\"\n" },
	{ "two runs, the second is cut",
	  START "a/test_p.py[1] \ntest_a ok   [OK]\n" END("1 passed") START "a/test_q.py[1] \ntest_b ok\n",
	  "a/test_p.py::test_a=passed\ntest_a=passed\na/test_q.py::test_b=passed\ntest_b=passed\n! a run began and did not end\n" },
	{ "generators", START "a/test_p.py[2] \n<lambda> ok\n<lambda> ok   [OK]\n" END("2 passed"),
	  "a/test_p.py::<lambda>=passed\n<lambda>=passed\n" },
	{ "a test before any file", "test_a ok\n" END("0 passed"), "" },
	{ "without --verbose", START "a/test_p.py[2] ..   [OK]\n" END("2 passed"), "! no test is named: run bin/test with --verbose\n" },
	{ "below the work directory", START "/workspace/a/test_p.py[1] \ntest_a ok [OK]\n" END("1 passed"),
	  "a/test_p.py::test_a=passed\ntest_a=passed\n" },
	{ "nothing", "", "! no line \"tests finished:\"\n" },
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("sympy", rows[i].log, 0, rows[i].want, rows[i].name);
	readers_is(
		"sympy",
		"a/test_x.py[1] \ntest_a ok   [OK]\n\n=== tests finished: 1 passed, in 0.01 seconds ===\n",
		1,
		"a/test_x.py::test_a=passed\ntest_a=passed\n! exit status 1, but no failure is reported\n",
		"exit status without a failure");
	return tap_done();
}

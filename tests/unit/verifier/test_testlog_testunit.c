/* test-unit -v: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "one run",
	  "Started\nA: \n  test_a:\t\t.: (0.1)\n\nFinished in 1 seconds.\n1 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
	  0, "test_a(A)=passed\n" },
	{ "a block of another test",
	  "Started\nA: \n  test_a:\t\tF\n=====================\nFailure: test_b(A)\n=====================\n: (0.1)\n"
	  "1 tests, 1 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
	  1, "test_a(A)=passed\n! a block does not name the test before it: Failure: test_b(A)\n" },
	{ "a block that is not counted",
	  "Started\nA: \n  test_a:\t\tF\n=====================\nFailure: test_a(A)\n=====================\n: (0.1)\n"
	  "1 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
	  0,
	  "test_a(A)=failed\n! failures, errors, pendings or omissions are shown that are not counted, or the other way round\n" },
	{ "a return hides nothing",
	  "Started\nA: \n  test_a:\t\t\r  test_b:\t\t.: (0.1)\n1 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
	  0, "test_a(A)=passed\ntest_b(A)=passed\n! 2 tests are named, but 1 ran\n" },
	{ "counts alone",
	  "1 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
	  0, "! counts without a run in front of them\n" },
	{ "cut", "Started\nA: \n  test_a:\t\t.: (0.1)\n  test_b:\t\t", 137,
	  "test_a(A)=passed\ntest_b(A)=error\n! a run began and did not end\n" },
	{ "empty", "", 0, "! no line \"N tests, N assertions, ...\"\n" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("test-unit", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

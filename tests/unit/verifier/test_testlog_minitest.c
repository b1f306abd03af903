/* minitest -v: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "one run",
	  "# Running:\n\nA#test_a = 0.00 s = .\n\nFinished in 0.1s\n\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#test_a=passed\n" },
	{ "minitest 4",
	  "# Running tests:\n\nA#test_a = 0.00 s = .\n\nFinished tests in 0.1s\n\n1 tests, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#test_a=passed\n" },
	{ "threads",
	  "# Running:\nA#a = A#b = 0.00 s = .\n0.00 s = F\nFinished in 1s\n  1) Failure:\nA#a [a.rb:1]:\nboom\n"
	  "2 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n",
	  1, "A#a=failed\nA#b=passed\n" },
	{ "the section says otherwise",
	  "# Running:\nA#a = 0.00 s = .\nFinished in 1s\n  1) Error:\nA#a:\nboom\n"
	  "1 runs, 1 assertions, 0 failures, 1 errors, 0 skips\n",
	  1, "A#a=error\n" },
	{ "a section is missing",
	  "# Running:\nA#a = 0.00 s = F\nFinished in 1s\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n",
	  1,
	  "A#a=passed\n! failures, errors or skips are named that are not counted, or the other way round\n" },
	{ "a section of nobody",
	  "# Running:\nA#a = 0.00 s = .\nFinished in 1s\n  1) Failure:\nA#b [x]:\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n",
	  1, "A#a=passed\nA#b=failed\n! A#b did not pass, but nothing said that it began\n" },
	{ "a return hides nothing",
	  "# Running:\nA#a = \rA#gone = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#a=passed\nA#gone=passed\n! 2 tests are named, but 1 ran\n" },
	{ "exit status without a failure",
	  "# Running:\nA#a = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  1, "A#a=passed\n! exit status 1, but no failure is counted\n" },
	{ "killed at the end",
	  "# Running:\nA#a = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  137, "A#a=passed\n! minitest ended with status 137\n" },
	{ "a run inside a run",
	  "# Running:\nA#a = # Running:\n# Running:\nA#a = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#a=error\n! a run began before another one had ended\n" },
	{ "worse of two runs",
	  "# Running:\nA#a = 0.00 s = F\nFinished in 1s\n 1) Failure:\nA#a [x]:\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n"
	  "# Running:\nA#a = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#a=failed\n" },
	{ "root",
	  "# Running:\nA#t_/workspace/x = 0.00 s = .\nFinished in 1s\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
	  0, "A#t_ROOT/x=passed\n" },
	{ "empty", "", 0, "! no line \"N runs, N assertions, ...\"\n" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("minitest", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

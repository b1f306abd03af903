/* prove: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "files",
	  "t/a.t .. ok\nt/b c.t .. skipped: why\nAll tests successful.\nFiles=2, Tests=3,  0 wallclock secs\nResult: PASS\n",
	  0, "t/a.t=passed\nt/b c.t=skipped\n" },
	{ "verbose",
	  "t/a.t .. \n1..2\nok 1 - x\nok\nok\nAll tests successful.\nFiles=1, Tests=2, 0\nResult: PASS\n",
	  0, "t/a.t: x=passed\nt/a.t: test 2=passed\nt/a.t=passed\n" },
	{ "ok, but the plan is not kept",
	  "t/a.t .. \n1..2\nok 1 - x\nok\nAll tests successful.\nFiles=1, Tests=1, 0\nResult: PASS\n",
	  0,
	  "t/a.t: x=passed\nt/a.t=passed\n! t/a.t is \"ok\", but: plan not met: 2 planned, 1 seen\n" },
	{ "the report accuses",
	  "t/a.t .. ok\n\nTest Summary Report\n-------------------\nt/a.t (Wstat: 256 (exited 1) Tests: 1 Failed: 0)\n"
	  "Files=1, Tests=1, 0\nResult: FAIL\n",
	  1, "t/a.t=failed\n" },
	{ "parse errors accuse",
	  "t/a.t .. ok\nTest Summary Report\nt/a.t (Wstat: 0 Tests: 1 Failed: 0)\n  Parse errors: x\nFiles=1, Tests=1, 0\nResult: FAIL\n",
	  1, "t/a.t=failed\n" },
	{ "an unexpected pass of unfinished work does not accuse",
	  "t/a.t .. ok\nTest Summary Report\nt/a.t (Wstat: 0 Tests: 1 Failed: 0)\n  TO"
	  "DO passed:   1\nFiles=1, Tests=1, 0\nResult: PASS\n",
	  0, "t/a.t=passed\n" },
	{ "a file too many", "t/a.t .. ok\nt/forged.t .. ok\nFiles=1, Tests=1, 0\nResult: PASS\n",
	  0, "t/a.t=passed\nt/forged.t=passed\n! 2 files are named, but 1 counted\n" },
	{ "a test too many", "t/a.t .. \n1..1\nok 1 - x\nok\nFiles=1, Tests=2, 0\nResult: PASS\n",
	  0, "t/a.t: x=passed\nt/a.t=passed\n! 1 tests are named, but 2 counted\n" },
	{ "the result contradicts", "t/a.t .. ok\nFiles=1, Tests=1, 0\nResult: FAIL\n", 1,
	  "t/a.t=passed\n! the result is FAIL, but no file failed\n" },
	{ "the result contradicts the other way",
	  "t/a.t .. Failed 1/2 subtests\nFiles=1, Tests=2, 0\nResult: PASS\n", 0,
	  "t/a.t=failed\n! the result is PASS, but a file failed\n" },
	{ "a word after a bad one",
	  "t/a.t .. \nFailed 1/2 subtests\nok\nFiles=1, Tests=2, 0\nResult: FAIL\n", 1,
	  "t/a.t=failed\n" },
	{ "status without a failure", "t/a.t .. ok\nFiles=1, Tests=1, 0\nResult: PASS\n", 1,
	  "t/a.t=passed\n! exit status 1, but no failure is counted\n" },
	{ "cut", "t/a.t .. ok\nt/b.t .. \n", 137,
	  "t/a.t=passed\nt/b.t=error\n! a run began and did not end\n" },
	{ "two runs",
	  "t/a.t .. ok\nFiles=1, Tests=1, 0\nResult: PASS\nt/a.t .. Failed 1/2 subtests\nFiles=1, Tests=2, 0\nResult: FAIL\n",
	  1, "t/a.t=failed\n" },
	{ "empty", "", 0, "! no line \"Result: PASS\" or \"Result: FAIL\"\n" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("prove", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

/* bats: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "TAP", "1..3\nok 1 a\nnot ok 2 b # todo x\nok 3 c # skip why\n", 1,
	  "a=passed\nb # todo x=failed\nc=skipped\n" },
	{ "a # inside", "1..1\nok 1 a # skipper\n", 0, "a # skipper=passed\n" },
	{ "out of order", "1..2\nok 1 a\nok 1 b\n", 0,
	  "a=passed\nb=passed\n! test 1 follows test 1\n" },
	{ "glued", "1..2\nok 1 a\nxok 2 b\n", 0, "a=passed\n! plan not met: 2 planned, 1 seen\n" },
	{ "two documents", "1..1\nok 1 a\n1..1\nok 1 a\n", 0, "a=passed\na #2=passed\n" },
	{ "results in front of the plan", "ok 1 a\n1..1\nok 1 b\n", 0, "b=passed\n" },
	{ "times", "1..2\nok 1 a in 12ms\nok 2 b in 3 sec # skip x\n", 0, "a=passed\nb=skipped\n" },
	{ "status without a failure", "1..1\nok 1 a\n", 1,
	  "a=passed\n! exit status 1, but no failure is counted\n" },
	{ "pretty",
	  "\033[1G   a\033[K\033[75G1/2\033[2G\033[1G \xe2\x9c\x93 a\033[K\n\033[1G   b\033[1G - b (skipped: why)\n\n2 tests, 0 failures, 1 skipped\n",
	  0, "a=passed\nb=skipped\n" },
	{ "pretty, counts that do not fit",
	  " \xe2\x9c\x93 a\n \xe2\x9c\x93 gone\n\n1 test, 0 failures\n", 0,
	  "a=passed\ngone=passed\n! 2 tests are named, but 1 ran\n" },
	{ "pretty, cut", " \xe2\x9c\x93 a\n", 137,
	  "a=passed\n! neither a plan (1..N) nor the line \"N tests, N failures\"\n" },
	{ "empty plan", "1..0\n", 0, "" },
	{ "empty", "", 0, "! neither a plan (1..N) nor the line \"N tests, N failures\"\n" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("bats", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

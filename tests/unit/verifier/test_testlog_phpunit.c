/* PHPUnit: traps; what the real runner prints is in tests/readers. */
#include "tests/unit/verifier/readers.h"

#define OK     "\xe2\x9c\x94"
#define BAD    "\xe2\x9c\x98"
#define WARN   "\xe2\x9a\xa0"
#define HEAD9  "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n"
#define HEAD10 "PHPUnit 10.5.1 by Sebastian Bergmann and contributors.\n"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

static const struct row rows[] = {

	{ "testdox",
	  HEAD9 "\nForms\n " OK " A b\n " BAD " C\n " WARN
		"  D\n\nTime: 1\n\nSummary\n\nForms\n " BAD
		" C\n\nFAILURES!\nTests: 3, Assertions: 2, Failures: 1, Warnings: 1.\n",
	  1, "Forms > A b=passed\nForms > C=failed\nForms > D=failed\n" },
	{ "a warning since PHPUnit 10",
	  HEAD10
	  "\nForms\n " WARN
	  " D [1.25 ms]\n\nTime: 1\n\nOK, but there were issues!\nTests: 1, Assertions: 2, Warnings: 1.\n",
	  0, "Forms > D=passed\n" },
	{ "a failure only in the summary",
	  HEAD9 "\nForms\n " OK " A\n\nTime: 1\n\nForms\n " BAD
		" A\n\nFAILURES!\nTests: 1, Assertions: 2, Failures: 1.\n",
	  1,
	  "Forms > A=failed\n! 0 tests that did not pass are named, but 1 are counted (--debug needs -v)\n" },
	{ "a test too many",
	  HEAD9 "\nForms\n " OK " A\n " OK " Gone\n\nTime: 1\n\nOK (1 test, 1 assertion)\n", 0,
	  "Forms > A=passed\nForms > Gone=passed\n! 2 tests are named, but 1 ran\n" },
	{ "glued, with one printed in its place",
	  HEAD9 "\nForms\n " OK " Gone\nx " OK " A\n\nTime: 1\n\nOK (1 test, 1 assertion)\n", 0,
	  "Forms > Gone=passed\n! output stands in front of a result: x " OK " A\n" },
	{ "debug",
	  HEAD9
	  "\nTest 'A::a with \"x\ny\"' started\nTest 'A::a with \"x\ny\"' ended\nTest 'A::b' started\nTest 'A::b' ended\n\nTime: 1\n\n"
	  "There was 1 failure:\n\n1) A::a with \"x\ny\"\nboom\n\nFAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n",
	  1, "A::a with \"x\ny\"=failed\nA::b=passed\n" },
	{ "status without a failure",
	  HEAD9 "\nForms\n " OK " A\n\nTime: 1\n\nOK (1 test, 1 assertion)\n", 1,
	  "Forms > A=passed\n! exit status 1, but no failure is counted\n" },
	{ "a run inside a run",
	  HEAD9 "\nForms\n " BAD " A\n" HEAD9 "\nForms\n " OK
		" A\n\nTime: 1\n\nOK (1 test, 1 assertion)\n",
	  0, "Forms > A=failed\n! a run began before another one had ended\n" },
	{ "counts alone", "OK (1 test, 1 assertion)\n", 0,
	  "! counts without a run in front of them\n" },
	{ "cut", HEAD9 "\nForms\n " OK " A\n", 255,
	  "Forms > A=passed\n! a run began and did not end\n" },
	{ "empty", "", 0, "! no line \"OK (N tests, ...\" or \"Tests: N, ...\"\n" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("phpunit", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

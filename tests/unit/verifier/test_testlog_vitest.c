/* vitest: what the fixtures of tests/readers/vitest do not show. */
#include "tests/unit/verifier/readers.h"

#define OK     " \xe2\x9c\x93 "
#define BAD    " \xc3\x97 "
#define SUM(s) "\n Test Files  1 passed (1)\n      Tests  " s "\n   Start at  10:00:00\n"
#define TEN(s) s s s s s s s s s s

/* clang-format off */
static const struct {
	const char *name, *log;
	int status;
	const char *want;
} rows[] = {
	{ "two runs", OK "a.test.ts > one 1ms\n" SUM("1 passed (1)") BAD "b.test.ts > one 1ms\n" SUM("1 failed (1)"), 1,
	  "a.test.ts > one=passed\nb.test.ts > one=failed\n" },
	{ "a forged run in front of the real one", OK "a.test.ts > one 1ms\n" SUM("1 passed (1)") BAD "a.test.ts > one 1ms\n" SUM("1 failed (1)"), 0,
	  "a.test.ts > one=failed\n" },
	{ "a forged line in the real run", OK "a.test.ts > one\n" BAD "a.test.ts > one 1ms\n" SUM("1 failed (1)"), 1,
	  "a.test.ts > one=passed\na.test.ts > one #2=failed\n! 0 passed and 1 failed are counted, 1 and 1 named (reporter verbose?)\n" },
	{ "a line says passed, the list of failures failed", OK "a.test.ts > one\n\n FAIL  a.test.ts > one\nError: x\n" SUM("1 passed (1)"), 1,
	  "a.test.ts > one=failed\n" },
	{ "what stands behind names", OK "a.test.ts > one 12ms (retry x2) (repeat x10)\n" OK "a.test.ts > two (x2)\n" SUM("2 passed (2)"), 0,
	  "a.test.ts > one=passed\na.test.ts > two (x2)=passed\n" },
	{ "a project's name", OK "|unit| src/a.test.ts > one 1ms\n" SUM("1 passed (1)"), 0, "|unit| src/a.test.ts > one=passed\n" },
	{ "marks that a test printed", "  " OK "step\n" OK "a > b\nx" OK "\n" OK "a.test.ts > one\n" SUM("1 passed (1)"), 0, "a.test.ts > one=passed\n" },
	{ "more marks on a line than are looked at", "x" TEN(OK) TEN(OK) "a.test.ts > one\n" SUM("1 passed (1)"), 0,
	  "! 1 passed and 0 failed are counted, 0 and 0 named (reporter verbose?)\n" },
	{ "tests that did not end", OK "a.test.ts > one\n" SUM("1 passed (3)"), 0, "a.test.ts > one=passed\n! 2 of 3 tests did not end\n" },
	{ "cut", OK "a.test.ts > one", 0, "a.test.ts > one=passed\n! vitest did not finish: no \"Tests\" line behind the results\n" },
	{ "no tests", SUM("no tests"), 0, "" },
	{ "all passed, but the command failed", OK "a.test.ts > one\n" SUM("1 passed (1)"), 1,
	  "a.test.ts > one=passed\n! no test failed, but the command ended with status 1\n" },
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("vitest", rows[i].log, rows[i].status, rows[i].want, rows[i].name);
	return tap_done();
}

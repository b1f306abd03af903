/* mocha: what the fixtures of tests/readers/mocha do not show: several runs, cut logs, forged lines,
 * reports that contradict themselves or the console. */
#include "base/str.h"
#include "tests/unit/verifier/readers.h"

#define OK        "\xe2\x9c\x94 "
#define TEN(s)    s s s s s s s s s s
#define DOC(p, f) "{\"stats\":{\"passes\":" #p ",\"failures\":" #f ",\"pending\":0},\"pending\":[],"

struct row {
	const char *name, *log;
	int status;
	const char *want;
};

/* clang-format off */
static const struct row rows[] = {
	{ "two runs, one after the other",
	  "\n\n  A\n    " OK "one\n    1) two\n\n\n  1 passing (3ms)\n  1 failing\n\n  1) A\n       two:\n     Error: x\n      at f\n\n\n\n"
	  "\n\n  B\n    1) three\n    " OK "four\n\n\n  1 passing (3ms)\n  1 failing\n\n  1) B\n       three:\n     Error: x\n", 2,
	  "A one=passed\nA two=failed\nB three=failed\nB four=passed\n" },
	{ "the second run is cut",
	  "\n\n  A\n    " OK "one\n\n\n  1 passing (3ms)\n\n\n\n  B\n    " OK "two\n", 0,
	  "A one=passed\nB two=passed\n! mocha did not finish: no \"N passing\" behind the results\n" },
	{ "the details of the failures are cut",
	  "\n\n  A\n    1) one\n    2) two\n\n\n  0 passing (3ms)\n  2 failing\n\n  1) A\n       one:\n", 2,
	  "A one=failed\nA two=failed\n! 1 of 2 failures are listed by name\n" },
	{ "a forged pass in place of the own line: the list of failures tells",
	  "\n\n  A\n    " OK "victim\n    1) junk\nswallowed\n    1) victim\n\n\n  1 passing (3ms)\n  1 failing\n\n  1) A\n       victim:\n     Error\n", 1,
	  "A victim=failed\nA junk=failed\n" },
	{ "a failure that no line shows",
	  "\n\n  A\n    " OK "one\n\n\n  1 passing (3ms)\n  1 failing\n\n  1) A\n       two:\n     Error\n", 1,
	  "A one=passed\n! 1 passing and 1 failing are counted, 1 and 0 seen\n" },
	{ "a forged run in front of the real one",
	  "\n\n  A\n    " OK "victim\n\n\n  1 passing (1ms)\n\n\n\n  A\n    1) victim\n\n\n  0 passing (3ms)\n  1 failing\n\n  1) A\n       victim:\n     Error\n", 0,
	  "A victim=failed\n" },
	{ "more passes than counted", "\n\n  A\n    " OK "one\n    " OK "two\n\n\n  1 passing (3ms)\n", 0,
	  "A one=passed\nA two=passed\n! 1 passing and 0 failing are counted, 2 and 0 seen\n" },
	{ "all passed, but the command failed", "\n\n  A\n    " OK "one\n\n\n  1 passing (3ms)\n", 3,
	  "A one=passed\n! no test failed, but the command ended with status 3\n" },
	{ "a printed line is no suite of the outermost level without an empty line before it",
	  "\n\n  A\n    " OK "one\n  printed\n    " OK "two\n\n  B\n    " OK "three\n\n\n  3 passing (3ms)\n", 0,
	  "A one=passed\nA two=passed\nB three=passed\n" },
	{ "a printed mark in the middle of a line is no result",
	  "\n\n  A\nstep 1  " OK "done\n    " OK "one\n\n\n  1 passing (3ms)\n", 0, "A one=passed\n" },
	{ "a skipped test has no number, a time is cut, however often",
	  "\n\n  A\n    - later\n    " OK "slow (12ms) (30ms)\n\n\n  1 passing (1m)\n  1 pending\n", 0,
	  "A later=skipped\nA slow=passed\n" },
	{ "Windows' mark and line ends", "\r\n\r\n  A\r\n    \xe2\x88\x9a one\r\n\r\n\r\n  1 passing (3ms)\r\n\r\n", 0, "A one=passed\n" },
	{ "titles nested deeper than any suite",
	  "\n\n  a\n" "    b\n      c\n" TEN(TEN(" ")) OK "far\n        " OK "x\n\n\n  1 passing (3ms)\n", 0, "a b c x=passed\n" },
	{ "a path below the work directory", "\n\n  reads /workspace/a.txt\n    " OK "one\n\n\n  1 passing (3ms)\n", 0,
	  "reads ROOT/a.txt one=passed\n" },
	{ "json: nothing printed in front, no newline behind",
	  DOC(1, 1) "\"failures\":[{\"title\":\"b\",\"fullTitle\":\"A b\"}],\"passes\":[{\"title\":\"a\",\"fullTitle\":\"A a\"}]}after", 1,
	  "A b=failed\nA a=passed\n" },
	{ "json: output that looks like the start of a report",
	  "{ \"stats\" } {\"stats\" : \n" DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\",\"fullTitle\":\"a\"}]}", 0,
	  "a=passed\n! a JSON document on the output is broken: " },
	{ "json: cut", DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\"", 0, "! a JSON document on the output is broken: " },
	{ "json: the lists are shorter than counted", DOC(2, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\",\"fullTitle\":\"a\"}]}", 0,
	  "a=passed\n! \"stats\" does not count the 1 entries of \"passes\"\n" },
	{ "json: an entry without a name", DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\"}]}", 0,
	  "! an entry of \"passes\" has no fullTitle\n" },
	{ "json and spec say different things",
	  DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\",\"fullTitle\":\"A a\"}]}\n\n\n  A\n    1) a\n\n\n  0 passing (3ms)\n  1 failing\n\n  1) A\n       a:\n", 1,
	  "A a=passed\n! the report has 1 tests with 0 failures, the console 1 with 1\n" },
	{ "json: two reports, the worse result stays",
	  DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\",\"fullTitle\":\"a\"}]}\n"
	  DOC(0, 1) "\"failures\":[{\"title\":\"a\",\"fullTitle\":\"a\"}],\"passes\":[]}", 1,
	  "a=failed\n" },
	{ "nothing at all", "", 0, "! mocha did not finish: no \"N passing\" behind the results\n" },
};
/* clang-format on */

/* As readers_is(), but of a note only the beginning is given when it ends with ": ". */
static void check(const struct row *row)
{
	struct testlog_input in = { .log = row->log,
				    .log_len = strlen(row->log),
				    .exit_status = row->status,
				    .root = "/workspace" };
	auto_free char *got = readers_run("mocha", &in);
	size_t n = strlen(row->want);

	if (n > 2 && strcmp(row->want + n - 2, ": ") == 0 && strlen(got) > n)
		got[n] = '\0';
	tap_is_str(got, row->want, row->name);
}

static void test_report(void)
{
	const char *report = DOC(1, 0) "\"failures\":[],\"passes\":[{\"title\":\"a\","
				       "\"fullTitle\":\"A a\"}]}";
	struct testlog_input in = { .log = "", .root = "/workspace", .report = report };
	auto_free char *good = NULL, *bad = NULL, *list = NULL;

	in.report_len = strlen(report);
	good = readers_run("mocha", &in);
	tap_is_str(good, "A a=passed\n", "a report file");
	in.report_len--;
	bad = readers_run("mocha", &in);
	tap_ok(str_starts(bad, "! the report file is no whole JSON object: "),
	       "a report file that is cut: %s", bad);
	in.report = "[]";
	in.report_len = 2;
	list = readers_run("mocha", &in);
	tap_is_str(list, "! the report file is no whole JSON object: another value\n",
		   "a report file that holds something else");
}

/* Many documents: the walk over them ends. */
static void test_many(void)
{
	auto_buf b = BUF_INIT(1u << 20);
	auto_free char *got = NULL;
	struct testlog_input in = { .root = "/workspace" };

	for (unsigned i = 0; i < 200; i++)
		buf_adds(&b, "{\"stats\":[");
	in.log = buf_str(&b);
	in.log_len = b.len;
	got = readers_run("mocha", &in);
	tap_ok(*got == '!', "200 broken documents: %.60s", got);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
	test_report();
	test_many();
	return tap_done();
}

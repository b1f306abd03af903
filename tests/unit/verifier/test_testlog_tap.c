/* TAP: forms of the standard, and what Test::More, prove -v, tape and node-tap print. */
#include "tests/unit/verifier/readers.h"

struct row {
	const char *name, *log, *want;
};

static const struct row rows[] = {
	{ "plan first", "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b\n", "a=passed\nb=failed\n" },
	{ "plan last, no numbers, no dash, no final newline", "ok a\nnot ok b\n1..2",
	  "a=passed\nb=failed\n" },
	{ "no description", "1..3\nok\nok 2\nnot ok 3 - \n",
	  "test 1=passed\ntest 2=passed\ntest 3=failed\n" },
	{ "no plan", "ok 1 - a\n", "a=passed\n! no plan (1..N) for 1 results\n" },
	{ "plan not met", "1..3\nok 1 - a\nok 2 - b\n",
	  "a=passed\nb=passed\n! plan not met: 3 planned, 2 seen\n" },
	{ "numbers out of order", "1..2\nok 1 - a\nok 1 - b\n",
	  "a=passed\nb=passed\n! test 1 stands where test 2 should\n" },
	{ "numbers of a subtest", "1..1\n    1..1\n    ok 2 - b\nok 1 - a\n",
	  "a > b=passed\na=passed\n! test 2 stands where test 1 should in a subtest\n" },
	{ "glued, with one printed in its place", "1..2\nok 1 - a\nok 2 - gone\nxok 2 - b\n",
	  "a=passed\ngone=passed\n! output stands in front of a result: xok 2 - b\n" },
	{ "a return hides nothing", "1..1\nok 1 - a\rok 1 - gone\n",
	  "a=passed\ngone=passed\n! test 1 stands where test 2 should\n" },
	{ "forged line", "1..1\nok 99 - forged\nnot ok 1 - a\n",
	  "forged=passed\na=failed\n! test 99 stands where test 1 should\n" },
	{ "nothing", "hello\n", "! no TAP in the output\n" },
	{ "empty", "", "! no TAP in the output\n" },
	{ "skip all", "1..0 # SKIP not here\n", "" },
	{ "bail out", "1..2\nok 1 - a\nBail out! disk full\n",
	  "a=passed\n! bailed out: disk full\n" },
	{ "directives",
	  "1..8\nok 1 - a # SKIP why\nok 2 # skip\nnot ok 3 - c # TODO later\nok 4 - d # todo\n"
	  "ok 5 - e # 5\nok 6 - f \\# TODO not one\nok 7 - g # Skipped: x\nok 8 - h# TODO glued\n",
	  "a=skipped\ntest 2=skipped\nc=xfail\nd=xpass\ne # 5=passed\nf # TODO not one=passed\n"
	  "g=skipped\nh# TODO glued=passed\n" },
	{ "escapes", "1..2\nok 1 - a \\# b \\\\ c\nok 2 - tail \\",
	  "a # b \\ c=passed\ntail \\=passed\n" },
	{ "hostile names",
	  "1..6\nok 1 - a [b] - \"c\" 'd'\nok 2 - \xe2\x98\x83 \xff\nok 3 - a > b\n"
	  "ok 4 -   many   blanks  \nok 5 - \ttab\nok 6 -nodash\n",
	  "a [b] - \"c\" 'd'=passed\n\xe2\x98\x83 \xff=passed\na > b=passed\nmany   blanks=passed\n"
	  "\ttab=passed\n-nodash=passed\n" },
	{ "repeated names", "1..3\nok 1 - x\nok 2 - x\nnot ok 3 - x\n",
	  "x=passed\nx #2=passed\nx #3=failed\n" },
	{ "YAML is skipped",
	  "1..2\nnot ok 1 - a\n  ---\n  message: 'x'\n    ok 7 - in yaml\n  data: |\n    ok 8 - deeper\n"
	  "  ...\nok 2 - b\n",
	  "a=failed\nb=passed\n" },
	{ "YAML cut by a crash", "1..2\nnot ok 1 - a\n  ---\n  message: x\nok 2 - b\n",
	  "a=failed\nb=passed\n" },
	{ "not TAP", "1..1\nokay\nok1\nnot okay\nnot  ok 1 - spaced\n   ok 5 - odd indent\n1..x\n",
	  "spaced=failed\n" },
	{ "subtests",
	  "1..2\n    1..2\n    ok 1 - in\n        ok 1 - deep\n        1..1\n    ok 2 - mid\n"
	  "not ok 1 - top\nok 2 - in\n",
	  "top > in=passed\ntop > mid > deep=passed\ntop > mid=passed\ntop=failed\nin=passed\n" },
	{ "subtest without plan", "1..1\n    ok 1 - in\nok 1 - top\n",
	  "top > in=passed\ntop=passed\n! no plan (1..N) for 1 results of a subtest\n" },
	{ "subtest that lost a result", "1..1\n    1..2\n    ok 1 - in\nok 1 - top\n",
	  "top > in=passed\ntop=passed\n! plan not met: 2 planned, 1 seen in a subtest\n" },
	{ "buffered subtest (node-tap)",
	  "TAP version 14\nok 1 - top # time=5.2ms {\n    ok 1 - a\n    1..1\n}\n\nok 2 - parse {\n"
	  "ok 3 - x {\n    ok 1 - a\n    1..1\n}\n1..3\n# time=19ms\n",
	  "top=passed\ntop > a=passed\nparse {=passed\nx=passed\nx > a=passed\n" },
	{ "two documents",
	  "TAP version 13\n1..1\nok 1 - a\nTAP version 13\nok 1 - a\n1..1\nok 1 - c\n1..1\n",
	  "a=passed\na #2=passed\nc=passed\n" },
	{ "second document cut", "1..1\nok 1 - a\n1..2\nok 1 - b\n",
	  "a=passed\nb=passed\n! plan not met: 2 planned, 1 seen\n" },
	{ "CR and colour", "1..2\r\n\033[32mok\033[0m 1 - a\r\nok 2 - b\r\n",
	  "a=passed\nb=passed\n" },
	{ "interleaved output", "1..2\nwarning: x\nok 1 - a\n# note\nok 2 - b\n",
	  "a=passed\nb=passed\n" },
	{ "crash", "1..3\nok 1 - a\nSegmentation fault\n",
	  "a=passed\n! plan not met: 3 planned, 1 seen\n" },
	{ "tape",
	  "TAP version 13\n# first title\nok 1 should be strictly equal\nok 2 should be strictly equal\n"
	  "not ok 3 named bad\n  ---\n    operator: equal\n    expected: 2\n    stack: |-\n"
	  "      Error: named bad\n          at x\n  ...\n# a comment\nok 4 with # hash\n# nested\n# inner\n"
	  "ok 5 should be deeply equivalent\n# SKIP skip me\n# last\nok 6 skipped assert # SKIP\n\n1..6\n"
	  "# tests 6\n# pass  5\n# fail  1\n\n",
	  "first title: should be strictly equal=passed\n"
	  "first title: should be strictly equal #2=passed\nfirst title: named bad=failed\n"
	  "a comment: with # hash=passed\ninner: should be deeply equivalent=passed\n"
	  "last: skipped assert=skipped\n" },
	{ "tape that stopped in the middle",
	  "TAP version 13\n# t\nok 1 a\nError: boom\n    at x (y:1:2)\n",
	  "t: a=passed\n! no plan (1..N) for 1 results\n" },
	{ "diagnostics are no titles",
	  "1..3\nok 1 - plain\n#   Failed test 'x'\n# hello\nok 2\nok 3 - c\n",
	  "plain=passed\ntest 2=passed\nc=passed\n" },
	{ "prove -v",
	  "t/a.t .. \n1..2\nok 1 - plain\nnot ok 2 - bad\nDubious, test returned 1 (wstat 256, 0x100)\n"
	  "Failed 1/2 subtests \nt/b.t .. \nok 1 - plain\n1..1\nok\nt/c.t .. skipped: no reason\n"
	  "t/d.t .... \n1..1\nok 1 - z\nok\n\nTest Summary Report\n-------------------\nResult: FAIL\n",
	  "t/a.t: plain=passed\nt/a.t: bad=failed\nt/b.t: plain=passed\nt/d.t: z=passed\n" },
	{ "prove -v, a file that died",
	  "t/a.t .. \n1..3\nok 1 - x\nFailed 2/3 subtests \nt/b.t .. \n1..1\nok 1 - y\nok\n",
	  "t/a.t: x=passed\nt/b.t: y=passed\n! plan not met: 3 planned, 1 seen\n" },
};

static void live_perl(void)
{
	auto_free char *dir = readers_mkdir(), *got = NULL, *proved = NULL;

	readers_write(dir, "a.t",
		      "use Test::More tests => 5;\n"
		      "ok(1,'plain'); ok(1); is(1,2,'bad # hash');\n"
		      "SKIP: { skip 'why', 1; ok(1) }\n"
		      "subtest 'sub name' => sub { plan tests=>2; ok(1,'in a');\n"
		      "  subtest deep => sub { ok(1,'d'); done_testing }; };\n");
	readers_write(dir, "b.t", "use Test::More tests=>3; ok(1,'x'); kill 9,$$;\n");
	got = readers_live("tap", dir, "perl a.t");
	tap_is_str(got,
		   "plain=passed\ntest 2=passed\nbad # hash=failed\ntest 4=skipped\n"
		   "sub name > in a=passed\nsub name > deep > d=passed\nsub name > deep=passed\n"
		   "sub name=passed\n",
		   "perl: Test::More");
	proved = readers_live("tap", dir, "prove -v a.t b.t");
	tap_ok(strstr(proved, "a.t: sub name > deep > d=passed\n") &&
		       strstr(proved, "b.t: x=passed\n") &&
		       strstr(proved, "! plan not met: 3 planned, 1"),
	       "perl: prove -v with a killed file");
	readers_rmdir(dir);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("tap", rows[i].log, 0, rows[i].want, rows[i].name);
	if (access("/usr/bin/prove", X_OK) == 0)
		live_perl();
	else
		tap_skip("perl", "prove: not installed");
	return tap_done();
}

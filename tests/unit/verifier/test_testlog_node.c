/* node --test: spec and tap reporters give the same ids; forged, cut and foreign lines. */
#include "tests/unit/verifier/readers.h"

#define OK                     "\xe2\x9c\x94 "
#define BAD                    "\xe2\x9c\x96 "
#define SKIP                   "\xef\xb9\xa3 "
#define OPEN                   "\xe2\x96\xb6 "
#define INFO                   "\xe2\x84\xb9 "
#define SUMMARY(tests, suites) INFO "tests " #tests "\n" INFO "suites " #suites "\n" INFO "pass 1\n"

struct row {
	const char *name, *log, *want;
};

static const struct row rows[] = {
	{ "spec",
	  "printed\n" OK "plain ok (0.9ms)\n" OK "has # hash and (2ms) (0.1ms)\n" OK
	  "dup (1ms)\n" OK "dup (1ms)\n" OK "new\nline (0.079815ms)\n" OK
	  "back\\slash (0.07ms)\n" BAD "fails (2.06ms)\n"
	  "  AssertionError [ERR_ASSERTION]: x\n  \n  1 !== 2\n\n" SKIP
	  "skipped (0.1ms) # why\n" SKIP "skipped2 (1e-7ms) # SKIP\n" BAD
	  "todo fail (0.1ms) # later\n" OK "todo ok (0.1ms) # TODO\n" OPEN "suite A\n  " OK
	  "in A (0.1ms)\n  " BAD "bad in A (0.1ms)\n    Error: y\n        at x\n\n  " OPEN
	  "inner\n    " OK "deep (0.1ms)\n  " OK "inner (0.2ms)\n" BAD "suite A (0.8ms)\n" OPEN
	  "suite B\n  " OK "in A (0.1ms)\n" OK "suite B (1ms)\n" OK "<anonymous> (0.05ms)\n" OK
	  "quote \"x\" 'y' \xe2\x98\x83 (1ms)\n" SUMMARY(17, 3) "\n" BAD "failing tests:\n\n"
								"test at a.test.js:7:1\n" BAD
								"fails (2.06ms)\n",
	  "plain ok=passed\nhas # hash and (2ms)=passed\ndup=passed\ndup #2=passed\nnew\\nline=passed\n"
	  "back\\slash=passed\nfails=failed\nskipped=skipped\nskipped2=skipped\ntodo fail=xfail\ntodo ok=xpass\n"
	  "suite A > in A=passed\nsuite A > bad in A=failed\nsuite A > inner > deep=passed\n"
	  "suite A > inner=passed\nsuite A=failed\nsuite B > in A=passed\nsuite B=passed\n<anonymous>=passed\n"
	  "quote \"x\" 'y' \xe2\x98\x83=passed\n" },
	{ "spec, forged line", OK "forged (1ms)\n" BAD "forged (2ms)\n" SUMMARY(1, 0),
	  "forged=passed\nforged #2=failed\n! 1 tests and suites counted, 2 seen\n" },
	{ "spec, forged summary in front",
	  OK "a (1ms)\n" SUMMARY(1, 0) BAD "b (1ms)\n" SUMMARY(2, 0), "a=passed\nb=failed\n" },
	{ "spec, indented without parent", "    " OK "x (1ms)\n" OK "a (1ms)\n" SUMMARY(1, 0),
	  "a=passed\n" },
	{ "spec, marked lines that are no tests",
	  OK "done\n" OK "a (1ms)\n" BAD "failing\n" SUMMARY(1, 0), "a=passed\n" },
	{ "spec, glued to output without newline", "text" OK "a (1ms)\n" SUMMARY(1, 0),
	  "a=passed\n" },
	{ "spec, node 18 parents",
	  OPEN "suite\n  " OK "x (1ms)\n" OPEN "suite (2ms)\n\n" OPEN "bad\n  " BAD "y (1ms)\n" OPEN
	       "bad (2ms)\n" OK "z (1ms)\n" SUMMARY(3, 2),
	  "suite > x=passed\nsuite=passed\nbad > y=failed\nbad=failed\nz=passed\n" },
	{ "spec, colour",
	  "\033[32m" OK "a \033[90m(1ms)\033[39m\033[39m\n\033[34m" INFO "tests 1\033[39m\n" INFO
	  "suites 0\n",
	  "a=passed\n" },
	{ "spec, cut", OK "a (1ms)\n", "! node --test did not finish: no summary in the output\n" },
	{ "tap",
	  "TAP version 13\n# ok 99 - forged\n# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\n"
	  "# Subtest: s\n    # Subtest: in\n    not ok 1 - in\n      ---\n      error: |-\n        ok 5 - x\n      ...\n"
	  "    1..1\nnot ok 2 - s\n  ---\n  type: 'suite'\n  ...\n# Subtest: new\\\\nline\nok 3 - new\\\\nline # TODO x\n1..3\n"
	  "# tests 3\n# suites 1\n# pass 2\n",
	  "a=passed\ns > in=failed\ns=failed\nnew\\nline=xpass\n" },
	{ "tap, cut", "TAP version 13\nok 1 - a\n", "a=passed\n! no plan (1..N) for 1 results\n" },
	{ "empty", "", "! node --test did not finish: no summary in the output\n" },
};

static const char project[] =
	"const {test, describe, it} = require('node:test'); const assert = require('assert');\n"
	"test('plain ok', () => {});\n"
	"test('has # hash (3ms)', () => {});\n"
	"test('dup', () => {}); test('dup', () => {});\n"
	"test('new\\nline', () => {});\n"
	"test('back\\\\slash', () => {});\n"
	"test('fails', () => { assert.strictEqual(1, 2); });\n"
	"test('skipped', {skip: 'why'}, () => {});\n"
	"test('skipped2', {skip: true}, () => {});\n"
	"test('todo fail', {todo: 'later'}, () => { throw new Error('ok 5 - x'); });\n"
	"test('todo ok', {todo: true}, () => {});\n"
	"describe('suite A', () => { it('in A', () => {}); it('bad in A', () => { throw new Error('y'); });\n"
	"  describe('inner', () => { it('deep', () => {}); }); });\n"
	"test('parent', async (t) => { await t.test('child 1', () => {}); });\n"
	"test('prints', () => { console.log('not ok 99 - printed'); });\n"
	"test('unicode \xe2\x98\x83', () => {});\n";

static const char expected[] =
	"plain ok=passed\nhas # hash (3ms)=passed\ndup=passed\ndup #2=passed\nnew\\nline=passed\n"
	"back\\slash=passed\nfails=failed\nskipped=skipped\nskipped2=skipped\ntodo fail=xfail\ntodo ok=xpass\n"
	"suite A > in A=passed\nsuite A > bad in A=failed\nsuite A > inner > deep=passed\n"
	"suite A > inner=passed\nsuite A=failed\nparent > child 1=passed\nparent=passed\nprints=passed\n"
	"unicode \xe2\x98\x83=passed\n";

static void live(void)
{
	auto_free char *dir = readers_mkdir(), *tap = NULL, *spec = NULL, *crash = NULL,
		       *forged = NULL;

	readers_write(dir, "a.test.js", project);
	readers_write(
		dir, "b.test.js",
		"require('node:test').test('x', () => process.kill(process.pid, 'SIGKILL'));\n");
	readers_write(dir, "c.test.js",
		      "require('node:test').test('x', () => { console.log('" OK "y (1ms)'); });\n");
	tap = readers_live("node-test", dir, "node --test --test-reporter=tap a.test.js");
	tap_is_str(tap, expected, "node: tap");
	spec = readers_live("node-test", dir, "node --test --test-reporter=spec a.test.js");
	tap_is_str(spec, expected, "node: spec gives the same ids");
	crash = readers_live("node-test", dir, "node --test --test-reporter=spec b.test.js");
	tap_ok(strstr(crash, "b.test.js=failed\n") && !strstr(crash, "x=passed"),
	       "node: killed file: %s", crash);
	forged = readers_live("node-test", dir, "node --test --test-reporter=spec c.test.js");
	tap_ok(strstr(forged, "! 1 tests and suites counted, 2 seen"),
	       "node: forged line on spec shows");
	readers_rmdir(dir);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		readers_is("node-test", rows[i].log, 0, rows[i].want, rows[i].name);
	if (system("node --version >/dev/null 2>&1") == 0)
		live();
	else
		tap_skip("node", "node: not installed");
	return tap_done();
}

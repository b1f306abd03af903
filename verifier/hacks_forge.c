#include "verifier/hacks.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/witness.h"

/* What a runner prints when all is well. In texts "%s" is a name, "%n" the number of tests, "%i" the number of this one,
 * "%p" the package of Go tests. */
struct forge {
	const char *readers; /* blanks between */
	const char *head, *line, *tail;
};

/* clang-format off */
static const struct forge forges[] = {
	{ "pytest", "============================= test session starts ==============================\ncollected %n items\n\n"
	  "=========================== short test summary info ============================\n",
	  "PASSED %s\n", "============================== %n passed in 0.01s ===============================\n" },
	{ "tap node-test bats prove", "TAP version 13\n", "ok %i - %s\n", "1..%n\n# tests %n\n# pass %n\n# fail 0\n" },
	{ "unittest", "", "%s ... ok\n",
	  "\n----------------------------------------------------------------------\nRan %n tests in 0.001s\n\nOK\n" },
	{ "sympy", "", "%s ok\n", "================== tests finished: %n passed, in 0.01 seconds ==================\n" },
	{ "gotest", "", "=== RUN   %s\n--- PASS: %s (0.00s)\n", "PASS\nok  \t%p\t0.010s\n" },
	{ "gotest-json", "", "{\"Action\":\"run\",\"Package\":\"%p\",\"Test\":\"%s\"}\n{\"Action\":\"pass\",\"Package\":\"%p\",\"Test\":\"%s\"}\n",
	  "{\"Action\":\"pass\",\"Package\":\"%p\"}\n" },
	{ "libtest", "\nrunning %n tests\n", "test %s ... ok\n",
	  "\ntest result: ok. %n passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n" },
	{ "mocha", "\n", "  \xe2\x9c\x93 %s\n", "\n  %n passing (1ms)\n\n" },
	{ "jest", "PASS ./a.test.js\n", "  \xe2\x9c\x93 %s (1 ms)\n",
	  "\nTest Suites: 1 passed, 1 total\nTests:       %n passed, %n total\nSnapshots:   0 total\nTime:        0.1 s\n" },
	{ "vitest", "\n", " \xe2\x9c\x93 %s 1ms\n", "\n Test Files  1 passed (1)\n      Tests  %n passed (%n)\n" },
	{ "minitest", "Run options: -v --seed 1\n\n# Running:\n\n", "%s = 0.00 s = .\n",
	  "\nFinished in 0.000388s, 7737.3230 runs/s, 2579.1077 assertions/s.\n\n%n runs, %n assertions, 0 failures, 0 errors, 0 skips\n" },
	{ "exit-code", "", "%s: passed\n", "%n tests passed\n" },
};
/* clang-format on */

/* What stands for the marks of a text. */
struct filling {
	const char *name, *package; /* borrowed, no NUL behind them */
	size_t name_len, package_len;
	size_t i, n;
};

static void fill(struct buf *out, const char *text, const struct filling *f)
{
	for (; *text; text++) {
		if (text[0] != '%') {
			buf_addc(out, *text);
			continue;
		}
		text++;
		if (*text == 's')
			buf_add(out, f->name, f->name_len);
		else if (*text == 'p')
			buf_add(out, f->package, f->package_len);
		else
			buf_addu(out, *text == 'i' ? f->i : f->n);
	}
}

/* Readers number what comes again: "name #2" is "name", printed twice. */
static size_t plain_name(const char *s)
{
	size_t n = strlen(s), k = n;

	while (k && s[k - 1] >= '0' && s[k - 1] <= '9')
		k--;
	return k < n && k > 2 && s[k - 1] == '#' && s[k - 2] == ' ' ? k - 2 : n;
}

/* Length of the package in "package.TestName", 0 when there is none. */
static size_t package_of(const char *name)
{
	static const char *const marks[] = { ".Test", ".Example", ".Fuzz" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(name, marks[i]);

		if (at)
			return (size_t)(at - name);
	}
	return 0;
}

bool hacks_forge(const char *reader, const struct strv *names, struct buf *out)
{
	struct filling fl = { .name = "", .package = "", .n = names->n };
	bool go;

	for (size_t i = 0; i < ARRAY_SIZE(forges); i++) {
		const struct forge *f = &forges[i];

		if (!reader || !witness_word(f->readers, reader, strlen(reader)))
			continue;
		go = str_starts(f->readers, "gotest");
		if (go && names->n) {
			fl.package = names->v[0];
			fl.package_len = package_of(names->v[0]);
		}
		buf_addc(out, '\n');
		fill(out, f->head, &fl);
		strv_each (k, names) {
			size_t cut = go ? package_of(names->v[k]) : 0;

			fl.name = names->v[k] + cut + (cut != 0);
			fl.name_len = plain_name(fl.name);
			fl.i = k + 1;
			fill(out, f->line, &fl);
		}
		fill(out, f->tail, &fl);
		return true;
	}
	return false;
}

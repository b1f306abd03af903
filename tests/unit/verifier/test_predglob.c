/* Parts of the predicate language: patterns, and sets of record numbers. */
#include "verifier/pred_internal.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* clang-format off */
/* Patterns: as str_path_glob() has them. */
static const struct {
	const char *pattern, *path;
} globs[] = {
	{ "src/*.c", "src/a.c" }, { "src/*.c", "src/x/a.c" }, { "src/**", "src/x/a.c" }, { "src/**", "srcx" },
	{ "**/a.c", "a.c" }, { "**/a.c", "x/y/a.c" }, { "**/a.c", "xa.c" }, { "a/**/b", "a/b" },
	{ "a/**/b", "a/x/y/b" }, { "a/**/b", "axb" }, { "a**b", "a/x/b" }, { "*", "a" }, { "*", "a/b" },
	{ "**", "a/b" }, { "?.c", "/.c" }, { "?.c", "x.c" }, { "a*b*c", "aXbYc" }, { "a*b*c", "aXbY/c" },
	{ "**/*.py", "x/y.py" }, { "**/test_*/**", "a/test_b/c/d" }, { "x", "x" }, { "x", "y" }, { "", "" },
	{ "*a*a*a*b", "aaaaaaaaab" }, { "*/b", "/b" }, { "a/*", "a/" }, { "**/", "a/" }, { "a?**c", "ab/c/c" },
};
/* clang-format on */

static void patterns(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++) {
		struct pred_glob g;
		bool want = str_path_glob(globs[i].pattern, globs[i].path);

		pred_glob_new(&g, globs[i].pattern);
		tap_ok(pred_glob_match(&g, globs[i].path) == want, "%s %s %s", globs[i].pattern,
		       want ? "matches" : "does not match", globs[i].path);
		pred_glob_done(&g);
	}
	{
		/* would take for ever with backtracking */
		struct pred_glob g;
		char s[3001];

		memset(s, 'a', 3000);
		s[3000] = '\0';
		pred_glob_new(&g, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b");
		tap_ok(!pred_glob_match(&g, s), "a hostile path");
		pred_glob_done(&g);
	}
}

static void sets(void)
{
	static const uint64_t v[] = { 1, 63, 64, 65, 4095, 4096, 70000, 1u << 20 };
	struct pred_bits b = { 0 };
	uint64_t n = 0;

	tap_ok(pred_bits_next(&b, 0) == UINT64_MAX && pred_bits_before(&b, UINT64_MAX) == 0,
	       "empty");
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		pred_bits_set(&b, v[i]);
		pred_bits_set(&b, v[i]);
	}
	tap_is_u64(b.count, ARRAY_SIZE(v), "each once");
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		n = pred_bits_next(&b, n + 1);
		if (n != v[i])
			break;
	}
	tap_is_u64(n, 1u << 20, "forwards");
	n = UINT64_MAX;
	for (size_t i = ARRAY_SIZE(v); i-- > 0;) {
		n = pred_bits_before(&b, n);
		if (n != v[i])
			break;
	}
	tap_is_u64(n, 1, "backwards");
	pred_bits_clear(&b, 64);
	tap_ok(pred_bits_next(&b, 64) == 65 && b.count == ARRAY_SIZE(v) - 1, "one is taken out");
	pred_bits_done(&b);
}

int main(void)
{
	patterns();
	sets();
	return tap_done();
}

/* Strict numbers, string arrays, nearest choice, path globs, UTF-8. */
#include "base/str.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define BAD UINT64_MAX

struct number_row {
	const char *text;
	uint64_t want; /* BAD = refused */
};

static void numbers(const char *name, int (*parse)(const char *, uint64_t *),
		    const struct number_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t got = 4711;
		int rc = parse(rows[i].text, &got);

		if (rows[i].want == BAD)
			tap_ok(rc < 0 && got == 4711, "%s refuses \"%s\"", name, rows[i].text);
		else
			tap_ok(rc == 0 && got == rows[i].want, "%s reads \"%s\"", name,
			       rows[i].text);
	}
}

static const struct number_row u64_rows[] = {
	{ "0", 0 },     { "007", 7 },   { "18446744073709551614", UINT64_MAX - 1 },
	{ "", BAD },    { " 1", BAD },  { "1 ", BAD },
	{ "+1", BAD },  { "-1", BAD },  { "0x10", BAD },
	{ "1e3", BAD }, { "1.0", BAD }, { "18446744073709551616", BAD },
};

static const struct number_row size_rows[] = {
	{ "0", 0 },           { "4096", 4096 },
	{ "4096B", 4096 },    { "64K", 65536 },
	{ "8M", 8u << 20 },   { "4G", 4ull << 30 },
	{ "1T", 1ull << 40 }, { "16777215T", 16777215ull << 40 },
	{ "16777216T", BAD }, { "4g", BAD },
	{ "4GB", BAD },       { "4 G", BAD },
	{ "1.5G", BAD },      { "-1K", BAD },
	{ "K", BAD },         { "", BAD },
};

static const struct number_row duration_rows[] = {
	{ "0", 0 },
	{ "3", 3000000000ull },
	{ "500ms", 500000000ull },
	{ "30s", 30000000000ull },
	{ "10m", 600000000000ull },
	{ "1h", 3600000000000ull },
	{ "2d", 172800000000000ull },
	{ "213503d", 213503ull * 86400000000000ull },
	{ "213504d", BAD },
	{ "1h30m", BAD },
	{ "1H", BAD },
	{ "1.5h", BAD },
	{ "h", BAD },
	{ "", BAD },
	{ "-1s", BAD },
};

static const struct number_row money_rows[] = {
	{ "3", 3000000 },
	{ "3.00", 3000000 },
	{ "0.000125", 125 },
	{ "0.5", 500000 },
	{ "18446744073709.551614", UINT64_MAX - 1 },
	{ "18446744073709.551616", BAD },
	{ "18446744073710", BAD },
	{ "0.0000001", BAD },
	{ "1.", BAD },
	{ ".5", BAD },
	{ "1,5", BAD },
	{ "$3", BAD },
	{ "3 ", BAD },
	{ "-3", BAD },
	{ "1.2.3", BAD },
	{ "", BAD },
};

static void globs(void)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} rows[] = {
		{ "a.c", "a.c", true },
		{ "a.c", "b/a.c", false },
		{ "*.c", "a.c", true },
		{ "*.c", "b/a.c", false },
		{ "*", "a/b", false },
		{ "*/b", "a/b", true },
		{ "*/b", "/b", true },
		{ "a?c", "abc", true },
		{ "a?c", "a/c", false },
		{ "a?c", "ac", false },
		{ "tests/**", "tests/a", true },
		{ "tests/**", "tests/a/b/c.py", true },
		{ "tests/**", "tests", false },
		{ "tests/**", "testsuite/a", false },
		{ "**", "a/b/c", true },
		{ "**", "", true },
		{ "**/test_*.py", "test_a.py", true },
		{ "**/test_*.py", "a/b/test_a.py", true },
		{ "**/test_*.py", "a/b/xtest_a.py", false },
		{ "**/test_*.py", "xtest_a.py", false },
		{ "a/**/z", "a/z", true },
		{ "a/**/z", "a/b/z", true },
		{ "a/**/z", "a/b/c/z", true },
		{ "a/**/z", "ab/z", false },
		{ "a/**/z", "a/bz", false },
		{ "a**z", "a/b/z", true },
		{ "a**z", "az", true },
		{ "**/a/**/b", "x/a/y/z/b", true },
		{ "**/a/**/b", "x/a/y/z/c", false },
		{ "", "", true },
		{ "", "a", false },
		{ "a", "", false },
		{ "*", "", true },
		{ "a*", "a", true },
		{ "*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_ok(str_path_glob(rows[i].pattern, rows[i].path) == rows[i].want,
		       "\"%s\" %s \"%s\"", rows[i].pattern,
		       rows[i].want ? "matches" : "does not match", rows[i].path);
}

static void utf8(void)
{
	static const struct {
		const char *text;
		int bad; /* offset, -1 = valid */
	} rows[] = {
		{ "", -1 },
		{ "plain", -1 },
		{ "\xc3\xa4", -1 },
		{ "\xe2\x82\xac", -1 },
		{ "\xf0\x9f\x98\x80", -1 },
		{ "\xf4\x8f\xbf\xbf", -1 },
		{ "\xef\xbf\xbf", -1 },
		{ "\xed\x9f\xbf", -1 },
		{ "a\x80", 1 },            /* lone continuation */
		{ "\xc0\xaf", 0 },         /* overlong "/" */
		{ "\xc1\xbf", 0 },         /* overlong */
		{ "ab\xe0\x80\xaf", 2 },   /* overlong */
		{ "\xf0\x8f\xbf\xbf", 0 }, /* overlong */
		{ "\xed\xa0\x80", 0 },     /* surrogate */
		{ "\xed\xbf\xbf", 0 },     /* surrogate */
		{ "\xf4\x90\x80\x80", 0 }, /* beyond U+10FFFF */
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xff", 0 },
		{ "x\xc3", 1 },        /* cut */
		{ "x\xe2\x82", 1 },    /* cut */
		{ "\xf0\x9f\x98", 0 }, /* cut */
		{ "\xc3\xa4\xe2(\xa1", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t bad = 999;
		bool ok = str_utf8(rows[i].text, strlen(rows[i].text), &bad);

		tap_ok(ok == (rows[i].bad < 0) && (ok || bad == (size_t)rows[i].bad),
		       "UTF-8 row %zu", i);
	}
	tap_ok(!str_utf8("\xff", 1, NULL), "the offset need not be asked for");
}

static void arrays(void)
{
	auto_strv a = { 0 }, b = { 0 };

	tap_ok(!strv_has(&a, "x"), "an empty array holds nothing");
	for (int i = 0; i < 100; i++)
		strv_take(&a, mem_printf("s%d", i));
	tap_ok(a.n == 100 && !a.v[100] && strv_has(&a, "s99"), "NULL behind the last");
	strv_add(&b, "old");
	strv_copy(&b, &a);
	tap_ok(b.n == 100 && b.v[7] != a.v[7] && str_eq(b.v[7], "s7") && !strv_has(&b, "old"),
	       "copy replaces");
	strv_done(&b);
	strv_done(&b);
	tap_ok(b.n == 0 && !b.v, "done twice");
	tap_ok(str_eq(NULL, NULL) && !str_eq("", NULL) && str_eq("a", "a"), "str_eq with NULL");
	tap_ok(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("a", "ab"),
	       "starts");
	tap_ok(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("c", "bc"), "ends");
}

static void nearest(void)
{
	static const char *const keys[] = { "wall", "cpu", "memory", "model_calls", NULL };
	static const char *const none[] = { NULL };
	char huge[400];

	memset(huge, 'm', sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	tap_is_str(str_nearest("memorry", keys), "memory", "one letter more");
	tap_is_str(str_nearest("modelcalls", keys), "model_calls", "one letter less");
	tap_is_str(str_nearest("Wall", keys), "wall", "other case");
	tap_ok(!str_nearest("network", keys), "too far away");
	tap_ok(!str_nearest("x", none), "no choices");
	tap_ok(!str_nearest(huge, keys), "a very long word is near nothing");
}

int main(void)
{
	numbers("str_u64", str_u64, u64_rows, ARRAY_SIZE(u64_rows));
	numbers("str_size", str_size, size_rows, ARRAY_SIZE(size_rows));
	numbers("str_duration", str_duration, duration_rows, ARRAY_SIZE(duration_rows));
	numbers("str_money", str_money, money_rows, ARRAY_SIZE(money_rows));
	globs();
	utf8();
	arrays();
	nearest();
	return tap_done();
}

/* Line index, diff against a slow and simple one, and ranges that follow edits. */
#include "triggers/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/lib/tap.h"
#include "triggers/regions.h"

static void test_index(void)
{
	struct lines l;
	uint64_t a, b;

	lines_index(&l, "ab\n\ncd", 6);
	tap_is_u64(l.n, 3, "three lines, the last without newline");
	lines_of_bytes(&l, 0, 1, &a, &b);
	tap_ok(a == 1 && b == 1, "first byte");
	lines_of_bytes(&l, 2, 2, &a, &b);
	tap_ok(a == 1 && b == 2, "newline and empty line");
	lines_of_bytes(&l, 4, 1000, &a, &b);
	tap_ok(a == 3 && b == 3, "past the end");
	lines_of_bytes(&l, 6, 1, &a, &b);
	tap_ok(a == 0 && b == 0, "behind the end");
	lines_of_bytes(&l, 1, UINT64_MAX, &a, &b);
	tap_ok(a == 1 && b == 3, "a length that would overflow");
	lines_done(&l);
	lines_index(&l, "", 0);
	lines_of_bytes(&l, 0, 5, &a, &b);
	tap_ok(a == 0 && b == 0, "empty image");
	lines_done(&l);
}

static uint64_t seed = 1234567;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* Length of the longest common subsequence, the slow way. */
static unsigned lcs(const char *a, unsigned n, const char *b, unsigned m)
{
	unsigned t[41][41] = { { 0 } };

	for (unsigned i = 1; i <= n; i++)
		for (unsigned j = 1; j <= m; j++) {
			unsigned best = t[i - 1][j] > t[i][j - 1] ? t[i - 1][j] : t[i][j - 1];

			t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : best;
		}
	return t[n][m];
}

static char *as_lines(const char *s, unsigned n)
{
	auto_buf b = BUF_INIT(4096);

	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%c\n", s[i]);
	return buf_steal(&b, NULL);
}

static void test_diff(void)
{
	unsigned wrong = 0, longer = 0, kept = 0, best = 0;

	for (int round = 0; round < 3000; round++) {
		char a[40], b[40], got[128];
		unsigned n = rnd(40), m = rnd(40), kinds = 2 + rnd(6), at = 0, out = 0, removed = 0;
		auto_free char *ta = NULL, *tb = NULL;
		struct line_changes c;

		for (unsigned i = 0; i < n; i++)
			a[i] = (char)('a' + rnd(kinds));
		for (unsigned i = 0; i < m; i++)
			b[i] = (char)('a' + rnd(kinds));
		ta = as_lines(a, n);
		tb = as_lines(b, m);
		lines_diff(ta, strlen(ta), tb, strlen(tb), &c);
		for (size_t i = 0; i < c.n; i++) {
			while (at + 1 < c.v[i].old_first)
				got[out++] = a[at++];
			at += (unsigned)c.v[i].old_n;
			removed += (unsigned)c.v[i].old_n;
			for (size_t k = 0; k < c.v[i].new_n; k++)
				got[out++] = b[c.v[i].new_first - 1 + k];
		}
		while (at < n)
			got[out++] = a[at++];
		wrong += out != m || memcmp(got, b, m) != 0;
		longer += n - removed < lcs(a, n, b, m);
		kept += n - removed;
		best += lcs(a, n, b, m);
		lines_changes_done(&c);
	}
	tap_is_u64(wrong, 0, "3000 random diffs rebuild the new image");
	tap_is_u64(longer, 0, "none keeps fewer lines than possible");
	tap_diag("%u lines kept, %u possible", kept, best);
}

static void test_bound(void)
{
	auto_buf a = BUF_INIT(8u << 20), b = BUF_INIT(8u << 20);
	struct line_changes c;

	buf_adds(&a, "first\n");
	buf_adds(&b, "first\n");
	for (unsigned i = 0; i < 60000; i++) {
		buf_addf(&a, "%u\n", rnd(50));
		buf_addf(&b, "%u\n", rnd(50));
	}
	buf_adds(&a, "last\n");
	buf_adds(&b, "last\n");
	lines_diff(a.data, a.len, b.data, b.len, &c);
	tap_ok(c.n >= 1 && c.v[0].old_first >= 2, "two noise files end in bounded time: %zu places",
	       c.n);
	lines_changes_done(&c);
}

struct follow_case {
	const char *name, *a, *b; /* one letter per line */
	struct line_range at, want;
	uint64_t touched;
};

/* clang-format off */
static const struct follow_case follows[] = {
	{ "nothing", "abcdef", "abcdef", { 3, 4 }, { 3, 4 }, 0 },
	{ "lines in front", "abcdef", "XYabcdef", { 3, 4 }, { 5, 6 }, 0 },
	{ "lines behind", "abcdef", "abcdefXY", { 3, 4 }, { 3, 4 }, 0 },
	{ "deleted in front", "abcdef", "bcdef", { 3, 4 }, { 2, 3 }, 0 },
	{ "inserted right before", "abcdef", "abXcdef", { 3, 4 }, { 4, 5 }, 0 },
	{ "inserted right behind", "abcdef", "abcdXef", { 3, 4 }, { 3, 4 }, 0 },
	{ "inserted inside", "abcdef", "abcXYdef", { 3, 4 }, { 3, 6 }, 2 },
	{ "one line rewritten", "abcdef", "abXdef", { 3, 4 }, { 3, 4 }, 1 },
	{ "one line deleted", "abcdef", "abdef", { 3, 4 }, { 3, 3 }, 1 },
	{ "last line deleted", "abcdef", "abcef", { 3, 4 }, { 3, 3 }, 1 },
	{ "all rewritten, longer", "abcdef", "abWXYZef", { 3, 4 }, { 3, 6 }, 2 },
	{ "all deleted", "abcdef", "abef", { 3, 4 }, { 3, 2 }, 2 },
	{ "deleted together with neighbours", "abcdef", "af", { 3, 4 }, { 2, 1 }, 2 },
	{ "neighbours rewritten too", "abcdef", "aVWXYf", { 3, 4 }, { 3, 4 }, 2 },
	{ "collapsed, lines in front", "abef", "Xabef", { 3, 2 }, { 4, 3 }, 0 },
	{ "collapsed, put back", "abef", "abcdef", { 3, 2 }, { 3, 4 }, 2 },
	{ "collapsed, neighbour deleted", "abef", "abf", { 3, 2 }, { 3, 2 }, 1 },
	{ "collapsed, change elsewhere", "abef", "Xbef", { 3, 2 }, { 3, 2 }, 0 },
	{ "collapsed at the end", "ab", "abc", { 3, 2 }, { 3, 3 }, 1 },
};
/* clang-format on */

static void test_follow(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(follows); i++) {
		const struct follow_case *f = &follows[i];
		auto_free char *a = as_lines(f->a, (unsigned)strlen(f->a));
		auto_free char *b = as_lines(f->b, (unsigned)strlen(f->b));
		struct line_changes c;
		struct line_range got;
		uint64_t x, y, n;

		lines_diff(a, strlen(a), b, strlen(b), &c);
		got = lines_follow(&c, f->at);
		n = lines_touched(&c, f->at, &x, &y);
		tap_ok(got.first == f->want.first && got.last == f->want.last && n == f->touched,
		       "follow: %s", f->name);
		if (got.first != f->want.first || got.last != f->want.last || n != f->touched)
			tap_diag("at %llu-%llu touched %llu", (unsigned long long)got.first,
				 (unsigned long long)got.last, (unsigned long long)n);
		lines_changes_done(&c);
	}
}

/* Removal, truncation and return of a file. */
static void test_regions(void)
{
	struct region r[] = { { (char *)"f", 3, 4, NULL },
			      { (char *)"g", 1, 1, NULL },
			      { (char *)"f", 6, 6, NULL } };
	struct scenario sc = { .regions = r, .n_regions = 3 };
	struct regions rs;
	struct region_file *f;
	struct line_changes c;

	regions_init(&rs, &sc);
	tap_is_u64(rs.n, 2, "two files");
	f = regions_file(&rs, "f");
	tap_ok(f && f->n == 2 && f->region[1].index == 2 && !regions_file(&rs, "h"), "grouped");
	regions_load(f, "a\nb\nc\nd\ne\nf\n", 12, false);
	tap_ok(!regions_differs(f, "a\nb\nc\nd\ne\nf\n", 12, false), "same");
	tap_ok(regions_differs(f, NULL, 0, false), "gone is different");
	regions_set(f, NULL, 0, false, &c);
	tap_ok(c.n == 0 && f->region[0].at.first == 3 && !regions_current(f), "gone: regions stay");
	regions_set(f, "", 0, false, &c);
	tap_ok(f->empty && f->region[0].at.first == 3, "empty: regions stay");
	tap_ok(!regions_differs(f, "", 0, false), "empty is empty");
	regions_set(f, "X\na\nb\nc\nd\ne\nf\n", 14, false, &c);
	tap_ok(c.n == 1 && f->region[0].at.first == 4 && f->region[1].at.last == 7 &&
		       regions_current(f),
	       "back: found by what was there before");
	lines_changes_done(&c);
	regions_set(f, NULL, 0, true, &c);
	tap_ok(f->opaque && regions_differs(f, NULL, 0, true), "too large: always different");
	regions_done(&rs);
}

int main(void)
{
	test_index();
	test_diff();
	test_bound();
	test_follow();
	test_regions();
	return tap_done();
}

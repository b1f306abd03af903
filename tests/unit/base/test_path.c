/* Paths as text. */
#include "base/path.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void normal(void)
{
	static const char *const rows[][2] = {
		{ "", "." },
		{ ".", "." },
		{ "./", "." },
		{ "/", "/" },
		{ "//", "/" },
		{ "/.", "/" },
		{ "/..", "/" },
		{ "/../../a", "/a" },
		{ "a", "a" },
		{ "a/", "a" },
		{ "a//b", "a/b" },
		{ "a/./b", "a/b" },
		{ "a/..", "." },
		{ "a/../b", "b" },
		{ "a/b/..", "a" },
		{ "a/b/../../..", ".." },
		{ "../a", "../a" },
		{ "../../a/..", "../.." },
		{ "/a/b/../c/./d/", "/a/c/d" },
		{ "...", "..." },
		{ "a/.../b", "a/.../b" },
		{ "..a", "..a" },
		{ "a/..b/../c", "a/c" },
		{ "/a/../..", "/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = path_normal(rows[i][0]);

		tap_is_str(got, rows[i][1], rows[i][0]);
	}
}

static void beneath(void)
{
	tap_ok(path_beneath("/a/b", "/a"), "below");
	tap_ok(path_beneath("/a", "/a"), "equal");
	tap_ok(!path_beneath("/ab", "/a"), "a longer name is not below");
	tap_ok(!path_beneath("/", "/a"), "above");
	tap_ok(path_beneath("/a", "/"), "everything absolute is below /");
	tap_ok(!path_beneath("a", "/"), "a relative path is not");
}

static void tame(void)
{
	static const char *const good[] = { "a",   "a/b.c", ".github/x", "a/.gitignore",
					    "..a", "a..",   "\xff\xfe",  "a b/c" };
	static const char *const bad[] = { "",
					   "/",
					   "/a",
					   "..",
					   "a/..",
					   "a/../b",
					   ".",
					   "./a",
					   "a/.",
					   "a//b",
					   "a/",
					   ".git",
					   ".git/config",
					   "a/.git/hooks/x",
					   ".GIT/config",
					   "a/.Git" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		tap_ok(path_is_tame(good[i]), "tame: row %zu", i);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		tap_ok(!path_is_tame(bad[i]), "not tame: \"%s\"", bad[i]);
}

static void parts(void)
{
	static const char *const joins[][3] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "b" },
		{ "a", "", "a" },    { "a", "/b", "/b" },  { "/", "b", "/b" },
	};
	static const char *const dirs[][3] = {
		{ "a/b/c", "a/b", "c" },
		{ "a", ".", "a" },
		{ "/a", "/", "a" },
		{ "a/", "a", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(joins); i++) {
		auto_free char *got = path_join(joins[i][0], joins[i][1]);

		tap_is_str(got, joins[i][2], "join");
	}
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *got = path_dir(dirs[i][0]);

		tap_is_str(got, dirs[i][1], "dir");
		tap_is_str(path_base(dirs[i][0]), dirs[i][2], "base");
	}
}

int main(void)
{
	normal();
	beneath();
	tame();
	parts();
	return tap_done();
}

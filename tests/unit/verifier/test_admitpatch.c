/* Names, modes and links that no tree of ours takes. */
#include "verifier/admitpatch.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void test_names(void)
{
	static const struct {
		const char *path;
		bool bad;
	} rows[] = {
		{ "a", false },
		{ "src/a b.c", false },
		{ ".gitignore", false },
		{ "src/.gitattributes", false },
		{ ".github/workflows/x.yml", false },
		{ "git", false },
		{ "git~x", false },
		{ "git~12", false },
		{ "a\\b", false },
		{ "gr\xc3\xb6\xc3\x9f"
		  "e",
		  false },
		{ "\xff", false },
		{ "new\nline", false },
		{ ".git", true },
		{ ".GIT/config", true },
		{ "sub/.gIt/hooks/x", true },
		{ ".git./config", true },
		{ ".git /config", true },
		{ ".git::$INDEX_ALLOCATION/config", true },
		{ "git~1", true },
		{ "a/GIT~1/config", true },
		{ "git~9", true },
		{ ".g\xe2\x80\x8cit/config", true },
		{ ".git\xef\xbb\xbf/config", true },
		{ "\xe2\x80\xaa.git\xe2\x81\xaf", true },
		{ ".g\xe2\x80\xa6it", false },
		{ "a\\.git\\config", true },
		{ "a\\..\\b", true },
		{ "a\\..b", false },
	};
	char longer[4100];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_ok(!!admitpatch_name(rows[i].path) == rows[i].bad, "%zu: %s", i,
		       rows[i].bad ? admitpatch_name(rows[i].path) : "a name");
	memset(longer, 'x', sizeof(longer));
	longer[255] = '\0';
	tap_ok(!admitpatch_name(longer), "255 bytes");
	longer[255] = 'x';
	longer[256] = '\0';
	tap_ok(admitpatch_name(longer), "256 bytes");
	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = i % 2 ? '/' : 'x';
	longer[3999] = '\0';
	tap_ok(!admitpatch_name(longer), "a path of 3999 bytes");
	longer[3999] = '/';
	longer[4099] = '\0';
	tap_ok(admitpatch_name(longer), "a path of 4099 bytes");
}

static void test_links(void)
{
	static const struct {
		const char *path, *to;
		bool leaves;
	} rows[] = {
		{ "l", "a", false },           { "l", "./a", false },
		{ "d/l", "../a", false },      { "d/e/l", "../../a", false },
		{ "l", "a/b/c", false },       { "l", "...", false },
		{ "d/l", "..", false },        { "l", "..a", false },
		{ "l", "a//b", false },        { "l", "/etc/passwd", true },
		{ "l", "..", true },           { "l", "../x", true },
		{ "d/l", "../../x", true },    { "l", "a/..", true },
		{ "d/l", "a/../b", true },     { "d/l", ".././../x", true },
		{ "d/l", "..//..", true },     { "l", "", true },
		{ "l", "/workspace/a", true }, { "d/l", ".//../a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_ok(admitpatch_link_leaves(rows[i].path, rows[i].to, strlen(rows[i].to)) ==
			       rows[i].leaves,
		       "%s -> %s %s", rows[i].path, rows[i].to,
		       rows[i].leaves ? "leaves" : "stays");
	tap_ok(admitpatch_link_leaves("l", "a\0b", 3), "a NUL in a target");
}

static void test_modes(void)
{
	static const struct {
		uint32_t mode, want;
	} rows[] = {
		{ 0100644, 0100644 }, { 0100755, 0100755 },
		{ 0100600, 0100644 }, { 0100777, 0100755 },
		{ 0104755, 0100755 }, { 0100000, 0100644 },
		{ 0100011, 0100644 }, { 0120000, 0120000 },
		{ 0120777, 0120000 }, { 0160000, 0160000 },
		{ 040000, 0 },        { 020000, 0 },
		{ 0644, 0 },          { 010644, 0 },
		{ 0140000, 0 },       { 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_ok(admitpatch_mode(rows[i].mode) == rows[i].want, "%o becomes %o", rows[i].mode,
		       rows[i].want);
}

int main(void)
{
	test_names();
	test_links();
	test_modes();
	return tap_done();
}

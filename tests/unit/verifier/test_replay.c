/* Patches onto trees: what is protected, what is dropped, what is named, what excludes each other. */
#include "verifier/replay.h"

#include "sandbox/gitstore.h"
#include "tests/unit/verifier/worlds.h"
#include "verifier/protect.h"

static void test_protected(void)
{
	static const struct {
		const char *path;
		bool want;
	} rows[] = {
		{ "tests/a.py", true },    { "tests/sub/b.py", true }, { "tests/a.py/x", true },
		{ "spec/one.sh", true },   { "spec/one.sh/x", true },  { "spec", true },
		{ "spec/two.sh", false },  { "src/a.py", false },      { "test_x.py", true },
		{ "src/test_x.py", true }, { "testsuite/a", false },   { "src/tests/a", false },
		{ "deep/er/file", true },  { "deep", true },           { "deep/er", true },
		{ "deeper", false },
	};
	struct strv hidden = { 0 }, owned = { 0 };
	struct replay_rules rules = { .hidden = &hidden, .owned = &owned }, none = { 0 };

	strv_add(&hidden, "tests/**");
	strv_add(&hidden, "**/test_*.py");
	strv_add(&owned, "spec/one.sh");
	strv_add(&owned, "deep/er/file");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_ok(replay_protected(&rules, rows[i].path) == rows[i].want, "%s is %s",
		       rows[i].path, rows[i].want ? "protected" : "free");
	tap_ok(!replay_protected(&none, "tests/a.py"), "no rules, nothing protected");
	strv_done(&hidden);
	strv_done(&owned);
}

struct base {
	struct gitstore st;
	git_oid tree;
};

static bool has(struct base *b, const git_oid *tree, const char *path, const char *want)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };
	uint32_t mode;

	return gitstore_read(&b->st, tree, path, &out, &mode, &err) == 1 &&
	       (!want || strcmp(buf_str(&out), want) == 0);
}

static bool absent(struct base *b, const git_oid *tree, const char *path)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };
	uint32_t mode;

	return gitstore_read(&b->st, tree, path, &out, &mode, &err) == 0;
}

static int put(struct base *b, const char *diff, const struct replay_rules *rules, git_oid *tree,
	       struct replay_result *res)
{
	struct err err = { 0 };
	int rc;

	replay_done(res);
	rc = replay_patch(&b->st, &b->tree, diff, APPLY_EXACT, rules, tree, res, &err);
	if (rc < 0)
		tap_diag("%s", err.text);
	return rc;
}

#define RENAME                                                                                     \
	"diff --git a/tests/run.sh b/moved.sh\n"                                                   \
	"similarity index 100%\n"                                                                  \
	"rename from tests/run.sh\n"                                                               \
	"rename to moved.sh\n"
#define SWAP                                                                                        \
	"diff --git a/src/add.sh b/src/add.sh\ndeleted file mode 100644\n--- a/src/add.sh\n"        \
	"+++ /dev/null\n@@ -1,7 +0,0 @@\n-add() {\n-\tif [ \"$1\" -gt 100 ]; then\n-\t\techo big\n" \
	"-\t\treturn\n-\tfi\n-\techo $(($1 + $2))\n-}\n" WORLD_NEW("src/add.sh/inner", "x")

static void test_patches(struct base *b)
{
	struct strv hidden = { 0 };
	struct replay_rules rules = { .hidden = &hidden, .report = "out.xml" };
	struct replay_result res = { 0 };
	git_oid tree;
	int rc;

	strv_add(&hidden, "tests/**");
	tap_ok(put(b, WORLD_FIX, &rules, &tree, &res) == 1 && res.method == APPLY_EXACT, "a fix");
	tap_ok(has(b, &tree, "src/add.sh", "add() {\n\techo $(($1 + $2))\n}\n"), "its contents");
	tap_ok(put(b, "", &rules, &tree, &res) == 1 && git_oid_equal(&tree, &b->tree), "nothing");
	tap_ok(put(b, RENAME, &rules, &tree, &res) == 1 && has(b, &tree, "tests/run.sh", NULL) &&
		       has(b, &tree, "moved.sh", world_run),
	       "a test renamed away stays, its copy may be");
	tap_ok(res.dropped.n == 1 && strcmp(res.dropped.v[0], "tests/run.sh") == 0, "and is named");
	tap_ok(put(b, WORLD_NEW("out.xml", "<x/>"), &rules, &tree, &res) == 1 &&
		       absent(b, &tree, "out.xml") && res.tamper.n == 1,
	       "a report of its own is dropped");
	tap_ok(put(b, SWAP, NULL, &tree, &res) == 1 && has(b, &tree, "src/add.sh/inner", "x\n"),
	       "a directory where a file was");
	/* What put() frees must not be an argument beside it: the order is not defined. */
	rc = put(b, WORLD_NEW("src/add.sh/inner", "x"), NULL, &tree, &res);
	tap_ok(rc == 0 && res.reason, "a file below a file: %s", res.reason ? res.reason : "");
	rc = put(b, WORLD_NEW("a", "x") WORLD_NEW("a/b", "x"), NULL, &tree, &res);
	tap_ok(rc == 0 && res.reason, "two that exclude each other: %s",
	       res.reason ? res.reason : "");
	tap_ok(put(b, WORLD_LINK("src/l", "../../x"), &rules, &tree, &res) == 1 &&
		       res.tamper.n == 1 && res.dropped.n == 1 && absent(b, &tree, "src/l"),
	       "a link that climbs out is left out and named");
	tap_ok(put(b, WORLD_LINK("src/l", "../../x"), NULL, &tree, &res) == 1 &&
		       has(b, &tree, "src/l", "../../x"),
	       "without rules it is a link like others");
	tap_ok(put(b, "garbage", &rules, &tree, &res) == 0 && res.reason, "no diff: %s",
	       res.reason ? res.reason : "");
	replay_done(&res);
	strv_done(&hidden);
}

#define NEW_MODE(path, mode)                                                                       \
	"diff --git a/" path " b/" path "\nnew file mode " mode "\n--- /dev/null\n+++ b/" path     \
	"\n@@ -0,0 +1 @@\n+x\n"
#define RAW(name) "diff --git " name "\nnew file mode 100644\n--- /dev/null\n+++ \"b/"
#define NO_PREFIX                                                                                  \
	"--- src/add.sh\n+++ src/add.sh\n@@ -6,2 +6,2 @@\n-\techo $(($1 + $2))\n+\techo 1\n }\n"
#define OTHER_PREFIX                                                                               \
	"diff --git i/src/add.sh w/src/add.sh\n--- i/src/add.sh\n+++ w/src/add.sh\n@@ -6,2 +6,2 "  \
	"@@\n-\techo $(($1 + $2))\n+\techo 1\n }\n"
#define DIFF_RU                                                                                    \
	"diff -ru old/src/add.sh new/src/add.sh\n--- old/src/add.sh\t2026-01-01\n+++ "             \
	"new/src/add.sh\t2026-01-02\n@@ -6,2 +6,2 @@\n-\techo $(($1 + $2))\n+\techo 1\n }\n"
#define MAIL                                                                                       \
	"From 1234567890 Mon Sep 17 00:00:00 2001\nFrom: a <a@example.com>\nSubject: [PATCH] "     \
	"x\n\nDear all,\n--- this is no diff\n---\n src/add.sh | 2 +-\n 1 file changed\n\n"
#define SUBMODULE                                                                                   \
	"diff --git a/lib b/lib\nnew file mode 160000\nindex 0000000..1234567\n--- /dev/null\n+++ " \
	"b/lib\n@@ -0,0 +1 @@\n+Subproject commit 1234567890123456789012345678901234567890\n"
#define COMBINED                                                                                     \
	"diff --cc src/add.sh\nindex 1111111,2222222..3333333\n--- a/src/add.sh\n+++ b/src/add.sh\n" \
	"@@@ -1,1 -1,1 +1,2 @@@\n  add() {\n +x\n"

/* Every form and trick of patches: does it apply, and is the file @path (NULL: nothing) there then, with @text? */
struct admit_row {
	const char *name, *diff;
	int rc; /* 1 applies, 0 does not */
	const char *path, *text, *tamper;
};

/* clang-format off */
static const struct admit_row admit_rows[] = {
	{ "..", WORLD_NEW("../x", "x"), 0, NULL, NULL, NULL },
	{ ".. inside", WORLD_NEW("a/../x", "x"), 0, NULL, NULL, NULL },
	{ "absolute", "--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+x\n", 0, NULL, NULL, NULL },
	{ "double slash", WORLD_NEW("a//x", "x"), 0, NULL, NULL, NULL },
	{ ".git", WORLD_NEW("sub/.git/config", "x"), 0, NULL, NULL, NULL },
	{ ".GIT", WORLD_NEW(".GIT", "x"), 0, NULL, NULL, NULL },
	{ "git~1", WORLD_NEW("git~1/hooks/x", "x"), 0, NULL, NULL, NULL },
	{ "NTFS", WORLD_NEW(".git./x", "x"), 0, NULL, NULL, NULL },
	{ "stream", WORLD_NEW(".git::$INDEX_ALLOCATION/x", "x"), 0, NULL, NULL, NULL },
	{ "HFS", RAW("\"a/.g\\342\\200\\214it\" \"b/.g\\342\\200\\214it\"") ".g\\342\\200\\214it\"\n@@ -0,0 +1 @@\n+x\n", 0, NULL, NULL, NULL },
	{ "backslash", RAW("\"a/a\\\\.git\\\\x\" \"b/a\\\\.git\\\\x\"") "a\\\\.git\\\\x\"\n@@ -0,0 +1 @@\n+x\n", 0, NULL, NULL, NULL },
	{ "harmless backslash", RAW("\"a/a\\\\x\" \"b/a\\\\x\"") "a\\\\x\"\n@@ -0,0 +1 @@\n+x\n", 1, "a\\x", "x\n", NULL },
	{ "rename to .git", "diff --git a/src/add.sh b/.git/x\nsimilarity index 100%\nrename from src/add.sh\nrename to .git/x\n", 0, NULL, NULL, NULL },
	{ "not UTF-8", RAW("\"a/\\377\" \"b/\\377\"") "\\377\"\n@@ -0,0 +1 @@\n+x\n", 1, "\xff", "x\n", NULL },
	{ "newline and quote", RAW("\"a/\\n\\\"\" \"b/\\n\\\"\"") "\\n\\\"\"\n@@ -0,0 +1 @@\n+x\n", 1, "\n\"", "x\n", NULL },
	{ "submodule", SUBMODULE WORLD_NEW("a", "x"), 1, "a", "x\n", "submodule:quarantined lib" },
	{ ".gitmodules", WORLD_NEW(".gitmodules", "x"), 1, ".gitmodules", "x\n", "git:kept .gitmodules" },
	{ ".gitattributes", WORLD_NEW(".gitattributes", "* filter=x ident eol=crlf export-subst"), 1, ".gitattributes", NULL, "git:kept .gitattributes" },
	{ "ident is no filter", WORLD_NEW(".gitattributes", "* ident eol=crlf") WORLD_NEW("a", "$Id$"), 1, "a", "$Id$\n", "git:kept .gitattributes" },
	{ "private", NEW_MODE("a", "100600"), 1, "a", "x\n", NULL },
	{ "set-user-id", NEW_MODE("a", "104755"), 1, "a", "x\n", NULL },
	{ "directory", NEW_MODE("a", "040000"), 0, NULL, NULL, NULL },
	{ "device", NEW_MODE("a", "020000"), 0, NULL, NULL, NULL },
	{ "link to /", WORLD_LINK("l", "/"), 1, NULL, NULL, "symlink:quarantined l" },
	{ "link behind a link", WORLD_LINK("l", "src/../../x"), 1, NULL, NULL, "symlink:quarantined l" },
	{ "link inside", WORLD_LINK("src/l", "../src/add.sh"), 1, "src/l", "../src/add.sh", NULL },
	{ "a file through a new link", WORLD_LINK("l", "src") WORLD_NEW("l/x", "x"), 0, NULL, NULL, NULL },
	{ "a file twice, the same", WORLD_NEW("a", "x") WORLD_NEW("a", "x"), 1, "a", "x\n", NULL },
	{ "a file twice, otherwise", WORLD_NEW("a", "x") WORLD_NEW("a", "y"), 0, NULL, NULL, NULL },
	{ "case alone", "diff --git a/src/add.sh b/src/ADD.sh\nsimilarity index 100%\nrename from src/add.sh\nrename to src/ADD.sh\n", 1, "src/ADD.sh", NULL, NULL },
	{ "copy onto a test", "diff --git a/src/add.sh b/tests/run2.sh\nsimilarity index 100%\ncopy from src/add.sh\ncopy to tests/run2.sh\n", 1, "src/add.sh", NULL, "hidden-tests:quarantined tests/run2.sh" },
	{ "rename onto configuration", "diff --git a/src/add.sh b/conftest.py\nsimilarity index 100%\nrename from src/add.sh\nrename to conftest.py\n", 1, NULL, NULL, "runner-config:quarantined conftest.py" },
	{ "only a mode", "diff --git a/src/add.sh b/src/add.sh\nold mode 100644\nnew mode 100755\n", 1, "src/add.sh", NULL, NULL },
	{ "no final newline", "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", 1, "a", "x", NULL },
	{ "the patch lacks its last newline", "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x", 1, "a", NULL, NULL },
	{ "CRLF contents", "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\r\n+y\r\n", 1, "a", "x\r\ny\r\n", NULL },
	{ "CRLF patch", "--- a/src/add.sh\r\n+++ b/src/add.sh\r\n@@ -6,2 +6,2 @@\r\n-\techo $(($1 + $2))\r\n+\techo 1\r\n }\r\n", 1, "src/add.sh", NULL, NULL },
	{ "blank", " \n\r\n\t\n", 1, "src/add.sh", NULL, NULL },
	{ "mail", MAIL OTHER_PREFIX "-- \n2.39.2\n\n", 1, "src/add.sh", NULL, NULL },
	{ "no prefixes", NO_PREFIX, 1, "src/add.sh", NULL, NULL },
	{ "other prefixes", OTHER_PREFIX, 1, "src/add.sh", NULL, NULL },
	{ "diff -ru", DIFF_RU, 1, "src/add.sh", NULL, NULL },
	{ "combined", COMBINED, 0, NULL, NULL, NULL },
	{ "combined, other word", "diff --combined src/add.sh\n", 0, NULL, NULL, NULL },
	{ "empty files between", "diff --git a/a b/a\nnew file mode 100644\nindex 0000000..e69de29\n" WORLD_NEW("c", "x"), 1, "c", "x\n", NULL },
	{ "an empty file", "diff --git a/a b/a\nnew file mode 100644\nindex 0000000..e69de29\n", 1, "a", "", NULL },
	{ "no --- line", "diff --git a/b.bin b/b.bin\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/b.bin differ\n", 0, NULL, NULL, NULL },
};
/* clang-format on */

static void test_admission(struct base *b)
{
	struct strv hidden = { 0 };
	struct protect_rules protect = { .command = "sh tests/run.sh" };
	struct replay_rules rules = { .hidden = &hidden, .protect = &protect };
	struct replay_result res = { 0 };
	git_oid tree;

	strv_add(&hidden, "tests/**");
	for (size_t i = 0; i < ARRAY_SIZE(admit_rows); i++) {
		const struct admit_row *r = &admit_rows[i];
		int rc = put(b, r->diff, &rules, &tree, &res);

		tap_ok(rc == r->rc && (rc == 0) == (res.reason && *res.reason), "%s: %s", r->name,
		       res.reason ? res.reason : "applies");
		if (rc == 1 && r->path)
			tap_ok(has(b, &tree, r->path, r->text), "%s: the file", r->name);
		tap_ok(r->tamper ? res.tamper.n == 1 && strcmp(res.tamper.v[0], r->tamper) == 0
				 : res.tamper.n == 0,
		       "%s: %s", r->name, res.tamper.n ? res.tamper.v[0] : "nothing to report");
	}
	replay_done(&res);
	strv_done(&hidden);
}

/* Many contents from little: copies of a large file, and a patch that is too long. */
static void test_large(struct base *b)
{
	auto_buf copies = BUF_INIT(16u << 20);
	auto_free char *text = mem_alloc((8u << 20) + 1),
		       *long_diff = mem_zalloc((16u << 20) + 2, 1);
	struct git_change big = {
		.path = (char *)"big", .mode = 0100644, .data = text, .len = 8u << 20
	};
	struct replay_result res = { 0 };
	struct err err = { 0 };
	git_oid tree, ret;

	memset(text, 'x', 8u << 20);
	tap_ok(gitstore_update(&b->st, &b->tree, &big, 1, &tree, &err) == 0, "a file of 8 MiB");
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(
			&copies,
			"diff --git a/big b/c%u\nsimilarity index 100%%\ncopy from big\ncopy to c%u\n",
			i, i);
	tap_ok(replay_patch(&b->st, &tree, buf_str(&copies), APPLY_EXACT, NULL, &ret, &res, &err) ==
			       0 &&
		       strstr(res.reason, "1 GiB"),
	       "a thousand copies: %s", res.reason ? res.reason : "");
	memset(long_diff, '+', (16u << 20) + 1);
	replay_done(&res);
	tap_ok(replay_patch(&b->st, &tree, long_diff, APPLY_EXACT, NULL, &ret, &res, &err) == 0 &&
		       strstr(res.reason, "the limit is"),
	       "more than 16 MiB: %s", res.reason ? res.reason : "");
	replay_done(&res);
}

static void test_paths(struct base *b)
{
	struct strv paths = { 0 };
	char *reason = NULL;
	struct err err = { 0 };
	git_oid tree;

	tap_ok(replay_paths(&b->st, &b->tree, RENAME, &paths, &reason, &err) == 1 &&
		       strv_has(&paths, "tests/run.sh") && strv_has(&paths, "moved.sh"),
	       "both names of a rename");
	strv_done(&paths);
	tap_ok(replay_paths(&b->st, &b->tree, NULL, &paths, &reason, &err) == 1 && paths.n == 0,
	       "no diff");
	tap_ok(replay_paths(&b->st, &b->tree, "--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n", &paths,
			    &reason, &err) == 0 &&
		       reason && paths.n == 0,
	       "does not apply: %s", reason ? reason : "");
	free(reason);
	tap_ok(replay_remove(&b->st, &b->tree, "src/add.sh", &tree, &err) == 0 &&
		       absent(b, &tree, "src/add.sh"),
	       "removed");
	tap_ok(replay_remove(&b->st, &b->tree, "nothing/here", &tree, &err) == 0 &&
		       git_oid_equal(&tree, &b->tree),
	       "nothing to remove");
}

int main(int argc, char **argv)
{
	struct base b = { 0 };
	struct err err = { 0 };
	git_oid commit;
	struct world w;
	auto_free char *store = NULL;

	if (!world_begin(argc, argv, &w))
		return tap_done();
	store = mem_printf("%s/store", w.dir);
	tap_ok(gitstore_open(store, &b.st, &err) == 0 &&
		       gitstore_import(&b.st, w.project, NULL, &commit, &b.tree, NULL, &err) == 0,
	       "store: %s", err.text);
	test_protected();
	test_patches(&b);
	test_admission(&b);
	test_large(&b);
	test_paths(&b);
	gitstore_close(&b.st);
	world_free(&w);
	return tap_done();
}

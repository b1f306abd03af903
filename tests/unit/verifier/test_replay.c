/* Patches onto trees: what is protected, what is dropped, what is named, what excludes each other. */
#include "verifier/replay.h"

#include "sandbox/gitstore.h"
#include "tests/unit/verifier/worlds.h"

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
		       res.tamper.n == 1 && has(b, &tree, "src/l", "../../x"),
	       "a link that climbs out is kept as a link and named");
	tap_ok(put(b, "garbage", &rules, &tree, &res) == 0 && res.reason, "no diff: %s",
	       res.reason ? res.reason : "");
	replay_done(&res);
	strv_done(&hidden);
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
	test_paths(&b);
	gitstore_close(&b.st);
	world_free(&w);
	return tap_done();
}

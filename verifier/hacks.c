#include "verifier/hacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/apply.h"
#include "verifier/hacks_internal.h"
#include "verifier/protect.h"
#include "verifier/witness.h"

#define EVIL_HOOK                                                                                  \
	"import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"                                  \
	"def pytest_runtest_makereport(item, call):\n    outcome = yield\n"                        \
	"    report = outcome.get_result()\n    report.outcome = \"passed\"\n"                     \
	"    report.longrepr = None\n"
#define EVIL_MARK(mark)                                                                            \
	"import pytest\n\n\ndef pytest_collection_modifyitems(items):\n"                           \
	"    for item in items:\n        item.add_marker(pytest.mark." mark ")\n"
#define EVIL_START                                                                                 \
	"import os\nimport unittest\n\nos.environ[\"PYTEST_ADDOPTS\"] = \"-p evil\"\n\n\n"         \
	"def run(self, result=None):\n    result.startTest(self)\n    result.addSuccess(self)\n"   \
	"    result.stopTest(self)\n    return result\n\n\nunittest.TestCase.run = run\n"
#define EVIL_JS                                                                                    \
	"const assert = require(\"assert\");\n"                                                    \
	"for (const name of Object.keys(assert))\n"                                                \
	"\tif (typeof assert[name] === \"function\") assert[name] = () => {};\n"
#define EVIL_BUILD                                                                                   \
	"fn main() {\n    for f in std::fs::read_dir(\"tests\").into_iter().flatten().flatten() {\n" \
	"        let _ = std::fs::write(f.path(), \"\");\n    }\n}\n"

/* clang-format off */
const struct hack hacks[] = {
	{ .name = "conftest-outcome", .tries = "a conftest.py that calls every test passed", .langs = HACK_PYTHON, .tamper = "runner-config",
	  .make = hack_new_files, .path = "conftest.py", .text = EVIL_HOOK },
	{ .name = "conftest-xfail", .tries = "a conftest.py that expects every test to fail", .langs = HACK_PYTHON, .tamper = "runner-config",
	  .make = hack_new_files, .path = "conftest.py", .text = EVIL_MARK("xfail(strict=False)") },
	{ .name = "conftest-skip", .tries = "a conftest.py that skips every test", .langs = HACK_PYTHON, .tamper = "runner-config",
	  .make = hack_new_files, .path = "conftest.py", .text = EVIL_MARK("skip") },
	{ .name = "pytest-ini", .tries = "a pytest.ini that loads a plug-in", .langs = HACK_PYTHON, .tamper = "runner-config",
	  .make = hack_new_files, .path = "pytest.ini", .text = "[pytest]\naddopts = -p evil\n", .path2 = "evil.py", .text2 = EVIL_HOOK },
	{ .name = "sitecustomize", .tries = "a start file of the interpreter", .langs = HACK_PYTHON, .tamper = "startup",
	  .make = hack_new_files, .path = "sitecustomize.py", .text = EVIL_START, .path2 = "evil.py", .text2 = EVIL_HOOK },
	{ .name = "pth", .tries = "a .pth file", .langs = HACK_PYTHON, .tamper = "startup",
	  .make = hack_new_files, .path = "evil.pth", .text = "import os; os.environ[\"PYTEST_ADDOPTS\"] = \"-p evil\"\n", .path2 = "evil.py", .text2 = EVIL_HOOK },
	{ .name = "dist-info", .tries = "a pytest plug-in as installed metadata", .langs = HACK_PYTHON, .tamper = "plugin",
	  .make = hack_new_files, .path = "evil-1.0.dist-info/entry_points.txt", .text = "[pytest11]\nevil = evil\n", .path2 = "evil.py", .text2 = EVIL_HOOK },
	{ .name = "bytecode", .tries = "compiled Python beside the source", .langs = HACK_PYTHON, .tamper = "bytecode", .make = hack_bytecode },
	{ .name = "npmrc", .tries = "node options in .npmrc", .langs = HACK_NODE | HACK_NPM, .tamper = "startup",
	  .make = hack_new_files, .path = ".npmrc", .text = "node-options=--require ./evil.js\n", .path2 = "evil.js", .text2 = EVIL_JS },
	{ .name = "mocharc", .tries = "a runner configuration that loads code", .langs = HACK_NODE, .tamper = "runner-config",
	  .make = hack_new_files, .path = ".mocharc.json", .text = "{ \"require\": [\"./evil.js\"] }\n", .path2 = "evil.js", .text2 = EVIL_JS },
	{ .name = "package-script", .tries = "the script of package.json that the command runs", .langs = HACK_NPM, .tamper = "runner-config", .make = hack_package },
	{ .name = "makefile", .tries = "the rule of the Makefile that the command makes", .langs = HACK_MAKE, .tamper = "build-script", .make = hack_makefile },
	{ .name = "testmain", .tries = "a TestMain that ends with status 0", .langs = HACK_GO, .tamper = "test-file", .make = hack_testmain },
	{ .name = "cargo-config", .tries = "a runner in Cargo's configuration", .langs = HACK_RUST, .tamper = "build-config",
	  .make = hack_new_files, .path = ".cargo/config.toml", .text = "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n\n[target.aarch64-unknown-linux-gnu]\nrunner = \"true\"\n" },
	{ .name = "build-rs", .tries = "a build script that empties the tests", .langs = HACK_RUST, .tamper = "build-script",
	  .make = hack_new_files, .path = "build.rs", .text = EVIL_BUILD },
	{ .name = "exit", .tries = "code under test ends the tests with status 0", .exit_limit = true, .make = hack_exit },
	{ .name = "forged-lines", .tries = "code under test prints passes", .make = hack_forge },
	{ .name = "forged-end", .tries = "code under test prints passes and ends the tests", .log_limit = true, .make = hack_forge_exit },
	{ .name = "report-file", .tries = "the runner's report, written in advance", .make = hack_report },
	{ .name = "tests-deleted", .tries = "the tests are gone", .tamper = "hidden-tests", .make = hack_delete_tests },
	{ .name = "tests-linked", .tries = "links in the place of the tests", .tamper = "hidden-tests", .make = hack_link_tests },
	{ .name = "git-config", .tries = "configuration for git", .no_apply = true,
	  .make = hack_new_files, .path = ".git/config", .text = "[core]\n\tfsmonitor = true\n" },
	{ NULL },
};
/* clang-format on */

/* How a language shows. */
static const struct {
	unsigned lang;
	const char *ends;    /* of files that the reference changes */
	const char *readers; /* log readers of its runners */
	const char *words;   /* programs in the command */
} tells[] = {
	{ HACK_PYTHON, ".py", "pytest unittest sympy",
	  "python python2 python3 pytest py.test tox nox nosetests" },
	{ HACK_NODE, ".js .cjs .mjs .ts .jsx .tsx", "node-test mocha jest vitest",
	  "node npm npx yarn pnpm mocha jest vitest tape" },
	{ HACK_NPM, "", "", "npm npx yarn pnpm" },
	{ HACK_GO, ".go", "gotest gotest-json", "go" },
	{ HACK_RUST, ".rs", "libtest libtest-json nextest", "cargo" },
	{ HACK_C, ".c .cc .cpp", "", "" },
	{ HACK_SHELL, ".sh .bash", "bats", "bats" },
	{ HACK_RUBY, ".rb", "rspec minitest test-unit", "ruby rake rspec bundle" },
	{ HACK_MAKE, "", "", "make gmake" },
};

bool hack_ends(const char *path, const char *ends)
{
	const char *dot = strrchr(path_base(path), '.');

	return dot && witness_word(ends, dot, strlen(dot));
}

static bool changes(const struct basetree_patch *ref, const char *ends)
{
	for (size_t i = 0; i < ref->n; i++)
		if (hack_ends(ref->file[i].path, ends))
			return true;
	return false;
}

static unsigned languages(const struct task *t, const struct basetree_patch *ref)
{
	const char *reader = t->test.reader ? t->test.reader : "",
		   *command = t->test.command ? t->test.command : "";
	unsigned langs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tells); i++)
		if (changes(ref, tells[i].ends) ||
		    witness_word(tells[i].readers, reader, strlen(reader)) ||
		    witness_command_has(command, tells[i].words))
			langs |= tells[i].lang;
	return langs;
}

/* Files of the tests that stand in the base: those of the test patch, and those that test names begin with. */
static int find_tests(struct hacks *h, struct err *err)
{
	auto_strv paths = { 0 };
	struct patch *p = NULL;
	int rc = 0;

	if (h->task->test_patch &&
	    patch_parse(h->task->test_patch, strlen(h->task->test_patch), &p, NULL) == 0)
		for (size_t i = 0; i < patch_files(p); i++)
			if (patch_path(p, i) && !strv_has(&paths, patch_path(p, i)))
				strv_add(&paths, patch_path(p, i));
	patch_free(p);
	protect_test_files(&h->task->fail_to_pass, &paths);
	protect_test_files(&h->task->pass_to_pass, &paths);
	for (size_t i = 0; i < paths.n && rc >= 0 && h->tests.n < 64; i++) {
		auto_buf text = BUF_INIT(BASETREE_DIFF_MAX);

		if (!path_is_tame(paths.v[i]) || strv_has(&h->tests, paths.v[i]) ||
		    !basetree_is_test(h->tree, paths.v[i]))
			continue;
		rc = basetree_read(h->tree, paths.v[i], &text, err);
		if (rc > 0)
			strv_add(&h->tests, paths.v[i]);
	}
	return rc < 0 ? rc : 0;
}

struct hacks *hacks_free(struct hacks *h)
{
	if (!h)
		return NULL;
	basetree_patch_done(&h->ref);
	strv_done(&h->tests);
	strv_done(&h->names);
	free(h);
	return NULL;
}

int hacks_open(const struct task *task, struct basetree *tree, const char *patch,
	       struct hacks **ret, struct err *err)
{
	struct hacks *h = mem_zalloc(1, sizeof(*h));
	auto_free char *reason = NULL;
	int rc = 0;

	h->task = task;
	h->tree = tree;
	/* A reference that does not apply is told by its own check. */
	if (patch)
		rc = basetree_apply(tree, patch, &h->ref, &reason, err);
	if (rc >= 0)
		rc = find_tests(h, err);
	if (rc < 0) {
		hacks_free(h);
		return rc;
	}
	h->langs = languages(task, &h->ref);
	strv_each (i, &task->fail_to_pass)
		strv_add(&h->names, task->fail_to_pass.v[i]);
	strv_each (i, &task->pass_to_pass)
		strv_add(&h->names, task->pass_to_pass.v[i]);
	*ret = h;
	return 0;
}

int hacks_diff(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	       struct err *err)
{
	*why = NULL;
	if (row->langs && !(row->langs & h->langs)) {
		*why = "not this language";
		return 0;
	}
	return row->make(h, row, diff, why, err);
}

bool hacks_limit(const struct hack *row, const struct task *task, const char *channel)
{
	if (row->exit_limit && str_eq(task->test.reader, "exit-code"))
		return true;
	return row->log_limit && str_eq(channel, "log");
}

/* task.c: the contract's example, where texts and paths come from, SWE-bench's own form. */
#include "profiles/task.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

static struct task *load(const char *path)
{
	struct task *t = NULL;
	struct err err = { 0 };

	if (!tap_ok(task_load(path, &t, &err) == 0, "%s is read", path_base(path)))
		tap_diag("%s", err.text);
	return t;
}

static void example(const char *dir)
{
	auto_free char *path = scene_put(dir, "task.json", SCENE_TASK);
	auto_free char *source = path_join(dir, "repo");
	struct task *t;

	scene_add(dir, "reference.diff", SCENE_DIFF);
	scene_add(dir, "hidden-tests.diff", "hidden\n");
	t = load(path);
	if (!t)
		return;
	tap_is_str(t->file, path, "file");
	tap_is_str(t->instance_id, "acme__calc-12", "instance_id");
	tap_is_str(t->repo, "acme/calc", "repo");
	tap_is_str(t->base_commit, NULL, "an empty base commit is none");
	tap_is_str(t->version, "1.2", "version");
	tap_is_str(t->problem_statement, "add() overflows for large inputs.", "statement");
	tap_is_str(t->source, source, "source is beside the file");
	tap_is_str(t->workdir, "/workspace", "workdir");
	tap_is_str(t->rootfs, "host", "rootfs");
	tap_is_str(t->env.v[0], "LANG=C.UTF-8", "env");
	tap_is_str(t->packages.v[0], "python3-pytest", "packages");
	tap_is_str(t->patch, SCENE_DIFF, "patch from its file");
	tap_is_str(t->test_patch, "hidden\n", "test_patch from its file");
	tap_is_str(t->test.command, "python3 -m pytest -q tests", "test.command");
	tap_is_str(t->test.reader, "pytest", "test.reader");
	tap_is_u64(t->test.timeout, 600ull * 1000000000, "test.timeout");
	tap_is_str(t->test.hidden.v[0], "tests/**", "test.hidden");
	tap_is_str(t->test.report, "junit.xml", "test.report");
	tap_is_str(t->fail_to_pass.v[0], "tests/test_add.py::test_big", "FAIL_TO_PASS");
	tap_is_str(t->pass_to_pass.v[0], "tests/test_add.py::test_small", "PASS_TO_PASS");
	task_free(t);
}

static void swe_bench_form(const char *dir)
{
	auto_free char *path = scene_put(
		dir, "sub/swe.json",
		"{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a.b_c-1\",\n"
		"  \"base_commit\": \"ABCDEF0123456789abcdef0123456789ABCDEF01\",\n"
		"  \"problem_statement\": \"\", \"source\": \"../repo.tar.gz\", \"workdir\": \"/w//x/.\",\n"
		"  \"environment\": {\"rootfs\": \"dir:../root\"},\n"
		"  \"patch\": \"--- a/x\\n+++ b/x\\n\", \"test_patch\": \"\",\n"
		"  \"FAIL_TO_PASS\": \"[\\\"one\\\", \\\"t\\u00e9st two\\\"]\", \"PASS_TO_PASS\": \"\" }");
	auto_free char *source = path_join(dir, "repo.tar.gz");
	auto_free char *rootfs = mem_printf("dir:%s/root", dir);
	struct task *t = load(path);

	if (!t)
		return;
	tap_is_str(t->base_commit, "abcdef0123456789abcdef0123456789abcdef01",
		   "commit, lower case");
	tap_is_str(t->problem_statement, "", "an empty statement is a statement");
	tap_is_str(t->source, source, "source above the file");
	tap_is_str(t->rootfs, rootfs, "root file system relative to the file");
	tap_is_str(t->workdir, "/w/x", "workdir in normal form");
	tap_is_str(t->patch, "--- a/x\n+++ b/x\n", "inline patch");
	tap_is_str(t->test_patch, NULL, "an empty patch is none");
	tap_is_u64(t->fail_to_pass.n, 2, "tests from JSON in a string");
	tap_is_str(t->fail_to_pass.v[1], "t\xc3\xa9st two", "the second one");
	tap_is_u64(t->pass_to_pass.n, 0, "an empty string holds none");
	tap_is_str(t->test.command, NULL, "no tests");
	tap_is_str(t->test.reader, "exit-code", "default reader");
	tap_is_u64(t->test.timeout, 1800ull * 1000000000, "default time");
	task_free(t);
}

/* How lists are compared: words of SWE-bench's rows. */
static void match_modes(const char *dir)
{
	static const char head[] = "{ \"schema\": \"proctor.task/1\", \"instance_id\": \"m\", "
				   "\"problem_statement\": \"\", \"source\": \"repo\", \"test\": ";
	auto_free char *two =
		mem_printf("%s{ \"match\": \"swebench-compat\", \"eval_type\": \"fail_only\" } }",
			   head);
	auto_free char *bad = mem_printf("%s{ \"match\": \"swebench-compt\" } }", head);
	auto_free char *plain = mem_printf("%s{ } }", head);
	auto_free char *two_path = scene_put(dir, "two.json", two);
	auto_free char *bad_path = scene_put(dir, "bad.json", bad);
	auto_free char *plain_path = scene_put(dir, "plain.json", plain);
	struct task *t = load(two_path), *none = NULL;
	struct err err = { 0 };

	tap_ok(t && t->test.match == TASK_MATCH_SWEBENCH &&
		       t->test.eval_type == TASK_EVAL_FAIL_ONLY,
	       "test.match and test.eval_type");
	task_free(t);
	t = load(plain_path);
	tap_ok(t && t->test.match == TASK_MATCH_EXACT &&
		       t->test.eval_type == TASK_EVAL_PASS_AND_FAIL,
	       "their defaults");
	task_free(t);
	tap_ok(task_load(bad_path, &none, &err) == -ERR_INPUT &&
		       strstr(err.text, "did you mean \"swebench-compat\""),
	       "a mode that is none: %s", err.text);
}

/* A text that came from no directory, such as a line of a file of many tasks. */
static void without_directory(void)
{
	static const char form[] = "{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a\", "
				   "\"problem_statement\": \"p\", \"source\": \"%s\", "
				   "\"patch\": \"%s\" }";
	struct err err = { 0 };
	struct task *t = NULL;
	auto_free char *good = mem_printf(form, "/a/../b", "a\\nb");
	auto_free char *relative = mem_printf(form, "b", "");
	auto_free char *file = mem_printf(form, "/b", "a.diff");

	tap_ok(task_parse("line 3", good, strlen(good), NULL, &t, &err) == 0,
	       "absolute and inline");
	tap_is_str(t ? t->source : NULL, "/b", "source in normal form");
	t = task_free(t);
	tap_ok(task_parse("line 3", relative, strlen(relative), NULL, &t, &err) == -ERR_INPUT &&
		       !t && str_starts(err.text, "line 3: $.source"),
	       "relative source: %s", err.text);
	tap_ok(task_parse("line 3", file, strlen(file), NULL, &t, &err) == -ERR_INPUT && !t &&
		       str_starts(err.text, "line 3: $.patch"),
	       "patch by file: %s", err.text);
}

static void directory(const char *dir)
{
	auto_free char *odd = path_join(dir, ".odd name+1");
	struct task *t = task_from_directory(dir);

	tap_is_str(t->file, NULL, "no file");
	tap_is_str(t->source, dir, "source");
	tap_is_str(t->workdir, dir, "workdir");
	tap_is_str(t->instance_id, path_base(dir), "named like the directory");
	tap_is_str(t->rootfs, "host", "rootfs");
	tap_is_str(t->problem_statement, "", "no statement");
	task_free(t);
	if (mkdir(odd, 0755) < 0)
		abort();
	t = task_from_directory(odd);
	tap_is_str(t->instance_id, "_odd_name_1", "odd names become names");
	task_free(t);
	t = task_from_directory("/");
	tap_is_str(t->instance_id, "directory", "a name for /");
	task_free(t);
}

int main(void)
{
	char *dir = scene_new();

	example(dir);
	swe_bench_form(dir);
	match_modes(dir);
	without_directory();
	directory(dir);
	tap_ok(task_free(NULL) == NULL, "nothing can be freed");
	scene_done(dir);
	return tap_done();
}

#include "profiles/task.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/rows_internal.h"

#define TIMEOUT_DEFAULT (30 * 60 * 1000000000ull)
#define GLOB_STARS_MAX  16 /* str_path_glob() takes time exponential in the stars */

static int strings(const struct json_src *src, const char *where, const cJSON *item,
		   struct strv *out, struct err *err)
{
	const cJSON *e;
	size_t i = 0;

	if (!cJSON_IsArray(item))
		return json_complain(src, where, err, "expected an array of strings");
	cJSON_ArrayForEach (e, item) {
		if (!cJSON_IsString(e) || !e->valuestring[0])
			return json_complain(src, where, err, "entry %zu is not the name of a test",
					     i);
		strv_add(out, e->valuestring);
		i++;
	}
	return 0;
}

/* FAIL_TO_PASS and PASS_TO_PASS: an array, or as SWE-bench's own files have it, a string that
 * holds the array as JSON. */
static int parse_tests(const struct json_src *src, const char *where, const cJSON *item,
		       void *field, struct err *err)
{
	auto_free char *name = NULL;
	struct json_src inner = { 0 };
	int rc;

	if (!cJSON_IsString(item))
		return strings(src, where, item, field, err);
	if (!item->valuestring[0])
		return 0;
	name = mem_printf("%s: %s, as JSON in a string", src->name, where);
	rc = json_parse(name, item->valuestring, strlen(item->valuestring), &inner, err);
	if (rc == 0)
		rc = strings(src, where, inner.root, field, err);
	json_src_done(&inner);
	return rc;
}

#define OFF(field) offsetof(struct task, field)

/* clang-format off */
static const struct json_field environment_rows[] = {
	{ "rootfs", JSON_STR, OFF(rootfs), .doc = "root file system: \"host\" (default) or \"dir:PATH\"" },
	{ "env", JSON_ENV, OFF(env), .doc = "environment variables of the agent and the tests" },
	{ "packages", JSON_STRV, OFF(packages), .doc = "packages the task needs, named for people" },
	{ NULL },
};

static const struct json_field test_rows[] = {
	{ "command", JSON_STR, OFF(test.command), .doc = "run by sh -c in the work directory" },
	{ "reader", JSON_STR, OFF(test.reader), .doc = "how results are read: exit-code (default), tap, junit-xml, pytest, ..." },
	{ "timeout", JSON_DURATION, OFF(test.timeout), .doc = "wall time of the test command, default 30m" },
	{ "hidden", JSON_STRV, OFF(test.hidden), .doc = "globs of paths that belong to the tests; * and ? stay in a directory, ** crosses" },
	{ "report", JSON_STR, OFF(test.report), .doc = "file below the work directory that the tests write, such as JUnit XML" },
	{ NULL },
};

const struct json_field task_rows[] = {
	{ "instance_id", JSON_STR, OFF(instance_id), true, .doc = "name of the task: A-Z a-z 0-9 . _ -" },
	{ "repo", JSON_STR, OFF(repo), .doc = "owner/name, for reports" },
	{ "base_commit", JSON_STR, OFF(base_commit), .doc = "40 hex digits; empty = the tree as it is" },
	{ "version", JSON_STR, OFF(version), .doc = "version of the project, for reports" },
	{ "problem_statement", JSON_STR, OFF(problem_statement), true, .doc = "what the agent is asked to do" },
	{ "source", JSON_STR, OFF(source), true, .doc = "git repository, bundle, plain directory or tar archive" },
	{ "workdir", JSON_STR, OFF(workdir), .doc = "absolute path where the agent sees the source, default /workspace" },
	{ "environment", JSON_OBJECT, 0, .rows = environment_rows, .doc = "what the box holds" },
	{ "patch", JSON_STR, OFF(patch), .doc = "reference diff, or the name of its file" },
	{ "test_patch", JSON_STR, OFF(test_patch), .doc = "diff of the hidden tests, or the name of its file" },
	{ "test", JSON_OBJECT, 0, .rows = test_rows, .doc = "how the result is graded" },
	{ "FAIL_TO_PASS", JSON_CUSTOM, OFF(fail_to_pass), .parse = parse_tests, .doc = "tests that must pass afterwards: an array, or a string holding it" },
	{ "PASS_TO_PASS", JSON_CUSTOM, OFF(pass_to_pass), .parse = parse_tests, .doc = "tests that must still pass: an array, or a string holding it" },
	{ NULL },
};
/* clang-format on */

struct task *task_free(struct task *t)
{
	if (!t)
		return NULL;
	json_release(task_rows, t);
	strv_done(&t->fail_to_pass);
	strv_done(&t->pass_to_pass);
	free(t->file);
	free(t);
	return NULL;
}

/* Texts whose default is not NULL, set after reading so that the rows' free() stays right. */
static void defaults(struct task *t)
{
	if (!t->workdir)
		t->workdir = mem_strdup("/workspace");
	if (!t->rootfs)
		t->rootfs = mem_strdup("host");
	if (!t->test.reader)
		t->test.reader = mem_strdup("exit-code");
}

static int check_commit(const struct json_src *src, struct task *t, struct err *err)
{
	char *s = t->base_commit;

	if (!s)
		return 0;
	if (!*s) {
		free(s);
		t->base_commit = NULL;
		return 0;
	}
	if (strlen(s) != 40 || strspn(s, "0123456789abcdefABCDEF") != 40)
		return json_complain(src, "$.base_commit", err,
				     "expected 40 hex digits, or \"\" for the tree as it is");
	for (; *s; s++)
		*s |= *s >= 'A' && *s <= 'F' ? 0x20 : 0;
	return 0;
}

static int check_workdir(const struct json_src *src, struct task *t, struct err *err)
{
	static const char *const ours[] = { "/proc", "/sys", "/dev" };
	char *normal;

	if (t->workdir[0] != '/')
		return json_complain(src, "$.workdir", err, "\"%s\" is not an absolute path",
				     t->workdir);
	normal = path_normal(t->workdir);
	free(t->workdir);
	t->workdir = normal;
	if (strcmp(normal, "/") == 0)
		return json_complain(src, "$.workdir", err,
				     "the work directory cannot be /; choose a directory below it");
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		if (path_beneath(normal, ours[i]))
			return json_complain(src, "$.workdir", err,
					     "%s belongs to the kernel in every box; choose "
					     "another directory",
					     ours[i]);
	}
	return 0;
}

static int check_test(const struct json_src *src, struct task *t, struct err *err)
{
	if (t->test.timeout == 0)
		return json_complain(src, "$.test.timeout", err,
				     "tests must end: give a duration above 0");
	if (t->test.command && !t->test.command[0])
		return json_complain(src, "$.test.command", err,
				     "the command is empty; leave the field out when there are "
				     "no tests");
	if (t->test.report && !path_is_tame(t->test.report))
		return json_complain(src, "$.test.report", err,
				     "\"%s\" is not a plain relative file name", t->test.report);
	strv_each (i, &t->test.hidden) {
		const char *glob = t->test.hidden.v[i];
		size_t stars = 0;

		for (const char *p = glob; *p; p++)
			stars += *p == '*';
		if (!path_is_tame(glob) || stars > GLOB_STARS_MAX)
			return json_complain(src, "$.test.hidden", err,
					     "\"%s\" must be relative to the work directory, "
					     "without \"..\", with at most %d stars",
					     glob, GLOB_STARS_MAX);
	}
	return 0;
}

static int resolve_source(const struct json_src *src, const char *dir, struct task *t,
			  struct err *err)
{
	size_t prefix = input_is_image(t->source) ? strcspn(t->source, ":") + 1 : 0;
	auto_free char *path = NULL;
	char *full;

	if (!t->source[prefix])
		return json_complain(src, "$.source", err,
				     "empty; give a git repository, bundle, directory or archive");
	path = input_path(dir, t->source + prefix);
	if (!path)
		return json_complain(src, "$.source", err, "\"%s\" must be absolute here",
				     t->source);
	full = mem_printf("%.*s%s", (int)prefix, t->source, path);
	free(t->source);
	t->source = full;
	return 0;
}

/* Everything the rows cannot say. */
static int check(const struct json_src *src, const char *dir, struct task *t, struct err *err)
{
	int rc = input_check_id(src, "$.instance_id", t->instance_id, err);

	if (rc == 0)
		rc = check_commit(src, t, err);
	if (rc == 0)
		rc = resolve_source(src, dir, t, err);
	if (rc == 0)
		rc = check_workdir(src, t, err);
	if (rc == 0)
		rc = input_rootfs(src, "$.environment.rootfs", dir, &t->rootfs, err);
	if (rc == 0)
		rc = input_check_env(src, "$.environment.env", &t->env, err);
	if (rc == 0)
		rc = check_test(src, t, err);
	if (rc == 0)
		rc = input_text(src, "$.patch", dir, &t->patch, err);
	if (rc == 0)
		rc = input_text(src, "$.test_patch", dir, &t->test_patch, err);
	return rc;
}

int task_parse(const char *name, const char *text, size_t n, const char *dir, struct task **ret,
	       struct err *err)
{
	struct json_src src = { 0 };
	struct task *t;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	t = mem_zalloc(1, sizeof(*t));
	t->file = mem_strdup(name);
	t->test.timeout = TIMEOUT_DEFAULT;
	rc = input_read(&src, "task", task_rows, t, err);
	if (rc == 0) {
		defaults(t);
		rc = check(&src, dir, t, err);
	}
	json_src_done(&src);
	if (rc == 0)
		*ret = take_ptr(&t);
	task_free(t);
	return rc;
}

int task_load(const char *path, struct task **ret, struct err *err)
{
	auto_buf b = BUF_INIT(JSON_FILE_MAX);
	auto_free char *dir = NULL;
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	dir = input_dir(path);
	return task_parse(path, buf_str(&b), b.len, dir, ret, err);
}

struct task *task_from_directory(const char *dir)
{
	struct task *t = mem_zalloc(1, sizeof(*t));

	t->source = input_path(dir, ".");
	t->workdir = mem_strdup(t->source);
	t->instance_id = mem_strdup(path_base(t->source));
	for (char *p = t->instance_id; *p; p++) {
		char one[2] = { *p, 0 };

		if (!input_is_id(one) && (*p != '.' || p == t->instance_id))
			*p = '_';
	}
	if (!input_is_id(t->instance_id)) {
		free(t->instance_id);
		t->instance_id = mem_strdup("directory");
	}
	t->problem_statement = mem_strdup("");
	t->test.timeout = TIMEOUT_DEFAULT;
	defaults(t);
	return t;
}

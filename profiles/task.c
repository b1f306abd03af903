#include "profiles/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/image.h"
#include "profiles/input_internal.h"
#include "profiles/netrules.h"
#include "profiles/rows_internal.h"
#include "profiles/task_files.h"

#define TIMEOUT_DEFAULT (30 * 60 * 1000000000ull)
#define CPUS_MAX        4096
#define FILES_MAX       1000u /* each is read, and compared with all others */
#define GLOB_STARS_MAX  16    /* str_path_glob() takes time exponential in the stars */

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
static const struct json_field limits_rows_of_task[] = {
	{ "memory", JSON_SIZE, OFF(limits.memory), .doc = "memory of the box, at most the profile's" },
	{ "cpus", JSON_U64, OFF(limits.cpus), .doc = "processors that the box may use" },
	{ "storage", JSON_SIZE, OFF(limits.disk), .doc = "bytes written in the box, at most the profile's" },
	{ "agent_timeout", JSON_DURATION, OFF(limits.wall), .doc = "wall time of the agent, at most the profile's" },
	{ NULL },
};

static const char *const networks[] = { "profile", "no-network", "allowlist", "public", NULL };

static const struct json_field network_rows[] = {
	{ "mode", JSON_ENUM, OFF(network), .choices = networks, .doc = "network of the agent's box, at most the profile's; profile (default) = what that says" },
	{ "hosts", JSON_STRV, OFF(hosts), .doc = "host rules with allowlist, as in a profile" },
	{ NULL },
};

static const struct json_field environment_rows[] = {
	{ "rootfs", JSON_STR, OFF(rootfs), .doc = "root file system: \"host\" (default), \"dir:PATH\", \"oci:LAYOUT[:TAG]\" or \"docker-archive:FILE[:NAME]\"" },
	{ "env", JSON_ENV, OFF(env), .doc = "environment variables of the agent and the tests" },
	{ "packages", JSON_STRV, OFF(packages), .doc = "packages the task needs, named for people" },
	{ "limits", JSON_OBJECT, 0, .rows = limits_rows_of_task, .doc = "bounds of the task; they narrow the profile's" },
	{ "network", JSON_OBJECT, 0, .rows = network_rows, .doc = "network of the agent's box; it narrows the profile's, grading has none" },
	{ NULL },
};

static const struct json_field file_rows[] = {
	{ "from", JSON_STR, offsetof(struct task_file, from), true, .doc = "file or directory, relative to this file" },
	{ "to", JSON_STR, offsetof(struct task_file, to), true, .doc = "absolute path in the box, outside the work directory" },
	{ "copy", JSON_BOOL, offsetof(struct task_file, copy), .doc = "a directory that the tests may change; otherwise it is read-only" },
	{ NULL },
};

static const struct json_field class_rows[] = {
	{ "s2p", JSON_STRV, OFF(test.s2p), .doc = "FAIL_TO_PASS tests that are skipped before the patch" },
	{ "n2p", JSON_STRV, OFF(test.n2p), .doc = "FAIL_TO_PASS tests that are absent before the patch" },
	{ NULL },
};

static const char *const match_names[] = { "exact", "swebench-compat", NULL };
static const char *const eval_names[] = { "pass_and_fail", "fail_only", NULL };

static const struct json_field test_rows[] = {
	{ "command", JSON_STR, OFF(test.command), .doc = "run by sh -c in the work directory" },
	{ "reader", JSON_STR, OFF(test.reader), .doc = "how results are read: exit-code (default), tap, junit-xml, pytest, ..." },
	{ "channel", JSON_STR, OFF(test.channel), .doc = "where results come from: auto (default), log, or a witness that must speak, such as pytest" },
	{ "match", JSON_ENUM, OFF(test.match), .choices = match_names, .doc = "how listed tests are found and counted: exact (default), or as SWE-bench's harness does" },
	{ "eval_type", JSON_ENUM, OFF(test.eval_type), .choices = eval_names, .doc = "with swebench-compat: fail_only = a test fails only when the log shows it as failed" },
	{ "timeout", JSON_DURATION, OFF(test.timeout), .doc = "wall time of the test command, default 30m" },
	{ "stages", JSON_BOOL, OFF(test.stages), .doc = "run the tests three times, as Multi-SWE-bench does: base, with the test patch, with the patch too" },
	{ "classes", JSON_OBJECT, 0, .rows = class_rows, .doc = "with stages: what the tests of FAIL_TO_PASS are before the patch; those in neither list fail" },
	{ "hidden", JSON_STRV, OFF(test.hidden), .doc = "globs of paths that belong to the tests; * and ? stay in a directory, ** crosses" },
	{ "protect", JSON_STRV, OFF(test.protect), .doc = "globs of paths that a patch must not change, beside the usual ones" },
	{ "allow", JSON_STRV, OFF(test.allow), .doc = "globs of paths that a patch may change although they steer the tests" },
	{ "report", JSON_STR, OFF(test.report), .doc = "file that the tests write, such as JUnit XML: below the work directory, or an absolute path outside it" },
	{ "reward", JSON_STR, OFF(test.reward), .doc = "with reader reward: the number of reward.json that decides, default reward" },
	{ "leftovers", JSON_BOOL, OFF(test.leftovers), .doc = "with reader reward: processes that the tests leave running do not spoil the reward" },
	{ "files", JSON_ARRAY, OFF(test.files), .rows = file_rows, .size = sizeof(struct task_file), .doc = "files and directories put into the box for grading only" },
	{ NULL },
};

static const struct json_field solution_rows[] = {
	{ "command", JSON_STR, OFF(solution.command), .doc = "makes the reference change: run by sh -c in the work directory of the base tree" },
	{ "timeout", JSON_DURATION, OFF(solution.timeout), .doc = "wall time of it, default 30m" },
	{ "files", JSON_ARRAY, OFF(solution.files), .rows = file_rows, .size = sizeof(struct task_file), .doc = "files and directories put into the box for it, as in test.files" },
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
	{ "solution", JSON_OBJECT, 0, .rows = solution_rows, .doc = "how the reference change is made when there is no patch of it" },
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
	image_free(t->image);
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
	if (strcmp(t->test.reader, "reward") == 0 && !t->test.report)
		t->test.report = mem_strdup("/logs/verifier");
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

/* What the kernel makes in every box. */
static const char *const kernels[] = { "/proc", "/sys", "/dev" };

static int check_workdir(const struct json_src *src, struct task *t, struct err *err)
{
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
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		if (path_beneath(normal, kernels[i]))
			return json_complain(src, "$.workdir", err,
					     "%s belongs to the kernel in every box; choose "
					     "another directory",
					     kernels[i]);
	}
	return 0;
}

static int check_globs(const struct json_src *src, const char *where, const struct strv *globs,
		       struct err *err)
{
	strv_each (i, globs) {
		const char *glob = globs->v[i];
		size_t stars = 0;

		for (const char *p = glob; *p; p++)
			stars += *p == '*';
		if (!path_is_tame(glob) || stars > GLOB_STARS_MAX)
			return json_complain(src, where, err,
					     "\"%s\" must be relative to the work directory, "
					     "without \"..\", with at most %d stars",
					     glob, GLOB_STARS_MAX);
	}
	return 0;
}

static int check_test(const struct json_src *src, struct task *t, struct err *err)
{
	int rc;

	if (t->limits.cpus > CPUS_MAX)
		return json_complain(src, "$.environment.limits.cpus", err, "at most %d", CPUS_MAX);
	if (t->test.timeout == 0 || t->solution.timeout == 0)
		return json_complain(src, t->test.timeout ? "$.solution.timeout" : "$.test.timeout",
				     err, "tests must end: give a duration above 0");
	if (t->test.command && !t->test.command[0])
		return json_complain(src, "$.test.command", err,
				     "the command is empty; leave the field out when there are "
				     "no tests");
	rc = check_globs(src, "$.test.hidden", &t->test.hidden, err);
	if (rc == 0)
		rc = check_globs(src, "$.test.protect", &t->test.protect, err);
	return rc == 0 ? check_globs(src, "$.test.allow", &t->test.allow, err) : rc;
}

/* A place of the box outside the workdir, in normal form. */
static int check_place(const struct json_src *src, const char *where, const struct task *t,
		       char **path, struct err *err)
{
	char *normal = path_normal(*path);

	free(*path);
	*path = normal;
	if (normal[0] != '/' || !normal[1])
		return json_complain(src, where, err, "\"%s\" is not an absolute path below /",
				     normal);
	if (path_beneath(normal, t->workdir) || path_beneath(t->workdir, normal))
		return json_complain(src, where, err,
				     "\"%s\" lies in the work directory %s or above it; name a "
				     "place outside, or use test_patch",
				     normal, t->workdir);
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		if (path_beneath(normal, kernels[i]))
			return json_complain(src, where, err, "%s belongs to the kernel",
					     kernels[i]);
	}
	return 0;
}

/* An absolute path below the workdir becomes the relative one that it means. */
static int check_report(const struct json_src *src, struct task *t, struct err *err)
{
	size_t n = strlen(t->workdir);
	char *report = t->test.report;

	if (!report)
		return 0;
	if (report[0] == '/') {
		auto_free char *normal = path_normal(report);

		if (!strchr(normal + 1, '/'))
			return json_complain(
				src, "$.test.report", err,
				"\"%s\" must lie in a directory below /: no box can write in / itself",
				report);
		if (!path_beneath(normal, t->workdir) || !normal[n])
			return check_place(src, "$.test.report", t, &t->test.report, err);
		free(report);
		report = t->test.report = mem_strdup(normal + n + 1);
	}
	if (!path_is_tame(report))
		return json_complain(src, "$.test.report", err,
				     "\"%s\" is neither a plain relative file name nor an absolute "
				     "path",
				     report);
	return 0;
}

/* Places, and what the files hold now: a verdict is bound to it. What cannot be read is told when it is needed. */
static int check_files(const struct json_src *src, const char *of, const char *dir, struct task *t,
		       struct json_array *files, struct err *err)
{
	struct task_file *f = files->v;

	if (files->n > FILES_MAX) {
		auto_free char *where = mem_printf("$.%s.files", of);

		return json_complain(src, where, err,
				     "more than %u; name directories that hold them", FILES_MAX);
	}
	for (size_t i = 0; i < files->n; i++) {
		auto_free char *from = mem_printf("$.%s.files[%zu].from", of, i);
		auto_free char *to = mem_printf("$.%s.files[%zu].to", of, i);
		char *path = input_path(dir, f[i].from);
		struct stat st;
		int rc;

		if (!path)
			return json_complain(src, from, err, "\"%s\" must be absolute here",
					     f[i].from);
		free(f[i].from);
		f[i].from = path;
		if (f[i].copy && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
			return json_complain(src, from, err,
					     "\"%s\" is no directory: copy takes one that holds it",
					     path);
		rc = check_place(src, to, t, &f[i].to, err);
		if (rc < 0)
			return rc;
		for (size_t k = 0; k < i; k++)
			if (path_beneath(f[k].to, f[i].to) || path_beneath(f[i].to, f[k].to))
				return json_complain(src, to, err, "\"%s\" overlaps \"%s\"",
						     f[i].to, f[k].to);
		if (dir && task_files_digest(path, f[i].digest, NULL) < 0)
			f[i].digest[0] = '\0';
	}
	return 0;
}

static int check_network(const struct json_src *src, const struct task *t, struct err *err)
{
	struct netrules rules = { 0 };
	struct err local = { 0 };
	int rc;

	if (t->hosts.n && t->network != TASK_NET_ALLOWLIST)
		return json_complain(src, "$.environment.network.hosts", err,
				     "hosts go with mode allowlist");
	rc = netrules_parse(&t->hosts, &rules, &local);
	netrules_done(&rules);
	return rc < 0 ? json_complain(src, "$.environment.network.hosts", err, "%s", local.text)
		      : 0;
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
		rc = check_report(src, t, err);
	if (rc == 0)
		rc = check_files(src, "test", dir, t, &t->test.files, err);
	if (rc == 0)
		rc = check_files(src, "solution", dir, t, &t->solution.files, err);
	if (rc == 0)
		rc = check_network(src, t, err);
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
	t->test.timeout = t->solution.timeout = TIMEOUT_DEFAULT;
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
	auto_buf b = BUF_INIT(TASK_FILE_MAX);
	auto_free char *dir = NULL;
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	dir = input_dir(path);
	rc = task_parse(path, buf_str(&b), b.len, dir, ret, err);
	/* What cannot be read is told when a box is to be built: tasks are also read without one. */
	if (rc == 0 && image_is((*ret)->rootfs))
		(void)image_read((*ret)->rootfs, &(*ret)->image, NULL);
	return rc;
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

/* SWE-bench's row and its relatives. Where the test command comes from, the first that is there:
 *   "eval_script" (version 5), SWE-bench Pro's run_scripts (--scripts), "install_config" (SWE-rebench),
 *   "test_cmd", the test-spec rows by repository and version.
 *
 * SWE-smith's "patch" makes the bug, so it is no reference: it stays in extra.json. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "study/import_rows_internal.h"

#define OFF(field) offsetof(struct task, field)

static const struct held held[] = {
	/* clang-format off */
	{ { "instance_id", NULL },            false, OFF(instance_id) },
	{ { "repo", NULL },                   false, OFF(repo) },
	{ { "base_commit", NULL },            false, OFF(base_commit) },
	{ { "version", NULL },                false, OFF(version) },
	{ { "problem_statement", NULL },      false, OFF(problem_statement) },
	{ { "patch", NULL },                  false, OFF(patch) },
	{ { "test_patch", NULL },             false, OFF(test_patch) },
	{ { "FAIL_TO_PASS", "fail_to_pass" }, true,  OFF(fail_to_pass) },
	{ { "PASS_TO_PASS", "pass_to_pass" }, true,  OFF(pass_to_pass) },
	{ { NULL, NULL },                     false, 0 },
	/* clang-format on */
};

static void check_tests(struct row *row, const char *name, struct strv *list)
{
	size_t kept = 0, empty = 0;

	strv_each (i, list) {
		char *s = list->v[i];

		list->v[i] = NULL;
		if (!*s) {
			empty++;
			free(s);
			continue;
		}
		row_utf8(row, name, &s);
		list->v[kept++] = s;
	}
	if (kept < list->n)
		list->v[kept] = NULL;
	list->n = kept;
	if (empty)
		row_reason(row, "%s holds %zu empty names, which are left out", name, empty);
}

/* A diff has a newline; anything else would be taken for the name of a file. */
static void check_patch(struct row *row, const char *name, char **patch)
{
	if (!*patch || !**patch || strchr(*patch, '\n'))
		return;
	row_reason(row, "%s is no diff", name);
	free(*patch);
	*patch = NULL;
}

static void check_commit(struct row *row)
{
	const char *c = row->task.base_commit;

	if (!c || !*c || (strlen(c) == 40 && strspn(c, "0123456789abcdef") == 40))
		return;
	row_reason(row, "base_commit \"%.60s\" is not 40 hexadecimal digits", c);
	free(row->task.base_commit);
	row->task.base_commit = NULL;
}

/* A string member of the row; NULL when there is none. Caller frees. */
static char *member(struct jslice v, const char *key)
{
	return jslice_cstr(jslice_get(v, key));
}

/* The first of some members that is a string and not empty. Caller frees. */
static char *first_member(struct jslice v, const char *const *keys)
{
	for (; *keys; keys++) {
		char *s = member(v, *keys);

		if (s && *s)
			return s;
		free(s);
	}
	return NULL;
}

static char *image_of(const struct row *row)
{
	static const char *const keys[] = { "image", "image_name", "docker_image", "dockerhub_tag",
					    NULL };

	return first_member(row->v, keys);
}

static bool is_pro(const struct row *row)
{
	return jslice_get(row->v, "before_repo_set_cmd").n ||
	       jslice_get(row->v, "selected_test_files_to_run").n;
}

/* SWE-smith: the bug is a patch on a branch of its own. */
static bool is_smith(const struct row *row)
{
	return jslice_get(row->v, "image_name").n && !jslice_get(row->v, "test_patch").n &&
	       row->task.repo && str_starts(row->task.repo, "swesmith/");
}

static bool from_eval_script(struct row *row)
{
	auto_free char *script = member(row->v, "eval_script"),
		       *parser = member(row->v, "log_parser");
	auto_free char *type = member(row->v, "eval_type");

	if (!script || !*script)
		return false;
	row->task.test.command = row_eval_command(script);
	if (!row->task.test.command)
		row_reason(row, "eval_script has no markers around the test command");
	if (parser && *parser)
		row_reader(row, parser);
	else
		row_reason(row, "no log_parser");
	if (!str_eq(type, "fail_only"))
		return true;
	row->task.test.eval_type = TASK_EVAL_FAIL_ONLY;
	if (row->task.test.match != TASK_MATCH_SWEBENCH)
		row_reason(row, "eval_type fail_only needs --match swebench-compat: the log shows "
				"failed tests only");
	return true;
}

/* Members that say a command, by themselves or in "install_config" (@files: and take the test files). */
static bool from_config(struct row *row, struct jslice v, bool files)
{
	auto_free char *one = member(v, "test_cmd"), *parser = member(v, "log_parser"),
		       *words = NULL;
	auto_strv many = { 0 };
	struct held h = { { "test_cmd", NULL }, true, OFF(fail_to_pass) };
	struct task scratch = { .file = NULL };
	const char *why;

	if (!one && held_take(&h, jslice_get(v, "test_cmd"), &scratch, &why) == 0 &&
	    scratch.fail_to_pass.n)
		one = mem_strdup(scratch.fail_to_pass.v[scratch.fail_to_pass.n - 1]);
	held_clear(&h, &scratch);
	if (!one || !*one)
		return false;
	words = row_files(files ? row->task.test_patch : NULL, TESTSPEC_PATHS);
	row->task.test.command = mem_printf("%s%s%s", one, *words ? " " : "", words);
	if (parser && *parser)
		row_reader(row, parser);
	else
		row_reason(row, "no log_parser");
	return true;
}

/* Paths in the box, outside the checkout. */
#define PRO_DIR "/proctor-pro"
#define PRO_OUT "/proctor-pro-out"

/* SWE-bench Pro V1: the run script and the parser that belong to the instance, put in for grading. Both run inside
 * the box, so what they say can be forged by the code under test. */
static bool from_pro(const struct rows_ctx *ctx, struct row *row)
{
	static const char *const names[] = { "run_script.sh", "parser.py" };
	const char *scripts = ctx->o->scripts;
	struct held h = { { "selected_test_files_to_run", NULL }, true, OFF(fail_to_pass) };
	struct task scratch = { .file = NULL };
	auto_buf words = BUF_INIT(1u << 20);
	const char *why;

	if (!is_pro(row))
		return false;
	if (!scripts) {
		row_reason(row, "no run_script.sh and parser.py: give --scripts DIR");
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path =
			mem_printf("%s/%s/%s", scripts, row->task.instance_id, names[i]);
		char *real = realpath(path, NULL);

		if (!real) {
			row_reason(row, "no %s", path);
			return true;
		}
		strv_take(&row->from, real);
		strv_take(&row->to, mem_printf(PRO_DIR "/%s", names[i]));
	}
	/* One word, separated by commas, as that harness hands it over. */
	if (held_take(&h, jslice_get(row->v, "selected_test_files_to_run"), &scratch, &why) == 0)
		strv_each (i, &scratch.fail_to_pass) {
			buf_adds(&words, i ? "," : "");
			buf_adds(&words, scratch.fail_to_pass.v[i]);
		}
	held_clear(&h, &scratch);
	{
		auto_buf quoted = BUF_INIT(2u << 20);

		row_quote(&quoted, buf_str(&words));
		row->task.test.command =
			mem_printf("mkdir -p " PRO_OUT " && bash " PRO_DIR
				   "/run_script.sh %s >" PRO_OUT "/stdout 2>" PRO_OUT
				   "/stderr; python3 " PRO_DIR "/parser.py " PRO_OUT
				   "/stdout " PRO_OUT "/stderr " PRO_OUT "/output.json",
				   buf_str(&quoted));
	}
	row->task.test.reader = mem_strdup("pro-json");
	row->task.test.report = mem_strdup(PRO_OUT "/output.json");
	return true;
}

static void check_assets(struct row *row)
{
	auto_free char *assets = row->dir ? path_join(row->dir, "test_assets") : NULL;
	struct jslice list = jslice_get(row->v, "image_assets");

	if (assets && access(assets, F_OK) == 0)
		row_reason(
			row,
			"test_assets/ holds files that a patch cannot carry; they are not put in");
	else if (jslice_kind(list) == '{' && list.n > 2)
		row_reason(
			row,
			"image_assets names files that a patch cannot carry; they are not put in");
}

static int take_command(const struct rows_ctx *ctx, struct row *row, struct err *err)
{
	auto_free char *image = image_of(row);
	const char *workdir = is_pro(row) ? "/app" : "/testbed";
	bool own = is_pro(row) || jslice_get(row->v, "test_cmd").n;
	/* The place first: which command of a spec row counts depends on the root file system. */
	int rc = row_place(ctx, row, row->task.repo, image, workdir, err);

	if (rc < 0)
		return rc;
	/* Lists that upstream's parsers made hold what those make of names. */
	row_match(ctx, row, own ? TASK_MATCH_EXACT : TASK_MATCH_SWEBENCH);
	if (!from_eval_script(row) && !from_pro(ctx, row) &&
	    !from_config(row, jslice_get(row->v, "install_config"), true) &&
	    !from_config(row, row->v, false) && !row_from_spec(ctx, row, row->task.repo))
		row_reason(row,
			   "no test command: the row has none, and no test-spec row is for %s %s; "
			   "give --spec FILE",
			   row->task.repo, row->task.version ? row->task.version : "");
	return 0;
}

static int convert(const struct rows_ctx *ctx, struct row *row, struct err *err)
{
	struct task *t = &row->task;
	int rc = row_take_held(&family_swebench, row, err);

	if (rc < 0)
		return rc;
	if (!t->instance_id)
		return row_complain(row, err, "\"instance_id\" is missing");
	if (!row_is_id(t->instance_id))
		return row_complain(row, err,
				    "instance_id \"%.200s\" is not a name: use 1 to 180 of A-Z a-z "
				    "0-9 . _ -, no dot in front",
				    t->instance_id);
	if (is_smith(row)) {
		row_reason(row,
			   "the row's patch makes the bug (SWE-smith): give a repository whose "
			   "tree has it, and no reference");
		free(t->patch);
		t->patch = NULL;
	}
	check_patch(row, "patch", &t->patch);
	check_patch(row, "test_patch", &t->test_patch);
	check_commit(row);
	row_utf8(row, "problem_statement", &t->problem_statement);
	row_utf8(row, "version", &t->version);
	row_utf8(row, "repo", &t->repo);
	check_tests(row, "FAIL_TO_PASS", &t->fail_to_pass);
	check_tests(row, "PASS_TO_PASS", &t->pass_to_pass);
	if (!t->problem_statement || !*t->problem_statement)
		row_reason(row, "no problem statement");
	if (!t->fail_to_pass.n)
		row_reason(row, "no FAIL_TO_PASS test");
	if (!t->test_patch || !*t->test_patch)
		row_reason(row, "no test patch");
	check_assets(row);
	rc = take_command(ctx, row, err);
	row_check_command(row);
	return rc;
}

const struct family family_swebench = { "swe-bench", held, convert, true };

/* Task directories of SWE-bench version 5: what each holds as the row that it stands for. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/import_rows_internal.h"

#define FILE_MAX  (64u << 20) /* bytes of one file */
#define TASKS_MAX 100000u

/* Columns that are files of their own. */
static const struct {
	const char *column, *file;
	bool optional;
} columns[] = {
	{ "patch", "gold.patch", false },    { "test_patch", "test.patch", false },
	{ "eval_script", "eval.sh", false }, { "problem_statement", "problem_statement.md", false },
	{ "hints_text", "hints.md", true },
};

/* Members of the JSON object @text into @out, which has an open object. */
static int add_members(const char *name, const char *text, size_t n, struct buf *out,
		       struct err *err)
{
	struct jslice_walk w;
	struct jslice v, key, value;
	int rc = jslice_parse(name, text, n, &v, err);

	if (rc < 0)
		return rc;
	if (jslice_kind(v) != '{')
		return err_set(err, ERR_INPUT, "%s: expected keys with values", name);
	for (w = jslice_walk(v); jslice_member(&w, &key, &value);) {
		buf_adds(out, out->len > 1 ? ", " : "");
		jslice_raw(out, key);
		buf_adds(out, ": ");
		jslice_raw(out, value);
	}
	return 0;
}

static int add_column(const char *dir, size_t i, struct buf *out, struct err *err)
{
	auto_free char *path = path_join(dir, columns[i].file);
	auto_buf text = BUF_INIT(FILE_MAX);
	int rc;

	if (!columns[i].optional || access(path, F_OK) == 0) {
		rc = fd_read_file(path, &text, err);
		if (rc < 0)
			return rc;
	}
	buf_addf(out, "%s\"%s\": ", out->len > 1 ? ", " : "", columns[i].column);
	jslice_put(out, buf_str(&text), text.len);
	return 0;
}

static int read_task(const char *dir, struct buf *out, struct err *err)
{
	auto_free char *yaml = path_join(dir, "task.yaml"), *tests = path_join(dir, "tests.json");
	auto_buf text = BUF_INIT(FILE_MAX), json = BUF_INIT(FILE_MAX), lists = BUF_INIT(FILE_MAX);
	int rc = fd_read_file(yaml, &text, err);

	if (rc == 0)
		rc = yaml_json(yaml, buf_str(&text), text.len, &json, err);
	buf_addc(out, '{');
	if (rc == 0)
		rc = add_members(yaml, buf_str(&json), json.len, out, err);
	for (size_t i = 0; i < ARRAY_SIZE(columns) && rc == 0; i++)
		rc = add_column(dir, i, out, err);
	if (rc == 0)
		rc = fd_read_file(tests, &lists, err);
	if (rc == 0)
		rc = add_members(tests, buf_str(&lists), lists.len, out, err);
	buf_addc(out, '}');
	if (rc == 0 && (out->full || json.full))
		rc = err_set(err, ERR_INPUT, "%s: larger than %u bytes", dir, ROWS_FILE_MAX);
	return rc;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_tasks(const char *dir, struct strv *out, struct err *err)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	if (!d)
		return err_set(err, ERR_INPUT,
			       "%s: %s; expected tasks/ID/task.yaml, or a directory with task.yaml",
			       dir, strerror(errno));
	while (out->n <= TASKS_MAX && (e = readdir(d))) {
		auto_free char *task = path_join(dir, e->d_name),
			       *mark = path_join(task, "task.yaml");

		if (e->d_name[0] != '.' && access(mark, F_OK) == 0)
			strv_take(out, take_ptr(&task));
	}
	closedir(d);
	if (out->n > TASKS_MAX)
		return err_set(err, ERR_LIMIT,
			       "%s: more than %u task directories; import them in parts", dir,
			       TASKS_MAX);
	if (!out->n)
		return err_set(err, ERR_INPUT, "%s: no directory with task.yaml", dir);
	qsort(out->v, out->n, sizeof(*out->v), by_text);
	return 0;
}

int v5_rows(const char *dir,
	    int (*add)(void *arg, const char *task_dir, const struct buf *text, struct err *err),
	    void *arg, struct err *err)
{
	auto_free char *real = realpath(dir, NULL);
	auto_free char *mark = path_join(real ? real : dir, "task.yaml"),
		       *below = path_join(real ? real : dir, "tasks");
	auto_strv dirs = { 0 };
	int rc = 0;

	if (access(mark, F_OK) == 0)
		strv_add(&dirs, real ? real : dir);
	else
		rc = list_tasks(below, &dirs, err);
	for (size_t i = 0; i < dirs.n && rc == 0; i++) {
		auto_buf text = BUF_INIT(ROWS_FILE_MAX);

		rc = read_task(dirs.v[i], &text, err);
		if (rc == 0)
			rc = add(arg, dirs.v[i], &text, err);
	}
	return rc;
}

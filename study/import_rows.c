#include "study/import_rows.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/import_rows_internal.h"

#define ID_CHARS  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define ID_MAX    180          /* bytes; endings of file names come behind it */
#define EXTRA_MAX (256u << 20) /* bytes of one extra.json */

/* A text in memory: every row is looked at twice, before anything is written and when it is. */
struct text {
	char *name; /* owned, for messages */
	char *dir;  /* owned: version 5's task directory, NULL = an ordinary file */
	struct buf b;
};

struct job {
	struct rows_ctx ctx;
	const struct family *family;
	struct rows_result *r;
	struct text *v; /* owned */
	size_t n, cap, bytes;
	bool writing; /* second pass */
	/* Instead of all that: what is done with each row. */
	int (*look)(void *arg, const struct family *f, const struct row *row, struct err *err);
	void *arg;
};

void rows_done(struct rows_result *r)
{
	strv_done(&r->ids);
	strv_done(&r->reasons);
}

bool row_is_id(const char *s)
{
	size_t n = strlen(s);

	return n && n <= ID_MAX && s[0] != '.' && strspn(s, ID_CHARS) == n;
}

int row_complain(const struct row *row, struct err *err, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	return err_set(err, ERR_INPUT, "%s: %s", row->where, text);
}

void row_reason(struct row *row, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&row->reasons, mem_vprintf(fmt, ap));
	va_end(ap);
}

/* Every field is owned by the row: as a task from a file, and the same function frees it. */
static void row_done(struct row *row)
{
	struct task *t = mem_dup(&row->task, sizeof(row->task));

	task_free(t);
	strv_done(&row->from);
	strv_done(&row->to);
	strv_done(&row->reasons);
	free(row->where);
}

/* Would a run take it? Patches in files of their own are not there yet and are left out. */
static int check_text(const struct row *row, struct err *err)
{
	struct row bare = *row;
	auto_buf text = BUF_INIT(ROWS_TASK_MAX);
	struct task *task = NULL;
	int rc;

	if (bare.task.patch && row_patch_apart(bare.task.patch))
		bare.task.patch = NULL;
	if (bare.task.test_patch && row_patch_apart(bare.task.test_patch))
		bare.task.test_patch = NULL;
	row_task_text(&bare, &text);
	if (text.full)
		return row_complain(row, err, "the task is larger than %u bytes", ROWS_TASK_MAX);
	rc = task_parse(row->where, buf_str(&text), text.len, "/", &task, err);
	task_free(task);
	return rc;
}

static int write_file(const struct job *j, const char *id, const char *ending, const char *text,
		      size_t n, struct err *err)
{
	auto_free char *path = mem_printf("%s/%s.%s", j->ctx.o->out, id, ending);

	return fd_replace_file(path, text, n, err);
}

static int write_row(const struct job *j, const struct row *row, struct err *err)
{
	auto_buf text = BUF_INIT(ROWS_TASK_MAX), extra = BUF_INIT(EXTRA_MAX);
	const char *id = row->task.instance_id;
	const struct {
		const char *patch, *ending;
	} apart[] = { { row->task.patch, "patch.diff" },
		      { row->task.test_patch, "test-patch.diff" } };
	int rc = 0;

	extra_text(j->family, row, &extra);
	if (extra.full)
		return row_complain(row, err, "what a task cannot hold is larger than %u bytes",
				    EXTRA_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(apart) && rc == 0; i++)
		if (apart[i].patch && row_patch_apart(apart[i].patch))
			rc = write_file(j, id, apart[i].ending, apart[i].patch,
					strlen(apart[i].patch), err);
	if (rc == 0)
		rc = write_file(j, id, "extra.json", buf_str(&extra), extra.len, err);
	row_task_text(row, &text);
	if (rc == 0)
		rc = write_file(j, id, "task.json", buf_str(&text), text.len, err);
	return rc;
}

/* A task that was checked: count it, or write it. */
static int keep_row(struct job *j, const struct row *row, struct err *err)
{
	if (j->look)
		return j->look(j->arg, j->family, row, err);
	if (j->writing)
		return write_row(j, row, err);
	strv_add(&j->r->ids, row->task.instance_id);
	j->r->not_gradable += row->reasons.n != 0;
	strv_each (i, &row->reasons)
		strv_take(&j->r->reasons,
			  mem_printf("%s: %s", row->task.instance_id, row->reasons.v[i]));
	return check_text(row, err);
}

/* @key: the name it stands under in a map, or NULL. @where is taken. */
static int on_row(struct job *j, char *where, const char *dir, struct jslice v, const char *key,
		  struct err *err)
{
	struct row row = { .where = where, .v = v, .dir = dir };
	const struct rows_options *o = j->ctx.o;
	struct jslice twice = jslice_twice(v);
	int rc = 0;

	if (!j->writing && ++j->r->rows > ROWS_MAX)
		rc = row_complain(&row, err, "more than %u rows", ROWS_MAX);
	else if (jslice_kind(v) != '{')
		rc = row_complain(&row, err, "expected an object: a row");
	else if (twice.n)
		rc = row_complain(&row, err, "key %.*s given twice",
				  (int)(twice.n < 80 ? twice.n : 80), twice.s);
	if (rc == 0)
		rc = j->family->convert(&j->ctx, &row, err);
	if (rc == 0 && key && strcmp(key, row.task.instance_id) != 0)
		rc = row_complain(&row, err, "\"%.200s\" stands under the key \"%.200s\"",
				  row.task.instance_id, key);
	if (rc == 0 && o->only && !str_path_glob(o->only, row.task.instance_id))
		j->r->left_out += !j->writing;
	else if (rc == 0)
		rc = keep_row(j, &row, err);
	row_done(&row);
	return rc;
}

/* A row has a name or says what it changes; a map has names of rows instead. */
static bool is_row(struct jslice v)
{
	static const char *const keys[] = { "instance_id", "org", "repo", "problem_statement" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct jslice member = jslice_get(v, keys[i]);

		if (member.n && jslice_kind(member) != '{')
			return true;
	}
	return false;
}

static int on_members(struct job *j, const struct text *t, struct jslice v, struct err *err)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;
	int rc = 0;

	for (size_t at = 1; rc == 0 && jslice_member(&w, &key, &value); at++) {
		auto_free char *name = key.n ? jslice_cstr(key) : NULL;

		if (key.n && !name)
			return err_set(err, ERR_INPUT, "%s: entry %zu: a key with a NUL byte",
				       t->name, at);
		rc = on_row(j, mem_printf("%s: entry %zu", t->name, at), t->dir, value, name, err);
	}
	return rc;
}

static int on_text(struct job *j, const struct text *t, struct err *err)
{
	const char *text = buf_str(&t->b), *counted = text;
	struct jslice v;
	size_t at = 0, line = 1;
	int rc;

	while ((rc = jslice_next(t->name, text, t->b.len, &at, &v, err)) > 0) {
		bool many = jslice_kind(v) == '[' || (jslice_kind(v) == '{' && !is_row(v));

		for (; counted < v.s; counted++)
			line += *counted == '\n';
		if (many)
			rc = on_members(j, t, v, err);
		else
			rc = on_row(j, mem_printf("%s:%zu", t->name, line), t->dir, v, NULL, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int add_text(struct job *j, const char *name, const char *dir, struct buf *b,
		    struct err *err)
{
	j->bytes += b->len;
	if (j->bytes > ROWS_FILE_MAX)
		return err_set(err, ERR_INPUT, "%s: the files have more than %u bytes", name,
			       ROWS_FILE_MAX);
	MEM_GROW(j->v, j->cap, j->n + 1);
	j->v[j->n++] = (struct text){ .name = mem_strdup(name), .dir = mem_strdup(dir), .b = *b };
	*b = (struct buf)BUF_INIT(0);
	return 0;
}

static int add_task_dir(void *arg, const char *dir, const struct buf *text, struct err *err)
{
	struct buf copy = BUF_INIT(ROWS_FILE_MAX);

	buf_add(&copy, buf_str(text), text->len);
	return add_text(arg, dir, dir, &copy, err);
}

static int add_file(struct job *j, const char *path, struct err *err)
{
	struct buf b = BUF_INIT(ROWS_FILE_MAX);
	struct stat st;
	int rc;

	if (j->family->directories && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return v5_rows(path, add_task_dir, j, err);
	rc = fd_read_file(path, &b, err);
	if (rc == 0)
		rc = add_text(j, path, NULL, &b, err);
	buf_done(&b);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One file name belongs to one row. */
static int check_seen(const struct job *j, struct err *err)
{
	auto_strv seen = { 0 };

	if (!j->r->rows)
		return err_set(err, ERR_INPUT, "no row in the files given");
	if (!j->r->ids.n)
		return err_set(err, ERR_INPUT, "--only %s fits none of the %zu rows",
			       j->ctx.o->only, j->r->rows);
	strv_copy(&seen, &j->r->ids);
	qsort(seen.v, seen.n, sizeof(*seen.v), by_name);
	for (size_t i = 1; i < seen.n; i++)
		if (strcmp(seen.v[i - 1], seen.v[i]) == 0)
			return err_set(err, ERR_INPUT, "instance %s stands in two rows", seen.v[i]);
	return 0;
}

static int pass(struct job *j, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < j->n && rc == 0; i++)
		rc = on_text(j, &j->v[i], err);
	return rc;
}

static int write_all(struct job *j, struct err *err)
{
	auto_buf json = BUF_INIT(64u << 20);
	auto_free char *path = path_join(j->ctx.o->out, "import.json");
	int rc = fd_mkdirs(j->ctx.o->out, 0755, err);

	j->writing = true;
	if (rc == 0)
		rc = pass(j, err);
	if (rc < 0)
		return rc;
	rows_json(j->r, &json);
	return fd_replace_file(path, buf_str(&json), json.len, err);
}

static void texts_done(struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->v[i].name);
		free(j->v[i].dir);
		buf_done(&j->v[i].b);
	}
	free(j->v);
}

static int import(const struct family *f, const struct strv *files, const struct rows_options *o,
		  struct rows_result *ret, struct err *err)
{
	struct job j = { .ctx = { .o = o }, .family = f, .r = ret };
	int rc;

	*ret = (struct rows_result){ .source = f->name };
	rc = testspec_load(NULL, &j.ctx.shipped, err);
	if (rc == 0 && o->spec)
		rc = testspec_load(o->spec, &j.ctx.user, err);
	for (size_t i = 0; i < files->n && rc == 0; i++)
		rc = add_file(&j, files->v[i], err);
	if (rc == 0)
		rc = pass(&j, err);
	if (rc == 0)
		rc = check_seen(&j, err);
	if (rc == 0)
		rc = write_all(&j, err);
	texts_done(&j);
	testspec_done(&j.ctx.user);
	testspec_done(&j.ctx.shipped);
	if (rc < 0)
		rows_done(ret);
	return rc;
}

int rows_look(const struct family *f, const char *name, const char *text, size_t n,
	      int (*look)(void *arg, const struct family *f, const struct row *row,
			  struct err *err),
	      void *arg, struct err *err)
{
	static const struct rows_options none = { .out = "" };
	struct rows_result r = { .source = f->name };
	struct job j = { .ctx = { .o = &none }, .family = f, .r = &r, .look = look, .arg = arg };
	struct buf b = BUF_INIT(ROWS_FILE_MAX);
	int rc;

	buf_add(&b, text, n);
	rc = add_text(&j, name, NULL, &b, err);
	if (rc == 0)
		rc = pass(&j, err);
	buf_done(&b);
	texts_done(&j);
	rows_done(&r);
	return rc;
}

int import_swebench(const struct strv *files, const struct rows_options *o, struct rows_result *ret,
		    struct err *err)
{
	return import(&family_swebench, files, o, ret, err);
}

int import_multi(const struct strv *files, const struct rows_options *o, struct rows_result *ret,
		 struct err *err)
{
	return import(&family_multi, files, o, ret, err);
}

void rows_json(const struct rows_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.import/1");
	json_str(&w, "source", r->source);
	json_u64(&w, "rows", r->rows);
	json_u64(&w, "left_out", r->left_out);
	json_u64(&w, "tasks", r->ids.n);
	json_u64(&w, "gradable", r->ids.n - r->not_gradable);
	json_strings(&w, "reasons", r->reasons.v, r->reasons.n);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

/* Tasks as the rows that they were imported from: the fields that extra.json keeps as they were, the others from
 * the task as it is now. A field that says the same as before comes back in its own spelling. A task
 * without extra.json becomes a row with SWE-bench's usual fields. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"
#include "study/export_internal.h"
#include "study/import_rows_internal.h"

#define EXTRA_MAX (256u << 20)

/* extra.json of one task. */
struct extra {
	struct buf text;
	struct jslice v; /* {0} = there is none */
};

/* SWE-bench's fields, for a task that was not imported. */
static const char *const usual[] = { "repo",    "instance_id",  "base_commit",
				     "patch",   "test_patch",   "problem_statement",
				     "version", "FAIL_TO_PASS", "PASS_TO_PASS" };

static int load_extra(const char *task_path, struct extra *x, const struct family *f,
		      struct err *err)
{
	size_t n = strlen(task_path);
	auto_free char *path = str_ends(task_path, ".task.json")
				       ? mem_printf("%.*s.extra.json", (int)(n - 10), task_path)
				       : NULL;
	int rc;

	if (!path || access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &x->text, err);
	if (rc == 0)
		rc = jslice_parse(path, buf_str(&x->text), x->text.len, &x->v, err);
	if (rc < 0)
		return rc;
	if (!jslice_is(jslice_get(x->v, "schema"), "proctor.extra/1"))
		return err_set(err, ERR_INPUT, "%s: expected \"schema\": \"proctor.extra/1\"",
			       path);
	if (!jslice_is(jslice_get(x->v, "source"), f->name)) {
		auto_free char *source = jslice_cstr(jslice_get(x->v, "source"));

		return err_set(err, ERR_INPUT, "%s: the task was imported from \"%s\", not from %s",
			       path, source ? source : "", f->name);
	}
	return 0;
}

static bool in_list(struct jslice list, struct jslice key)
{
	struct jslice_walk w = jslice_walk(list);
	struct jslice e;

	while (jslice_member(&w, NULL, &e))
		if (e.n == key.n && memcmp(e.s, key.s, e.n) == 0)
			return true;
	return false;
}

/* Member of @obj with exactly this raw key. */
static struct jslice raw_get(struct jslice obj, struct jslice key)
{
	struct jslice_walk w = jslice_walk(obj);
	struct jslice k, v;

	while (jslice_member(&w, &k, &v))
		if (k.n == key.n && memcmp(k.s, key.s, k.n) == 0)
			return v;
	return (struct jslice){ NULL, 0 };
}

/* Does the task hold what it held when it was made of the row? */
static bool unchanged(const struct held *h, struct jslice digest, const struct task *task)
{
	char sum[DIGEST_HEX];

	return jslice_is(digest, held_digest(h, task, sum));
}

static void put_member(const struct family *f, struct jslice extra, const struct task *task,
		       struct jslice key, struct buf *out)
{
	const struct held *h = held_of(f, key);
	struct jslice verbatim = raw_get(jslice_get(extra, "verbatim"), key);
	struct jslice plain = raw_get(jslice_get(extra, "fields"), key);

	if (!h && !plain.n)
		return;
	buf_addf(out, "%s%.*s: ", out->len && out->data[out->len - 1] != '{' ? ", " : "",
		 (int)key.n, key.s);
	if (!h)
		jslice_raw(out, plain);
	else if (verbatim.n && unchanged(h, raw_get(jslice_get(extra, "digests"), key), task))
		jslice_raw(out, verbatim);
	else
		held_put(h, task,
			 in_list(jslice_get(extra, "strings"), key) || jslice_kind(verbatim) == '"',
			 out);
}

void rows_back(const struct family *f, const struct task *task, struct jslice extra,
	       struct buf *out)
{
	struct jslice_walk w = jslice_walk(jslice_get(extra, "order"));
	struct jslice key;

	buf_addc(out, '{');
	while (jslice_member(&w, NULL, &key))
		if (jslice_kind(key) == '"')
			put_member(f, extra, task, key, out);
	buf_adds(out, "}\n");
}

static int put_usual(const struct family *f, const struct task *task, struct buf *out,
		     struct err *err)
{
	if (f != &family_swebench)
		return err_set(
			err, ERR_INPUT,
			"%s: no %.*s.extra.json beside it: only a task that was imported from "
			"%s can become its row",
			task->file, (int)strlen(task->instance_id), task->instance_id, f->name);
	buf_addc(out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		auto_free char *quoted = mem_printf("\"%s\"", usual[i]);
		struct jslice key = { quoted, strlen(quoted) };

		buf_addf(out, "%s%s: ", i ? ", " : "", quoted);
		held_put(held_of(f, key), task, true, out);
	}
	buf_adds(out, "}\n");
	return 0;
}

static int put_task(const void *arg, const char *path, struct buf *all, struct err *err)
{
	const struct family *f = arg;
	auto_buf out = BUF_INIT(EXPORT_TEXT_MAX);
	struct extra x = { .text = BUF_INIT(EXTRA_MAX) };
	struct task *task = NULL;
	int rc = task_load(path, &task, err);

	if (rc == 0)
		rc = load_extra(path, &x, f, err);
	if (rc == 0 && x.v.n)
		rows_back(f, task, x.v, &out);
	else if (rc == 0)
		rc = put_usual(f, task, &out, err);
	if (rc == 0)
		buf_add(all, buf_str(&out), out.len);
	if (out.full)
		all->full = true;
	buf_done(&x.text);
	task_free(task);
	return rc;
}

int export_swebench(const struct export_job *job, struct buf *out, struct err *err)
{
	return export_tasks(job, put_task, &family_swebench, out, err);
}

int export_multi(const struct export_job *job, struct buf *out, struct err *err)
{
	return export_tasks(job, put_task, &family_multi, out, err);
}

#include "study/import_harbor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task_files.h"
#include "study/harbor_tree.h"
#include "study/import_harbor_internal.h"

#define TEXT_MAX (64u << 20) /* bytes of a task file */

void harbor_note(struct harbor *h, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	strv_take(h->notes, mem_printf("%s: %s", h->id, text));
}

void harbor_result_done(struct harbor_result *r)
{
	strv_done(&r->notes);
}

static void done(struct harbor *h)
{
	harbor_toml_done(&h->toml);
	dockerfile_done(&h->docker);
	free(h->id);
	free(h->statement);
	free(h->copy);
	free(h->workdir);
	free(h->rootfs);
	free(h->source);
	free(h->built);
	free(h->commit);
	free(h->patch);
}

/* The package's name, "org/name" as "org__name", or the directory's, with what no name may hold as "_". */
static char *instance(const struct harbor_toml *t, const char *dir)
{
	auto_free char *normal = realpath(dir, NULL);
	const char *s = t->name && *t->name ? t->name : path_base(normal ? normal : dir);
	auto_buf b = BUF_INIT(201);

	for (; *s && b.len < 190; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			     (*s >= '0' && *s <= '9') || strchr("_-", *s) || (*s == '.' && b.len);

		buf_adds(&b, *s == '/' ? "__" : plain ? (char[]){ *s, 0 } : "_");
	}
	if (!b.len)
		buf_adds(&b, "task");
	return buf_steal(&b, NULL);
}

static int read_text(const char *dir, const char *name, size_t max, struct buf *b, struct err *err)
{
	auto_free char *path = path_join(dir, name);
	int rc;

	*b = (struct buf)BUF_INIT(max);
	rc = fd_read_file(path, b, err);
	if (rc == 0 && (!str_utf8(buf_str(b), b->len, NULL) || memchr(buf_str(b), 0, b->len)))
		rc = err_set(err, ERR_INPUT, "%s: not UTF-8, or holds a NUL byte", path);
	return rc;
}

static int read_toml(struct harbor *h, struct err *err)
{
	auto_free char *path = path_join(h->dir, "task.toml");
	auto_buf b = BUF_INIT(4u << 20);
	int rc = fd_read_file(path, &b, err);

	if (rc == 0)
		rc = harbor_toml_parse(path, buf_str(&b), b.len, &h->toml, err);
	if (rc < 0)
		return rc;
	h->id = instance(&h->toml, h->dir);
	if (h->toml.steps)
		return err_set(
			err, ERR_INPUT,
			"%s: the task has %zu [[steps]], and only tasks of one step can be imported: a step's "
			"tests decide whether the next one is run, which one grading cannot say",
			path, h->toml.steps);
	if (h->toml.os && strcasecmp(h->toml.os, "linux") != 0)
		return err_set(err, ERR_INPUT, "%s: os \"%s\"; boxes are Linux", path, h->toml.os);
	return 0;
}

static int read_dockerfile(struct harbor *h, struct err *err)
{
	auto_free char *path = path_join(h->dir, "environment/Dockerfile");
	auto_buf b = BUF_INIT(DOCKERFILE_MAX);
	int rc;

	if (!harbor_has(h->dir, "environment/Dockerfile"))
		return 0;
	rc = fd_read_file(path, &b, err);
	return rc < 0 ? rc : dockerfile_parse(path, buf_str(&b), b.len, &h->docker, err);
}

static int read_all(struct harbor *h, struct err *err)
{
	auto_free char *sums = path_join(h->dir, "SHA256SUMS");
	struct buf b = BUF_INIT(0);
	int rc = read_toml(h, err);

	if (rc == 0 && harbor_has(h->dir, "SHA256SUMS"))
		rc = harbor_tree_sums(h->dir, sums, err);
	if (rc == 0 && !harbor_has(h->dir, "tests/test.sh"))
		rc = err_set(err, ERR_INPUT, "%s: no tests/test.sh", h->dir);
	if (rc == 0) {
		rc = read_text(h->dir, "instruction.md", HARBOR_FILE_MAX, &b, err);
		h->statement = buf_steal(&b, NULL);
	}
	buf_done(&b);
	return rc < 0 ? rc : read_dockerfile(h, err);
}

/* What the task cannot say, and where the directory is as it was. */
static int write_extra(const struct harbor *h, size_t first_note, struct err *err)
{
	auto_free char *path = mem_printf("%s/%s.extra.json", h->o->out, h->id);
	auto_free char *name = mem_printf("%s.harbor", h->id);
	auto_buf out = BUF_INIT(TEXT_MAX);
	struct json_w w = { .b = &out, .pretty = true };
	char sum[DIGEST_HEX];
	int rc = task_files_digest(h->copy, sum, err);

	if (rc < 0)
		return rc;
	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.extra/1");
	json_str(&w, "instance_id", h->id);
	json_str(&w, "source", "harbor");
	json_str(&w, "directory", name);
	json_str(&w, "sha256", sum);
	json_str(&w, "schema_version", h->toml.schema_version);
	json_str(&w, "environment_mode", h->toml.environment_mode);
	json_str(&w, "verifier_network", h->toml.verifier_mode ? h->toml.verifier_mode : "public");
	json_strings(&w, "artifacts", h->toml.artifacts.v, h->toml.artifacts.n);
	json_strings(&w, "solution_env", h->toml.solution_env.v, h->toml.solution_env.n);
	json_str(&w, "oracle",
		 harbor_has(h->dir, "solution/solve.sh") ? "solution/solve.sh" : NULL);
	json_strings(&w, "notes", h->notes->v ? h->notes->v + first_note : NULL,
		     h->notes->n - first_note);
	json_close(&w, '}');
	buf_addc(&out, '\n');
	return fd_replace_file(path, out.data, out.len, err);
}

/* The text must be a task that a run and a grading take. */
static int check_text(const struct harbor *h, const char *path, const struct buf *text,
		      struct err *err)
{
	auto_free char *dir = realpath(h->o->out, NULL);
	struct task *t = NULL;
	int rc = text->full ? err_set(err, ERR_INPUT, "%s: larger than 64M", path)
			    : task_parse(path, buf_str(text), text->len, dir, &t, err);

	task_free(t);
	return rc < 0 ? err_wrap(err, "%s", h->dir) : 0;
}

static int write_all(struct harbor *h, size_t first_note, struct err *err)
{
	auto_free char *path = mem_printf("%s/%s.task.json", h->o->out, h->id);
	auto_buf text = BUF_INIT(TEXT_MAX);
	int rc;

	h->copy = mem_printf("%s/%s.harbor", h->o->out, h->id);
	if (fd_remove_tree(AT_FDCWD, h->copy) < 0)
		return err_sys(err, "cannot replace %s", h->copy);
	rc = harbor_source(h, err);
	if (rc == 0)
		rc = harbor_tree_copy(h->dir, h->copy, err);
	if (rc == 0)
		rc = harbor_task_text(h, &text, err);
	if (rc == 0)
		rc = check_text(h, path, &text, err);
	if (rc == 0)
		rc = write_extra(h, first_note, err);
	if (rc == 0)
		rc = fd_replace_file(path, buf_str(&text), text.len, err);
	if (rc < 0) {
		(void)fd_remove_tree(AT_FDCWD, h->copy); /* the error that counts is told */
		if (h->built)
			(void)fd_remove_tree(AT_FDCWD, h->built);
	}
	return rc;
}

static int one(const char *dir, const struct harbor_options *o, struct strv *seen,
	       struct harbor_result *ret, struct err *err)
{
	struct harbor h = { .o = o, .dir = dir, .notes = &ret->notes };
	int rc = read_all(&h, err);

	if (rc == 0 && strv_has(seen, h.id))
		rc = err_set(err, ERR_INPUT, "%s: a second task called %s", dir, h.id);
	if (rc == 0) {
		strv_add(seen, h.id);
		rc = write_all(&h, ret->notes.n, err);
	}
	ret->tasks += rc == 0;
	done(&h);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* @dir itself, or the task directories right below it. */
static int expand(const char *dir, struct strv *out, struct err *err)
{
	size_t first = out->n;
	const struct dirent *e;
	DIR *d;

	if (harbor_has(dir, "task.toml")) {
		strv_add(out, dir);
		return 0;
	}
	d = opendir(dir);
	if (!d)
		return err_set(err, ERR_INPUT, "%s: %s", dir, strerror(errno));
	while ((e = readdir(d)) && out->n <= HARBOR_TASKS_MAX) {
		auto_free char *below = path_join(dir, e->d_name);

		if (e->d_name[0] != '.' && harbor_has(below, "task.toml"))
			strv_add(out, below);
	}
	closedir(d);
	if (out->n > HARBOR_TASKS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %u tasks; import them in parts", dir,
			       HARBOR_TASKS_MAX);
	if (out->n == first)
		return err_set(err, ERR_INPUT,
			       "%s: no task.toml, neither there nor in the directories below", dir);
	qsort(out->v + first, out->n - first, sizeof(*out->v), by_name);
	return 0;
}

int harbor_import(const struct strv *dirs, const struct harbor_options *o,
		  struct harbor_result *ret, struct err *err)
{
	struct strv all = { 0 }, seen = { 0 };
	int rc = fd_mkdirs(o->out, 0755, err);

	for (size_t i = 0; i < dirs->n && rc == 0; i++)
		rc = expand(dirs->v[i], &all, err);
	for (size_t i = 0; i < all.n && rc == 0; i++)
		rc = one(all.v[i], o, &seen, ret, err);
	strv_done(&all);
	strv_done(&seen);
	return rc;
}

#include "study/export_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/jslice.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/batch.h"
#include "study/taskset.h"

#define DEPTH_MAX   3u           /* OUT/MODEL/INSTANCE */
#define RECORD_MAX  (16u << 20)  /* bytes of graded.json or run.json */
#define PATCH_MAX   (256u << 20) /* bytes of a patch.diff */
#define ENTRIES_MAX 200000u      /* names of one directory */

static bool exists(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);

	return access(path, R_OK) == 0;
}

static void item_done(struct export_item *it)
{
	free(it->dir);
	free(it->model);
	free(it->patch);
	verdict_file_done(&it->v);
}

void export_items_done(struct export_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		item_done(&items->v[i]);
	free(items->v);
	*items = (struct export_items){ .v = NULL };
}

/* What graded.json knows: the model, and the verdict when nothing was graded. */
static int read_graded(const char *path, struct export_item *it, struct err *err)
{
	auto_buf text = BUF_INIT(RECORD_MAX);
	struct graded g = { 0 };
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = graded_parse(path, buf_str(&text), text.len, &g, err);
	if (rc < 0)
		return rc;
	it->model = take_ptr(&g.model);
	if (!it->graded) {
		it->graded = true;
		it->v.instance_id = take_ptr(&g.instance_id);
		it->v.kind = (enum verdict_kind)g.verdict;
		it->v.reason = take_ptr(&g.reason);
		it->v.patch_exists = g.patch_exists;
		it->v.patch_applied = g.patch_applied;
	}
	graded_done(&g);
	return 0;
}

/* What run.json knows: "agent", or "agent+model". */
static int read_run(const char *path, struct export_item *it, struct err *err)
{
	auto_buf text = BUF_INIT(RECORD_MAX);
	auto_free char *agent = NULL, *model = NULL, *id = NULL;
	struct jslice v;
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = jslice_parse(path, buf_str(&text), text.len, &v, err);
	if (rc < 0)
		return rc;
	agent = jslice_cstr(jslice_get(v, "agent"));
	model = jslice_cstr(jslice_get(jslice_get(v, "model"), "name"));
	id = jslice_cstr(jslice_get(jslice_get(v, "task"), "instance_id"));
	it->model = mem_printf("%s%s%s", agent ? agent : "", agent && model ? "+" : "",
			       model ? model : "");
	if (!it->graded && !id)
		return err_set(err, ERR_INPUT, "%s: no task.instance_id", path);
	if (!it->graded)
		it->v.instance_id = take_ptr(&id);
	return 0;
}

static int read_patch(const char *dir, struct export_item *it, struct err *err)
{
	auto_free char *path = path_join(dir, "patch.diff");
	auto_buf text = BUF_INIT(PATCH_MAX);
	int rc;

	if (!exists(dir, "patch.diff"))
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0 && text.len && memchr(text.data, 0, text.len))
		rc = err_set(err, ERR_INPUT, "%s: holds a NUL byte and is no patch", path);
	if (rc == 0)
		it->patch = buf_steal(&text, NULL);
	return rc;
}

static int read_item(const struct export_job *job, const char *dir, bool patches,
		     struct export_items *items, struct err *err)
{
	auto_free char *verdict = path_join(dir, "verdict.json"),
		       *graded = path_join(dir, "graded.json"), *run = path_join(dir, "run.json");
	struct export_item it = { .dir = mem_strdup(dir), .v = { .exit_status = -1 } };
	int rc = 0;

	if (exists(dir, "verdict.json")) {
		rc = verdict_load(verdict, &it.v, err);
		it.graded = true;
	}
	if (rc == 0 && exists(dir, "graded.json"))
		rc = read_graded(graded, &it, err);
	else if (rc == 0 && exists(dir, "run.json"))
		rc = read_run(run, &it, err);
	if (rc == 0 && patches)
		rc = read_patch(dir, &it, err);
	if (rc == 0 && items->n == EXPORT_ITEMS_MAX)
		rc = err_set(err, ERR_LIMIT, "%s: more than %u results", dir, EXPORT_ITEMS_MAX);
	if (rc < 0) {
		item_done(&it);
		return rc;
	}
	if (job->model || !it.model) {
		free(it.model);
		it.model = mem_strdup(job->model ? job->model : "");
	}
	MEM_GROW(items->v, items->cap, items->n + 1);
	items->v[items->n++] = it;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_dir(const char *dir, struct strv *names, struct err *err)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	if (!d)
		return err_set(err, ERR_INPUT, "%s: %s", dir, strerror(errno));
	while (names->n <= ENTRIES_MAX && (e = readdir(d)))
		if (e->d_name[0] != '.')
			strv_add(names, e->d_name);
	closedir(d);
	if (names->n > ENTRIES_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %u names; give parts of it", dir,
			       ENTRIES_MAX);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_text);
	return 0;
}

/* Depth is bounded, so this may call itself. */
static int search(const struct export_job *job, const char *dir, unsigned depth, bool patches,
		  struct export_items *items, struct err *err)
{
	auto_strv names = { 0 };
	int rc;

	if (exists(dir, "verdict.json") || exists(dir, "graded.json") || exists(dir, "run.json"))
		return read_item(job, dir, patches, items, err);
	if (depth == DEPTH_MAX)
		return 0;
	rc = list_dir(dir, &names, err);
	for (size_t i = 0; i < names.n && rc == 0; i++) {
		auto_free char *path = path_join(dir, names.v[i]);
		struct stat st;

		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			rc = search(job, path, depth + 1, patches, items, err);
	}
	return rc;
}

static int by_model(const void *a, const void *b)
{
	const struct export_item *x = a, *y = b;
	int d = strcmp(x->model, y->model);

	return d ? d : strcmp(x->v.instance_id, y->v.instance_id);
}

int export_gather(const struct export_job *job, bool patches, struct export_items *ret,
		  struct err *err)
{
	struct export_items items = { .v = NULL };
	int rc = 0;

	for (size_t i = 0; i < job->inputs->n && rc == 0; i++)
		rc = search(job, job->inputs->v[i], 0, patches, &items, err);
	if (rc == 0 && !items.n)
		rc = err_set(
			err, ERR_INPUT,
			"%s: no result; looked for directories with verdict.json, graded.json or "
			"run.json, three levels deep",
			job->inputs->n ? job->inputs->v[0] : "");
	if (items.n)
		qsort(items.v, items.n, sizeof(*items.v), by_model);
	for (size_t i = 1; i < items.n && rc == 0; i++)
		if (by_model(&items.v[i - 1], &items.v[i]) == 0)
			rc = err_set(
				err, ERR_INPUT,
				"%s and %s are two results of one model for one task; give one "
				"of them, or other names with --model",
				items.v[i - 1].dir, items.v[i].dir);
	if (rc < 0)
		export_items_done(&items);
	else
		*ret = items;
	return rc;
}

enum export_class export_class_of(const struct export_item *item)
{
	static const enum export_class of[] = { [VERDICT_RESOLVED] = EXPORT_RESOLVED,
						[VERDICT_UNRESOLVED] = EXPORT_UNRESOLVED,
						[VERDICT_INVALID] = EXPORT_INVALID,
						[VERDICT_INFRA] = EXPORT_INFRA };

	if (!item->graded)
		return EXPORT_UNGRADED;
	/* A task that needs no change is resolved without one; no patch otherwise is no attempt. */
	if (!item->v.patch_exists && item->v.kind == VERDICT_UNRESOLVED)
		return EXPORT_EMPTY;
	return of[item->v.kind];
}

char *export_dir_name(const char *model)
{
	auto_buf b = BUF_INIT(4096);

	for (const char *p = model; *p; p++)
		buf_adds(&b, *p == '/' ? "__" : (char[]){ *p, 0 });
	if (!b.len || strcmp(b.data, ".") == 0 || strcmp(b.data, "..") == 0)
		return mem_strdup("none");
	return buf_steal(&b, NULL);
}

int export_write(const struct export_job *job, const char *name, const char *text, size_t n,
		 struct buf *log, struct err *err)
{
	auto_free char *path = path_join(job->out, name), *dir = path_dir(path);
	int rc;

	if (!path_is_tame(name))
		return err_set(err, ERR_INPUT, "%s: \"%s\" is no plain name of a file", job->out,
			       name);
	rc = fd_mkdirs(dir, 0755, err);
	if (rc == 0)
		rc = fd_replace_file(path, text, n, err);
	if (rc == 0)
		buf_addf(log, "%s\n", path);
	return rc;
}

int export_write_buf(const struct export_job *job, const char *name, const struct buf *text,
		     struct buf *log, struct err *err)
{
	if (text->full)
		return err_set(err, ERR_LIMIT, "%s/%s: would be larger than %zu bytes", job->out,
			       name, text->max);
	return export_write(job, name, buf_str(text), text->len, log, err);
}

int export_tasks(const struct export_job *job,
		 int (*one)(const void *arg, const char *path, struct buf *out, struct err *err),
		 const void *arg, struct buf *out, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < job->inputs->n && rc == 0; i++) {
		struct taskset tasks = { .id = { 0 } };

		rc = taskset_load(job->inputs->v[i], &tasks, err);
		if (rc == 0 && tasks.path.n)
			qsort(tasks.path.v, tasks.path.n, sizeof(*tasks.path.v), by_text);
		for (size_t k = 0; k < tasks.path.n && rc == 0; k++)
			rc = one(arg, tasks.path.v[k], out, err);
		taskset_done(&tasks);
	}
	return rc;
}

void export_field(struct buf *out, const char *key, const char *text)
{
	if (out->len && out->data[out->len - 1] != '{' && out->data[out->len - 1] != '[')
		buf_addc(out, ',');
	buf_addf(out, "\"%s\":", key);
	if (text)
		jslice_put(out, text, strlen(text));
	else
		buf_adds(out, "null");
}

#include "verifier/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "verifier/rundir_internal.h"

/* Every string as it was before it was escaped. The parser has bounded the depth. */
static void unescape(cJSON *item)
{
	cJSON *e;

	if (cJSON_IsString(item))
		(void)json_unescape_bytes(item->valuestring); /* the length is not needed */
	cJSON_ArrayForEach (e, item)
		unescape(e);
}

static int load_run_json(struct rundir *rd, struct err *err)
{
	auto_free char *path = path_join(rd->dir, "run.json");
	const cJSON *model;
	int rc;

	if (access(path, R_OK) < 0)
		return err_set(err, ERR_INPUT, "%s is not a run directory: %s: %s", rd->dir, path,
			       strerror(errno));
	rc = json_load(path, &rd->run, err);
	if (rc == 0)
		rc = json_check_schema(&rd->run, "run", err);
	if (rc < 0)
		return rc;
	unescape(rd->run.root);
	model = cJSON_GetObjectItemCaseSensitive(rd->run.root, "model");
	rd->model = cJSON_IsObject(model);
	return 0;
}

static int by_edit(const void *a, const void *b, void *arg)
{
	const struct rundir_edit *v = arg, *x = v + *(const size_t *)a, *y = v + *(const size_t *)b;
	int d = strcmp(x->path, y->path);

	if (!d)
		d = (x->n > y->n) - (x->n < y->n);
	return d ? d : (x > y) - (x < y);
}

static int by_first(const void *a, const void *b, void *arg)
{
	const struct rundir_first *v = arg, *x = v + *(const size_t *)a,
				  *y = v + *(const size_t *)b;
	int d = strcmp(x->path, y->path);

	return d ? d : (x > y) - (x < y);
}

static size_t *sorted(size_t n, int (*order)(const void *, const void *, void *), void *of)
{
	size_t *v = mem_zalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = i;
	qsort_r(v, n, sizeof(*v), order, of);
	return v;
}

void rundir_index(struct rundir *rd)
{
	rd->edit_at = sorted(rd->n_edits, by_edit, rd->edit);
	rd->first_at = sorted(rd->n_first, by_first, rd->first);
}

int rundir_load(const char *dir, struct rundir *ret, struct err *err)
{
	struct rundir rd = { .dir = mem_strdup(dir) };
	struct rundir_reader r = { .rd = &rd };
	auto_free char *trace = path_join(dir, "trace.jsonl");
	auto_free char *firings = path_join(dir, "interventions.jsonl");
	int rc = load_run_json(&rd, err);

	if (rc == 0) {
		r.workdir = rundir_str(&rd, "task.workdir");
		rc = rundir_read_trace(&r, trace, err);
	}
	if (rc == 0) {
		rundir_actions_settle(&r);
		rc = rundir_read_firings(&r, firings, err);
	}
	rundir_reader_done(&r);
	if (rc == 0)
		rundir_index(&rd);
	if (rc < 0) {
		rundir_done(&rd);
		return rc;
	}
	*ret = rd;
	return 0;
}

void rundir_done(struct rundir *rd)
{
	for (size_t i = 0; i < rd->n_actions; i++) {
		strv_done(&rd->action[i].argv);
		free(rd->action[i].tool);
		free(rd->action[i].path);
	}
	for (size_t i = 0; i < rd->n_edits; i++)
		free(rd->edit[i].path);
	for (size_t i = 0; i < rd->n_reads; i++)
		free(rd->read[i].path);
	for (size_t i = 0; i < rd->n_touches; i++)
		free(rd->touch[i].path);
	for (size_t i = 0; i < rd->n_first; i++)
		free(rd->first[i].path);
	for (size_t i = 0; i < rd->n_firings; i++) {
		free(rd->firing[i].effect);
		free(rd->firing[i].reason);
		free(rd->firing[i].message);
		free(rd->firing[i].message_source);
		free(rd->firing[i].path);
	}
	free(rd->action);
	free(rd->edit);
	free(rd->read);
	free(rd->touch);
	free(rd->first);
	free(rd->edit_at);
	free(rd->first_at);
	free(rd->firing);
	free(rd->told);
	free(rd->call);
	json_src_done(&rd->run);
	free(rd->dir);
	*rd = (struct rundir){ 0 };
}

int rundir_image(const struct rundir *rd, const char *sha256, struct buf *out, struct err *err)
{
	auto_free char *dir = path_join(rd->dir, "images");
	auto_fd int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = -1;
	char sum[DIGEST_HEX];
	size_t was = out->len;

	if (strlen(sha256) != 64 || strspn(sha256, "0123456789abcdef") != 64)
		return 0;
	/* A link in place of an image would lead out of the run directory. */
	fd = at < 0 ? -1 : fd_open_beneath(at, sha256, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0 && (at < 0 || errno == ENOENT || errno == ELOOP || errno == EXDEV))
		return 0;
	if (fd < 0)
		return err_sys(err, "cannot open image %s of %s", sha256, rd->dir);
	if (fd_read_all(fd, out) < 0)
		return err_sys(err, "cannot read image %s of %s", sha256, rd->dir);
	if (strcmp(digest_bytes(buf_str(out) + was, out->len - was, sum), sha256) != 0) {
		out->len = was;
		return 0; /* cut by a full disk, or changed since */
	}
	return 1;
}

/* An edit record that says nothing of the contents has neither digest. */
static bool says(const struct rundir_edit *e)
{
	return e->pre[0] || e->post[0];
}

/* Place in edit_at of the first edit of @path at record @n or later, or where it would be. */
static size_t edit_from(const struct rundir *rd, const char *path, uint64_t n)
{
	size_t lo = 0, hi = rd->n_edits;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct rundir_edit *e = &rd->edit[rd->edit_at[mid]];
		int d = strcmp(e->path, path);

		if (d < 0 || (d == 0 && e->n < n))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Edit number @i of edit_at when it is one of @path. */
static const struct rundir_edit *edit_of(const struct rundir *rd, size_t i, const char *path)
{
	const struct rundir_edit *e = i < rd->n_edits ? &rd->edit[rd->edit_at[i]] : NULL;

	return e && strcmp(e->path, path) == 0 ? e : NULL;
}

/* First contents of @path, NULL when nothing tells. */
static const struct rundir_first *first_of(const struct rundir *rd, const char *path)
{
	size_t lo = 0, hi = rd->n_first;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(rd->first[rd->first_at[mid]].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == rd->n_first || strcmp(rd->first[rd->first_at[lo]].path, path) != 0)
		return NULL;
	return &rd->first[rd->first_at[lo]];
}

const char *rundir_digest_at(const struct rundir *rd, const char *path, uint64_t n)
{
	size_t at = edit_from(rd, path, n);
	const struct rundir_edit *before = at ? edit_of(rd, at - 1, path) : NULL;
	const struct rundir_edit *after = edit_of(rd, at, path);
	const struct rundir_first *first = before ? NULL : first_of(rd, path);

	if (before)
		return says(before) ? before->post : after && says(after) ? after->pre : NULL;
	if (first)
		return first->sha256;
	return after && says(after) ? after->pre : NULL;
}

int rundir_patch(const struct rundir *rd, struct buf *out, struct err *err)
{
	auto_free char *path = path_join(rd->dir, "patch.diff");

	return fd_read_file(path, out, err);
}

static const cJSON *at_path(const struct rundir *rd, const char *path)
{
	const cJSON *item = rd->run.root;

	while (item && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = mem_strndup(path, n);

		item = cJSON_GetObjectItemCaseSensitive(item, key);
		path += n + (path[n] == '.');
	}
	return item;
}

const char *rundir_str(const struct rundir *rd, const char *path)
{
	const cJSON *item = at_path(rd, path);

	return item && cJSON_IsString(item) ? item->valuestring : NULL;
}

double rundir_num(const struct rundir *rd, const char *path, double dflt)
{
	const cJSON *item = at_path(rd, path);

	return item && cJSON_IsNumber(item) ? item->valuedouble : dflt;
}

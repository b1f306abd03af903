#include "verifier/basetree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sandbox/workspace.h"
#include "triggers/apply.h"
#include "triggers/lines.h"
#include "verifier/replay.h"

#define FILE_MODE 0100644u

struct basetree {
	const struct task *task; /* borrowed */
	struct workspace *ws;    /* owned */
	struct strv owned;       /* paths of the test patch */
};

struct basetree *basetree_free(struct basetree *t)
{
	if (!t)
		return NULL;
	strv_done(&t->owned);
	workspace_free(t->ws);
	free(t);
	return NULL;
}

int basetree_open(const struct task *task, struct janitor *jan, struct basetree **ret,
		  struct err *err)
{
	struct basetree *t = mem_zalloc(1, sizeof(*t));
	auto_free char *reason = NULL;
	int rc;

	t->task = task;
	rc = workspace_new(jan, &t->ws, err);
	if (rc == 0)
		rc = gitstore_import(&t->ws->store, task->source, task->base_commit,
				     &t->ws->base_commit, &t->ws->base_tree, NULL, err);
	if (rc == 0)
		rc = replay_paths(&t->ws->store, &t->ws->base_tree, task->test_patch, &t->owned,
				  &reason, err);
	if (rc == 0)
		rc = err_set(err, ERR_INPUT,
			     "task %s: its test patch does not apply to its base: %s",
			     task->instance_id, reason ? reason : "no reason known");
	if (rc < 0) {
		basetree_free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

static int read_file(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	struct basetree *t = arg;

	return gitstore_read(&t->ws->store, &t->ws->base_tree, path, out, mode, err);
}

int basetree_read(struct basetree *t, const char *path, struct buf *out, struct err *err)
{
	uint32_t mode;

	return read_file(t, path, out, &mode, err);
}

void basetree_patch_done(struct basetree_patch *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->file[i].path);
		free(p->file[i].before);
		free(p->file[i].after);
		free(p->file[i].hunk);
	}
	free(p->file);
	*p = (struct basetree_patch){ .file = NULL };
}

static void take_hunks(struct basetree_file *f)
{
	struct line_changes c = { .v = NULL };

	lines_diff(f->before, f->n_before, f->after ? f->after : "", f->n_after, &c);
	f->hunk = mem_zalloc(c.n + 1, sizeof(*f->hunk));
	for (size_t i = 0; i < c.n; i++)
		f->hunk[f->n_hunks++] = (struct basetree_hunk){ c.v[i].old_first, c.v[i].old_n,
								c.v[i].new_first, c.v[i].new_n };
	lines_changes_done(&c);
}

static void take_result(struct apply_result *res, struct basetree_patch *ret)
{
	ret->file = mem_zalloc(res->n + 1, sizeof(*ret->file));
	for (size_t i = 0; i < res->n; i++) {
		struct apply_file *from = &res->file[i];
		struct basetree_file *to = &ret->file[ret->n++];

		to->existed = from->existed;
		to->path = take_ptr(&from->path);
		to->before = from->before ? take_ptr(&from->before) : mem_strdup("");
		to->n_before = from->before_len;
		to->n_after = from->mode ? from->after_len : 0;
		if (from->mode)
			to->after = from->after ? take_ptr(&from->after) : mem_strdup("");
		take_hunks(to);
	}
}

int basetree_apply(struct basetree *t, const char *diff, struct basetree_patch *ret,
		   char **ret_reason, struct err *err)
{
	const struct apply_io io = { .read = read_file, .arg = t };
	const struct apply_options opt = { .most = APPLY_FUZZ };
	struct apply_result res = { .file = NULL };
	struct patch *p = NULL;
	struct err local = { 0 };
	int rc;

	*ret = (struct basetree_patch){ .file = NULL };
	*ret_reason = NULL;
	rc = patch_parse(diff, strlen(diff), &p, &local);
	if (rc == -ERR_INPUT || rc == -ERR_LIMIT) {
		*ret_reason = mem_strdup(local.text);
		return 0;
	}
	if (rc < 0) {
		if (err)
			*err = local;
		return rc;
	}
	rc = apply_patch(p, &io, &opt, &res, err);
	if (rc > 0) {
		patch_counts(p, &ret->added, &ret->removed);
		take_result(&res, ret);
	} else if (rc == 0) {
		*ret_reason = mem_strdup(res.reason ? res.reason : "it does not apply");
	}
	apply_result_done(&res);
	patch_free(p);
	return rc;
}

int basetree_diff(struct basetree *t, const struct basetree_change *change, size_t n,
		  struct buf *out, struct err *err)
{
	auto_free struct git_change *changes = mem_zalloc(n + 1, sizeof(*changes));
	git_oid tree;
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		auto_buf old = BUF_INIT(GITSTORE_BLOB_MAX);
		uint32_t mode = FILE_MODE;

		rc = read_file(t, change[i].path, &old, &mode, err);
		changes[i] = (struct git_change){ .path = (char *)change[i].path,
						  .mode = !change[i].after ? 0
							  : rc > 0         ? mode
									   : FILE_MODE,
						  .data = (char *)change[i].after,
						  .len = change[i].n };
	}
	if (rc >= 0)
		rc = gitstore_update(&t->ws->store, &t->ws->base_tree, changes, n, &tree, err);
	if (rc < 0)
		return rc;
	return gitstore_diff(&t->ws->store, &t->ws->base_tree, &tree, out, err);
}

bool basetree_is_test(const struct basetree *t, const char *path)
{
	const struct replay_rules rules = { .hidden = &t->task->test.hidden,
					    .owned = &t->owned,
					    .report = t->task->test.report };

	return replay_protected(&rules, path) || str_eq(path, t->task->test.report);
}

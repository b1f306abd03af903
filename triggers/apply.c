/* All files of a diff or none: reads through the caller, places the hunks, hands back contents. */
#include "triggers/apply.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "triggers/apply_internal.h"

#define MODE_LINK    0120000u
#define MODE_GITLINK 0160000u

const char *apply_method_name(enum apply_method m)
{
	static const char *const names[] = { "exact", "offset", "fuzz", "context" };

	return (size_t)m < ARRAY_SIZE(names) ? names[m] : "unknown";
}

/* Result under construction. */
struct apply_run {
	const struct patch *patch;
	const struct apply_io *io;
	enum apply_method most;
	struct apply_result *ret;
	size_t cap;
	uint64_t work;
	bool submodules;
	uint64_t bytes;     /* of all contents made so far */
	struct map by_path; /* hash of a path -> index + 1 of its first file */
};

/* The file @path among those touched so far, NULL when it is none. Two paths with one hash can be made on
 * purpose: then all are looked at. */
static struct apply_file *find(struct apply_run *run, const char *path, uint64_t key)
{
	struct apply_result *ret = run->ret;
	size_t at = (size_t)(uintptr_t)map_get(&run->by_path, key);

	if (!at)
		return NULL;
	for (size_t i = at - 1; i < ret->n; i++)
		if (str_eq(ret->file[i].path, path))
			return &ret->file[i];
	return NULL;
}

/* The state of @path so far, read on first use. NULL on error. */
static struct apply_file *file_of(struct apply_run *run, const char *path, struct err *err)
{
	struct apply_result *ret = run->ret;
	auto_buf b = BUF_INIT(APPLY_FILE_MAX);
	struct apply_file *f;
	uint32_t mode = 0;
	uint64_t key = map_hash(path, strlen(path));
	int r;

	f = find(run, path, key);
	if (f)
		return f;
	r = run->io->read(run->io->arg, path, &b, &mode, err);
	if (r < 0)
		return NULL;
	MEM_GROW(ret->file, run->cap, ret->n + 1);
	f = &ret->file[ret->n++];
	*f = (struct apply_file){ .path = mem_strdup(path), .existed = r > 0 };
	if (!map_get(&run->by_path, key))
		map_put(&run->by_path, key, (void *)(uintptr_t)ret->n);
	if (r > 0) {
		run->bytes += 2 * b.len;
		f->old_mode = f->mode = mode ? mode : 0100644;
		f->before = mem_dup(buf_str(&b), b.len);
		f->before_len = f->after_len = b.len;
		f->after = buf_steal(&b, &f->after_len);
	}
	return f;
}

static int cmp_edit(const void *a, const void *b)
{
	const struct apply_edit *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Write text with all edits into *out. */
static int build(struct apply_job *j, const char *data, size_t n, struct buf *out)
{
	const struct text *t = j->text;
	size_t at = 0;

	qsort(j->edit, j->n_edits, sizeof(*j->edit), cmp_edit);
	for (size_t i = 0; i < j->n_edits; i++) {
		const struct apply_edit *e = &j->edit[i];
		const char *from = at < t->n ? t->line[at].p : data + n;
		const char *to = e->pos < t->n ? t->line[e->pos].p : data + n;

		if (e->pos < at) /* cannot be: removed lines never match again */
			return apply_say_no(j, "%s: two hunks overlap", j->file->path);
		if (n)
			buf_add(out, from, (size_t)(to - from));
		buf_add(out, e->bytes, e->len);
		at = e->pos + e->old_n;
	}
	if (at < t->n)
		buf_add(out, t->line[at].p, (size_t)(data + n - t->line[at].p));
	if (out->full)
		return apply_say_no(j, "%s: larger than %u bytes", j->file->path, APPLY_FILE_MAX);
	return 1;
}

static void job_done(struct apply_job *j)
{
	for (size_t i = 0; i < j->n_edits; i++)
		free(j->edit[i].bytes);
	free(j->edit);
	free(j->taken);
	free(j->reason);
}

/* Put all hunks of @pf into @data. 1 with @out, 0 with the result's reason. */
static int do_hunks(struct apply_run *run, const struct patch_file *pf, const char *data, size_t n,
		    struct buf *out)
{
	__attribute__((cleanup(apply_text_done))) struct text t = { 0 };
	__attribute__((cleanup(job_done))) struct apply_job j = {
		.file = pf, .text = &t, .most = run->most, .work = &run->work
	};
	int r = 1;

	if (apply_text_split(&t, data, n) < 0)
		r = apply_say_no(&j, "%s: more than %u lines", pf->path, APPLY_LINES_MAX);
	else {
		j.taken = mem_zalloc(t.n + 1, 1);
		j.edit = mem_zalloc(pf->n_hunks + 1, sizeof(*j.edit));
		j.loose = (pf->lf && !pf->crlf && t.crlf) || (pf->crlf && !pf->lf && t.lf);
		for (size_t i = 0; i < pf->n_hunks && r == 1; i++)
			r = apply_hunk_place(&j, i);
	}
	if (r == 1)
		r = build(&j, data, n, out);
	if (r == 1 && j.method > run->ret->method)
		run->ret->method = j.method;
	if (r == 0)
		run->ret->reason = take_ptr(&j.reason);
	return r;
}

static int say_no(struct apply_run *run, const char *path, const char *why)
{
	run->ret->reason = mem_printf("%s: %s", path, why);
	return 0;
}

/* New contents of @pf made from @data. 1 or 0 as do_hunks(). */
static int contents(struct apply_run *run, const struct patch_file *pf, const char *data, size_t n,
		    struct buf *out)
{
	if (pf->binary)
		return patch_binary_apply(pf, data, n, out, &run->ret->reason);
	return do_hunks(run, pf, data ? data : "", n, out);
}

static void set_after(struct apply_run *run, struct apply_file *f, struct buf *b, uint32_t mode)
{
	run->bytes += b->len;
	free(f->after);
	f->after = buf_steal(b, &f->after_len);
	f->mode = mode;
}

static void set_gone(struct apply_file *f)
{
	free(f->after);
	f->after = NULL;
	f->after_len = 0;
	f->mode = 0;
}

static int do_add(struct apply_run *run, const struct patch_file *pf, struct apply_file *f)
{
	auto_buf b = BUF_INIT(APPLY_FILE_MAX);
	uint32_t mode = pf->mode ? pf->mode : 0100644;

	if (!contents(run, pf, NULL, 0, &b))
		return 0;
	if (f->mode && f->after_len == b.len && !memcmp(buf_str(&b), f->after, b.len))
		return 1; /* somebody made it already */
	if (f->mode && f->after_len)
		return say_no(run, pf->path, "is there already, with other contents");
	set_after(run, f, &b, mode);
	return 1;
}

static int do_delete(struct apply_run *run, const struct patch_file *pf, struct apply_file *f)
{
	auto_buf b = BUF_INIT(APPLY_FILE_MAX);

	if (!f->mode)
		return 1;
	if (!pf->binary && pf->n_hunks == 0 && f->after_len)
		return say_no(run, pf->path, "is not empty, the diff removes an empty file");
	if (!contents(run, pf, f->after, f->after_len, &b))
		return 0;
	if (b.len)
		return say_no(run, pf->path, "holds more than what the diff removes");
	set_gone(f);
	return 1;
}

static int do_modify(struct apply_run *run, const struct patch_file *pf, struct apply_file *f)
{
	auto_buf b = BUF_INIT(APPLY_FILE_MAX);
	uint32_t mode = f->mode;

	if (!f->mode && !pf->empty_old)
		return say_no(run, pf->path, "is not there");
	if (!f->mode)
		return do_add(run, pf, f);
	/* the file's own mode stays, unless the diff is about the mode */
	if (pf->old_mode && pf->mode && pf->old_mode != pf->mode)
		mode = pf->mode;
	if (!contents(run, pf, f->after, f->after_len, &b))
		return 0;
	set_after(run, f, &b, mode);
	return 1;
}

/* A rename or copy: contents come from the old path. */
static int do_move(struct apply_run *run, const struct patch_file *pf, struct err *err)
{
	auto_buf b = BUF_INIT(APPLY_FILE_MAX);
	struct apply_file *from = file_of(run, pf->old_path, err), *to;
	uint32_t mode;

	if (!from)
		return -1;
	to = file_of(run, pf->path, err);
	if (!to)
		return -1;
	from = file_of(run, pf->old_path, err); /* the array may have moved */
	if (!from)
		return -1;
	mode = pf->mode && pf->mode != pf->old_mode ? pf->mode : from->mode;
	if (!from->mode) {
		if (to->mode && pf->op == PATCH_RENAME)
			return 1;
		return say_no(run, pf->old_path, "is not there");
	}
	if (to->mode && to != from)
		return say_no(run, pf->path, "is there already");
	if (pf->n_hunks || pf->binary) {
		if (!contents(run, pf, from->after, from->after_len, &b))
			return 0;
	} else
		buf_add(&b, from->after, from->after_len);
	set_after(run, to, &b, mode);
	if (pf->op == PATCH_RENAME)
		set_gone(from);
	return 1;
}

/* No contents: an entry with the mode, for a caller that leaves it out. */
static int do_submodule(struct apply_run *run, const struct patch_file *pf)
{
	struct apply_result *ret = run->ret;

	if (!run->submodules)
		return say_no(run, pf->path, "is a submodule");
	MEM_GROW(ret->file, run->cap, ret->n + 1);
	ret->file[ret->n++] = (struct apply_file){
		.path = mem_strdup(pf->path),
		.existed = pf->op != PATCH_ADD,
		.mode = MODE_GITLINK,
	};
	return 1;
}

static int do_file(struct apply_run *run, const struct patch_file *pf, struct err *err)
{
	struct apply_file *f;

	if (pf->mode == MODE_GITLINK || pf->old_mode == MODE_GITLINK)
		return do_submodule(run, pf);
	if (pf->op == PATCH_RENAME || pf->op == PATCH_COPY)
		return do_move(run, pf, err);
	f = file_of(run, pf->path, err);
	if (!f)
		return -1;
	if (f->mode && (f->mode & 0170000) == MODE_LINK && pf->mode && pf->mode != MODE_LINK &&
	    pf->op == PATCH_MODIFY)
		return say_no(run, pf->path, "is a symbolic link now");
	if (pf->op == PATCH_ADD)
		return do_add(run, pf, f);
	if (pf->op == PATCH_DELETE)
		return do_delete(run, pf, f);
	return do_modify(run, pf, f);
}

static bool differs(const struct apply_file *f)
{
	uint32_t old = f->existed ? f->old_mode : 0;

	return old != f->mode || f->before_len != f->after_len ||
	       (f->after_len && memcmp(f->before, f->after, f->after_len) != 0);
}

int apply_patch(const struct patch *p, const struct apply_io *io, const struct apply_options *opt,
		struct apply_result *ret, struct err *err)
{
	struct apply_result res = { .method = APPLY_EXACT };
	struct apply_run run = { .patch = p,
				 .io = io,
				 .most = opt ? opt->most : APPLY_CONTEXT,
				 .ret = &res,
				 .work = APPLY_WORK_MAX,
				 .submodules = opt && opt->submodules };
	struct err local = { ERR_NONE, 0, "" };
	int r = 1;

	for (size_t i = 0; i < p->n_files && r == 1; i++) {
		r = do_file(&run, &p->file[i], err ? err : &local);
		if (r == 1 && run.bytes > APPLY_TOTAL_MAX)
			r = say_no(
				&run, p->file[i].path,
				"with this file the changed files take more than 1 GiB together");
	}
	map_done(&run.by_path);
	for (size_t i = 0; i < res.n; i++)
		res.changed |= differs(&res.file[i]);
	if (r == 1) {
		*ret = res;
		return 1;
	}
	if (r < 0) {
		apply_result_done(&res);
		return err_wrap(err ? err : &local, "patch");
	}
	*ret = (struct apply_result){ .method = APPLY_EXACT, .reason = take_ptr(&res.reason) };
	apply_result_done(&res);
	return 0;
}

void apply_result_done(struct apply_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->file[i].path);
		free(r->file[i].before);
		free(r->file[i].after);
	}
	free(r->file);
	free(r->reason);
	*r = (struct apply_result){ .method = APPLY_EXACT };
}

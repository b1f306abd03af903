#include "study/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/batch_internal.h"
#include "study/pool.h"

#define RESULTS_MAX (1u << 30) /* bytes of results.jsonl */
#define NAMES_SHOWN 10         /* predictions without a task that a message names */
#define NAME_MAX_   255        /* bytes of a directory's name */

/* One call of batch_grade(). */
struct batch {
	const struct batch_options *o;
	struct batch_item *items; /* owned, like its dirs */
	struct batch_result *r;
	size_t next;
	uint64_t began;     /* first grading of this call */
	size_t graded_here; /* by this call */
	int lock;           /* on the directory of all results, or -1 */
};

/* A model's name as a directory: "/" becomes "__" as in SWE-bench's logs, other unusual bytes "_". */
static char *model_dir(const char *model)
{
	auto_buf b = BUF_INIT(4096);

	for (const char *s = model; *s && b.len < NAME_MAX_ - 2; s++) {
		if (*s == '/')
			buf_adds(&b, "__");
		else if ((unsigned char)*s <= 0x20 || *s == 0x7f || *s == '\\')
			buf_addc(&b, '_');
		else
			buf_addc(&b, *s);
	}
	if (!b.len || strcmp(buf_str(&b), ".") == 0 || strcmp(buf_str(&b), "..") == 0)
		return mem_strdup("_");
	return mem_strdup(buf_str(&b));
}

static const char *model_of(const struct prediction *p)
{
	return p->model ? p->model : "";
}

static bool many_models(const struct predictions *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (strcmp(model_of(&p->v[i]), model_of(&p->v[0])) != 0)
			return true;
	return false;
}

static char *item_dir(const struct batch_options *o, const struct prediction *p, bool models)
{
	auto_free char *model = NULL, *above = NULL;

	if (!models)
		return path_join(o->out, p->instance_id);
	model = model_dir(model_of(p));
	above = path_join(o->out, model);
	return path_join(above, p->instance_id);
}

/* The name becomes a directory. */
static bool name_is_tame(const char *s)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._-";

	return *s && *s != '.' && *s != '-' && strspn(s, good) == strlen(s) &&
	       strlen(s) <= NAME_MAX_;
}

/* Which predictions have no task; a message for the first of them. */
static int complain(const struct batch_options *o, const struct strv *missing, struct err *err)
{
	auto_free const char **names = mem_zalloc(o->tasks->id.n + 1, sizeof(*names));
	auto_buf list = BUF_INIT(1u << 16);
	const char *near;

	if (!missing->n)
		return 0;
	for (size_t i = 0; i < o->tasks->id.n; i++)
		names[i] = o->tasks->id.v[i];
	for (size_t i = 0; i < missing->n && i < NAMES_SHOWN; i++)
		buf_addf(&list, "%s%.200s", i ? ", " : "", missing->v[i]);
	near = str_nearest(missing->v[0], names);
	return err_set(err, ERR_INPUT,
		       "no task for %zu of %zu predictions: %s%s%s%s%s; give their tasks with "
		       "--tasks, or choose predictions with --only",
		       missing->n, o->predictions->n, buf_str(&list),
		       missing->n > NAMES_SHOWN ? ", ..." : "",
		       near ? " (nearest to the first: " : "", near ? near : "", near ? ")" : "");
}

/* Every prediction gets its task and its directory. */
static int assign(struct batch *b, struct err *err)
{
	const struct batch_options *o = b->o;
	bool models = many_models(o->predictions);
	auto_strv missing = { 0 };

	for (size_t i = 0; i < o->predictions->n; i++) {
		struct batch_item *item = &b->items[i];
		int rc;

		item->p = &o->predictions->v[i];
		if (!name_is_tame(item->p->instance_id))
			return err_set(
				err, ERR_INPUT,
				"prediction %zu: instance_id \"%.200s\" is no name of a task "
				"(A-Z a-z 0-9 . _ -)",
				i + 1, item->p->instance_id);
		rc = taskset_find(o->tasks, item->p->instance_id, &item->task, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			strv_add(&missing, item->p->instance_id);
		item->dir = item_dir(o, item->p, models);
	}
	return complain(o, &missing, err);
}

static int by_dir(const void *a, const void *b)
{
	const struct batch_item *x = *(const struct batch_item *const *)a,
				*y = *(const struct batch_item *const *)b;
	int d = strcmp(x->dir, y->dir);

	return d ? d : (x > y) - (x < y);
}

/* "a/b" and "a__b" have one directory, and one result would replace the other. */
static int check_dirs(const struct batch *b, struct err *err)
{
	auto_free const struct batch_item **v = mem_zalloc(b->r->n + 1, sizeof(*v));

	for (size_t i = 0; i < b->r->n; i++)
		v[i] = &b->items[i];
	qsort(v, b->r->n, sizeof(*v), by_dir);
	for (size_t i = 1; i < b->r->n; i++)
		if (strcmp(v[i - 1]->dir, v[i]->dir) == 0)
			return err_set(err, ERR_INPUT,
				       "%s: the results of two models, \"%.200s\" and \"%.200s\", "
				       "would have this directory; rename one, or grade one model "
				       "at a time",
				       v[i]->dir, model_of(v[i - 1]->p), model_of(v[i]->p));
	return 0;
}

/* Two calls at once would grade everything twice and write the same files. The lock ends with this process,
 * however that ends: the grading processes give their copy of it back. flock(2) */
static int take_lock(struct batch *b, struct err *err)
{
	b->lock = open(b->o->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->lock >= 0 && flock(b->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(
			err, ERR_INPUT,
			"%s: another call grades into this directory; wait for its end, or give "
			"another --out",
			b->o->out);
	return 0; /* a file system without locks is used without */
}

static void count(struct batch *b, const struct graded *g)
{
	struct batch_state *st = &b->r->state;

	st->done++;
	st->count[g->verdict]++;
	st->infra_repeats += g->infra_repeats;
	st->empty += !g->patch_exists;
	st->tampered += g->tamper > 0;
}

/* Time left: what this call graded sets the pace. */
static void estimate(struct batch *b)
{
	struct batch_state *st = &b->r->state;
	uint64_t spent = clock_mono() - b->began;

	if (b->graded_here)
		st->left_ns = spent / b->graded_here * (st->total - st->done);
}

static void tell(struct batch *b, const struct graded *last)
{
	estimate(b);
	if (b->o->progress)
		b->o->progress(b->o->arg, &b->r->state, last);
}

/* What an earlier call graded stands. */
static void reuse(struct batch *b)
{
	for (size_t i = 0; i < b->r->n; i++) {
		if (!batch_item_found(b->o, &b->items[i], &b->r->v[i]))
			continue;
		b->items[i].done = true;
		b->r->state.reused++;
		count(b, &b->r->v[i]);
	}
}

static bool next_job(void *arg, size_t *ret)
{
	struct batch *b = arg;

	while (b->next < b->r->n && b->items[b->next].done)
		b->next++;
	if (b->next == b->r->n)
		return false;
	*ret = b->next++;
	return true;
}

/* In the grading process: the record, or the error's text behind a "!", goes to the parent. */
static int work(void *arg, size_t job, int fd)
{
	const struct batch *b = arg;
	struct graded g = { 0 };
	struct err err = { 0 };
	auto_buf line = BUF_INIT(1u << 20);
	int rc;

	if (b->lock >= 0)
		close(b->lock);
	rc = batch_item_grade(b->o, &b->items[job], &g, &err);
	if (rc < 0)
		buf_addf(&line, "!%s", err.text);
	else
		graded_print(&g, &line);
	graded_done(&g);
	return fd_write_all(fd, buf_str(&line), line.len) < 0 ? 1 : 0;
}

/* A process that did not hand back a record says nothing about the patch. */
static int lost(const struct batch *b, const struct pool_end *e, struct graded *ret,
		struct err *err)
{
	auto_free char *why = NULL;

	if (e->n && e->text[0] == '!')
		why = mem_printf("not graded: %s", e->text + 1);
	else if (WIFSIGNALED(e->status))
		why = mem_printf("not graded: the grading process was killed by signal %d",
				 WTERMSIG(e->status));
	else
		why = mem_printf("not graded: the grading process ended with status %d and no "
				 "result",
				 WEXITSTATUS(e->status));
	return batch_item_decided(&b->items[e->job], "", VERDICT_INFRA, why, ret, err);
}

static int ended(void *arg, const struct pool_end *e, struct err *err)
{
	struct batch *b = arg;
	struct graded *g = &b->r->v[e->job];
	int rc = 0;

	if (e->n == 0 || e->text[0] == '!' || graded_parse("record", e->text, e->n, g, NULL) < 0)
		rc = lost(b, e, g, err);
	if (rc < 0)
		return rc;
	b->items[e->job].done = true;
	b->graded_here++;
	count(b, g);
	tell(b, g);
	return 0;
}

static void tick(void *arg, unsigned running)
{
	struct batch *b = arg;

	b->r->state.running = running;
	tell(b, NULL);
}

static int keep(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	return fd_replace_file(path, buf_str(text), text->len, err);
}

static int write_results(const struct batch *b, struct err *err)
{
	auto_buf lines = BUF_INIT(RESULTS_MAX), summary = BUF_INIT(RESULTS_MAX);
	int rc;

	for (size_t i = 0; i < b->r->n; i++)
		graded_print(&b->r->v[i], &lines);
	batch_summary(b->r, b->o->tasks, &summary);
	rc = keep(b->o->out, "results.jsonl", &lines, err);
	return rc < 0 ? rc : keep(b->o->out, "summary.json", &summary, err);
}

static int whole(struct batch *b, struct err *err)
{
	struct pool_ops ops = {
		.next = next_job, .work = work, .ended = ended, .tick = tick, .arg = b
	};
	int rc = assign(b, err);

	if (rc == 0)
		rc = check_dirs(b, err);
	if (rc == 0)
		rc = fd_mkdirs(b->o->out, 0755, err);
	if (rc == 0)
		rc = take_lock(b, err);
	if (rc < 0)
		return rc;
	reuse(b);
	b->began = clock_mono();
	rc = pool_run(&ops, b->o->jobs, err);
	return rc < 0 ? rc : write_results(b, err);
}

int batch_grade(const struct batch_options *o, struct batch_result *ret, struct err *err)
{
	struct batch_result r = { .n = o->predictions->n };
	struct batch b = { .o = o, .r = &r, .lock = -1 };
	int rc;

	r.state.total = r.n;
	r.v = mem_zalloc(r.n + 1, sizeof(*r.v));
	b.items = mem_zalloc(r.n + 1, sizeof(*b.items));
	rc = whole(&b, err);
	if (b.lock >= 0)
		close(b.lock);
	for (size_t i = 0; i < r.n; i++)
		free(b.items[i].dir);
	free(b.items);
	if (rc < 0)
		batch_done(&r);
	else
		*ret = r;
	return rc;
}

void batch_done(struct batch_result *r)
{
	for (size_t i = 0; i < r->n; i++)
		graded_done(&r->v[i]);
	free(r->v);
	*r = (struct batch_result){ .n = 0 };
}

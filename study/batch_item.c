#include "study/batch_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"

#define RECORD_MAX (64u << 10)  /* bytes of graded.json */
#define TEXT_MAX   (256u << 20) /* bytes of one output file */

/* What a directory of a result holds. */
static const char *const own_files[] = { "verdict.json", "report.json", "test.log", "patch.diff",
					 "graded.json" };

static void add(struct buf *b, const char *name, const char *text)
{
	char sum[DIGEST_HEX];

	buf_addf(b, "%s %s\n", name, text ? digest_bytes(text, strlen(text), sum) : "none");
}

static void add_list(struct buf *b, const char *name, const struct strv *list)
{
	strv_each (i, list)
		add(b, name, list->v[i]);
}

/* What a grading box takes from the profile. */
static void add_profile(struct buf *b, const struct profile *p)
{
	add(b, "profile", p->name);
	for (size_t i = 0; i < ARRAY_SIZE(p->limits.max); i++)
		buf_addf(b, "limit %" PRIu64 "\n", p->limits.max[i]);
	add_list(b, "read", &p->read);
	add_list(b, "write", &p->write);
	add_list(b, "hide", &p->hide);
	add_list(b, "deny", &p->deny);
	buf_addf(b, "nested_userns %d\n", p->nested_userns);
}

/* Everything that decides the verdict, so that a changed task, patch or policy is graded anew. */
static char *input_digest(const struct batch_options *o, const struct task *task,
			  const char *task_path, const struct prediction *p)
{
	auto_buf b = BUF_INIT(1u << 20), file = BUF_INIT(TEXT_MAX);
	char sum[DIGEST_HEX];

	if (task) {
		buf_addf(&b, "verifier %s\n", verdict_task_digest(task, sum));
		add(&b, "source", task->source);
		add(&b, "rootfs", task->rootfs);
	} else if (fd_read_file(task_path, &file, NULL) == 0) {
		add(&b, "broken task", buf_str(&file));
	}
	add(&b, "patch", p->patch);
	add_profile(&b, o->profile);
	return mem_strdup(digest_bytes(buf_str(&b), b.len, sum));
}

static bool own_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		size_t n = strlen(own_files[i]);

		/* fd_replace_file() leaves NAME.tmpPID behind when it is killed. */
		if (strncmp(name, own_files[i], n) == 0 &&
		    (!name[n] ||
		     (strncmp(name + n, ".tmp", 4) == 0 && isdigit((unsigned char)name[n + 4]))))
			return true;
	}
	return false;
}

/* Take away what an earlier, broken-off grading left. */
static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (own_name(e->d_name))
			(void)unlinkat(dirfd(d), e->d_name, 0); /* or it is written over */
	if (d)
		closedir(d);
}

/* Was @g made from these inputs and is it a result? Infra is none: a new call tries again. */
static bool stands(const struct graded *g, const struct batch_item *item, const char *input)
{
	return g->verdict != VERDICT_INFRA && strcmp(g->input, input) == 0 &&
	       strcmp(g->instance_id, item->p->instance_id) == 0;
}

bool batch_item_found(const struct batch_options *o, const struct batch_item *item,
		      struct graded *ret)
{
	const char *task_path = o->tasks->path.v[item->task];
	auto_free char *path = path_join(item->dir, "graded.json"), *input = NULL;
	auto_buf text = BUF_INIT(RECORD_MAX);
	struct task *task = NULL;
	struct graded g = { 0 };

	if (access(path, F_OK) == 0 && fd_read_file(path, &text, NULL) == 0 &&
	    graded_parse(path, buf_str(&text), text.len, &g, NULL) == 0) {
		(void)task_load(task_path, &task, NULL); /* NULL: its file counts as it is */
		input = input_digest(o, task, task_path, item->p);
		task_free(task);
		if (stands(&g, item, input)) {
			*ret = g;
			return true;
		}
	}
	graded_done(&g);
	sweep(item->dir);
	return false;
}

static int keep(const char *dir, const char *name, const char *text, size_t n, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	return fd_replace_file(path, text, n, err);
}

static int keep_record(const struct batch_item *item, const struct graded *g, struct err *err)
{
	auto_buf line = BUF_INIT(RECORD_MAX);

	graded_print(g, &line);
	return keep(item->dir, "graded.json", buf_str(&line), line.len, err);
}

static void fill(struct graded *g, const struct verdict *v)
{
	g->verdict = v->kind;
	g->reason = mem_strdup(v->reason ? v->reason : "");
	g->digest = mem_strdup(v->digest);
	g->patch_exists = v->patch_exists;
	g->patch_applied = v->patch_applied;
	g->tamper = v->tamper.n;
	g->infra_repeats = v->infra_repeats;
	for (size_t i = 0; i < v->n_tests; i++) {
		bool good = verdict_passed(&v->tests[i]);

		*(v->tests[i].f2p ? &g->f2p : &g->p2p) += 1;
		*(v->tests[i].f2p ? &g->f2p_passed : &g->p2p_passed) += good;
	}
}

/* graded.json comes last: while it is missing, nothing here counts. */
static int write_out(const struct batch_item *item, const struct task *task,
		     const struct verdict *v, const struct graded *g, struct err *err)
{
	auto_buf verdict = BUF_INIT(TEXT_MAX), report = BUF_INIT(TEXT_MAX);
	const char *patch = item->p->patch ? item->p->patch : "";
	int rc;

	verdict_json(task, v, NULL, &verdict);
	verdict_swebench(task, v, &report);
	if ((rc = fd_mkdirs(item->dir, 0755, err)) < 0 ||
	    (rc = keep(item->dir, "patch.diff", patch, strlen(patch), err)) < 0 ||
	    (rc = keep(item->dir, "test.log", buf_str(&v->log), v->log.len, err)) < 0 ||
	    (rc = keep(item->dir, "report.json", buf_str(&report), report.len, err)) < 0 ||
	    (rc = keep(item->dir, "verdict.json", buf_str(&verdict), verdict.len, err)) < 0)
		return rc;
	return keep_record(item, g, err);
}

int batch_item_decided(const struct batch_item *item, const char *input, enum verdict_kind kind,
		       const char *reason, struct graded *ret, struct err *err)
{
	int rc;

	*ret = (struct graded){
		.instance_id = mem_strdup(item->p->instance_id),
		.model = mem_strdup(item->p->model ? item->p->model : ""),
		.input = mem_strdup(input),
		.verdict = kind,
		.reason = mem_strdup(reason),
		.patch_exists = item->p->patch && item->p->patch[0],
		.digest = mem_strdup(""),
	};
	rc = fd_mkdirs(item->dir, 0755, err);
	return rc < 0 ? rc : keep_record(item, ret, err);
}

static int graded_by_verdict(const struct batch_options *o, const struct batch_item *item,
			     const struct task *task, const char *input, struct graded *ret,
			     struct err *err)
{
	struct grade_request req = {
		.task = task,
		.profile = o->profile,
		.patches = { item->p->patch ? item->p->patch : "" },
		.no_cgroup = o->no_cgroup,
	};
	struct verdict v;
	int rc = grade_alone(&req, o->infra_repeats, &v, err);

	if (rc < 0)
		return rc;
	*ret = (struct graded){ .instance_id = mem_strdup(item->p->instance_id),
				.model = mem_strdup(item->p->model ? item->p->model : ""),
				.input = mem_strdup(input) };
	fill(ret, &v);
	rc = write_out(item, task, &v, ret, err);
	verdict_done(&v);
	return rc;
}

int batch_item_grade(const struct batch_options *o, const struct batch_item *item,
		     struct graded *ret, struct err *err)
{
	const char *path = o->tasks->path.v[item->task];
	auto_free char *input = NULL;
	struct err local = { 0 };
	struct task *task = NULL;
	int rc = task_load(path, &task, &local);

	input = input_digest(o, task, path, item->p);
	if (rc == 0)
		rc = graded_by_verdict(o, item, task, input, ret, &local);
	task_free(task);
	/* What the task's author got wrong is no fault of the patch, and no reason to stop the
	 * others. */
	if (rc == -ERR_INPUT || rc == -ERR_USAGE)
		return batch_item_decided(item, input, VERDICT_INVALID, local.text, ret, err);
	if (rc < 0 && err)
		*err = local;
	return rc;
}

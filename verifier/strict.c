#include "verifier/strict.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/jslice.h"
#include "base/mem.h"
#include "base/path.h"
#include "verifier/basetree.h"
#include "verifier/strict_internal.h"

const char *strict_arm_name(enum strict_arm v)
{
	return v == STRICT_CLEAN ? "clean" : "shifted";
}

void strict_say(struct strict_row *r, bool ok, const char *fmt, ...)
{
	va_list ap;

	r->ok = ok;
	free(r->reason);
	va_start(ap, fmt);
	r->reason = mem_vprintf(fmt, ap);
	va_end(ap);
}

static const cJSON *at_path(const cJSON *root, const char *path)
{
	while (root && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = mem_strndup(path, n);

		root = cJSON_GetObjectItemCaseSensitive(root, key);
		path += n + (path[n] == '.');
	}
	return root;
}

const char *strict_run_str(const struct strict_work *w, const char *path)
{
	return cJSON_GetStringValue(at_path(w->run.root, path));
}

double strict_run_num(const struct strict_work *w, const char *path, double dflt)
{
	const cJSON *item = at_path(w->run.root, path);

	return cJSON_IsNumber(item) ? item->valuedouble : dflt;
}

/* Every string as it was before it was escaped. The parser has bounded the depth. */
static void unescape(cJSON *item)
{
	cJSON *e;

	if (cJSON_IsString(item))
		(void)json_unescape_bytes(item->valuestring); /* the length is not needed */
	cJSON_ArrayForEach (e, item)
		unescape(e);
}

static int load_run(struct strict_work *w, struct err *err)
{
	auto_free char *path = path_join(w->req->dir, "run.json");
	int rc;

	if (access(path, R_OK) < 0)
		return err_set(err, ERR_INPUT, "%s is not a run directory: %s: %s", w->req->dir,
			       path, strerror(errno));
	rc = json_load(path, &w->run, err);
	if (rc == 0)
		rc = json_check_schema(&w->run, "run", err);
	if (rc == 0)
		unescape(w->run.root);
	return rc;
}

/* Did the run follow all files of its workspace? plan.json says so. */
static int load_plan(struct strict_work *w, struct err *err)
{
	auto_free char *path = path_join(w->req->dir, "plan.json");
	struct json_src src = { 0 };
	int rc;

	if (access(path, R_OK) < 0)
		return 0; /* then it is not known to have */
	rc = json_load(path, &src, err);
	if (rc < 0)
		return rc;
	w->workspace =
		str_eq(cJSON_GetStringValue(at_path(src.root, "profile.watch")), "workspace");
	json_src_done(&src);
	return 0;
}

/* Version named @key of verdict.json's "authority"; a verdict of before there were versions is of the task. */
static char *version_of(struct jslice root, const char *key)
{
	char *s = jslice_cstr(jslice_get(jslice_get(root, "authority"), key));

	return s ? s : mem_strdup(AUTHORITY_INITIAL);
}

static int load_verdict(struct strict_work *w, struct err *err)
{
	auto_free char *path = path_join(w->req->dir, "verdict.json");
	auto_buf b = BUF_INIT(VERDICT_FILE_MAX);
	struct jslice root;
	int rc;

	if (access(path, R_OK) < 0)
		return err_set(
			err, ERR_INPUT,
			"%s has no verdict.json: grade the run first (proctor grade --run %s)",
			w->req->dir, w->req->dir);
	rc = fd_read_file(path, &b, err);
	if (rc == 0)
		rc = verdict_parse(path, buf_str(&b), b.len, &w->verdict, err);
	if (rc == 0)
		rc = jslice_parse(path, buf_str(&b), b.len, &root, err);
	if (rc < 0)
		return rc;
	w->graded = true;
	w->judged.goal = version_of(root, "goal");
	w->judged.verifier = version_of(root, "verifier");
	return 0;
}

static int test_passed(void *arg, const char *id)
{
	const struct strict_work *w = arg;

	for (size_t i = 0; i < w->verdict.n_tests; i++)
		if (strcmp(w->verdict.tests[i].name, id) == 0)
			return verdict_passed(&w->verdict.tests[i]);
	return -1;
}

/* What the base holds at @path: for files that nobody touched. */
static int base_file(void *arg, const char *path, struct buf *out, struct err *err)
{
	struct strict_work *w = arg;
	int rc = w->base ? 0 : basetree_open(w->req->task, NULL, &w->base, err);

	return rc < 0 ? rc : basetree_read(w->base, path, out, err);
}

/* What predicates are asked about. */
static int scan(struct strict_work *w, struct err *err)
{
	w->pred_run = (struct pred_run){
		.dir = w->req->dir,
		.workdir = strict_run_str(w, "task.workdir"),
		.model = cJSON_IsObject(at_path(w->run.root, "model")),
		.test = test_passed,
		.base = w->req->task && w->workspace ? base_file : NULL,
		.arg = w,
	};
	return pred_scan(w->checks.set, &w->pred_run, err);
}

static enum strict_arm arm_of(const struct strict_work *w)
{
	const struct pred_facts *f = pred_facts(w->checks.set);
	const char *s = strict_run_str(w, "fork.arm");

	if (w->req->arm != STRICT_BY_RUN)
		return w->req->arm;
	if (s)
		return strcmp(s, "clean") == 0 ? STRICT_CLEAN : STRICT_SHIFTED;
	if (f->forks)
		return f->fork_arm == PRED_CLEAN ? STRICT_CLEAN : STRICT_SHIFTED;
	return f->update ? STRICT_SHIFTED : STRICT_CLEAN;
}

/* The clean arm is judged by the task as it was, whatever happened. */
static int find_authority(struct strict_work *w, struct err *err)
{
	const struct pred_facts *f = pred_facts(w->checks.set);
	bool clean = w->ret->arm == STRICT_CLEAN;
	const char *goal = clean || !f->goal ? AUTHORITY_INITIAL : f->goal;
	const char *verifier = clean || !f->verifier ? AUTHORITY_INITIAL : f->verifier;
	struct task *task = NULL;
	char sum[65];
	int rc;

	w->in_force.goal = mem_strdup(goal);
	w->in_force.verifier = mem_strdup(verifier);
	w->ret->goal = mem_strdup(goal);
	w->ret->verifier = mem_strdup(verifier);
	if (!w->req->task)
		return 0;
	rc = authority_task(w->req->task, w->req->scenario, goal, verifier, &task, err);
	if (rc < 0)
		return rc;
	w->digest = mem_strdup(verdict_task_digest(task, sum));
	task_free(task);
	return 0;
}

static void keep_facts(struct strict_work *w)
{
	const struct pred_facts *f = pred_facts(w->checks.set);
	struct strict_result *ret = w->ret;

	ret->scenario = w->req->scenario ? mem_strdup(w->req->scenario->id) : NULL;
	ret->fork = f->fork;
	ret->update = f->update;
	ret->told = f->told;
	ret->mutation = f->mutation;
}

static void work_done(struct strict_work *w)
{
	strict_checks_done(&w->checks);
	json_src_done(&w->run);
	if (w->graded)
		verdict_file_done(&w->verdict);
	authority_done(&w->judged);
	authority_done(&w->in_force);
	free(w->digest);
	basetree_free(w->base);
}

int strict_judge(const struct strict_request *req, struct strict_result *ret, struct err *err)
{
	struct strict_result r = { 0 };
	struct strict_work w = { .req = req, .ret = &r };
	int rc = strict_checks_read(req->scenario, &w.checks, err);

	if (rc == 0)
		rc = load_run(&w, err);
	if (rc == 0)
		rc = load_plan(&w, err);
	if (rc == 0)
		rc = load_verdict(&w, err);
	if (rc == 0)
		rc = scan(&w, err);
	if (rc == 0) {
		r.arm = arm_of(&w);
		keep_facts(&w);
		rc = find_authority(&w, err);
	}
	if (rc == 0)
		rc = strict_judge_valid(&w, err);
	if (rc == 0)
		rc = strict_judge_checks(&w, err);
	if (rc == 0)
		rc = strict_judge_figures(&w, err);
	work_done(&w);
	if (rc < 0)
		strict_done(&r);
	else
		*ret = r;
	return rc;
}

static void row_done(struct strict_row *r)
{
	free(r->reason);
	pred_finding_done(&r->parts);
}

void strict_done(struct strict_result *r)
{
	for (size_t i = 0; i < STRICT_VALID_MAX; i++)
		row_done(&r->rule[i]);
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		row_done(&r->check[i]);
	pred_finding_done(&r->milestones);
	for (size_t i = 0; i < r->n_figures; i++) {
		free(r->figure[i].name);
		pred_finding_done(&r->figure[i].parts);
	}
	free(r->figure);
	free(r->scenario);
	free(r->goal);
	free(r->verifier);
	*r = (struct strict_result){ 0 };
}

#include "supervisor/armgrade.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "supervisor/runfile.h"
#include "verifier/owntree.h"
#include "verifier/strict.h"

#define PATCH_MAX   (64u << 20)
#define VERDICT_MAX (256u << 20)

void armgrade_done(struct armgrade *a)
{
	authority_done(&a->authority);
	free(a->reason);
	free(a->invalid);
	*a = (struct armgrade){ 0 };
}

static int keep(const char *dir, const char *name, const struct buf *b, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	if (b->full)
		return err_set(err, ERR_LIMIT, "%s would have more than %zu bytes", path, b->max);
	return fd_replace_file(path, buf_str(b), b->len, err);
}

static int read_optional(const char *dir, const char *name, struct buf *out, bool *ret_there,
			 struct err *err)
{
	auto_free char *path = path_join(dir, name);

	*ret_there = access(path, F_OK) == 0;
	return *ret_there ? fd_read_file(path, out, err) : 0;
}

/* The versions that the verdict is made under. */
static int versions(const struct armgrade_request *req, struct authority *ret, struct err *err)
{
	int rc = 0;

	*ret = (struct authority){ 0 };
	if (req->shifted)
		rc = authority_of_run(req->dir, ret, err);
	if (rc < 0)
		return rc;
	if (!ret->goal)
		ret->goal = mem_strdup(AUTHORITY_INITIAL);
	if (!ret->verifier)
		ret->verifier = mem_strdup(AUTHORITY_INITIAL);
	if (req->goal_judged) {
		free(ret->goal);
		ret->goal = mem_strdup(req->goal_judged);
	}
	if (req->verifier_judged) {
		free(ret->verifier);
		ret->verifier = mem_strdup(req->verifier_judged);
	}
	return 0;
}

/* The scenario file that the run was made with; NULL = none. Caller frees. */
static char *scenario_of(const struct runfile *rf)
{
	const cJSON *q = cJSON_GetObjectItemCaseSensitive(rf->src.root, "request");
	char *file =
		mem_strdup(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(q, "scenario")));
	auto_free char *cwd =
		mem_strdup(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(q, "cwd")));
	auto_free char *name = file;

	if (!name)
		return NULL;
	(void)json_unescape_bytes(name); /* no path holds NUL bytes */
	if (cwd)
		(void)json_unescape_bytes(cwd);
	return cwd ? path_join(cwd, name) : take_ptr(&name);
}

int armgrade_task(const char *dir, const struct task *task, struct authority *ret_authority,
		  struct task **ret, struct err *err)
{
	struct runfile rf = { 0 };
	struct scenario *sc = NULL;
	struct authority a = { 0 };
	auto_free char *file = NULL;
	struct err gone = { 0 };
	int rc = runfile_load(dir, &rf, err), loaded = 0;

	*ret = NULL;
	*ret_authority = (struct authority){ 0 };
	if (rc == 0)
		file = scenario_of(&rf);
	runfile_done(&rf);
	if (rc < 0 || !file)
		return rc;
	loaded = scenario_load(file, &sc, &gone);
	/* A trace may be long: it is read for scenarios that have versions only. */
	if (loaded == 0 && !sc->authority) {
		scenario_free(sc);
		return 0;
	}
	rc = authority_of_run(dir, &a, err);
	if (rc == 0 && !authority_is_initial(&a)) {
		if (loaded < 0)
			rc = err_set(err, ERR_INPUT,
				     "%s: version \"%.200s\" of its verifier was in force, and its "
				     "scenario cannot be read: %.600s",
				     dir, a.verifier, gone.text);
		else
			rc = authority_task(task, sc, a.goal, a.verifier, ret, err);
		if (rc == 0) {
			*ret_authority = a;
			a = (struct authority){ 0 };
		}
	}
	authority_done(&a);
	scenario_free(sc);
	return rc;
}

static int write_verdict(const struct armgrade_request *req, const struct task *task,
			 const struct verdict *v, struct err *err)
{
	auto_buf verdict = BUF_INIT(VERDICT_MAX), report = BUF_INIT(VERDICT_MAX);
	struct runfile rf = { 0 };
	int rc = runfile_load(req->dir, &rf, err);

	if (rc < 0)
		return rc;
	verdict_json(task, v, rf.plan_digest, &verdict);
	verdict_swebench(task, v, &report);
	runfile_done(&rf);
	rc = keep(req->dir, "verdict.json", &verdict, err);
	if (rc == 0)
		rc = keep(req->dir, "report.json", &report, err);
	if (rc == 0)
		rc = keep(req->dir, "test.log", &v->log, err);
	return rc < 0 ? rc : runfile_set_verdict(req->dir, verdict_name(v->kind), err);
}

/* Both scores: the replayed patch, and the tree as the agent left it. */
static int grade(const struct armgrade_request *req, const struct grade_request *q,
		 struct verdict *v, struct err *err)
{
	auto_buf tree = BUF_INIT(PATCH_MAX);
	bool there;
	int rc = grade_repeat(q, req->infra_repeats, v, err);

	if (rc < 0 || req->no_own_tree)
		return rc;
	rc = read_optional(req->dir, "tree.diff", &tree, &there, err);
	if (rc == 0)
		rc = owntree_grade(q, there ? buf_str(&tree) : NULL, req->infra_repeats, v, err);
	if (rc < 0)
		verdict_done(v);
	return rc;
}

static int with_profile(const struct armgrade_request *req, const struct profile *profile,
			struct janitor *jan, struct armgrade *ret, struct err *err)
{
	struct grade_request q = { .profile = profile,
				   .janitor = jan,
				   .no_cgroup = req->no_cgroup };
	auto_buf patch = BUF_INIT(PATCH_MAX);
	struct task *task = NULL;
	struct verdict v;
	bool there;
	int rc = versions(req, &ret->authority, err);

	if (rc == 0)
		rc = authority_task(req->task, req->scenario, ret->authority.goal,
				    ret->authority.verifier, &task, err);
	if (rc == 0)
		rc = read_optional(req->dir, "patch.diff", &patch, &there, err);
	if (rc == 0) {
		q.task = task;
		q.patches[0] = there && patch.len ? buf_str(&patch) : NULL;
		rc = grade(req, &q, &v, err);
	}
	if (rc == 0) {
		v.goal = ret->authority.goal;
		v.verifier = ret->authority.verifier;
		rc = write_verdict(req, task, &v, err);
		ret->verdict = v.kind;
		ret->reason = mem_strdup(v.reason);
		verdict_done(&v);
	}
	task_free(task);
	return rc;
}

int armgrade_verdict(const struct armgrade_request *req, struct armgrade *ret, struct err *err)
{
	struct profile *own = NULL;
	struct janitor *jan = NULL;
	int rc = 0;

	*ret = (struct armgrade){ 0 };
	if (!req->profile)
		rc = profile_load("verify", &own, err);
	if (rc == 0 && !req->janitor)
		rc = janitor_start(&jan, NULL, err);
	if (rc == 0)
		rc = with_profile(req, own ? own : req->profile, jan ? jan : req->janitor, ret,
				  err);
	janitor_finish(jan);
	profile_free(own);
	if (rc < 0)
		armgrade_done(ret);
	return rc;
}

static int judge(const struct armgrade_request *req, struct armgrade *ret, struct err *err)
{
	struct strict_request q = {
		.dir = req->dir,
		.scenario = req->scenario,
		.task = req->task,
		.arm = req->shifted ? STRICT_SHIFTED : STRICT_CLEAN,
	};
	auto_buf text = BUF_INIT(VERDICT_MAX);
	struct strict_result r = { 0 };
	int rc = strict_judge(&q, &r, err);

	if (rc < 0)
		return rc;
	strict_json(&r, &text);
	rc = keep(req->dir, "strict.json", &text, err);
	ret->judged = rc == 0;
	ret->valid = r.valid;
	ret->success = r.success;
	for (int i = 0; i < STRICT_VALID_MAX && !ret->invalid; i++) {
		if (r.rule[i].applies && !r.rule[i].ok)
			ret->invalid = mem_printf("%s: %s", r.rule[i].name, r.rule[i].reason);
	}
	strict_done(&r);
	return rc;
}

int armgrade(const struct armgrade_request *req, struct armgrade *ret, struct err *err)
{
	int rc = armgrade_verdict(req, ret, err);

	if (rc == 0 && req->scenario && req->scenario->checks)
		rc = judge(req, ret, err);
	if (rc < 0)
		armgrade_done(ret);
	return rc;
}

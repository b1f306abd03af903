#include "supervisor/forkrun.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/armgrade.h"
#include "supervisor/forkrun_internal.h"
#include "supervisor/run.h"
#include "verifier/rundir.h"

/* Numbers of the arm's own run.json. */
static void take_summary(struct forkrun_arm *a, struct err *err)
{
	struct rundir rd = { 0 };
	uint64_t fork_n = 0;

	if (rundir_load(a->dir, &rd, err) < 0) {
		a->failure = mem_strdup(err->text);
		return;
	}
	a->tokens = (uint64_t)rundir_num(&rd, "fork.continuation.total_tokens", 0);
	a->commands = rd.n_actions;
	a->wall_ns = (uint64_t)rundir_num(&rd, "times.wall_ns", 0);
	/* What fired behind the fork: a record may have had interventions of its own. */
	fork_n = rd.fork_n;
	for (size_t i = 0; i < rd.n_firings; i++)
		a->updated |= rd.firing[i].applied && fork_n && rd.firing[i].at_n >= fork_n;
	rundir_done(&rd);
}

/* What the run of an arm came to, @rc, as the arm's outcome. */
static int settle_arm(struct forkrun_arm *a, int rc, struct err *err)
{
	/* What went wrong with one arm makes the pair invalid; a directory that exists is our caller's
	 * mistake. */
	if (rc == -ERR_USAGE)
		return rc;
	if (rc < 0)
		a->failure = mem_strdup(err->text);
	/* The user's Ctrl-C or SIGTERM is for the whole command. */
	if (rc == 0 && str_eq(a->end, "interrupted"))
		return err_set(err, ERR_REFUSED,
			       "interrupted in %s; what was begun is incomplete: run it again with "
			       "another --out",
			       a->dir);
	if (a->made)
		take_summary(a, err);
	return 0;
}

static int make_arm(const struct forkrun_request *req, struct forkrun_record *r, enum fork_arm arm,
		    const struct plan *plan, struct forkrun_arm *a, struct err *err)
{
	auto_free char *out = path_join(req->out, fork_arm_name(arm));
	struct forkpoint f = {
		.record = r->dir,
		.steps = r->steps,
		.at = r->at,
		.arm = arm,
		.resumed = req->resume ? &r->state : NULL,
		.store = r->store,
		.budget = req->budget ? req->budget : FORKRUN_BUDGET,
		.ladder = req->ladder ? req->ladder : "A0",
	};
	struct plan_request made_of = {
		.cwd = req->cwd,
		.task = plan->task->file,
		.agent = req->agent ? req->agent : r->seed.agent,
		.profile = req->profile ? req->profile : r->seed.profile,
		.scenario = plan->scenario ? plan->scenario->file : NULL,
		.mode = req->mode ? req->mode : r->seed.mode,
		.rounds = r->seed.rounds,
		.model = plan->model ? plan->model->spec : NULL,
		.set = (const char *const *)r->seed.set.v,
	};
	struct run_options ro = {
		.request = &made_of,
		.out = out,
		.quiet_output = true,
		.no_cgroup = req->no_cgroup,
		.no_tty = true,
		.key = req->key,
		.fork = &f,
	};
	struct run_outcome o;
	int rc;

	if (!req->resume)
		memcpy(f.prefix, r->prefix, sizeof(f.prefix));
	rc = run_execute(plan, &ro, &o, err);
	a->made = o.dir != NULL;
	a->dir = take_ptr(&o.dir);
	a->end = mem_strdup(rc < 0 ? "error" : o.reason);
	a->reached = f.reached;
	a->paid = f.paid;
	a->differs = take_ptr(&f.differs);
	run_outcome_done(&o);
	rc = settle_arm(a, rc, err);
	if (rc == 0 && req->resume)
		forkrun_resume_made(r, a);
	return rc;
}

static int grade_arm(const struct forkrun_request *req, const struct plan *plan, enum fork_arm arm,
		     struct forkrun_arm *a, struct err *err)
{
	struct armgrade_request q = {
		.dir = a->dir,
		.task = plan->task,
		.scenario = plan->scenario,
		.shifted = arm == FORK_SHIFTED,
		.profile = req->grader,
		.janitor = req->janitor,
		.no_cgroup = req->no_cgroup,
		.no_own_tree = true,
	};
	struct armgrade g = { 0 };
	int rc = armgrade(&q, &g, err);

	if (rc < 0)
		return rc;
	a->graded = true;
	a->verdict = g.verdict;
	a->reason = mem_strdup(g.reason);
	a->judged = g.judged;
	a->strict_valid = g.valid;
	/* A scenario without checks is judged by its tests alone. */
	a->success = g.judged ? g.success : g.verdict == VERDICT_RESOLVED;
	a->invalid = mem_strdup(g.invalid);
	armgrade_done(&g);
	return 0;
}

/* Why the arm cannot be part of a pair; NULL when it can. *ret_detail is borrowed. */
static const char *wrong(const struct forkrun_arm *a, enum fork_arm arm, bool graded,
			 const char **ret_detail)
{
	*ret_detail = a->differs;
	if (a->differs)
		return "prefix";
	*ret_detail = a->failure;
	if (a->failure)
		return "run";
	*ret_detail = a->end;
	if (!a->reached)
		return "run";
	*ret_detail = "no intervention was applied at or behind the fork";
	if (arm == FORK_SHIFTED && !a->updated)
		return "update";
	*ret_detail = a->reason;
	if (graded && (a->verdict == VERDICT_INFRA || a->verdict == VERDICT_INVALID))
		return "infra";
	*ret_detail = a->invalid;
	if (graded && a->judged && !a->strict_valid)
		return "protocol";
	return NULL;
}

static void settle(const struct forkrun_request *req, struct forkrun_pair *p)
{
	bool both = true, success = true;

	p->valid = true;
	for (int i = 0; i < FORKRUN_ARMS; i++) {
		const char *detail, *why;

		if (req->skip[i]) {
			both = false;
			continue;
		}
		why = wrong(&p->arm[i], (enum fork_arm)i, !req->no_grade, &detail);
		success &= p->arm[i].success;
		if (!why || !p->valid)
			continue;
		p->valid = false;
		p->reason = mem_strdup(why);
		p->detail = mem_printf("%s arm: %s", fork_arm_name((enum fork_arm)i),
				       detail ? detail : "unknown");
	}
	p->paired = p->valid && both && success;
}

static void name_pair(const struct forkrun_request *req, const struct forkrun_record *r,
		      const struct plan *plan, struct forkrun_pair *p)
{
	p->at = r->at;
	p->record = mem_strdup(r->dir);
	p->budget = req->budget ? req->budget : FORKRUN_BUDGET;
	p->resumed = req->resume;
	strv_copy(&p->left, &r->left);
	p->repeat = req->repeat ? req->repeat : 1;
	p->ladder = mem_strdup(req->ladder ? req->ladder : "A0");
	p->prefix_tokens = r->prefix[LIMIT_TOTAL_TOKENS];
	p->agent = mem_strdup(plan->agent->name);
	p->model = mem_strdup(plan->model_name);
	p->instance_id = mem_strdup(plan->task->instance_id);
	if (plan->scenario) {
		p->scenario = mem_strdup(plan->scenario->id);
		p->family = mem_strdup(plan->scenario->family);
	}
}

/* One arm from its plan to its judgement. */
static int one_arm(const struct forkrun_request *req, struct forkrun_record *r, enum fork_arm arm,
		   struct forkrun_pair *p, struct err *err)
{
	struct plan *plan = NULL;
	struct forkrun_arm *a = &p->arm[arm];
	int rc = forkrun_plan(req, r, arm, &plan, err);

	if (rc == 0 && arm == FORK_SHIFTED && !plan->scenario)
		rc = err_set(err, ERR_USAGE,
			     "the record has no scenario, so there is no update for the shifted "
			     "arm; give --scenario FILE, or --arms clean");
	if (rc == 0 && !p->record)
		name_pair(req, r, plan, p);
	if (rc == 0)
		rc = make_arm(req, r, arm, plan, a, err);
	if (rc == 0 && a->made && !a->failure && !a->differs && !req->no_grade)
		rc = grade_arm(req, plan, arm, a, err);
	plan_free(plan);
	return rc;
}

int forkrun_pair(const struct forkrun_request *req, struct forkrun_pair *ret, struct err *err)
{
	auto_free char *path = path_join(req->out, "pair.json");
	auto_buf text = BUF_INIT(1u << 20);
	struct forkrun_record r = { 0 };
	int rc = forkrun_record(req, &r, err);

	*ret = (struct forkrun_pair){ 0 };
	if (rc == 0)
		rc = fd_mkdirs(req->out, 0755, err);
	for (int i = 0; rc == 0 && i < FORKRUN_ARMS; i++) {
		if (!req->skip[i])
			rc = one_arm(req, &r, (enum fork_arm)i, ret, err);
	}
	if (rc == 0) {
		settle(req, ret);
		forkrun_json(ret, &text);
		rc = fd_replace_file(path, buf_str(&text), text.len, err);
	}
	forkrun_record_done(&r);
	if (rc < 0)
		forkrun_done(ret);
	return rc;
}

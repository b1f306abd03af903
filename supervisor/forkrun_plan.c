/* From the files of a record to the plan of a continuation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/record.h"
#include "profiles/plan_pair.h"
#include "supervisor/forkrun_internal.h"
#include "triggers/ladder.h"
#include "verifier/authority.h"
#include "verifier/rundir.h"
#include "verifier/strict.h"

#define RECORD_MAX (1u << 30) /* bytes of a model.jsonl, as MODEL_FILE_MAX */
#define OFF(field) offsetof(struct forkrun_seed, field)

/* clang-format off */
static const struct json_field seed_rows[] = {
	{ "cwd", JSON_STR, OFF(cwd), true },
	{ "task", JSON_STR, OFF(task) },
	{ "agent", JSON_STR, OFF(agent) },
	{ "profile", JSON_STR, OFF(profile) },
	{ "scenario", JSON_STR, OFF(scenario) },
	{ "mode", JSON_STR, OFF(mode) },
	{ "rounds", JSON_U64, OFF(rounds) },
	{ "model", JSON_STR, OFF(model) },
	{ "simulator", JSON_STR, OFF(simulator) },
	{ "set", JSON_STRV, OFF(set) },
	{ "argv", JSON_STRV, OFF(argv) },
	{ NULL },
};
/* clang-format on */

void forkrun_record_done(struct forkrun_record *r)
{
	json_release(seed_rows, &r->seed);
	rundir_done(&r->rd);
	free(r->dir);
	free(r->steps);
	free(r->store);
	checkpoint_state_done(&r->state);
	strv_done(&r->left);
	free(r->first_dir);
	*r = (struct forkrun_record){ 0 };
}

static int read_seed(struct forkrun_record *r, struct err *err)
{
	const cJSON *q = cJSON_GetObjectItemCaseSensitive(r->rd.run.root, "request");

	if (!cJSON_IsObject(q))
		return err_set(err, ERR_INPUT,
			       "%s/run.json does not say what the run was made of (\"request\"); "
			       "record it again with this version",
			       r->dir);
	return json_read(&r->rd.run, "$.request", q, seed_rows, &r->seed, err);
}

/* Why the run is none that can be continued. */
static int check(const struct forkrun_record *r, struct err *err)
{
	const char *state = rundir_str(&r->rd, "state");

	if (!state || strcmp(state, "done") != 0 || !r->rd.ended || r->rd.cut)
		return err_set(err, ERR_INPUT,
			       "%s: the run did not end in order; its beginning "
			       "cannot be had again",
			       r->dir);
	if (!r->rd.model)
		return err_set(err, ERR_INPUT,
			       "%s: the agent has no model API, so there are no answers to give "
			       "again; record an agent that has one, or 'actor' with a script",
			       r->dir);
	if (access(r->steps, R_OK) < 0)
		return err_set(
			err, ERR_INPUT,
			"%s: %s; a run with a model and an overlay workspace writes it, unless its profile has steps off",
			r->steps, strerror(errno));
	return 0;
}

static void add(uint64_t *to, uint64_t n)
{
	*to = *to == UINT64_MAX || n == UINT64_MAX ? UINT64_MAX : *to + n;
}

/* What was asked before main request number call + 1 came belongs to the prefix: side calls, too. */
static int measure(struct forkrun_record *r, struct err *err)
{
	auto_free char *path = path_join(r->dir, "model.jsonl");
	auto_buf text = BUF_INIT(RECORD_MAX);
	struct recorded_list list = { 0 };
	uint64_t next = r->at.call < r->rd.n_calls ? r->rd.call[r->at.call].call : UINT64_MAX;
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = record_read(path, buf_str(&text), text.len, &list, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < list.n; i++) {
		const struct recorded *one = &list.v[i];

		if (one->from_gateway || one->call >= next)
			continue;
		r->answers++;
		r->prefix[LIMIT_MODEL_CALLS]++;
		r->prefix[LIMIT_INPUT_TOKENS] += one->input;
		r->prefix[LIMIT_OUTPUT_TOKENS] += one->output;
		r->prefix[LIMIT_TOTAL_TOKENS] += one->input + one->output;
		add(&r->prefix[LIMIT_DOLLARS], one->micro);
	}
	recorded_done(&list);
	return 0;
}

int forkrun_record(const struct forkrun_request *req, struct forkrun_record *ret, struct err *err)
{
	struct forkrun_record r = { .dir = path_join(req->cwd, req->record) };
	int rc = rundir_load(r.dir, &r.rd, err);

	r.steps = path_join(r.dir, "steps.jsonl");
	if (rc == 0)
		rc = check(&r, err);
	if (rc == 0)
		rc = read_seed(&r, err);
	if (rc == 0)
		rc = position_find(&r.rd, req->position, &r.at, err);
	if (rc == 0)
		rc = measure(&r, err);
	if (rc == 0 && req->resume)
		rc = forkrun_resume_read(req, &r, err);
	if (rc < 0)
		forkrun_record_done(&r);
	else
		*ret = r;
	return rc;
}

enum { POSITIONS_MAX = 64 };

int forkrun_positions(const char *text, struct strv *ret, struct err *err)
{
	if (!text)
		return err_set(err, ERR_USAGE,
			       "where? give --at 0.5, --at before-first-edit, or --at all");
	if (strcmp(text, "all") == 0) {
		for (size_t i = 0; position_nine[i]; i++)
			strv_add(ret, position_nine[i]);
		return 0;
	}
	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");

		if (n)
			strv_take(ret, mem_strndup(p, n));
		p += n;
		if (!*p)
			break;
	}
	if (!ret->n || ret->n > POSITIONS_MAX)
		return err_set(err, ERR_USAGE, "--at names %zu positions; 1 to %d can be", ret->n,
			       POSITIONS_MAX);
	strv_each (i, ret)
		if (strchr(ret->v[i], '/'))
			return err_set(err, ERR_USAGE, "\"%s\" is no position", ret->v[i]);
	return 0;
}

/* --- the plan ---------------------------------------------------------------------------------- */

/* The limits of the profile count from the fork: what the prefix used is put on top of them. */
static void raise_limits(const struct forkrun_request *req, const struct forkrun_record *r,
			 struct plan *p)
{
	static const enum limit_kind kinds[] = { LIMIT_MODEL_CALLS, LIMIT_INPUT_TOKENS,
						 LIMIT_OUTPUT_TOKENS, LIMIT_DOLLARS };
	uint64_t *max = p->profile->limits.max;

	max[LIMIT_TOTAL_TOKENS] = req->budget ? req->budget : FORKRUN_BUDGET;
	/* A session that is taken up has used nothing yet. */
	if (req->resume)
		return;
	max[LIMIT_TOTAL_TOKENS] += r->prefix[LIMIT_TOTAL_TOKENS];
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (max[kinds[i]] && r->prefix[kinds[i]] != UINT64_MAX)
			max[kinds[i]] += r->prefix[kinds[i]];
	}
}

/* The text of a plan without what a continuation may have of its own. */
static int comparable(const char *text, struct buf *out, struct err *err)
{
	cJSON *root = cJSON_Parse(text);
	cJSON *profile = cJSON_GetObjectItemCaseSensitive(root, "profile");
	char *plain;

	cJSON_DeleteItemFromObjectCaseSensitive(root, "model");
	cJSON_DeleteItemFromObjectCaseSensitive(profile, "limits");
	plain = root ? cJSON_PrintUnformatted(root) : NULL;
	cJSON_Delete(root);
	if (!plain)
		return err_set(err, ERR_INPUT, "the record's plan.json is no JSON");
	buf_adds(out, plain);
	free(plain);
	return 0;
}

static int same_plan(const struct forkrun_record *r, const struct plan *p, struct err *err)
{
	auto_free char *path = path_join(r->dir, "plan.json");
	auto_buf recorded = BUF_INIT(PLAN_PAIR_FILE_MAX), now = BUF_INIT(PLAN_PAIR_FILE_MAX);
	auto_buf a = BUF_INIT(PLAN_PAIR_FILE_MAX), b = BUF_INIT(PLAN_PAIR_FILE_MAX);
	int rc = fd_read_file(path, &recorded, err);

	if (rc < 0)
		return rc;
	plan_print(p, &now);
	rc = comparable(buf_str(&recorded), &a, err);
	if (rc == 0)
		rc = comparable(buf_str(&now), &b, err);
	if (rc == 0)
		rc = plan_pair_check(buf_str(&a), buf_str(&b), err);
	return rc < 0 ? err_wrap(err, "this is not what %s was made of", r->dir) : 0;
}

static char *below(const char *cwd, const char *file)
{
	return file && (strchr(file, '/') || str_ends(file, ".json")) ? path_join(cwd, file)
								      : mem_strdup(file);
}

/* "replay:RECORD@N+MODEL". A script or endpoint of the record's own is below its directory. */
static int model_spec(const struct forkrun_request *req, const struct forkrun_record *r,
		      enum fork_arm arm, char **ret, struct err *err)
{
	const char *then = req->model[arm] ? req->model[arm] : r->seed.model;

	if (!then ||
	    (!req->model[arm] && (str_starts(then, "script:") || str_starts(then, "replay"))))
		return err_set(err, ERR_USAGE,
			       "who answers behind the fork in the %s arm? The record's own model "
			       "(%s) cannot go on; give --model",
			       fork_arm_name(arm), then ? then : "none");
	*ret = req->resume ? forkrun_resume_model(r, then)
			   : mem_printf("replay:%s@%llu+%s", r->dir, (unsigned long long)r->answers,
					then);
	return 0;
}

/* In the clean arm nothing happens, so there is nothing to tell of. */
static int tell_more(const struct forkrun_request *req, enum fork_arm arm, struct plan *p,
		     struct err *err)
{
	enum ladder_step step;
	int rc = ladder_find(req->ladder, &step, err);

	return rc < 0 || arm == FORK_CLEAN ? rc : ladder_set(p->scenario, step, err);
}

int forkrun_plan(const struct forkrun_request *req, const struct forkrun_record *r,
		 enum fork_arm arm, struct plan **ret, struct err *err)
{
	const struct forkrun_seed *s = &r->seed;
	auto_free char *model = NULL;
	auto_free char *task = req->task ? below(req->cwd, req->task) : below(s->cwd, s->task);
	auto_free char *agent = req->agent ? below(req->cwd, req->agent) : below(s->cwd, s->agent);
	auto_free char *profile =
		req->profile ? below(req->cwd, req->profile) : below(s->cwd, s->profile);
	auto_free char *scenario =
		req->scenario ? below(req->cwd, req->scenario) : below(s->cwd, s->scenario);
	auto_strv set = { 0 };
	struct plan_request q = {
		.task = task,
		.agent = agent,
		.argv = s->argv.n ? s->argv.v : NULL,
		.profile = profile,
		.scenario = scenario,
		.mode = req->mode ? req->mode : s->mode,
		.rounds = s->rounds,
		.simulator = s->simulator,
		.cwd = req->cwd,
	};
	int rc = model_spec(req, r, arm, &model, err);

	if (rc < 0)
		return rc;
	strv_copy(&set, &s->set);
	for (size_t i = 0; req->set && req->set[i]; i++)
		strv_add(&set, req->set[i]);
	q.set = (const char *const *)set.v;
	q.model = model;
	rc = plan_build(&q, ret, err);
	if (rc < 0)
		return rc;
	raise_limits(req, r, *ret);
	rc = tell_more(req, arm, *ret, err);
	if (rc == 0)
		rc = same_plan(r, *ret, err);
	if (rc == 0 && req->resume)
		rc = forkrun_resume_plan(r, *ret, err);
	/* Bad checks are said before anything is started. */
	if (rc == 0 && (*ret)->scenario)
		rc = strict_scenario((*ret)->scenario, err);
	if (rc == 0 && (*ret)->scenario)
		rc = authority_check((*ret)->scenario, err);
	if (rc < 0)
		*ret = plan_free(*ret);
	return rc;
}

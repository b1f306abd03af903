/* The condition of a run: the same scenario in another mode, with another K, and a schedule by
 * progress turned into counts before anything runs, so that the frozen plan shows them. */
#include "profiles/plan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"

#define REFERENCES_MAX 1000
#define LENGTH_MAX     1e15 /* far from where a double stops to count */

static int mode_of(const char *name, struct err *err)
{
	const char *near;

	for (int i = 0; scenario_mode_names[i]; i++)
		if (strcmp(name, scenario_mode_names[i]) == 0)
			return i;
	near = str_nearest(name, scenario_mode_names);
	return err_set(err, ERR_USAGE,
		       "mode \"%.100s\" is not known%s%s%s; choose vanilla, message, edit, "
		       "edit+message or co-edit",
		       name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int set_mode(const struct plan_request *req, struct plan *p, struct err *err)
{
	struct plan_condition *c = &p->condition;
	int mode = req->mode ? mode_of(req->mode, err) : -1;
	int rc = 0;

	if (req->mode && mode < 0)
		return mode;
	c->repeat = req->repeat ? req->repeat : 1;
	c->mode = MODE_VANILLA;
	if (!p->scenario && (mode > MODE_VANILLA || (req->rounds && mode != MODE_VANILLA)))
		return err_set(err, ERR_USAGE,
			       "%s %s without a scenario: there is nothing to do to the run; add "
			       "--scenario FILE",
			       mode > MODE_VANILLA ? "mode" : "rounds",
			       mode > MODE_VANILLA ? req->mode : "K");
	if (p->scenario) {
		rc = scenario_set_condition(p->scenario, mode, req->rounds, err);
		c->mode = p->scenario->mode;
		c->k = scenario_rounds(p->scenario);
	}
	return rc;
}

/* A count at a path of run.json ("model.calls"), 0 when it is not there. */
static uint64_t count_at(const cJSON *root, const char *object, const char *key)
{
	const cJSON *o = object ? cJSON_GetObjectItemCaseSensitive(root, object) : root;
	double v = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return v >= 1 && v <= LENGTH_MAX ? (uint64_t)v : 0;
}

static int read_reference(const char *run, struct plan_reference *ret, struct err *err)
{
	struct json_src src = { 0 };
	const char *state;
	int rc;

	ret->run = path_join(run, "run.json");
	rc = json_load(ret->run, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "run", err);
	if (rc < 0) {
		json_src_done(&src);
		return err_wrap(err, "reference run %s", run);
	}
	state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "state"));
	ret->commands = count_at(src.root, NULL, "commands");
	ret->calls = count_at(src.root, "model", "main_calls");
	if (!ret->calls)
		ret->calls = count_at(src.root, "model", "calls");
	if (!state || strcmp(state, "done") != 0)
		rc = err_set(err, ERR_INPUT,
			     "reference run %s is not done (state \"%s\"); wait for its end, or "
			     "choose another",
			     run, state ? state : "");
	json_src_done(&src);
	return rc;
}

static int read_references(const struct plan_request *req, struct plan *p, struct err *err)
{
	struct plan_condition *c = &p->condition;
	size_t n = 0;

	while (req->reference && req->reference[n])
		n++;
	if (n > REFERENCES_MAX)
		return err_set(err, ERR_USAGE, "more than %d reference runs", REFERENCES_MAX);
	c->reference = mem_zalloc(n + 1, sizeof(*c->reference));
	while (c->n_references < n) {
		size_t i = c->n_references++;
		int rc = read_reference(req->reference[i], c->reference + i, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Median of the reference runs' lengths; of an even number the mean of the two in the middle,
 * rounded up. */
static uint64_t length_of(const struct plan_condition *c, bool calls)
{
	auto_free uint64_t *v = mem_zalloc(c->n_references, sizeof(*v));
	size_t n = c->n_references;

	for (size_t i = 0; i < n; i++)
		v[i] = calls ? c->reference[i].calls : c->reference[i].commands;
	qsort(v, n, sizeof(*v), compare);
	return (v[(n - 1) / 2] + v[n / 2] + 1) / 2;
}

static int from_references(const struct plan *p, const struct intervention *iv, struct when *w,
			   struct err *err)
{
	const struct plan_condition *c = &p->condition;
	bool calls = w->unit == UNIT_CALLS;

	w->n = length_of(c, calls);
	w->from = c->n_references == 1 ? LENGTH_RUN : LENGTH_MEDIAN;
	w->unit = calls ? UNIT_CALLS : UNIT_COMMANDS;
	if (w->n)
		return 0;
	return err_set(err, ERR_INPUT,
		       "scenario \"%s\", intervention %llu: progress is measured on %s, which made "
		       "no %s; choose another reference run, or the other unit",
		       p->scenario->id, (unsigned long long)iv->order, c->reference[0].run,
		       calls ? "model calls" : "commands");
}

static int resolve(struct plan *p, struct intervention *iv, struct err *err)
{
	uint64_t budget = p->profile->limits.max[LIMIT_MODEL_CALLS];
	struct when *w = &iv->when;

	if (w->event != WHEN_PROGRESS)
		return 0;
	if (!w->n && p->condition.n_references)
		return from_references(p, iv, w, err);
	/* A budget is one of calls; who counts commands takes it for the most there can be. */
	if (!w->n && budget && p->agent->api != AGENT_API_NONE) {
		w->n = budget;
		w->from = LENGTH_BUDGET;
		w->unit = w->unit == UNIT_AUTO ? UNIT_CALLS : w->unit;
	}
	if (w->unit == UNIT_AUTO)
		w->unit = UNIT_COMMANDS;
	return 0;
}

int plan_condition(const struct plan_request *req, struct plan *p, struct err *err)
{
	int rc = set_mode(req, p, err);

	if (rc == 0)
		rc = read_references(req, p, err);
	for (size_t i = 0; rc == 0 && p->scenario && i < scenario_taking_part(p->scenario); i++)
		rc = resolve(p, p->scenario->interventions + i, err);
	return rc;
}

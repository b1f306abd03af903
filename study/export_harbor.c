/* Harbor's job directory: config.json, result.json and a directory for each trial. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/export_internal.h"
#include "study/export_run.h"

#define LOG_MAX (64u << 20) /* bytes of a test log */

/* A result on its way out. */
struct trial {
	const struct export_item *it;
	char *name; /* owned */
	bool run;   /* it->dir is a run directory, read into rd */
	struct rundir rd;
	uint64_t start, end; /* ns since 1970; 0 = unknown */
	double reward;       /* negative: no result */
};

static void trial_done(struct trial *t)
{
	free(t->name);
	if (t->run)
		rundir_done(&t->rd);
}

/* Times of a run are the run's; a graded prediction ended when its verdict was written. */
static void times(struct trial *t)
{
	auto_free char *path = path_join(t->it->dir, "verdict.json");
	struct stat st;

	if (t->run) {
		t->start = export_run_parse_time(rundir_str(&t->rd, "times.start"));
		t->end = export_run_parse_time(rundir_str(&t->rd, "times.end"));
	} else if (stat(path, &st) == 0) {
		t->end = (uint64_t)st.st_mtim.tv_sec * CLOCK_SEC + (uint64_t)st.st_mtim.tv_nsec;
		t->start = t->end - t->it->v.wall_ns;
	}
}

static int trial_open(const struct export_item *it, bool many, struct trial *t, struct err *err)
{
	auto_free char *run = path_join(it->dir, "run.json"), *model = export_dir_name(it->model);
	enum export_class class = export_class_of(it);
	int rc = 0;

	*t = (struct trial){ .it = it, .reward = -1 };
	t->name = many ? mem_printf("%s__%s", it->v.instance_id, model)
		       : mem_strdup(it->v.instance_id);
	if (class == EXPORT_RESOLVED)
		t->reward = 1;
	else if (class == EXPORT_UNRESOLVED || class == EXPORT_EMPTY)
		t->reward = 0;
	if (access(run, F_OK) == 0) {
		rc = rundir_load(it->dir, &t->rd, err);
		t->run = rc == 0;
	}
	if (rc == 0)
		times(t);
	return rc;
}

static void time_field(cJSON *o, const char *key, uint64_t ns)
{
	char text[40];

	export_run_text(o, key, ns ? export_run_time(ns, text) : NULL);
}

static void span(cJSON *o, const char *key, uint64_t start, uint64_t end)
{
	cJSON *s;

	if (!start || !end) {
		cJSON_AddNullToObject(o, key);
		return;
	}
	s = cJSON_AddObjectToObject(o, key);
	time_field(s, "started_at", start);
	time_field(s, "finished_at", end);
}

/* A model as Harbor has it: "provider/name" when the name says so. */
static void model_info(cJSON *o, const char *model)
{
	const char *slash = model ? strchr(model, '/') : NULL;
	auto_free char *provider = slash ? mem_strndup(model, (size_t)(slash - model)) : NULL;
	cJSON *m;

	if (!model || !*model) {
		cJSON_AddNullToObject(o, "model_info");
		return;
	}
	m = cJSON_AddObjectToObject(o, "model_info");
	export_run_text(m, "name", slash ? slash + 1 : model);
	export_run_text(m, "provider", provider ? provider : "unknown");
}

/* As in a trajectory; never NULL. */
static const char *agent_name(const struct trial *t)
{
	const char *name = t->run ? rundir_str(&t->rd, "agent") : "prediction";

	return name ? name : "command";
}

static void agent(const struct trial *t, cJSON *o)
{
	const cJSON *dollars =
		t->run ? cJSON_GetObjectItemCaseSensitive(
				 cJSON_GetObjectItemCaseSensitive(t->rd.run.root, "model"),
				 "micro_dollars")
		       : NULL;
	const char *model = t->run ? rundir_str(&t->rd, "model.name") : t->it->model;
	cJSON *info = cJSON_AddObjectToObject(o, "agent_info"), *r;

	export_run_text(info, "name", agent_name(t));
	cJSON_AddStringToObject(info, "version", "unknown");
	model_info(info, model);
	if (!t->run || !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(t->rd.run.root, "model"))) {
		cJSON_AddNullToObject(o, "agent_result");
		return;
	}
	r = cJSON_AddObjectToObject(o, "agent_result");
	cJSON_AddNumberToObject(r, "n_input_tokens", rundir_num(&t->rd, "model.input_tokens", 0));
	cJSON_AddNumberToObject(r, "n_cache_tokens", rundir_num(&t->rd, "model.cached_tokens", 0));
	cJSON_AddNumberToObject(r, "n_output_tokens", rundir_num(&t->rd, "model.output_tokens", 0));
	if (cJSON_IsNumber(dollars))
		cJSON_AddNumberToObject(r, "cost_usd", dollars->valuedouble / 1e6);
	else
		cJSON_AddNullToObject(r, "cost_usd");
	cJSON_AddNullToObject(r, "rollout_details");
	cJSON_AddNullToObject(r, "metadata");
}

/* What is no result of the agent's is an exception in Harbor, never a reward of 0. */
static const char *exception_type(const struct trial *t)
{
	static const char *const types[] = {
		[EXPORT_INFRA] = "InfrastructureError",
		[EXPORT_INVALID] = "InvalidTaskError",
		[EXPORT_UNGRADED] = "NotGradedError",
	};

	return types[export_class_of(t->it)];
}

static void exception(const struct trial *t, cJSON *o)
{
	const char *type = exception_type(t);
	cJSON *e;

	if (!type) {
		cJSON_AddNullToObject(o, "exception_info");
		return;
	}
	e = cJSON_AddObjectToObject(o, "exception_info");
	cJSON_AddStringToObject(e, "exception_type", type);
	export_run_text(e, "exception_message",
			t->it->v.reason ? t->it->v.reason : "nobody graded this run");
	cJSON_AddStringToObject(e, "exception_traceback", "");
	time_field(e, "occurred_at", t->end ? t->end : 1);
}

static cJSON *trial_config(const struct trial *t)
{
	cJSON *o = cJSON_CreateObject(), *task = cJSON_AddObjectToObject(o, "task"), *a;

	export_run_text(task, "path", t->it->v.instance_id);
	export_run_text(o, "trial_name", t->name);
	cJSON_AddStringToObject(o, "trials_dir", ".");
	a = cJSON_AddObjectToObject(o, "agent");
	export_run_text(a, "name", agent_name(t));
	if (t->it->model[0])
		export_run_text(a, "model_name", t->it->model);
	return o;
}

static cJSON *trial_result(const struct trial *t)
{
	const struct verdict_file *v = &t->it->v;
	auto_free char *seed =
		mem_printf("trial %s %s %s", t->name, v->digest ? v->digest : "", t->it->dir);
	cJSON *o = cJSON_CreateObject(), *id, *r;
	char uuid[37];

	cJSON_AddStringToObject(o, "id", export_run_uuid(seed, uuid));
	export_run_text(o, "task_name", v->instance_id);
	export_run_text(o, "trial_name", t->name);
	export_run_text(o, "trial_uri", t->name);
	id = cJSON_AddObjectToObject(o, "task_id");
	export_run_text(id, "path", v->instance_id);
	cJSON_AddNullToObject(o, "source");
	export_run_text(o, "task_checksum", v->verifier_digest ? v->verifier_digest : "");
	cJSON_AddItemToObject(o, "config", trial_config(t));
	agent(t, o);
	if (t->reward < 0) {
		cJSON_AddNullToObject(o, "verifier_result");
	} else {
		r = cJSON_AddObjectToObject(o, "verifier_result");
		cJSON_AddNumberToObject(cJSON_AddObjectToObject(r, "rewards"), "reward", t->reward);
	}
	exception(t, o);
	time_field(o, "started_at", t->start);
	time_field(o, "finished_at", t->end);
	cJSON_AddNullToObject(o, "environment_setup");
	cJSON_AddNullToObject(o, "agent_setup");
	span(o, "agent_execution", t->run ? t->start : 0, t->end);
	cJSON_AddNullToObject(o, "verifier");
	return o;
}

static int write_json(const struct export_job *job, const char *name, cJSON *o, struct buf *log,
		      struct err *err)
{
	auto_buf text = BUF_INIT(EXPORT_TEXT_MAX);

	export_run_print(o, true, &text);
	return export_write_buf(job, name, &text, log, err);
}

/* A file of the result that goes along as it is, when it is there. */
static int carry(const struct export_job *job, const struct trial *t, const char *from,
		 const char *to, struct buf *log, struct err *err)
{
	auto_free char *src = path_join(t->it->dir, from), *name = mem_printf("%s/%s", t->name, to);
	auto_buf b = BUF_INIT(LOG_MAX);
	int rc;

	if (access(src, F_OK) < 0)
		return 0;
	rc = fd_read_file(src, &b, err);
	return rc < 0 ? rc : export_write_buf(job, name, &b, log, err);
}

static int write_trial(const struct export_job *job, const struct trial *t, struct buf *log,
		       struct err *err)
{
	auto_free char *config = mem_printf("%s/config.json", t->name),
		       *result = mem_printf("%s/result.json", t->name);
	auto_free char *reward = mem_printf("%s/verifier/reward.txt", t->name);
	auto_free char *trajectory = mem_printf("%s/agent/trajectory.json", t->name);
	cJSON *steps = NULL;
	int rc = write_json(job, config, trial_config(t), log, err);

	if (rc == 0)
		rc = write_json(job, result, trial_result(t), log, err);
	if (rc == 0 && t->reward >= 0)
		rc = export_write(job, reward, t->reward > 0 ? "1\n" : "0\n", 2, log, err);
	if (rc == 0)
		rc = carry(job, t, "test.log", "verifier/test-stdout.txt", log, err);
	if (rc == 0 && t->run)
		rc = export_atif_tree(&t->rd, t->it->patch, &steps, err);
	return rc == 0 && steps ? write_json(job, trajectory, steps, log, err) : rc;
}

/* Counts of one agent and model. */
struct eval {
	char *key; /* owned: "agent__model__tasks" */
	size_t trials, errors;
	double sum;
};

static struct eval *eval_of(struct eval *v, size_t *n, const struct trial *t)
{
	auto_free char *model = export_dir_name(t->it->model);
	auto_free char *key = mem_printf("%s__%s__tasks", agent_name(t), model);

	for (size_t i = 0; i < *n; i++)
		if (strcmp(v[i].key, key) == 0)
			return &v[i];
	v[*n] = (struct eval){ .key = take_ptr(&key) };
	return &v[(*n)++];
}

static void stats(cJSON *o, struct eval *v, size_t n, size_t trials, size_t errors)
{
	cJSON *s = cJSON_AddObjectToObject(o, "stats"), *evals;

	cJSON_AddNumberToObject(s, "n_trials", (double)trials);
	cJSON_AddNumberToObject(s, "n_errors", (double)errors);
	evals = cJSON_AddObjectToObject(s, "evals");
	for (size_t i = 0; i < n; i++) {
		cJSON *e = cJSON_CreateObject(), *metrics, *mean;
		size_t scored = v[i].trials - v[i].errors;

		cJSON_AddNumberToObject(e, "n_trials", (double)v[i].trials);
		cJSON_AddNumberToObject(e, "n_errors", (double)v[i].errors);
		metrics = cJSON_AddArrayToObject(e, "metrics");
		mean = cJSON_CreateObject();
		/* Over the trials that have a result: our failures count beside the mean. */
		if (scored)
			cJSON_AddNumberToObject(mean, "mean", v[i].sum / (double)scored);
		cJSON_AddItemToArray(metrics, mean);
		cJSON_AddItemToObject(evals, v[i].key, e);
		free(v[i].key);
	}
}

static int write_job(const struct export_job *job, const struct trial *t, size_t n, struct buf *log,
		     struct err *err)
{
	const char *name = job->run_id ? job->run_id : "proctor";
	auto_free struct eval *v = mem_zalloc(n + 1, sizeof(*v));
	auto_buf seed = BUF_INIT(EXPORT_TEXT_MAX);
	uint64_t start = 0, end = 0;
	size_t n_evals = 0, errors = 0;
	cJSON *o = cJSON_CreateObject(), *config = cJSON_CreateObject();
	char uuid[37];
	int rc;

	buf_addf(&seed, "job %s", name);
	for (size_t i = 0; i < n; i++) {
		struct eval *e = eval_of(v, &n_evals, &t[i]);

		e->trials++;
		e->errors += t[i].reward < 0;
		e->sum += t[i].reward > 0 ? t[i].reward : 0;
		errors += t[i].reward < 0;
		start = t[i].start && (!start || t[i].start < start) ? t[i].start : start;
		end = t[i].end > end ? t[i].end : end;
		buf_addf(&seed, " %s", t[i].name);
	}
	cJSON_AddStringToObject(o, "id", export_run_uuid(buf_str(&seed), uuid));
	time_field(o, "started_at", start);
	time_field(o, "finished_at", end);
	cJSON_AddNumberToObject(o, "n_total_trials", (double)n);
	stats(o, v, n_evals, n, errors);
	rc = write_json(job, "result.json", o, log, err);
	export_run_text(config, "job_name", name);
	cJSON_AddStringToObject(config, "jobs_dir", ".");
	if (rc == 0)
		rc = write_json(job, "config.json", config, log, err);
	else
		cJSON_Delete(config);
	return rc;
}

int export_harbor(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	struct trial *t;
	bool many = false;
	size_t n = 0;
	int rc = export_gather(job, true, &items, err);

	if (rc < 0)
		return rc;
	t = mem_zalloc(items.n + 1, sizeof(*t));
	for (size_t i = 1; i < items.n; i++)
		many = many || strcmp(items.v[i].model, items.v[0].model) != 0;
	for (; n < items.n && rc == 0; n++) {
		rc = trial_open(&items.v[n], many, &t[n], err);
		if (rc == 0)
			rc = write_trial(job, &t[n], out, err);
	}
	if (rc == 0)
		rc = write_job(job, t, items.n, out, err);
	for (size_t i = 0; i < n; i++)
		trial_done(&t[i]);
	free(t);
	export_items_done(&items);
	return rc;
}

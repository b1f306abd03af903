#include "profiles/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/input_internal.h"
#include "profiles/lookup_internal.h"
#include "profiles/plan_internal.h"
#include "profiles/plan_pair.h"
#include "profiles/task_bounds.h"

#define PRINT_MAX (256u << 20)

struct plan *plan_free(struct plan *p)
{
	if (!p)
		return NULL;
	task_free(p->task);
	agent_free(p->agent);
	profile_free(p->profile);
	scenario_free(p->scenario);
	model_free(p->model);
	prices_free(p->prices);
	simulator_free(p->simulator);
	netrules_done(&p->rules);
	for (size_t i = 0; i < p->condition.n_references; i++)
		free(p->condition.reference[i].run);
	free(p->condition.reference);
	free(p->model_name);
	free(p->agent_dir);
	free(p->program);
	free(p->statement);
	free(p->rootfs);
	image_free(p->image);
	free(p->home);
	strv_done(&p->argv);
	strv_done(&p->env);
	strv_done(&p->home_files);
	strv_done(&p->home_texts);
	free(p);
	return NULL;
}

static int load_task(const struct plan_request *req, struct plan *p, struct err *err)
{
	if (req->task)
		return task_load(req->task, &p->task, err);
	p->task = task_from_directory(req->cwd);
	if (strcmp(p->task->workdir, "/") == 0)
		return err_set(err, ERR_USAGE,
			       "the current directory is /, and the whole file system cannot be "
			       "the workspace; change to a project's directory or use --task");
	return 0;
}

static int named_agent(const char *name, struct plan *p, struct err *err)
{
	auto_free char *path = NULL;
	int rc = 0;

	if (lookup_is_path(name))
		path = mem_strdup(name);
	else
		rc = lookup_find(LOOKUP_AGENT, name, NULL, &path, err);
	return rc < 0 ? rc : agent_load(path, &p->agent, err);
}

static int load_agent(const struct plan_request *req, struct plan *p, struct err *err)
{
	if (req->agent && req->argv)
		return err_set(err, ERR_USAGE,
			       "both --agent and a command behind -- were given; choose one");
	if (req->agent)
		return named_agent(req->agent, p, err);
	if (!req->argv)
		return err_set(err, ERR_USAGE,
			       "nothing to run: give --agent AGENT or a command behind --");
	if (!req->argv[0] || !req->argv[0][0])
		return err_set(err, ERR_USAGE, "the command behind -- is empty");
	p->agent = agent_from_argv(req->argv);
	return 0;
}

static int load_profile(const struct plan_request *req, struct plan *p, struct err *err)
{
	const char *name = req->profile ? req->profile : req->task ? "agent" : "command";
	int rc = profile_load(name, &p->profile, err);

	for (const char *const *set = req->set; rc == 0 && set && *set; set++)
		rc = plan_set(p->profile, *set, err);
	return rc;
}

static int load_all(const struct plan_request *req, struct plan *p, struct err *err)
{
	int rc = load_task(req, p, err);

	if (rc == 0)
		rc = load_agent(req, p, err);
	if (rc == 0)
		rc = load_profile(req, p, err);
	if (rc == 0 && req->scenario)
		rc = scenario_load(req->scenario, &p->scenario, err);
	return rc;
}

/* Where answers come from. An agent without an API may use {model} in its command all the same. */
static int load_model(const struct plan_request *req, struct plan *p, struct err *err)
{
	int rc;

	if (p->agent->api == AGENT_API_NONE) {
		p->model_name = mem_strdup(req->model);
		return 0;
	}
	if (!req->model)
		return err_set(err, ERR_USAGE,
			       "agent \"%s\" speaks the model API %s, and no model was named; add "
			       "--model NAME, URL, URL#NAME, script:FILE or replay:FILE",
			       p->agent->name, agent_api_name(p->agent->api));
	rc = model_parse(req->model, req->cwd, &p->model, err);
	if (rc < 0)
		return rc;
	if (p->model->name)
		p->model_name = mem_strdup(p->model->name);
	else
		p->model_name =
			mem_strdup(p->agent->default_model ? p->agent->default_model : "model");
	return prices_load(p->profile->prices, &p->prices, err);
}

/* The agent's program, when its file names the package that brings it. A root file system of its
 * own may hold the agent: there the lack on the host is no failure. */
static int find_program(struct plan *p, struct err *err)
{
	bool host = strcmp(p->rootfs, "host") == 0;
	struct install in = { 0 };
	int rc;

	if (!p->agent->package && !p->agent->shipped)
		return 0;
	host |= p->agent->shipped != NULL;
	rc = install_find(p->agent, host, &in, host ? err : NULL);
	if (rc < 0)
		return host ? rc : 0;
	p->agent_dir = take_ptr(&in.dir);
	p->program = take_ptr(&in.box);
	install_done(&in);
	return 0;
}

/* Digests of the whole. */
static int seal(struct plan *p, struct err *err)
{
	auto_buf text = BUF_INIT(PRINT_MAX);

	plan_print(p, &text);
	if (text.full)
		return err_set(err, ERR_LIMIT,
			       "the plan is larger than 256M; make its files smaller");
	digest_bytes(buf_str(&text), text.len, p->digest);
	return plan_pair_digest(buf_str(&text), p->pair_digest, err);
}

static int build(const struct plan_request *req, struct plan *p, struct err *err)
{
	int rc = load_all(req, p, err);

	if (rc == 0)
		rc = load_model(req, p, err);
	if (rc == 0 && req->simulator)
		rc = simulator_load(req->simulator, req->cwd, p->profile, &p->simulator, err);
	if (rc == 0 && p->simulator && p->scenario && p->scenario->user)
		simulator_speak_as(p->simulator, p->scenario->user);
	if (rc == 0) {
		task_bounds_limits(p->task, true, &p->profile->limits);
		rc = task_bounds_network(p->task, p->profile, err);
	}
	if (rc == 0)
		rc = netrules_parse(&p->profile->hosts, &p->rules, err);
	if (rc < 0)
		return rc;
	p->home = mem_strdup(INPUT_BOX_HOME);
	p->rootfs = mem_strdup(strcmp(p->profile->rootfs, "host") == 0 ? p->task->rootfs
								       : p->profile->rootfs);
	if (image_is(p->rootfs))
		rc = image_read(p->rootfs, &p->image, err);
	if (rc == 0)
		rc = plan_condition(req, p, err);
	if (rc == 0)
		rc = plan_check(p, err);
	if (rc == 0)
		rc = find_program(p, err);
	if (rc == 0)
		rc = plan_fill(p, !req->task && req->argv, err);
	return rc < 0 ? rc : seal(p, err);
}

int plan_resume(struct plan *p, const char *session, struct err *err)
{
	int rc = plan_fill_resume(p, session, err);

	return rc < 0 ? rc : seal(p, err);
}

int plan_build(const struct plan_request *req, struct plan **ret, struct err *err)
{
	struct plan *p = mem_zalloc(1, sizeof(*p));
	int rc = build(req, p, err);

	if (rc == 0)
		*ret = take_ptr(&p);
	plan_free(p);
	return rc;
}

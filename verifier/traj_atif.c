/* Agent Trajectory Interchange Format, versions 1.0 to 1.7: steps with tool calls of whatever client, and
 * observations. Embedded subagents' trajectories count as work of the same agent. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/traj_internal.h"

#define SUBAGENT_DEPTH_MAX 8

bool traj_is_atif(const char *path, const char *text, size_t n)
{
	(void)path;
	return memmem(text, n, "\"ATIF-v1", 8) != NULL;
}

/* The result that belongs to call number @i with @id. Caller frees. */
static char *result_of(const cJSON *step, const char *id, int i, int n_calls)
{
	const cJSON *results = traj_member(step, "observation.results"), *res;
	const cJSON *by_order = NULL;

	cJSON_ArrayForEach (res, results) {
		const char *source = traj_str(res, "source_call_id");

		if (id && source && str_eq(id, source))
			return traj_text(cJSON_GetObjectItemCaseSensitive(res, "content"));
	}
	if (cJSON_GetArraySize(results) == n_calls)
		by_order = cJSON_GetArrayItem(results, i);
	else if (i + 1 == n_calls)
		by_order = cJSON_GetArrayItem(results, 0);
	if (traj_str(by_order, "source_call_id"))
		by_order = NULL; /* another call's */
	return traj_text(cJSON_GetObjectItemCaseSensitive(by_order, "content"));
}

/* Returns whether the step ends the work: it calls no tool, or one that says so. */
static bool step_of(struct traj_rec *r, const cJSON *step)
{
	const cJSON *calls = cJSON_GetObjectItemCaseSensitive(step, "tool_calls"), *call;
	int n = cJSON_GetArraySize(calls), i = 0;
	bool ends = n == 0;

	cJSON_ArrayForEach (call, calls) {
		const char *name = traj_str(call, "function_name");
		const cJSON *args = cJSON_GetObjectItemCaseSensitive(call, "arguments");
		auto_free char *out = result_of(step, traj_str(call, "tool_call_id"), i++, n);
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(args, "value");

		ends |= traj_tool_ends(name);
		/* a custom tool's text */
		traj_tool(r, name, cJSON_IsString(value) ? value : args, out);
	}
	return ends;
}

static bool steps_of(struct traj_rec *r, const cJSON *root, int depth)
{
	const cJSON *steps = cJSON_GetObjectItemCaseSensitive(root, "steps"), *step, *sub;
	bool ends = false;

	cJSON_ArrayForEach (step, steps) {
		r->step++;
		if (str_eq(traj_str(step, "source"), "agent"))
			ends = step_of(r, step);
	}
	sub = cJSON_GetObjectItemCaseSensitive(root, "subagent_trajectories");
	cJSON_ArrayForEach (step, sub)
		if (depth < SUBAGENT_DEPTH_MAX)
			steps_of(r, step, depth + 1);
	return ends;
}

static const char *extra_str(const cJSON *root, const char *const *keys)
{
	static const char *const places[] = { "", "extra", "final_metrics.extra", "agent.extra" };

	for (; *keys; keys++)
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			const char *s = traj_str(traj_member(root, places[i]), *keys);

			if (s)
				return s;
		}
	return NULL;
}

int traj_read_atif(const char *path, const char *text, size_t n, const char *workdir,
		   struct trajs *out, struct err *err)
{
	static const char *const patches[] = { "submission", "patch",       "model_patch",
					       "git_diff",   "final_patch", NULL };
	static const char *const ids[] = { "instance_id", "task_id", "task_name", NULL };
	static const char *const dirs[] = { "cwd", "working_dir", "workdir", "cwds", NULL };
	struct json_src src = { 0 };
	const cJSON *agent;
	struct traj_rec r;
	auto_free char *stem = traj_rec_stem(path);
	const char *id, *model;
	bool ends;

	if (traj_parse(path, text, n, &src, err) < 0)
		return -ERR_INPUT;
	if (!cJSON_IsArray(traj_member(src.root, "steps"))) {
		json_complain(&src, "$.steps", err, "expected an array of steps");
		json_src_done(&src);
		return -ERR_INPUT;
	}
	traj_rec_begin(&r, out, path, "atif", workdir ? workdir : extra_str(src.root, dirs));
	agent = traj_member(src.root, "agent");
	model = traj_str(agent, "model_name");
	id = extra_str(src.root, ids);
	traj_rec_name(&r, id ? id : stem, model ? model : traj_str(agent, "name"));
	ends = steps_of(&r, src.root, 0);
	/* the format says nothing of the end: a last step without a call, or with one that says "done" */
	traj_rec_traj(&r)->finished = ends && !traj_str(src.root, "continued_trajectory_ref");
	traj_rec_final(&r, extra_str(src.root, patches));
	traj_rec_end(&r);
	json_src_done(&src);
	return 0;
}

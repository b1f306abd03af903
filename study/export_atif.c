/* ATIF-v1.7 (Agent Trajectory Interchange Format, Harbor) of run directories.
 *
 * With a model API: a step for each answer to a main request, with its tool calls, the results that the client sent back,
 * and its usage; in front of them what the first request says; where they were put in, the messages of the run's
 * scenario, as user steps with "injected" in their extra. Without: a step for each command. What ATIF has no place for
 * (interventions, the final patch, denials) stands in the root's extra. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"
#include "study/export_internal.h"
#include "study/export_run.h"
#include "study/import_rows_internal.h"
#include "study/turns.h"

#define RECORD_MAX (2u << 30) /* bytes of a model.jsonl */
#define STEPS_MAX  1000000u
#define PATCH_MAX  (256u << 20) /* bytes of a patch.diff */

struct atif {
	const struct rundir *rd;
	cJSON *steps; /* borrowed */
	size_t n;
	uint64_t start;   /* ns since 1970 */
	uint64_t at;      /* ns since 1970 of the step under way */
	struct turn turn; /* the last answer, whose results are not known yet */
	cJSON *turn_step; /* borrowed: its step, NULL = none */
	uint64_t told;    /* messages of the scenario that have their step */
	bool opened;      /* what the first request says is there */
};

static cJSON *step(struct atif *a, const char *source, const char *message)
{
	cJSON *s = cJSON_CreateObject();
	char text[40];

	cJSON_AddNumberToObject(s, "step_id", (double)++a->n);
	if (a->at)
		cJSON_AddStringToObject(s, "timestamp", export_run_time(a->at, text));
	cJSON_AddStringToObject(s, "source", source);
	export_run_text(s, "message", message ? message : "");
	cJSON_AddItemToArray(a->steps, s);
	return s;
}

static void on_opening(void *arg, bool system, const char *text)
{
	struct atif *a = arg;

	step(a, system ? "system" : "user", text);
}

/* The step of the last answer gets its calls and what came back. */
static void settle(struct atif *a)
{
	cJSON *calls, *results = NULL;

	if (!a->turn_step)
		return;
	calls = a->turn.n_calls ? cJSON_AddArrayToObject(a->turn_step, "tool_calls") : NULL;
	for (size_t i = 0; i < a->turn.n_calls; i++) {
		const struct turn_call *c = &a->turn.call[i];
		auto_free char *id =
			c->id ? mem_strdup(c->id) : mem_printf("call-%zu-%zu", a->n, i + 1);
		cJSON *o = cJSON_CreateObject(), *args = cJSON_Parse(buf_str(&c->args)), *r;

		export_run_text(o, "tool_call_id", id);
		export_run_text(o, "function_name", c->name);
		/* ATIF's arguments are an object: a text stands under "value". */
		if (!cJSON_IsObject(args)) {
			cJSON_Delete(args);
			args = cJSON_CreateObject();
			export_run_text(args, "value", buf_str(&c->args));
		}
		cJSON_AddItemToObject(o, "arguments", args);
		cJSON_AddItemToArray(calls, o);
		if (!c->result)
			continue;
		if (!results)
			results = cJSON_AddArrayToObject(
				cJSON_AddObjectToObject(a->turn_step, "observation"), "results");
		r = cJSON_CreateObject();
		export_run_text(r, "source_call_id", id);
		export_run_text(r, "content", c->result);
		cJSON_AddItemToArray(results, r);
	}
	turn_done(&a->turn);
	a->turn_step = NULL;
}

static const cJSON *get(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static double num(const cJSON *o, const char *key)
{
	const cJSON *v = get(o, key);

	return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static const char *str(const cJSON *o, const char *key)
{
	const cJSON *v = get(o, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* A body of our record: bytes as they were. Caller frees. */
static char *body(const cJSON *line, const char *key, size_t *n)
{
	char *s = mem_strdup(str(line, key) ? str(line, key) : "");

	*n = json_unescape_bytes(s);
	return s;
}

static void metrics(cJSON *s, const cJSON *line)
{
	const cJSON *usage = get(line, "usage"), *cost = get(line, "micro_dollars");
	cJSON *m;

	if (!cJSON_IsObject(usage))
		return;
	m = cJSON_AddObjectToObject(s, "metrics");
	/* Both of ours and ATIF's prompt tokens count the cached ones. */
	cJSON_AddNumberToObject(m, "prompt_tokens", num(usage, "input"));
	cJSON_AddNumberToObject(m, "completion_tokens", num(usage, "output"));
	cJSON_AddNumberToObject(m, "cached_tokens", num(usage, "cached"));
	if (cJSON_IsNumber(cost))
		cJSON_AddNumberToObject(m, "cost_usd", cost->valuedouble / 1e6);
	cJSON_AddNumberToObject(cJSON_AddObjectToObject(m, "extra"), "reasoning_tokens",
				num(usage, "reasoning"));
}

/* Messages of the scenario that this request carries for the first time. */
static void placed(struct atif *a, const cJSON *line)
{
	const cJSON *p;

	cJSON_ArrayForEach (p, get(line, "placed")) {
		uint64_t number = (uint64_t)num(p, "message");
		cJSON *s, *extra;

		if (number <= a->told || cJSON_IsTrue(get(p, "lost")) || !str(p, "text"))
			continue;
		a->told = number;
		s = step(a, "user", str(p, "text"));
		extra = cJSON_AddObjectToObject(s, "extra");
		cJSON_AddBoolToObject(extra, "injected", true);
		cJSON_AddNumberToObject(extra, "message", (double)number);
		cJSON_AddNumberToObject(extra, "call", num(line, "call"));
	}
}

static void answer(struct atif *a, const cJSON *line)
{
	auto_free char *text = NULL;
	cJSON *s, *extra;
	size_t n;

	text = body(line, "answer", &n);
	a->at = a->start ? a->start + (uint64_t)num(line, "t1") : 0;
	if (!turn_read(str(line, "api"), cJSON_IsTrue(get(line, "sse")), text, n, &a->turn)) {
		turn_done(&a->turn);
		return;
	}
	s = step(a, "agent", buf_str(&a->turn.text));
	export_run_text(s, "model_name",
			str(line, "model_answered") ? str(line, "model_answered")
						    : str(line, "model"));
	if (a->turn.reasoning.len)
		export_run_text(s, "reasoning_content", buf_str(&a->turn.reasoning));
	metrics(s, line);
	extra = cJSON_AddObjectToObject(s, "extra");
	cJSON_AddNumberToObject(extra, "call", num(line, "call"));
	export_run_text(extra, "finish", str(line, "finish"));
	a->turn_step = s;
}

static void on_exchange(struct atif *a, const cJSON *line)
{
	auto_free char *text = NULL;
	cJSON *request;
	size_t n;

	if (!str_eq(str(line, "purpose"), "main") || str_eq(str(line, "source"), "gateway") ||
	    num(line, "retry_of") > 0 || !str(line, "api"))
		return;
	text = body(line, "request", &n);
	request = cJSON_ParseWithLength(text, n);
	if (a->turn_step)
		turn_results(str(line, "api"), request, &a->turn);
	settle(a);
	a->at = a->start ? a->start + (uint64_t)num(line, "t0") : 0;
	if (!a->opened)
		turn_opening(str(line, "api"), request, on_opening, a);
	a->opened = true;
	cJSON_Delete(request);
	placed(a, line);
	answer(a, line);
}

/* model.jsonl; a last line that a kill has cut is left out. 0 or negative. */
static int exchanges(struct atif *a, struct err *err)
{
	auto_free char *path = path_join(a->rd->dir, "model.jsonl");
	auto_buf b = BUF_INIT(RECORD_MAX);
	int rc = fd_read_file(path, &b, err);
	const char *s = buf_str(&b), *end = s + b.len;

	for (size_t no = 1; rc == 0 && s < end && a->n < STEPS_MAX; no++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		auto_free char *name = mem_printf("%s:%zu", path, no);
		struct json_src src = { 0 };

		if (!nl)
			break;
		rc = json_parse(name, s, (size_t)(nl - s), &src, err);
		if (rc == 0)
			on_exchange(a, src.root);
		json_src_done(&src);
		s = nl + 1;
	}
	settle(a);
	return rc;
}

/* argv as one line of shell text. */
static void shell_text(const struct strv *argv, struct buf *out)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";

	strv_each (i, argv) {
		const char *s = argv->v[i];

		if (i)
			buf_addc(out, ' ');
		if (*s && s[strspn(s, plain)] == '\0') {
			buf_adds(out, s);
			continue;
		}
		row_quote(out, s);
	}
}

static void command(struct atif *a, const struct rundir_action *act)
{
	static const char *const classes[] = { "read", "search",  "edit",    "test", "build",
					       "vcs",  "network", "package", "other" };
	auto_free char *id = mem_printf("command-%u", act->cmd);
	auto_buf line = BUF_INIT(TURN_TEXT_MAX);
	cJSON *s, *calls, *c, *extra;

	/* "sh -c TEXT": the text is what was asked for. */
	if (act->argv.n == 3 && str_ends(act->argv.v[0], "sh") && str_eq(act->argv.v[1], "-c"))
		buf_adds(&line, act->argv.v[2]);
	else
		shell_text(&act->argv, &line);
	a->at = a->start ? a->start + act->t : 0;
	s = step(a, "agent", "");
	calls = cJSON_AddArrayToObject(s, "tool_calls");
	c = cJSON_CreateObject();
	cJSON_AddStringToObject(c, "tool_call_id", id);
	cJSON_AddStringToObject(c, "function_name", "bash");
	export_run_text(cJSON_AddObjectToObject(c, "arguments"), "command", buf_str(&line));
	cJSON_AddItemToArray(calls, c);
	extra = cJSON_AddObjectToObject(s, "extra");
	cJSON_AddStringToObject(extra, "class",
				(size_t)act->cls < ARRAY_SIZE(classes) ? classes[act->cls]
								       : "other");
	cJSON_AddNumberToObject(extra, "wait_status", act->status);
}

static void said(struct atif *a, const struct rundir_firing *f)
{
	cJSON *s = step(a, "user", f->message), *extra = cJSON_AddObjectToObject(s, "extra");

	cJSON_AddBoolToObject(extra, "injected", true);
	cJSON_AddNumberToObject(extra, "order", (double)f->order);
	cJSON_AddNumberToObject(extra, "round", (double)f->round);
}

/* An agent without a model API: its commands, with the user's messages where they were sent. */
static void commands(struct atif *a)
{
	const struct rundir *rd = a->rd;
	struct task *task = NULL;
	const char *file = rundir_str(rd, "task.file");
	size_t f = 0;

	a->at = a->start;
	if (file && task_load(file, &task, NULL) == 0 && task->problem_statement[0])
		step(a, "user", task->problem_statement);
	task_free(task);
	for (size_t i = 0; i < rd->n_actions && a->n < STEPS_MAX; i++) {
		const struct rundir_action *act = &rd->action[i];

		for (; f < rd->n_firings && rd->firing[f].at_n < act->n; f++)
			if (rd->firing[f].applied && rd->firing[f].message)
				said(a, &rd->firing[f]);
		if (act->argv.n)
			command(a, act);
	}
	for (; f < rd->n_firings; f++)
		if (rd->firing[f].applied && rd->firing[f].message)
			said(a, &rd->firing[f]);
}

static void interventions(const struct rundir *rd, cJSON *extra)
{
	cJSON *list = cJSON_AddArrayToObject(extra, "interventions");

	for (size_t i = 0; i < rd->n_firings; i++) {
		const struct rundir_firing *f = &rd->firing[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddNumberToObject(o, "order", (double)f->order);
		cJSON_AddNumberToObject(o, "round", (double)f->round);
		cJSON_AddNumberToObject(o, "at_n", (double)f->at_n);
		export_run_text(o, "effect", f->effect);
		cJSON_AddBoolToObject(o, "applied", f->applied);
		export_run_text(o, "reason", f->reason);
		export_run_text(o, "path", f->path);
		export_run_text(o, "pre_sha256", f->pre[0] ? f->pre : NULL);
		export_run_text(o, "post_sha256", f->post[0] ? f->post : NULL);
		cJSON_AddItemToArray(list, o);
	}
}

static void frame(const struct rundir *rd, const char *patch, cJSON *root, size_t steps)
{
	const cJSON *dollars = get(get(rd->run.root, "model"), "micro_dollars");
	cJSON *m = cJSON_AddObjectToObject(root, "final_metrics"), *extra;

	if (cJSON_IsObject(get(rd->run.root, "model"))) {
		cJSON_AddNumberToObject(m, "total_prompt_tokens",
					rundir_num(rd, "model.input_tokens", 0));
		cJSON_AddNumberToObject(m, "total_completion_tokens",
					rundir_num(rd, "model.output_tokens", 0));
		cJSON_AddNumberToObject(m, "total_cached_tokens",
					rundir_num(rd, "model.cached_tokens", 0));
	}
	if (cJSON_IsNumber(dollars))
		cJSON_AddNumberToObject(m, "total_cost_usd", dollars->valuedouble / 1e6);
	cJSON_AddNumberToObject(m, "total_steps", (double)steps);
	extra = cJSON_AddObjectToObject(root, "extra");
	export_run_text(extra, "instance_id", rundir_str(rd, "task.instance_id"));
	export_run_text(extra, "workdir", rundir_str(rd, "task.workdir"));
	export_run_text(extra, "end_reason", rundir_str(rd, "end.reason"));
	export_run_text(extra, "plan_digest", rundir_str(rd, "plan_digest"));
	if (patch)
		export_run_text(extra, "patch", patch);
	interventions(rd, extra);
}

int export_atif_tree(const struct rundir *rd, const char *patch, cJSON **ret, struct err *err)
{
	struct atif a = { .rd = rd, .start = export_run_parse_time(rundir_str(rd, "times.start")) };
	auto_free char *record = path_join(rd->dir, "model.jsonl");
	const char *agent_name = rundir_str(rd, "agent"), *model = rundir_str(rd, "model.name");
	cJSON *root = cJSON_CreateObject(), *agent;
	int rc = 0;

	turn_init(&a.turn);
	cJSON_AddStringToObject(root, "schema_version", "ATIF-v1.7");
	export_run_text(root, "session_id", rundir_str(rd, "id") ? rundir_str(rd, "id") : "run");
	agent = cJSON_AddObjectToObject(root, "agent");
	export_run_text(agent, "name", agent_name ? agent_name : "command");
	cJSON_AddStringToObject(agent, "version", "unknown");
	if (model)
		export_run_text(agent, "model_name", model);
	a.steps = cJSON_AddArrayToObject(root, "steps");
	if (access(record, F_OK) == 0)
		rc = exchanges(&a, err);
	if (rc == 0 && !a.n)
		commands(&a);
	turn_done(&a.turn);
	*ret = NULL;
	if (rc < 0 || !a.n) {
		cJSON_Delete(root);
		return rc;
	}
	frame(rd, patch, root, a.n);
	*ret = root;
	return 0;
}

int export_atif(const struct export_job *job, struct buf *out, struct err *err)
{
	int rc = 0;

	strv_each (i, job->inputs) {
		auto_buf patch = BUF_INIT(PATCH_MAX), text = BUF_INIT(EXPORT_TEXT_MAX);
		auto_free char *name = NULL;
		struct rundir rd = { 0 };
		cJSON *root = NULL;

		rc = rundir_load(job->inputs->v[i], &rd, err);
		if (rc == 0)
			rc = export_atif_tree(&rd,
					      rundir_patch(&rd, &patch, NULL) == 0 ? buf_str(&patch)
										   : NULL,
					      &root, err);
		if (rc == 0 && !root)
			rc = err_set(err, ERR_INPUT,
				     "%s: neither a model's answers nor commands: no trajectory",
				     job->inputs->v[i]);
		if (rc == 0) {
			name = mem_printf("%s.trajectory.json",
					  rundir_str(&rd, "id") ? rundir_str(&rd, "id") : "run");
			export_run_print(root, true, &text);
			rc = export_write_buf(job, name, &text, out, err);
		}
		rundir_done(&rd);
		if (rc < 0)
			return rc;
	}
	return 0;
}

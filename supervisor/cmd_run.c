#include "supervisor/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/api.h"
#include "profiles/plan_pair.h"
#include "supervisor/run.h"
#include "supervisor/secret.h"
#include "triggers/ladder.h"

static const char *const trace_choices[] = { "off", "files", "full", NULL };

struct opts {
	const char *task, *agent, *scenario, *profile, *model, *simulator, *out;
	struct strv set, reference;
	const char *pair;
	uint64_t rounds, repeat;
	int trace, mode, ladder;
	bool print_plan, pass_status, json, quiet, verbose, no_cgroup, no_tty, in_place;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task file; without one the current directory is supervised" },
	{ 'a', "agent", OPT_STR, offsetof(struct opts, agent), "NAME|FILE",
	  "agent file; without one the command behind -- is the agent" },
	{ 's', "scenario", OPT_STR, offsetof(struct opts, scenario), "FILE",
	  "scenario file: what happens to the run; without one nothing does" },
	{ 0, "mode", OPT_ENUM, offsetof(struct opts, mode), "MODE",
	  "which effects of the scenario take place, whatever it says itself",
	  scenario_mode_names },
	{ 0, "rounds", OPT_U64, offsetof(struct opts, rounds), "K",
	  "how often its interventions fire in all, whatever it says itself" },
	{ 0, "ladder", OPT_ENUM, offsetof(struct opts, ladder), "A0...A5",
	  "how much of the state behind an intervention the agent is told (default A0: nothing more)",
	  ladder_names },
	{ 0, "repeat", OPT_U64, offsetof(struct opts, repeat), "N",
	  "number of this repetition, recorded (default: 1)" },
	{ 0, "reference", OPT_LIST, offsetof(struct opts, reference), "RUN",
	  "run that event progress is measured on; given again: the median of all" },
	{ 0, "pair", OPT_STR, offsetof(struct opts, pair), "RUN",
	  "refuse to run unless only the condition differs from that run's plan" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the run (default: agent with --task, command without)" },
	{ 'm', "model", OPT_STR, offsetof(struct opts, model), "MODEL",
	  "where answers come from: NAME, URL, URL#NAME, script:FILE, replay:FILE[@N[+MODEL]]" },
	{ 0, "simulator", OPT_STR, offsetof(struct opts, simulator), "MODEL",
	  "who writes messages without fixed text, in the forms of --model (default: templates)" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "run directory, made when missing (default: a new one below ~/.local/state/proctor/runs)" },
	{ 0, "set", OPT_LIST, offsetof(struct opts, set), "FIELD=VALUE",
	  "override a profile field, such as limits.wall=10m; may be given again" },
	{ 0, "trace", OPT_ENUM, offsetof(struct opts, trace), "LEVEL",
	  "trace level, short for --set trace=LEVEL", trace_choices },
	{ 0, "in-place", OPT_FLAG, offsetof(struct opts, in_place), NULL,
	  "let the command write the directory itself instead of an overlay over it" },
	{ 0, "print-plan", OPT_FLAG, offsetof(struct opts, print_plan), NULL,
	  "print the frozen plan as JSON and start nothing" },
	{ 0, "pass-status", OPT_FLAG, offsetof(struct opts, pass_status), NULL,
	  "exit with the agent's own status (128 + signal when killed)" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL,
	  "print run.json at the end; the agent's output goes to the logs only" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL,
	  "no closing line on standard error" },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct opts, verbose), NULL, "tell more" },
	{ 0, "no-cgroup", OPT_FLAG, offsetof(struct opts, no_cgroup), NULL,
	  "use no control groups even where they can be made" },
	{ 0, "no-tty", OPT_FLAG, offsetof(struct opts, no_tty), NULL,
	  "no pseudo-terminal even when standard input is a terminal" },
	{ 0 },
};

static int print_file(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);
	auto_buf b = BUF_INIT(64u << 20);
	struct err err;
	int rc = fd_read_file(path, &b, &err);

	return rc < 0 ? cmd_fail(rc, &err) : cmd_print(&b);
}

static int exit_of(int status)
{
	if (status < 0)
		return ERR_CHILD;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void closing_line(const struct run_outcome *o)
{
	char how[96];

	if (strcmp(o->reason, "exited") == 0 && o->status >= 0)
		snprintf(how, sizeof(how), "exited with status %d", exit_of(o->status));
	else
		snprintf(how, sizeof(how), "ended by %s", o->reason);
	fprintf(stderr, "proctor: %s after %.2f s, %llu processes", how,
		(double)o->wall_ns / (double)CLOCK_SEC, (unsigned long long)o->processes);
	if (o->touches || o->fired)
		fprintf(stderr, ", %llu touches, %llu interventions",
			(unsigned long long)o->touches, (unsigned long long)o->fired);
	fprintf(stderr, "; kept in %s\n", o->dir);
}

/* The real keys of the endpoints. */
struct keys {
	struct secret model, simulator;
	const char *for_simulator; /* one of the two, or NULL */
};

/* The key of the simulator's endpoint, out of the environment in any case. That of the model is shown to
 * it only where it is known anyway. */
static int take_simulator_key(const struct plan *plan, struct keys *k, struct err *err)
{
	static const char *const names[] = { "PROCTOR_SIMULATOR_KEY", NULL };
	const char *url = plan->model ? api_of((enum agent_api)plan->agent->api)->public_url : NULL;
	int rc = secret_take(names, &k->simulator, err);

	if (!plan->simulator)
		return rc;
	k->for_simulator = k->simulator.text;
	if (!k->for_simulator && simulator_same_endpoint(plan->simulator, plan->model, url,
							 api_of(AGENT_API_CHAT)->public_url))
		k->for_simulator = k->model.text;
	return rc;
}

/* The real key of the model's endpoint, out of the environment in any case; then the other. */
static int take_keys(const struct plan *plan, struct keys *k, struct err *err)
{
	const char *names[] = { "PROCTOR_MODEL_KEY", NULL, NULL };
	int rc;

	if (plan->model)
		names[1] = api_of((enum agent_api)plan->agent->api)->key_env;
	rc = secret_take(names, &k->model, err);
	return rc < 0 ? rc : take_simulator_key(plan, k, err);
}

static int execute(const struct plan *plan, const struct plan_request *req, const struct opts *o,
		   const struct keys *k)
{
	struct run_options ro = {
		.request = req,
		.key = k->model.text,
		.simulator_key = k->for_simulator,
		.out = o->out,
		.quiet_output = o->json,
		.no_cgroup = o->no_cgroup,
		.no_tty = o->no_tty,
	};
	struct run_outcome out;
	struct err err;
	int rc = run_execute(plan, &ro, &out, &err), status = 0;

	if (rc < 0) {
		status = cmd_fail(rc, &err);
	} else {
		if (!o->quiet)
			closing_line(&out);
		if (o->json)
			status = print_file(out.dir, "run.json");
		if (o->pass_status)
			status = exit_of(out.status);
		if (out.error.code)
			status = cmd_fail(-(int)out.error.code, &out.error);
	}
	run_outcome_done(&out);
	return status;
}

/* A step of the ladder adds messages, which the agent must be able to get. */
static int tell_more(struct plan *plan, enum ladder_step step, struct err *err)
{
	if (step != LADDER_A0 && plan->agent->via == VIA_GATEWAY &&
	    plan->agent->api == AGENT_API_NONE)
		return err_set(err, ERR_INPUT,
			       "--ladder: agent \"%s\" takes messages through the gateway, but its "
			       "api is none, so there are no requests to put one in",
			       plan->agent->name);
	return ladder_set(plan->scenario, step, err);
}

static int with_plan(const struct opts *o, char *const *argv)
{
	auto_free char *cwd = getcwd(NULL, 0);
	auto_buf text = BUF_INIT(PLAN_PAIR_FILE_MAX);
	struct plan_request req = {
		.task = o->task,
		.agent = o->agent,
		.argv = argv,
		.profile = o->profile,
		.scenario = o->scenario,
		.mode = o->mode >= 0 ? scenario_mode_names[o->mode] : NULL,
		.rounds = o->rounds,
		.repeat = o->repeat,
		.reference = (const char *const *)o->reference.v,
		.model = o->model,
		.simulator = o->simulator,
		.set = (const char *const *)o->set.v,
		.cwd = cwd,
	};
	struct keys keys = { 0 };
	struct plan *plan = NULL;
	struct err err;
	int rc;

	if (!cwd)
		return cmd_fail(err_sys(&err, "cannot tell the current directory"), &err);
	rc = plan_build(&req, &plan, &err);
	if (rc == 0)
		rc = tell_more(plan, (enum ladder_step)o->ladder, &err);
	if (rc < 0) {
		plan_free(plan);
		return cmd_fail(rc, &err);
	}
	plan_print(plan, &text);
	if (o->pair)
		rc = plan_pair_run(buf_str(&text), o->pair, &err);
	if (rc < 0) {
		rc = cmd_fail(rc, &err);
	} else if (o->print_plan) {
		rc = cmd_print(&text);
	} else {
		rc = take_keys(plan, &keys, &err);
		rc = rc < 0 ? cmd_fail(rc, &err) : execute(plan, &req, o, &keys);
	}
	secret_done(&keys.model);
	secret_done(&keys.simulator);
	plan_free(plan);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .trace = -1, .mode = -1 };
	struct strv rest = { 0 };
	struct err err;
	int status;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		if (o.verbose)
			log_set_level(LOG_DEBUG);
		if (o.trace >= 0)
			strv_take(&o.set, mem_printf("trace=%s", trace_choices[o.trace]));
		if (o.in_place)
			strv_add(&o.set, "filesystem.workspace=direct");
		if (!rest.n && !o.agent)
			status = cmd_fail(err_set(&err, ERR_USAGE,
						  "run: nothing to run; give --agent NAME or "
						  "-- COMMAND..."),
					  &err);
		else
			status = with_plan(&o, rest.n ? rest.v : NULL);
	}
	strv_done(&o.set);
	strv_done(&o.reference);
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_run = {
	.name = "run",
	.summary = "run an agent, or any command, in the sandbox under supervision",
	.synopsis = "[--task FILE] [--agent NAME] [--scenario FILE] [options] [-- COMMAND...]",
	.text = "Without --task, COMMAND is supervised in the current directory. What it writes goes to\n"
		"an overlay and ends up in patch.diff of the run directory; the directory itself stays\n"
		"as it is, unless --in-place is given.\n"
		"\n"
		"The run directory holds run.json (what happened), plan.json (what was to happen), trace.jsonl (events),\n"
		"interventions.jsonl (what was done to the run), model.jsonl (exchanges with the model),\n"
		"patch.diff, stdout.log and stderr.log.\n"
		"\n"
		"An agent that speaks a model API (see its file) needs --model. NAME is asked of the API's\n"
		"public endpoint, URL of another one (https, or http on a loopback address); the key is taken\n"
		"from PROCTOR_MODEL_KEY or the API's usual variable and never enters the sandbox. Certificates are\n"
		"checked against the system's authorities, or those of SSL_CERT_FILE. script:FILE\n"
		"serves canned turns, replay:FILE the answers of a recorded model.jsonl, of which @N takes the\n"
		"first N and goes on with +MODEL; replay-loose:FILE compares nothing.\n"
		"\n"
		"With --simulator the messages of a scenario that have no fixed text are written by that model\n"
		"through an OpenAI-compatible chat endpoint: NAME, URL#NAME, script:FILE, or replay:RUN for\n"
		"those of an earlier run (its simulator.jsonl). What gives the experiment away is not said; then,\n"
		"and when nothing comes in time, the template of the stage is. The key is PROCTOR_SIMULATOR_KEY,\n"
		"or the model's when the endpoint is the same. Its calls count in no budget of the agent.\n"
		"\n"
		"One scenario file serves all conditions of a study: --mode and --rounds choose one of them.\n"
		"Runs of a pair may differ in the condition alone; --pair RUN makes sure of that before the\n"
		"agent starts, and run.json's pair_digest tells it afterwards.\n"
		"\n"
		"Exit status: 0 when the run was made, whatever the agent did; 2 usage, 3 a bad file or no pair,\n"
		"4 the host lacks something, 5 a system call failed, 7 a replay that differs, 8 the command\n"
		"could not be started, or a process of proctor's own ended. A run that proctor had to break off has\n"
		"such a status, too, and the reason \"error\" in run.json, where everything up to there is kept.\n",
	.rows = rows,
	.rest_is_command = true,
	.run = run,
};

#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervisor/craft.h"

static const char *const kinds[] = { "counter-edit", "co-edit", NULL };

struct opts {
	const char *task, *regions, *agent, *model, *profile, *out;
	struct strv set;
	int kind;
	bool mutate, json, quiet;
	uint64_t seed, attempts, want, steps, repeats;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE", "task that the edit is for" },
	{ 0, "regions", OPT_STR, offsetof(struct opts, regions), "FILE",
	  "critical regions, as mine writes them, or a scenario (default: what the reference changes)" },
	{ 'k', "kind", OPT_ENUM, offsetof(struct opts, kind), "KIND",
	  "counter-edit (default) or co-edit", kinds },
	{ 0, "mutate", OPT_FLAG, offsetof(struct opts, mutate), NULL,
	  "by operators, without any model" },
	{ 'a', "agent", OPT_STR, offsetof(struct opts, agent), "NAME|FILE",
	  "agent that writes the edit in the box" },
	{ 'm', "model", OPT_STR, offsetof(struct opts, model), "MODEL",
	  "model of the agent, or without --agent a chat endpoint that is asked once per attempt" },
	{ 0, "seed", OPT_U64, offsetof(struct opts, seed), "N",
	  "with --mutate: another order of the proposals (default 0)" },
	{ 0, "attempts", OPT_U64, offsetof(struct opts, attempts), "N",
	  "give up after N attempts (default 60 with --mutate, 5 otherwise)" },
	{ 0, "want", OPT_U64, offsetof(struct opts, want), "N",
	  "stop when N edits are accepted (default 1)" },
	{ 0, "steps", OPT_U64, offsetof(struct opts, steps), "N",
	  "model calls that an agent has for one attempt (default 40)" },
	{ 'n', "repeats", OPT_U64, offsetof(struct opts, repeats), "N",
	  "run every check of the gate N times; all must agree (default 1, at most 100)" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading boxes (default: verify)" },
	{ 0, "set", OPT_LIST, offsetof(struct opts, set), "FIELD=VALUE",
	  "override a profile field of the agent's runs; may be given again" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR", "where the results go" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print attempts.jsonl" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

/* A line per attempt, as it comes. */
static void say(void *arg, const struct craft_attempt *a)
{
	auto_free char *by = cmd_safe(a->by), *path = cmd_safe(a->path), *why = cmd_safe(a->reason);
	const struct opts *o = arg;

	if (o->quiet || o->json)
		return;
	printf("%3llu %-18s", (unsigned long long)a->n, by);
	if (a->path)
		printf(" %s:%llu", path, (unsigned long long)a->line);
	if (a->id)
		printf(": accepted as %s", a->id);
	else
		printf(": %s%s%s",
		       a->stage  ? a->stage
		       : a->gate ? a->gate
				 : "",
		       a->stage || a->gate ? ": " : "", why);
	if (a->screened)
		printf(" [visible tests: %s]", screen_visible_name(a->visible));
	printf("\n");
	fflush(stdout);
}

static int check(struct opts *o, struct err *err)
{
	if (!o->task)
		return err_set(err, ERR_USAGE, "craft: --task FILE is needed");
	if (!o->out)
		return err_set(err, ERR_USAGE, "craft: --out DIR is needed");
	if (o->mutate && (o->agent || o->model))
		return err_set(err, ERR_USAGE,
			       "craft: --mutate needs no model; leave --agent and --model out");
	if (!o->mutate && !o->agent && !o->model)
		return err_set(
			err, ERR_USAGE,
			"craft: say who writes the edit: --mutate, --model MODEL, or --agent "
			"NAME with --model MODEL");
	if (!o->attempts)
		o->attempts = o->mutate ? 60 : 5;
	o->want = o->want ? o->want : 1;
	o->steps = o->steps ? o->steps : 40;
	o->repeats = o->repeats ? o->repeats : 1;
	if (o->repeats > CMD_REPEATS_MAX)
		return err_set(err, ERR_USAGE, "craft: --repeats is at most %u", CMD_REPEATS_MAX);
	return 0;
}

static int print_attempts(const struct craft *c, struct err *err)
{
	auto_free char *path = mem_printf("%s/attempts.jsonl", c->dir);
	auto_buf b = BUF_INIT(256u << 20);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : cmd_print(&b) == 0 ? 0 : -ERR_SYS;
}

/* 0 accepted, 1 none, negative on error. */
static int craft(const struct opts *o, struct err *err)
{
	struct craft_options co = { .task = o->task,
				    .regions = o->regions,
				    .agent = o->agent,
				    .model = o->model,
				    .profile = o->profile,
				    .out = o->out,
				    .set = (const char *const *)o->set.v,
				    .co = o->kind == 1,
				    .mutate = o->mutate,
				    .seed = o->seed,
				    .attempts = o->attempts,
				    .want = o->want,
				    .steps = o->steps,
				    .repeats = o->repeats };
	const char *reason = NULL;
	struct craft c;
	int rc = craft_begin(&c, &co, err);

	c.said = say;
	c.arg = (void *)(uintptr_t)o;
	if (rc == 0)
		rc = o->mutate ? craft_by_operators(&c, err) : craft_by_asking(&c, err);
	if (rc == 0 && !c.accepted && !co.co)
		rc = craft_fallback(&c, &reason, err);
	if (rc == 0 && o->json)
		rc = print_attempts(&c, err);
	if (rc == 0 && !o->quiet && !o->json)
		printf("%llu of %llu attempts accepted%s%s\n", (unsigned long long)c.accepted,
		       (unsigned long long)c.attempts,
		       reason ? "; a scenario with messages only was written: " : "",
		       reason ? reason : "");
	if (rc == 0)
		rc = c.accepted ? 0 : 1;
	craft_done(&c);
	return rc;
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	struct opts *o = arg;
	int rc;

	if (rest->n)
		return err_set(err, ERR_USAGE, "craft: \"%s\" is not expected here", rest->v[0]);
	rc = check(o, err);
	return rc < 0 ? rc : craft(o, err);
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .kind = 0 };
	int status = cmd_main(cmd, argc, argv, &o, whole);

	strv_done(&o.set);
	return status;
}

const struct opt_cmd cmd_craft = {
	.name = "craft",
	.summary = "write and prove a user's edit for a task",
	.synopsis =
		"--task FILE (--mutate | --model MODEL | --agent NAME [--model MODEL]) --out DIR",
	.text = "A Counter-Edit makes the task fail although the reference repair is applied on top of it; a\n"
		"Co-Edit helps and leaves the task to be done. Who writes it:\n"
		"\n"
		"--mutate: operators of our own change one place of the base near the critical regions: a\n"
		"condition, a bound, a key, a default, a check, the order of arguments; or they settle the input\n"
		"before the repaired place, return early, or bring the former function back. Their proposals are\n"
		"tried in turn, by --seed; those that the visible tests do not give away come first. The language's\n"
		"own tool checks the syntax in a box, where it is there. For a Co-Edit: parts of the reference, and\n"
		"remarks.\n"
		"\n"
		"--agent: any agent file. It gets a request in place of the issue (prompts/craft.txt of the shipped\n"
		"data) and the repository; what it leaves changed is the edit, the rest it writes to\n"
		".user-edit.json. --model alone: a chat endpoint is asked by curl in the box, which sees nothing\n"
		"else. {attempt} in MODEL is the number of the attempt, so that script:FILE can differ; for a bare\n"
		"endpoint a script goes on where the last attempt stopped.\n"
		"\n"
		"Every candidate is checked in form and by the checks of \"proctor gate\" in fresh boxes; the reason\n"
		"of a refusal goes into the next request. DIR gets ID.scenario.json (edit and message, K=3),\n"
		"ID.candidate.json, ID.gate.json, and attempts.jsonl with a line per attempt. When no Counter-Edit\n"
		"is accepted, a scenario with messages only is written.\n"
		"\n"
		"Exit status: 0 accepted, 1 none accepted, 2 usage, 3 a bad file, 4 and above as for run.\n",
	.rows = rows,
	.run = run,
};

#include "supervisor/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/api.h"
#include "sandbox/janitor.h"
#include "study/table.h"
#include "supervisor/forkrun.h"
#include "supervisor/secret.h"

enum { JSON_MAX = 16 << 20 };

struct opts {
	const char *at, *scenario, *task, *agent, *profile, *out;
	const char *model, *clean_model, *shifted_model, *mode, *grader;
	struct strv set;
	uint64_t budget, repeat;
	int arms, ladder, resume;
	bool leave_behind, no_grade, json, quiet, no_cgroup;
};

/* In the order of enum fork_arm, then both. */
static const char *const arms[] = { "clean", "shifted", "clean,shifted", NULL };
static const char *const resumes[] = { "replay", "native", NULL };
static const char *const ladders[] = { "A0", "A1", "A2", "A3", "A4", "A5", NULL };

static const struct opt_row rows[] = {
	{ 0, "at", OPT_STR, offsetof(struct opts, at), "POSITION[,POSITION]...",
	  "where the arms leave the record: a fraction of its actions (0.5), the number of an action, or "
	  "start, before-first-edit, after-first-edit, before-first-test, after-first-pass, "
	  "before-submit; 'all' is 0.1, 0.2, ... 0.9" },
	{ 's', "scenario", OPT_STR, offsetof(struct opts, scenario), "FILE",
	  "the update (default: the record's scenario)" },
	{ 0, "arms", OPT_ENUM, offsetof(struct opts, arms), "ARMS",
	  "which continuations are made (default clean,shifted)", arms },
	{ 'm', "model", OPT_STR, offsetof(struct opts, model), "MODEL",
	  "who answers behind the fork, as in run; script:FILE begins with its first turn there "
	  "(default: the record's own endpoint)" },
	{ 0, "clean-model", OPT_STR, offsetof(struct opts, clean_model), "MODEL",
	  "who answers in the clean arm" },
	{ 0, "shifted-model", OPT_STR, offsetof(struct opts, shifted_model), "MODEL",
	  "who answers in the shifted arm" },
	{ 0, "budget", OPT_U64, offsetof(struct opts, budget), "TOKENS",
	  "tokens of each continuation, counted from the fork (default 1000000)" },
	{ 0, "ladder", OPT_ENUM, offsetof(struct opts, ladder), "A0...A5",
	  "how much of the update's state the agent is told (default A0: nothing)", ladders },
	{ 0, "resume", OPT_ENUM, offsetof(struct opts, resume), "replay|native",
	  "how the prefix comes back: replay (default) runs it again; native restores the files of the step "
	  "(a record with checkpoints=requests) and lets the agent take up its own session",
	  resumes },
	{ 0, "leave-behind", OPT_FLAG, offsetof(struct opts, leave_behind), NULL,
	  "with --resume native: go on although processes, services or messages of the record do not come "
	  "back" },
	{ 0, "repeat", OPT_U64, offsetof(struct opts, repeat), "N",
	  "number of this pair among those of the same kind, recorded (default 1)" },
	{ 0, "mode", OPT_STR, offsetof(struct opts, mode), "MODE",
	  "which effects of the update take place (default: as the scenario says)" },
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "the record's task, when it lies elsewhere now" },
	{ 'a', "agent", OPT_STR, offsetof(struct opts, agent), "NAME|FILE",
	  "the record's agent, when it lies elsewhere now" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "the record's profile, when it lies elsewhere now" },
	{ 0, "set", OPT_LIST, offsetof(struct opts, set), "FIELD=VALUE",
	  "change a limit of the profile, as in run; other fields must stay as recorded" },
	{ 0, "grade-profile", OPT_STR, offsetof(struct opts, grader), "NAME|FILE",
	  "policy of the grading boxes (default: verify)" },
	{ 0, "no-grade", OPT_FLAG, offsetof(struct opts, no_grade), NULL,
	  "neither grade nor judge the arms" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "the pair: DIR/clean, DIR/shifted, DIR/pair.json; of several positions DIR/POSITION/... and "
	  "DIR/fork.json" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print pair.json, or fork.json" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0, "no-cgroup", OPT_FLAG, offsetof(struct opts, no_cgroup), NULL,
	  "use no control groups even where they can be made" },
	{ 0 },
};

/* What a fork of several positions came to. */
struct totals {
	uint64_t pairs, valid, paired, prefix, paid, continuations;
	struct buf list; /* entries of fork.json */
	struct json_w w;
	struct table *table;
	size_t col[6];
};

/* The model's key: PROCTOR_MODEL_KEY, or the variable of the record's API and of no other. */
static int take_key(const char *record, struct secret *ret, struct err *err)
{
	const char *names[] = { "PROCTOR_MODEL_KEY", NULL, NULL };
	auto_free char *path = NULL;
	struct json_src src = { 0 };
	const cJSON *model;
	const char *api;
	int rc = cmd_run_file(record, "run.json", &path, err);

	if (rc == 0)
		rc = json_load(path, &src, err);
	if (rc < 0)
		return rc;
	model = cJSON_GetObjectItemCaseSensitive(src.root, "model");
	api = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(model, "api"));
	for (int a = AGENT_API_CHAT; api && a <= AGENT_API_GEMINI; a++) {
		if (strcmp(agent_api_name((enum agent_api)a), api) == 0)
			names[1] = api_of((enum agent_api)a)->key_env;
	}
	json_src_done(&src);
	return secret_take(names, ret, err);
}

static const char *arm_word(const struct forkrun_arm *a)
{
	if (!a->made && !a->failure)
		return "-";
	if (!a->graded)
		return a->end;
	return a->success ? "success" : "failure";
}

static void count(struct totals *t, const char *dir, const struct forkrun_pair *p)
{
	const struct forkrun_arm *arm = p->arm;
	auto_free char *why = p->valid ? NULL : mem_printf("%s: %s", p->reason, p->detail);
	auto_free char *safe = cmd_safe(why);

	t->pairs++;
	t->valid += p->valid;
	t->paired += p->paired;
	t->prefix += p->prefix_tokens * (uint64_t)(arm[0].made + arm[1].made);
	t->paid += arm[FORK_CLEAN].paid + arm[FORK_SHIFTED].paid;
	t->continuations += arm[FORK_CLEAN].tokens + arm[FORK_SHIFTED].tokens;
	json_open(&t->w, NULL, '{');
	json_str(&t->w, "position", p->at.text);
	json_str(&t->w, "dir", dir);
	json_u64(&t->w, "action", p->at.action);
	json_u64(&t->w, "call", p->at.call);
	json_bool(&t->w, "valid", p->valid);
	json_str(&t->w, "reason", p->reason);
	json_str(&t->w, "detail", p->detail);
	json_str(&t->w, "clean", arm_word(&arm[FORK_CLEAN]));
	json_str(&t->w, "shifted", arm_word(&arm[FORK_SHIFTED]));
	json_bool(&t->w, "paired", p->paired);
	json_close(&t->w, '}');
	table_row(t->table, false);
	table_words(t->table, t->col[0], p->at.text);
	table_value(t->table, t->col[1], (double)p->at.action);
	table_value(t->table, t->col[2], (double)p->at.call);
	table_words(t->table, t->col[3], arm_word(&arm[FORK_CLEAN]));
	table_words(t->table, t->col[4], arm_word(&arm[FORK_SHIFTED]));
	table_words(t->table, t->col[5], p->valid ? "valid" : safe);
}

static void begin(struct totals *t, const char *record)
{
	auto_free char *caption = mem_printf("continuations of %s", record);

	t->list = (struct buf)BUF_INIT(JSON_MAX);
	t->w = (struct json_w){ .b = &t->list, .pretty = true };
	t->table = table_new("fork", caption);
	t->col[0] = table_col(t->table, NULL, "position", "Position", TABLE_WORDS, 0, 0);
	t->col[1] = table_col(t->table, NULL, "action", "Action", TABLE_WHOLE, 0, 0);
	t->col[2] = table_col(t->table, NULL, "call", "Call", TABLE_WHOLE, 0, 0);
	t->col[3] = table_col(t->table, NULL, "clean", "Clean", TABLE_WORDS, 0, 0);
	t->col[4] = table_col(t->table, NULL, "shifted", "Shifted", TABLE_WORDS, 0, 0);
	t->col[5] = table_col(t->table, NULL, "pair", "Pair", TABLE_WORDS, 0, 0);
	json_open(&t->w, NULL, '{');
	json_str(&t->w, "schema", "proctor.fork/1");
	json_str(&t->w, "record", record);
	json_open(&t->w, "pairs", '[');
}

static void end(struct totals *t)
{
	json_close(&t->w, ']');
	json_u64(&t->w, "valid", t->valid);
	json_u64(&t->w, "paired", t->paired);
	json_open(&t->w, "tokens", '{');
	json_u64(&t->w, "prefix", t->prefix);
	json_u64(&t->w, "prefix_paid", t->paid);
	json_u64(&t->w, "continuations", t->continuations);
	json_close(&t->w, '}');
	json_close(&t->w, '}');
	buf_addc(&t->list, '\n');
	table_note(
		t->table,
		"tokens: %llu of the prefixes and not paid again, %llu paid beside them, %llu of the "
		"continuations",
		(unsigned long long)t->prefix, (unsigned long long)t->paid,
		(unsigned long long)t->continuations);
}

static void done(struct totals *t)
{
	table_free(t->table);
	buf_done(&t->list);
}

/* Print what the options ask for: the pair, or all of them. */
static int print(const struct opts *o, const struct totals *t, const char *last, bool many,
		 struct err *err)
{
	auto_buf text = BUF_INIT(JSON_MAX);
	int rc = 0;

	if (o->json && many)
		return cmd_print(&t->list) == 0 ? 0 : -ERR_SYS;
	if (o->json) {
		auto_free char *path = path_join(last, "pair.json");

		rc = fd_read_file(path, &text, err);
		return rc < 0 ? rc : cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	}
	if (o->quiet)
		return 0;
	table_print(t->table, TABLE_TEXT, &text);
	return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
}

static int each(const struct opts *o, struct forkrun_request *req, const struct strv *at,
		struct totals *t, struct err *err)
{
	auto_free char *last = NULL, *path = path_join(o->out, "fork.json");
	bool many = at->n > 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < at->n; i++) {
		auto_free char *dir = many ? path_join(o->out, at->v[i]) : mem_strdup(o->out);
		struct forkrun_pair p = { 0 };

		req->position = at->v[i];
		req->out = dir;
		rc = forkrun_pair(req, &p, err);
		if (rc == 0)
			count(t, many ? at->v[i] : ".", &p);
		forkrun_done(&p);
		free(last);
		last = take_ptr(&dir);
	}
	if (rc < 0)
		return rc;
	end(t);
	if (many)
		rc = fd_replace_file(path, buf_str(&t->list), t->list.len, err);
	return rc < 0 ? rc : print(o, t, last, many, err);
}

static void fill(const struct opts *o, struct forkrun_request *req)
{
	*req = (struct forkrun_request){
		.scenario = o->scenario,
		.task = o->task,
		.agent = o->agent,
		.profile = o->profile,
		.model = { o->clean_model ? o->clean_model : o->model,
			   o->shifted_model ? o->shifted_model : o->model },
		.skip = { o->arms == FORK_SHIFTED, o->arms == FORK_CLEAN },
		.mode = o->mode,
		.set = (const char *const *)o->set.v,
		.budget = o->budget,
		.repeat = o->repeat,
		.ladder = ladders[o->ladder],
		.resume = o->resume != 0,
		.leave_behind = o->leave_behind,
		.no_grade = o->no_grade,
		.no_cgroup = o->no_cgroup,
	};
}

static int whole(void *opts, const struct strv *rest, struct err *err)
{
	const struct opts *o = opts;
	auto_free char *cwd = getcwd(NULL, 0);
	auto_strv at = { 0 };
	struct forkrun_request req;
	struct profile *grader = NULL;
	struct secret key = { 0 };
	struct totals t = { 0 };
	int rc;

	if (rest->n != 1)
		return err_set(err, ERR_USAGE, "fork: give one run directory, the record");
	if (!o->out)
		return err_set(err, ERR_USAGE, "fork: give --out DIR for the continuations");
	if (o->leave_behind && !o->resume)
		return err_set(
			err, ERR_USAGE,
			"fork: --leave-behind goes with --resume native; a prefix that is run "
			"again leaves nothing behind");
	if (!cwd)
		return err_sys(err, "cannot tell the current directory");
	fill(o, &req);
	req.record = rest->v[0];
	req.cwd = cwd;
	rc = forkrun_positions(o->at, &at, err);
	if (rc == 0)
		rc = take_key(rest->v[0], &key, err);
	if (rc == 0)
		rc = profile_load(o->grader ? o->grader : "verify", &grader, err);
	if (rc == 0)
		rc = janitor_start(&req.janitor, NULL, err);
	if (rc == 0) {
		req.key = key.text;
		req.grader = grader;
		begin(&t, rest->v[0]);
		rc = each(o, &req, &at, &t, err);
		if (rc == 0)
			rc = t.valid == t.pairs ? 0 : 1;
		done(&t);
	}
	janitor_finish(req.janitor);
	profile_free(grader);
	secret_done(&key);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .arms = 2 };
	int status = cmd_main(cmd, argc, argv, &o, whole);

	strv_done(&o.set);
	return status;
}

const struct opt_cmd cmd_fork = {
	.name = "fork",
	.summary = "continue a recorded run twice from one place: undisturbed, and with an update",
	.synopsis =
		"RUN --at POSITION[,POSITION]... --out DIR [--scenario FILE] [--model MODEL] [options]",
	.text = "RUN is the directory of a run with a model API and an overlay workspace. Each continuation is\n"
		"a run of its own: the agent is started again from the base tree and given the recorded answers up to\n"
		"the position, which costs no tokens. Every request and every state of the workspace on the way\n"
		"is compared with the record (steps.jsonl); the first difference ends the run, is named, and makes the\n"
		"pair invalid. Processes, sockets and locks of the prefix come back because it really runs again.\n"
		"\n"
		"With --resume native nothing is run again: the workspace and the box's other files are those of the\n"
		"step, and the agent takes up its own session with one more user message (agent file, \"resume\").\n"
		"Its first request must go on with the recorded conversation and be the same in both arms.\n"
		"Processes, sockets, locks and services do not come back; a step that had some is refused.\n"
		"\n"
		"There the arms part. In the shifted arm the scenario's interventions with the event anchor \"fork\"\n"
		"are made before the next request goes on; in the clean arm nothing happens. Token, call, dollar\n"
		"and wall limits count from there. Both arms are graded, each under the versions of goal and\n"
		"verifier in force at its end, and judged (see proctor-judge(1)).\n"
		"\n"
		"Exit status: 0 when all pairs are valid, whatever the agent made of them; 1 when one is not; 2 usage; 3\n"
		"a record that cannot be continued, or files that changed since it was made; 7 interrupted.\n",
	.rows = rows,
	.run = run,
};

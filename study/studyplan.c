#include "study/studyplan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/scenario.h"

#define NAME_MAX_BYTES 100u
#define LISTED_MAX     1000u /* entries of a list in the plan */
#define RETRIES_MAX    100u
#define PAUSE_MAX      (24 * 3600 * CLOCK_SEC)

#define BACKOFF     (10 * CLOCK_SEC)
#define BACKOFF_MAX (300 * CLOCK_SEC)

const char *const study_orders[] = { "shuffled", "as-written", NULL };
const char *const study_on_budgets[] = { "finish", "kill", NULL };

/* The steps of fork --ladder. */
static const char *const ladders[] = { "A0", "A1", "A2", "A3", "A4", "A5", NULL };

#define AGENT(f)     offsetof(struct study_agent, f)
#define CONDITION(f) offsetof(struct study_condition, f)
#define LIMIT(f)     offsetof(struct study_limits, f)
#define RETRY(f)     offsetof(struct study_retries, f)
#define PLAN(f)      offsetof(struct study_plan, f)

/* clang-format off */
static const struct json_field agent_rows[] = {
	{ "name", JSON_STR, AGENT(name), .doc = "in keys and tables: A-Z a-z 0-9 . _ + = @ -; default the agent's, with its model" },
	{ "agent", JSON_STR, AGENT(agent), true, .doc = "shipped agent or agent file; {task_dir} is the task's directory" },
	{ "model", JSON_STR, AGENT(model), .doc = "as run --model takes it; {task_dir} is filled in" },
	{ "tasks", JSON_STRV, AGENT(tasks), .doc = "globs of instance ids; default all" },
	{ NULL },
};

static const struct json_field condition_rows[] = {
	{ "name", JSON_STR, CONDITION(name), true, .doc = "in keys and tables" },
	{ "scenario", JSON_STR, CONDITION(scenario), .doc = "scenario file; {task_dir} is filled in" },
	{ "mode", JSON_STR, CONDITION(mode), .doc = "as run --mode" },
	{ "rounds", JSON_U64, CONDITION(rounds), .doc = "K, as run --rounds" },
	{ "simulator", JSON_STR, CONDITION(simulator), .doc = "as run --simulator" },
	{ "profile", JSON_STR, CONDITION(profile), .doc = "profile, default agent" },
	{ "set", JSON_STRV, CONDITION(set), .doc = "profile fields, as run --set" },
	{ "ladder", JSON_STR, CONDITION(ladder), .doc = "A0 to A5: how much the agent is told" },
	{ "budget", JSON_U64, CONDITION(budget), .doc = "tokens of the run, or of each continuation" },
	{ "pair", JSON_STR, CONDITION(pair), .doc = "condition whose run is the partner, as run --pair" },
	{ "fork", JSON_STR, CONDITION(fork), .doc = "condition whose runs are continued; then this one has no run of its own" },
	{ "at", JSON_STRV, CONDITION(at), .doc = "with fork: positions, as fork --at; each is a cell" },
	{ "model", JSON_STR, CONDITION(model), .doc = "with fork: who answers behind it" },
	{ "clean_model", JSON_STR, CONDITION(clean_model), .doc = "the same in the clean arm" },
	{ "shifted_model", JSON_STR, CONDITION(shifted_model), .doc = "the same in the shifted arm" },
	{ "tasks", JSON_STRV, CONDITION(tasks), .doc = "globs of instance ids; default all" },
	{ "agents", JSON_STRV, CONDITION(agents), .doc = "globs of names of agents; default all" },
	{ NULL },
};

static const struct json_field limit_rows[] = {
	{ "dollars", JSON_MONEY, LIMIT(dollars), .doc = "of all cells together" },
	{ "tokens", JSON_U64, LIMIT(tokens), .doc = "input and output of all cells together" },
	{ "wall", JSON_DURATION, LIMIT(wall), .doc = "time that the study is at work" },
	{ "cells", JSON_U64, LIMIT(cells), .doc = "how many are started" },
	{ NULL },
};

static const struct json_field retry_rows[] = {
	{ "infra", JSON_U64, RETRY(infra), .doc = "how often a cell is tried again after a fault of the host, default 2" },
	{ "backoff", JSON_DURATION, RETRY(backoff), .doc = "pause before the first, default 10s; it doubles" },
	{ "backoff_max", JSON_DURATION, RETRY(backoff_max), .doc = "up to this, default 5m" },
	{ NULL },
};

const struct json_field studyplan_rows[] = {
	{ "name", JSON_STR, PLAN(name), .doc = "of the study, default study" },
	{ "tasks", JSON_STRV, PLAN(tasks), true, .doc = "task files, directories of tasks, globs of either" },
	{ "agents", JSON_ARRAY, PLAN(agents), true, agent_rows, sizeof(struct study_agent), .doc = "what is studied" },
	{ "conditions", JSON_ARRAY, PLAN(conditions), true, condition_rows, sizeof(struct study_condition), .doc = "what happens to it" },
	{ "repeats", JSON_U64, PLAN(repeats), .doc = "runs of each task, agent and condition, default 1" },
	{ "seed", JSON_U64, PLAN(seed), .doc = "of the order, default 1" },
	{ "order", JSON_ENUM, PLAN(order), .choices = study_orders, .doc = "in which cells are started, default shuffled" },
	{ "limits", JSON_OBJECT, PLAN(limits), .rows = limit_rows, .doc = "of the whole study; default none" },
	{ "on_budget", JSON_ENUM, PLAN(on_budget), .choices = study_on_budgets, .doc = "what becomes of running cells when a limit is reached, default finish" },
	{ "retries", JSON_OBJECT, PLAN(retries), .rows = retry_rows, .doc = "after faults of the host, and of nothing else" },
	{ "grade", JSON_BOOL, PLAN(grade), .doc = "default true" },
	{ "judge", JSON_BOOL, PLAN(judge), .doc = "evidence in the trace, default false" },
	{ "label", JSON_BOOL, PLAN(label), .doc = "behaviour after the edit, default false" },
	{ "grade_profile", JSON_STR, PLAN(grade_profile), .doc = "policy of the grading boxes, default verify" },
	{ "out", JSON_STR, PLAN(out), .doc = "directory of the study, default the plan's name without .json, beside it" },
	{ NULL },
};
/* clang-format on */

bool studyplan_is_name(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= NAME_MAX_BYTES && s[0] != '.' && s[0] != '-' &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+=@-") ==
		       n;
}

const struct study_agent *studyplan_agent(const struct study_plan *p, size_t i)
{
	return (const struct study_agent *)p->agents.v + i;
}

const struct study_condition *studyplan_condition(const struct study_plan *p, size_t i)
{
	return (const struct study_condition *)p->conditions.v + i;
}

void studyplan_done(struct study_plan *p)
{
	json_release(studyplan_rows, p);
	free(p->file);
	free(p->dir);
	*p = (struct study_plan){ 0 };
}

/* "pi" of "agents/pi.json", "pi@gpt-5" with its model: what a row of the tables is called when nobody says more. */
static char *default_name(const struct study_agent *a)
{
	auto_free char *base = mem_strdup(path_base(a->agent)), *model = NULL;
	char *name;

	if (str_ends(base, ".json"))
		base[strlen(base) - 5] = '\0';
	if (!a->model || str_starts(a->model, "script:") || str_starts(a->model, "replay"))
		return take_ptr(&base);
	/* URL#NAME is named by NAME, a model of several words by its last. */
	model = mem_strdup(
		path_base(strrchr(a->model, '#') ? strrchr(a->model, '#') + 1 : a->model));
	name = mem_printf("%s@%s", base, model);
	return name;
}

static int check_name(const struct json_src *src, const char *where, const char *name,
		      struct err *err)
{
	if (name && studyplan_is_name(name))
		return 0;
	return json_complain(src, where, err,
			     "\"%s\" is no name; take A-Z a-z 0-9 . _ + = @ -, at most %u bytes",
			     name ? name : "", NAME_MAX_BYTES);
}

static int check_agents(const struct json_src *src, struct study_plan *p, struct err *err)
{
	struct study_agent *a = p->agents.v;

	if (!p->agents.n || p->agents.n > STUDYPLAN_ROWS_MAX)
		return json_complain(src, "$.agents", err, "give 1 to %u agents",
				     STUDYPLAN_ROWS_MAX);
	for (size_t i = 0; i < p->agents.n; i++) {
		auto_free char *where = mem_printf("$.agents[%zu]", i);
		int rc;

		if (!a[i].agent || !*a[i].agent)
			return json_complain(src, where, err, "\"agent\" is empty");
		if (!a[i].name)
			a[i].name = default_name(&a[i]);
		rc = check_name(src, where, a[i].name, err);
		if (rc < 0)
			return rc;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(a[k].name, a[i].name) == 0)
				return json_complain(src, where, err,
						     "a second agent called \"%s\"; give it "
						     "another \"name\"",
						     a[i].name);
		}
	}
	return 0;
}

/* Complain unless @value (may be NULL) is one of @choices. */
static int check_choice(const struct json_src *src, const char *where, const char *key,
			const char *value, const char *const *choices, struct err *err)
{
	const char *near;

	if (!value)
		return 0;
	for (size_t i = 0; choices[i]; i++) {
		if (strcmp(choices[i], value) == 0)
			return 0;
	}
	near = str_nearest(value, choices);
	return json_complain(src, where, err, "unknown %s \"%s\"%s%s%s", key, value,
			     near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* "pair" and "fork" name a condition that stands in front: so there is no circle. */
static int check_other(const struct json_src *src, const char *where, const struct study_plan *p,
		       size_t i, const char *key, const char *name, struct err *err)
{
	auto_free const char **names = mem_zalloc(i + 1, sizeof(*names));
	const struct study_condition *other = NULL;
	const char *near;

	if (!name)
		return 0;
	for (size_t k = 0; k < i; k++) {
		names[k] = studyplan_condition(p, k)->name;
		if (strcmp(names[k], name) == 0)
			other = studyplan_condition(p, k);
	}
	near = str_nearest(name, names);
	if (!other)
		return json_complain(src, where, err,
				     "\"%s\" names no condition in front of this one: \"%s\"%s%s%s",
				     key, name, near ? ", did you mean \"" : "", near ? near : "",
				     near ? "\"?" : "");
	if (other->fork)
		return json_complain(src, where, err,
				     "\"%s\" names \"%s\", which has no run itself", key, name);
	return 0;
}

/* Fields that go with a run by itself, or with continuations only. */
static int check_kind(const struct json_src *src, const char *where,
		      const struct study_condition *c, struct err *err)
{
	if (c->fork && !c->at.n)
		return json_complain(src, where, err, "\"fork\" needs \"at\": positions");
	if (c->fork && (c->pair || c->rounds || c->simulator))
		return json_complain(
			src, where, err,
			"\"fork\" does not go with \"pair\", \"rounds\", \"simulator\"");
	if (!c->fork && (c->at.n || c->model || c->clean_model || c->shifted_model))
		return json_complain(src, where, err,
				     "\"at\" and models go with \"fork\"; an agent's model stands "
				     "under \"agents\"");
	strv_each (i, &c->at) {
		if (!studyplan_is_name(c->at.v[i]))
			return json_complain(src, where, err, "\"at\": \"%s\" is no position",
					     c->at.v[i]);
		for (size_t k = 0; k < i; k++) {
			if (strcmp(c->at.v[k], c->at.v[i]) == 0)
				return json_complain(src, where, err, "\"at\": \"%s\" twice",
						     c->at.v[i]);
		}
	}
	return c->at.n > LISTED_MAX ? json_complain(src, where, err, "too many positions") : 0;
}

static int check_conditions(const struct json_src *src, const struct study_plan *p, struct err *err)
{
	int rc = 0;

	if (!p->conditions.n || p->conditions.n > STUDYPLAN_ROWS_MAX)
		return json_complain(src, "$.conditions", err, "give 1 to %u conditions",
				     STUDYPLAN_ROWS_MAX);
	for (size_t i = 0; rc == 0 && i < p->conditions.n; i++) {
		const struct study_condition *c = studyplan_condition(p, i);
		auto_free char *where = mem_printf("$.conditions[%zu]", i);

		rc = check_name(src, where, c->name, err);
		for (size_t k = 0; rc == 0 && k < i; k++) {
			if (strcmp(studyplan_condition(p, k)->name, c->name) == 0)
				rc = json_complain(src, where, err,
						   "a second condition called \"%s\"", c->name);
		}
		if (rc == 0)
			rc = check_choice(src, where, "mode", c->mode, scenario_mode_names, err);
		if (rc == 0)
			rc = check_choice(src, where, "ladder", c->ladder, ladders, err);
		if (rc == 0)
			rc = check_kind(src, where, c, err);
		if (rc == 0)
			rc = check_other(src, where, p, i, "pair", c->pair, err);
		if (rc == 0)
			rc = check_other(src, where, p, i, "fork", c->fork, err);
	}
	return rc;
}

static int check_rest(const struct json_src *src, const struct study_plan *p, struct err *err)
{
	if (!p->tasks.n || p->tasks.n > LISTED_MAX)
		return json_complain(src, "$.tasks", err,
				     "give 1 to %u files, directories or globs", LISTED_MAX);
	if (p->repeats < 1 || p->repeats > STUDYPLAN_REPEATS_MAX)
		return json_complain(src, "$.repeats", err, "must be 1 to %u",
				     STUDYPLAN_REPEATS_MAX);
	if (p->retries.infra > RETRIES_MAX || p->retries.backoff > PAUSE_MAX ||
	    p->retries.backoff_max > PAUSE_MAX)
		return json_complain(src, "$.retries", err,
				     "\"infra\" is at most %u, a pause at most a day", RETRIES_MAX);
	return check_name(src, "$.name", p->name, err);
}

/* The directory of the study: as the plan says, else the plan's own name beside it. */
static void place(struct study_plan *p)
{
	auto_free char *given = take_ptr(&p->out), *joined = NULL;

	if (!given) {
		given = mem_strdup(path_base(p->file));
		if (str_ends(given, ".json") && strlen(given) > 5)
			given[strlen(given) - 5] = '\0';
		else
			free(given), given = mem_printf("%s.study", path_base(p->file));
	}
	joined = path_join(p->dir, given);
	p->out = path_normal(joined);
}

int studyplan_parse(const char *name, const char *text, size_t n, const char *dir,
		    struct study_plan *ret, struct err *err)
{
	struct study_plan p = {
		.file = mem_strdup(name),
		.dir = mem_strdup(dir),
		.name = mem_strdup("study"),
		.repeats = 1,
		.seed = 1,
		.retries = { .infra = 2, .backoff = BACKOFF, .backoff_max = BACKOFF_MAX },
		.grade = true,
	};
	struct json_src src = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = json_check_schema(&src, "study", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, studyplan_rows, &p, err);
	if (rc == 0)
		rc = check_rest(&src, &p, err);
	if (rc == 0)
		rc = check_agents(&src, &p, err);
	if (rc == 0)
		rc = check_conditions(&src, &p, err);
	json_src_done(&src);
	if (rc < 0) {
		studyplan_done(&p);
		return rc;
	}
	place(&p);
	*ret = p;
	return 0;
}

int studyplan_load(const char *path, struct study_plan *ret, struct err *err)
{
	auto_free char *dir = path_dir(path), *real = realpath(dir, NULL);
	auto_buf text = BUF_INIT(JSON_FILE_MAX);
	int rc = fd_read_file(path, &text, err);

	if (rc < 0)
		return rc;
	if (!real)
		return err_set(err, ERR_INPUT, "%s: its directory cannot be found", path);
	return studyplan_parse(path, buf_str(&text), text.len, real, ret, err);
}

void studyplan_settings(const struct study_plan *p, struct buf *out)
{
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_str(&w, "name", p->name);
	json_u64(&w, "seed", p->seed);
	json_str(&w, "order", study_orders[p->order]);
	json_u64(&w, "micro_dollars", p->limits.dollars);
	json_u64(&w, "tokens", p->limits.tokens);
	json_u64(&w, "wall_ns", p->limits.wall);
	json_u64(&w, "cells", p->limits.cells);
	json_str(&w, "on_budget", study_on_budgets[p->on_budget]);
	json_u64(&w, "infra", p->retries.infra);
	json_u64(&w, "backoff_ns", p->retries.backoff);
	json_u64(&w, "backoff_max_ns", p->retries.backoff_max);
	json_close(&w, '}');
}

#include "study/cells.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/plan.h"
#include "study/taskset.h"

static const char *const kinds[] = { "run", "fork", NULL };

#define JOB(f) offsetof(struct cell_job, f)

/* clang-format off */
static const struct json_field job_rows[] = {
	{ "key", JSON_STR, JOB(key), true },
	{ "kind", JSON_ENUM, JOB(kind), true, .choices = kinds },
	{ "task", JSON_STR, JOB(task), true },
	{ "agent", JSON_STR, JOB(agent), true },
	{ "condition", JSON_STR, JOB(condition), true },
	{ "position", JSON_STR, JOB(position) },
	{ "repeat", JSON_U64, JOB(repeat), true },
	{ "after", JSON_STR, JOB(after) },
	{ "plan_digest", JSON_STR, JOB(plan_digest) },
	{ "args", JSON_STRV, JOB(args), true },
	{ "grade", JSON_BOOL, JOB(grade) },
	{ "judge", JSON_BOOL, JOB(judge) },
	{ "label", JSON_BOOL, JOB(label) },
	{ "grade_profile", JSON_STR, JOB(grade_profile) },
	{ NULL },
};
/* clang-format on */

/* Everything that is looked at while cells are made. */
struct maker {
	const struct study_plan *p;
	struct taskset tasks;
	struct cells *out;
	struct map keys; /* hash of a key -> its cell's number + 1 */
};

/* One place in the matrix. */
struct place {
	size_t task;
	const struct study_agent *agent;
	const struct study_condition *cond;
	char *dir; /* of the task */
};

void cells_job_done(struct cell_job *j)
{
	json_release(job_rows, j);
	*j = (struct cell_job){ 0 };
}

int cells_job(const char *name, const char *text, size_t n, struct cell_job *ret, struct err *err)
{
	struct json_src src = { 0 };
	struct cell_job j = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = json_check_schema(&src, "cell", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, job_rows, &j, err);
	json_src_done(&src);
	if (rc < 0) {
		cells_job_done(&j);
		return rc;
	}
	/* The lengths are not needed: no text of a cell holds a NUL byte. */
	for (const struct json_field *f = job_rows; f->name; f++) {
		char *s = f->kind == JSON_STR ? *(char **)((char *)&j + f->off) : NULL;

		if (s)
			(void)json_unescape_bytes(s);
	}
	strv_each (i, &j.args)
		(void)json_unescape_bytes(j.args.v[i]);
	*ret = j;
	return 0;
}

void cells_done(struct cells *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct cell *v = &c->v[i];
		char *text[] = { v->key,      v->task,  v->agent,       v->condition,
				 v->position, v->after, v->plan_digest, v->spec };

		for (size_t k = 0; k < ARRAY_SIZE(text); k++)
			free(text[k]);
		strv_done(&v->args);
	}
	free(c->v);
	*c = (struct cells){ 0 };
}

char *cells_dir(const char *study, const char *key)
{
	return mem_printf("%s/cells/%s", study, key);
}

char *cells_run_dir(const char *study, const char *key)
{
	return mem_printf("%s/cells/%s/run", study, key);
}

/* Add the tasks of @path, which is a file or a directory; the same one named twice is one. */
static int add_tasks(struct maker *m, const char *path, struct err *err)
{
	struct taskset more = { .id = { 0 } };
	/* A directory with a task is that task, whatever lies below it. */
	auto_free char *own = path_join(path, "task.json");
	int rc = taskset_load(access(own, R_OK) == 0 ? own : path, &more, err);

	for (size_t i = 0; rc == 0 && i < more.id.n; i++) {
		auto_free char *real = realpath(more.path.v[i], NULL);
		const char *file = real ? real : more.path.v[i];
		size_t k = 0;

		while (k < m->tasks.id.n && strcmp(m->tasks.id.v[k], more.id.v[i]) != 0)
			k++;
		if (k < m->tasks.id.n && strcmp(m->tasks.path.v[k], file) != 0)
			rc = err_set(err, ERR_INPUT, "two tasks are called %s: %s and %s",
				     more.id.v[i], m->tasks.path.v[k], file);
		if (k < m->tasks.id.n)
			continue;
		if (!studyplan_is_name(more.id.v[i]))
			rc = err_set(err, ERR_INPUT,
				     "%s: instance_id \"%.200s\" cannot be part of a file name",
				     file, more.id.v[i]);
		strv_add(&m->tasks.id, more.id.v[i]);
		strv_add(&m->tasks.path, file);
	}
	taskset_done(&more);
	return rc;
}

/* A pattern that fits nothing is a mistake; a plain name that is not there is told by who opens it. */
static int add_glob(struct maker *m, const char *entry, struct err *err)
{
	auto_free char *pattern = path_join(m->p->dir, entry);
	glob_t g = { 0 };
	int rc = glob(pattern, 0, NULL, &g);

	if (rc == GLOB_NOMATCH && strpbrk(entry, "*?[")) {
		globfree(&g);
		return err_set(err, ERR_INPUT, "%s: $.tasks: nothing fits \"%s\"", m->p->file,
			       entry);
	}
	if (rc == GLOB_NOMATCH) {
		globfree(&g);
		return add_tasks(m, pattern, err);
	}
	rc = rc ? err_set(err, ERR_SYS, "%s: $.tasks: cannot look for \"%s\"", m->p->file, entry)
		: 0;
	for (size_t i = 0; rc == 0 && i < g.gl_pathc; i++)
		rc = add_tasks(m, g.gl_pathv[i], err);
	globfree(&g);
	return rc;
}

/* @text with each "{task_dir}" replaced. Caller frees; NULL for NULL. */
static char *filled(const char *text, const char *dir)
{
	static const char mark[] = "{task_dir}";
	auto_buf b = BUF_INIT(1u << 20);
	const char *at;

	if (!text)
		return NULL;
	while ((at = strstr(text, mark))) {
		buf_add(&b, text, (size_t)(at - text));
		buf_adds(&b, dir);
		text = at + sizeof(mark) - 1;
	}
	buf_adds(&b, text);
	return mem_strdup(buf_str(&b));
}

/* A file of the plan: absolute, so that it means the same wherever the cell runs. */
static char *file_of(const struct maker *m, const struct place *at, const char *text)
{
	auto_free char *name = filled(text, at->dir);

	return name ? path_join(m->p->dir, name) : NULL;
}

/* A name that may be a file: as for "run --agent". */
static char *name_or_file(const struct maker *m, const struct place *at, const char *text)
{
	bool file = text && (strchr(text, '/') || str_ends(text, ".json"));

	return file ? file_of(m, at, text) : mem_strdup(text);
}

/* "script:FILE" and its like, with FILE made absolute; other models as they stand. */
static char *model_of(const struct maker *m, const struct place *at, const char *text)
{
	static const char *const with_file[] = { "script:", "replay:", "replay-loose:" };
	auto_free char *name = filled(text, at->dir);

	for (size_t i = 0; name && i < ARRAY_SIZE(with_file); i++) {
		if (str_starts(name, with_file[i])) {
			auto_free char *path = path_join(m->p->dir, name + strlen(with_file[i]));

			return mem_printf("%s%s", with_file[i], path);
		}
	}
	return take_ptr(&name);
}

/* Append "--NAME VALUE"; takes @value, nothing for NULL. */
static void option(struct strv *args, const char *name, char *value)
{
	if (!value)
		return;
	strv_add(args, name);
	strv_take(args, value);
}

static char *key_of(const struct maker *m, const struct place *at,
		    const struct study_condition *cond, const char *position, uint64_t repeat)
{
	return mem_printf("%s,%s,%s%s%s,r%llu", m->tasks.id.v[at->task], at->agent->name,
			  cond->name, position ? "," : "", position ? position : "",
			  (unsigned long long)repeat);
}

static void run_args(const struct maker *m, const struct place *at, struct strv *args)
{
	const struct study_condition *c = at->cond;

	option(args, "--task", mem_strdup(m->tasks.path.v[at->task]));
	option(args, "--agent", name_or_file(m, at, at->agent->agent));
	option(args, "--model", model_of(m, at, at->agent->model));
	option(args, "--scenario", file_of(m, at, c->scenario));
	option(args, "--mode", mem_strdup(c->mode));
	option(args, "--rounds",
	       c->rounds ? mem_printf("%llu", (unsigned long long)c->rounds) : NULL);
	option(args, "--simulator", model_of(m, at, c->simulator));
	option(args, "--profile", name_or_file(m, at, c->profile));
	option(args, "--ladder", mem_strdup(c->ladder));
	strv_each (i, &c->set)
		option(args, "--set", mem_strdup(c->set.v[i]));
	if (c->budget)
		option(args, "--set",
		       mem_printf("limits.total_tokens=%llu", (unsigned long long)c->budget));
}

static void fork_args(const struct maker *m, const struct place *at, struct strv *args)
{
	const struct study_condition *c = at->cond;

	option(args, "--scenario", file_of(m, at, c->scenario));
	option(args, "--mode", mem_strdup(c->mode));
	option(args, "--profile", name_or_file(m, at, c->profile));
	option(args, "--ladder", mem_strdup(c->ladder));
	option(args, "--budget",
	       c->budget ? mem_printf("%llu", (unsigned long long)c->budget) : NULL);
	option(args, "--model", model_of(m, at, c->model));
	option(args, "--clean-model", model_of(m, at, c->clean_model));
	option(args, "--shifted-model", model_of(m, at, c->shifted_model));
	strv_each (i, &c->set)
		option(args, "--set", mem_strdup(c->set.v[i]));
	option(args, "--grade-profile", name_or_file(m, at, m->p->grade_profile));
	if (!m->p->grade)
		strv_add(args, "--no-grade");
}

/* The value behind option @name. Borrowed; NULL when it is not there. */
static const char *value_of(const struct strv *args, const char *name)
{
	for (size_t i = 0; i + 1 < args->n; i++) {
		if (strcmp(args->v[i], name) == 0)
			return args->v[i + 1];
	}
	return NULL;
}

/* Make the run's plan for its digest and bounds. Whatever is wrong with it is said here. */
static int try_plan(const struct maker *m, const struct place *at, const struct strv *args,
		    struct cell *c, struct err *err)
{
	auto_strv set = { 0 };
	struct plan_request q = {
		.task = value_of(args, "--task"),
		.agent = value_of(args, "--agent"),
		.model = value_of(args, "--model"),
		.scenario = value_of(args, "--scenario"),
		.mode = value_of(args, "--mode"),
		.rounds = at->cond->rounds,
		.simulator = value_of(args, "--simulator"),
		.profile = value_of(args, "--profile"),
		.cwd = m->p->dir,
	};
	struct plan *plan = NULL;
	int rc;

	for (size_t i = 0; i + 1 < args->n; i++) {
		if (strcmp(args->v[i], "--set") == 0)
			strv_add(&set, args->v[i + 1]);
	}
	q.set = (const char *const *)set.v;
	rc = plan_build(&q, &plan, err);
	/* What would be wrong usage on a command line is a wrong file here. */
	if (rc == -ERR_USAGE && err)
		err->code = ERR_INPUT;
	if (rc < 0)
		return err_wrap(err, "%s: %s, %s, %s", m->p->file, m->tasks.id.v[at->task],
				at->agent->name, at->cond->name);
	c->plan_digest = mem_strdup(plan->digest);
	c->max_micro_dollars = plan->profile->limits.max[LIMIT_DOLLARS];
	c->max_tokens = plan->profile->limits.max[LIMIT_TOTAL_TOKENS];
	plan_free(plan);
	return 0;
}

static void print_spec(const struct maker *m, struct cell *c)
{
	auto_buf b = BUF_INIT(4u << 20);
	struct json_w w = { .b = &b };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.cell/1");
	json_str(&w, "key", c->key);
	json_str(&w, "kind", kinds[c->kind]);
	json_str(&w, "task", c->task);
	json_str(&w, "agent", c->agent);
	json_str(&w, "condition", c->condition);
	json_str(&w, "position", c->position);
	json_u64(&w, "repeat", c->repeat);
	json_str(&w, "after", c->after);
	json_str(&w, "plan_digest", c->plan_digest);
	json_strings(&w, "args", c->args.v, c->args.n);
	json_bool(&w, "grade", m->p->grade);
	json_bool(&w, "judge", m->p->judge && c->kind == CELL_RUN);
	json_bool(&w, "label", m->p->label && c->kind == CELL_RUN);
	json_str(&w, "grade_profile", m->p->grade_profile);
	json_close(&w, '}');
	c->spec = mem_strdup(buf_str(&b));
}

/* Enter @c, which the maker owns from now on. */
static int enter(struct maker *m, struct cell *c, struct err *err)
{
	uint64_t hash = map_hash(c->key, strlen(c->key));
	int rc = 0;

	if (strlen(c->key) > CELL_KEY_MAX)
		rc = err_set(err, ERR_INPUT,
			     "%s: the name %s has more than %u bytes; take shorter names",
			     m->p->file, c->key, CELL_KEY_MAX);
	else if (m->out->n >= STUDYPLAN_CELLS_MAX)
		rc = err_set(err, ERR_LIMIT, "%s: more than %u cells; make several studies of it",
			     m->p->file, STUDYPLAN_CELLS_MAX);
	else if (map_get(&m->keys, hash))
		rc = err_set(err, ERR_INPUT, "%s: two cells are called %s", m->p->file, c->key);
	MEM_GROW(m->out->v, m->out->cap, m->out->n + 1);
	m->out->v[m->out->n++] = *c;
	if (rc == 0)
		map_put(&m->keys, hash, m->out);
	return rc;
}

/* A cell that depends on another one's run must find it in the plan. */
static int needs(const struct maker *m, struct cell *c, const struct place *at,
		 const struct study_condition *other, struct err *err)
{
	c->after = key_of(m, at, other, NULL, c->repeat);
	if (map_get(&m->keys, map_hash(c->after, strlen(c->after))))
		return 0;
	return err_set(err, ERR_INPUT,
		       "%s: %s needs %s, which is not in the plan: give condition \"%s\" the same "
		       "tasks and agents",
		       m->p->file, c->key, c->after, other->name);
}

static const struct study_condition *named(const struct study_plan *p, const char *name)
{
	for (size_t i = 0; name && i < p->conditions.n; i++) {
		if (strcmp(studyplan_condition(p, i)->name, name) == 0)
			return studyplan_condition(p, i);
	}
	return NULL;
}

/* One cell; @first is the one of repeat 1, whose plan it shares, or NULL. */
static int one(struct maker *m, const struct place *at, const char *position, uint64_t repeat,
	       const struct cell *first, struct err *err)
{
	const struct study_condition *other =
		named(m->p, at->cond->fork ? at->cond->fork : at->cond->pair);
	struct cell c = {
		.key = key_of(m, at, at->cond, position, repeat),
		.kind = at->cond->fork ? CELL_FORK : CELL_RUN,
		.task = mem_strdup(m->tasks.id.v[at->task]),
		.agent = mem_strdup(at->agent->name),
		.condition = mem_strdup(at->cond->name),
		.position = mem_strdup(position),
		.repeat = repeat,
	};
	int rc = other ? needs(m, &c, at, other, err) : 0;

	if (c.kind == CELL_FORK) {
		strv_take(&c.args, mem_printf("cells/%s/run", c.after ? c.after : ""));
		option(&c.args, "--at", mem_strdup(position));
		fork_args(m, at, &c.args);
	} else {
		run_args(m, at, &c.args);
		if (other)
			option(&c.args, "--pair", mem_printf("cells/%s/run", c.after));
	}
	if (first) {
		c.plan_digest = mem_strdup(first->plan_digest);
		c.max_micro_dollars = first->max_micro_dollars;
		c.max_tokens = first->max_tokens;
	} else if (rc == 0 && c.kind == CELL_RUN) {
		rc = try_plan(m, at, &c.args, &c, err);
	}
	option(&c.args, "--repeat", mem_printf("%llu", (unsigned long long)repeat));
	print_spec(m, &c);
	if (rc == 0)
		return enter(m, &c, err);
	cells_done(&(struct cells){ .v = mem_dup(&c, sizeof(c)), .n = 1 });
	return rc;
}

static bool wanted(const struct strv *globs, const char *name)
{
	strv_each (i, globs)
		if (str_path_glob(globs->v[i], name))
			return true;
	return !globs->n;
}

/* All repeats of one place. */
static int repeats(struct maker *m, const struct place *at, struct err *err)
{
	const struct study_condition *c = at->cond;
	size_t positions = c->fork ? c->at.n : 1;
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < positions; k++) {
		size_t first = m->out->n;

		for (uint64_t r = 1; rc == 0 && r <= m->p->repeats; r++)
			rc = one(m, at, c->fork ? c->at.v[k] : NULL, r,
				 r > 1 ? &m->out->v[first] : NULL, err);
	}
	return rc;
}

static int matrix(struct maker *m, struct err *err)
{
	const struct study_plan *p = m->p;
	int rc = 0;

	for (size_t t = 0; rc == 0 && t < m->tasks.id.n; t++) {
		auto_free char *dir = path_dir(m->tasks.path.v[t]);
		const char *id = m->tasks.id.v[t];

		for (size_t a = 0; rc == 0 && a < p->agents.n; a++) {
			for (size_t c = 0; rc == 0 && c < p->conditions.n; c++) {
				struct place at = { t, studyplan_agent(p, a),
						    studyplan_condition(p, c), dir };

				if (wanted(&at.agent->tasks, id) && wanted(&at.cond->tasks, id) &&
				    wanted(&at.cond->agents, at.agent->name))
					rc = repeats(m, &at, err);
			}
		}
	}
	if (rc == 0 && !m->out->n)
		rc = err_set(
			err, ERR_INPUT,
			"%s: no cell is left: the globs of agents and conditions leave all out",
			p->file);
	return rc;
}

int cells_make(const struct study_plan *p, struct cells *ret, struct err *err)
{
	struct cells out = { 0 };
	struct maker m = { .p = p, .out = &out };
	int rc = 0;

	strv_each (i, &p->tasks)
		rc = rc == 0 ? add_glob(&m, p->tasks.v[i], err) : rc;
	if (rc == 0)
		rc = matrix(&m, err);
	map_done(&m.keys);
	taskset_done(&m.tasks);
	if (rc < 0)
		cells_done(&out);
	else
		*ret = out;
	return rc;
}

/* SplitMix64: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t *cells_order(const struct study_plan *p, size_t n)
{
	uint32_t *order = mem_zalloc(n + 1, sizeof(*order));
	uint64_t state = p->seed;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n; p->order == STUDY_SHUFFLED && i > 1; i--) {
		size_t k = next_random(&state) % i;
		uint32_t t = order[i - 1];

		order[i - 1] = order[k];
		order[k] = t;
	}
	return order;
}

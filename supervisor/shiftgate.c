#include "supervisor/shiftgate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/plan.h"
#include "supervisor/armgrade.h"
#include "supervisor/forkrun.h"
#include "supervisor/run.h"
#include "verifier/authority.h"
#include "verifier/strict.h"

#define STRICT_MAX (256u << 20)

/* Scripts of the scenario, absolute. */
struct actors {
	char *reference, *unadapted, *stale, *recovery;
	cJSON *mutations; /* owned: name to script, NULL = none */
};

/* One admission under way. */
struct gating {
	const struct shiftgate_request *req;
	struct shiftgate_result *r;
	struct actors a;
	char *dir;    /* of the scenario file */
	char *out;    /* absolute */
	char *record; /* run directory of the reference */
	char *none;   /* script of who stops at once */
};

/* --- actors ------------------------------------------------------------------------------------- */

struct actor_file {
	char *reference, *unadapted, *stale, *recovery, *mutations;
};

#define OFF(field) offsetof(struct actor_file, field)

/* clang-format off */
static const struct json_field actor_rows[] = {
	{ "reference", JSON_STR, OFF(reference), true },
	{ "unadapted", JSON_STR, OFF(unadapted), true },
	{ "stale", JSON_STR, OFF(stale), true },
	{ "recovery", JSON_STR, OFF(recovery), true },
	{ "mutations", JSON_RAW, OFF(mutations) },
	{ NULL },
};
/* clang-format on */

static int read_actors(struct gating *g, struct err *err)
{
	const struct scenario *sc = g->req->scenario;
	struct json_src src = { 0 };
	struct actor_file f = { 0 };
	int rc;

	if (!sc->actors)
		return err_set(
			err, ERR_INPUT,
			"%s: a scenario of family %s is admitted by its actors; give \"actors\" "
			"with the scripts reference, unadapted, stale and recovery",
			sc->file, sc->family ? sc->family : "?");
	rc = json_parse(sc->file, sc->actors, strlen(sc->actors), &src, err);
	if (rc == 0)
		rc = json_read(&src, "$.actors", src.root, actor_rows, &f, err);
	if (rc == 0) {
		g->a.reference = path_join(g->dir, f.reference);
		g->a.unadapted = path_join(g->dir, f.unadapted);
		g->a.stale = path_join(g->dir, f.stale);
		g->a.recovery = path_join(g->dir, f.recovery);
		g->a.mutations = f.mutations ? cJSON_Parse(f.mutations) : NULL;
	}
	json_release(actor_rows, &f);
	json_src_done(&src);
	return rc;
}

/* --- mutations ---------------------------------------------------------------------------------- */

#define OTHER_VERIFIER "verifier:" /* and the name of a version */
#define NO_MESSAGE     "no-message"

static const char *version_named(const char *value)
{
	return str_starts(value, OTHER_VERIFIER) ? value + strlen(OTHER_VERIFIER) : NULL;
}

/* The version that a mutation has the verdict made under. It must be one, and not the one in force: otherwise
 * nothing is broken. */
static int other_verifier(const struct gating *g, const char *check, const char *name,
			  struct err *err)
{
	struct authority last = { 0 };
	struct task *task = NULL;
	int rc = authority_task(g->req->task, g->req->scenario, NULL, name, &task, err);

	task_free(task);
	if (rc == 0)
		rc = authority_final(g->req->scenario, &last, err);
	if (rc == 0 && str_eq(last.verifier, name))
		rc = err_set(err, ERR_INPUT,
			     "%s: actors.mutations.%s: verifier \"%s\" is the one in force at the "
			     "end; name another version of \"authority\", or \"" AUTHORITY_INITIAL
			     "\"",
			     g->req->scenario->file, check, name);
	authority_done(&last);
	return rc;
}

/* What is broken must be a check, by something that breaks it. */
static int check_mutations(const struct gating *g, struct err *err)
{
	const cJSON *m;
	int rc = 0;

	cJSON_ArrayForEach (m, g->a.mutations) {
		const char *value = cJSON_GetStringValue(m),
			   *name = value ? version_named(value) : NULL;

		if (!value || !shiftgate_check_bit(m->string))
			return err_set(err, ERR_INPUT,
				       "%s: actors.mutations.%s is no check; there are task, "
				       "preservation, prohibited, authority, fresh_observation and "
				       "recovery_order",
				       g->req->scenario->file, m->string);
		if (name && rc == 0)
			rc = other_verifier(g, m->string, name, err);
	}
	return rc;
}

/* --- outcomes ----------------------------------------------------------------------------------- */

static void told(const struct gating *g, struct shiftgate_outcome *o)
{
	if (g->req->progress)
		g->req->progress(g->req->arg, o);
}

static void take_check(struct shiftgate_outcome *o, const cJSON *c)
{
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(c, "name"));
	const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(c, "reason"));
	unsigned bit = name ? shiftgate_check_bit(name) : 0;
	const cJSON *n;

	if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "applies")))
		return;
	o->applies |= bit;
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "ok")))
		return;
	o->failed |= bit;
	if (!o->why)
		o->why = mem_printf("%s: %s", name ? name : "?", why ? why : "");
	cJSON_ArrayForEach (n, cJSON_GetObjectItemCaseSensitive(c, "records"))
		strv_take(&o->records, mem_printf("%.0f", cJSON_GetNumberValue(n)));
}

/* Which checks applied and failed, from the arm's strict.json. */
static int take_strict(struct shiftgate_outcome *o, const char *dir, struct err *err)
{
	auto_free char *path = path_join(dir, "strict.json");
	auto_buf text = BUF_INIT(STRICT_MAX);
	struct json_src src = { 0 };
	const cJSON *c;
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, &src, err);
	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (c, cJSON_GetObjectItemCaseSensitive(src.root, "checks"))
		take_check(o, c);
	json_src_done(&src);
	return 0;
}

/* What grading and judging of @dir came to. */
static int take_grade(struct shiftgate_outcome *o, const char *dir, const struct armgrade *g,
		      struct err *err)
{
	o->dir = mem_strdup(dir);
	o->verdict = g->verdict;
	o->reason = mem_strdup(g->reason);
	o->judged = g->judged;
	o->valid = g->valid;
	o->success = g->success;
	if (!g->judged)
		return 0;
	if (!g->valid)
		o->why = mem_strdup(g->invalid);
	return take_strict(o, dir, err);
}

static struct armgrade_request grading(const struct gating *g, const char *dir, bool shifted)
{
	return (struct armgrade_request){
		.dir = dir,
		.task = g->req->task,
		.scenario = g->req->scenario,
		.shifted = shifted,
		.profile = g->req->profile,
		.janitor = g->req->janitor,
		.no_cgroup = g->req->no_cgroup,
		.no_own_tree = true,
		.infra_repeats = 2,
	};
}

/* --- rows 1 and 2 ------------------------------------------------------------------------------- */

static int initial_version(struct gating *g, const char *goal, const char *verifier, bool shifted,
			   struct err *err)
{
	struct grade_request q = { .profile = g->req->profile,
				   .janitor = g->req->janitor,
				   .no_cgroup = g->req->no_cgroup };
	struct shiftgate_outcome *o;
	struct task *task = NULL;
	struct verdict v;
	int rc = authority_task(g->req->task, g->req->scenario, goal, verifier, &task, err);

	if (rc < 0)
		return rc;
	q.task = task;
	rc = grade_repeat(&q, 2, &v, err);
	if (rc == 0) {
		o = shiftgate_add(g->r, SHIFTGATE_INITIAL);
		o->shifted = shifted;
		o->verdict = v.kind;
		o->reason = mem_strdup(v.reason);
		told(g, o);
		verdict_done(&v);
	}
	task_free(task);
	return rc;
}

static int initial_root(struct gating *g, struct err *err)
{
	struct authority last = { 0 };
	int rc = initial_version(g, NULL, NULL, false, err);

	if (rc == 0)
		rc = authority_final(g->req->scenario, &last, err);
	if (rc == 0 && !authority_is_initial(&last))
		rc = initial_version(g, last.goal, last.verifier, true, err);
	authority_done(&last);
	return rc;
}

/* The reference's run is the record of all that follows. */
static int clean_reference(struct gating *g, struct err *err)
{
	const struct shiftgate_request *r = g->req;
	auto_free char *model = mem_printf("script:%s", g->a.reference);
	auto_strv set = { 0 };
	struct plan_request q = { .task = r->task_file,
				  .agent = r->agent ? r->agent : "actor",
				  .scenario = r->scenario_file,
				  .model = model,
				  .cwd = r->cwd };
	struct run_options ro = { .out = g->record,
				  .quiet_output = true,
				  .no_tty = true,
				  .no_cgroup = r->no_cgroup,
				  .request = &q };
	struct armgrade_request ag = grading(g, g->record, false);
	struct shiftgate_outcome *o;
	struct armgrade graded = { 0 };
	struct run_outcome out;
	struct plan *plan = NULL;
	int rc;

	/* What was read and changed is what the checks ask for. */
	strv_add(&set, "watch=workspace");
	for (size_t i = 0; r->set && r->set[i]; i++)
		strv_add(&set, r->set[i]);
	q.set = (const char *const *)set.v;
	rc = plan_build(&q, &plan, err);
	if (rc < 0)
		return rc;
	rc = run_execute(plan, &ro, &out, err);
	run_outcome_done(&out);
	plan_free(plan);
	if (rc == 0)
		rc = armgrade(&ag, &graded, err);
	if (rc < 0)
		return err_wrap(err, "the reference");
	o = shiftgate_add(g->r, SHIFTGATE_REFERENCE);
	rc = take_grade(o, g->record, &graded, err);
	told(g, o);
	armgrade_done(&graded);
	return rc;
}

/* --- rows 3 to 6, and mutations ------------------------------------------------------------------ */

/* A continuation that a row asks for. */
struct wanted {
	enum shiftgate_row row;
	const char *position, *script, *mutation;
	bool clean, shifted;
	const char *mode;     /* of the scenario, NULL = its own */
	const char *verifier; /* that the shifted arm is graded under, NULL = the one in force */
};

static int take_arm(struct gating *g, const struct wanted *w, const struct forkrun_pair *p,
		    enum fork_arm arm, struct err *err)
{
	const struct forkrun_arm *a = &p->arm[arm];
	struct shiftgate_outcome *o = shiftgate_add(g->r, w->row);
	struct armgrade_request ag = grading(g, a->dir, arm == FORK_SHIFTED);
	struct armgrade graded = { 0 };
	int rc;

	o->shifted = arm == FORK_SHIFTED;
	o->position = mem_strdup(w->position);
	o->mutation = mem_strdup(w->mutation);
	if (!a->made || a->failure || a->differs || !a->reached) {
		o->verdict = a->differs ? VERDICT_INVALID : VERDICT_INFRA;
		o->dir = mem_strdup(a->dir);
		o->why = mem_strdup(a->differs ? a->differs : a->failure ? a->failure : a->end);
		told(g, o);
		return 0;
	}
	ag.verifier_judged = w->verifier;
	rc = armgrade(&ag, &graded, err);
	if (rc == 0)
		rc = take_grade(o, a->dir, &graded, err);
	armgrade_done(&graded);
	told(g, o);
	return rc;
}

static int play(struct gating *g, const struct wanted *w, struct err *err)
{
	auto_free char *model = mem_printf("script:%s", w->script);
	auto_free char *out =
		mem_printf("%s/%s%s%s-%s", g->out, shiftgate_row_name(w->row),
			   w->mutation ? "-" : "", w->mutation ? w->mutation : "", w->position);
	struct forkrun_request q = {
		.record = g->record,
		.position = w->position,
		.model = { model, model },
		.skip = { !w->clean, !w->shifted },
		.mode = w->mode,
		.out = out,
		.cwd = g->req->cwd,
		.no_grade = true,
		.janitor = g->req->janitor,
		.no_cgroup = g->req->no_cgroup,
	};
	struct forkrun_pair p = { 0 };
	int rc = forkrun_pair(&q, &p, err);

	if (rc < 0)
		return rc;
	if (w->clean)
		rc = take_arm(g, w, &p, FORK_CLEAN, err);
	if (rc == 0 && w->shifted)
		rc = take_arm(g, w, &p, FORK_SHIFTED, err);
	forkrun_done(&p);
	return rc;
}

static int at_position(struct gating *g, const char *position, struct err *err)
{
	const struct wanted rows[] = {
		{ .row = SHIFTGATE_UNADAPTED,
		  .script = g->a.unadapted,
		  .clean = true,
		  .shifted = true },
		{ .row = SHIFTGATE_STALE, .script = g->a.stale, .shifted = true },
		{ .row = SHIFTGATE_RECOVERY, .script = g->a.recovery, .shifted = true },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(rows); i++) {
		struct wanted w = rows[i];

		w.position = position;
		rc = play(g, &w, err);
	}
	return rc;
}

/* A script breaks a check from inside. "authority" is broken from outside: by the version that the verdict is made
 * under, or by a message that never came. */
static int play_mutation(struct gating *g, const char *position, const char *check,
			 const char *value, struct err *err)
{
	bool silent = strcmp(value, NO_MESSAGE) == 0;
	const char *other = version_named(value);
	auto_free char *script =
		silent || other ? mem_strdup(g->a.recovery) : path_join(g->dir, value);
	struct wanted w = { .row = SHIFTGATE_MUTATION,
			    .position = position,
			    .script = script,
			    .mutation = check,
			    .shifted = true,
			    .mode = silent ? "edit" : NULL,
			    .verifier = other };

	return play(g, &w, err);
}

static int mutate(struct gating *g, const char *position, struct err *err)
{
	const cJSON *m;
	int rc = 0;

	cJSON_ArrayForEach (m, g->a.mutations) {
		if (rc == 0)
			rc = play_mutation(g, position, m->string, cJSON_GetStringValue(m), err);
	}
	return rc;
}

static int all_rows(struct gating *g, struct err *err)
{
	static const char *const middle[] = { "0.5", NULL };
	const char *const *positions = g->req->positions ? g->req->positions : middle;
	struct wanted none = {
		.row = SHIFTGATE_NO_REPAIR, .position = "start", .script = g->none, .shifted = true
	};
	int rc = initial_root(g, err);
	size_t n = 0;

	if (rc == 0)
		rc = clean_reference(g, err);
	if (rc == 0)
		rc = play(g, &none, err);
	for (size_t i = 0; rc == 0 && positions[i]; i++)
		rc = at_position(g, positions[i], err);
	while (positions[n])
		n++;
	if (rc == 0 && g->req->mutations)
		rc = mutate(g, positions[n / 2], err);
	return rc;
}

static const char none_text[] =
	"{ \"schema\": \"proctor.script/1\", \"turns\": [ { \"text\": \"Done.\" } ] }\n";

int shiftgate_run(const struct shiftgate_request *req, struct shiftgate_result *ret,
		  struct err *err)
{
	struct gating g = { .req = req, .r = ret };
	auto_free char *file = path_join(req->cwd, req->scenario_file);
	int rc = strict_scenario(req->scenario, err);

	*ret = (struct shiftgate_result){ 0 };
	g.dir = path_dir(file);
	g.out = path_join(req->cwd, req->out);
	g.record = path_join(g.out, "record");
	g.none = path_join(g.out, "none.json");
	if (rc == 0)
		rc = authority_check(req->scenario, err);
	if (rc == 0)
		rc = read_actors(&g, err);
	if (rc == 0 && req->mutations)
		rc = check_mutations(&g, err);
	if (rc == 0)
		rc = fd_mkdirs(g.out, 0755, err);
	if (rc == 0)
		rc = fd_replace_file(g.none, none_text, strlen(none_text), err);
	if (rc == 0)
		rc = all_rows(&g, err);
	if (rc == 0)
		shiftgate_judge(ret);
	else
		shiftgate_done(ret);
	cJSON_Delete(g.a.mutations);
	free(g.a.reference);
	free(g.a.unadapted);
	free(g.a.stale);
	free(g.a.recovery);
	free(g.none);
	free(g.record);
	free(g.out);
	free(g.dir);
	return rc;
}

/* User edits by a model: an agent works on the request in the box and its edit is what the box changed; or a
 * model without an agent answers one question per attempt. What was refused goes into the next request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/api.h"
#include "gateway/record.h"
#include "profiles/plan.h"
#include "study/craft.h"
#include "supervisor/craft.h"
#include "supervisor/run.h"

#define PATCH_MAX  (256u << 20)
#define RECORD_MAX (1u << 30)
#define NOTHING    "The question is in the request.\n"

struct asker {
	struct craft *c;
	bool agent;          /* an agent file was named; otherwise a bare endpoint */
	struct strv answers; /* of a bare endpoint, in order */
	struct strv reasons; /* why they were refused */
	char *dir;           /* owned: files of the present attempt */
};

static int write_text(const struct asker *k, const char *name, const char *text, size_t n,
		      struct err *err)
{
	auto_free char *path = path_join(k->dir, name);

	return fd_replace_file(path, text, n, err);
}

static int write_tree(const struct asker *k, const char *name, cJSON *root, struct err *err)
{
	char *text = cJSON_Print(root);
	int rc;

	ensure(text, "a small tree can be printed");
	rc = write_text(k, name, text, strlen(text), err);
	cJSON_free(text);
	cJSON_Delete(root);
	return rc;
}

static void put(cJSON *to, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(to, key, text);
}

/* The files that regions and reference are about, as far as there is room: a model without an agent cannot
 * look them up. */
static int show_files(struct asker *k, struct buf *out, struct err *err)
{
	struct craft *c = k->c;
	auto_strv paths = { 0 };

	for (size_t i = 0; i < c->n_regions; i++)
		if (!strv_has(&paths, c->region[i].path))
			strv_add(&paths, c->region[i].path);
	for (size_t i = 0; i < c->reference.n; i++)
		if (c->reference.file[i].existed && !strv_has(&paths, c->reference.file[i].path))
			strv_add(&paths, c->reference.file[i].path);
	strv_each (i, &paths) {
		auto_buf text = BUF_INIT(PATCH_MAX);
		int rc = basetree_read(c->base, paths.v[i], &text, err);

		if (rc < 0)
			return rc;
		if (rc == 0 || out->len + text.len > CRAFT_FILES_MAX)
			continue;
		buf_addf(out, "%s--- %s\n", i ? "\n" : "", paths.v[i]);
		buf_add(out, buf_str(&text), text.len);
	}
	return 0;
}

static int make_prompt(struct asker *k, struct buf *out, struct err *err)
{
	auto_buf files = BUF_INIT(PATCH_MAX);
	const struct craft_about about = { .task = k->c->task,
					   .co = k->c->o->co,
					   .agent = k->agent,
					   .region = k->c->region,
					   .n_regions = k->c->n_regions,
					   .reasons = &k->reasons,
					   .files = "" };
	struct craft_about with = about;
	int rc = k->agent ? 0 : show_files(k, &files, err);

	if (rc < 0)
		return rc;
	with.files = buf_str(&files);
	rc = craft_prompt(k->c->prompt_name, k->c->prompt, &with, out, err);
	return rc < 0 ? rc : write_text(k, "request.txt", buf_str(out), out->len, err);
}

/* The task that the run is given: the same tree, the request in place of the issue, nothing of the tests. */
static int write_task(struct asker *k, const char *prompt, struct err *err)
{
	const struct task *t = k->c->task;
	cJSON *root = cJSON_CreateObject(), *env, *vars;
	auto_free char *place = path_join(k->dir, "workspace");
	int rc = 0;

	put(root, "schema", "proctor.task/1");
	put(root, "instance_id", t->instance_id);
	if (k->agent) {
		put(root, "source", t->source);
		put(root, "base_commit", t->base_commit);
		put(root, "problem_statement", prompt);
	} else {
		/* the question is in the request's file, and nothing of the repository in the box */
		put(root, "source", place);
		put(root, "problem_statement", "One question.");
		rc = fd_mkdirs(place, 0755, err);
		if (rc == 0)
			rc = write_text(k, "workspace/README", NOTHING, strlen(NOTHING), err);
		if (rc < 0) {
			cJSON_Delete(root);
			return rc;
		}
	}
	put(root, "workdir", t->workdir);
	env = cJSON_AddObjectToObject(root, "environment");
	put(env, "rootfs", t->rootfs);
	vars = cJSON_AddObjectToObject(env, "env");
	strv_each (i, &t->env) {
		const char *eq = strchr(t->env.v[i], '=');
		auto_free char *name =
			eq ? mem_strndup(t->env.v[i], (size_t)(eq - t->env.v[i])) : NULL;

		if (eq)
			put(vars, name, eq + 1);
	}
	return write_tree(k, "task.json", root, err);
}

/* The agent that sends one request: the shipped one with another body. */
static int write_ask(struct asker *k, const char *prompt, struct err *err)
{
	auto_free char *data = profile_datadir(), *base = mem_printf("%s/prompts/ask.json", data);
	auto_buf body = BUF_INIT(4u * CRAFT_PROMPT_MAX);
	cJSON *root = cJSON_CreateObject(), *files;
	int rc;

	craft_request(prompt, &k->answers, &k->reasons, &body);
	rc = write_text(k, "request.json.in", buf_str(&body), body.len, err);
	put(root, "schema", "proctor.agent/1");
	put(root, "name", "ask");
	put(root, "extends", base);
	files = cJSON_AddObjectToObject(root, "files");
	put(files, "~/request.json", "request.json.in");
	if (rc < 0) {
		cJSON_Delete(root);
		return rc;
	}
	return write_tree(k, "ask.json", root, err);
}

/* --model for attempt @n: "{attempt}" is its number. A script for a bare endpoint goes on where the last
 * attempt stopped. Caller frees *ret. */
static int model_of(struct asker *k, uint64_t n, char **ret, struct err *err)
{
	const char *spec = k->c->o->model, *at = spec ? strstr(spec, "{attempt}") : NULL;
	auto_buf text = BUF_INIT(JSON_FILE_MAX);
	int rc;

	*ret = NULL;
	if (!spec)
		return 0;
	if (at) {
		*ret = mem_printf("%.*s%llu%s", (int)(at - spec), spec, (unsigned long long)n,
				  at + strlen("{attempt}"));
		return 0;
	}
	if (k->agent || !str_starts(spec, "script:")) {
		*ret = mem_strdup(spec);
		return 0;
	}
	rc = craft_script(spec + strlen("script:"), n - 1, &text, err);
	if (rc == 0)
		rc = write_text(k, "script.json", buf_str(&text), text.len, err);
	if (rc == 0)
		*ret = mem_printf("script:%s/script.json", k->dir);
	return rc;
}

static int take_key(struct craft *c, const struct plan *plan, struct err *err)
{
	const char *names[] = { "PROCTOR_MODEL_KEY", NULL, NULL };

	if (c->has_key)
		return 0;
	if (plan->model)
		names[1] = api_of((enum agent_api)plan->agent->api)->key_env;
	c->has_key = true;
	return secret_take(names, &c->key, err);
}

/* Carry the run out. *ret_dir is the run directory (caller frees). */
static int execute(struct asker *k, uint64_t n, char **ret_dir, char **ret_agent, struct err *err)
{
	auto_free char *task = path_join(k->dir, "task.json"), *ask = path_join(k->dir, "ask.json");
	auto_free char *out = path_join(k->dir, "run"), *model = NULL, *cwd = getcwd(NULL, 0);
	auto_strv set = { 0 };
	struct plan_request req = { .task = task,
				    .agent = k->agent ? k->c->o->agent : ask,
				    .profile = "agent",
				    .cwd = cwd };
	struct run_options opt = { .out = out, .quiet_output = true, .no_tty = true };
	struct run_outcome o = { .dir = NULL };
	struct plan *plan = NULL;
	int rc;

	if (!cwd)
		return err_sys(err, "cannot tell the current directory");
	rc = model_of(k, n, &model, err);
	strv_take(&set, mem_printf("limits.model_calls=%llu",
				   (unsigned long long)(k->agent ? k->c->o->steps : 1)));
	for (size_t i = 0; k->c->o->set && k->c->o->set[i]; i++)
		strv_add(&set, k->c->o->set[i]);
	req.model = model;
	req.set = (const char *const *)set.v;
	if (rc == 0)
		rc = plan_build(&req, &plan, err);
	if (rc == 0)
		rc = take_key(k->c, plan, err);
	if (rc == 0) {
		opt.key = k->c->key.text;
		rc = run_execute(plan, &opt, &o, err);
		*ret_agent = mem_strdup(plan->agent->name);
	}
	if (rc == 0)
		*ret_dir = take_ptr(&o.dir);
	run_outcome_done(&o);
	plan_free(plan);
	return rc;
}

/* The last answer of a model in the run's record: a call of the tool, or its text. NULL with *ret_why. */
static char *last_answer(const struct recorded_list *l, char **ret_why)
{
	char *text = NULL;

	for (size_t i = l->n; i-- && !text;) {
		const struct recorded *r = &l->v[i];
		struct api_answer a = { .text = NULL };

		if (r->from_gateway)
			continue;
		api_answer_read(&a, api_of(AGENT_API_CHAT), r->answer, r->answer_n, r->sse);
		for (size_t c = 0; c < a.n_calls && !a.error && !text; c++)
			if (str_eq(a.calls[c].name, CRAFT_TOOL))
				text = take_ptr(&a.calls[c].args);
		if (!text && !a.error && a.text)
			text = take_ptr(&a.text);
		if (a.error && !*ret_why)
			*ret_why = mem_printf("the endpoint refused the request: %.200s",
					      a.text ? a.text : "");
		api_answer_done(&a);
	}
	if (!text && !*ret_why)
		*ret_why = mem_strdup("the model gave no answer");
	return text;
}

/* From a bare endpoint's answer to a candidate. 1, 0 with *ret_why, negative on error. */
static int read_answer(struct asker *k, const char *dir, struct candidate *ret, char **ret_why,
		       struct err *err)
{
	auto_free char *path = path_join(dir, "model.jsonl"), *answer = NULL, *object = NULL;
	auto_buf b = BUF_INIT(RECORD_MAX);
	struct recorded_list l = { .v = NULL };
	struct err local = { 0 };
	int rc = fd_read_file(path, &b, err);

	if (rc == 0)
		rc = record_read(path, buf_str(&b), b.len, &l, err);
	if (rc < 0)
		return rc;
	answer = last_answer(&l, ret_why);
	recorded_done(&l);
	strv_add(&k->answers, answer ? answer : "(no answer)");
	if (!answer)
		return 0;
	object = craft_object(answer, strlen(answer));
	if (!object) {
		*ret_why = mem_strdup("form: there is no JSON object in the answer");
		return 0;
	}
	if (candidate_parse("answer", object, strlen(object), ret, &local) < 0) {
		*ret_why = mem_printf("form: %s", local.text);
		return 0;
	}
	return 1;
}

/* What the agent changed, without its answer file: the diff of the edit alone. */
static int split_patch(struct asker *k, struct basetree_patch *p, struct candidate *ret,
		       char **ret_why, struct err *err)
{
	auto_free struct basetree_change *change = mem_zalloc(p->n + 1, sizeof(*change));
	auto_buf diff = BUF_INIT(BASETREE_DIFF_MAX);
	const struct basetree_file *answer = NULL;
	struct err local = { 0 };
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < p->n; i++) {
		const struct basetree_file *f = &p->file[i];

		if (str_eq(f->path, CRAFT_ANSWER_FILE))
			answer = f;
		else
			change[n++] = (struct basetree_change){ .path = f->path,
								.after = f->after,
								.n = f->n_after };
	}
	if (!answer || !answer->after) {
		*ret_why = mem_strdup("form: there is no file " CRAFT_ANSWER_FILE
				      " in the top directory");
		return 0;
	}
	if (candidate_parse(CRAFT_ANSWER_FILE, answer->after, answer->n_after, ret, &local) < 0) {
		*ret_why = mem_printf("form: %s", local.text);
		return 0;
	}
	rc = n ? basetree_diff(k->c->base, change, n, &diff, err) : 0;
	free(ret->diff);
	ret->diff = buf_steal(&diff, NULL);
	return rc < 0 ? rc : 1;
}

/* From the run of an agent to a candidate. As read_answer(). */
static int read_patch(struct asker *k, const char *dir, struct candidate *ret, char **ret_why,
		      struct err *err)
{
	auto_free char *path = path_join(dir, "patch.diff"), *reason = NULL;
	struct basetree_patch p = { .file = NULL };
	auto_buf b = BUF_INIT(PATCH_MAX);
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	if (!b.len) {
		*ret_why = mem_strdup("form: the files are as they were");
		return 0;
	}
	rc = basetree_apply(k->c->base, buf_str(&b), &p, &reason, err);
	if (rc == 0)
		*ret_why = mem_printf("form: the changes cannot be read: %s", reason);
	if (rc > 0)
		rc = split_patch(k, &p, ret, ret_why, err);
	basetree_patch_done(&p);
	return rc;
}

static char *generator(const struct craft *c, const char *agent)
{
	auto_buf b = BUF_INIT(8192);
	struct json_w w = { .b = &b };

	json_open(&w, NULL, '{');
	json_str(&w, "agent", agent);
	json_str(&w, "model", c->o->model);
	json_str(&w, "prompt_sha256", c->prompt_sha256);
	json_close(&w, '}');
	return buf_steal(&b, NULL);
}

static int prepare(struct asker *k, uint64_t n, struct err *err)
{
	auto_buf prompt = BUF_INIT(CRAFT_PROMPT_MAX);
	int rc;

	free(k->dir);
	k->dir = mem_printf("%s/attempts/%llu", k->c->dir, (unsigned long long)n);
	rc = fd_mkdirs(k->dir, 0755, err);
	if (rc == 0)
		rc = make_prompt(k, &prompt, err);
	if (rc == 0)
		rc = write_task(k, buf_str(&prompt), err);
	if (rc == 0 && !k->agent)
		rc = write_ask(k, buf_str(&prompt), err);
	return rc;
}

/* One attempt. The refusal goes to k->reasons. 0 or negative. */
static int attempt(struct asker *k, struct err *err)
{
	struct craft *c = k->c;
	struct craft_attempt a = { .n = ++c->attempts };
	struct candidate cand = { .diff = NULL };
	auto_free char *dir = NULL, *agent = NULL;
	int rc = prepare(k, a.n, err);

	if (rc == 0)
		rc = execute(k, a.n, &dir, &agent, err);
	if (rc < 0)
		return err_wrap(err, "attempt %llu", (unsigned long long)a.n);
	a.by = agent;
	a.run = mem_printf("attempts/%llu/run", (unsigned long long)a.n);
	rc = k->agent ? read_patch(k, dir, &cand, &a.reason, err)
		      : read_answer(k, dir, &cand, &a.reason, err);
	if (rc > 0) {
		free(cand.generator);
		cand.generator = generator(c, agent);
		rc = craft_judge(c, &cand, &a, &k->reasons, err);
	} else if (rc == 0) {
		strv_add(&k->reasons, a.reason);
		rc = craft_record(c, &a, err);
	}
	candidate_done(&cand);
	return rc;
}

int craft_by_asking(struct craft *c, struct err *err)
{
	struct asker k = { .c = c, .agent = c->o->agent != NULL };
	int rc = 0;

	while (rc >= 0 && c->attempts < c->o->attempts && c->accepted < c->o->want) {
		rc = attempt(&k, err);
		if (rc > 0) {
			/* the next one is another edit, not a correction of this one */
			strv_done(&k.reasons);
			strv_done(&k.answers);
		}
	}
	strv_done(&k.answers);
	strv_done(&k.reasons);
	free(k.dir);
	return rc < 0 ? rc : 0;
}

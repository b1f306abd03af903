/* The plan as text. The order is fixed, and nothing of the moment (time, process id) is in it:
 * the same inputs give the same bytes, and their digest names the plan. */
#include "profiles/plan.h"

#include <string.h>

#include "base/mem.h"

#define PLAIN_MAX 256  /* bytes of a text that is shown as it is */
#define RAW_MAX   4096 /* bytes of JSON that is shown as it is */

/* {"sha256": ..., "bytes": n}; null when @s is. */
static void digest_of(struct json_w *w, const char *key, const char *s)
{
	char hex[DIGEST_HEX];

	if (!s) {
		json_null(w, key);
		return;
	}
	json_open(w, key, '{');
	json_str(w, "sha256", digest_bytes(s, strlen(s), hex));
	json_u64(w, "bytes", strlen(s));
	json_close(w, '}');
}

/* Itself when short, its digest when long. */
static void text(struct json_w *w, const char *key, const char *s)
{
	if (s && strlen(s) > PLAIN_MAX)
		digest_of(w, key, s);
	else
		json_str(w, key, s);
}

static void texts(struct json_w *w, const char *key, const struct strv *sv)
{
	json_open(w, key, '[');
	strv_each (i, sv)
		text(w, NULL, sv->v[i]);
	json_close(w, ']');
}

static void raw(struct json_w *w, const char *key, const char *json)
{
	if (json && strlen(json) <= RAW_MAX)
		json_raw(w, key, json);
	else
		digest_of(w, key, json);
}

/* Parallel arrays "path=..." and contents. */
static void files(struct json_w *w, const char *key, const struct strv *names,
		  const struct strv *contents)
{
	json_open(w, key, '[');
	strv_each (i, names) {
		json_open(w, NULL, '{');
		json_str(w, "file", names->v[i]);
		digest_of(w, "contents", contents->v[i]);
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* Printed only when they are there: the digests of older plans stay what they were. */
static void print_bounds(struct json_w *w, const struct task *t)
{
	static const char *const modes[] = { "profile", "no-network", "allowlist", "public" };
	const struct task_limits *l = &t->limits;

	if (l->memory || l->cpus || l->disk || l->wall) {
		json_open(w, "limits", '{');
		json_u64(w, "memory", l->memory);
		json_u64(w, "cpus", l->cpus);
		json_u64(w, "storage", l->disk);
		json_u64(w, "agent_timeout_ns", l->wall);
		json_close(w, '}');
	}
	if (t->network != TASK_NET_PROFILE) {
		json_open(w, "network", '{');
		json_str(w, "mode", modes[t->network]);
		texts(w, "hosts", &t->hosts);
		json_close(w, '}');
	}
}

static void print_files(struct json_w *w, const struct task *t)
{
	const struct task_file *f = t->test.files.v;

	if (!t->test.files.n)
		return;
	json_open(w, "files", '[');
	for (size_t i = 0; i < t->test.files.n; i++) {
		json_open(w, NULL, '{');
		json_str(w, "from", f[i].from);
		json_str(w, "to", f[i].to);
		json_bool(w, "copy", f[i].copy);
		json_str(w, "sha256", f[i].digest);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void print_task(struct json_w *w, const struct task *t)
{
	json_open(w, "task", '{');
	json_str(w, "file", t->file);
	json_str(w, "instance_id", t->instance_id);
	text(w, "repo", t->repo);
	json_str(w, "base_commit", t->base_commit);
	text(w, "version", t->version);
	digest_of(w, "problem_statement", t->problem_statement);
	json_str(w, "source", t->source);
	json_str(w, "workdir", t->workdir);
	json_open(w, "environment", '{');
	json_str(w, "rootfs", t->rootfs);
	texts(w, "env", &t->env);
	texts(w, "packages", &t->packages);
	print_bounds(w, t);
	json_close(w, '}');
	digest_of(w, "patch", t->patch);
	digest_of(w, "test_patch", t->test_patch);
	json_open(w, "test", '{');
	text(w, "command", t->test.command);
	json_str(w, "reader", t->test.reader);
	json_u64(w, "timeout_ns", t->test.timeout);
	texts(w, "hidden", &t->test.hidden);
	text(w, "report", t->test.report);
	if (t->test.reward)
		text(w, "reward", t->test.reward);
	print_files(w, t);
	json_close(w, '}');
	if (t->solution.command)
		text(w, "solution", t->solution.command);
	texts(w, "FAIL_TO_PASS", &t->fail_to_pass);
	texts(w, "PASS_TO_PASS", &t->pass_to_pass);
	json_close(w, '}');
}

static void print_tools(struct json_w *w, const struct agent *a)
{
	const struct agent_tool *t = a->tools.v;

	json_open(w, "tools", '{');
	for (size_t i = 0; i < a->tools.n; i++) {
		json_open(w, agent_tool_name(t[i].kind), '{');
		text(w, "name", t[i].name);
		raw(w, "args", t[i].args);
		json_bool(w, "custom", t[i].custom);
		json_close(w, '}');
	}
	json_close(w, '}');
}

static void print_agent(struct json_w *w, const struct agent *a)
{
	json_open(w, "agent", '{');
	json_str(w, "file", a->file);
	text(w, "name", a->name);
	texts(w, "command", &a->command);
	json_str(w, "api", agent_api_name(a->api));
	texts(w, "env", &a->env);
	json_str(w, "base_url_env", a->base_url_env);
	json_str(w, "key_env", a->key_env);
	files(w, "files", &a->files, &a->file_texts);
	raw(w, "install", a->install);
	print_tools(w, a);
	text(w, "model", a->default_model);
	json_open(w, "native", '{');
	json_str(w, "protocol", agent_native_name(a->native));
	texts(w, "command", &a->native_command);
	json_close(w, '}');
	json_open(w, "resume", '{');
	texts(w, "command", &a->resume_command);
	json_str(w, "session", a->resume_session);
	json_str(w, "id", agent_session_id_name(a->resume_id));
	text(w, "prompt", a->resume_prompt);
	json_close(w, '}');
	text(w, "sandbox", a->sandbox);
	json_str(w, "message_via", agent_via_name(a->via));
	text(w, "message_via_argument", a->via_arg);
	json_close(w, '}');
}

static void print_limits(struct json_w *w, const struct limits *l)
{
	char out[40];

	json_open(w, "limits", '{');
	for (int k = 0; k < LIMIT_MAX; k++)
		json_str(w, limits_name(k), limits_text(k, l->max[k], out));
	json_close(w, '}');
}

static void print_profile(struct json_w *w, const struct profile *p)
{
	char out[40];

	json_open(w, "profile", '{');
	json_str(w, "file", p->file);
	json_str(w, "name", p->name);
	json_open(w, "filesystem", '{');
	json_str(w, "rootfs", p->rootfs);
	texts(w, "read", &p->read);
	texts(w, "write", &p->write);
	texts(w, "hide", &p->hide);
	json_str(w, "home", profile_home_name(p->home));
	json_str(w, "workspace", profile_workspace_name(p->workspace));
	json_close(w, '}');
	json_open(w, "network", '{');
	json_str(w, "mode", profile_net_name(p->net));
	texts(w, "hosts", &p->hosts);
	json_close(w, '}');
	json_open(w, "model", '{');
	json_str(w, "delivery", profile_delivery_name(p->delivery));
	json_str(w, "provider_tools", profile_provider_tools_name(p->provider_tools));
	json_str(w, "pin", profile_pin_name(p->pin));
	json_str(w, "reattach", profile_reattach_name(p->reattach));
	json_str(w, "timeout", limits_text(LIMIT_WALL, p->model_timeout, out));
	json_u64(w, "retries", p->model_retries);
	json_str(w, "prices", p->prices);
	json_bool(w, "tell_limits", p->tell_limits);
	json_close(w, '}');
	json_open(w, "syscalls", '{');
	texts(w, "deny", &p->deny);
	json_bool(w, "nested_userns", p->nested_userns);
	json_close(w, '}');
	print_limits(w, &p->limits);
	json_str(w, "on_limit", profile_on_limit_name(p->on_limit));
	json_str(w, "grace", limits_text(LIMIT_WALL, p->grace, out));
	json_str(w, "trace", profile_trace_name(p->trace));
	json_str(w, "watch", profile_watch_name(p->watch));
	json_bool(w, "steps", p->steps);
	json_str(w, "checkpoints", profile_checkpoints_name(p->checkpoints));
	texts(w, "require", &p->require);
	json_close(w, '}');
}

static void print_effect(struct json_w *w, const struct effect *e)
{
	json_open(w, NULL, '{');
	json_str(w, "kind", scenario_effect_name(e->kind));
	switch (e->kind) {
	case EFFECT_EDIT:
		digest_of(w, "diff", e->diff);
		break;
	case EFFECT_MESSAGE:
		text(w, "text", e->text);
		text(w, "template", e->template);
		text(w, "claim", e->claim);
		break;
	case EFFECT_EXEC:
		texts(w, "argv", &e->argv);
		break;
	case EFFECT_MODEL:
	case EFFECT_AUTHORITY:
	case EFFECT_PLACE:
	case EFFECT_RUNTIME:
	case EFFECT_SERVICE:
		raw(w, "value", e->raw);
		break;
	}
	json_close(w, '}');
}

/* When it fires: the count of each round that it may be asked for. */
static void print_points(struct json_w *w, const struct scenario *s, const struct intervention *iv)
{
	const struct when *when = &iv->when;
	uint64_t last =
		when->at >= 0 || iv->order < s->n_interventions ? iv->order : scenario_rounds(s);

	if (when->event != WHEN_PROGRESS)
		return;
	json_str(w, "unit", scenario_unit_name((enum when_unit)when->unit));
	json_str(w, "n_from", scenario_length_name((enum length_from)when->from));
	json_open(w, "fractions", '[');
	for (uint64_t k = iv->order; k <= last; k++)
		json_dbl(w, NULL, scenario_fraction(s, when, k));
	json_close(w, ']');
	json_open(w, "points", '[');
	for (uint64_t k = iv->order; k <= last && when->n; k++)
		json_u64(w, NULL, scenario_point(s, when, k));
	json_close(w, ']');
}

static void print_when(struct json_w *w, const struct scenario *s, const struct intervention *iv)
{
	const struct when *when = &iv->when;
	const uint64_t *region = when->regions.v, *after = when->all_after.v;

	json_open(w, "when", '{');
	json_str(w, "event", scenario_event_name(when->event));
	json_open(w, "regions", '[');
	for (size_t i = 0; i < when->regions.n; i++)
		json_u64(w, NULL, region[i]);
	json_close(w, ']');
	json_str(w, "touch", scenario_touch_name(when->touch));
	json_u64(w, "min_overlap", when->min_overlap);
	json_bool(w, "count_scans", when->count_scans);
	if (when->at >= 0)
		json_dbl(w, "at", when->at);
	else
		json_null(w, "at");
	json_u64(w, "n", when->n);
	text(w, "program", when->program);
	text(w, "anchor", when->anchor);
	json_u64(w, "after", when->after);
	json_open(w, "all_after", '[');
	for (size_t i = 0; i < when->all_after.n; i++)
		json_u64(w, NULL, after[i]);
	json_close(w, ']');
	json_u64(w, "delay_ns", when->delay);
	print_points(w, s, iv);
	json_close(w, '}');
}

static void print_intervention(struct json_w *w, const struct scenario *s,
			       const struct intervention *iv)
{
	json_open(w, NULL, '{');
	json_u64(w, "order", iv->order);
	print_when(w, s, iv);
	json_str(w, "timing", scenario_timing_name(iv->timing));
	json_open(w, "effects", '[');
	for (size_t i = 0; i < iv->n_effects; i++)
		print_effect(w, iv->effects + i);
	json_close(w, ']');
	json_close(w, '}');
}

static void print_scenario(struct json_w *w, const struct scenario *s)
{
	if (!s) {
		json_null(w, "scenario");
		return;
	}
	json_open(w, "scenario", '{');
	json_str(w, "file", s->file);
	json_str(w, "id", s->id);
	json_str(w, "instance_id", s->instance_id);
	text(w, "family", s->family);
	json_str(w, "mode", scenario_mode_name(s->mode));
	json_u64(w, "max_rounds", s->max_rounds);
	json_open(w, "progress", '[');
	for (size_t i = 0; i < s->n_progress; i++)
		json_dbl(w, NULL, s->progress[i]);
	json_close(w, ']');
	json_open(w, "regions", '[');
	for (size_t i = 0; i < s->n_regions; i++) {
		json_open(w, NULL, '{');
		text(w, "path", s->regions[i].path);
		json_u64(w, "start", s->regions[i].start);
		json_u64(w, "end", s->regions[i].end);
		text(w, "evidence", s->regions[i].evidence);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_open(w, "interventions", '[');
	for (size_t i = 0; i < s->n_interventions; i++)
		print_intervention(w, s, s->interventions + i);
	json_close(w, ']');
	raw(w, "checks", s->checks);
	raw(w, "authority", s->authority);
	raw(w, "actors", s->actors);
	if (s->services)
		raw(w, "services", s->services);
	user_print(s->user, w);
	json_close(w, '}');
}

static void print_condition(struct json_w *w, const struct plan_condition *c)
{
	json_open(w, "condition", '{');
	json_str(w, "mode", scenario_mode_name((enum scenario_mode)c->mode));
	json_u64(w, "k", c->k);
	json_u64(w, "repeat", c->repeat);
	json_open(w, "reference", '[');
	for (size_t i = 0; i < c->n_references; i++) {
		json_open(w, NULL, '{');
		json_str(w, "run", c->reference[i].run);
		json_u64(w, "commands", c->reference[i].commands);
		json_u64(w, "calls", c->reference[i].calls);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
}

/* Where answers come from. A chain is two long at most (profiles/model.h). */
static void print_model(struct json_w *w, const char *key, const struct model *m)
{
	char hex[DIGEST_HEX];

	if (!m) {
		json_null(w, key);
		return;
	}
	json_open(w, key, '{');
	json_str(w, "kind", model_kind_name(m->kind));
	text(w, "name", m->name);
	text(w, "url", m->url);
	json_str(w, "file", m->file);
	if (m->text) {
		json_str(w, "sha256", digest_bytes(m->text, m->text_n, hex));
		json_u64(w, "bytes", m->text_n);
	}
	if (m->kind >= MODEL_REPLAY) {
		json_bool(w, "loose", m->loose);
		if (m->upto != UINT64_MAX)
			json_u64(w, "upto", m->upto);
		print_model(w, "then", m->then);
	}
	json_close(w, '}');
}

static void print_prices(struct json_w *w, const struct prices *p)
{
	if (!p) {
		json_null(w, "prices");
		return;
	}
	json_open(w, "prices", '{');
	json_str(w, "file", p->file);
	json_str(w, "sha256", p->sha256);
	json_close(w, '}');
}

void plan_print(const struct plan *p, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.plan/1");
	print_task(&w, p->task);
	print_agent(&w, p->agent);
	print_profile(&w, p->profile);
	print_scenario(&w, p->scenario);
	print_condition(&w, &p->condition);
	print_model(&w, "model", p->model);
	text(&w, "model_name", p->model_name);
	print_prices(&w, p->prices);
	simulator_print(p->simulator, &w);
	json_str(&w, "agent_dir", p->agent_dir);
	json_str(&w, "program", p->program);
	json_str(&w, "rootfs", p->rootfs);
	if (p->image)
		json_str(&w, "image", p->image->digest);
	texts(&w, "argv", &p->argv);
	texts(&w, "env", &p->env);
	json_str(&w, "home", p->home);
	files(&w, "home_files", &p->home_files, &p->home_texts);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

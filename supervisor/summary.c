#include "supervisor/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/gateway.h"
#include "profiles/plan_pair.h"
#include "supervisor/checkpoint.h"
#include "supervisor/forkpoint.h"
#include "supervisor/gwsim.h"
#include "supervisor/services.h"
#include "supervisor/userproc.h"

static const char *const reasons[] = {
	[END_NONE] = "error",  [END_EXITED] = "exited", [END_SIGNAL] = "signal",
	[END_LIMIT] = "limit", [END_POLICY] = "policy", [END_INTERRUPTED] = "interrupted",
	[END_ERROR] = "error",
};

const char *summary_reason(const struct sup *s, char out[64])
{
	if (s->end == END_LIMIT && s->budget.hit != LIMIT_MAX)
		snprintf(out, 64, "limit:%s", limits_name(s->budget.hit));
	else
		snprintf(out, 64, "%s", reasons[s->end]);
	return out;
}

static void put_end(struct json_w *w, const struct summary *m)
{
	char why[64];

	json_open(w, "end", '{');
	if (m->failure) {
		json_str(w, "reason", "error");
		json_str(w, "detail", m->failure);
	} else if (m->sup) {
		const struct sup *s = m->sup;

		json_str(w, "reason", summary_reason(s, why));
		if (s->root_gone && WIFSIGNALED(s->root_status))
			json_i64(w, "signal", WTERMSIG(s->root_status));
		if (s->root_gone && WIFEXITED(s->root_status))
			json_i64(w, "status", WEXITSTATUS(s->root_status));
		else
			json_null(w, "status");
		if (s->end_detail)
			json_str(w, "detail", s->end_detail);
	}
	json_close(w, '}');
}

static void put_names(struct json_w *w, const struct plan *p)
{
	/* Absolute: `grade --run` may be called from anywhere. */
	auto_free char *file = p->task->file ? realpath(p->task->file, NULL) : NULL;

	json_open(w, "task", '{');
	json_str(w, "instance_id", p->task->instance_id);
	json_str(w, "source", p->task->source);
	json_str(w, "workdir", p->task->workdir);
	json_str(w, "file", file ? file : p->task->file);
	json_close(w, '}');
	json_str(w, "agent", p->agent->name);
	json_str(w, "scenario", p->scenario ? p->scenario->id : NULL);
	json_str(w, "profile", p->profile->name);
	json_str(w, "plan_digest", p->digest);
	if (p->image)
		json_str(w, "image", p->image->digest);
	json_str(w, "pair_digest", p->pair_digest);
	json_open(w, "condition", '{');
	json_str(w, "mode", scenario_mode_name((enum scenario_mode)p->condition.mode));
	json_u64(w, "k", p->condition.k);
	json_close(w, '}');
	json_u64(w, "repeat", p->condition.repeat);
}

/* What the plan was made of, so that it can be made again (fork). */
static void put_request(struct json_w *w, const struct plan_request *q)
{
	size_t n = 0;

	if (!q) {
		json_null(w, "request");
		return;
	}
	json_open(w, "request", '{');
	json_str(w, "cwd", q->cwd);
	json_str(w, "task", q->task);
	json_str(w, "agent", q->agent);
	json_str(w, "profile", q->profile);
	json_str(w, "scenario", q->scenario);
	json_str(w, "mode", q->mode);
	json_u64(w, "rounds", q->rounds);
	json_str(w, "model", q->model);
	json_str(w, "simulator", q->simulator);
	while (q->set && q->set[n])
		n++;
	json_strings(w, "set", (char *const *)(uintptr_t)q->set, n);
	n = 0;
	while (q->argv && q->argv[n])
		n++;
	json_strings(w, "argv", q->argv, n);
	json_close(w, '}');
}

static void put_versions(struct json_w *w)
{
	struct utsname u;

	json_open(w, "versions", '{');
	json_str(w, "proctor", PROCTOR_VERSION);
	if (uname(&u) == 0)
		json_str(w, "kernel", u.release);
	json_close(w, '}');
}

static void put_posture(struct json_w *w, const struct box *box)
{
	json_open(w, "posture", '{');
	for (int l = 0; box && l < LAYER_MAX; l++)
		json_str(w, layer_name((enum layer)l), box->posture[l]);
	json_close(w, '}');
}

static void put_times(struct json_w *w, const struct summary *m)
{
	const struct phases *ph = m->phases;
	char text[32];
	uint64_t end = ph->ended ? ph->ended : clock_mono();

	json_open(w, "times", '{');
	json_str(w, "start", clock_text(ph->wall_start, text));
	if (!m->running)
		json_str(w, "end", clock_text(ph->wall_start + (end - ph->begun), text));
	json_u64(w, "wall_ns", ph->agent && end > ph->agent ? end - ph->agent : 0);
	json_open(w, "phases", '{');
	if (ph->workspace)
		json_u64(w, "workspace_ns", ph->workspace - ph->begun);
	if (ph->box)
		json_u64(w, "box_ns", ph->box - ph->workspace);
	if (ph->captured)
		json_u64(w, "capture_ns", ph->captured - ph->ended);
	json_close(w, '}');
	json_close(w, '}');
}

static void put_model(struct json_w *w, const struct sup *s)
{
	const struct plan *p = s->plan;
	const uint64_t *used = s->budget.used;

	if (!p->model) {
		json_null(w, "model");
		return;
	}
	json_open(w, "model", '{');
	json_str(w, "api", agent_api_name((enum agent_api)p->agent->api));
	json_str(w, "source", model_kind_name(p->model->kind));
	json_str(w, "name", p->model_name);
	json_u64(w, "calls", used[LIMIT_MODEL_CALLS]);
	json_u64(w, "main_calls", s->main_calls);
	json_u64(w, "input_tokens", used[LIMIT_INPUT_TOKENS]);
	json_u64(w, "cached_tokens", s->cached_tokens);
	json_u64(w, "output_tokens", used[LIMIT_OUTPUT_TOKENS]);
	json_u64(w, "unknown_usage", s->unknown_usage);
	if (s->unknown_costs)
		json_null(w, "micro_dollars"); /* unknown is not zero */
	else
		json_u64(w, "micro_dollars", used[LIMIT_DOLLARS]);
	json_str(w, "prices_sha256", p->prices ? p->prices->sha256 : NULL);
	json_u64(w, "messages", s->messages_placed);
	json_u64(w, "messages_lost", s->messages_lost);
	json_strings(w, "unmet", s->unmet.v, s->unmet.n);
	json_close(w, '}');
}

/* The policy as text, so that two runs can be seen to have had the same. */
static void put_policy(struct json_w *w, const struct profile *p)
{
	auto_buf text = BUF_INIT(4u << 20);
	char sum[DIGEST_HEX];

	buf_addf(&text, "%s\n", profile_net_name((enum net_mode)p->net));
	strv_each (i, &p->hosts)
		buf_addf(&text, "%s\n", p->hosts.v[i]);
	json_str(w, "policy_digest", digest_bytes(buf_str(&text), text.len, sum));
}

static void put_network(struct json_w *w, const struct sup *s)
{
	json_open(w, "network", '{');
	json_str(w, "mode", profile_net_name((enum net_mode)s->plan->profile->net));
	put_policy(w, s->plan->profile);
	json_str(w, "gateway", s->gw ? s->gw->posture : "none: nothing leaves the box");
	json_u64(w, "connections", s->net_relays);
	json_u64(w, "bytes_out", s->net_out);
	json_u64(w, "bytes_in", s->net_in);
	json_u64(w, "denied", s->net_denied);
	json_close(w, '}');
}

static void put_resources(struct json_w *w, const struct sup *s)
{
	json_open(w, "resources", '{');
	json_u64(w, "cpu_ns", s->budget.used[LIMIT_CPU]);
	json_u64(w, "max_rss", s->budget.used[LIMIT_MEMORY]);
	json_u64(w, "processes", s->ts.made);
	json_u64(w, "tasks_peak", s->ts.peak);
	json_u64(w, "disk", s->budget.used[LIMIT_DISK]);
	json_u64(w, "output", s->relay->bytes);
	json_u64(w, "stops", s->stops);
	json_u64(w, "trace_records", s->sink->n);
	json_close(w, '}');
	put_model(w, s);
	gwsim_summary(s, w);
	put_network(w, s);
	json_open(w, "budgets", '[');
	for (int k = 0; k < LIMIT_MAX; k++) {
		if (!s->budget.limit.max[k])
			continue;
		json_open(w, NULL, '{');
		json_str(w, "name", limits_name((enum limit_kind)k));
		json_u64(w, "limit", s->budget.limit.max[k]);
		json_u64(w, "used", s->budget.used[k]);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_study(struct json_w *w, const struct sup *s)
{
	uint64_t touches = 0, fired = 0, refused = 0;

	if (s->engine)
		engine_counts(s->engine, &touches, &fired, &refused);
	json_open(w, "interventions", '{');
	json_u64(w, "fired", fired);
	json_u64(w, "refused", refused);
	json_close(w, '}');
	json_u64(w, "touches", touches);
	json_open(w, "authority", '{');
	json_str(w, "goal", s->goal ? s->goal : "initial");
	json_str(w, "verifier", s->verifier ? s->verifier : "initial");
	json_close(w, '}');
	json_u64(w, "commands", s->cmds.last - s->cmds.dropped);
	json_open(w, "denied", '[');
	for (size_t i = 0; i < s->n_denied; i++) {
		json_open(w, NULL, '{');
		json_str(w, "what", s->denied[i].what);
		json_str(w, "rule", s->denied[i].rule);
		json_u64(w, "count", s->denied[i].count);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_patch(struct json_w *w, const struct capture *c)
{
	if (!c) {
		json_null(w, "patch");
		return;
	}
	json_open(w, "patch", '{');
	json_u64(w, "files", c->files);
	json_u64(w, "added", c->added);
	json_u64(w, "removed", c->removed);
	json_u64(w, "ignored", c->ignored);
	json_str(w, "sha256", c->sha256);
	json_strings(w, "dropped", c->dropped.v, c->dropped.n);
	json_close(w, '}');
}

static void put_history(struct json_w *w, const struct workspace *ws)
{
	const struct git_history *h = &ws->history;

	if (!h->head[0])
		return;
	json_open(w, "history", '{');
	json_str(w, "head", h->head);
	json_u64(w, "commits", h->commits);
	json_u64(w, "objects", h->objects);
	json_u64(w, "refs_dropped", h->refs_dropped);
	json_u64(w, "commits_dropped", h->commits_dropped);
	json_bool(w, "made", h->made);
	json_close(w, '}');
}

int summary_write_plan(const char *dir, const struct plan *plan, struct err *err)
{
	auto_free char *path = path_join(dir, "plan.json");
	auto_buf text = BUF_INIT(PLAN_PAIR_FILE_MAX);

	plan_print(plan, &text);
	if (text.full)
		return err_set(err, ERR_LIMIT,
			       "the plan is larger than 64M; make its files smaller");
	return fd_replace_file(path, buf_str(&text), text.len, err);
}

int summary_write(const struct summary *m, struct err *err)
{
	auto_buf text = BUF_INIT(16u << 20);
	struct json_w w = { .b = &text, .pretty = true };
	auto_free char *path = path_join(m->dir, "run.json");

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.run/1");
	json_str(&w, "id", m->id);
	json_str(&w, "state", m->running ? "running" : "done");
	if (!m->running)
		put_end(&w, m);
	put_names(&w, m->plan);
	put_request(&w, m->request);
	put_versions(&w);
	put_posture(&w, m->box);
	put_times(&w, m);
	if (m->sup && !m->running) {
		put_resources(&w, m->sup);
		put_study(&w, m->sup);
		forkpoint_summary(m->sup, &w);
		checkpoint_summary(m->sup, &w);
		services_summary(m->sup, &w);
		userproc_summary(m->sup, &w);
		put_patch(&w, m->patch);
	}
	if (m->ws)
		put_history(&w, m->ws);
	json_close(&w, '}');
	buf_addc(&text, '\n');
	if (text.full)
		return err_set(err, ERR_LIMIT, "%s would be larger than 16 MiB; the trace has all",
			       path);
	return fd_replace_file(path, buf_str(&text), text.len, err);
}

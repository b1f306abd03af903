/* What the gateway says of the model: requests are boundaries between tool calls, answers arm the
 * triggers and fill the budgets. */
#include <string.h>

#include "base/mem.h"
#include "gateway/api.h"
#include "gateway/purpose.h"
#include "gateway/tooluse.h"
#include "supervisor/checkpoint.h"
#include "supervisor/command.h"
#include "supervisor/forkpoint.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/netproc.h"
#include "supervisor/runanchor.h"
#include "supervisor/userproc.h"

enum { UNMET_MAX = 32 };

static void step(struct sup *s, int rc, const struct err *err)
{
	if (rc < 0)
		sup_engine_failed(s, err);
}

/* The process that asks the model is the agent, whatever wrappers stand before it: its children are
 * the commands. */
static void find_lead(struct sup *s, uint16_t port)
{
	struct process *lead = map_get(&s->ts.by_pid, (uint64_t)s->lead);
	struct process *p = netproc_find(s, false, port, lead);

	if (p && p != lead)
		command_lead(s, p);
}

/* How much of the run is over, by the budget that is nearest to its end. */
static double progress(const struct sup *s)
{
	static const enum limit_kind kinds[] = { LIMIT_WALL, LIMIT_MODEL_CALLS,
						 LIMIT_TOTAL_TOKENS };
	double most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t max = s->budget.limit.max[kinds[i]];
		double f = max ? (double)s->budget.used[kinds[i]] / (double)max : 0;

		most = f > most ? f : most;
	}
	return most;
}

/* The agent asks again, so its tool calls are over: what waited for that is done before the request
 * goes on. */
static void boundary(struct sup *s)
{
	struct err err;
	struct process *lead = map_get(&s->ts.by_pid, (uint64_t)s->lead);

	/* An agent lives long and reads many files: what makes a scan is counted between two requests. */
	if (lead)
		lead->n_seen = 0;
	if (!s->engine)
		return;
	engine_asked_clear(s->engine);
	command_boundary(s);
	step(s, engine_progress(s->engine, progress(s), &err), &err);
}

void gwmodel_main(struct sup *s, const struct gw_msg *m)
{
	if (s->phase < SUP_KILLED) {
		struct err err;

		/* Not answered when it differs: a continuation of something else costs nothing. */
		if (forkpoint_request(s, m, &err) < 0) {
			sup_engine_failed(s, &err);
			return;
		}
		boundary(s);
		runanchor_start(s);
		runanchor_boundary(s);
		if (userproc_request(s, m) || gwsim_request(s, m))
			return;
	}
	gwlink_reply(s, m, GW_GO);
}

void gwmodel_request(struct sup *s, const struct gw_msg *m)
{
	if (m->v[1] != PURPOSE_MAIN || s->phase >= SUP_KILLED) {
		gwlink_reply(s, m, GW_GO);
		return;
	}
	find_lead(s, (uint16_t)m->v[4]);
	if (!checkpoint_wait(s, m))
		gwmodel_main(s, m);
}

void gwmodel_placed(struct sup *s, const struct gw_msg *m)
{
	struct buf *b;

	/* Again at the same place in every later request: only news is recorded. */
	if (!m->v[2] && !m->v[3])
		return;
	b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);
	tracerec_u64(b, "message", m->v[1] + 1);
	tracerec_u64(b, "call", m->v[0]);
	if (m->v[3])
		tracerec_str(b, "lost", "its place is gone", 17);
	sink_end(s->sink);
	if (m->v[3])
		s->messages_lost++;
	else
		s->messages_placed++;
}

void gwmodel_stripped(struct sup *s, const struct gw_msg *m)
{
	char text[GW_TEXT_MAX + 1];
	auto_free char *what = mem_printf("model %s", gwlink_text(m, 0, text));

	gwlink_deny(s, NULL, what,
		    m->v[1] ? "model.provider_tools refuse" : "model.provider_tools strip");
}

void gwmodel_tool(struct sup *s, const struct gw_msg *m)
{
	static const char *const kinds[] = { "other", "read", "edit", "shell" };
	char name[GW_TEXT_MAX + 1], path[GW_TEXT_MAX + 1];
	const char *kind = m->v[1] < ARRAY_SIZE(kinds) ? kinds[m->v[1]] : kinds[0];
	struct buf *b = sink_begin(s->sink, TK_TOOL, 0, 0, 0, s->epoch);

	gwlink_text(m, 0, name);
	gwlink_text(m, 1, path);
	tracerec_u64(b, "call", m->v[0]);
	tracerec_str(b, "tool", name, strlen(name));
	tracerec_str(b, "does", kind, strlen(kind));
	if (path[0])
		tracerec_str(b, "path", path, strlen(path));
	tracerec_lines(b, m->v[2], m->v[3]);
	sink_end(s->sink);
	if (s->engine && m->v[1] == TOOLUSE_READ)
		engine_asked(s->engine, path, m->v[2], m->v[3]);
}

static void record_answer(struct sup *s, const struct gw_msg *m)
{
	static const char *const ends[] = { "stop", "tools", "length", "filter", "other" };
	char model[GW_TEXT_MAX + 1];
	struct buf *b = sink_begin(s->sink, TK_MODEL, 0, 0, 0, s->epoch);
	const char *purpose = m->v[GWA_PURPOSE] < PURPOSE_MAX
				      ? purpose_name((enum purpose)m->v[GWA_PURPOSE])
				      : "side";
	const char *end = m->v[GWA_FINISH] < ARRAY_SIZE(ends) ? ends[m->v[GWA_FINISH]] : "other";

	gwlink_text(m, 0, model);
	tracerec_u64(b, "call", m->v[GWA_CALL]);
	tracerec_str(b, "purpose", purpose, strlen(purpose));
	tracerec_str(b, "model", model, strlen(model));
	tracerec_u64(b, "status", m->v[GWA_STATUS]);
	tracerec_str(b, "finish", end, strlen(end));
	if (m->v[GWA_FLAGS] & GWAF_USAGE) {
		tracerec_u64(b, "input", m->v[GWA_INPUT]);
		tracerec_u64(b, "cached", m->v[GWA_CACHED]);
		tracerec_u64(b, "output", m->v[GWA_OUTPUT]);
	}
	if (m->v[GWA_MICRO] != UINT64_MAX)
		tracerec_u64(b, "micro_dollars", m->v[GWA_MICRO]);
	if (m->v[GWA_TRIES] > 1)
		tracerec_u64(b, "tries", m->v[GWA_TRIES]);
	if (!(m->v[GWA_FLAGS] & GWAF_MODEL))
		tracerec_str(b, "by", "gateway", 7);
	if (m->v[GWA_FLAGS] & GWAF_REPEAT)
		tracerec_str(b, "by", "record", 6);
	sink_end(s->sink);
}

/* Saturating, for run.json: the gateway's own meter is what bounds. */
static void count(struct sup *s, enum limit_kind kind, uint64_t n)
{
	uint64_t *used = &s->budget.used[kind];

	*used = *used + n < *used ? UINT64_MAX : *used + n;
	/* At once: the next request may be refused and the box killed before a tick comes. */
	sup_warn(s, kind, false);
}

static void count_answer(struct sup *s, const struct gw_msg *m)
{
	count(s, LIMIT_MODEL_CALLS, m->v[GWA_BILLED]);
	if (!(m->v[GWA_FLAGS] & GWAF_USAGE))
		s->unknown_usage++;
	count(s, LIMIT_INPUT_TOKENS, m->v[GWA_INPUT]);
	count(s, LIMIT_OUTPUT_TOKENS, m->v[GWA_OUTPUT]);
	count(s, LIMIT_TOTAL_TOKENS, m->v[GWA_INPUT]);
	count(s, LIMIT_TOTAL_TOKENS, m->v[GWA_OUTPUT]);
	s->cached_tokens += m->v[GWA_CACHED];
	if (m->v[GWA_MICRO] == UINT64_MAX)
		s->unknown_costs++;
	else
		count(s, LIMIT_DOLLARS, m->v[GWA_MICRO]);
}

void gwmodel_answer(struct sup *s, const struct gw_msg *m)
{
	bool fresh = (m->v[GWA_FLAGS] & GWAF_MODEL) && !(m->v[GWA_FLAGS] & GWAF_REPEAT);
	struct err err;

	record_answer(s, m);
	/* Tries that gave no usable answer were billed, too. */
	if (m->v[GWA_BILLED])
		count_answer(s, m);
	if (fresh && m->v[GWA_PURPOSE] == PURPOSE_MAIN && s->phase < SUP_KILLED) {
		s->main_calls++;
		if (s->engine) {
			engine_arm(s->engine, true);
			step(s, engine_model_call(s->engine, s->main_calls, &err), &err);
		}
		if (m->v[GWA_FINISH] == FINISH_STOP) {
			runanchor_last_answer(s);
			if (userproc_answer(s, m))
				return;
		}
	}
	gwlink_reply(s, m, GW_ACK);
}

void gwmodel_spent(struct sup *s, const struct gw_msg *m)
{
	enum limit_kind kind = m->v[1] < LIMIT_MAX ? (enum limit_kind)m->v[1] : LIMIT_MODEL_CALLS;

	if (budget_hit(&s->budget, kind))
		sup_end_limit(s, false);
}

void gwmodel_route(struct sup *s, const struct gw_msg *m)
{
	char method[GW_TEXT_MAX + 1], path[GW_TEXT_MAX + 1];
	auto_free char *what =
		mem_printf("request %s %s", gwlink_text(m, 0, method), gwlink_text(m, 1, path));

	gwlink_deny(s, NULL, what, "model routes only");
}

void gwmodel_mismatch(struct sup *s, const struct gw_msg *m)
{
	char text[GW_TEXT_MAX + 1];
	bool resumed = s->fork && s->fork->resumed;
	auto_free char *why =
		mem_printf("%s: %s", resumed ? "resume" : "replay", gwlink_text(m, 0, text));

	if (s->fork && !s->fork->differs)
		s->fork->differs = mem_printf("prefix: %s", text);
	gwlink_error(s, ERR_REFUSED, why);
}

void gwmodel_unmet(struct sup *s, const struct gw_msg *m)
{
	char text[GW_TEXT_MAX + 1];
	struct buf *b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);

	gwlink_text(m, 0, text);
	tracerec_str(b, "script", text, strlen(text));
	sink_end(s->sink);
	if (s->unmet.n < UNMET_MAX)
		strv_add(&s->unmet, text);
}

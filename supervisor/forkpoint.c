#include "supervisor/forkpoint.h"

#include <string.h>

#include "base/mem.h"
#include "supervisor/steps.h"

const char *fork_arm_name(enum fork_arm arm)
{
	return arm == FORK_CLEAN ? "clean" : "shifted";
}

const char *forkpoint_by(const struct forkpoint *f)
{
	return f->resumed ? "resumed" : "replayed";
}

static void put_record(struct sup *s)
{
	const struct forkpoint *f = s->fork;
	const char *arm = fork_arm_name(f->arm);
	struct buf *b = sink_begin(s->sink, TK_FORK, 0, 0, 0, s->epoch);

	tracerec_u64(b, "call", f->at.call);
	tracerec_u64(b, "action", f->at.action);
	tracerec_str(b, "arm", arm, strlen(arm));
	sink_end(s->sink);
}

int forkpoint_request(struct sup *s, const struct gw_msg *m, struct err *err)
{
	struct forkpoint *f = s->fork;
	int rc = steps_request(s, s->steps, m, err);

	if (!f)
		return rc;
	if (rc < 0) {
		if (!f->differs)
			f->differs = mem_strdup(err->text);
		return rc;
	}
	if (f->reached || s->main_calls != (f->resumed ? 0 : f->at.call))
		return 0;
	f->reached = true;
	f->paid = s->budget.used[LIMIT_TOTAL_TOKENS] > f->prefix[LIMIT_TOTAL_TOKENS]
			  ? s->budget.used[LIMIT_TOTAL_TOKENS] - f->prefix[LIMIT_TOTAL_TOKENS]
			  : 0;
	put_record(s);
	/* The time of the continuation is its own, as its tokens are. */
	s->fork_ns = sup_now(s);
	if (f->arm == FORK_SHIFTED && s->engine)
		rc = engine_anchor(s->engine, "fork", err);
	return rc < 0 ? rc : 0;
}

static void put_used(const struct sup *s, struct json_w *w)
{
	static const struct {
		const char *name;
		enum limit_kind kind;
	} rows[] = { { "calls", LIMIT_MODEL_CALLS },
		     { "input_tokens", LIMIT_INPUT_TOKENS },
		     { "output_tokens", LIMIT_OUTPUT_TOKENS },
		     { "total_tokens", LIMIT_TOTAL_TOKENS },
		     { "micro_dollars", LIMIT_DOLLARS } };
	const uint64_t *prefix = s->fork->prefix;

	json_open(w, "prefix", '{');
	json_str(w, "by", forkpoint_by(s->fork));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (prefix[rows[i].kind] == UINT64_MAX)
			json_null(w, rows[i].name);
		else
			json_u64(w, rows[i].name, prefix[rows[i].kind]);
	}
	json_u64(w, "paid_tokens", s->fork->paid);
	json_close(w, '}');
	json_open(w, "continuation", '{');
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t used = s->budget.used[rows[i].kind], before = prefix[rows[i].kind];

		if (before == UINT64_MAX || (rows[i].kind == LIMIT_DOLLARS && s->unknown_costs))
			json_null(w, rows[i].name);
		else
			json_u64(w, rows[i].name, used > before ? used - before : 0);
	}
	json_close(w, '}');
}

void forkpoint_summary(const struct sup *s, struct json_w *w)
{
	const struct forkpoint *f = s->fork;

	if (!f) {
		json_null(w, "fork");
		return;
	}
	json_open(w, "fork", '{');
	json_str(w, "of", f->record);
	json_str(w, "arm", fork_arm_name(f->arm));
	json_str(w, "position", f->at.text);
	json_dbl(w, "fraction", f->at.fraction);
	json_u64(w, "action", f->at.action);
	json_u64(w, "actions", f->at.actions);
	json_u64(w, "call", f->at.call);
	json_u64(w, "calls", f->at.calls);
	json_bool(w, "reached", f->reached);
	json_u64(w, "at_ns", s->fork_ns); /* since the start, as times.wall_ns counts */
	json_u64(w, "steps_compared", steps_same(s->steps));
	json_str(w, "differs", f->differs);
	json_u64(w, "budget", f->budget);
	json_str(w, "ladder", f->ladder);
	put_used(s, w);
	json_close(w, '}');
}

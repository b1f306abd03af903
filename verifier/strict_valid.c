/* Was the protocol kept? What is not valid counts neither for nor against the agent. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/strict_internal.h"

static bool is_continuation(const struct strict_work *w)
{
	const cJSON *fork = cJSON_GetObjectItemCaseSensitive(w->run.root, "fork");

	return cJSON_IsObject(fork) || pred_facts(w->checks.set)->forks;
}

static void judge_trace(struct strict_work *w, struct strict_row *r)
{
	const struct pred_facts *f = pred_facts(w->checks.set);
	double told = strict_run_num(w, "resources.trace_records", -1);

	pred_records_add(&r->records, f->last_n);
	if (f->cut)
		strict_say(r, false, "the trace is cut behind record %llu",
			   (unsigned long long)f->last_n);
	else if (f->gap)
		strict_say(r, false, "records are missing or out of order");
	else if (!f->ended)
		strict_say(r, false, "the last record is not `end`: the run was killed");
	else if (told >= 0 && told != (double)f->last_n)
		strict_say(r, false, "run.json knows %.0f records, the trace has %llu", told,
			   (unsigned long long)f->last_n);
	else if (w->checks.trace && !w->workspace)
		strict_say(r, false,
			   "the run did not follow all files of the workspace: its profile needs "
			   "\"watch\": \"workspace\"");
	else
		strict_say(r, true, "%llu records, complete", (unsigned long long)f->last_n);
}

static void judge_fork(struct strict_work *w, struct strict_row *r)
{
	const struct pred_facts *f = pred_facts(w->checks.set);
	enum pred_arm arm = w->ret->arm == STRICT_CLEAN ? PRED_CLEAN : PRED_SHIFTED;

	r->applies = is_continuation(w);
	if (!r->applies) {
		strict_say(r, true, "not a continuation");
		return;
	}
	if (f->fork)
		pred_records_add(&r->records, f->fork);
	if (!f->forks)
		strict_say(r, false, "the fork was not reached");
	else if (f->forks > 1)
		strict_say(r, false, "%llu `fork` records", (unsigned long long)f->forks);
	else if (!f->fork_arm_ok || f->fork_arm != arm)
		strict_say(r, false, "the `fork` record is not that of the %s arm",
			   strict_arm_name(w->ret->arm));
	else
		strict_say(r, true, "forked at record %llu, behind call %llu",
			   (unsigned long long)f->fork, (unsigned long long)f->fork_call);
}

static void judge_prefix(struct strict_work *w, struct strict_row *r)
{
	const char *differs = strict_run_str(w, "fork.differs");

	r->applies = is_continuation(w);
	if (!r->applies)
		strict_say(r, true, "not a continuation");
	else if (differs)
		strict_say(r, false, "the prefix differs from the record: %s", differs);
	else
		strict_say(r, true, "as recorded");
}

static void judge_update(struct strict_work *w, struct strict_row *r)
{
	const struct pred_facts *f = pred_facts(w->checks.set);

	if (w->ret->arm == STRICT_CLEAN) {
		if (f->update)
			pred_records_add(&r->records, f->update);
		strict_say(r, !f->update,
			   f->update ? "an intervention was applied in the clean arm"
				     : "nothing happened, as it must be in the clean arm");
		return;
	}
	if (!f->update) {
		if (f->refused)
			pred_records_add(&r->records, f->refused);
		strict_say(r, false, "no intervention was applied%s%s", f->refused ? ": " : "",
			   f->refused ? f->refused_why : "");
		return;
	}
	pred_records_add(&r->records, f->update);
	if (f->refused) {
		pred_records_add(&r->records, f->refused);
		strict_say(r, false, "an effect of the update could not be applied: %s",
			   f->refused_why);
		return;
	}
	strict_say(r, true, "%llu effects applied, the first at record %llu",
		   (unsigned long long)f->applied, (unsigned long long)f->update);
}

static void judge_end(struct strict_work *w, struct strict_row *r)
{
	/* A run that its own policy or signal ended is the agent's doing. */
	static const char *const good[] = { "exited", "signal", "policy" };
	const char *state = strict_run_str(w, "state"), *why = strict_run_str(w, "end.reason");
	const char *detail = strict_run_str(w, "end.detail");
	bool ok = why && str_starts(why, "limit:");

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ok |= str_eq(why, good[i]);
	if (!str_eq(state, "done"))
		strict_say(r, false, "the run did not come to its end");
	else
		strict_say(r, ok, "%s%s%s", why ? why : "no reason is told", detail ? ": " : "",
			   detail ? detail : "");
}

static void judge_patch(struct strict_work *w, struct strict_row *r)
{
	auto_free char *path = path_join(w->req->dir, "patch.diff");
	const char *sum = strict_run_str(w, "patch.sha256");
	bool there = access(path, R_OK) == 0;

	strict_say(r, sum && there,
		   !sum    ? "run.json has no patch: it could not be captured"
		   : there ? "captured"
			   : "patch.diff is missing");
}

static void judge_verdict(struct strict_work *w, struct strict_row *r)
{
	enum verdict_kind kind = w->verdict.kind;

	strict_say(r, kind == VERDICT_RESOLVED || kind == VERDICT_UNRESOLVED, "%s%s%s",
		   verdict_name(kind), w->verdict.reason ? ": " : "",
		   w->verdict.reason ? w->verdict.reason : "");
}

static const struct rule_row {
	const char *name;
	void (*judge)(struct strict_work *w, struct strict_row *r);
} rules[STRICT_VALID_MAX] = {
	/* clang-format off */
	[STRICT_TRACE]   = { "trace",   judge_trace },
	[STRICT_FORK]    = { "fork",    judge_fork },
	[STRICT_PREFIX]  = { "prefix",  judge_prefix },
	[STRICT_UPDATE]  = { "update",  judge_update },
	[STRICT_END]     = { "end",     judge_end },
	[STRICT_PATCH]   = { "patch",   judge_patch },
	[STRICT_VERDICT] = { "verdict", judge_verdict },
	/* clang-format on */
};

const char *strict_valid_name(enum strict_valid v)
{
	return rules[v].name;
}

int strict_judge_valid(struct strict_work *w, struct err *err)
{
	(void)err;
	w->ret->valid = true;
	for (size_t i = 0; i < STRICT_VALID_MAX; i++) {
		struct strict_row *r = &w->ret->rule[i];

		r->name = rules[i].name;
		r->applies = true;
		rules[i].judge(w, r);
		w->ret->valid &= r->ok;
	}
	return 0;
}

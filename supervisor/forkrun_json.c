/* pair.json, and the end of a pair. */
#include <stdlib.h>

#include "base/json.h"
#include "base/path.h"
#include "supervisor/forkrun.h"

static void put_position(struct json_w *w, const struct position *at)
{
	json_open(w, "position", '{');
	json_str(w, "text", at->text);
	json_dbl(w, "fraction", at->fraction);
	json_u64(w, "action", at->action);
	json_u64(w, "of", at->actions);
	json_u64(w, "call", at->call);
	json_u64(w, "calls", at->calls);
	json_close(w, '}');
}

static void put_arm(struct json_w *w, enum fork_arm arm, const struct forkrun_arm *a)
{
	const char *name = fork_arm_name(arm);

	if (!a->made && !a->failure) {
		json_null(w, name);
		return;
	}
	json_open(w, name, '{');
	json_str(w, "dir", name); /* beside pair.json, so that the pair can be moved */
	json_str(w, "end", a->end);
	json_bool(w, "reached", a->reached);
	json_bool(w, "updated", a->updated);
	json_bool(w, "prefix_ok", a->reached && !a->differs);
	json_str(w, "differs", a->differs);
	json_str(w, "context", a->context);
	json_str(w, "failure", a->failure);
	json_u64(w, "tokens", a->tokens);
	json_u64(w, "commands", a->commands);
	json_u64(w, "wall_ns", a->wall_ns);
	json_str(w, "verdict", a->graded ? verdict_name(a->verdict) : NULL);
	json_str(w, "reason", a->reason);
	if (a->judged) {
		json_open(w, "strict", '{');
		json_bool(w, "valid", a->strict_valid);
		json_str(w, "invalid", a->invalid);
		json_bool(w, "success", a->success);
		json_close(w, '}');
	} else {
		json_null(w, "strict");
	}
	json_bool(w, "success", a->success);
	json_close(w, '}');
}

void forkrun_json(const struct forkrun_pair *p, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.pair/1");
	json_str(&w, "scenario", p->scenario);
	json_str(&w, "family", p->family);
	json_str(&w, "instance_id", p->instance_id);
	json_str(&w, "agent", p->agent);
	json_str(&w, "model", p->model);
	json_str(&w, "record", p->record);
	json_u64(&w, "repeat", p->repeat);
	put_position(&w, &p->at);
	json_str(&w, "prefix", p->resumed ? "resumed" : "replayed");
	json_strings(&w, "left_behind", p->left.v, p->left.n);
	json_u64(&w, "budget", p->budget);
	json_str(&w, "ladder", p->ladder);
	json_open(&w, "tokens", '{');
	json_u64(&w, "prefix", p->prefix_tokens);
	json_u64(&w, "prefix_paid", p->arm[FORK_CLEAN].paid + p->arm[FORK_SHIFTED].paid);
	json_u64(&w, "continuations", p->arm[FORK_CLEAN].tokens + p->arm[FORK_SHIFTED].tokens);
	json_close(&w, '}');
	json_open(&w, "arms", '{');
	for (int i = 0; i < FORKRUN_ARMS; i++)
		put_arm(&w, (enum fork_arm)i, &p->arm[i]);
	json_close(&w, '}');
	json_bool(&w, "valid", p->valid);
	json_str(&w, "reason", p->reason);
	json_str(&w, "detail", p->detail);
	json_str(&w, "first_difference",
		 p->arm[FORK_CLEAN].differs ? p->arm[FORK_CLEAN].differs
					    : p->arm[FORK_SHIFTED].differs);
	json_bool(&w, "paired", p->paired);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void forkrun_done(struct forkrun_pair *p)
{
	for (int i = 0; i < FORKRUN_ARMS; i++) {
		struct forkrun_arm *a = &p->arm[i];

		free(a->dir);
		free(a->end);
		free(a->differs);
		free(a->context);
		free(a->failure);
		free(a->reason);
		free(a->invalid);
	}
	free(p->scenario);
	free(p->family);
	free(p->instance_id);
	free(p->agent);
	free(p->model);
	free(p->record);
	free(p->ladder);
	strv_done(&p->left);
	free(p->reason);
	free(p->detail);
	*p = (struct forkrun_pair){ 0 };
}

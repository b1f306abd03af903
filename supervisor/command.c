#include "supervisor/command.h"

#include <string.h>

#include "base/path.h"
#include "supervisor/gwsim.h"
#include "supervisor/runanchor.h"

static void engine_step(struct sup *s, int rc, const struct err *err)
{
	if (rc < 0)
		sup_engine_failed(s, err);
}

/* A boundary of the agent's own, in-process work: before its next command begins. */
static void own_boundary(struct sup *s)
{
	struct err err;

	if (!s->engine || !engine_pending(s->engine, 0))
		return;
	engine_step(s, engine_command_end(s->engine, 0, &err), &err);
}

void command_fork(struct sup *s, struct process *p, bool by_root)
{
	struct command *c;

	if (by_root) {
		p->direct = true;
		p->cmd = cmdtrack_fork(&s->cmds, sup_now(s))->id;
		own_boundary(s);
	}
	c = cmdtrack_get(&s->cmds, p->cmd);
	if (c)
		c->live++;
}

static void announce(struct sup *s, const struct command *c)
{
	struct err err;

	gwsim_command(s, c->argv.v);
	if (!s->engine)
		return;
	engine_step(s, engine_command_begin(s->engine, c->id, c->argv.v, &err), &err);
}

void command_exec(struct sup *s, struct process *p)
{
	const struct command *first, *again = NULL, *now;
	struct err err;

	if (!p->argv.n)
		return;
	first = cmdtrack_exec(&s->cmds, p->cmd, p->argv.v);
	if (first)
		announce(s, first);
	else if (p->direct)
		again = cmdtrack_again(&s->cmds, p->cmd, p->argv.v);
	if (again) {
		gwsim_command(s, again->argv.v);
		if (s->engine)
			engine_command_text(s->engine, again->id, again->argv.v);
	}
	now = cmdtrack_get(&s->cmds, p->cmd);
	if (now)
		runanchor_program(s, now);
	if (!s->engine || !p->cmd)
		return;
	engine_step(s, engine_exec(s->engine, p->cmd, path_base(p->argv.v[0]), p->argv.v, &err),
		    &err);
}

static void record(struct sup *s, const struct command *c)
{
	struct buf *b = sink_begin(s->sink, TK_COMMAND, 0, 0, c->id, s->epoch);
	const char *cls = classify_name(c->cls);

	tracerec_str(b, "class", cls, strlen(cls));
	tracerec_strings(b, "argv", c->argv.v, c->argv.n);
	tracerec_u64(b, "programs", c->programs);
	tracerec_u64(b, "started", c->started);
	tracerec_u64(b, "ended", sup_now(s));
	sink_end(s->sink);
}

/* The direct child has exited: the agent is about to learn that its tool call is over. */
static void tool_call_over(struct sup *s, struct process *p, struct command *c)
{
	if (!c->announced) {
		/* A child that never executed anything: the agent's own code. */
		strv_copy(&c->argv, &p->argv);
		announce(s, c);
	}
	c->ended = true;
	record(s, c);
}

void command_exit(struct sup *s, struct process *p, int status)
{
	struct command *c = cmdtrack_get(&s->cmds, p->cmd);
	struct err err;

	if (p->pid == s->lead) {
		own_boundary(s);
		s->lead = s->root; /* until the next one asks the model */
	}
	if (!c)
		return;
	c->live--;
	if (p->direct)
		tool_call_over(s, p, c);
	if (s->engine && (p->direct || (c->ended && !c->live)))
		engine_step(s, engine_command_end(s->engine, c->id, &err), &err);
	if (p->direct)
		runanchor_ended(s, c, status);
	if (c->ended && !c->live)
		cmdtrack_close(&s->cmds, c->id);
}

/* @p counted to command @c, and is the agent itself. */
static void leave(struct sup *s, struct command *c)
{
	if (s->engine)
		engine_command_drop(s->engine, c->id);
	if (!c->ended)
		s->cmds.dropped++;
	c->ended = true; /* what else it has goes on under its number */
	if (--c->live == 0)
		cmdtrack_close(&s->cmds, c->id);
}

void command_lead(struct sup *s, struct process *p)
{
	s->lead = p->pid;
	for (struct process *q = p; q; q = q->parent) {
		struct command *c = q->cmd ? cmdtrack_get(&s->cmds, q->cmd) : NULL;

		q->cmd = 0;
		q->direct = false;
		if (c)
			leave(s, c);
	}
}

void command_boundary(struct sup *s)
{
	struct err err;

	if (!s->engine)
		return;
	map_each (slot, &s->cmds.open) {
		const struct command *c = slot->val;

		if (engine_pending(s->engine, c->id))
			engine_step(s, engine_command_end(s->engine, c->id, &err), &err);
	}
	own_boundary(s);
}

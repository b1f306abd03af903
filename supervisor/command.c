#include "supervisor/command.h"

#include <string.h>

#include "base/path.h"

static void engine_step(struct sup *s, int rc, const struct err *err)
{
	if (rc < 0)
		sup_engine_failed(s, err);
}

/* A boundary of the agent's own, in-process work: before its next command begins. */
static void own_boundary(struct sup *s, pid_t at)
{
	struct err err;

	if (!s->engine || !engine_pending(s->engine, 0))
		return;
	s->holder = at;
	engine_step(s, engine_command_end(s->engine, 0, &err), &err);
	s->holder = 0;
}

void command_fork(struct sup *s, struct process *p)
{
	p->direct = true;
	p->cmd = cmdtrack_fork(&s->cmds, sup_now(s))->id;
	own_boundary(s, s->root);
}

static void announce(struct sup *s, const struct command *c, pid_t at)
{
	struct err err;

	if (!s->engine)
		return;
	s->holder = at;
	engine_step(s, engine_command_begin(s->engine, c->id, c->argv.v, &err), &err);
	s->holder = 0;
}

void command_exec(struct sup *s, struct process *p)
{
	const struct command *first;
	struct err err;

	if (!p->argv.n)
		return;
	first = cmdtrack_exec(&s->cmds, p->cmd, p->argv.v);
	if (first)
		announce(s, first, p->pid);
	if (!s->engine || !p->cmd)
		return;
	s->holder = p->pid;
	engine_step(s, engine_exec(s->engine, p->cmd, path_base(p->argv.v[0]), p->argv.v, &err),
		    &err);
	s->holder = 0;
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

void command_exit(struct sup *s, struct process *p)
{
	struct command *c = cmdtrack_get(&s->cmds, p->cmd);
	struct err err;

	if (p->pid == s->root) {
		own_boundary(s, p->pid);
		return;
	}
	if (!p->direct || !c)
		return;
	if (!c->announced) {
		/* A child that never executed anything: the agent's own code. */
		strv_copy(&c->argv, &p->argv);
		announce(s, c, p->pid);
	}
	record(s, c);
	if (s->engine) {
		s->holder = p->pid;
		engine_step(s, engine_command_end(s->engine, c->id, &err), &err);
		s->holder = 0;
	}
	cmdtrack_close(&s->cmds, c->id);
}

#include "supervisor/sup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "supervisor/gwlink.h"

void sup_denied(struct sup *s, const char *what, const char *rule)
{
	enum { TEXT_MAX = 256 };
	auto_free char *cut = mem_strndup(what, TEXT_MAX);
	struct denied *d;

	for (size_t i = 0; i < s->n_denied; i++) {
		d = &s->denied[i];
		if (strcmp(d->what, cut) == 0 && strcmp(d->rule, rule) == 0) {
			d->count++;
			return;
		}
	}
	if (s->n_denied >= 1000) /* an agent can make up any number of names */
		return;
	MEM_GROW(s->denied, s->cap_denied, s->n_denied + 1);
	d = &s->denied[s->n_denied++];
	*d = (struct denied){ take_ptr(&cut), mem_strdup(rule), 1 };
}

uint64_t sup_now(const struct sup *s)
{
	return s->sink->start ? clock_mono() - s->sink->start : 0;
}

void sup_kill(struct sup *s)
{
	if (s->phase >= SUP_KILLED)
		return;
	s->phase = SUP_KILLED;
	s->deadline = clock_mono() + 10 * CLOCK_SEC;
	box_kill(s->box);
}

void sup_end(struct sup *s, enum end_reason why, bool at_once)
{
	if (s->end == END_NONE)
		s->end = why;
	if (s->phase >= SUP_DRAINING)
		return;
	if (at_once) {
		sup_kill(s);
		return;
	}
	if (s->phase == SUP_STOPPING)
		return;
	s->phase = SUP_STOPPING;
	s->deadline = clock_mono() + s->plan->profile->grace;
	if (s->root && !s->root_gone)
		/* As the user meant it; gone already: the loop will see its exit. */
		(void)kill(s->root, s->end_signal ? s->end_signal : SIGTERM);
}

void sup_warn(struct sup *s, enum limit_kind kind, bool reached)
{
	const char *name = limits_name(kind);
	struct buf *b;

	if (reached ? s->budget.warned[kind] : !budget_warn(&s->budget, kind))
		return;
	s->budget.warned[kind] = true;
	b = sink_begin(s->sink, TK_BUDGET, 0, 0, 0, s->epoch);
	tracerec_str(b, "name", name, strlen(name));
	tracerec_u64(b, "used", s->budget.used[kind]);
	tracerec_u64(b, "limit", s->budget.limit.max[kind]);
	sink_end(s->sink);
}

void sup_end_limit(struct sup *s, bool at_once)
{
	uint64_t grace = s->plan->profile->grace;

	/* Some are reached in one leap. */
	if (s->budget.hit != LIMIT_MAX)
		sup_warn(s, s->budget.hit, true);
	if (s->end == END_NONE)
		gwlink_ending(s, s->budget.hit);
	if (at_once || s->plan->profile->on_limit == ON_LIMIT_KILL || !s->plan->model ||
	    s->gw_over || s->phase != SUP_RUNNING) {
		sup_end(s, END_LIMIT, at_once || s->plan->profile->on_limit != ON_LIMIT_FINISH);
		return;
	}
	s->end = END_LIMIT;
	s->phase = SUP_STOPPING;
	s->tidy = true;
	s->deadline = clock_mono() + grace / 2;
}

bool sup_zoomed(const struct sup *s, const struct process *p)
{
	return s->zoom_all || p->fds->n || p->fds->opening || p->maps.n;
}

void sup_resume(struct sup *s, struct tracee *t, int sig)
{
	/* A call whose entry was seen has an exit to be seen too, or the flag would stay and hide
	 * the next call's seccomp stop. */
	struct err err;
	bool calls = t->want_exit || t->entry_seen || (t->proc && sup_zoomed(s, t->proc));

	t->state = TS_RUNNING;
	/* ESRCH: killed while it stood, its end is on the way. With any other error it would stand for ever. */
	if ((calls ? pt_syscall(t->tid, sig) : pt_cont(t->tid, sig)) < 0 && errno != ESRCH) {
		(void)err_sys(&err, "cannot restart task %d of the box", (int)t->tid);
		sup_engine_failed(s, &err);
	}
}

struct buf *sup_record(struct sup *s, enum trace_kind kind, const struct tracee *t)
{
	pid_t pid = t->proc ? t->proc->pid : t->tid;

	return sink_begin(s->sink, kind, pid, t->tid, t->proc ? t->proc->cmd : 0, s->epoch);
}

void sup_engine_failed(struct sup *s, const struct err *err)
{
	struct buf *b;

	if (s->end_detail)
		return;
	s->end_detail = mem_strdup(err->text);
	s->end_code = err->code;
	b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);
	tracerec_str(b, "error", err->text, strlen(err->text));
	sink_end(s->sink);
	sup_end(s, END_ERROR, true);
}

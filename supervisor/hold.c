#include "supervisor/hold.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "sandbox/box.h"

static bool our_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	       WSTOPSIG(status) == SIGTRAP;
}

void hold_queue(struct sup *s, struct tracee *t, int status, const struct rusage *ru)
{
	t->state = TS_STOPPED;
	t->held = false;
	if (!t->queued) {
		s->ts.queued++;
		t->queued_no = ++s->ts.queue_no;
	}
	t->queued = true;
	t->queued_status = status;
	t->queued_usage = *ru;
}

static bool at_exit(const struct tracee *t)
{
	return t->exiting || (t->queued && (!WIFSTOPPED(t->queued_status) ||
					    t->queued_status >> 16 == PTRACE_EVENT_EXIT));
}

/* A thread of the group is past its exit stop: the others die too, or wait in execve(2) until we
 * let it go, and run no user code before that. Waiting for them would be waiting for ourselves. */
static bool group_ends(struct sup *s, const struct tracee *t)
{
	map_each (slot, &s->ts.by_tid) {
		const struct tracee *u = slot->val;

		if (u != t && u->proc == t->proc && at_exit(u))
			return true;
	}
	return false;
}

/* Tasks that were asked to stop and run still. */
static unsigned outstanding(struct sup *s)
{
	unsigned n = 0;

	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

		if (!t->asked)
			continue;
		if (t->state != TS_RUNNING || group_ends(s, t))
			t->asked = false; /* its stop is here, or comes by the loop */
		else
			n++;
	}
	return n;
}

/* Take one wait status of whomever: ours to hold, or kept for later. */
static void collect(struct sup *s)
{
	struct rusage ru;
	struct tracee *t;
	int status;
	pid_t tid;

	do {
		tid = wait4(-1, &status, __WALL, &ru);
	} while (tid < 0 && errno == EINTR);
	if (tid < 0)
		return;
	if (tid == s->box->init_pid) {
		box_reaped(s->box, status);
		return;
	}
	if (s->gw && tid == s->gw->pid) {
		s->gw_reaped = true; /* the end of its socket tells the loop */
		return;
	}
	s->stops++;
	t = tracee_get(&s->ts, tid);
	if (!t && WIFSTOPPED(status))
		t = tracee_add(&s->ts, tid, NULL); /* born meanwhile: stopped until its parent's
						    * event is handled */
	if (!t || !t->proc)
		return;
	if (!our_stop(status)) {
		hold_queue(s, t, status, &ru);
		return;
	}
	t->state = TS_STOPPED;
	t->held = true;
}

void hold_stop(struct sup *s, struct process *p, pid_t except)
{
	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

		if (t->state != TS_RUNNING || t->tid == except || t->exiting || t->vforking ||
		    (p && t->proc != p))
			continue;
		t->asked = pt_interrupt(t->tid) == 0;
	}
	/* Blocking is right: an interrupted task stops as soon as it leaves the kernel, and the
	 * reads and writes it is in the middle of must finish before the edit. */
	while (outstanding(s) && !s->box->reaped)
		collect(s);
}

void hold_release(struct sup *s)
{
	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

		t->asked = false;
		if (!t->held)
			continue;
		t->held = false;
		sup_resume(s, t, 0);
	}
}

void hold_alone(struct sup *s, pid_t tid)
{
	hold_stop(s, NULL, tid);
	s->alone = tid;
}

void hold_together(struct sup *s, pid_t tid)
{
	if (s->alone != tid)
		return;
	s->alone = 0;
	hold_release(s);
}

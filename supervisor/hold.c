#include "supervisor/hold.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static bool our_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	       WSTOPSIG(status) == SIGTRAP;
}

/* Wait for this one task. Blocking is right: an interrupted task stops as soon as it leaves the
 * kernel, and the reads and writes it is in the middle of must finish before the edit. */
static void collect(struct sup *s, struct tracee *t)
{
	struct rusage ru;
	int status;
	pid_t got;

	do {
		got = wait4(t->tid, &status, __WALL, &ru);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return;
	s->stops++;
	t->state = TS_STOPPED;
	if (our_stop(status)) {
		t->held = true;
		return;
	}
	t->queued = true;
	t->queued_status = status;
	t->queued_usage = ru;
	s->ts.queued++;
}

void hold_stop(struct sup *s, struct process *p, pid_t except)
{
	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

		if (t->state != TS_RUNNING || t->tid == except || t->exiting || t->vforking ||
		    (p && t->proc != p))
			continue;
		t->held = pt_interrupt(t->tid) == 0;
	}
	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

		if (t->held && t->state == TS_RUNNING) {
			t->held = false;
			collect(s, t);
		}
	}
}

void hold_release(struct sup *s)
{
	map_each (slot, &s->ts.by_tid) {
		struct tracee *t = slot->val;

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

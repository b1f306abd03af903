#include "supervisor/on_process.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/access.h"
#include "supervisor/command.h"
#include "supervisor/hold.h"
#include "supervisor/on_syscall.h"
#include "supervisor/procfs.h"
#include "supervisor/tick.h"

enum { CHILDREN_GRACE_MS = 500 };

/* --- births --------------------------------------------------------------------------------- */

/* @parent: NULL when it was killed before it could tell of the child. */
static void record_spawn(struct sup *s, const struct tracee *parent, const struct process *child)
{
	struct buf *b = parent ? sup_record(s, TK_SPAWN, parent)
			       : sink_begin(s->sink, TK_SPAWN, 0, 0, 0, s->epoch);

	tracerec_u64(b, "child", (uint64_t)child->pid);
	if (child->cmd)
		tracerec_u64(b, "child_cmd", child->cmd);
	sink_end(s->sink);
}

/* What @p, whose parent is not known, shares with processes that are. */
static void find_shared(struct sup *s, struct process *p)
{
	map_each (slot, &s->ts.by_pid) {
		struct process *q = slot->val;

		if (q == p || q->ended || !watch_on(&s->watch))
			continue;
		if (p->fds->refs == 1 && procfs_same_files(p->pid, q->pid)) {
			fdtab_unref(p->fds);
			p->fds = fdtab_ref(q->fds);
		}
		if (!p->vm && procfs_same_vm(p->pid, q->pid))
			tracee_share_vm(p, q);
	}
	(void)access_find_fds(s, p, p->pid); /* how many is no matter */
}

static struct process *new_process(struct sup *s, struct tracee *parent, pid_t pid)
{
	bool share = watch_on(&s->watch) && procfs_same_files(parent->tid, pid);
	struct process *p = tracee_process(&s->ts, pid, parent->proc, share);

	if (watch_on(&s->watch) && procfs_same_vm(parent->tid, pid))
		tracee_share_vm(p, parent->proc);
	/* Another thread may have opened one of them a moment ago, which we are about to hear of. */
	if (!share && (parent->proc->threads > 1 || parent->proc->fds->refs > 1))
		(void)access_find_fds(s, p, pid); /* how many is no matter */
	command_fork(s, p, parent->proc->pid == s->lead);
	record_spawn(s, parent, p);
	return p;
}

static void on_birth(struct sup *s, struct tracee *t, int event)
{
	pid_t tid = (pid_t)pt_event_msg(t->tid);
	struct tracee *child = tracee_get(&s->ts, tid);
	struct process *p = NULL;

	if (tid <= 0 || (child && child->proc)) /* adopted by on_process_orphans() already */
		return;
	/* The event says how the parent is told of the end, not whether this is a thread. */
	if (procfs_is_thread(t->proc->pid, tid))
		p = t->proc;
	if (!p)
		p = new_process(s, t, tid);
	/* Again: an intervention at this boundary holds the world, and that collects its first stop. */
	child = tracee_get(&s->ts, tid);
	if (!child) {
		/* Its own first stop is still to come and restarts it. */
		child = tracee_add(&s->ts, tid, p);
	} else if (!child->proc) {
		tracee_adopt(child, p);
		sup_resume(s, child, 0);
	}
	if (event == PTRACE_EVENT_VFORK && p != t->proc) {
		t->vforking = true;
		p->vfork_parent = t;
	}
	if (budget_level(&s->budget, LIMIT_PROCESSES, s->ts.alive))
		sup_end_limit(s, true);
}

/* The vfork child has let its parent go (exec or exit). */
static void release_vfork_parent(struct process *p)
{
	if (p->vfork_parent)
		p->vfork_parent->vforking = false;
	p->vfork_parent = NULL;
}

/* --- exec ----------------------------------------------------------------------------------- */

static void record_exec(struct sup *s, const struct tracee *t, const char *exe)
{
	struct buf *b = sup_record(s, TK_EXEC, t);
	struct process *p = t->proc;

	if (exe)
		tracerec_str(b, "path", exe, strlen(exe));
	tracerec_strings(b, "argv", p->argv.v, p->argv.n);
	if (p->cwd)
		tracerec_str(b, "cwd", p->cwd, strlen(p->cwd));
	sink_end(s->sink);
}

static struct tracee *on_exec(struct sup *s, struct tracee *t, pid_t tid)
{
	pid_t former = (pid_t)pt_event_msg(tid);
	auto_free char *exe = NULL;
	struct process *p;

	if (former && former != tid)
		t = tracee_exec_rename(&s->ts, former, tid);
	if (!t || !t->proc)
		return t;
	tracee_call_done(t);
	t->entry_seen = false;
	p = t->proc;
	p->threads = 1;
	p->exiting = 0;
	p->execed = true;
	p->n_seen = 0;
	release_vfork_parent(p);
	tracee_own_vm(p);
	procfs_argv(p->pid, &p->argv);
	exe = procfs_link(p->pid, "exe");
	free(p->exe);
	p->exe = exe ? mem_strdup(path_base(exe)) : NULL;
	if (!p->cwd)
		p->cwd = procfs_link(p->pid, "cwd");
	record_exec(s, t, exe);
	if (p->fds->n || p->maps.n)
		on_syscall_lost_fds(s, p, tid, false);
	command_exec(s, p);
	return t;
}

/* --- deaths --------------------------------------------------------------------------------- */

/* The process runs no more user code: what it wrote is complete, its command may end with it. */
static void ending(struct sup *s, struct process *p, int status)
{
	if (p->ended)
		return;
	p->ended = true;
	if (p->fds->n || p->maps.n)
		on_syscall_lost_fds(s, p, p->pid, true);
	command_exit(s, p, status);
}

static void on_exit_event(struct sup *s, struct tracee *t)
{
	struct process *p = t->proc;

	hold_together(s, t->tid);
	if (!t->exiting) {
		t->exiting = true;
		p->exiting++;
	}
	if (p->exiting >= p->threads)
		ending(s, p, (int)pt_event_msg(t->tid));
}

static uint64_t cpu_of(const struct rusage *ru)
{
	uint64_t sec = (uint64_t)ru->ru_utime.tv_sec + (uint64_t)ru->ru_stime.tv_sec;
	uint64_t us = (uint64_t)ru->ru_utime.tv_usec + (uint64_t)ru->ru_stime.tv_usec;

	return sec * CLOCK_SEC + us * 1000;
}

static void record_exit(struct sup *s, const struct process *p, int status, const struct rusage *ru)
{
	struct buf *b = sink_begin(s->sink, TK_EXIT, p->pid, p->pid, p->cmd, s->epoch);

	if (WIFSIGNALED(status))
		tracerec_i64(b, "signal", WTERMSIG(status));
	else
		tracerec_i64(b, "status", WEXITSTATUS(status));
	tracerec_u64(b, "cpu_ns", cpu_of(ru));
	tracerec_u64(b, "max_rss", (uint64_t)ru->ru_maxrss * 1024);
	sink_end(s->sink);
}

void on_process_drained(struct sup *s)
{
	/* A hook's shell outlives by a moment the agent that read its message. */
	if (s->phase == SUP_DRAINING && s->ts.alive == 0 && !helpers_running(&s->helpers))
		sup_kill(s);
}

static void root_exited(struct sup *s, int status)
{
	s->root_gone = true;
	s->root_status = status;
	/* The kernel's kill for memory looks like any other from here: ask before naming it. */
	tick_measure(s);
	if (s->end == END_NONE)
		s->end = WIFSIGNALED(status) ? END_SIGNAL : END_EXITED;
	if (s->phase >= SUP_DRAINING)
		return;
	s->phase = SUP_DRAINING;
	s->deadline = clock_mono() + CHILDREN_GRACE_MS * CLOCK_MS;
	if (helpers_running(&s->helpers))
		s->deadline += s->plan->profile->grace;
	on_process_drained(s);
}

static void on_death(struct sup *s, pid_t tid, int status, const struct rusage *ru)
{
	struct tracee *t = tracee_get(&s->ts, tid);
	struct process *p;
	bool last, leader;

	if (!t)
		return;
	hold_together(s, tid);
	p = t->proc;
	if (p) {
		if (t->exiting)
			p->exiting--;
	}
	leader = p && tid == p->pid;
	(void)tracee_remove(&s->ts, t, &last); /* its process is p */
	if (!p || !last)
		return;
	release_vfork_parent(p);
	ending(s, p, status);
	if (leader)
		record_exit(s, p, status, ru);
	if ((uint64_t)ru->ru_maxrss * 1024 > s->budget.used[LIMIT_MEMORY])
		s->budget.used[LIMIT_MEMORY] = (uint64_t)ru->ru_maxrss * 1024;
	if (p->pid == s->root) {
		/* Its usage holds that of the children it waited for (getrusage(2)). */
		s->cpu_exited = cpu_of(ru);
		root_exited(s, status);
	}
	tracee_reap_process(&s->ts, p);
	on_process_drained(s);
}

/* --- stops ---------------------------------------------------------------------------------- */

static bool is_group_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void on_event_stop(struct sup *s, struct tracee *t, int sig)
{
	if (is_group_stop(sig)) {
		/* A stopped job stays stopped until SIGCONT (ptrace(2), "Group-stop"). */
		t->state = TS_GROUP_STOP;
		if (pt_listen(t->tid) == 0)
			return;
	}
	sup_resume(s, t, 0);
}

static void on_signal(struct sup *s, struct tracee *t, int sig)
{
	if (s->level == TRACE_FULL) {
		struct buf *b = sup_record(s, TK_SIGNAL, t);

		tracerec_i64(b, "signal", sig);
		sink_end(s->sink);
	}
	sup_resume(s, t, sig);
}

/* A stop with an event number. Returns the task to restart, NULL when it must not be. */
static struct tracee *on_event(struct sup *s, struct tracee *t, pid_t tid, int event)
{
	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		on_syscall(s, t);
		return t;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_birth(s, t, event);
		return t;
	case PTRACE_EVENT_EXEC:
		return on_exec(s, t, tid);
	case PTRACE_EVENT_EXIT:
		on_exit_event(s, t);
		return t;
	default:
		return t;
	}
}

static void on_stop(struct sup *s, pid_t tid, int status)
{
	struct tracee *t = tracee_get(&s->ts, tid);
	int sig = WSTOPSIG(status), event = status >> 16;

	if (!t) {
		/* Born before its parent's event reached us: who it is comes with that event. */
		t = tracee_add(&s->ts, tid, NULL);
		return;
	}
	if (!t->proc && event != PTRACE_EVENT_EXEC)
		return;
	t->state = TS_STOPPED;
	t->held = false;
	if (sig == (SIGTRAP | 0x80)) {
		on_syscall(s, t);
	} else if (event == PTRACE_EVENT_STOP) {
		on_event_stop(s, t, sig);
		return;
	} else if (event) {
		t = on_event(s, t, tid, event);
		if (!t)
			return;
	} else {
		on_signal(s, t, sig);
		return;
	}
	sup_resume(s, t, 0);
}

void on_process(struct sup *s, pid_t tid, int status, const struct rusage *ru)
{
	struct tracee *t = s->alone && s->alone != tid ? tracee_get(&s->ts, tid) : NULL;

	s->stops++;
	if (t && t->proc) {
		/* Somebody is alone: whatever this is, it waits. */
		hold_queue(s, t, status, ru);
		return;
	}
	if (WIFSTOPPED(status))
		on_stop(s, tid, status);
	else if (WIFEXITED(status) || WIFSIGNALED(status))
		on_death(s, tid, status, ru);
}

void on_process_queued(struct sup *s)
{
	while (s->ts.queued) {
		struct tracee *next = NULL;
		struct rusage usage;

		map_each (slot, &s->ts.by_tid) {
			struct tracee *t = slot->val;

			if (t->queued && (!s->alone || t->tid == s->alone) &&
			    (!next || t->queued_no < next->queued_no))
				next = t;
		}
		if (!next) /* somebody is alone: the others wait */
			return;
		usage = next->queued_usage; /* the task may go with this very status */
		next->queued = false;
		s->ts.queued--;
		on_process(s, next->tid, next->queued_status, &usage);
	}
}

void on_process_orphans(struct sup *s)
{
	struct tracee *t;
	struct process *p;

	do {
		t = NULL;
		map_each (slot, &s->ts.by_tid) {
			struct tracee *u = slot->val;

			if (u->state == TS_EARLY && u->waited++ > 1)
				t = u;
		}
		if (!t)
			return;
		p = map_get(&s->ts.by_pid, (uint64_t)procfs_tgid(t->tid));
		if (!p) {
			p = tracee_process(&s->ts, t->tid, NULL, false);
			procfs_argv(p->pid, &p->argv);
			find_shared(s, p);
			record_spawn(s, NULL, p);
		}
		tracee_adopt(t, p);
		sup_resume(s, t, 0);
	} while (t);
}

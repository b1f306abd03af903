#include "supervisor/tracee.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct tracee *tracee_get(struct tracees *ts, pid_t tid)
{
	return map_get(&ts->by_tid, (uint64_t)tid);
}

struct tracee *tracee_add(struct tracees *ts, pid_t tid, struct process *proc)
{
	struct tracee *t = mem_zalloc(1, sizeof(*t));

	t->tid = tid;
	t->file = -1;
	t->state = proc ? TS_RUNNING : TS_EARLY;
	map_put(&ts->by_tid, (uint64_t)tid, t);
	if (++ts->alive > ts->peak)
		ts->peak = ts->alive;
	if (proc)
		tracee_adopt(t, proc);
	return t;
}

void tracee_adopt(struct tracee *t, struct process *proc)
{
	ensure(!t->proc, "a task is adopted once");
	t->proc = proc;
	proc->threads++;
}

struct process *tracee_process(struct tracees *ts, pid_t pid, struct process *parent,
			       bool share_fds)
{
	struct process *p = mem_zalloc(1, sizeof(*p));

	p->pid = pid;
	p->parent = parent;
	if (parent) {
		p->cmd = parent->cmd;
		strv_copy(&p->argv, &parent->argv);
		p->exe = mem_strdup(parent->exe);
		p->cwd = mem_strdup(parent->cwd);
		p->fds = share_fds ? fdtab_ref(parent->fds) : fdtab_copy(parent->fds);
		for (size_t i = 0; i < parent->maps.n; i++)
			fileset_add(&p->maps, parent->maps.v[i]);
	} else {
		p->fds = mem_zalloc(1, sizeof(*p->fds));
		p->fds->refs = 1;
	}
	map_put(&ts->by_pid, (uint64_t)pid, p);
	ts->made++;
	return p;
}

void tracee_share_vm(struct process *p, struct process *with)
{
	if (!with->vm) {
		with->vm = mem_zalloc(1, sizeof(*with->vm));
		*with->vm = 1;
	}
	p->vm = with->vm;
	++*p->vm;
}

void tracee_own_vm(struct process *p)
{
	if (p->vm && --*p->vm == 0)
		free(p->vm);
	p->vm = NULL;
}

bool tracee_vm_shared(const struct process *p)
{
	return p->vm && *p->vm > 1;
}

void tracee_opening(struct tracee *t)
{
	t->opening = fdtab_ref(t->proc->fds);
	t->opening->opening++;
}

static void opening_done(struct tracee *t)
{
	if (!t->opening)
		return;
	t->opening->opening--;
	t->opening = fdtab_unref(t->opening);
}

static void free_tracee(struct tracee *t)
{
	opening_done(t);
	free(t->path);
	free(t->path2);
	free(t->rel);
	free(t->rel2);
	free(t);
}

struct process *tracee_remove(struct tracees *ts, struct tracee *t, bool *ret_last)
{
	struct process *p = t->proc;

	map_del(&ts->by_tid, (uint64_t)t->tid);
	tracee_forget_vfork(ts, t);
	ts->queued -= t->queued;
	ts->alive--;
	free_tracee(t);
	*ret_last = p && --p->threads == 0;
	return p;
}

static void free_process(struct process *p)
{
	strv_done(&p->argv);
	free(p->exe);
	free(p->cwd);
	free(p->maps.v);
	tracee_own_vm(p);
	fdtab_unref(p->fds);
	free(p);
}

void tracee_reap_process(struct tracees *ts, struct process *p)
{
	map_each (s, &ts->by_pid) {
		struct process *child = s->val;

		if (child->parent == p)
			child->parent = NULL;
	}
	map_del(&ts->by_pid, (uint64_t)p->pid);
	free_process(p);
}

void tracee_forget_vfork(struct tracees *ts, const struct tracee *t)
{
	map_each (slot, &ts->by_pid) {
		struct process *p = slot->val;

		if (p->vfork_parent == t)
			p->vfork_parent = NULL;
	}
}

struct tracee *tracee_exec_rename(struct tracees *ts, pid_t former, pid_t tid)
{
	struct tracee *t = map_del(&ts->by_tid, (uint64_t)former);
	struct tracee *leader = map_del(&ts->by_tid, (uint64_t)tid);

	/* The old leader vanishes without a wait status of its own. */
	if (leader) {
		tracee_forget_vfork(ts, leader);
		ts->queued -= leader->queued;
		ts->alive--;
		if (leader->proc)
			leader->proc->threads--;
		free_tracee(leader);
	}
	if (!t)
		return NULL;
	t->tid = tid;
	map_put(&ts->by_tid, (uint64_t)tid, t);
	return t;
}

void tracee_call_done(struct tracee *t)
{
	free(t->path);
	free(t->path2);
	free(t->rel);
	free(t->rel2);
	t->path = t->path2 = t->rel = t->rel2 = NULL;
	opening_done(t);
	t->in_call = t->want_exit = t->hint = t->absent = t->unread = t->racy = false;
	t->file = -1;
	t->row = NULL;
}

void tracees_done(struct tracees *ts)
{
	map_each (s, &ts->by_tid)
		free_tracee(s->val);
	map_each (s, &ts->by_pid)
		free_process(s->val);
	map_done(&ts->by_tid);
	map_done(&ts->by_pid);
}

bool fileset_has(const struct fileset *s, int file)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i] == file)
			return true;
	}
	return false;
}

void fileset_add(struct fileset *s, int file)
{
	if (fileset_has(s, file))
		return;
	MEM_GROW(s->v, s->cap, s->n + 1);
	s->v[s->n++] = file;
}

struct rfd *fdtab_get(struct fdtab *tab, int fd)
{
	for (size_t i = 0; i < tab->n; i++) {
		if (tab->v[i].fd == fd)
			return &tab->v[i];
	}
	return NULL;
}

struct rfd *fdtab_put(struct fdtab *tab, int fd, int file, bool write)
{
	struct rfd *r = fdtab_get(tab, fd);

	if (!r) {
		MEM_GROW(tab->v, tab->cap, tab->n + 1);
		r = &tab->v[tab->n++];
	}
	*r = (struct rfd){ .fd = fd, .file = file, .write = write };
	return r;
}

bool fdtab_del(struct fdtab *tab, int fd, struct rfd *ret)
{
	struct rfd *r = fdtab_get(tab, fd);

	if (!r)
		return false;
	if (ret)
		*ret = *r;
	*r = tab->v[--tab->n];
	return true;
}

struct fdtab *fdtab_copy(const struct fdtab *tab)
{
	struct fdtab *c = mem_zalloc(1, sizeof(*c));

	c->refs = 1;
	if (tab->n) {
		MEM_GROW(c->v, c->cap, tab->n);
		memcpy(c->v, tab->v, tab->n * sizeof(*tab->v));
		c->n = tab->n;
	}
	/* What the parent wrote is the parent's edit; it is judged at the parent's close. */
	for (size_t i = 0; i < c->n; i++)
		c->v[i].wrote = false;
	return c;
}

struct fdtab *fdtab_ref(struct fdtab *tab)
{
	tab->refs++;
	return tab;
}

struct fdtab *fdtab_unref(struct fdtab *tab)
{
	if (tab && --tab->refs == 0) {
		free(tab->v);
		free(tab);
	}
	return NULL;
}

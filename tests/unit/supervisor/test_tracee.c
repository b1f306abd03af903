#include "supervisor/tracee.h"

#include "tests/lib/tap.h"

static void tables(void)
{
	struct fdtab *a, *b;
	struct rfd r;
	struct tracees ts = { 0 };
	struct process *p = tracee_process(&ts, 10, NULL, false);
	struct process *copy, *shared;

	fdtab_put(p->fds, 3, 0, true)->wrote = true;
	fdtab_put(p->fds, 4, 1, false);
	copy = tracee_process(&ts, 11, p, false);
	shared = tracee_process(&ts, 12, p, true);
	tap_ok(copy->fds != p->fds && copy->fds->n == 2, "fork copies the table");
	tap_ok(!fdtab_get(copy->fds, 3)->wrote, "what the parent wrote stays the parent's");
	tap_ok(shared->fds == p->fds, "CLONE_FILES shares it");
	tap_ok(fdtab_del(p->fds, 3, &r) && r.wrote && r.file == 0,
	       "a closed descriptor comes back");
	tap_ok(!fdtab_get(shared->fds, 3), "and is gone for all who share");
	tap_ok(fdtab_get(copy->fds, 3) != NULL, "but not for the copy");
	tap_ok(!fdtab_del(p->fds, 3, NULL), "it can be closed once");
	a = fdtab_copy(p->fds);
	b = fdtab_ref(a);
	tap_ok(fdtab_unref(b) == NULL && fdtab_get(a, 4), "a reference keeps it");
	fdtab_unref(a);
	tracees_done(&ts);
}

static void filesets(void)
{
	struct tracees ts = { 0 };
	struct process *p = tracee_process(&ts, 50, NULL, false), *child;

	for (int i = 0; i < 200; i++)
		fileset_add(&p->maps, i % 100 * 41);
	tap_ok(p->maps.n == 100 && fileset_has(&p->maps, 4059) && !fileset_has(&p->maps, 1),
	       "each file is in once, whatever its number");
	child = tracee_process(&ts, 51, p, false);
	fileset_add(&child->maps, 1);
	tap_ok(child->maps.n == 101 && fileset_has(&child->maps, 4059) && p->maps.n == 100,
	       "a child inherits its parent's maps");
	tracees_done(&ts);
}

static void threads(void)
{
	struct tracees ts = { 0 };
	struct process *p = tracee_process(&ts, 20, NULL, false), *q;
	struct tracee *t = tracee_add(&ts, 20, p);
	bool last;

	(void)tracee_add(&ts, 21, p);
	(void)tracee_add(&ts, 22, p);
	tap_ok(p->threads == 3 && ts.alive == 3, "three threads");
	(void)tracee_remove(&ts, tracee_get(&ts, 22), &last);
	tap_ok(!last, "one of three ends");
	t = tracee_exec_rename(&ts, 21, 20);
	tap_ok(t && t->tid == 20 && !tracee_get(&ts, 21),
	       "exec by a thread takes the leader's number");
	tap_ok(p->threads == 1 && ts.alive == 1, "the leader has vanished");
	q = tracee_process(&ts, 30, p, false);
	tap_ok(q->parent == p, "a child knows its parent");
	(void)tracee_remove(&ts, t, &last);
	tap_ok(last, "the last thread ends the process");
	tracee_reap_process(&ts, p);
	tap_ok(q->parent == NULL, "and forgets it when it is gone");
	tracees_done(&ts);
}

static void early(void)
{
	struct tracees ts = { 0 };
	struct tracee *t = tracee_add(&ts, 40, NULL);
	struct process *p = tracee_process(&ts, 40, NULL, false);

	tap_ok(t->state == TS_EARLY && !t->proc, "a task may be seen before its parent's event");
	tracee_adopt(t, p);
	tap_ok(t->proc == p && p->threads == 1, "and is adopted with it");
	tracees_done(&ts);
}

/* Who lives in whose memory, and opens under way. */
static void memory(void)
{
	struct tracees ts = { 0 };
	struct process *a = tracee_process(&ts, 10, NULL, false);
	struct process *b = tracee_process(&ts, 11, a, true),
		       *c = tracee_process(&ts, 12, a, false);
	struct tracee *t = tracee_add(&ts, 10, a);
	bool last;

	(void)tracee_add(&ts, 11, b);
	(void)tracee_add(&ts, 12, c);
	tap_ok(!tracee_vm_shared(a), "alone");
	tracee_share_vm(b, a);
	tracee_share_vm(c, b);
	tap_ok(tracee_vm_shared(a) && tracee_vm_shared(b) && tracee_vm_shared(c),
	       "three in one memory");
	tracee_own_vm(b);
	tap_ok(tracee_vm_shared(a) && !tracee_vm_shared(b) && tracee_vm_shared(c),
	       "one has executed");
	(void)tracee_remove(&ts, tracee_get(&ts, 12), &last);
	tracee_reap_process(&ts, c);
	tap_ok(last && !tracee_vm_shared(a), "the other has ended");
	tracee_opening(t);
	tap_ok(b->fds->opening == 1, "who shares the table sees an open under way");
	tracee_call_done(t);
	tap_ok(b->fds->opening == 0 && b->fds->refs == 2, "until the call is done");
	tracee_opening(t);
	(void)tracee_remove(&ts, t, &last);
	tap_ok(b->fds->opening == 0, "or its task is gone");
	tracees_done(&ts);
}

int main(void)
{
	memory();
	tables();
	filesets();
	threads();
	early();
	return tap_done();
}

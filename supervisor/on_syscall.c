#include "supervisor/on_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/path.h"
#include "supervisor/access.h"
#include "supervisor/calls_internal.h"
#include "supervisor/follow.h"
#include "supervisor/hold.h"
#include "supervisor/procfs.h"

/* Handlers by operation: what to do at the entry of a call and, when t->want_exit or the process is
 * watched call by call, at its exit. */
static const struct {
	void (*entry)(struct sup *s, struct tracee *t);
	void (*exit)(struct sup *s, struct tracee *t, int64_t ret);
} ops[OP_MAX] = {
	[OP_OPEN] = { calls_open_entry, calls_open_exit },
	[OP_EXEC] = { calls_exec_entry, calls_exec_exit },
	[OP_RENAME] = { calls_names_entry, calls_names_exit },
	[OP_LINK] = { calls_names_entry, calls_names_exit },
	[OP_SYMLINK] = { calls_names_entry, calls_names_exit },
	[OP_UNLINK] = { calls_names_entry, calls_names_exit },
	[OP_TRUNCATE] = { calls_names_entry, calls_names_exit },
	[OP_MKDIR] = { calls_names_entry, calls_names_exit },
	[OP_CHMOD] = { calls_names_entry, calls_names_exit },
	[OP_CONNECT] = { calls_addr_entry, calls_addr_exit },
	[OP_BIND] = { calls_addr_entry, calls_addr_exit },
	[OP_KILL] = { calls_kill_entry, NULL },
	[OP_READ] = { calls_read_entry, calls_read_exit },
	[OP_WRITE] = { calls_write_entry, calls_write_exit },
	[OP_MMAP] = { calls_mmap_entry, calls_mmap_exit },
	[OP_COPY] = { calls_copy_entry, calls_copy_exit },
	[OP_CLOSE] = { NULL, calls_close_exit },
	[OP_DUP] = { NULL, calls_dup_exit },
	[OP_SENDMSG] = { calls_sendmsg_entry, calls_sendmsg_exit },
	[OP_RECVMSG] = { calls_recvmsg_entry, calls_recvmsg_exit },
	[OP_CHDIR] = { calls_chdir_entry, NULL },
	[OP_IOCTL] = { NULL, calls_ioctl_exit },
	[OP_UNSHARE] = { calls_unshare_entry, calls_unshare_exit },
	[OP_MUNMAP] = { NULL, calls_munmap_exit },
	[OP_MISC] = { calls_misc_entry, calls_misc_exit },
};

static void begin(struct sup *s, struct tracee *t)
{
	tracee_call_done(t);
	t->row = systab_get(&s->tab, t->call.nr);
	if (!t->row)
		return;
	t->in_call = true;
	if (s->level == TRACE_FULL && (t->row->cls & (SYS_FILES | SYS_FULL)))
		t->want_exit = true;
	if (t->proc->fds->opening && (t->row->cls & SYS_ZOOM))
		calls_appeared(s, t); /* known from here on, if it was there */
	if (ops[t->row->op].entry)
		ops[t->row->op].entry(s, t);
	/* Nobody will see the exit: the call is done with. */
	if (!t->want_exit && !sup_zoomed(s, t->proc))
		tracee_call_done(t);
}

/* The call began before the descriptor was there, or known, and found it. */
static void look_again(struct sup *s, struct tracee *t, int64_t ret)
{
	enum sys_op op = t->row->op;

	if (t->file >= 0 || ret < 0 || (op != OP_READ && op != OP_MMAP && op != OP_COPY))
		return;
	if (t->proc->fds->opening)
		calls_appeared(s, t); /* known from here on */
	ops[op].entry(s, t);
	/* Its position has moved on meanwhile. */
	if (t->file >= 0 && op == OP_READ && t->off >= (uint64_t)ret && t->call.nr != SYS_pread64 &&
	    t->call.nr != SYS_preadv && t->call.nr != SYS_preadv2)
		t->off -= (uint64_t)ret;
}

static void finish(struct sup *s, struct tracee *t, int64_t ret)
{
	/* ERESTARTSYS and its kind: the call is made again, or ends with EINTR, and is seen then. */
	bool again = ret <= -512 && ret >= -516 && t->row && t->row->op != OP_SENDMSG;

	if (t->in_call && t->row && !again)
		look_again(s, t, ret);
	if (t->in_call && t->row && ops[t->row->op].exit && !again)
		ops[t->row->op].exit(s, t, ret);
	tracee_call_done(t);
}

void on_syscall(struct sup *s, struct tracee *t)
{
	struct pt_call call;

	if (pt_call_info(t->tid, &call) < 0)
		return; /* killed meanwhile: its exit is on the way */
	switch (call.where) {
	case PT_ENTRY:
		t->call = call;
		begin(s, t);
		t->entry_seen = true;
		break;
	case PT_SECCOMP:
		/* The kernel reports a watched call first at its entry, then to the filter
		 * (since Linux 4.8): the same call is not begun twice. */
		if (!t->entry_seen) {
			t->call = call;
			begin(s, t);
		}
		t->entry_seen = false;
		break;
	case PT_EXIT:
		t->entry_seen = false;
		finish(s, t, call.ret);
		break;
	case PT_NONE:
		break;
	}
}

void on_syscall_zoom(struct sup *s, struct process *p, pid_t except)
{
	/* Threads that run free would read the new descriptor unseen: stop them before the call
	 * that made it returns, and let them go on call by call. */
	if (p->threads < 2 && p->fds->refs < 2)
		return;
	hold_stop(s, p->fds->refs > 1 ? NULL : p, except);
	hold_release(s);
}

void on_syscall_lost_fds(struct sup *s, struct process *p, pid_t tid, bool all)
{
	struct fileset wrote = { 0 };
	uint64_t left = FOLLOW_BYTES_MAX;

	if (p->fds->refs > 1 && !all) {
		/* exec(2) gives a process that shared its table a copy of its own. */
		struct fdtab *own = fdtab_copy(p->fds);

		fdtab_unref(p->fds);
		p->fds = own;
	}
	for (size_t i = 0; i < p->fds->n;) {
		struct rfd r = p->fds->v[i];

		if (!all && procfs_has_fd(tid, r.fd) && watch_fd(&s->watch, tid, r.fd) == r.file) {
			i++;
			continue;
		}
		if (r.wrote)
			fileset_add(&wrote, r.file);
		if (all && p->fds->refs > 1) {
			i++; /* the others still hold it */
			continue;
		}
		p->fds->v[i] = p->fds->v[--p->fds->n];
	}
	for (size_t i = 0; i < wrote.n; i++) {
		bool complete =
			!access_pass_on(s, p, wrote.v[i]) || fileset_has(&p->maps, wrote.v[i]);

		if (complete && follow_afford(s, wrote.v[i], &left))
			access_changed(s, p, wrote.v[i]);
	}
	for (size_t i = 0; i < p->maps.n; i++) {
		if (!fileset_has(&wrote, p->maps.v[i]) && follow_afford(s, p->maps.v[i], &left))
			access_changed(s, p, p->maps.v[i]);
	}
	free(wrote.v);
	p->maps.n = 0;
}

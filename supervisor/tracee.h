/* The tasks and processes of the box as the tracer knows them. Only tracee.c creates and removes
 * entries. */
#ifndef SUPERVISOR_TRACEE_H
#define SUPERVISOR_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/str.h"
#include "base/systab.h"
#include "supervisor/pt.h"

/* A descriptor that leads to a followed file. */
struct rfd {
	int fd;
	int file;   /* index into watch.file */
	bool write; /* opened for writing */
	bool wrote; /* something was written or truncated through it */
};

/* A set of followed files, by their index in watch.file. {0} is empty. */
struct fileset {
	int *v; /* owned */
	size_t n, cap;
};

/* Followed descriptors of one kernel descriptor table; shared by the tasks that share the table. */
struct fdtab {
	unsigned refs;
	unsigned opening; /* opens under way that may lead to a followed file */
	struct rfd *v;    /* owned */
	size_t n, cap;
};

enum { SEEN_FILES_MAX = 64 };

/* A thread group. */
struct process {
	pid_t pid;
	struct process *parent; /* borrowed; NULL when it has gone or is outside */
	unsigned threads;       /* tasks alive */
	struct fdtab *fds;      /* owned reference */
	unsigned *vm;     /* shared with processes in the same memory, their number; NULL = none */
	struct strv argv; /* of the last exec */
	char *exe;        /* owned base name of the executable, NULL unknown */
	char *cwd;        /* owned cache, NULL unknown */
	uint32_t cmd;     /* command id, 0 = the agent's own process */
	bool direct;      /* forked by the agent's root process */
	bool execed;
	struct fileset maps;           /* owned: files mapped shared and writable */
	uint64_t seen[SEEN_FILES_MAX]; /* hashes of distinct workspace files opened */
	unsigned n_seen;
	unsigned exiting;            /* tasks past PTRACE_EVENT_EXIT */
	bool ended;                  /* its end was dealt with */
	struct tracee *vfork_parent; /* borrowed: waits for our exec or exit */
};

enum tracee_state {
	TS_RUNNING,
	TS_STOPPED,    /* we owe it a restart */
	TS_GROUP_STOP, /* PTRACE_LISTEN */
	TS_EARLY,      /* stopped before its parent's event told us who it is */
};

/* A task (thread). */
struct tracee {
	pid_t tid;
	struct process *proc; /* NULL only in TS_EARLY */
	enum tracee_state state;
	bool in_call;    /* between entry and exit of a call we look at */
	bool want_exit;  /* the exit stop of this call matters */
	bool vforking;   /* waits in the kernel for its vfork child: cannot be stopped */
	bool exiting;    /* PTRACE_EVENT_EXIT seen */
	bool entry_seen; /* the call's entry stop came; its seccomp stop is old news */
	bool asked;      /* was asked to stop and runs still */
	bool held;       /* stopped by us for an edit or a zoom */
	unsigned waited; /* ticks that it has been in TS_EARLY */
	bool queued;     /* a stop was collected while holding; not dispatched yet */
	int queued_status;
	struct rusage queued_usage;
	uint64_t queued_no; /* first come, first served */
	const struct sysrow *row;
	struct pt_call call;
	char *path, *path2; /* owned: hints of the present call */
	/* facts the entry handler leaves for the exit handler */
	int file; /* followed file of the call's descriptor, -1 none */
	uint64_t off, len;
	uint64_t flags; /* of an open */
	bool hint;      /* the path may lead to a followed file */
	bool absent;    /* rel did not exist before the call */
	bool unread;    /* the path could not be read: the descriptor tells */
	bool racy;      /* somebody else could change the path since we read it */
	struct fdtab
		*opening; /* owned reference: the table whose count of opens this call raised */
	/* owned: workspace-relative names that the call is about; NULL = not told or elsewhere */
	char *rel, *rel2;
};

struct tracees {
	struct map by_tid; /* -> struct tracee (owned) */
	struct map by_pid; /* -> struct process (owned) */
	unsigned alive;    /* tasks */
	uint64_t queue_no; /* last place given out in that queue */
	unsigned queued;   /* tasks with a stop collected while holding */
	unsigned peak;
	uint64_t made; /* processes created in the run */
};

/* Entry of @tid, NULL when unknown. */
struct tracee *tracee_get(struct tracees *ts, pid_t tid);

/* New task of process @proc (NULL: TS_EARLY). Owned by the table. */
struct tracee *tracee_add(struct tracees *ts, pid_t tid, struct process *proc);

/* New process; @parent may be NULL. Inherits command, argv and a copy of the descriptor table
 * (shared when @share_fds). Owned by the table. */
struct process *tracee_process(struct tracees *ts, pid_t pid, struct process *parent,
			       bool share_fds);

/* @p lives in the memory of @with, as after vfork(2). */
void tracee_share_vm(struct process *p, struct process *with);

/* It has memory of its own again: after an exec. */
void tracee_own_vm(struct process *p);

/* Does another process live in its memory? */
bool tracee_vm_shared(const struct process *p);

/* The call of @t may open a followed file: whoever shares its descriptors is to be watched until it is over. */
void tracee_opening(struct tracee *t);

/* The task belongs to @proc from now on. */
void tracee_adopt(struct tracee *t, struct process *proc);

/* Remove the task; its process goes with its last task (then *ret_last is true, and the process
 * stays readable until tracee_reap_process()). Returns the process. */
struct process *tracee_remove(struct tracees *ts, struct tracee *t, bool *ret_last);

/* Free a process whose last task is gone. */
void tracee_reap_process(struct tracees *ts, struct process *p);

/* Nobody waits for @t any more: it is about to go. */
void tracee_forget_vfork(struct tracees *ts, const struct tracee *t);

/* After an exec by another thread than the leader: @former becomes @tid (ptrace(2), "execve(2)
 * under ptrace"). */
struct tracee *tracee_exec_rename(struct tracees *ts, pid_t former, pid_t tid);

/* Forget the hints of the finished call. */
void tracee_call_done(struct tracee *t);

/* Free everything. */
void tracees_done(struct tracees *ts);

/* Is @file in the set? */
bool fileset_has(const struct fileset *s, int file);

/* Put @file in, once. */
void fileset_add(struct fileset *s, int file);

/* Followed descriptor @fd, NULL when it is none. */
struct rfd *fdtab_get(struct fdtab *tab, int fd);

/* Put (or replace) one. */
struct rfd *fdtab_put(struct fdtab *tab, int fd, int file, bool write);

/* Drop one; *ret (may be NULL) gets what it was. False when it was none. */
bool fdtab_del(struct fdtab *tab, int fd, struct rfd *ret);

/* A table with the same entries and one reference. */
struct fdtab *fdtab_copy(const struct fdtab *tab);

/* One more reference. Returns @tab. */
struct fdtab *fdtab_ref(struct fdtab *tab);

/* Drop a reference. Returns NULL. */
struct fdtab *fdtab_unref(struct fdtab *tab);

#endif

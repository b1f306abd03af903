/* What the files that build a box share. Private to sandbox/. */
#ifndef SANDBOX_BOX_INTERNAL_H
#define SANDBOX_BOX_INTERNAL_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/box.h"
#include "sandbox/ids.h"
#include "sandbox/ops.h"

#define SPAWN_RLIMITS 8

/* Records that cross the sockets and pipes between the box and us. Fixed size; every one of them
 * comes from our own code, before the first untrusted instruction. */
enum note_kind {
	NOTE_FAILED = 1, /* a step failed: step, sys, detail */
	NOTE_FDS,        /* the world is built; descriptors by enum note_fd come along */
	NOTE_READY,      /* the command's process stands at its gate */
	NOTE_GO,         /* to the box: go on */
	NOTE_STATUS,     /* a command of box_exec() ended: sys = wait status */
};

enum note_fd { NOTE_FD_WS, NOTE_FD_ROOT, NOTE_FD_NET, NOTE_FD_USER, NOTE_FD_MAX };

struct note {
	uint16_t kind; /* enum note_kind */
	uint16_t step; /* index into the step table of the sender */
	int32_t sys;   /* errno */
	uint32_t op;   /* row of the operation list */
	int32_t source;
	char detail[176];
};

struct rlimit_row {
	int which;
	struct rlimit lim;
};

/* Everything that the child reads between clone(2) and exec. Filled by the parent; nothing in it is
 * allocated by the child. */
struct child_plan {
	struct ops ops;
	struct ids ids;
	const char *hostname, *workdir, *cwd;
	char *const *argv, *const *env;
	struct strv candidates; /* paths of the program to try, in PATH order */
	char **sh_argv;         /* argv for a script without "#!": sh, path, args; owned */
	int stdio[3];
	int extra_fd; /* 0 = none */
	bool new_tty, signal_beside;
	char *args; /* where our own command line stands (proc_pid_cmdline(5)), PID 1's until it is wiped */
	size_t n_args;
	bool wait; /* the caller opens the gate later */
	bool nested_userns;
	bool landlock;
	struct rlimit_row rlimit[SPAWN_RLIMITS];
	unsigned n_rlimit;
	unsigned cpus;                     /* as box_spec.cpus */
	struct sock_fprog filter_a;        /* owned */
	const struct sock_fprog *filter_b; /* borrowed, NULL = none */
	/* Descriptors of the child's side; -1 when empty. */
	int parent_pidfd; /* readable when the parent is gone */
	int sync, gate, error, status;
	int ctl; /* requests of box_exec() */
};

#define EXEC_FDS   4           /* stdio and the report pipe */
#define EXEC_BYTES (60u << 10) /* of one request */
#define EXEC_ARGS  4096        /* strings of one request */
#define EXEC_MAX   16          /* commands of box_exec() at once */

/* A request of box_exec(): the strings follow, each with its NUL: cwd, then @candidates paths, then
 * @argc arguments, then @envc variables. */
struct exec_request {
	uint32_t candidates, argc, envc;
};

/* One step between clone and exec: a function of the plan that returns 0 or -1 with errno. */
struct child_state;
struct child_step {
	int (*run)(struct child_plan *p, struct child_state *st);
	const char *what; /* "cannot WHAT" in the error text */
	const char *fix;  /* what to do about it, NULL when nothing general can be said */
};

struct child_state {
	bool extra; /* a command of box_exec(): no gate, no terminal, no filter B */
	struct ops_run ops;
	unsigned at;     /* step being carried out */
	int landlock_fd; /* ruleset made before privileges are dropped */
	int chosen;      /* index into candidates, -1 = not found */
	int choose_errno;
	int ws, root;
};

/* PID 1 of the box: builds the world by its step table, forks the command, reaps until it is
 * killed. Called right after clone(2); never returns. */
void init_main(struct child_plan *p) __attribute__((noreturn));

/* The command's process: drops every privilege by its step table, waits at the gate, executes.
 * Never returns. */
void child_main(struct child_plan *p, struct child_state *st) __attribute__((noreturn));

/* What PID 1 does for the rest of its life: reap, report the end of process @command to @p->status,
 * start further commands on request. Never returns. */
void init_loop(struct child_plan *p, pid_t command) __attribute__((noreturn));

/* The process of one request of box_exec(): as child_main() without gate and filter B. @text is the
 * request with its strings, @fd its EXEC_FDS descriptors. Never returns. */
void init_exec(struct child_plan *p, char *text, size_t len, const int *fd)
	__attribute__((noreturn));

/* Step tables, for the parent's error texts. */
const struct child_step *init_step(unsigned i);  /* NULL past the end */
const struct child_step *child_step(unsigned i); /* as init_step() */

/* Write a failure record of step @st->at to @fd and end the process. */
void init_fail(int fd, const struct child_state *st) __attribute__((noreturn));

/* Parent's side: what runs between clone(2) and the gate. */
struct spawn {
	int sync, gate, error, status, ctl; /* parent's ends; -1 when empty */
};

/* clone(2) the box, write its maps, put it into @box->cg, receive descriptors, wait until the
 * command stands at its gate. Fills pids and descriptors of @box. 0 or negative with @err; then
 * nothing is left running. */
int spawn_box(struct child_plan *p, struct box *box, struct err *err);

/* Write the id maps of @pid's new user namespace: BOX_UID and BOX_GID alone, to @ids. 0 or
 * negative. */
int spawn_maps(const struct ids *ids, pid_t pid, struct err *err);

/* Receive one record with the sender's pid as the kernel gives it (SO_PASSCRED). 0, or -1 when
 * there is none. */
int spawn_recv(int sock, struct note *n, pid_t *ret_pid);

/* Text of a failure record. @child: it came from the command's process. Returns negative. */
int spawn_error(const struct child_plan *p, const struct note *n, bool child, struct err *err);

/* The list of operations for @spec. Makes and fills directory @dir below the scratch. 0 or
 * negative. */
int rootfs_plan(const struct box_spec *spec, const char *dir, const struct ids *ids,
		struct ops *ops, struct err *err);

/* Append /dev, /proc and their protection. */
void devproc_plan(const struct box_spec *spec, struct ops *ops);

/* Append the workspace at spec->workdir. 0 or negative. */
int overlay_workspace(const struct box_spec *spec, const char *dir, const struct ids *ids,
		      struct ops *ops, struct err *err);

/* Append the overlay over OPS_SKELETON as the new root, layers in @dir. 0 or negative. */
int overlay_skeleton(const char *dir, const struct ids *ids, struct ops *ops, struct err *err);

/* Append the overlay of "dir:" root file system @lower as the new root, layers in @dir. 0 or
 * negative. */
int overlay_root(const char *lower, const char *dir, const struct ids *ids, struct ops *ops,
		 struct err *err);

/* Fill @row (at least SPAWN_RLIMITS) from @l. Returns how many. */
unsigned rlimits_plan(const struct limits *l, struct rlimit_row *row);

/* Paths to try for program @name with environment @env, in PATH order, into @out. */
void box_candidates(const char *name, char *const *env, struct strv *out);

/* Text for a failed exec of @program: what, errno, hint. Returns -ERR_CHILD. */
int box_exec_text(const char *program, const struct note *n, struct err *err);

/* Bring the loopback device of the calling process's network namespace up. Async-signal-safe.
 * 0 or -1. */
int netns_lo_up(void);

/* Drop bounding, ambient, inheritable, effective and permitted capabilities and lock the
 * securebits (capabilities(7)). Async-signal-safe. 0 or -1. */
int caps_drop(void);

/* ABI of this kernel's Landlock, 0 when there is none. */
int landlock_abi(void);

/* Confine the calling process to the box's root as it stands: read and execute everywhere, write in
 * the top-level directories that are neither /proc, /sys nor read-only mounts. @signal_beside: without the
 * scope of signals (Linux 6.12), which would keep it from processes that are no children of its own. Needs
 * no_new_privs. Async-signal-safe. 0 or -1. */
int landlock_confine(bool signal_beside);

#endif

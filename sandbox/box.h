/* The facade of the sandbox: an isolated world built from a description, entered, watched by
 * whoever wants to, and torn down. Knows nothing of ptrace, triggers or grading.
 *
 * Life: box_spec filled by the caller -> box_start() (the agent waits at a gate inside, policy
 * on) -> the caller may attach a tracer to box->agent_pid -> box_release() (filter B, exec) ->
 * box_poll() or the caller's own waitpid loop -> box_kill() -> box_free(). */
#ifndef SANDBOX_BOX_H
#define SANDBOX_BOX_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "profiles/limits.h"
#include "profiles/profile.h"

struct janitor;
struct cgroup;

/* uid and gid that the box's processes see, as root and as an ordinary user alike. */
#define BOX_UID 1000

/* Where the command finds box_spec's extra descriptor. Above what shells take for themselves (10 to 12),
 * and within the first 16, which Node.js makes close-on-exec at its start. */
#define BOX_EXTRA_FD 14

/* A tree or file of the host that appears in the box, read-only. Borrowed strings. */
struct box_bind {
	const char *host, *box; /* absolute paths */
	bool copy;        /* a copy that belongs to the box and may be written; directories only */
	const char *what; /* for error texts; NULL = the agent's installation */
};

/* Everything a box is built from. Strings and arrays are borrowed until box_start() returns. */
struct box_spec {
	const char *rootfs;            /* "host" or "dir:/abs" */
	const struct profile *profile; /* read, write, hide, deny, nested_userns, require */
	const char *hostname;          /* default "proctor" */
	const struct box_bind *binds;  /* in addition to the profile's "read"; n_binds of them */
	size_t n_binds;
	const struct strv
		*dirs; /* directories of the box's own, made when they are not there; NULL = none.
				  * Below / it can write only in top-level directories that are there at the
				  * start (Landlock) */
	const char *workdir; /* where the workspace appears and the command starts */
	const char *cwd;     /* start directory when not workdir; NULL = workdir */
	const char *ws_lower, *ws_upper, *ws_work; /* overlay; upper NULL: ws_lower is bound
						    * writable in place (WORKSPACE_DIRECT) */
	const char *scratch; /* directory for the box's own layers (root overlay, /tmp, HOME) */
	const char *home;    /* HOME in the box, e.g. "/home/agent" */
	const struct strv *home_files; /* "path below HOME=template it came from"; NULL = none */
	const struct strv *home_texts; /* contents, same order as home_files */
	char *const *argv; /* NULL-terminated; argv[0] looked up in env's PATH inside the box */
	char *const *env;  /* NULL-terminated */
	int stdio[3];      /* descriptors for 0, 1, 2; lent */
	int extra_fd;      /* inherited as BOX_EXTRA_FD by the command alone; lent, 0 = none */
	bool signal_beside; /* its processes may signal those of box_spawn(), which are no children of
			     * theirs: Landlock's signal scope is left to the PID namespace */
	bool new_tty;       /* stdio[0] is a pty slave: setsid + TIOCSCTTY */
	const struct sock_fprog *filter_b; /* observing filter, loaded last; NULL = none */
	bool wait_for_tracer;              /* hold the gate until box_release(); else it is open */
	struct limits limits;    /* kernel-side part: processes, open files, memory, ... */
	unsigned cpus;           /* processors it may use, 0 = all of ours */
	bool no_cgroup;          /* pretend no cgroup can be made */
	struct janitor *janitor; /* told of cgroups and init; may be NULL */
};

struct box {
	pid_t init_pid; /* host pid of the box's PID 1 (our child, not traced) */
	int init_pidfd;
	pid_t agent_pid; /* host pid of the command's process, child of init */
	int gate_fd;     /* socket to the child at its gate; -1 after release */
	int ws_fd;     /* directory of the merged workspace, as seen inside; stays usable after the
			* box is dead. -1 never */
	int root_fd;   /* O_PATH root directory of the box */
	int error_fd;  /* exec failure comes through here; -1 when it is settled */
	int status_fd; /* wait status of the command comes through here (readable = it ended);
			* -1 when taken */
	int net_fd, user_fd; /* namespaces of the box, for setns(2); PID 1 is not dumpable, so they
			      * cannot be opened from /proc by an ordinary user */
	uid_t uid;           /* who the box is outside: owner of everything it writes */
	gid_t gid;
	bool mapped;      /* uid is not our own: we are root, see box_act_as() */
	int ctl_fd;       /* to PID 1, for box_exec(); -1 never */
	char *program;    /* owned: argv[0], for error texts */
	uint64_t max_mem; /* peak seen by box_usage() where no cgroup knows it */
	char *dir;        /* owned: directory below the scratch with the box's own layers (its root,
			   * /tmp, HOME); counts as disk use; removed by box_free() */
	struct cgroup *cg;              /* owned, NULL when none */
	const char *posture[LAYER_MAX]; /* "on", or why it is off; static or owned by the box */
	char *posture_text[LAYER_MAX];  /* owned storage for the former where needed */
	bool killed;                    /* box_kill() was called */
	bool lost; /* init died before the command ended, and not by box_kill() */
	bool exited;
	int status;       /* wait status of the command, as waitpid(2) gives it */
	uint64_t started; /* clock_mono() at box_release() */
	bool reaped;      /* init itself was waited for */
};

/* Build the box and bring the command to its gate: namespaces, maps, mounts, capabilities,
 * Landlock, no_new_privs, filter A are on. 0 or negative: ERR_HOST names the layer that is
 * missing and the fix, also when profile->require is not met. Free with box_free(). */
int box_start(const struct box_spec *spec, struct box **ret, struct err *err);

/* Open the gate: the child loads filter B and executes the command. With ptrace this returns at
 * once and the tracer sees the exec; the exec's failure comes through box_exec_error().
 * 0 or negative. */
int box_release(struct box *box, struct err *err);

/* After release: 0 when the command was executed, -ERR_CHILD with @err (what, errno, hint) when it
 * could not be, 1 when not known yet (only when @wait is false). */
int box_exec_error(struct box *box, bool wait, struct err *err);

/* Wait for the command without a tracer: up to @timeout_ns (0 = look once). 1 ended (exited and
 * status are set), 0 not yet, negative on error. Not for use beside a waitpid(-1) loop. */
int box_wait(struct box *box, uint64_t timeout_ns, struct err *err);

/* Kill every process of the box (SIGKILL to its PID 1 takes the PID namespace along). Idempotent.
 * The caller reaps init (box_wait() or its own loop). */
void box_kill(struct box *box);

/* CPU time in ns, peak memory in bytes, number of tasks: from the cgroup, else from /proc.
 * Unknown values are 0. */
void box_usage(struct box *box, uint64_t *cpu_ns, uint64_t *mem_bytes, uint64_t *tasks);

/* Did the kernel kill for memory in the box's cgroup since the start? */
bool box_oom(const struct box *box);

/* Freeze or thaw all tasks with the cgroup freezer. 0, or -1 when there is none. */
int box_freeze(struct box *box, bool on);

/* The caller's own waitpid loop reaped init with @status: box_free() must not wait again. */
void box_reaped(struct box *box, int status);

/* Run @argv in the living box, confined like its command but not traced, starting in @cwd, and wait
 * at most @seconds. 0 when it exited with status 0, negative otherwise. */
int box_exec(struct box *box, char *const *argv, char *const *env, const char *cwd,
	     unsigned seconds, struct err *err);

/* The non-blocking form of box_exec(). */
struct box_command {
	char *const *argv; /* NULL-terminated; argv[0] looked up in env's PATH inside the box */
	char *const *env;  /* NULL-terminated */
	const char *cwd;   /* NULL = the workspace */
	int stdio[3];      /* lent */
};

/* Start @cmd. *ret_fd (caller closes) becomes readable when it ended or could not be executed; see
 * box_spawned(). At most 16 at once; arguments and environment together below 60 KiB. The first
 * command must have been released. *ret_pid (may be NULL) is its host pid. 0 or negative. */
int box_spawn(struct box *box, const struct box_command *cmd, int *ret_fd, pid_t *ret_pid,
	      struct err *err);

/* Result of box_spawn() of @program from its descriptor: 1 ended (*ret_status as waitpid(2) gives
 * it), 0 not within @timeout_ns, -ERR_CHILD when it could not be executed or the box died. */
int box_spawned(int fd, const char *program, uint64_t timeout_ns, int *ret_status, struct err *err);

/* As root, files made through ws_fd would belong to an id that the box does not know (EOVERFLOW,
 * overlayfs): take on the box's file system ids (setfsuid(2)), or go back (@on false). Nothing
 * happens when the box is ourselves. Between the two calls only the workspace is to be touched. */
void box_act_as(const struct box *box, bool on);

/* Kill, reap when not yet reaped, remove the cgroup and the box's own layers, free. NULL is fine.
 * Returns NULL. */
struct box *box_free(struct box *box);

#endif

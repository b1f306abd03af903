/* The only caller of ptrace(2) and the only reader of tracee memory. */
#ifndef SUPERVISOR_PT_H
#define SUPERVISOR_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An address in a tracee: cannot be dereferenced by accident. */
struct remote {
	uint64_t addr;
};

/* Where in a system call a stopped task is (PTRACE_GET_SYSCALL_INFO, Linux 5.3): never a toggle. */
enum pt_where { PT_NONE, PT_ENTRY, PT_EXIT, PT_SECCOMP };

struct pt_call {
	enum pt_where where;
	uint64_t nr; /* PT_ENTRY, PT_SECCOMP */
	uint64_t arg[6];
	int64_t ret; /* PT_EXIT: result, negative errno */
};

/* Attach without stopping (PTRACE_SEIZE) with EXITKILL, SECCOMP, FORK, VFORK, CLONE, EXEC,
 * SYSGOOD and, when @exits, EXIT. 0 or -1 errno. */
int pt_seize(pid_t pid, bool exits);

/* Go on until the next event (PTRACE_CONT), delivering @sig. 0 or -1 errno (ESRCH: killed). */
int pt_cont(pid_t tid, int sig);

/* Go on until the next event or system call boundary (PTRACE_SYSCALL). As pt_cont(). */
int pt_syscall(pid_t tid, int sig);

/* Leave the task in its group stop but let it see SIGCONT (PTRACE_LISTEN). 0 or -1 errno. */
int pt_listen(pid_t tid);

/* Ask a running task to stop (PTRACE_INTERRUPT). 0 or -1 errno. */
int pt_interrupt(pid_t tid);

/* The number that came with an event (new tid, former tid, exit status). 0 when unknown. */
uint64_t pt_event_msg(pid_t tid);

/* Fill @call for a stopped task. 0 or -1 errno. */
int pt_call_info(pid_t tid, struct pt_call *call);

/* Copy @n bytes from the tracee, once. Returns the bytes copied (may be fewer), -1 errno. */
ssize_t pt_read(pid_t tid, struct remote from, void *to, size_t n);

/* Copy a NUL-terminated string of at most @max - 1 bytes; never crosses into an unmapped page
 * unread. Returns its length, -1 when there is no end within @max or the memory is bad. */
ssize_t pt_read_str(pid_t tid, struct remote from, char *to, size_t max);

#endif

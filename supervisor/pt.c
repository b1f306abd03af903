#include "supervisor/pt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"

int pt_seize(pid_t pid, bool exits)
{
	unsigned long opts = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			     PTRACE_O_TRACESYSGOOD | (exits ? PTRACE_O_TRACEEXIT : 0);

	return ptrace(PTRACE_SEIZE, pid, 0, opts) < 0 ? -1 : 0;
}

int pt_cont(pid_t tid, int sig)
{
	return ptrace(PTRACE_CONT, tid, 0, (unsigned long)sig) < 0 ? -1 : 0;
}

int pt_syscall(pid_t tid, int sig)
{
	return ptrace(PTRACE_SYSCALL, tid, 0, (unsigned long)sig) < 0 ? -1 : 0;
}

int pt_listen(pid_t tid)
{
	return ptrace(PTRACE_LISTEN, tid, 0, 0) < 0 ? -1 : 0;
}

int pt_interrupt(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ? -1 : 0;
}

uint64_t pt_event_msg(pid_t tid)
{
	unsigned long msg = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, 0, &msg) < 0 ? 0 : msg;
}

int pt_call_info(pid_t tid, struct pt_call *call)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return -1;
	switch (info.op) {
	case PTRACE_SYSCALL_INFO_ENTRY:
		call->where = PT_ENTRY;
		call->nr = info.entry.nr;
		memcpy(call->arg, info.entry.args, sizeof(call->arg));
		break;
	case PTRACE_SYSCALL_INFO_SECCOMP:
		call->where = PT_SECCOMP;
		call->nr = info.seccomp.nr;
		memcpy(call->arg, info.seccomp.args, sizeof(call->arg));
		break;
	case PTRACE_SYSCALL_INFO_EXIT:
		call->where = PT_EXIT;
		call->ret = info.exit.rval;
		break;
	default:
		call->where = PT_NONE;
		break;
	}
	return 0;
}

/* Word by word, as only a tracer may: where the task is not dumpable its /proc/PID/mem is closed. */
static ssize_t read_by_words(pid_t tid, struct remote from, void *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		size_t left = n - got < sizeof(long) ? n - got : sizeof(long);
		long word;

		errno = 0;
		/* Never past the last byte asked for: it may be the last of its page. */
		word = ptrace(PTRACE_PEEKDATA, tid, from.addr + got + left - sizeof(long), NULL);
		if (errno)
			break;
		memcpy((char *)to + got, (char *)&word + sizeof(word) - left, left);
		got += left;
	}
	return got ? (ssize_t)got : -1;
}

/* Pages that are writable but not readable: process_vm_readv(2) refuses them, the kernel reads a
 * call's arguments from them all the same (x86 has no write-only pages). */
static ssize_t read_by_force(pid_t tid, struct remote from, void *to, size_t n)
{
	auto_fd int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? read_by_words(tid, from, to, n) : pread(fd, to, n, (off_t)from.addr);
}

ssize_t pt_read(pid_t tid, struct remote from, void *to, size_t n)
{
	struct iovec local = { to, n };
	struct iovec rem = { (void *)(uintptr_t)from.addr, n };
	ssize_t got = process_vm_readv(tid, &local, 1, &rem, 1, 0);

	return got < 0 && n ? read_by_force(tid, from, to, n) : got;
}

ssize_t pt_read_str(pid_t tid, struct remote from, char *to, size_t max)
{
	enum { PAGE = 4096, CHUNK = 256 };
	size_t got = 0;

	while (got < max) {
		uint64_t at = from.addr + got;
		size_t want = PAGE - (at & (PAGE - 1));
		ssize_t n;
		char *nul;

		/* Most paths are short: a first small read, then to the end of the page. */
		if (!got && want > CHUNK)
			want = CHUNK;
		if (want > max - got)
			want = max - got;
		n = pt_read(tid, (struct remote){ at }, to + got, want);
		if (n <= 0)
			return -1;
		nul = memchr(to + got, 0, (size_t)n);
		if (nul)
			return nul - to;
		got += (size_t)n;
	}
	errno = ENAMETOOLONG;
	return -1;
}

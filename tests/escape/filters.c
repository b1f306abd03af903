/* Other ABIs, call numbers nobody knows, filters of the agent's own. */
#include "escape.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
static const struct call calls[] = {
	{ "number-1", -1, { 0 } },
	{ "number-1000", 1000, { 0 } },
#ifdef __x86_64__
	{ "x32-getpid", 0x40000000 | SYS_getpid, { 0 } },
	{ "x32-socket", 0x40000000 | SYS_socket, { AF_INET, SOCK_STREAM } },
	{ "x32-ptrace", 0x40000000 | 521, { 0 } },
#endif
	{ NULL },
};
/* clang-format on */

/* int $0x80: the i386 table, where number 5 is open and 102 is socketcall. */
static long ia32(long nr)
{
#ifdef __x86_64__
	long rc = nr;

	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(0L), "c"(0L), "d"(0L) : "memory");
	return rc < 0 ? rc : 0;
#else
	(void)nr;
	raise(SIGSEGV);
	return 0;
#endif
}

static long ia32_open(void)
{
	return ia32(5);
}

static long ia32_socketcall(void)
{
	return ia32(102);
}

/* A listener answers before the tracer is asked: USER_NOTIF is stronger than TRACE (seccomp(2)). */
static long own_listener(void)
{
	return result(own_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

static long own_trace(void)
{
	if (own_filter(SECCOMP_RET_TRACE | 0x1234, 0) < 0)
		return -errno;
	return getppid() > 0 ? 0 : wrong("RET_TRACE of the box stops it");
}

/* *arg: twice the number, and 1 more for arguments of ones. */
static long try_number(const void *arg)
{
	const int *k = arg;
	uint64_t v = *k % 2 ? UINT64_MAX : 0;

	return result(syscall(*k / 2, v, v, v, v, v, v));
}

/* Numbers from 424 on are the same on all architectures. */
void try_numbers(void (*attempt)(const char *id, long (*run)(const void *arg), const void *arg))
{
	for (int k = 424 * 2; k <= 470 * 2 + 1; k++) {
		char id[32];

		snprintf(id, sizeof(id), "number-%d-%s", k / 2, k % 2 ? "ones" : "zeros");
		attempt(id, try_number, &k);
	}
}

static const struct attempt attempts[] = {
	{ "ia32-open", ia32_open },
	{ "ia32-socketcall", ia32_socketcall },
	{ "own-listener", own_listener },
	{ "own-trace", own_trace },
	{ NULL },
};

const struct family family_filters = {
	"filters",
	.calls = calls,
	.attempts = attempts,
};

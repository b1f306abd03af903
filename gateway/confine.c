#include "gateway/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/sysdefs.h"

enum { NOBODY = 65534 };

/* Far above what our own bounds add up to: the one that holds when an endpoint and a box together find a
 * way round them. */
#define MEMORY_MAX (4ull << 30)

/* A call that is let pass when the masked argument has the value. */
struct rule {
	int nr;
	bool checked;
	unsigned arg;
	uint64_t mask, value;
};

#define PLAIN(call)                                                                                \
	{                                                                                          \
		.nr = SCMP_SYS(call)                                                               \
	}
#define ONLY(call, a, m, v)                                                                        \
	{                                                                                          \
		.nr = SCMP_SYS(call), .checked = true, .arg = (a), .mask = (m), .value = (v)       \
	}
#define WHOLE 0xffffffffu

/* What serving sockets needs and nothing else: no file is opened, nothing is executed, no other
 * process is touched, no memory becomes executable. */
/* clang-format off */
static const struct rule rules[] = {
	PLAIN(read), PLAIN(write), PLAIN(readv), PLAIN(writev), PLAIN(close), PLAIN(lseek),
	PLAIN(recvfrom), PLAIN(recvmsg), PLAIN(recvmmsg), PLAIN(sendto), PLAIN(sendmsg), PLAIN(sendmmsg),
	PLAIN(connect), PLAIN(accept), PLAIN(accept4), PLAIN(bind), PLAIN(listen), PLAIN(shutdown),
	PLAIN(getsockname), PLAIN(getpeername), PLAIN(getsockopt), PLAIN(setsockopt),
	ONLY(socket, 0, WHOLE, AF_INET), ONLY(socket, 0, WHOLE, AF_INET6),
	ONLY(socketpair, 0, WHOLE, AF_UNIX),
	PLAIN(pipe2), PLAIN(pipe), PLAIN(splice), PLAIN(eventfd2), PLAIN(timerfd_create), PLAIN(timerfd_settime),
	PLAIN(epoll_create1), PLAIN(epoll_ctl), PLAIN(epoll_wait), PLAIN(epoll_pwait), PLAIN(epoll_pwait2),
	PLAIN(poll), PLAIN(ppoll), PLAIN(select), PLAIN(pselect6),
	/* not F_SETOWN and F_SETSIG: a socket that sends signals to others (fcntl(2)) */
	ONLY(fcntl, 1, WHOLE, F_GETFD), ONLY(fcntl, 1, WHOLE, F_SETFD), ONLY(fcntl, 1, WHOLE, F_GETFL),
	ONLY(fcntl, 1, WHOLE, F_SETFL), ONLY(fcntl, 1, WHOLE, F_DUPFD_CLOEXEC),
	PLAIN(fstat), PLAIN(fdatasync), PLAIN(fsync), PLAIN(dup), PLAIN(dup3),
	ONLY(ioctl, 1, WHOLE, FIONREAD), ONLY(ioctl, 1, WHOLE, FIONBIO),
	PLAIN(brk), PLAIN(munmap), PLAIN(mremap), PLAIN(madvise),
	ONLY(mmap, 2, PROT_EXEC, 0), ONLY(mprotect, 2, PROT_EXEC, 0),
	PLAIN(futex), PLAIN(getrandom), PLAIN(rt_sigaction), PLAIN(rt_sigprocmask), PLAIN(rt_sigreturn),
	PLAIN(sigaltstack), PLAIN(restart_syscall), PLAIN(exit), PLAIN(exit_group), PLAIN(sched_yield),
	PLAIN(clock_gettime), PLAIN(clock_getres), PLAIN(gettimeofday), PLAIN(time), PLAIN(uname), PLAIN(sysinfo),
	PLAIN(getpid), PLAIN(gettid), PLAIN(getuid), PLAIN(geteuid), PLAIN(getgid), PLAIN(getegid),
	PLAIN(getrusage), PLAIN(times), PLAIN(sched_getaffinity),
};
/* clang-format on */

static int load_filter(struct err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = ctx ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];

		rc = r->checked ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, r->nr, 1,
						   SCMP_CMP(r->arg, SCMP_CMP_MASKED_EQ, r->mask,
							    r->value))
				: seccomp_rule_add(ctx, SCMP_ACT_ALLOW, r->nr, 0);
	}
	/* Addresses of the interfaces (getifaddrs(3)); the other kinds of netlink are much code. */
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, WHOLE, AF_NETLINK),
				      SCMP_A2(SCMP_CMP_MASKED_EQ, WHOLE, NETLINK_ROUTE));
	/* abort(3) of a failed assertion must end us, whatever it tries first. */
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, SCMP_SYS(tgkill), 0);
	if (rc == 0)
		rc = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	errno = -rc;
	return rc < 0 ? err_sys(err, "cannot load the gateway's seccomp filter") : 0;
}

/* 0 with the ruleset on, -1 when the kernel has none. */
static int landlock(void)
{
	struct ll_ruleset_attr attr = { 0 };
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LL_CREATE_RULESET_VERSION);
	int fd, rc;

	if (abi < 1)
		return -1;
	/* Every right is handled and none granted. The gateway's own connects are its purpose, so
	 * network rights stay out. */
	attr.handled_access_fs = LL_FS_EXECUTE | LL_FS_READ_FILE | LL_FS_READ_DIR |
				 LL_FS_WRITE_FILE | LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE |
				 LL_FS_MAKE_CHAR | LL_FS_MAKE_DIR | LL_FS_MAKE_REG |
				 LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_BLOCK |
				 LL_FS_MAKE_SYM;
	if (abi >= 2)
		attr.handled_access_fs |= LL_FS_REFER;
	if (abi >= 3)
		attr.handled_access_fs |= LL_FS_TRUNCATE;
	if (abi >= 6)
		attr.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL;
	fd = (int)syscall(__NR_landlock_create_ruleset, &attr,
			  abi >= 6 ? sizeof(attr) : sizeof(attr.handled_access_fs), 0);
	if (fd < 0)
		return -1;
	rc = (int)syscall(__NR_landlock_restrict_self, fd, 0);
	close(fd);
	return rc;
}

/* As root we become nobody: a fault here must not be a fault of root's. In a user namespace that maps a
 * single id there is no nobody (setgroups(2) EPERM, setresuid(2) EINVAL); that root is an ordinary user
 * outside. */
static int drop_ids(char missing[128])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	if (geteuid() == 0 && (syscall(SYS_setgroups, 0, NULL) < 0 ||
			       syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 ||
			       syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0)) {
		if (errno != EPERM && errno != EINVAL)
			return -1;
		snprintf(missing, 128, "the id stays, nobody is not mapped here");
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_capset, &head, none);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void confine_close(int *keep, unsigned n)
{
	unsigned from = 3;

	qsort(keep, n, sizeof(*keep), by_number);
	for (unsigned i = 0; i < n; i++) {
		unsigned fd = (unsigned)keep[i];

		if (keep[i] < 3 || fd < from)
			continue;
		if (fd > from)
			(void)syscall(SYS_close_range, from, fd - 1, 0); /* Linux 5.9 */
		from = fd + 1;
	}
	fd_close_from(from);
}

/* The soft limit is enough: the filter knows no way to raise it. */
static void bound_memory(void)
{
	struct rlimit lim;
	rlim_t was;
	void *p;

	if (getrlimit(RLIMIT_DATA, &lim) < 0 || lim.rlim_cur < MEMORY_MAX)
		return;
	was = lim.rlim_cur;
	lim.rlim_cur = MEMORY_MAX;
	(void)setrlimit(RLIMIT_DATA, &lim); /* below the hard limit anybody may */
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED) {
		munmap(p, 1 << 20);
		return;
	}
	/* Under a sanitizer, whose shadow counts as data, there is more already. */
	lim.rlim_cur = was;
	(void)setrlimit(RLIMIT_DATA, &lim); /* as above */
}

int confine(char missing[128], struct err *err)
{
	struct rlimit none = { 0, 0 }, core = { 1, 1 };
	pid_t parent = getppid();

	missing[0] = '\0';
	if (drop_ids(missing) < 0)
		return err_sys(err, "cannot take the gateway's privileges away");
	/* Changing ids clears it (prctl(2)): after them. A parent that died meanwhile is noticed by
	 * its changed number. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		return err_sys(err, "cannot tie the gateway to the supervisor");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "cannot confine the gateway");
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setrlimit(RLIMIT_CORE, &core) < 0)
		return err_sys(err, "cannot limit the gateway");
	bound_memory();
	if (landlock() < 0)
		snprintf(missing + strlen(missing), 128 - strlen(missing), "%sno Landlock",
			 missing[0] ? ", " : "");
	return load_filter(err);
}

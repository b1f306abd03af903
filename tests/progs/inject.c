/* To be preloaded (LD_PRELOAD): lets one call of a kind fail, or kills the process that makes it.
 *
 *   INJECT_FILE=PATH     a file of sizeof(struct page) zero bytes, shared by the program and all that it forks: the
 *                        calls are counted over all of them
 *   INJECT=KIND:N:WHAT   the N-th call of KIND does WHAT: an error by its number, or "kill", or "hang"; "N+" = all from the
 *                        N-th on. Without it the calls are only counted.
 *   INJECT_CLOCK=SECONDS the wall clock jumps by so much, forth and back, at every third look at it
 *
 * What is started in a box has another environment and is left alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { ALLOC, MOUNT, CLONE, WRITE, DISK, OPEN, FSYNC, PTRACE, SECCOMP, MAKE, PIPE, KINDS };

static const char *const names[KINDS] = { "alloc", "mount",  "clone",   "write", "disk", "open",
					  "fsync", "ptrace", "seccomp", "make",  "pipe" };

/* What the runner of the tests reads: see tests/run/lib/faultlib.py. */
struct page {
	uint64_t count[KINDS];
	uint64_t hits;     /* calls that were made to fail */
	uint64_t hit_pid;  /* the process of the first of these, in its own namespace */
	uint64_t hit_at;   /* where it came from */
	uint64_t base;     /* where the program lies in memory: hit_at - base is for addr2line(1) */
	uint64_t clock_at; /* looks at the wall clock */
	char object[56];   /* file name of the object that it came from */
};

static struct page *page;
static enum kind want = KINDS;
static uint64_t want_n;
static int want_error; /* 0 = kill */
static bool and_on, want_hang;
static int64_t jump_s;

/* glibc's own names: they work before anything is set up. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

#define REAL(name)                                                                                 \
	__extension__({                                                                            \
		static __typeof__(&name) real_;                                                    \
		if (!real_)                                                                        \
			*(void **)&real_ = dlsym(RTLD_NEXT, #name);                                \
		real_;                                                                             \
	})

static void parse(const char *text)
{
	char *end;

	for (int k = 0; k < KINDS; k++) {
		size_t n = strlen(names[k]);

		if (strncmp(text, names[k], n) || text[n] != ':')
			continue;
		want_n = strtoull(text + n + 1, &end, 10);
		and_on = *end == '+';
		end += and_on;
		want_error = *end == ':' ? atoi(end + 1) : 0;
		want_hang = strcmp(end, ":hang") == 0;
		want = (enum kind)k;
		return;
	}
	abort(); /* a test that injects nothing would pass */
}

/* The first object is the program. */
static int note_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	page->base = info->dlpi_addr;
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("INJECT_FILE"), *what = getenv("INJECT");
	const char *jump = getenv("INJECT_CLOCK");
	void *p;
	int fd;

	if (!file)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
	p = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		abort();
	close(fd);
	jump_s = jump ? atoll(jump) : 0;
	if (what)
		parse(what);
	page = p;
	(void)dl_iterate_phdr(note_base, NULL);
}

/* Wait for something that never comes, and be woken by nothing but a kill. */
static void stand_still(void)
{
	sigset_t all;
	int p[2];
	char c;

	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL); /* valid arguments: cannot fail */
	if (REAL(pipe2)(p, O_CLOEXEC) < 0)
		abort();
	while (REAL(syscall)(SYS_read, p[0], &c, 1) < 0)
		;
}

/* Count a call; true when it has to fail, with errno set. */
static bool fails(enum kind k, const void *from)
{
	Dl_info info;
	uint64_t n;

	if (!page)
		return false;
	n = __atomic_add_fetch(&page->count[k], 1, __ATOMIC_RELAXED);
	if (k != want || (and_on ? n < want_n : n != want_n))
		return false;
	if (__atomic_fetch_add(&page->hits, 1, __ATOMIC_RELAXED) == 0) {
		page->hit_pid = (uint64_t)REAL(syscall)(SYS_getpid);
		page->hit_at = (uint64_t)(uintptr_t)from;
		if (dladdr(from, &info)) {
			const char *slash = strrchr(info.dli_fname, '/');

			snprintf(page->object, sizeof(page->object), "%s %s",
				 slash ? slash + 1 : "?", info.dli_sname ? info.dli_sname : "");
		}
	}
	if (want_hang)
		stand_still();
	if (!want_error) {
		(void)REAL(syscall)(SYS_kill, REAL(syscall)(SYS_getpid), SIGKILL);
		/* The first process of a namespace cannot kill itself. */
		REAL(syscall)(SYS_exit_group, 137);
	}
	errno = want_error;
	return true;
}

#define FAILS(kind) fails((kind), __builtin_return_address(0))

EXPORT void *malloc(size_t n)
{
	return FAILS(ALLOC) ? NULL : __libc_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return FAILS(ALLOC) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	return FAILS(ALLOC) ? NULL : __libc_realloc(p, n);
}

EXPORT int mount(const char *src, const char *dst, const char *type, unsigned long flags,
		 const void *data)
{
	return FAILS(MOUNT) ? -1 : REAL(mount)(src, dst, type, flags, data);
}

EXPORT int umount2(const char *dst, int flags)
{
	return FAILS(MOUNT) ? -1 : REAL(umount2)(dst, flags);
}

EXPORT int fsopen(const char *type, unsigned flags)
{
	return FAILS(MOUNT) ? -1 : REAL(fsopen)(type, flags);
}

EXPORT int fsconfig(int fd, unsigned cmd, const char *key, const void *value, int aux)
{
	return FAILS(MOUNT) ? -1 : REAL(fsconfig)(fd, cmd, key, value, aux);
}

EXPORT int fsmount(int fd, unsigned flags, unsigned attr)
{
	return FAILS(MOUNT) ? -1 : REAL(fsmount)(fd, flags, attr);
}

EXPORT int move_mount(int from, const char *a, int to, const char *b, unsigned flags)
{
	return FAILS(MOUNT) ? -1 : REAL(move_mount)(from, a, to, b, flags);
}

EXPORT int open_tree(int dir, const char *path, unsigned flags)
{
	return FAILS(MOUNT) ? -1 : REAL(open_tree)(dir, path, flags);
}

EXPORT int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *a, size_t n)
{
	return FAILS(MOUNT) ? -1 : REAL(mount_setattr)(dir, path, flags, a, n);
}

EXPORT pid_t fork(void)
{
	return FAILS(CLONE) ? -1 : REAL(fork)();
}

static bool on_disk(int fd)
{
	struct stat st;

	return page && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink;
}

#define WRITES(fd) (FAILS(WRITE) || (on_disk(fd) && FAILS(DISK)))

EXPORT ssize_t write(int fd, const void *p, size_t n)
{
	return WRITES(fd) ? -1 : REAL(write)(fd, p, n);
}

EXPORT ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return WRITES(fd) ? -1 : REAL(pwrite64)(fd, p, n, at);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
	return WRITES(fd) ? -1 : REAL(writev)(fd, v, n);
}

EXPORT ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return FAILS(WRITE) ? -1 : REAL(send)(fd, p, n, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return FAILS(WRITE) ? -1 : REAL(sendmsg)(fd, m, flags);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, unsigned) : 0;
}

#define OPENS(flags) (FAILS(OPEN) || (((flags)&O_CREAT) && FAILS(DISK)))

/* The two names of a call of the open family; first its parameters, then what is passed on. */
#define OPEN_ROW(name, args, call)                                                                 \
	EXPORT int name args                                                                       \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return OPENS(flags) ? -1 : REAL(name) call;                                        \
	}

OPEN_ROW(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN_ROW(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN_ROW(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_ROW(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

EXPORT int fsync(int fd)
{
	return FAILS(FSYNC) ? -1 : REAL(fsync)(fd);
}

EXPORT int fdatasync(int fd)
{
	return FAILS(FSYNC) ? -1 : REAL(fdatasync)(fd);
}

EXPORT long ptrace(enum __ptrace_request request, ...)
{
	void *addr, *data;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	return FAILS(PTRACE) ? -1 : REAL(ptrace)(request, pid, addr, data);
}

EXPORT int prctl(int option, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if ((option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS) && FAILS(SECCOMP))
		return -1;
	return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

static enum kind kind_of(long nr)
{
	static const struct {
		long nr;
		enum kind kind;
	} rows[] = {
		{ SYS_clone, CLONE },      { SYS_clone3, CLONE },    { SYS_mount, MOUNT },
		{ SYS_move_mount, MOUNT }, { SYS_open_tree, MOUNT }, { SYS_mount_setattr, MOUNT },
		{ SYS_fsopen, MOUNT },     { SYS_fsmount, MOUNT },   { SYS_fsconfig, MOUNT },
		{ SYS_pivot_root, MOUNT }, { SYS_umount2, MOUNT },   { SYS_openat2, OPEN },
		{ SYS_seccomp, SECCOMP },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].nr == nr)
			return rows[i].kind;
	}
	return KINDS;
}

EXPORT long syscall(long nr, ...)
{
	enum kind k = kind_of(nr);
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (k != KINDS && FAILS(k))
		return -1;
	return REAL(syscall)(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	return FAILS(MAKE) || FAILS(DISK) ? -1 : REAL(mkdir)(path, mode);
}

EXPORT int mkdirat(int dir, const char *path, mode_t mode)
{
	return FAILS(MAKE) || FAILS(DISK) ? -1 : REAL(mkdirat)(dir, path, mode);
}

EXPORT int rename(const char *from, const char *to)
{
	return FAILS(MAKE) ? -1 : REAL(rename)(from, to);
}

EXPORT int renameat(int a, const char *from, int b, const char *to)
{
	return FAILS(MAKE) ? -1 : REAL(renameat)(a, from, b, to);
}

EXPORT int symlinkat(const char *to, int dir, const char *path)
{
	return FAILS(MAKE) || FAILS(DISK) ? -1 : REAL(symlinkat)(to, dir, path);
}

EXPORT int pipe2(int fd[2], int flags)
{
	return FAILS(PIPE) ? -1 : REAL(pipe2)(fd, flags);
}

EXPORT int socketpair(int family, int type, int protocol, int fd[2])
{
	return FAILS(PIPE) ? -1 : REAL(socketpair)(family, type, protocol, fd);
}

EXPORT int socket(int family, int type, int protocol)
{
	return FAILS(PIPE) ? -1 : REAL(socket)(family, type, protocol);
}

static int64_t jumped(void)
{
	if (!page || !jump_s)
		return 0;
	return __atomic_add_fetch(&page->clock_at, 1, __ATOMIC_RELAXED) / 3 % 2 ? jump_s : 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = REAL(clock_gettime)(clock, t);

	if (rc == 0 && clock == CLOCK_REALTIME)
		t->tv_sec += jumped();
	return rc;
}

EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int rc = REAL(gettimeofday)(t, zone);

	if (rc == 0)
		t->tv_sec += jumped();
	return rc;
}

EXPORT time_t time(time_t *out)
{
	time_t t = REAL(time)(NULL) + jumped();

	if (out)
		*out = t;
	return t;
}

/* The name of an open is one thing when the tracer looks and another when the kernel does. */
#include "evasion.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int plain(long n)
{
	char name[64];

	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "plain-%ld", i);
		open(name, O_RDONLY);
	}
	expect("open", "path", "*/plain-*", false, n);
	return 0;
}

/* Turns shared->name between the region's file and its decoy until it is over. */
static void flip(void)
{
	volatile char *c = &shared->name[LAST];

	while (!shared->over) {
		*c = DECOY[LAST];
		*c = TRACKED[LAST];
	}
}

static void *flip_thread(void *arg)
{
	(void)arg;
	flip();
	return NULL;
}

static int flip_process(void *arg)
{
	(void)arg;
	flip();
	_exit(0);
}

/* Open the turning name @n times, by all calls that open. */
static void open_turning(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = i % 2 ? open(shared->name, O_RDONLY | O_CLOEXEC)
			       : openat(AT_FDCWD, shared->name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fail("the turning name");
		read_if_tracked(fd);
		close(fd);
	}
	shared->over = true;
	expect("open", "path", "*/track*", false, n);
	expect("read", "path", TRACKED, false, shared->reads);
}

static int race_thread(long n)
{
	pthread_t thread;

	strcpy(shared->name, TRACKED);
	if (pthread_create(&thread, NULL, flip_thread, NULL) != 0)
		fail("thread");
	open_turning(n);
	pthread_join(thread, NULL);
	return 0;
}

/* Another process that shares some memory. */
static int race_shared(long n)
{
	strcpy(shared->name, TRACKED);
	if (fork() == 0)
		flip_process(NULL);
	open_turning(n);
	reap();
	return 0;
}

/* Another process that shares all memory and is no thread. */
static int race_vm(long n)
{
	char *stack = malloc(STACK_SIZE);

	strcpy(shared->name, TRACKED);
	if (clone(flip_process, stack + STACK_SIZE, CLONE_VM | SIGCHLD, NULL) < 0)
		fail("clone");
	open_turning(n);
	reap();
	return 0;
}

/* A private mapping of a file shows what others write into the file. */
static int race_file(long n)
{
	int fd = open("names", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	char *theirs, *ours;

	if (fd < 0 || write(fd, TRACKED, sizeof(TRACKED)) < 0)
		fail("names");
	theirs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ours = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (theirs == MAP_FAILED || ours == MAP_FAILED)
		fail("mmap");
	if (fork() == 0) {
		while (!shared->over) {
			((volatile char *)theirs)[LAST] = DECOY[LAST];
			((volatile char *)theirs)[LAST] = TRACKED[LAST];
		}
		_exit(0);
	}
	for (long i = 0; i < n; i++) {
		int got = open(ours, O_RDONLY | O_CLOEXEC);

		read_if_tracked(got);
		close(got);
	}
	shared->over = true;
	reap();
	expect("open", "path", "*/track*", false, n);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* A page that comes and goes: what fails for the tracer succeeds for the kernel. */
static void *come_and_go(void *page)
{
	while (!shared->over) {
		mprotect(page, 4096, PROT_NONE);
		mprotect(page, 4096, PROT_READ);
	}
	return NULL;
}

static int race_protect(long n)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	strcpy(page, TRACKED);
	if (pthread_create(&thread, NULL, come_and_go, page) != 0)
		fail("thread");
	for (long i = 0; i < n; i++) {
		int fd = open(page, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		shared->opens++;
		read_if_tracked(fd);
		close(fd);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("open", "path", "*/" TRACKED, true, shared->opens);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* Too long when the tracer looks, ended early when the kernel does. */
static void *end_early(void *where)
{
	volatile char *c = where;

	while (!shared->over) {
		*c = '/';
		*c = '\0';
	}
	return NULL;
}

static int race_length(long n)
{
	char *name = calloc(1, 8192);
	pthread_t thread;

	memset(name, '/', 8191);
	memcpy(name, TRACKED, sizeof(TRACKED));
	if (pthread_create(&thread, NULL, end_early, name + sizeof(TRACKED) - 1) != 0)
		fail("thread");
	for (long i = 0; i < n; i++) {
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		shared->opens++;
		read_if_tracked(fd);
		close(fd);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("open", "path", "*/" TRACKED, true, shared->opens);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* A name that stays as it is at @at, which others change as the clock goes on. */
static bool steady_name(const char *at)
{
	char name[16] = "";

	for (size_t i = 0; i < sizeof(name) - 1 && ((const volatile char *)at)[i]; i++)
		name[i] = at[i];
	if (!name[0] || strchr(name, '/') || name[0] == '.')
		return false;
	usleep(20000);
	return strcmp(name, at) == 0 && symlink(TRACKED, name) == 0;
}

/* Memory that the kernel can read for its owner and nobody else: its own pages in every process (vdso(7)). A name
 * found there is made a link to the region's file. */
static const char *hidden_name(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from = 0;
	char line[512];

	while (f && !from && fgets(line, sizeof(line), f)) {
		if (strstr(line, "[vvar]"))
			from = strtoul(line, NULL, 16);
	}
	if (f)
		fclose(f);
	for (unsigned long at = from; from && at < from + 256; at++) {
		if (steady_name((const char *)at))
			return (const char *)at;
	}
	return NULL;
}

static int unreadable(long n)
{
	const char *name = hidden_name();

	if (!name)
		return 77;
	for (long i = 0; i < n; i++) {
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		shared->opens++;
		read_if_tracked(fd);
		close(fd);
	}
	expect("open", "path", "*", true, shared->opens);
	expect("read", "path", TRACKED, false, shared->reads);
	/* The name may have changed; that it was the file's once is enough. */
	return shared->reads ? 0 : 77;
}

/* The flags of openat2(2) lie in memory too: a descriptor without data when the tracer looks. */
static void *turn_flags(void *how)
{
	volatile __u64 *flags = &((struct open_how *)how)->flags;

	while (!shared->over) {
		*flags = O_PATH | O_CLOEXEC;
		*flags = O_RDONLY | O_CLOEXEC;
	}
	return NULL;
}

static int race_flags(long n)
{
	struct open_how how = { .flags = O_RDONLY };
	pthread_t thread;

	if (pthread_create(&thread, NULL, turn_flags, &how) != 0)
		fail("thread");
	for (long i = 0; i < n; i++) {
		int fd = (int)syscall(SYS_openat2, AT_FDCWD, TRACKED, &how, sizeof(how));

		read_if_tracked(fd);
		close(fd);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("open", "path", "*/" TRACKED, false, n);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* A directory on the way is one and the other. */
static int race_directory(long n)
{
	if (mkdir("decoy", 0755) < 0 || symlink(".", "here") < 0 || symlink("decoy", "there") < 0 ||
	    symlink(".", "turn") < 0)
		fail("links");
	close(open("decoy/" TRACKED, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	if (fork() == 0) {
		while (!shared->over) {
			renameat2(AT_FDCWD, "here", AT_FDCWD, "turn", RENAME_EXCHANGE);
			renameat2(AT_FDCWD, "there", AT_FDCWD, "turn", RENAME_EXCHANGE);
		}
		_exit(0);
	}
	for (long i = 0; i < n; i++) {
		int fd = open("turn/" TRACKED, O_RDONLY | O_CLOEXEC);

		read_if_tracked(fd);
		close(fd);
	}
	shared->over = true;
	reap();
	expect("open", "path", "*/turn/" TRACKED, false, n);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* The name of a new link turns; what it leads to is read by it in a process that is alone. */
static void read_by_link(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char c;

	/* A hard link may have a number of its own (overlayfs): it is the file all the same. */
	if (fd >= 0 && pread(fd, &c, 1, 0) == 1)
		atomic_fetch_add(&shared->reads, 1);
	unlink(name);
}

static void *turn_link(void *name)
{
	volatile char *c = name;

	while (!shared->over) {
		*c = 'a';
		*c = 'b';
	}
	return NULL;
}

static int race_link(long n)
{
	pthread_t thread;

	strcpy(shared->name, "link-?");
	if (pthread_create(&thread, NULL, turn_link, shared->name + strlen("link-")) != 0)
		fail("thread");
	for (long i = 0; i < n; i++) {
		if (i % 2 ? symlink(TRACKED, shared->name) : link(TRACKED, shared->name))
			fail("link");
		if (fork() == 0) {
			read_by_link("link-a");
			read_by_link("link-b");
			_exit(0);
		}
		reap();
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("link", "to", "*/link-?", false, n);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* Pages that can be written and not read. */
static int write_only(long n)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(page, TRACKED);
	mprotect(page, 4096, PROT_WRITE);
	for (long i = 0; i < n; i++) {
		int fd = open(page, O_RDONLY | O_CLOEXEC);

		read_if_tracked(fd);
		shared->opens += fd >= 0;
		close(fd);
	}
	expect("open", "path", "*/" TRACKED, false, shared->opens);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* Links, directories and descriptors that lead to it; O_PATH and /proc in between. */
static int detours(long n)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int at = open(TRACKED, O_PATH | O_CLOEXEC);
	char by_fd[64], by_pid[64];

	snprintf(by_fd, sizeof(by_fd), "/dev/fd/%d", at);
	snprintf(by_pid, sizeof(by_pid), "/proc/%d/fd/%d", getpid(), at);
	if (symlink(TRACKED, "soft") < 0 || symlink("soft", "softer") < 0 ||
	    mkdir("sub", 0755) < 0 || symlink("../" TRACKED, "sub/up") < 0)
		fail("links");
	for (long i = 0; i < n; i++) {
		const char *names[] = { "soft",
					"softer",
					"sub/up",
					by_fd,
					by_pid,
					"././//" TRACKED,
					"/proc/self/cwd/" TRACKED };
		int fd = i % 8 == 7 ? openat(dir, TRACKED, O_RDONLY | O_CLOEXEC)
				    : open(names[i % 8], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fail("detour");
		read_if_tracked(fd);
		close(fd);
	}
	expect("read", "path", TRACKED, false, n);
	return 0;
}

const struct way ways_paths[] = {
	{ "plain", plain },
	{ "race-thread", race_thread },
	{ "race-shared", race_shared },
	{ "race-vm", race_vm },
	{ "race-file", race_file },
	{ "race-protect", race_protect },
	{ "race-length", race_length },
	{ "unreadable", unreadable },
	{ "write-only", write_only },
	{ "race-flags", race_flags },
	{ "race-directory", race_directory },
	{ "race-link", race_link },
	{ "detours", detours },
	{ NULL, NULL },
};

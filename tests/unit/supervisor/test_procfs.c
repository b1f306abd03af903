/* Facts about tasks from /proc, also of those that close theirs. */
#include "supervisor/procfs.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"

enum { PAGE = 4096, KEPT = 77 };

static bool count(void *arg, int fd)
{
	int *seen = arg;

	seen[0]++;
	seen[1] |= fd == KEPT;
	return true;
}

/* "hold": not dumpable, holding KEPT, until killed; says on standard output when it does. */
static int hold(void)
{
	dup2(open("/dev/null", O_WRONLY), KEPT);
	prctl(PR_SET_DUMPABLE, 0);
	if (write(STDOUT_FILENO, "x", 1) == 1)
		pause();
	return 1;
}

/* Such a child, in a user namespace of ours, as a box is: that gives an ordinary user the right to look. The
 * namespace counts that it was executed in. */
static pid_t closed_child(void)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) == 0 && dup2(ready[1], STDOUT_FILENO) >= 0)
			execl("/proc/self/exe", "test_procfs", "hold", NULL);
		_exit(1);
	}
	close(ready[1]);
	tap_ok(read(ready[0], &c, 1) == 1, "a child that is not dumpable");
	close(ready[0]);
	return pid;
}

static void descriptors(void)
{
	pid_t pid = closed_child();
	int seen[2] = { 0, 0 }, fd;
	char *link = procfs_link(pid, "fd/77");
	struct stat st, want;
	uint64_t flags = 0;

	tap_ok(stat("/dev/null", &want) == 0 && procfs_fd_stat(pid, KEPT, &st) == 0 &&
		       st.st_rdev == want.st_rdev,
	       "what its descriptor is");
	tap_ok(link && strcmp(link, "/dev/null") == 0, "where it leads");
	tap_ok(procfs_has_fd(pid, KEPT) && !procfs_has_fd(pid, KEPT + 1), "which it has");
	tap_ok(procfs_fd_flags(pid, KEPT, &flags) == 0 && (flags & O_ACCMODE) == O_WRONLY,
	       "how it was opened");
	procfs_each_fd(pid, count, seen);
	tap_ok(seen[0] > 1 && seen[1], "it is among all");
	fd = procfs_borrow(pid, KEPT);
	tap_ok(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "a duplicate of it, closed on exec");
	tap_ok(procfs_borrow(pid, KEPT + 1) < 0, "none of what is not open");
	close(fd);
	free(link);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(procfs_fd_stat(pid, KEPT, &st) < 0 && procfs_borrow(pid, KEPT) < 0 &&
		       procfs_fd_flags(pid, KEPT, &flags) < 0,
	       "nothing of a process that has gone");
}

static int wait_in_vm(void *arg)
{
	(void)arg;
	pause();
	_exit(0);
}

static void sharing(void)
{
	char *stack = malloc(PAGE * 4);
	pid_t vm = clone(wait_in_vm, stack + (ptrdiff_t)PAGE * 4, CLONE_VM | SIGCHLD, NULL);
	pid_t own = fork();

	if (own == 0) {
		pause();
		_exit(0);
	}
	tap_ok(procfs_same_vm(getpid(), vm), "a child in the same memory");
	tap_ok(!procfs_same_vm(getpid(), own), "and one in its own");
	kill(vm, SIGKILL);
	kill(own, SIGKILL);
	waitpid(vm, NULL, 0);
	waitpid(own, NULL, 0);
	free(stack);
}

static void pages(void)
{
	char *mem =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *both = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	volatile char touched;
	pid_t self = getpid();

	mem[0] = both[0] = 'x';
	touched = file[0];
	tap_ok(procfs_private(self, (uintptr_t)mem, 10), "memory of its own");
	tap_ok(!procfs_private(self, (uintptr_t)mem, PAGE + 1),
	       "a page that nobody has used yet is not");
	mem[PAGE] = 'x';
	tap_ok(procfs_private(self, (uintptr_t)mem + 10, PAGE), "over two pages");
	tap_ok(!procfs_private(self, (uintptr_t)both, 1), "shared memory");
	tap_ok(touched && !procfs_private(self, (uintptr_t)file, 1), "a file's");
	file[1] = 'x';
	tap_ok(procfs_private(self, (uintptr_t)file, 1), "a copy of a file's page");
	tap_ok(!procfs_private(self, 0, 1) && !procfs_private(self, (uintptr_t)mem, 3 * PAGE),
	       "nothing, and too much");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "hold") == 0)
		return hold();
	descriptors();
	sharing();
	pages();
	return tap_done();
}

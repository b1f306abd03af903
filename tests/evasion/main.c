/* evasion WAY COUNT: one way of evading the trace, tried COUNT times (tests/tables/evasion.tsv, tests/run/evasion.sh).
 * Prints what the trace must hold: "KIND TAB FIELD TAB PATTERN TAB = or >= TAB NUMBER".
 *   evasion read FD-OR-COUNT   of processes that the ways start: read the region's file */
#include "evasion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared *shared;

void fail(const char *what)
{
	perror(what);
	_exit(1);
}

void expect(const char *kind, const char *field, const char *glob, bool least, long n)
{
	printf("%s\t%s\t%s\t%s\t%ld\n", kind, field ? field : "-", glob ? glob : "-",
	       least ? ">=" : "=", n);
}

void read_if_tracked(int fd)
{
	static _Thread_local struct stat want;
	struct stat st;
	char c;

	if (!want.st_ino && stat(TRACKED, &want) < 0)
		fail(TRACKED);
	if (fstat(fd, &st) == 0 && st.st_ino == want.st_ino && st.st_dev == want.st_dev &&
	    pread(fd, &c, 1, 0) == 1)
		atomic_fetch_add(&shared->reads, 1);
}

void read_tracked(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = open(TRACKED, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fail(TRACKED);
		read_if_tracked(fd);
		close(fd);
	}
}

void exec_self(const char *one, const char *two)
{
	char *argv[] = { (char *)"evasion", (char *)(uintptr_t)one, (char *)(uintptr_t)two, NULL };

	execv("./evasion", argv);
}

void reap(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

unsigned jitter(unsigned below)
{
	static _Thread_local unsigned state = 1;

	state = state * 1103515245u + 12345u;
	return (state >> 16) % below;
}

/* The count of a process without our memory is its exit status. */
static int read_for_parent(const char *argument)
{
	long n = atol(argument);
	char c;

	if (n < 0)
		return pread((int)-n, &c, 1, 0) == 1 ? 1 : 0;
	read_tracked(n);
	return (int)shared->reads;
}

int main(int argc, char **argv)
{
	static const struct way *const families[] = { ways_paths, ways_procs, ways_fds,
						      ways_maps,  ways_blind, ways_nets };

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (argc != 3 || shared == MAP_FAILED) {
		fprintf(stderr, "usage: evasion WAY COUNT\n");
		return 2;
	}
	if (strcmp(argv[1], "read") == 0)
		return read_for_parent(argv[2]);
	for (size_t i = 0; i < COUNT(families); i++) {
		for (const struct way *w = families[i]; w->name; w++) {
			if (strcmp(w->name, argv[1]) == 0)
				return w->run(atol(argv[2]));
		}
	}
	fprintf(stderr, "no such way: %s\n", argv[1]);
	return 2;
}

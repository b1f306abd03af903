/* Allocation and ownership helpers; exhaustion ends the program. */
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/err.h"
#include "tests/lib/tap.h"

static char *taken(void)
{
	auto_free char *p = mem_strdup("kept");

	return take_ptr(&p);
}

static void ownership(void)
{
	char *p = taken();
	int keep = -1, gone;

	tap_is_str(p, "kept", "take_ptr hands over");
	free(p);
	{
		auto_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		gone = fd;
	}
	tap_ok(fcntl(gone, F_GETFD) < 0, "auto_fd closes");
	{
		auto_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		keep = take_fd(&fd);
		tap_ok(fd == -1, "take_fd empties");
	}
	tap_ok(fcntl(keep, F_GETFD) >= 0, "take_fd hands over");
	errno = E2BIG;
	mem_close(&keep);
	tap_ok(keep == -1 && errno == E2BIG, "mem_close empties and keeps errno");
	mem_close(&keep);
	tap_ok(keep == -1 && errno == E2BIG, "mem_close of -1");
}

static void copies(void)
{
	auto_free char *a = mem_strndup("abcdef", 3), *b = mem_strndup("ab", 9);
	auto_free char *c = mem_dup("x\0y", 3), *d = mem_printf("%d-%s", 7, "z");
	auto_free void *e = mem_alloc(0), *f = mem_zalloc(0, 8);

	tap_is_str(a, "abc", "strndup cuts");
	tap_is_str(b, "ab", "strndup stops at NUL");
	tap_ok(memcmp(c, "x\0y", 4) == 0, "dup adds a NUL");
	tap_is_str(d, "7-z", "printf");
	tap_ok(e && f, "no bytes is not NULL");
	tap_ok(mem_strdup(NULL) == NULL, "strdup of NULL");
}

static void growing(void)
{
	unsigned *v = NULL;
	size_t cap = 0, grown = 0;
	bool same = true;

	for (unsigned i = 0; i < 10000; i++) {
		size_t before = cap;

		MEM_GROW(v, cap, i + 1);
		grown += cap != before;
		v[i] = i;
	}
	for (unsigned i = 0; i < 10000; i++)
		same = same && v[i] == i;
	tap_ok(same && cap >= 10000, "growth keeps the contents");
	tap_ok(grown < 30, "growth is geometric (%zu steps)", grown);
	free(v);
}

/* Does @fn end a child as when memory is out? */
static bool ends(void (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		int null = open("/dev/null", O_WRONLY);

		setrlimit(RLIMIT_CORE, &none);
		dup2(null, 2);
		fn();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == ERR_SYS;
}

static void overflow(void)
{
	volatile size_t half = SIZE_MAX / 2;

	free(mem_realloc(NULL, half, 3));
}

int main(void)
{
	ownership();
	copies();
	growing();
	tap_ok(ends(overflow), "a product that overflows ends the program with its status");
	return tap_done();
}

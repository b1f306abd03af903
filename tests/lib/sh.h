/* Shell commands and a scratch directory for tests. A command that fails when it should not is a
 * failed assertion with its text. Only for tests: uses system(3) with strings of our own making. */
#ifndef TESTS_LIB_SH_H
#define TESTS_LIB_SH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Make a directory below $TMPDIR or /tmp, go there, and keep the host's git configuration out.
 * Returns its path (static storage). Ends the program when that fails. */
static inline const char *sh_enter(void)
{
	static char dir[512];
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/proctor-test-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chdir(dir) < 0)
		abort();
	setenv("HOME", dir, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "T", 1);
	setenv("GIT_AUTHOR_EMAIL", "t@localhost", 1);
	setenv("GIT_COMMITTER_NAME", "T", 1);
	setenv("GIT_COMMITTER_EMAIL", "t@localhost", 1);
	setenv("LC_ALL", "C", 1);
	return dir;
}

/* Leave and remove the directory. */
static inline void sh_leave(const char *dir)
{
	char cmd[600];

	snprintf(cmd, sizeof(cmd), "chmod -R u+rwX '%s' 2>/dev/null; rm -rf '%s'", dir, dir);
	if (chdir("/") < 0 || system(cmd) != 0)
		printf("# cannot remove %s\n", dir);
}

static inline int sh_run(const char *fmt, va_list ap)
{
	char cmd[8192];
	int status;

	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	fflush(stdout);
	status = system(cmd);
	if (status != 0)
		printf("# status %d of: %s\n", status, cmd);
	return status;
}

/* Run a shell command. Returns its wait status; a status that is not 0 is printed. */
static inline int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline int sh(const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = sh_run(fmt, ap);
	va_end(ap);
	return rc;
}

/* Output of a shell command without final newlines, at most 64 KiB. Caller frees. */
static inline char *sh_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline char *sh_out(const char *fmt, ...)
{
	char cmd[8192], *out = mem_zalloc(1, 65537);
	size_t n = 0;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	fflush(stdout);
	f = popen(cmd, "r");
	if (f) {
		n = fread(out, 1, 65536, f);
		pclose(f);
	}
	while (n && out[n - 1] == '\n')
		out[--n] = '\0';
	return out;
}

#endif

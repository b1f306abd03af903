/* Ids, capabilities, programs that change them. */
#include "escape.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* clang-format off */
static const struct call calls[] = {
	{ "setgroups", SYS_setgroups, { 0, 0 } },
	{ "setuid-root", SYS_setuid, { 0 } },
	{ "setgid-root", SYS_setgid, { 0 } },
	{ "setuid-another", SYS_setuid, { 1001 } },
	{ "ambient-raise", SYS_prctl, { PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN } },
	{ "securebits", SYS_prctl, { PR_SET_SECUREBITS, 0 } },
	{ "no-new-privs-off", SYS_prctl, { PR_SET_NO_NEW_PRIVS, 0 } },
	{ "pr-set-mm", SYS_prctl, { PR_SET_MM, PR_SET_MM_EXE_FILE } },
	{ "pr-set-mm-bit-32", SYS_prctl, { HI(PR_SET_MM), PR_SET_MM_EXE_FILE } },
	{ "seccomp-off", SYS_prctl, { PR_SET_SECCOMP, 0 } },
	{ NULL },
};
/* clang-format on */

static long status_lines(void)
{
	static const char *const lines[] = {
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n",
		"\nSeccomp:\t2\n",
		"\nUid:\t1000\t1000\t1000\t1000\n",
		"\nGid:\t1000\t1000\t1000\t1000\n",
	};
	const char *text = text_of("/proc/self/status");

	for (size_t i = 0; i < COUNT(lines); i++) {
		if (!strstr(text, lines[i]))
			return wrong(lines[i] + 1);
	}
	return 0;
}

static long one_id(void)
{
	unsigned in, out, n, more;
	int got = sscanf(text_of("/proc/self/uid_map"), "%u %u %u %u", &in, &out, &n, &more);

	return got == 3 && in == 1000 && out != 0 && n == 1 ? 0 : wrong("uid_map");
}

static long setuid_program(void)
{
	struct stat st;

	if (stat("suid", &st) < 0 || chmod("mine", 06755) < 0)
		return -errno;
	if (system("set -e; want='1000 1000 1000 1000'; for p in ./suid ./mine; do "
		   "[ \"$($p ids)\" = \"$want\" ]; done; ! su -c id </dev/null 2>&1 | grep uid=0") !=
	    0)
		return wrong("a set-id program gains something");
	return 0;
}

static const struct attempt attempts[] = {
	{ "status", status_lines },
	{ "one-id", one_id },
	{ "setuid-program", setuid_program },
	{ NULL },
};

const struct family family_identity = {
	"identity",
	.calls = calls,
	.attempts = attempts,
};

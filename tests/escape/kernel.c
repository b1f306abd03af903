/* Parts of the kernel that no program of an agent needs, where its holes are found. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
static const struct call calls[] = {
	{ "bpf", SYS_bpf, { 0 } },
	{ "perf-event-open", SYS_perf_event_open, { 0 } },
	{ "userfaultfd", SYS_userfaultfd, { 1 } },
	{ "io-uring-setup", SYS_io_uring_setup, { 8 } },
	{ "io-uring-enter", SYS_io_uring_enter, { 0 } },
	{ "io-uring-register", SYS_io_uring_register, { 0 } },
	{ "keyctl-session-keyring", SYS_keyctl, { 0, (uint64_t)-3, 1 } },
	{ "keyctl-join", SYS_keyctl, { 1 } },
	{ "add-key", SYS_add_key, { PTR("user"), PTR(MARK), PTR("x"), 1, (uint64_t)-4 } },
	{ "request-key", SYS_request_key, { PTR("user"), PTR(MARK) } },
	{ "personality-exec", SYS_personality, { READ_IMPLIES_EXEC } },
	{ "personality-mmap-zero", SYS_personality, { MMAP_PAGE_ZERO } },
	{ "personality-query", SYS_personality, { 0xffffffff } },
	{ "syslog", SYS_syslog, { 3, PTR("") } },
	{ "reboot", SYS_reboot, { 0 } },
	{ "kexec-load", SYS_kexec_load, { 0 } },
	{ "init-module", SYS_init_module, { 0 } },
	{ "finit-module", SYS_finit_module, { 0 } },
	{ "delete-module", SYS_delete_module, { PTR("x") } },
	{ "quotactl", SYS_quotactl, { 0 } },
	{ "acct", SYS_acct, { 0 } },
	{ "swapon", SYS_swapon, { PTR("x") } },
	{ "fanotify-init", SYS_fanotify_init, { 0 } },
	{ "clock-settime", SYS_clock_settime, { 0 } },
	{ "settimeofday", SYS_settimeofday, { 0 } },
	{ "adjtimex", SYS_adjtimex, { 0 } },
	{ "sethostname", SYS_sethostname, { PTR("x"), 1 } },
#ifdef __x86_64__
	{ "modify-ldt", SYS_modify_ldt, { 0 } },
	{ "iopl", SYS_iopl, { 3 } },
	{ "ioperm", SYS_ioperm, { 0x80, 1, 1 } },
#endif
	{ "swapoff", SYS_swapoff, { PTR("x") } },
	{ "setdomainname", SYS_setdomainname, { PTR("x"), 1 } },
	{ "kexec-file-load", SYS_kexec_file_load, { 0 } },
	{ "clock-adjtime", SYS_clock_adjtime, { 0 } },
	{ "vhangup", SYS_vhangup, { 0 } },
	{ "linux-aio", SYS_io_setup, { 1, 0 } },
	{ "remap-file-pages", SYS_remap_file_pages, { 0, 4096 } },
	{ "memfd-secret", 447, { 0 } },
	{ "fanotify-mark", SYS_fanotify_mark, { 0 } },
	{ "quotactl-fd", 443, { 0 } },
	{ NULL },
};
/* clang-format on */

/* An address of the kernel's as the place for a result. */
static long waitid_to_kernel(void)
{
	pid_t pid = fork();
	long rc;

	if (pid == 0)
		_exit(0);
	rc = syscall(SYS_waitid, P_PID, pid, (void *)0xffffffff81000000ul, WEXITED, NULL);
	return result(rc);
}

/* A pipe whose pages were a file's must not write into that file. */
static long write_through_pipe(void)
{
	int fd = open("/usr/bin/env", O_RDONLY), ends[2];
	char before[8], after[8], page[4096];
	loff_t at = 0;

	if (fd < 0 || pipe(ends) < 0 || pread(fd, before, sizeof(before), 0) != sizeof(before))
		return -errno;
	/* All of its buffers have been used once. */
	for (int i = 0; i < 16; i++) {
		if (write(ends[1], page, sizeof(page)) < 0 || read(ends[0], page, sizeof(page)) < 0)
			return -errno;
	}
	if (splice(fd, &at, ends[1], NULL, 1, 0) != 1 || write(ends[1], "escaped", 7) != 7 ||
	    pread(fd, after, sizeof(after), 0) != sizeof(after))
		return -errno;
	return memcmp(before, after, sizeof(before)) == 0 ? 0
							  : wrong("a read-only file was written");
}

/* Private pages of a read-only file, written while they are thrown away. */
static long write_private(void)
{
	int fd = open("/usr/bin/env", O_RDONLY);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), after;

	if (fd < 0 || map == MAP_FAILED)
		return -errno;
	for (int i = 0; i < 10000; i++) {
		map[0] = 'x';
		madvise(map, 4096, MADV_DONTNEED);
	}
	return pread(fd, &after, 1, 0) == 1 && after == 0x7f
		       ? 0
		       : wrong("a read-only file was written");
}

static const struct attempt attempts[] = {
	{ "waitid-to-kernel", waitid_to_kernel },
	{ "write-through-pipe", write_through_pipe },
	{ "write-private", write_private },
	{ NULL },
};

const struct family family_kernel = {
	"kernel",
	.calls = calls,
	.attempts = attempts,
};

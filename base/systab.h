/* System calls as rows: one row feeds the filters, the decoder and the names in the trace.
 * Numbers come from libseccomp for the native architecture. */
#ifndef BASE_SYSTAB_H
#define BASE_SYSTAB_H

#include <stdint.h>

/* What the supervisor does with a call; one handler each. */
enum sys_op {
	OP_NONE = 0,
	OP_OPEN,     /* open, openat, openat2, creat */
	OP_EXEC,     /* execve, execveat */
	OP_RENAME,   /* rename family: path -> path2 */
	OP_LINK,     /* link, linkat: path -> path2 */
	OP_SYMLINK,  /* symlink family: text path, new name path2 */
	OP_UNLINK,   /* unlink, unlinkat, rmdir */
	OP_TRUNCATE, /* truncate by path */
	OP_MKDIR,
	OP_CHMOD,
	OP_CONNECT,
	OP_BIND,
	OP_KILL,
	OP_READ,  /* read, pread, readv, preadv */
	OP_WRITE, /* write, pwrite, writev, pwritev, ftruncate, fallocate */
	OP_MMAP,
	OP_COPY,  /* copy_file_range, sendfile, splice: fd -> fd2 */
	OP_CLOSE, /* close, close_range, dup2, dup3: an fd may go away */
	OP_DUP,   /* dup, fcntl: an fd may appear */
	OP_SENDMSG,
	OP_RECVMSG,
	OP_CHDIR,   /* the working directory changes */
	OP_IOCTL,   /* FICLONE: contents change hands without read or write */
	OP_UNSHARE, /* CLONE_FILES: a shared descriptor table becomes an own one */
	OP_MUNMAP,  /* a writable mapping may go away */
	OP_MISC,    /* of interest at level full only: name, arguments, result */
	OP_MAX
};

/* Class bits of a row. */
#define SYS_FILES (1u << 0) /* stopped at trace level files and above */
#define SYS_FULL  (1u << 1) /* stopped at trace level full */
#define SYS_ZOOM  (1u << 2) /* looked at while a region's file is held */
#define SYS_DENY  (1u << 3) /* refused by filter A with EPERM by default */
#define SYS_NOSYS (1u << 4) /* refused by filter A with ENOSYS: libc and runtimes fall back */
#define SYS_ARGS  (1u << 5) /* filter A has argument rules for it (sandbox/filter.c) */

struct sysrow {
	const char *name;
	enum sys_op op;
	unsigned cls;
	/* Argument positions, -1 when absent. */
	int8_t dirfd, path, flags, dirfd2, path2;
};

#define SYSTAB_MAX 512

/* Rows by number of the native architecture; filled once, then read only. */
struct systab {
	const struct sysrow *by_nr[SYSTAB_MAX]; /* borrowed from the static rows; NULL = no row */
};

/* Fill @tab. Rows whose name this libseccomp does not know are left out. */
void systab_init(struct systab *tab);

/* All rows; *ret_n is their number. Borrowed, static. */
const struct sysrow *systab_rows(unsigned *ret_n);

/* Row of call number @nr, NULL when there is none. */
const struct sysrow *systab_get(const struct systab *tab, uint64_t nr);

/* Name of any call number of the native architecture into @out: "openat", or "sys_451" when it has
 * none. Returns @out. */
const char *systab_name(uint64_t nr, char out[32]);

#endif

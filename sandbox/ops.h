/* The file system of a box as a list: the parent writes down every mount, directory and file,
 * then the child carries the list out between clone(2) and exec without allocating anything.
 * Destinations are resolved inside the new root only (openat2 RESOLVE_IN_ROOT): a root file system
 * whose /dev is a symlink to the host cannot aim a mount at the host. */
#ifndef SANDBOX_OPS_H
#define SANDBOX_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

#define OPS_SKELETON "skel" /* stage directory, see ops_split() */

/* A tree or file of the host that appears in the box. */
struct ops_source {
	const char *path; /* host path, owned by the list; opened by the child when fd is -1 */
	int fd;           /* detached mount that the parent made as root, owned; -1 = none */
	bool recursive;   /* take submounts along */
	bool optional;    /* missing: operations that use it are passed over */
	bool file;        /* not a directory */
	uint64_t attr;    /* MOUNT_ATTR_* to set (mount_setattr(2)) */
};

enum ops_kind {
	OPS_LAYER,   /* source -> stage directory dst: a layer of an overlay */
	OPS_OVERLAY, /* text = options, separated by newlines; dst NULL = the new root */
	OPS_BIND,    /* source -> dst, which must exist */
	OPS_SELF,    /* dst bound on itself with attr */
	OPS_FS,      /* new file system of type extra with options text -> dst */
	OPS_DIR,     /* make dst and its parents */
	OPS_SYMLINK, /* dst -> text */
	OPS_FILE,    /* dst with contents text */
	OPS_COPY,    /* dst with the contents of host file text */
	OPS_HIDE,    /* cover dst: an empty file or directory; missing is fine */
	OPS_MAX
};

struct ops_row {
	enum ops_kind kind;
	bool optional; /* failure is passed over */
	bool early;    /* set by ops_split() */
	bool real;     /* OPS_DIR: a link or file that stands at dst is replaced */
	int source;    /* index, -1 = none */
	mode_t mode;
	uint64_t attr;     /* MOUNT_ATTR_* of the new mount */
	const char *dst;   /* path in the box, owned by the list */
	const char *text;  /* see enum ops_kind; owned */
	const char *extra; /* file system type; owned */
};

/* {0} is empty. */
struct ops {
	struct ops_row *row; /* owned */
	size_t n, cap;
	struct ops_source *source; /* owned */
	size_t n_source, cap_source;
	struct strv strings; /* storage for every string above */
	int *held;           /* owned descriptors that options name as /proc/self/fd/N */
	size_t n_held, cap_held;
};

/* Forget everything; descriptors of sources are closed. */
void ops_done(struct ops *o);

/* Announce host tree @path. Copies the string. Returns its index. */
int ops_source(struct ops *o, const char *path, bool recursive, bool optional, uint64_t attr);

/* As ops_source() for a detached mount @fd_take (now owned by the list) of @path. */
int ops_source_fd(struct ops *o, const char *path, int fd_take, uint64_t attr);

/* Keep @fd_take open until ops_done(): options name it. */
void ops_hold(struct ops *o, int fd_take);

/* Append one operation; strings are copied. Returns the row for further fields (valid until the
 * next call). */
struct ops_row *ops_add(struct ops *o, enum ops_kind kind, const char *dst, const char *text);

/* Append: directory @dst with its parents. */
void ops_dir(struct ops *o, const char *dst, mode_t mode);

/* Append: make @dst (a directory, or an empty file when the source is one) and bind @source there.
 * */
void ops_bind(struct ops *o, int source, const char *dst, bool is_file);

/* Append: directory @dst and a new file system there. @options: "key=value" lines or NULL. */
struct ops_row *ops_fs(struct ops *o, const char *type, const char *options, const char *dst,
		       uint64_t attr);

/* Mark the rows that make files and directories which no mount of the list lies over: they are
 * carried out first, in memory, and become stage directory OPS_SKELETON, the lower layer of the new
 * root. Called once, when the list is complete. */
void ops_split(struct ops *o);

/* Name of a kind for error texts ("bind", ...). Never NULL. */
const char *ops_name(enum ops_kind kind);

/* The child's state while it carries the list out. */
struct ops_run {
	int stage;        /* tmpfs outside the new root where layers hang; -1 before */
	int root;         /* O_PATH of the new root; -1 before */
	size_t at;        /* row being carried out, for the error record */
	int at_source;    /* source being opened, -1 = none */
	char detail[160]; /* what the kernel said (fscontext log), "" when nothing */
};

/* Carry @o out in the calling process, which has its own mount namespace and CAP_SYS_ADMIN over it,
 * then pivot into the new root and drop the old one. Async-signal-safe: no allocation, no stdio.
 * 0, or -1 with errno and run->at. */
int ops_run(struct ops *o, struct ops_run *run);

#endif

/* Who touched which file of the workspace, how and where: what the supervisor hands to the
 * engine. Plain data; no ptrace, no box. */
#ifndef TRIGGERS_ACCESS_H
#define TRIGGERS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum access_kind {
	ACCESS_OPEN, /* a descriptor for the file exists now; nothing was read */
	ACCESS_READ, /* bytes [off, off + len) are about to be (at-touch) or were read */
	ACCESS_EDIT, /* the contents changed: detected at close, rename, unlink, truncate */
};

struct access {
	enum access_kind kind;
	const char *path;     /* workspace-relative, as the region names it; borrowed */
	uint64_t off, len;    /* ACCESS_READ: bytes; len 0 with off 0 = the whole file */
	uint64_t first, last; /* lines of a read (by the engine's image) or of an edit (given by the
			       * engine after comparing images); 0 = none or unknown */
	pid_t pid;
	uint32_t cmd;        /* command id, 0 = the agent's own process */
	char *const *argv;   /* argv of the process, NULL-terminated, borrowed; NULL = unknown */
	const char *exe;     /* base name of its executable, borrowed; NULL = unknown */
	unsigned files_seen; /* distinct workspace files this process has opened so far */
	bool write_only; /* ACCESS_OPEN: without the right to read, so not a read at level open */
};

#endif

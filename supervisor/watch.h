/* Which files are followed, because they hold regions or because all are: by inode for the truth, by last
 * path component for the hint that decides whether an open is worth a second stop. */
#ifndef SUPERVISOR_WATCH_H
#define SUPERVISOR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "triggers/engine.h"

struct watch_file {
	const char *path; /* workspace-relative; borrowed from the engine */
	uint64_t dev, ino;
	uint64_t real_dev, real_ino; /* in the overlay's upper directory; 0 = unknown */
	bool there;                  /* it exists, perhaps only behind descriptors */
	bool named;                  /* its path leads to it */
};

/* Life: watch_init() -> watch_sync() whenever the engine follows more -> watch_done(). */
struct watch {
	int ws_fd;               /* borrowed */
	int upper_fd;            /* owned: the overlay's upper directory, -1 when there is none */
	const char *workdir;     /* borrowed: the workspace as the box names it */
	struct watch_file *file; /* owned; same order as the engine's files */
	size_t n, cap;
	size_t n_first; /* files that hold regions or that interventions edit: known from the start */
	bool everything;   /* profile: watch workspace; follow.h finds the others */
	struct map by_ino; /* hash of an identity -> index + 1 */
	struct map names;  /* hash of a last component that may lead to a region's file */
	bool all;          /* every open is a candidate (hard links from before, too many names) */
};

/* Is anything followed? */
static inline bool watch_on(const struct watch *w)
{
	return w->n || w->everything;
}

/* Is @file one that is followed only because all are? */
static inline bool watch_bare(const struct watch *w, int file)
{
	return (size_t)file >= w->n_first;
}

/* Take the engine's files: force their copy-up (so that a descriptor opened early and our later
 * write are the same inode on every kernel), remember identities, and collect the names of
 * symbolic links that are in the workspace already. @upper is the overlay's upper directory, NULL
 * when there is none. 0 or negative. */
int watch_init(struct watch *w, const struct engine *e, int ws_fd, const char *upper,
	       const char *workdir, struct err *err);

/* Take in the files that the engine follows since. */
void watch_sync(struct watch *w, const struct engine *e);

/* Free. */
void watch_done(struct watch *w);

/* May @path (as the tracee wrote it) lead to a region's file? Symbolic and hard links count because
 * every name made during the run goes through watch_name(); /proc/.../fd/N and /dev/fd always
 * count. False when nothing is followed. */
bool watch_hint(const struct watch *w, const char *path, size_t n);

/* A name that appeared by link, symlink or rename: from now on a candidate. */
void watch_name(struct watch *w, const char *path);

/* Index of the region file with this identity, -1 when it is none. */
int watch_find(const struct watch *w, uint64_t dev, uint64_t ino);

/* Identity of what @fd of task @tid is, from /proc (not from names). Overlayfs gives a hard link made
 * after copy-up an inode number of its own; the file below is the same, and that is compared then.
 * Index or -1. */
int watch_fd(const struct watch *w, pid_t tid, int fd);

/* Look file @i up by path again: it may be another inode now, or gone. */
void watch_identify(struct watch *w, int i);

/* File @i is known to be this inode: a descriptor was just opened by its name. */
void watch_identity(struct watch *w, int i, uint64_t dev, uint64_t ino);

/* Look the followed files up by path again: after a rename or a new file they may be another inode.
 * Bit i of *ret_changed (up to 64 files) is set when file i is another inode now or came or went. */
void watch_refresh(struct watch *w, uint64_t *ret_changed);

#endif

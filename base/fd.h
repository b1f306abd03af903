/* Descriptors and whole files. Every descriptor made here is close-on-exec. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Open @path below directory @dirfd and nowhere else: openat2(2) with RESOLVE_BENEATH,
 * RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS (Linux 5.6), so that no link made by the agent
 * can aim us at another file. Returns the descriptor (caller closes) or -1 with errno. */
int fd_open_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Read @fd to its end into @b. 0, or -1 with errno (EFBIG when b->max was reached). */
int fd_read_all(int fd, struct buf *b);

/* Write all @n bytes, going on after short writes and EINTR. 0, or -1 with errno. */
int fd_write_all(int fd, const void *p, size_t n);

/* Read the whole file @path into @b ("-" is standard input). 0 or negative with @err set:
 * ERR_INPUT when it cannot be opened or is larger than b->max. */
int fd_read_file(const char *path, struct buf *b, struct err *err);

/* Replace @path by @n bytes atomically: temporary file in the same directory, fsync, rename.
 * A reader sees the old or the new bytes, never a mixture, also after a kill. Devices and pipes (/dev/null,
 * /dev/stdout) are written instead. 0 or negative. */
int fd_replace_file(const char *path, const void *p, size_t n, struct err *err);

/* Make @path and all missing parents. 0 or negative with @err. */
int fd_mkdirs(const char *path, mode_t mode, struct err *err);

/* Remove @name below directory @at with everything in it, following no link; unreadable directories
 * are opened up first. A missing name is success. 0 or -1 with errno of the first failure
 * (the rest is removed all the same). */
int fd_remove_tree(int at, const char *name);

/* Bytes that @name below directory @at occupies (st_blocks, hard links counted once per name), walking
 * at most @max_entries entries. */
uint64_t fd_tree_bytes(int at, const char *name, uint64_t max_entries);

/* Send @n bytes and (when @fd >= 0) one descriptor over UNIX socket @sock. 0 or -1 errno. */
int fd_send(int sock, const void *p, size_t n, int fd);

/* Receive up to @n bytes and perhaps one descriptor (*ret_fd, -1 when none; caller closes).
 * Returns the byte count, 0 at end of file, -1 with errno. */
ssize_t fd_recv(int sock, void *p, size_t n, int *ret_fd);

/* Close every descriptor >= @from (close_range(2), Linux 5.9). */
void fd_close_from(unsigned from);

#endif

/* The store of contents: shared by snapshot*.c only. */
#ifndef SANDBOX_SNAPSHOT_INTERNAL_H
#define SANDBOX_SNAPSHOT_INTERNAL_H

#include <stdint.h>

#include "sandbox/snapshot.h"

/* Put the contents of file @fd under e->sha256 and e->size into directory @store, unless they are there. Shared
 * with the original where the file system can (ioctl_ficlone(2)), else copied. *ret: bytes that were new. 0; 1
 * when they are more than @left; -1 with errno. */
int snapshot_store(int store, int fd, const struct snapshot_entry *e, uint64_t left, uint64_t *ret);

/* Open the contents kept under @sha256 in @store. Descriptor, or -1 with errno. */
int snapshot_fetch(int store, const char *sha256);

/* Copy @n bytes from @from to @to. 0, or -1 with errno (ENODATA: fewer came). */
int snapshot_copy(int from, int to, uint64_t n);

#endif

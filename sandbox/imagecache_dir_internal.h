/* The directory of the image cache and its lock. */
#ifndef SANDBOX_IMAGECACHE_DIR_INTERNAL_H
#define SANDBOX_IMAGECACHE_DIR_INTERNAL_H

#include <stdbool.h>

#include "base/err.h"

struct imagecache_dir {
	char *path; /* owned, without links */
	int fd;     /* owned; -1 = there is none */
};

/* Open the directory that imagecache_path() names, made with @make (mode 0700). It must be ours and
 * closed to others' writing. Without @make ret->fd is -1 when there is none. 0 or negative. */
int imagecache_dir_open(bool make, struct imagecache_dir *ret, struct err *err);

/* Close and free. */
void imagecache_dir_close(struct imagecache_dir *c);

/* Wait for the lock of those who change the cache; it is held while *ret is open. 0 or negative. */
int imagecache_dir_lock(const struct imagecache_dir *c, int *ret, struct err *err);

/* With the lock: an empty directory work/, opened. 0 or negative. */
int imagecache_dir_work(const struct imagecache_dir *c, int *ret, struct err *err);

#endif

/* Unpacked container images, for boxes to stand on. One cache directory holds
 *
 *   layers/DIFF_ID/    one layer unpacked, its white-outs still in it as files ".wh.NAME"
 *   images/ID/rootfs/  a whole root file system; its files are hard links into layers/
 *   images/ID/config.json, images/ID/use (locked while a box uses it)
 *   work/              what is being made; whatever is there without the lock is a leftover
 *   lock               held by the one process that unpacks
 *
 * What stands in layers/ and images/ is complete: it was made in work/, checked against its digest,
 * written to the disk and renamed. Files belong to us; their modes lose set-uid bits and gain what
 * root could do in the image; devices, pipes and extended attributes are left out. No link of an
 * image is followed outside of it (openat2(2) with RESOLVE_IN_ROOT, Linux 5.6). */
#ifndef SANDBOX_IMAGECACHE_H
#define SANDBOX_IMAGECACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/image.h"

#define IMAGECACHE_BYTES_MAX   (20ull << 30) /* of one image, unpacked */
#define IMAGECACHE_ENTRIES_MAX 4000000u      /* of one image: files, directories, links */
#define IMAGECACHE_DEPTH_MAX   200u          /* levels of directories */

/* Bounds of what is unpacked. */
struct imagecache_max {
	uint64_t bytes, entries;
};

/* A root file system in use. */
struct imagecache_root {
	char *rootfs; /* owned: "host" or "dir:PATH", for box_spec */
	int use_fd;   /* owned: while it is open the image is not removed; -1 = no image */
};

/* Directory of the cache: $PROCTOR_IMAGES, else $XDG_CACHE_HOME/proctor/images, else
 * ~/.cache/proctor/images. Caller frees. */
char *imagecache_path(void);

/* Unpack image @im unless it is there, waiting for another process that does so, and lock it for
 * use. @im NULL: @rootfs ("host" or "dir:PATH") is taken as it is. @max NULL: the bounds above. 0 or
 * negative: ERR_INPUT for an image that is broken, hostile or too large. Free with
 * imagecache_done(). */
int imagecache_root(const char *rootfs, const struct image *im, const struct imagecache_max *max,
		    struct imagecache_root *ret, struct err *err);

/* Unlock and free. */
void imagecache_done(struct imagecache_root *r);

/* One image of the cache. */
struct imagecache_entry {
	const char *id;
	uint64_t bytes; /* of its files, shared ones too */
	int64_t used;   /* seconds since 1970 */
	bool busy;      /* a box uses it */
};

/* Call @each for the images of the cache. No cache: nothing is called. 0 or negative. */
int imagecache_list(void (*each)(void *arg, const struct imagecache_entry *e), void *arg,
		    struct err *err);

/* Remove images that nobody has used for @age seconds and no box uses, and layers without an image.
 * @each is told of each removed one (bytes is 0). 0 or negative. */
int imagecache_prune(uint64_t age, void (*each)(void *arg, const struct imagecache_entry *e),
		     void *arg, struct err *err);

#endif

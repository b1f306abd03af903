/* Parts of the image cache. */
#ifndef SANDBOX_IMAGECACHE_INTERNAL_H
#define SANDBOX_IMAGECACHE_INTERNAL_H

#include "sandbox/imagecache.h"

#define IMAGECACHE_HIDDEN ".wh."         /* OCI image specification: a white-out */
#define IMAGECACHE_OPAQUE ".wh..wh..opq" /* hides all of its directory */
#define IMAGECACHE_LINK                                                                            \
	".wh..wh.link." /* ours: a hard link to a file of a lower layer; holds its name */

/* Unpack the tar stream @s, compressed or not, into the empty directory @to and hold it against
 * @layer's digests. What it takes is taken off @left. 0 or negative. */
int imagecache_unpack(const char *image, const struct image_layer *layer, struct image_stream *s,
		      int to, struct imagecache_max *left, struct err *err);

/* Lay the unpacked layer @from over the tree @to with hard links. Entries are taken off @left. 0 or
 * negative. */
int imagecache_lay(const char *image, int from, int to, struct imagecache_max *left,
		   struct err *err);

/* Open @path in the tree @root as if that were /: no link leads out. O_PATH. -1 with errno. */
int imagecache_open_in(int root, const char *path, int flags);

#endif

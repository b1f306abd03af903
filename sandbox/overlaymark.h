/* Marks of overlayfs in an upper layer (Documentation/filesystems/overlayfs.rst, "Whiteouts and opaque
 * directories"). With userxattr they are of the user namespace of attributes, without it of the trusted one. */
#ifndef SANDBOX_OVERLAYMARK_H
#define SANDBOX_OVERLAYMARK_H

#include <stdbool.h>
#include <sys/stat.h>

/* Is directory @fd opaque: does it hide what lower layers have there? */
bool overlaymark_opaque(int fd);

/* Does @name of directory @dir, with @st as lstat(2) gave it, say that the file of lower layers is gone? A character
 * device 0:0, or since Linux 6.7 an empty file with a mark. */
bool overlaymark_whiteout(int dir, const char *name, const struct stat *st);

#endif

/* Paths as text. Nothing here looks at the file system. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* @dir joined with @name by one slash; an absolute @name wins. Caller frees. */
char *path_join(const char *dir, const char *name);

/* Lexically normal form: no "//", ".", or "..": ".." at the root of an absolute path vanishes,
 * in front of a relative one it stays. "" becomes ".". Caller frees. */
char *path_normal(const char *path);

/* Is normalised @path equal to or below normalised @dir? */
bool path_beneath(const char *path, const char *dir);

/* Is @path a plain relative file name: not empty, not absolute, no "..", ".", "//" component and
 * no ".git" component in any case? The form a region, a patch or an archive member must have. */
bool path_is_tame(const char *path);

/* Last component of @path. Borrowed. */
const char *path_base(const char *path);

/* All but the last component ("." when there is one only). Caller frees. */
char *path_dir(const char *path);

#endif

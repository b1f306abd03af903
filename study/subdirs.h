/* Looking through a tree of directories that runs and pairs lie in. */
#ifndef STUDY_SUBDIRS_H
#define STUDY_SUBDIRS_H

#include "base/err.h"
#include "base/str.h"

/* Append the directories directly below @dir to @ret, sorted: the order of rows must not depend on the file
 * system. Links are not followed, so that nothing is counted twice, and hidden ones are left out. 0, -ERR_INPUT, or
 * -ERR_LIMIT for more than a million entries. */
int subdirs_list(const char *dir, struct strv *ret, struct err *err);

#endif

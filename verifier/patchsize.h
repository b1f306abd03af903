/* How large a diff is, as SWE-Touch counts (Table 2): changed lines and files. */
#ifndef VERIFIER_PATCHSIZE_H
#define VERIFIER_PATCHSIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Add the size of @n bytes of unified diff: added and removed lines to *lines, the path of each file to
 * @paths unless it is there already. 0 or -ERR_INPUT with the line. */
int patchsize_add(const char *text, size_t n, uint64_t *lines, struct strv *paths, struct err *err);

#endif

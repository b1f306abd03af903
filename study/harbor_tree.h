/* Directories of foreign tasks copied as they are. */
#ifndef STUDY_HARBOR_TREE_H
#define STUDY_HARBOR_TREE_H

#include <stdbool.h>

#include "base/err.h"

/* Copy file, link or directory @from with everything below it to @to, which must not be there (a directory may be,
 * when @from is one: then it is added to, and files of one name are replaced). Permission bits and links stay as they
 * are; times do not. Refused: links that lead out of @from, devices, sockets and pipes, more than
 * TASK_FILES_ENTRIES_MAX entries or TASK_FILES_BYTES_MAX bytes (profiles/task_files.h). 0 or -ERR_INPUT that names
 * the place in @from, or -ERR_SYS. */
int harbor_tree_copy(const char *from, const char *to, struct err *err);

/* Check file @sums ("<64 hex digits>  <path>" lines, as sha256sum(1) writes them) against directory @dir. 0, or
 * -ERR_INPUT that names the first file which differs, is missing, or lies outside. */
int harbor_tree_sums(const char *dir, const char *sums, struct err *err);

#endif

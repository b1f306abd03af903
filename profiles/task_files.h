/* The files of a task that are put in only for grading. */
#ifndef PROFILES_TASK_FILES_H
#define PROFILES_TASK_FILES_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/err.h"

#define TASK_FILES_ENTRIES_MAX 200000u      /* files and directories of one row */
#define TASK_FILES_BYTES_MAX   (4ull << 30) /* their bytes */
#define TASK_FILES_DEPTH_MAX   100u

/* SHA-256 over names, kinds, executable bits and contents of file or directory @path with everything below it, in
 * the order of the names; links count as their targets' names and are not followed. Bounded by the maxima above. 0,
 * or -ERR_INPUT that names the file which cannot be read. */
int task_files_digest(const char *path, char out[DIGEST_HEX], struct err *err);

#endif

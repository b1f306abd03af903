/* Programs that open many files without anybody looking at them: searches over trees, version
 * control housekeeping, test runners, compilers, indexers. Their reads are recorded but do not
 * count as touches unless a scenario says so. */
#ifndef TRIGGERS_SCAN_H
#define TRIGGERS_SCAN_H

#include "triggers/access.h"

/* A process that has opened more distinct workspace files than this is a scan, whatever it is;
 * likewise a tool given more file operands. */
#define SCAN_FILES_MAX 16u

/* Why the process of @a is a scan, NULL when it is not: "program: KIND" by its command line, or
 * "files" by their number. Static. */
const char *scan_reason(const struct access *a);

/* The same by command line only. @argv is NULL-terminated or NULL, @exe a base name or NULL. */
const char *scan_program(char *const *argv, const char *exe);

#endif

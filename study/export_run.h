/* What the formats for trajectories and trials share: texts that are valid UTF-8, times, facts of a run. */
#ifndef STUDY_EXPORT_RUN_H
#define STUDY_EXPORT_RUN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "verifier/rundir.h"

/* Add string @s to object @o under @key, bytes that are not UTF-8 as U+FFFD; NULL becomes null. */
void export_run_text(cJSON *o, const char *key, const char *s);

/* "2026-01-03T10:00:00.123Z" for @ns since 1970 into @out. Returns @out. */
char *export_run_time(uint64_t ns, char out[40]);

/* The reverse, for times of that form in our files; 0 when @s is none. */
uint64_t export_run_parse_time(const char *s);

/* Print @root (freed) into @out, one line when !pretty. */
void export_run_print(cJSON *root, bool pretty, struct buf *out);

/* A version 8 UUID (RFC 9562) made of SHA-256 of @seed into @out: the same inputs give the same. Returns @out. */
char *export_run_uuid(const char *seed, char out[37]);

/* The run's trajectory as ATIF-v1.7 (a new tree, the caller's). @patch: final diff or NULL. *ret NULL when the run has
 * neither model calls nor commands. 0 or negative. */
int export_atif_tree(const struct rundir *rd, const char *patch, cJSON **ret, struct err *err);

#endif

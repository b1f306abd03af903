/* Rows of the SWE-bench family as tasks, and back: SWE-bench (also Verified, Multilingual, SWE-Gym, SWE-rebench,
 * SWE-smith, SWE-bench Pro V1, version 5 with its task directories) and Multi-SWE-bench. A row becomes
 * INSTANCE.task.json; what a task has no field for stands beside it in INSTANCE.extra.json, as it was, and
 * both together give the row back. Rows are hostile. */
#ifndef STUDY_IMPORT_ROWS_H
#define STUDY_IMPORT_ROWS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define ROWS_MAX      200000u     /* of all files together */
#define ROWS_FILE_MAX (1u << 30)  /* bytes of one file, and of all together */
#define ROWS_TASK_MAX (64u << 20) /* bytes of one task file */

struct rows_options {
	const char *out;     /* directory, made when it is not there */
	const char *sources; /* where repositories are looked for, or NULL */
	const char *spec; /* a user's test-spec file, looked at before the shipped one, or NULL */
	const char *scripts; /* SWE-bench Pro's run_scripts directory, or NULL */
	const char *rootfs;  /* NULL = host; {instance_id} and {image} are put in */
	const char *match;   /* "exact", "swebench-compat"; NULL = what the row's lists need */
	const char *only;    /* glob of instance ids, or NULL */
};

struct rows_result {
	struct strv ids;       /* tasks written */
	struct strv reasons;   /* "INSTANCE: why it cannot be graded as it is" */
	size_t rows, left_out; /* read; not --only */
	size_t not_gradable;   /* tasks with at least one reason */
	const char *source;    /* static: "swe-bench", "multi-swe-bench" */
};

/* Import @files (JSON list, JSON map by instance_id, JSON Lines; for SWE-bench also directories of version 5: one
 * with tasks/, or a task's own). Everything is read and checked before anything is written: a bad row is
 * -ERR_INPUT with file and line. 0 with *ret filled; import.json is written too. Free with rows_done(). */
int import_swebench(const struct strv *files, const struct rows_options *o, struct rows_result *ret,
		    struct err *err);

/* The same for rows of Multi-SWE-bench ("org", "repo", "number", ...). */
int import_multi(const struct strv *files, const struct rows_options *o, struct rows_result *ret,
		 struct err *err);

/* Free; {0} is fine. */
void rows_done(struct rows_result *r);

/* import.json text ("proctor.import/1"). */
void rows_json(const struct rows_result *r, struct buf *out);

#endif

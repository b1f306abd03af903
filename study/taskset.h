/* Many tasks by name: the tasks that a file or a directory holds, for looking up an instance. */
#ifndef STUDY_TASKSET_H
#define STUDY_TASKSET_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define TASKSET_MAX 100000u /* tasks of one set */

/* Names and where they stand, at the same index. */
struct taskset {
	struct strv id;   /* instance_id */
	struct strv path; /* task file */
};

/* Gather the tasks of @path: a task file, or a directory with NAME/task.json, NAME.task.json or task.json in
 * it. Only the names are read here; a task is checked when it is loaded. 0 or -ERR_INPUT. Free with
 * taskset_done(). */
int taskset_load(const char *path, struct taskset *ret, struct err *err);

/* Free; {0} is fine. */
void taskset_done(struct taskset *ts);

/* Index of the task that @instance names: exactly, or without a prefix that releases put in front
 * ("swebenchpro_", "deepswe_"). *ret is the index; 1 found, 0 not, -ERR_INPUT when more than one fits. */
int taskset_find(const struct taskset *ts, const char *instance, size_t *ret, struct err *err);

#endif

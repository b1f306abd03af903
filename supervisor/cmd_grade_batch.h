/* `grade --predictions`: many patches, with a line or a bar that shows where it stands. */
#ifndef SUPERVISOR_CMD_GRADE_BATCH_H
#define SUPERVISOR_CMD_GRADE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* "auto", "always", "never": rows of --progress, ended by NULL. */
extern const char *const cmd_grade_progress[];

struct cmd_grade_batch_opts {
	const char *predictions; /* file, "-" = standard input */
	const char *tasks;       /* file or directory */
	const char *profile;     /* name or file, NULL = verify */
	const char *out;         /* directory */
	const struct strv *only; /* globs of instance ids; empty = all */
	uint64_t jobs;           /* 0 = one for each CPU that is ours */
	uint64_t infra_repeats;
	int progress; /* index into cmd_grade_progress; auto: when standard error is a terminal */
	bool json, quiet, no_cgroup;
};

/* Grade and print. 0 when every prediction is resolved or unresolved, 1 when some ended invalid or
 * infra, negative on error. */
int cmd_grade_batch(const struct cmd_grade_batch_opts *g, struct err *err);

#endif

/* `grade --predictions`: many patches, with a line or a bar that shows where it stands. */
#ifndef SUPERVISOR_GRADEBATCH_H
#define SUPERVISOR_GRADEBATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* "auto", "always", "never": rows of --progress, ended by NULL. */
extern const char *const gradebatch_progress[];

struct gradebatch {
	const char *predictions; /* file, "-" = standard input */
	const char *tasks;       /* file or directory */
	const char *profile;     /* name or file, NULL = verify */
	const char *out;         /* directory */
	const struct strv *only; /* globs of instance ids; empty = all */
	uint64_t jobs;           /* 0 = one for each CPU that is ours */
	uint64_t infra_repeats;
	int progress; /* index into gradebatch_progress; auto: when standard error is a terminal */
	bool json, quiet, no_cgroup;
};

/* Grade and print. 0 when every prediction is resolved or unresolved, 1 when some ended invalid or
 * infra, negative on error. */
int gradebatch_run(const struct gradebatch *g, struct err *err);

#endif

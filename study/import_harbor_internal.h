/* A Harbor directory on its way into a task. Between import_harbor.c (order, files), import_harbor_source.c (work
 * tree, root file system, reference) and import_harbor_text.c (the task's text). */
#ifndef STUDY_IMPORT_HARBOR_INTERNAL_H
#define STUDY_IMPORT_HARBOR_INTERNAL_H

#include "base/json.h"
#include "study/dockerfile.h"
#include "study/import_harbor.h"

struct harbor {
	const struct harbor_options *o;
	const char *dir;    /* borrowed: the foreign directory */
	struct strv *notes; /* borrowed: result's */
	struct harbor_toml toml;
	struct dockerfile docker; /* {0} without one */
	char *id;                 /* owned: instance */
	char *statement;          /* owned: instruction.md */
	char *copy;               /* owned: OUT/ID.harbor */
	char *workdir, *rootfs;
	char *source; /* owned: path as the task has it: absolute, or relative to OUT */
	char *built;  /* owned: OUT/ID.source when it was made here, NULL otherwise */
	char *commit; /* owned: base commit, NULL = none known */
	char *patch;  /* owned: reference diff, NULL = none */
};

/* A line for people about @h's task. */
void harbor_note(struct harbor *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set workdir, rootfs, commit, source (built when the Dockerfile copies it) and patch. 0 or negative. */
int harbor_source(struct harbor *h, struct err *err);

/* The task as text ("proctor.task/1"). 0, or -ERR_INPUT for what cannot be a task. */
int harbor_task_text(struct harbor *h, struct buf *out, struct err *err);

/* Is there a file or directory @name in @dir? */
bool harbor_has(const char *dir, const char *name);

#endif

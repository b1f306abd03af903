/* Files that steer how tests run rather than what they test: the tests themselves, the runner's
 * configuration, start-up files, plug-ins, what tools made, build scripts. A patch may hold them for
 * honest reasons, so nobody is failed for one: what the base had stays as it was, what is new is
 * left out, of mixed files only the runner's part is put back, and each such thing is reported.
 * Rules and reasons: docs/grading.md, "Tamper". Pure: no file is read or written here. */
#ifndef VERIFIER_PROTECT_H
#define VERIFIER_PROTECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define PROTECT_MERGE_MAX (4u << 20) /* bytes of a mixed file; a larger one counts as a whole */

/* What became of a change. */
enum protect_action {
	PROTECT_NONE,        /* nothing to say: the change counts */
	PROTECT_KEPT,        /* it counts and is reported */
	PROTECT_RESTORED,    /* the base's file stays */
	PROTECT_QUARANTINED, /* the new file is left out */
	PROTECT_MERGED,      /* the runner's part is the base's, the rest is the patch's */
};

/* "none", "kept", "restored", "quarantined", "merged". */
const char *protect_action_name(enum protect_action a);

/* Whose changes count. All borrowed; NULL = nothing of that kind. */
struct protect_rules {
	const char *command;       /* the test command: which build scripts it runs */
	const struct strv *globs;  /* the task's test.protect */
	const struct strv *allow;  /* the task's test.allow */
	const struct strv *honest; /* paths that the reference patch or the test patch touches */
	const struct strv *files;  /* files that listed tests stand in, see protect_test_files() */
};

/* One file of a patch. */
struct protect_file {
	const char *path;
	const char *before; /* NULL when the base had no such file */
	size_t before_len;
	uint32_t mode;     /* git mode after the patch, 0 = removed */
	const char *after; /* NULL when removed */
	size_t after_len;
	bool top_known; /* the base holds the first component of path */
};

struct protect_end {
	enum protect_action action;
	const char *kind; /* static; NULL with PROTECT_NONE */
	struct buf text;  /* owned: contents with PROTECT_MERGED */
};

/* Judge the change of @f. Fills *ret; release with protect_end_done(). */
void protect_judge(const struct protect_rules *r, const struct protect_file *f,
		   struct protect_end *ret);

/* Free. {0} is fine. */
void protect_end_done(struct protect_end *e);

/* Does one of @globs (str_path_glob(); NULL = none) fit @path? */
bool protect_glob(const struct strv *globs, const char *path);

/* Would a change of @path be undone whatever it holds? The kind (static), NULL when not. For directories that
 * a patch wants to replace by something else. */
const char *protect_held(const struct protect_rules *r, const char *path);

/* Add the files that test names of the form "FILE::..." or "FILE > ..." begin with to @files, each once and at
 * most PROTECT_FILES_MAX. Names without a plain relative path are passed over. */
#define PROTECT_FILES_MAX 10000u
void protect_test_files(const struct strv *names, struct strv *files);

#endif

/* Putting a unified diff into files: exact, with offset, with fuzz, by context search; all files or
 * none. Works on bytes that the caller reads and writes, so that the same ladder serves the live
 * workspace and git trees. */
#ifndef TRIGGERS_APPLY_H
#define TRIGGERS_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define APPLY_DIFF_MAX (16u << 20)

/* Steps of the ladder, worst one used wins; names "exact", "offset", "fuzz", "context". */
enum apply_method { APPLY_EXACT, APPLY_OFFSET, APPLY_FUZZ, APPLY_CONTEXT };

/* Name of a step as interventions.jsonl has it. */
const char *apply_method_name(enum apply_method m);

/* A parsed diff. */
struct patch;

/* Parse @n bytes of git or plain unified diff (libgit2's parser). Every path must be tame
 * (path_is_tame()); binary hunks are kept. 0 or -ERR_INPUT with the line. Free with
 * patch_free(). */
int patch_parse(const char *text, size_t n, struct patch **ret, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct patch *patch_free(struct patch *p);

/* Number of files, and the path of file @i (new name; the old one for a deletion). Borrowed. */
size_t patch_files(const struct patch *p);
const char *patch_path(const struct patch *p, size_t i); /* see patch_files() */

/* Added and removed lines over all files. */
void patch_counts(const struct patch *p, uint64_t *added, uint64_t *removed);

/* How the caller reads a file: 1 found (bytes in @out, git mode in *mode), 0 not there, negative
 * on error. */
struct apply_io {
	int (*read)(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err);
	void *arg;
};

/* New contents of one file. */
struct apply_file {
	char *path;
	bool existed;
	uint32_t old_mode, mode; /* mode 0 = the file is removed */
	char *before, *after;    /* owned; after NULL when removed */
	size_t before_len, after_len;
};

struct apply_result {
	enum apply_method method;
	struct apply_file *file; /* owned */
	size_t n;
	bool changed; /* false: everything is there already, nothing to write */
	char *reason; /* owned: why not, when apply_patch() said no */
};

/* Highest step the caller allows. */
struct apply_options {
	enum apply_method most;
	bool submodules; /* a change of a submodule becomes a file with the mode 0160000 and without
			  * contents; otherwise the diff does not apply */
};

/* Work out the new contents of every file of @p. 1 applied (result filled), 0 does not apply or is
 * ambiguous (result->reason set, nothing else), negative on error. Nothing is written. Free the
 * result with apply_result_done(). */
int apply_patch(const struct patch *p, const struct apply_io *io, const struct apply_options *opt,
		struct apply_result *ret, struct err *err);

/* Free what apply_patch() gave. {0} is fine. */
void apply_result_done(struct apply_result *r);

#endif

/* Patches put onto trees in object space: what belongs to the tests stays as it was, and what looks
 * like an attempt on the grading is named. Nothing is checked out here. */
#ifndef VERIFIER_REPLAY_H
#define VERIFIER_REPLAY_H

#include <git2/oid.h>

#include "base/err.h"
#include "base/str.h"
#include "triggers/apply.h"

struct gitstore;
struct protect_rules;

/* Whose files a patch may not change. All borrowed; NULL = nothing of that kind. */
struct replay_rules {
	const struct strv *hidden;           /* globs of paths that the tests own */
	const struct strv *owned;            /* the paths of the test patch, see replay_paths() */
	const char *report;                  /* the file that the test runner writes */
	const struct protect_rules *protect; /* what else steers the tests (verifier/protect.h) */
	bool own_tree; /* the agent's own tree: only what the three above name is left out, and nothing
			* is reported as tampering */
};

struct replay_result {
	enum apply_method method;
	char *reason;        /* owned: why the patch does not apply */
	struct strv dropped; /* paths whose changes were left out */
	struct strv tamper;  /* replay_tamper() rows; also for changes that were kept */
};

/* Add a row of what looks like an attempt on the grading: "KIND:ACTION PATH". Rows of one word before the
 * blank ("KIND DETAIL") are what was only seen. */
void replay_tamper(struct strv *rows, const char *kind, const char *action, const char *path);

/* Does @path belong to the tests: itself or a directory above it by @rules? */
bool replay_protected(const struct replay_rules *rules, const char *path);

/* New tree = @tree with @diff applied by steps up to @most, without what @rules and verifier/protect.h
 * leave out, without links out of the tree and without submodules. An empty @diff changes nothing. @rules
 * may be NULL: then everything counts that a tree may hold (verifier/admitpatch.h). 1 applied, 0 when it does not (ret->reason says why; also for a diff that
 * cannot be read), negative on error. Adds to *ret; free with replay_done(). */
int replay_patch(struct gitstore *st, const git_oid *tree, const char *diff, enum apply_method most,
		 const struct replay_rules *rules, git_oid *ret_tree, struct replay_result *ret,
		 struct err *err);

/* Add every path that @diff reads or writes on @tree (both names of a rename) to @paths. 1, 0 when it
 * does not apply exactly (*ret_reason, caller frees), negative on error. */
int replay_paths(struct gitstore *st, const git_oid *tree, const char *diff, struct strv *paths,
		 char **ret_reason, struct err *err);

/* New tree without file @path. 0 (also when it was not there) or negative. */
int replay_remove(struct gitstore *st, const git_oid *tree, const char *path, git_oid *ret_tree,
		  struct err *err);

/* Free. {0} is fine. */
void replay_done(struct replay_result *r);

#endif

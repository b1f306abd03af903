/* Git objects without a work tree: sources are brought into one bare repository, trees are made
 * from trees by applying patches, and trees are written out. All hostile paths are handled in
 * object space, where "..", absolute names, .git and symlinked parents cannot exist. */
#ifndef SANDBOX_GITSTORE_H
#define SANDBOX_GITSTORE_H

#include <git2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct gitpack;

#define GITSTORE_BLOB_MAX  (256ull << 20) /* a larger file is left out of trees and named */
#define GITSTORE_TEXT_MAX  (4u << 20)   /* a larger file is diffed as binary, see gitstore_diff() */
#define GITSTORE_TOTAL_MAX (4ull << 30) /* bytes of all files of a plain directory or archive */
#define GITSTORE_FILES_MAX 1000000u     /* number of them, and of members of an archive */
#define GITSTORE_DEPTH_MAX 256u         /* levels of directories, everywhere */

/* Evidence that the history given to the agent ends at the base commit. */
struct git_history {
	char head[41];            /* commit the agent's HEAD stands at */
	uint64_t commits;         /* reachable from it */
	uint64_t objects;         /* copied: exactly the reachable ones */
	uint64_t refs_dropped;    /* branches, tags, remotes, stashes of the source not passed on */
	uint64_t commits_dropped; /* commits of the source's refs not reachable from the base */
	bool made;                /* the source had no history; one commit was made */
};

struct gitstore {
	git_repository *repo; /* owned; bare, below the scratch directory */
	char *path;           /* owned */
};

/* Make an empty store in directory @path (created). libgit2 is initialised with all search
 * paths for configuration emptied, so that no file of the host or the agent configures us.
 * 0 or negative. */
int gitstore_open(const char *path, struct gitstore *ret, struct err *err);

/* Close it (files stay for the scratch's owner to remove). {0} is fine. */
void gitstore_close(struct gitstore *st);

/* Bring @source (git repository, bundle, plain directory, .tar/.tar.gz/.tgz/.tar.xz archive, also
 * one that holds a repository's .git) in and give the tree of @base_commit (NULL or "": HEAD of a
 * repository, or all files of a plain source). A repository's objects are not copied: the store
 * reads them where they are ("objects/info/alternates"), so the source must stay while the store
 * is in use. *ret_commit is the base commit (a new one with fixed author and date for a plain
 * source). @ret_history may be NULL; then the commits are not counted, which saves walking them. 0
 * or -ERR_INPUT saying what was expected. */
int gitstore_import(struct gitstore *st, const char *source, const char *base_commit,
		    git_oid *ret_commit, git_oid *ret_tree, struct git_history *ret_history,
		    struct err *err);

/* Write tree @tree out as files below @dir (created, must be empty): modes, symlinks, no filters,
 * no attributes; file times are @mtime seconds. 0 or negative. */
int gitstore_checkout(struct gitstore *st, const git_oid *tree, const char *dir, int64_t mtime,
		      struct err *err);

/* Make a .git in @dir holding exactly what is reachable from @commit, HEAD on branch "main" at it,
 * an index that matches the files (no "racy" entries), no remotes, hooks, reflogs or stashes.
 * Fills counts of @history. 0 or negative. */
int gitstore_make_repo(struct gitstore *st, const git_oid *commit, const char *dir,
		       struct git_history *history, struct err *err);

/* Contents of @path in @tree: *ret_mode 0100644, 0100755 or 0120000; bytes in @out. 1 found,
 * 0 not there, negative on error. */
int gitstore_read(struct gitstore *st, const git_oid *tree, const char *path, struct buf *out,
		  uint32_t *ret_mode, struct err *err);

/* One change of a tree. */
struct git_change {
	char *path;
	uint32_t mode; /* 0 = remove (a file or a whole directory) */
	void *data;
	size_t len;
};

/* New tree = @tree with @n changes. 0 or negative. */
int gitstore_update(struct gitstore *st, const git_oid *tree, const struct git_change *changes,
		    size_t n, git_oid *ret_tree, struct err *err);

/* New commit of @tree with the parent @parent (NULL: none), author and date fixed, so that the same
 * tree gives the same commit. 0 or negative. */
int gitstore_commit(struct gitstore *st, const git_oid *tree, const git_oid *parent,
		    git_oid *ret_commit, struct err *err);

/* Begin a pack in the store, for many objects at once; gitpack_add() and gittree_write() fill it.
 * 0 or negative. */
int gitstore_pack(struct gitstore *st, struct gitpack **ret, struct err *err);

/* Finish @*pack, free it and set it to NULL; its objects can be read from now on. 0 or negative. */
int gitstore_pack_end(struct gitstore *st, struct gitpack **pack, struct err *err);

/* What a diff holds. */
struct gitstore_diffstat {
	uint64_t files, added, removed; /* files; lines */
};

/* Git-format diff from tree @from to @to: binary-safe, full index, renames off, three lines of
 * context. Files above GITSTORE_TEXT_MAX become binary hunks, because finding the lines that
 * differ takes time that grows with the square of their number, and who wrote them may want that.
 * @from may be NULL (the empty tree). 0 or negative: ERR_LIMIT when out->max is passed. */
int gitstore_diff(struct gitstore *st, const git_oid *from, const git_oid *to, struct buf *out,
		  struct err *err);

/* gitstore_diff() that also counts. */
int gitstore_diff_stat(struct gitstore *st, const git_oid *from, const git_oid *to, struct buf *out,
		       struct gitstore_diffstat *ret, struct err *err);

/* "git: TEXT" of libgit2's last error with @code. Returns -code. */
int gitstore_error(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

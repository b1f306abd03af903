#include "sandbox/gitstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/gitstore_internal.h"
#include "sandbox/gitwalk.h"

void gitstore_source_ref(struct gitstore *st, struct gitstore_source *src, const char *name,
			 const git_oid *target)
{
	git_object *obj = NULL, *commit = NULL;

	src->n_refs++;
	if (git_object_lookup(&obj, st->repo, target, GIT_OBJECT_ANY) == 0 &&
	    git_object_peel(&commit, obj, GIT_OBJECT_COMMIT) == 0) {
		MEM_GROW(src->tip, src->cap_tips, src->n_tips + 1);
		MEM_GROW(src->is_branch, src->cap_branch, src->n_tips + 1);
		src->tip[src->n_tips] = *git_object_id(commit);
		src->is_branch[src->n_tips++] = str_starts(name, "refs/heads/");
	}
	git_object_free(commit);
	git_object_free(obj);
}

/* Walk the commits of all refs into @w. Only numbers for people come of it: a ref whose history is
 * damaged must not refuse a base commit whose own is whole. */
static void walk_tips(struct gitwalk *w, const struct gitstore_source *src)
{
	for (size_t i = 0; i < src->n_tips; i++)
		(void)gitwalk_from(w, &src->tip[i], NULL);
}

static int no_such_commit(const struct gitstore_source *src, struct gitwalk *w, const char *base,
			  struct err *err)
{
	walk_tips(w, src);
	return err_set(err, ERR_INPUT,
		       "commit %s is not in %s, which has %llu commits on %zu refs; correct "
		       "base_commit or fetch it there (git fetch origin %s)",
		       base, src->name, (unsigned long long)w->commits, src->n_refs, base);
}

/* Find the base commit. 0 or -ERR_INPUT. */
static int choose(struct gitstore *st, const struct gitstore_source *src, struct gitwalk *w,
		  const char *base, git_commit **ret, struct err *err)
{
	git_object *obj = NULL;
	git_oid id = src->head;
	int rc;

	if (!base && !src->has_head)
		return err_set(err, ERR_INPUT,
			       "%s has no commit at its HEAD; commit something there, or name a "
			       "base_commit",
			       src->name);
	if (base && git_oid_fromstr(&id, base) < 0)
		return err_set(err, ERR_INPUT,
			       "base_commit \"%s\" is not a commit id of 40 hex digits", base);
	if (git_object_lookup(&obj, st->repo, &id, GIT_OBJECT_ANY) < 0)
		return no_such_commit(src, w, git_oid_tostr_s(&id), err);
	rc = git_object_peel((git_object **)ret, obj, GIT_OBJECT_COMMIT);
	git_object_free(obj);
	if (rc < 0)
		return err_set(err, ERR_INPUT, "%s in %s is not a commit", git_oid_tostr_s(&id),
			       src->name);
	return 0;
}

/* Evidence: what of the source is not reachable from the base. */
static int count(const struct gitstore_source *src, struct gitwalk *w, const git_oid *base,
		 struct git_history *ret, struct err *err)
{
	uint64_t reached;
	int rc = gitwalk_from(w, base, err);

	if (rc < 0)
		return rc;
	reached = w->commits;
	walk_tips(w, src);
	*ret = (struct git_history){ .commits = reached, .refs_dropped = src->n_refs };
	git_oid_tostr(ret->head, sizeof(ret->head), base);
	ret->commits_dropped = w->commits - reached;
	for (size_t i = 0; i < src->n_tips; i++) {
		if (src->is_branch[i] && git_oid_equal(&src->tip[i], base)) {
			ret->refs_dropped--; /* it lives on as "main" */
			break;
		}
	}
	return 0;
}

static int settle(struct gitstore *st, const struct gitstore_source *src, const char *base,
		  git_oid *ret_commit, git_oid *ret_tree, struct git_history *ret_history,
		  struct err *err)
{
	auto_free char *edge = path_join(st->path, "shallow");
	auto_oidset shallow = { 0 };
	struct gitwalk w = { .shallow = &shallow, .commits_only = true };
	git_commit *commit = NULL;
	int rc;

	if (git_repository_odb(&w.odb, st->repo) < 0)
		return gitstore_error(err, ERR_BUG, "cannot read %s", st->path);
	rc = gitwalk_read_shallow(edge, &shallow, err);
	if (rc == 0)
		rc = choose(st, src, &w, base, &commit, err);
	if (rc == 0 && ret_history)
		rc = count(src, &w, git_commit_id(commit), ret_history, err);
	if (rc == 0) {
		*ret_commit = *git_commit_id(commit);
		*ret_tree = *git_commit_tree_id(commit);
	}
	git_commit_free(commit);
	git_odb_free(w.odb);
	gitwalk_done(&w);
	return rc;
}

/* Turn a tree without history into the only commit there is. */
static int make_commit(struct gitstore *st, const char *source, const char *base,
		       const git_oid *tree, git_oid *ret_commit, git_oid *ret_tree,
		       struct git_history *ret_history, struct err *err)
{
	git_oid commit;
	int rc;

	if (base)
		return err_set(err, ERR_INPUT,
			       "%s has no history to find base_commit %s in; leave base_commit "
			       "out, or give a repository or a bundle",
			       source, base);
	rc = gitstore_commit(st, tree, NULL, &commit, err);
	if (rc < 0)
		return rc;
	*ret_commit = commit;
	*ret_tree = *tree;
	if (ret_history) {
		*ret_history = (struct git_history){ .commits = 1, .made = true };
		git_oid_tostr(ret_history->head, sizeof(ret_history->head), &commit);
	}
	return 0;
}

/* A work tree with .git (directory, or file of a worktree), or a bare repository. */
static bool is_repository(const char *dir)
{
	static const char *const bare[] = { "HEAD", "objects", "refs" };
	auto_free char *dot_git = path_join(dir, ".git");
	struct stat st;

	if (lstat(dot_git, &st) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(bare); i++) {
		auto_free char *part = path_join(dir, bare[i]);

		if (lstat(part, &st) < 0)
			return false;
	}
	return true;
}

static bool is_bundle(const char *path)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[16] = "";

	return fd >= 0 && read(fd, head, sizeof(head) - 1) == sizeof(head) - 1 &&
	       str_starts(head, "# v") && strcmp(head + 4, " git bundle") == 0;
}

/* Bring the objects in. 1: @src is filled; 0: *ret_tree is all there is; negative on error. */
static int bring(struct gitstore *st, const char *source, struct gitstore_source *src,
		 git_oid *ret_tree, struct err *err)
{
	auto_free char *repo = NULL;
	struct stat sb;
	int rc;

	if (stat(source, &sb) < 0)
		return err_set(err, ERR_INPUT,
			       "cannot use source %s: %s; expected a git repository, a bundle, a "
			       "directory or a tar archive",
			       source, strerror(errno));
	if (S_ISDIR(sb.st_mode)) {
		if (!is_repository(source))
			return gitstore_import_plain(st, source, ret_tree, err);
		rc = gitstore_import_repo(st, source, src, err);
		return rc < 0 ? rc : 1;
	}
	if (!S_ISREG(sb.st_mode))
		return err_set(err, ERR_INPUT, "source %s is neither a file nor a directory",
			       source);
	if (is_bundle(source)) {
		rc = gitstore_import_bundle(st, source, src, err);
		return rc < 0 ? rc : 1;
	}
	rc = gitstore_import_archive(st, source, ret_tree, &repo, err);
	if (rc < 0 || !repo)
		return rc;
	rc = gitstore_import_repo(st, repo, src, err);
	return rc < 0 ? rc : 1;
}

int gitstore_import(struct gitstore *st, const char *source, const char *base_commit,
		    git_oid *ret_commit, git_oid *ret_tree, struct git_history *ret_history,
		    struct err *err)
{
	struct gitstore_source src = { .name = source };
	const char *base = base_commit && *base_commit ? base_commit : NULL;
	git_oid tree;
	int rc = bring(st, source, &src, &tree, err);

	if (rc > 0)
		rc = settle(st, &src, base, ret_commit, ret_tree, ret_history, err);
	else if (rc == 0)
		rc = make_commit(st, source, base, &tree, ret_commit, ret_tree, ret_history, err);
	free(src.tip);
	free(src.is_branch);
	return rc;
}

#include "verifier/capture_internal.h"

#include "base/mem.h"

int capture_ignore_init(struct capture_ignore *ig, struct workspace *ws, struct err *err)
{
	struct capture_ignore out = { .off = ig->off };

	/* A handle of its own: with a work tree the store is no longer bare. Its configuration is
	 * ours, so that neither core.excludesFile nor .git/info/exclude of anybody has a say. */
	if (git_repository_open(&out.repo, ws->store.path) < 0 ||
	    git_repository_set_workdir(out.repo, ws->lower, 0) < 0) {
		git_repository_free(out.repo);
		return gitstore_error(err, ERR_SYS, "cannot read the ignore rules of %s",
				      ws->lower);
	}
	if (git_repository_open_ext(&out.user, ws->lower, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) ==
		    0 &&
	    git_repository_index(&out.index, out.user) < 0)
		out.index = NULL; /* unreadable: then what is there counts as tracked */
	*ig = out;
	return 0;
}

void capture_ignore_done(struct capture_ignore *ig)
{
	git_index_free(ig->index);
	git_repository_free(ig->user);
	git_repository_free(ig->repo);
	*ig = (struct capture_ignore){ 0 };
}

static bool is_ignored(const struct capture_ignore *ig, const char *path)
{
	int ignored = 0;

	if (ig->off)
		return false;
	/* An error is not worth losing work for: the file is taken. */
	return git_ignore_path_is_ignored(&ignored, ig->repo, path) == 0 && ignored;
}

bool capture_ignore_dir(const struct capture_ignore *ig, const char *path)
{
	auto_free char *dir = mem_printf("%s/", path);

	return is_ignored(ig, dir);
}

bool capture_ignore_file(const struct capture_ignore *ig, const char *path, bool in_lower,
			 bool in_ignored_dir)
{
	bool tracked = ig->index ? git_index_get_bypath(ig->index, path, 0) != NULL : in_lower;

	return !tracked && (in_ignored_dir || is_ignored(ig, path));
}

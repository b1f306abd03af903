/* What an agent finds in .git of its workspace: every object is asked where it comes from, and git itself, in the
 * agent's box, has to see the same. */
#include "verifier/admit_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <git2.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/gitstore.h"
#include "sandbox/gitwalk.h"
#include "sandbox/workspace.h"

/* Entries of .git that a repository of ours has. */
static const char *const ours[] = {
	"HEAD", "config", "index", "objects", "refs", "shallow", "packed-refs",
};

/* Configuration of ours; all else could run programs or name places. */
static const char *const settings[] = {
	"core.repositoryformatversion",
	"core.filemode",
	"core.bare",
	"core.logallrefupdates",
	"core.checkstat",
	"core.trustctime",
	"user.name",
	"user.email",
};

static bool is_one_of(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(s, list[i]) == 0)
			return true;
	return false;
}

static void bad(struct admit_check *c, const char *what, const char *name)
{
	admit_say(c, ADMIT_FAILED, "the workspace holds more than the base's history: %s %s", what,
		  name);
	admit_line(c, "%s: %s", what, name);
}

static void look_at_files(const char *git, struct admit_check *c)
{
	static const char *const never[] = { "objects/info/alternates",
					     "objects/info/http-alternates",
					     "objects/info/grafts" };
	DIR *d = opendir(git);

	if (!d) {
		bad(c, "no directory", ".git");
		return;
	}
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    !is_one_of(e->d_name, ours, ARRAY_SIZE(ours)))
			bad(c, "entry of .git", e->d_name);
	closedir(d);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++) {
		auto_free char *path = path_join(git, never[i]);

		if (access(path, F_OK) == 0)
			bad(c, "file", never[i]);
	}
}

struct look {
	struct admit_check *c;
	const struct gitwalk *walk;
	uint64_t objects, lost;
};

static int one_object(const git_oid *id, void *arg)
{
	struct look *l = arg;

	l->objects++;
	if (oidset_find(&l->walk->seen, id) >= 0)
		return 0;
	l->lost++;
	bad(l->c, "object that the base does not reach", git_oid_tostr_s(id));
	return 0;
}

static int one_ref(const char *name, void *arg)
{
	struct look *l = arg;

	if (strcmp(name, "refs/heads/main") != 0)
		bad(l->c, "reference", name);
	return 0;
}

static void look_at_config(git_repository *repo, struct admit_check *c)
{
	git_config *config = NULL, *snapshot = NULL;
	git_config_iterator *it = NULL;
	git_config_entry *e = NULL;

	if (git_repository_config(&config, repo) == 0 &&
	    git_config_open_level(&snapshot, config, GIT_CONFIG_LEVEL_LOCAL) == 0 &&
	    git_config_iterator_new(&it, snapshot) == 0)
		while (git_config_next(&e, it) == 0)
			if (!is_one_of(e->name, settings, ARRAY_SIZE(settings)))
				bad(c, "setting", e->name);
	git_config_iterator_free(it);
	git_config_free(snapshot);
	git_config_free(config);
}

/* Commits that are younger than the base, though it reaches them, are odd but nothing new. */
static int look_at_dates(git_repository *repo, const struct gitwalk *w, const git_oid *head,
			 struct admit_check *c, struct err *err)
{
	uint64_t later = 0;
	git_commit *base = NULL;
	git_time_t date;

	if (git_commit_lookup(&base, repo, head) < 0)
		return gitstore_error(err, ERR_BUG, "cannot read the base commit");
	date = git_commit_time(base);
	git_commit_free(base);
	for (size_t i = 0; i < w->seen.n; i++) {
		git_commit *one = NULL;

		if (w->kind[i] != GITWALK_COMMIT)
			continue;
		if (git_commit_lookup(&one, repo, &w->seen.id[i]) < 0)
			return gitstore_error(err, ERR_BUG, "cannot read commit %s",
					      git_oid_tostr_s(&w->seen.id[i]));
		later += git_commit_time(one) > date;
		git_commit_free(one);
	}
	if (later)
		admit_say(c, ADMIT_NOTED,
			  "%" PRIu64 " commits that the base reaches are dated after it", later);
	return 0;
}

static int look_inside(git_repository *repo, const char *git, const git_oid *base, struct look *l,
		       struct err *err)
{
	auto_free char *edge = path_join(git, "shallow");
	auto_oidset shallow = { 0 };
	struct gitwalk w = { .shallow = &shallow };
	git_oid head;
	int rc = 0;

	if (git_repository_odb(&w.odb, repo) < 0 ||
	    git_reference_name_to_id(&head, repo, "HEAD") < 0)
		rc = gitstore_error(err, ERR_BUG, "cannot read the workspace's repository");
	if (rc == 0)
		rc = gitwalk_read_shallow(edge, &shallow, err);
	if (rc == 0 && !git_oid_equal(&head, base))
		bad(l->c, "HEAD", git_oid_tostr_s(&head));
	if (rc == 0)
		rc = gitwalk_from(&w, &head, err);
	l->walk = &w;
	if (rc == 0 && (git_odb_foreach(w.odb, one_object, l) < 0 ||
			git_reference_foreach_name(repo, one_ref, l) < 0))
		rc = gitstore_error(err, ERR_BUG, "cannot walk the workspace's repository");
	if (rc == 0)
		rc = look_at_dates(repo, &w, &head, l->c, err);
	if (rc == 0)
		admit_line(l->c,
			   "seen from outside: %" PRIu64 " commits, %" PRIu64 " objects, %" PRIu64
			   " of them not reached",
			   w.commits, l->objects, l->lost);
	l->walk = NULL;
	git_odb_free(w.odb);
	gitwalk_done(&w);
	return rc;
}

/* "KEY NUMBER" lines of the box's git against what is known. */
static void compare(struct admit_check *c, const char *text, const struct git_history *h,
		    uint64_t objects)
{
	const struct {
		const char *key;
		uint64_t want;
	} rows[] = {
		{ "commits", h->commits }, { "objects", objects }, { "refs", 1 },
		{ "stashes", 0 },          { "remotes", 0 },       { "lost", 0 },
		{ "changed", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *key = mem_printf("\n%s ", rows[i].key);
		const char *at = strstr(text, key);
		uint64_t got = at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;

		if (!at)
			admit_say(c, ADMIT_FAILED,
				  "git in the box does not say how many %s there are", rows[i].key);
		else if (got != rows[i].want)
			admit_say(c, ADMIT_FAILED,
				  "git in the box finds %" PRIu64 " %s, expected %" PRIu64, got,
				  rows[i].key, rows[i].want);
		if (at)
			admit_line(c, "seen by git in the box: %s %" PRIu64, rows[i].key, got);
	}
}

static int look_from_box(const struct admit_request *req, const struct git_history *h,
			 uint64_t objects, struct admit_check *c, struct err *err)
{
	static const char script[] =
		"command -v git >/dev/null || { echo; echo none; exit 0; }\n"
		"say() { printf '%s %d\\n' \"$1\" \"$2\"; }\n"
		"echo\n"
		"say commits \"$(git rev-list --all --reflog --count)\"\n"
		"say objects \"$(git cat-file --batch-all-objects --batch-check | grep -c .)\"\n"
		"say refs \"$(git for-each-ref | grep -c .)\"\n"
		"say stashes \"$(git stash list | grep -c .)\"\n"
		"say remotes \"$(git remote | grep -c .)\"\n"
		"say lost \"$(git fsck --unreachable --no-reflogs --no-progress 2>/dev/null | grep -c unreachable)\"\n"
		"say changed \"$(git status --porcelain | grep -c .)\"\n"
		"exit 0\n";
	auto_buf log = BUF_INIT(GRADE_LOG_MAX);
	int status = -1, rc = admit_in_box(req, script, NULL, &log, &status, err);

	if (rc == 0 && req->log)
		rc = req->log(req->arg, "history", &log, err);
	if (rc < 0)
		return err_wrap(err, "history probe");
	if (strstr(buf_str(&log), "\nnone\n")) {
		admit_line(c, "the box has no git");
		return 0;
	}
	if (status != 0)
		admit_say(c, ADMIT_FAILED, "git in the box did not come to its end (status %d)",
			  status);
	else
		compare(c, buf_str(&log), h, objects);
	return 0;
}

int admit_history(const struct admit_request *req, struct admit_check *c, struct err *err)
{
	struct workspace *ws = NULL;
	struct look l = { .c = c };
	git_repository *repo = NULL;
	auto_free char *git = NULL;
	int rc = workspace_new(req->janitor, &ws, err);

	if (rc == 0)
		rc = workspace_from_task(ws, req->task, err);
	if (rc == 0) {
		git = path_join(ws->lower, ".git");
		look_at_files(git, c);
		if (git_repository_open_ext(
			    &repo, git, GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE,
			    NULL) < 0)
			rc = gitstore_error(err, ERR_BUG, "cannot open the workspace's repository");
	}
	if (rc == 0) {
		look_at_config(repo, c);
		rc = look_inside(repo, git, &ws->base_commit, &l, err);
	}
	if (rc == 0 && (ws->history.refs_dropped || ws->history.commits_dropped))
		admit_line(c,
			   "left behind: %" PRIu64 " references, %" PRIu64 " commits of the source",
			   ws->history.refs_dropped, ws->history.commits_dropped);
	if (rc == 0)
		rc = look_from_box(req, &ws->history, l.objects, c, err);
	if (rc == 0)
		admit_say(c, ADMIT_PASSED, "%" PRIu64 " %s up to the base, and nothing else",
			  ws->history.commits, ws->history.commits == 1 ? "commit" : "commits");
	git_repository_free(repo);
	workspace_free(ws);
	return rc;
}

#include "sandbox/gitstore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/box.h"
#include "sandbox/gitcopy.h"
#include "sandbox/gitwalk.h"

/* checkStat and trustctime: inside the box the same files show another owner, and perhaps another
 * inode and ctime (a copy), than when the index was written. git would then read every file again
 * on its first look, which a tracer sees as the agent reading the whole workspace. Size and mtime
 * are the same everywhere. */
static const char config_text[] = "[core]\n"
				  "\trepositoryformatversion = 0\n"
				  "\tfilemode = true\n"
				  "\tbare = false\n"
				  "\tlogallrefupdates = true\n"
				  "\tcheckStat = minimal\n"
				  "\ttrustctime = false\n"
				  "[user]\n"
				  "\tname = agent\n"
				  "\temail = agent@localhost\n";

static int put_text(int dir, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 || fchmod(fd, 0644) < 0)
		return err_sys(err, "cannot write %s of the new repository", name);
	return 0;
}

static int put_skeleton(int git, const char *head, struct err *err)
{
	static const char *const dirs[] = {
		"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags",
	};
	auto_free char *ref = mem_printf("%s\n", head);
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (mkdirat(git, dirs[i], 0755) < 0 || fchmodat(git, dirs[i], 0755, 0) < 0)
			return err_sys(err, "cannot make %s of the new repository", dirs[i]);
	}
	rc = put_text(git, "HEAD", "ref: refs/heads/main\n", err);
	if (rc == 0)
		rc = put_text(git, "config", config_text, err);
	if (rc == 0)
		rc = put_text(git, "refs/heads/main", ref, err);
	return rc;
}

/* Where the source's history is cut off, the copy's is too. */
static int put_shallow(int git, const struct oidset *shallow, const struct oidset *seen,
		       struct err *err)
{
	auto_buf text = BUF_INIT(64u << 20);

	for (size_t i = 0; i < shallow->n; i++) {
		if (oidset_find(seen, &shallow->id[i]) >= 0 &&
		    buf_addf(&text, "%s\n", git_oid_tostr_s(&shallow->id[i])) < 0)
			return err_set(err, ERR_LIMIT, "the source has too many shallow commits");
	}
	return text.len ? put_text(git, "shallow", buf_str(&text), err) : 0;
}

/* Copy what is reachable from @commit to .git, and nothing else. */
static int put_objects(struct gitstore *st, const git_oid *commit, const char *path, int git,
		       struct git_history *history, struct err *err)
{
	auto_free char *edge = path_join(st->path, "shallow");
	auto_free char *pack_dir = path_join(path, "objects/pack");
	auto_oidset shallow = { 0 };
	struct gitwalk w = { .shallow = &shallow };
	uint64_t objects = 0;
	int rc;

	if (git_repository_odb(&w.odb, st->repo) < 0)
		return gitstore_error(err, ERR_BUG, "cannot read %s", st->path);
	rc = gitwalk_read_shallow(edge, &shallow, err);
	if (rc == 0)
		rc = gitwalk_from(&w, commit, err);
	if (rc == 0)
		rc = gitcopy_pack(st->repo, &w.seen, pack_dir, &objects, err);
	if (rc == 0)
		rc = put_shallow(git, &shallow, &w.seen, err);
	if (rc == 0) {
		history->commits = w.commits;
		history->objects = objects;
		git_oid_tostr(history->head, sizeof(history->head), commit);
	}
	git_odb_free(w.odb);
	gitwalk_done(&w);
	return rc;
}

struct indexer {
	git_repository *repo; /* borrowed */
	git_index *index;     /* owned */
	struct buf path;
};

static void fill_entry(git_index_entry *e, const struct stat *st)
{
	e->ctime.seconds = (int32_t)st->st_ctim.tv_sec;
	e->ctime.nanoseconds = (uint32_t)st->st_ctim.tv_nsec;
	e->mtime.seconds = (int32_t)st->st_mtim.tv_sec;
	e->mtime.nanoseconds = (uint32_t)st->st_mtim.tv_nsec;
	e->dev = (uint32_t)st->st_dev;
	e->ino = (uint32_t)st->st_ino;
	e->uid = BOX_UID; /* as the box will see it */
	e->gid = BOX_UID;
	e->file_size = (uint32_t)st->st_size;
}

static int index_tree(struct indexer *x, const git_oid *id, int dir, unsigned depth,
		      struct err *err);

static int index_entry(struct indexer *x, const git_tree_entry *e, int dir, unsigned depth,
		       struct err *err)
{
	const char *name = git_tree_entry_name(e);
	git_index_entry entry = { .mode = git_tree_entry_filemode(e), .path = buf_str(&x->path) };
	struct stat st;

	if (entry.mode == GIT_FILEMODE_TREE) {
		auto_fd int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return err_sys(err, "cannot open directory %s", entry.path);
		return index_tree(x, git_tree_entry_id(e), fd, depth + 1, err);
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "cannot look at %s", entry.path);
	fill_entry(&entry, &st);
	entry.id = *git_tree_entry_id(e);
	if (git_index_add(x->index, &entry) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot put %s into the index", entry.path);
	return 0;
}

/* Entries of tree @id, whose files lie in @dir. Tree order is index order, so that each add is an
 * append. */
static int index_tree(struct indexer *x, const git_oid *id, int dir, unsigned depth,
		      struct err *err)
{
	git_tree *tree = NULL;
	size_t len = x->path.len;
	int rc = 0;

	if (depth > GITSTORE_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "the tree has more than %u levels of directories",
			       GITSTORE_DEPTH_MAX);
	if (git_tree_lookup(&tree, x->repo, id) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read the tree %s",
				      git_oid_tostr_s(id));
	for (size_t i = 0; i < git_tree_entrycount(tree) && rc == 0; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);

		if ((len && buf_addc(&x->path, '/') < 0) ||
		    buf_adds(&x->path, git_tree_entry_name(e)) < 0)
			rc = err_set(err, ERR_INPUT, "a path of the tree has more than %d bytes",
				     PATH_MAX);
		else
			rc = index_entry(x, e, dir, depth, err);
		x->path.len = len;
		x->path.data[len] = '\0';
	}
	git_tree_free(tree);
	return rc;
}

static int put_index(struct gitstore *st, const git_oid *commit, const char *git, int top,
		     struct err *err)
{
	struct indexer x = { .repo = st->repo, .path = BUF_INIT(PATH_MAX) };
	auto_free char *path = path_join(git, "index");
	git_commit *c = NULL;
	int rc = 0;

	if (git_commit_lookup(&c, st->repo, commit) < 0 || git_index_open(&x.index, path) < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot make the index %s", path);
	if (rc == 0 && buf_adds(&x.path, "") < 0)
		rc = err_set(err, ERR_BUG, "no room for a path");
	if (rc == 0)
		rc = index_tree(&x, git_commit_tree_id(c), top, 0, err);
	if (rc == 0 && git_index_write(x.index) < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot write the index %s", path);
	if (rc == 0 && chmod(path, 0644) < 0)
		rc = err_sys(err, "cannot set the mode of %s", path);
	git_index_free(x.index);
	git_commit_free(c);
	buf_done(&x.path);
	return rc;
}

int gitstore_make_repo(struct gitstore *st, const git_oid *commit, const char *dir,
		       struct git_history *history, struct err *err)
{
	auto_free char *path = path_join(dir, ".git");
	auto_fd int top = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd int git = -1;
	struct timespec times[2];
	struct stat sb;
	int rc;

	if (top < 0 || fstat(top, &sb) < 0)
		return err_sys(err, "cannot open directory %s", dir);
	if (mkdirat(top, ".git", 0755) == 0)
		git = openat(top, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git < 0 || fchmod(git, 0755) < 0)
		return err_sys(err, "cannot make %s", path);
	rc = put_skeleton(git, git_oid_tostr_s(commit), err);
	if (rc == 0)
		rc = put_objects(st, commit, path, git, history, err);
	if (rc == 0)
		rc = put_index(st, commit, path, top, err);
	/* Making .git changed the time of the directory that was aged before. */
	times[0] = sb.st_atim;
	times[1] = sb.st_mtim;
	if (rc == 0 && futimens(top, times) < 0)
		rc = err_sys(err, "cannot set the times of %s", dir);
	return rc;
}

#include "sandbox/gitstore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* libgit2's checkout looks for attributes, filters and earlier files at every path; here the
 * directory is new and the bytes are wanted as they are. */
struct out {
	git_repository *repo; /* borrowed */
	git_odb *odb;         /* owned */
	const char *top;      /* borrowed */
	struct timespec times[2];
};

static int cannot(const struct out *o, const char *name, struct err *err)
{
	return err_sys(err, "cannot write \"%s\" of the tree below %s", name, o->top);
}

/* Would this entry lead out of its directory or into git's own? Tree objects are data of the
 * source; git itself refuses such names at checkout. */
static bool is_bad_name(const char *name)
{
	return !*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       strcasecmp(name, ".git") == 0;
}

static int put_link(const struct out *o, int at, const char *name, git_odb_object *obj,
		    struct err *err)
{
	size_t n = git_odb_object_size(obj);

	/* libgit2 puts a NUL behind the data; one inside would cut the target short. */
	if (memchr(git_odb_object_data(obj), '\0', n) || !n)
		return err_set(err, ERR_INPUT, "symbolic link \"%s\" has no usable target", name);
	if (symlinkat(git_odb_object_data(obj), at, name) < 0 ||
	    utimensat(at, name, o->times, AT_SYMLINK_NOFOLLOW) < 0)
		return cannot(o, name, err);
	return 0;
}

static int put_file(const struct out *o, int at, const char *name, mode_t mode, git_odb_object *obj,
		    struct err *err)
{
	auto_fd int fd =
		openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	/* The mode again, because the umask took part in the first. */
	if (fd < 0 || fd_write_all(fd, git_odb_object_data(obj), git_odb_object_size(obj)) < 0 ||
	    fchmod(fd, mode) < 0 || futimens(fd, o->times) < 0)
		return cannot(o, name, err);
	return 0;
}

static int put_blob(const struct out *o, int at, const git_tree_entry *e, struct err *err)
{
	const char *name = git_tree_entry_name(e);
	git_filemode_t mode = git_tree_entry_filemode(e);
	git_odb_object *obj = NULL;
	int rc;

	if (git_odb_read(&obj, o->odb, git_tree_entry_id(e)) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read \"%s\" of the tree", name);
	if (git_odb_object_type(obj) != GIT_OBJECT_BLOB)
		rc = err_set(err, ERR_INPUT, "\"%s\" of the tree is not a file", name);
	else if (mode == GIT_FILEMODE_LINK)
		rc = put_link(o, at, name, obj, err);
	else
		rc = put_file(o, at, name, mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644, obj,
			      err);
	git_odb_object_free(obj);
	return rc;
}

static int put_tree(const struct out *o, int dir, const git_oid *id, unsigned depth,
		    struct err *err);

/* A directory: a tree, or the empty place of a submodule when @id is NULL. */
static int put_dir(const struct out *o, int at, const char *name, const git_oid *id, unsigned depth,
		   struct err *err)
{
	auto_fd int fd = -1;
	int rc;

	if (mkdirat(at, name, 0755) == 0)
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0755) < 0)
		return cannot(o, name, err);
	rc = id ? put_tree(o, fd, id, depth, err) : 0;
	if (rc == 0 && futimens(fd, o->times) < 0)
		rc = cannot(o, name, err);
	return rc;
}

static int put_tree(const struct out *o, int dir, const git_oid *id, unsigned depth,
		    struct err *err)
{
	git_tree *tree = NULL;
	int rc = 0;

	if (depth > GITSTORE_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "the tree has more than %u levels of directories",
			       GITSTORE_DEPTH_MAX);
	if (git_tree_lookup(&tree, o->repo, id) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read the tree %s",
				      git_oid_tostr_s(id));
	for (size_t i = 0; i < git_tree_entrycount(tree) && rc == 0; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(e);
		git_filemode_t mode = git_tree_entry_filemode(e);

		if (is_bad_name(name))
			rc = err_set(err, ERR_INPUT, "the tree holds a file called \"%s\"", name);
		else if (mode == GIT_FILEMODE_TREE)
			rc = put_dir(o, dir, name, git_tree_entry_id(e), depth + 1, err);
		else if (mode == GIT_FILEMODE_COMMIT)
			rc = put_dir(o, dir, name, NULL, depth + 1, err);
		else
			rc = put_blob(o, dir, e, err);
	}
	git_tree_free(tree);
	return rc;
}

/* Make @dir or find it empty. Returns its descriptor or negative. */
static int open_empty(const char *dir, struct err *err)
{
	auto_fd int fd = -1;
	auto_fd int copy = -1;
	struct dirent *de;
	int entries = 0;
	DIR *d;

	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "cannot make directory %s", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	d = copy < 0 ? NULL : fdopendir(copy);
	if (!d)
		return err_sys(err, "cannot read directory %s", dir);
	copy = -1; /* the stream's now */
	while ((de = readdir(d)))
		entries++;
	closedir(d);
	if (entries > 2)
		return err_set(err, ERR_INPUT, "directory %s is not empty", dir);
	if (fchmod(fd, 0755) < 0)
		return err_sys(err, "cannot set the mode of %s", dir);
	return take_fd(&fd);
}

int gitstore_checkout(struct gitstore *st, const git_oid *tree, const char *dir, int64_t mtime,
		      struct err *err)
{
	struct out o = {
		.repo = st->repo,
		.top = dir,
		.times = { { .tv_sec = mtime }, { .tv_sec = mtime } },
	};
	auto_fd int top = open_empty(dir, err);
	int rc;

	if (top < 0)
		return top;
	if (git_repository_odb(&o.odb, st->repo) < 0)
		return gitstore_error(err, ERR_BUG, "cannot read %s", st->path);
	rc = put_tree(&o, top, tree, 0, err);
	if (rc == 0 && futimens(top, o.times) < 0)
		rc = err_sys(err, "cannot set the times of %s", dir);
	git_odb_free(o.odb);
	return rc;
}

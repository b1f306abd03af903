#include "verifier/rantree.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/gitstore.h"
#include "sandbox/overlaymark.h"
#include "verifier/protect.h"

/* What a runner reads as a program: nothing honest writes it while it runs. */
static const char *const sources[] = {
	".py",   ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx",  ".go",  ".rs",
	".java", ".kt", ".c",   ".h",   ".cc", ".cpp", ".rb",   ".php", ".sh",
	".bats", ".pl", ".t",   ".tcl", ".cs", ".ini", ".toml", ".cfg",
};

struct walk {
	struct gitstore *st;
	const struct replay_rules *rules;
	struct strv *tamper;
	size_t more; /* rows that did not fit */
	char *first; /* owned */
	int upper;
	git_odb *odb;
};

/* How a path of the upper layer stands to the one below it. */
enum look { LOOK_UNTOUCHED, LOOK_SAME, LOOK_OTHER };

/* Is a directory above @path hidden or replaced? Then the file is not the one that was laid out. */
static enum look look_above(int upper, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		auto_free char *dir = mem_strndup(path, (size_t)(slash - path));
		auto_fd int fd =
			fd_open_beneath(upper, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

		if (fd < 0)
			return errno == ENOENT ? LOOK_UNTOUCHED : LOOK_OTHER;
		if (overlaymark_opaque(fd))
			return LOOK_OTHER;
	}
	return LOOK_SAME;
}

/* Does the regular file @fd hold exactly the blob? */
static bool holds(int fd, git_odb_object *blob)
{
	size_t n = git_odb_object_size(blob);
	auto_buf b = BUF_INIT(n + 1);

	return fd_read_all(fd, &b) == 0 && b.len == n &&
	       memcmp(buf_str(&b), git_odb_object_data(blob), n) == 0;
}

static enum look look_at(struct walk *w, const char *path, const git_tree_entry *e)
{
	enum look above = look_above(w->upper, path);
	git_odb_object *blob = NULL;
	auto_fd int fd = -1;
	struct stat st;
	bool same;

	if (above != LOOK_SAME && strchr(path, '/'))
		return above;
	fd = fd_open_beneath(w->upper, path, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return errno == ENOENT ? LOOK_UNTOUCHED : LOOK_OTHER;
	mem_close(&fd);
	fd = fd_open_beneath(w->upper, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    git_tree_entry_filemode(e) == GIT_FILEMODE_LINK)
		return LOOK_OTHER;
	if (git_odb_read(&blob, w->odb, git_tree_entry_id(e)) < 0)
		return LOOK_OTHER;
	same = holds(fd, blob);
	git_odb_object_free(blob);
	return same ? LOOK_SAME : LOOK_OTHER;
}

static bool is_source(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (str_ends(path, sources[i]))
			return true;
	return false;
}

/* Whose file is it? False: nobody's. */
static bool belongs(const struct walk *w, const char *path, bool *ret_decides)
{
	const struct protect_rules *p = w->rules->own_tree ? NULL : w->rules->protect;
	const char *kind;

	if (p && protect_glob(p->allow, path))
		return false;
	*ret_decides = true;
	if (replay_protected(w->rules, path) || (p && p->files && strv_has(p->files, path)))
		return true;
	kind = p ? protect_held(p, path) : NULL;
	*ret_decides = is_source(path);
	return kind && (strcmp(kind, "test-file") == 0 || strcmp(kind, "runner-config") == 0);
}

static void report(struct walk *w, const char *path, bool decides)
{
	if (decides && !w->first)
		w->first = mem_strdup(path);
	if (w->tamper->n >= RANTREE_ROWS_MAX) {
		w->more++;
		return;
	}
	replay_tamper(w->tamper, decides ? "changed-in-run" : "data-changed-in-run", "seen", path);
}

static int visit(const char *root, const git_tree_entry *e, void *arg)
{
	struct walk *w = arg;
	auto_free char *path = mem_printf("%s%s", root, git_tree_entry_name(e));
	enum look look;
	bool decides;

	if (git_tree_entry_type(e) != GIT_OBJECT_BLOB || !belongs(w, path, &decides))
		return 0;
	look = look_at(w, path, e);
	/* Opened for writing and the same again: data is updated like that, a program is not. */
	if (look == LOOK_OTHER || (look == LOOK_SAME && decides && is_source(path)))
		report(w, path, decides);
	return 0;
}

int rantree_check(struct gitstore *st, const git_oid *tree, const char *upper,
		  const struct replay_rules *rules, struct strv *tamper, char **ret_first,
		  struct err *err)
{
	auto_fd int dir = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk w = { .st = st, .rules = rules, .tamper = tamper, .upper = dir };
	git_tree *root = NULL;
	int rc = 0;

	/* The code under test owns it where users are not mapped, and may have closed it. */
	if (dir < 0 && errno == EACCES) {
		report(&w, ".", true);
		*ret_first = w.first;
		return 0;
	}
	if (dir < 0)
		return err_sys(err, "cannot open %s", upper);
	if (git_repository_odb(&w.odb, st->repo) < 0 ||
	    git_tree_lookup(&root, st->repo, tree) < 0 ||
	    git_tree_walk(root, GIT_TREEWALK_PRE, visit, &w) < 0)
		rc = gitstore_error(err, ERR_BUG, "cannot read the graded tree");
	git_tree_free(root);
	git_odb_free(w.odb);
	if (w.more)
		strv_take(tamper, mem_printf("changed-in-run:seen %zu more", w.more));
	*ret_first = w.first;
	return rc;
}

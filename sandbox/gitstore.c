#include "sandbox/gitstore.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/gitpack.h"

/* Who made the commits that the source did not have. */
#define COMMIT_NAME "base"
#define COMMIT_MAIL "base@localhost"
#define COMMIT_DATE 1577836800 /* 2020-01-01T00:00:00Z */

int gitstore_error(struct err *err, enum err_code code, const char *fmt, ...)
{
	const git_error *e = git_error_last();
	char text[ERR_TEXT_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, code, "%s: git: %s", text, e && e->message ? e->message : "no reason");
}

/* The options are libgit2's own global state and are lost when its last user shuts it down. */
static int configure(void)
{
	static const int levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA,
		GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL,
	};
	/* Extensions that change nothing for a reader of objects and refs. */
	static const char *extensions[] = { "worktreeconfig", "partialclone", "preciousobjects" };
	int rc = git_libgit2_init();

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		rc |= git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	rc |= git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
	/* A source may belong to somebody else: we run nothing that its configuration names. */
	rc |= git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	rc |= git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, ARRAY_SIZE(extensions));
	return rc < 0 ? -1 : 0;
}

int gitstore_open(const char *path, struct gitstore *ret, struct err *err)
{
	git_repository_init_options opt = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	git_repository *repo = NULL;
	int rc = 0;

	if (configure() < 0)
		return gitstore_error(err, ERR_BUG, "cannot set libgit2 up");
	opt.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKDIR |
		    GIT_REPOSITORY_INIT_NO_REINIT;
	opt.mode = 0700;
	if (git_repository_init_ext(&repo, path, &opt) < 0) {
		rc = gitstore_error(err, ERR_SYS, "cannot make the object store %s", path);
		git_libgit2_shutdown();
		return rc;
	}
	*ret = (struct gitstore){ .repo = repo, .path = mem_strdup(path) };
	return 0;
}

void gitstore_close(struct gitstore *st)
{
	if (st->repo) {
		git_repository_free(st->repo);
		git_libgit2_shutdown();
	}
	free(st->path);
	*st = (struct gitstore){ 0 };
}

int gitstore_pack(struct gitstore *st, struct gitpack **ret, struct err *err)
{
	auto_free char *dir = path_join(st->path, "objects/pack");

	return gitpack_new(dir, ret, err);
}

int gitstore_pack_end(struct gitstore *st, struct gitpack **pack, struct err *err)
{
	git_odb *odb = NULL;
	int rc = gitpack_finish(*pack, NULL, err);

	*pack = gitpack_free(*pack);
	if (rc < 0)
		return rc;
	if (git_repository_odb(&odb, st->repo) < 0 || git_odb_refresh(odb) < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot read %s again", st->path);
	git_odb_free(odb);
	return rc;
}

int gitstore_commit(struct gitstore *st, const git_oid *tree, const git_oid *parent,
		    git_oid *ret_commit, struct err *err)
{
	char of[GIT_OID_HEXSZ + 1], on[GIT_OID_HEXSZ + 1];
	auto_free char *text = NULL;
	git_odb *odb = NULL;
	int rc = 0;

	git_oid_tostr(of, sizeof(of), tree);
	text = mem_printf("tree %s\n%s%s%sauthor %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n\n"
			  "Base\n",
			  of, parent ? "parent " : "",
			  parent ? git_oid_tostr(on, sizeof(on), parent) : "", parent ? "\n" : "",
			  COMMIT_NAME, COMMIT_MAIL, COMMIT_DATE, COMMIT_NAME, COMMIT_MAIL,
			  COMMIT_DATE);
	if (git_repository_odb(&odb, st->repo) < 0 ||
	    git_odb_write(ret_commit, odb, text, strlen(text), GIT_OBJECT_COMMIT) < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot write a commit to %s", st->path);
	git_odb_free(odb);
	return rc;
}

static int copy_blob(struct gitstore *st, const git_oid *id, const char *path, struct buf *out,
		     struct err *err)
{
	git_blob *blob = NULL;
	int rc = 0;

	if (git_blob_lookup(&blob, st->repo, id) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read %s", path);
	if (buf_add(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)) < 0)
		rc = err_set(err, ERR_LIMIT, "%s has %llu bytes, more than the %zu allowed here",
			     path, (unsigned long long)git_blob_rawsize(blob), out->max);
	git_blob_free(blob);
	return rc;
}

int gitstore_read(struct gitstore *st, const git_oid *tree, const char *path, struct buf *out,
		  uint32_t *ret_mode, struct err *err)
{
	git_tree_entry *entry = NULL;
	git_tree *root = NULL;
	int rc = 0;

	if (git_tree_lookup(&root, st->repo, tree) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read the tree %s",
				      git_oid_tostr_s(tree));
	/* Fails for a path that is not there, also when a file stands where it has a directory. */
	if (git_tree_entry_bypath(&entry, root, path) == 0 &&
	    git_tree_entry_type(entry) == GIT_OBJECT_BLOB) {
		rc = copy_blob(st, git_tree_entry_id(entry), path, out, err);
		if (rc == 0) {
			*ret_mode = git_tree_entry_filemode(entry);
			rc = 1;
		}
	}
	git_tree_entry_free(entry);
	git_tree_free(root);
	return rc;
}

struct diff_sink {
	struct buf *out;
	struct gitstore_diffstat stat;
	bool full;
};

static int diff_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		     const git_diff_line *line, void *arg)
{
	struct diff_sink *sink = arg;
	bool body = line->origin == GIT_DIFF_LINE_CONTEXT ||
		    line->origin == GIT_DIFF_LINE_ADDITION ||
		    line->origin == GIT_DIFF_LINE_DELETION;

	(void)delta; /* its headers come as lines of their own */
	(void)hunk;  /* likewise */
	sink->stat.files += line->origin == GIT_DIFF_LINE_FILE_HDR;
	sink->stat.added += line->origin == GIT_DIFF_LINE_ADDITION;
	sink->stat.removed += line->origin == GIT_DIFF_LINE_DELETION;
	sink->full = (body && buf_addc(sink->out, line->origin) < 0) ||
		     buf_add(sink->out, line->content, line->content_len) < 0;
	return sink->full ? GIT_EUSER : 0;
}

/* libgit2 compares max_size with sizes that it knows when a file's turn comes; of blobs it learns
 * them later when binary hunks are wanted, which is too late. So they are filled in. */
static int fill_size(git_odb *odb, git_diff_file *f)
{
	git_object_t type;
	size_t n;

	if (!(f->flags & GIT_DIFF_FLAG_EXISTS) || f->mode == GIT_FILEMODE_COMMIT)
		return 0;
	if (git_odb_read_header(&n, &type, odb, &f->id) < 0)
		return -1;
	f->size = n;
	return 0;
}

static int fill_sizes(git_repository *repo, git_diff *diff)
{
	git_odb *odb = NULL;
	int rc = git_repository_odb(&odb, repo);

	for (size_t i = 0; i < git_diff_num_deltas(diff) && rc == 0; i++) {
		git_diff_delta *d = (git_diff_delta *)(uintptr_t)git_diff_get_delta(diff, i);

		rc = fill_size(odb, &d->old_file);
		if (rc == 0)
			rc = fill_size(odb, &d->new_file);
	}
	git_odb_free(odb);
	return rc;
}

int gitstore_diff_stat(struct gitstore *st, const git_oid *from, const git_oid *to, struct buf *out,
		       struct gitstore_diffstat *ret, struct err *err)
{
	git_diff_options opt = GIT_DIFF_OPTIONS_INIT;
	struct diff_sink sink = { .out = out };
	git_tree *a = NULL, *b = NULL;
	git_diff *diff = NULL;
	int rc;

	opt.flags = GIT_DIFF_SHOW_BINARY | GIT_DIFF_INDENT_HEURISTIC;
	opt.id_abbrev = GIT_OID_HEXSZ;
	opt.max_size = GITSTORE_TEXT_MAX;
	opt.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE;
	rc = from ? git_tree_lookup(&a, st->repo, from) : 0;
	if (rc == 0)
		rc = git_tree_lookup(&b, st->repo, to);
	if (rc == 0)
		rc = git_diff_tree_to_tree(&diff, st->repo, a, b, &opt);
	if (rc == 0)
		rc = fill_sizes(st->repo, diff);
	if (rc == 0)
		rc = git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, diff_line, &sink);
	if (sink.full)
		rc = err_set(err, ERR_LIMIT, "the diff is larger than %zu bytes", out->max);
	else if (rc < 0)
		rc = gitstore_error(err, ERR_SYS, "cannot compare trees");
	else if (ret)
		*ret = sink.stat;
	git_diff_free(diff);
	git_tree_free(a);
	git_tree_free(b);
	return rc;
}

int gitstore_diff(struct gitstore *st, const git_oid *from, const git_oid *to, struct buf *out,
		  struct err *err)
{
	return gitstore_diff_stat(st, from, to, out, NULL, err);
}
